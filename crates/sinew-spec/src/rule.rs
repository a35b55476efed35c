//! Ranges of numbers.

/// The range of a number.
///
/// ```
/// use sinew_spec::{POSITIVE, from_to};
/// let share = from_to(0.0, 1.0).above();
/// assert!(share.allows(1.0) && !share.allows(0.0) && !share.allows(f64::NAN));
/// assert_eq!(share.describe("a number"), "a number above 0 and at most 1");
/// assert_eq!(POSITIVE.or_infinite().describe("a number"), "a number above 0 (or inf)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Smallest value.
    pub low: f64,
    /// Largest value.
    pub high: f64,
    /// The low end itself is not allowed.
    pub open_low: bool,
    /// The high end itself is not allowed.
    pub open_high: bool,
    /// Infinity is allowed as well.
    pub infinite: bool,
}

impl Rule {
    const fn new(low: f64, high: f64) -> Self {
        Self { low, high, open_low: false, open_high: false, infinite: false }
    }

    /// Infinity is allowed as well.
    pub const fn or_infinite(self) -> Self {
        Self { infinite: true, ..self }
    }

    /// The low end itself is not allowed.
    pub const fn above(self) -> Self {
        Self { open_low: true, ..self }
    }

    /// The high end itself is not allowed.
    pub const fn below(self) -> Self {
        Self { open_high: true, ..self }
    }

    /// A noun and the range in words.
    pub fn describe(&self, noun: &str) -> String {
        let whole = noun.contains("whole");
        let at = |x: f64| if whole { format!("{x:.0}") } else { format!("{x}") };
        let range = match (self.low.is_finite(), self.high.is_finite()) {
            (false, false) => String::new(),
            (true, false) if self.open_low => format!(" above {}", at(self.low)),
            (true, false) => format!(" of at least {}", at(self.low)),
            (false, true) => format!(" of at most {}", at(self.high)),
            (true, true) => {
                let from = if self.open_low { "above" } else { "from" };
                let to = match (self.open_low, self.open_high) {
                    (true, false) => " and at most",
                    (true, true) => " and below",
                    (false, true) => " to below",
                    (false, false) => " to",
                };
                format!(" {from} {}{to} {}", at(self.low), at(self.high))
            }
        };
        format!("{noun}{range}{}", if self.infinite { " (or inf)" } else { "" })
    }

    /// True for a number in the range. NaN is in none.
    pub fn allows(&self, x: f64) -> bool {
        let low = if self.open_low { x > self.low } else { x >= self.low };
        let high = if self.open_high { x < self.high } else { x <= self.high };
        low && high && (x.is_finite() || (self.infinite && !x.is_nan()))
    }
}

const INF: f64 = f64::INFINITY;
/// Any finite number.
pub const FINITE: Rule = Rule::new(-INF, INF);
/// For values that are not numbers.
pub const ANY: Rule = FINITE;
/// At least 0.
pub const NOT_NEGATIVE: Rule = Rule::new(0.0, INF);
/// Above 0.
pub const POSITIVE: Rule = Rule { open_low: true, ..NOT_NEGATIVE };
/// From 0 to 1.
pub const SHARE: Rule = Rule::new(0.0, 1.0);
/// Poisson's ratio of a compressible material.
pub const POISSON: Rule = Rule::new(0.0, 0.5).below();

/// A count, or any other bounded number.
pub const fn from_to(low: f64, high: f64) -> Rule {
    Rule::new(low, high)
}

//! Roots of a function that changes its sign once between two times: bisection, regula falsi, Brent (FC 4.2.2).
//!
//! All keep the root bracketed and return the end of the bracket on the near side, where the function still has its
//! initial sign: a body that is moved back to that time has not crossed.

/// Root-finding method for the time of contact (FC 4.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootMethod {
    /// Halves the bracket: one iteration per binary digit, for any function.
    Bisection,
    /// The line through the ends (FC eq. 4.9). The value at a retained end is halved each time (Illinois variant),
    /// otherwise that end may be retained for ever.
    RegulaFalsi,
    /// Inverse quadratic interpolation, with bisection where that does not shrink the bracket.
    Brent,
}

/// Width of the bracket at the end, as a fraction of the step.
const WIDTH: f64 = 1e-12;
/// Maximum number of iterations; bisection needs 40.
const ROUNDS: usize = 80;

/// The time of the sign change within `[low, high]`, and the number of evaluations of `f`. `f(low)` and `f(high)`
/// differ in sign.
pub(crate) fn find(method: RootMethod, f: impl Fn(f64) -> f64, low: f64, high: f64) -> (f64, usize) {
    let mut bracket = Bracket { low, high, f_low: f(low), f_high: f(high) };
    let mut asked = 2;
    let mut memory = Memory { last: low, f_last: bracket.f_low, side: 0 };
    while bracket.high - bracket.low > WIDTH && asked < ROUNDS {
        let middle = 0.5 * (bracket.low + bracket.high);
        let guess = match method {
            RootMethod::Bisection => middle,
            RootMethod::RegulaFalsi => bracket.line(&memory),
            RootMethod::Brent => bracket.inverse_quadratic(&memory),
        };
        // at least slightly inside, so that the bracket shrinks from both ends
        let inset = 0.5 * WIDTH;
        let inside = guess > bracket.low + inset && guess < bracket.high - inset;
        let before = bracket.high - bracket.low;
        let at = if inside { guess } else { guess.clamp(bracket.low + inset, bracket.high - inset) };
        bracket.take(if at.is_finite() { at } else { middle }, &f, &mut memory);
        asked += 1;
        // Brent's rule in one line: a step that does not halve the bracket is followed by one that does
        if method == RootMethod::Brent && bracket.high - bracket.low > 0.5 * before {
            bracket.take(0.5 * (bracket.low + bracket.high), &f, &mut memory);
            asked += 1;
        }
    }
    (bracket.low, asked)
}

struct Bracket {
    low: f64,
    high: f64,
    f_low: f64,
    f_high: f64,
}

/// The point that left the bracket last, and which end was retained: −1 low, 1 high.
struct Memory {
    last: f64,
    f_last: f64,
    side: i32,
}

impl Bracket {
    fn take(&mut self, at: f64, f: &impl Fn(f64) -> f64, memory: &mut Memory) {
        let value = f(at);
        let stays_low = (value < 0.0) != (self.f_low < 0.0) || value == 0.0;
        if stays_low {
            (memory.last, memory.f_last) = (self.high, self.f_high);
            (self.high, self.f_high) = (at, value);
            memory.side = if memory.side < 0 { memory.side - 1 } else { -1 };
        } else {
            (memory.last, memory.f_last) = (self.low, self.f_low);
            (self.low, self.f_low) = (at, value);
            memory.side = if memory.side > 0 { memory.side + 1 } else { 1 };
        }
    }

    /// Zero of the line through the ends; the value at an end is halved for each time that it was retained.
    fn line(&self, memory: &Memory) -> f64 {
        let weight = |stayed: i32| 1.0 / f64::from(1u32 << (stayed - 1).clamp(0, 30));
        let (a, b) = (self.f_low * weight(-memory.side), self.f_high * weight(memory.side));
        (b * self.low - a * self.high) / (b - a)
    }

    /// Time as a quadratic function of the value, through the ends and the previous point.
    fn inverse_quadratic(&self, memory: &Memory) -> f64 {
        let ([x, y, z], [a, b, c]) = ([self.low, self.high, memory.last], [self.f_low, self.f_high, memory.f_last]);
        if c == a || c == b {
            return self.line(&Memory { side: 0, ..*memory });
        }
        x * b * c / ((a - b) * (a - c)) + y * a * c / ((b - a) * (b - c)) + z * a * b / ((c - a) * (c - b))
    }
}

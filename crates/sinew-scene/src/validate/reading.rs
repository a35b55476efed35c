//! What a case measures, and how it is judged.

/// One quantity of a case: measured against the right value.
///
/// An example is at [`validate::Case`](crate::validate::Case).
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The label in the list of cases.
    pub quantity: String,
    /// The measured value.
    pub measured: f64,
    /// What is right.
    pub expected: f64,
    /// Relative or absolute error, whichever the tolerance is for.
    pub error: f64,
    /// Largest error that passes.
    pub tolerance: f64,
    /// Whether it passes; none when the model cannot do the case by its nature.
    pub pass: Option<bool>,
}

impl Reading {
    /// Within a share of the right value.
    pub fn relative(quantity: &str, measured: f64, expected: f64, tolerance: f64) -> Self {
        let error = ((measured - expected) / expected).abs();
        Self::judged(quantity, measured, expected, error, tolerance)
    }

    /// Within a distance of the right value, in its own unit.
    pub fn absolute(quantity: &str, measured: f64, expected: f64, tolerance: f64) -> Self {
        Self::judged(quantity, measured, expected, (measured - expected).abs(), tolerance)
    }

    /// At most a limit; the right value is zero.
    pub fn at_most(quantity: &str, measured: f64, limit: f64) -> Self {
        Self::judged(quantity, measured, 0.0, measured.abs(), limit)
    }

    /// At least a limit.
    pub fn at_least(quantity: &str, measured: f64, limit: f64) -> Self {
        Self::judged(quantity, measured, limit, (limit - measured).max(0.0), 0.0)
    }

    /// Something that is so (1) or not (0), and should be so.
    pub fn holds(quantity: &str, yes: bool) -> Self {
        Self::judged(quantity, f64::from(u8::from(yes)), 1.0, f64::from(u8::from(!yes)), 0.0)
    }

    /// What the model cannot do by its nature: neither passed nor failed.
    pub fn not_applicable(quantity: &str, expected: f64, tolerance: f64) -> Self {
        let nan = f64::NAN;
        Self { pass: None, ..Self::judged(quantity, nan, expected, nan, tolerance) }
    }

    fn judged(quantity: &str, measured: f64, expected: f64, error: f64, tolerance: f64) -> Self {
        // NaN fails: the comparison is false
        let pass = Some(error <= tolerance);
        Self { quantity: quantity.to_owned(), measured, expected, error, tolerance, pass }
    }
}

/// What a case gives: its readings, or why its world could not be built.
pub type Readings = Result<Vec<Reading>, sinew::Error>;

/// One physics case with reference values.
///
/// ```
/// use sinew_scene::validate::{self, Reading};
/// let falls = validate::cases().find(|case| case.id == "R08").expect("a known case");
/// assert_eq!((falls.group, falls.model), ("rigid", "rigid"));
/// let reading = Reading::relative("height", 0.99, 1.0, 0.02);
/// assert_eq!(reading.pass, Some(true));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// R01, MR02, …
    pub id: &'static str,
    /// rigid, rope, cloth, …
    pub group: &'static str,
    /// One line for people.
    pub title: &'static str,
    /// What is tested: `rigid`, or the model of the soft body. A case comes once for each model that claims it.
    pub model: &'static str,
    /// Runs it.
    pub run: fn() -> Readings,
    /// Why it is out or not applicable, when it is known to be.
    pub known: Option<&'static str>,
}

impl Case {
    /// A case of rigid bodies.
    pub const fn rigid(id: &'static str, title: &'static str, run: fn() -> Readings) -> Self {
        Self { id, group: "rigid", title, model: "rigid", run, known: None }
    }

    /// A case of one soft body.
    pub const fn elastic(id: &'static str, title: &'static str, model: &'static str, run: fn() -> Readings) -> Self {
        Self { id, group: "elastic", title, model, run, known: None }
    }

    /// A case of soft and rigid bodies together.
    pub const fn mixed(id: &'static str, title: &'static str, model: &'static str, run: fn() -> Readings) -> Self {
        Self { id, group: "mixed", title, model, run, known: None }
    }

    /// A case of ropes, chains and springs.
    pub const fn rope(id: &'static str, title: &'static str, model: &'static str, run: fn() -> Readings) -> Self {
        Self { id, group: "rope", title, model, run, known: None }
    }

    /// A case of cloth.
    pub const fn cloth(id: &'static str, title: &'static str, model: &'static str, run: fn() -> Readings) -> Self {
        Self { id, group: "cloth", title, model, run, known: None }
    }

    /// A case of friction; the model is the law.
    pub const fn friction(id: &'static str, title: &'static str, model: &'static str, run: fn() -> Readings) -> Self {
        Self { id, group: "friction", title, model, run, known: None }
    }

    /// A case of tools that a hand moves.
    pub const fn tool(id: &'static str, title: &'static str, run: fn() -> Readings) -> Self {
        Self { id, group: "tools", title, model: "tool", run, known: None }
    }

    /// The same, with the reason why it is out.
    pub const fn known(self, why: &'static str) -> Self {
        Self { known: Some(why), ..self }
    }

    /// A relation between two runs of rigid bodies: no right value is needed.
    pub const fn relation(id: &'static str, title: &'static str, run: fn() -> Readings) -> Self {
        Self { id, group: "relation", title, model: "rigid", run, known: None }
    }
}

//! The comparisons, and the goals that a valid run must reach.
//!
//! The goals are wide on purpose: they separate plausible runs from implausible ones. The margin by which a run is
//! better is printed beside its time.

use crate::Scene;

/// Allowed range of a measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// Upper bound.
    AtMost(f64),
    /// Closed interval.
    Between(f64, f64),
    /// No goal: the value is only reported.
    Reported,
}

/// A measure of quality that the engines have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// Label in tables.
    pub label: &'static str,
    /// Names of the readings it is taken from; of several the largest counts. `pen_` stands for all names with this
    /// prefix.
    pub keys: &'static [&'static str],
    /// Unit of the goal and of the readings; empty for counts.
    pub unit: &'static str,
    /// Allowed range.
    pub goal: Goal,
}

/// One comparison: a scene, the variants that count, and their goals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// The scene.
    pub scene: Scene,
    /// Name in the table.
    pub name: &'static str,
    /// Substring of the names of the variants that count.
    pub part: &'static str,
    /// Substrings of names of variants that do not count, because their task differs (asleep, without friction, fewer
    /// springs).
    pub not: &'static [&'static str],
    /// Step [ms] that both runs must have; `None`: the scene measures one sweep over the springs, for any step.
    pub h_ms: Option<f64>,
    /// The measures that are compared.
    pub measures: &'static [Measure],
}

const fn at_most(label: &'static str, keys: &'static [&'static str], unit: &'static str, most: f64) -> Measure {
    Measure { label, keys, unit, goal: Goal::AtMost(most) }
}

const fn between(label: &'static str, keys: &'static [&'static str], unit: &'static str, [a, b]: [f64; 2]) -> Measure {
    Measure { label, keys, unit, goal: Goal::Between(a, b) }
}

const fn reported(label: &'static str, keys: &'static [&'static str], unit: &'static str) -> Measure {
    Measure { label, keys, unit, goal: Goal::Reported }
}

const DEPTH: Measure = at_most("penetration", &["pen_"], "mm", 15.0);
const STRETCH: Measure = at_most("stretch", &["stretch_max"], "%", 30.0);
const INVERTED: Measure = at_most("inverted", &["inverted", "inverted_end"], "", 0.0);

const CLOTH: &[Measure] = &[DEPTH, STRETCH];
/// The total momentum is 3 kg·m/s downward and must be conserved.
const PUSHED: &[Measure] = &[DEPTH, STRETCH, between("momentum", &["p1y"], "kg·m/s", [-3.01, -2.99])];
/// The box rests at 0.44 m on the cylinders below; MuJoCo and Rapier leave it up to 23 mm higher.
const CARRIED: &[Measure] = &[
    at_most("penetration", &["pen_"], "mm", 25.0),
    INVERTED,
    between("box (0.440)", &["box_y_end"], "m", [0.41, 0.47]),
];
/// Without slip 1.85 m/s and 6.16 rad/s for a rope at the radius of the wheel, 1.90 and 5.94 for its centre line; 10%
/// for slip.
const ATWOOD: &[Measure] = &[
    at_most("stretch", &["stretch_max"], "%", 10.0),
    between("heavy end (-1.85 to -1.90)", &["heavy_vy"], "m/s", [-2.09, -1.67]),
    between("wheel (5.94 to 6.16)", &["wheel_w"], "rad/s", [5.35, 6.78]),
];
const STANDS: &[Measure] = &[at_most("drift", &["maxLateralDrift"], "m", 0.5), reported("top", &["topY_end"], "m")];
const FALLEN: &[Measure] = &[reported("top", &["topY_end"], "m"), reported("kinetic energy", &["KE_end"], "J")];
/// Read after 2 s, when a beam without damping still oscillates between 0 and 0.63 m.
const BENT: &[Measure] = &[INVERTED, between("tip at 2 s (at rest 0.317)", &["tip_deflection"], "m", [0.24, 0.40])];
/// The upper cylinder must lie on the lower one, and neither may be flattened.
const CROSSED: &[Measure] = &[DEPTH, INVERTED, between("upper", &["upper_meanY"], "m", [0.6, 0.75])];

const SLOW: Option<f64> = Some(20.0);
const FAST: Option<f64> = Some(1e3 / 240.0);
const FRAME: Option<f64> = Some(1e3 / 60.0);

const fn case(
    scene: Scene,
    name: &'static str,
    part: &'static str,
    h_ms: Option<f64>,
    measures: &'static [Measure],
) -> Case {
    Case { scene, name, part, not: &["sleep", "mu0-", "19023"], h_ms, measures }
}

/// All comparisons, in the order of the table.
pub const CASES: &[Case] = &[
    case(Scene::S1, "fixed ball", "fixed", SLOW, CLOTH),
    case(Scene::S1, "free ball", "free", SLOW, CLOTH),
    case(Scene::S1, "momentum", "momentum", SLOW, PUSHED),
    case(Scene::S2, "box carried", "", SLOW, CARRIED),
    case(Scene::S3, "at 20 ms", "", SLOW, ATWOOD),
    case(Scene::S3, "at 1/240 s", "", FAST, ATWOOD),
    case(Scene::S4, "a step", "", None, &[]),
    case(Scene::S5, "pyramid of 1035", "pyramid1035", FRAME, STANDS),
    case(Scene::S5, "pile of 1024", "pile1024", FRAME, FALLEN),
    case(Scene::S5, "stack of 20", "stack20", FRAME, STANDS),
    case(Scene::S6, "cantilever", "", SLOW, BENT),
    case(Scene::S7, "coarse", "coarse", SLOW, CROSSED),
    case(Scene::S7, "fine", "fine", SLOW, CROSSED),
];

impl Case {
    /// True when a variant with this step [ms] belongs to the case.
    pub fn takes(&self, variant: &str, h_ms: f64) -> bool {
        // a "-" is appended, so that "mu0-" excludes a name that ends in "-mu0" but not "…-mu0.5"
        let named = format!("{variant}-");
        let same_step = self.h_ms.is_none_or(|h| (h_ms / h - 1.0).abs() < 0.01);
        variant.contains(self.part) && same_step && !self.not.iter().any(|part| named.contains(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takers(scene: Scene, variant: &str, h_ms: f64) -> Vec<&'static str> {
        CASES.iter().filter(|c| c.scene == scene && c.takes(variant, h_ms)).map(|c| c.name).collect()
    }

    #[test]
    fn a_variant_belongs_to_one_case_or_none() {
        assert_eq!(takers(Scene::S1, "softbody-free", 20.0), ["free ball"]);
        assert_eq!(takers(Scene::S1, "softbody-free", 16.667), [""; 0]);
        assert_eq!(takers(Scene::S3, "wire", 4.167), ["at 1/240 s"]);
        assert_eq!(takers(Scene::S5, "pile1024-CG", 16.667), ["pile of 1024"]);
        assert_eq!(takers(Scene::S5, "pile1024-sleep", 16.667), [""; 0]);
        assert_eq!(takers(Scene::S7, "corot-fine-mu0.5", 20.0), ["fine"]);
        assert_eq!(takers(Scene::S7, "corot-fine-mu0", 20.0), [""; 0]);
        assert_eq!(takers(Scene::S4, "edges", 1.0), ["a step"]);
    }
}

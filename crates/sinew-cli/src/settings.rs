//! `--set PATH=VALUE`: every setting by its path.

use crate::failure::{Failure, unknown};
use sinew::classic::Penalty;
use sinew::{ContactMethod, FrictionBound, Order, PairRule, Real, Settings, Stabilization, TimeOfContact, Vec3};
use sinew_scene::escape::{escaped, excerpt};
use sinew_scene::gallery::near_miss;
use std::str::FromStr;

/// One setting.
struct Knob {
    path: &'static str,
    /// The expected value, for messages.
    wants: &'static str,
    /// `None` when the text is not such a value.
    set: fn(&mut Settings, &str) -> Option<()>,
}

const fn knob(path: &'static str, wants: &'static str, set: fn(&mut Settings, &str) -> Option<()>) -> Knob {
    Knob { path, wants, set }
}

const REAL: &str = "a number";
const COUNT: &str = "a whole number";
const YES_NO: &str = "true or false";
const METHOD: &str = "rows, impulse, quadratic:STIFFNESS, buffered:STIFFNESS,BUFFER or barrier:STRENGTH,BUFFER \
    (N/m, m and J, as quadratic:1e4)";

const PAIR: &str = "geometric_mean, product, minimum, mean or maximum";

const KNOBS: &[Knob] = &[
    knob("settings.dt", REAL, |s, t| put(&mut s.dt, t)),
    knob("settings.gravity", "a list of three numbers, as [0,-1.6,0]", |s, t| vector(&mut s.gravity, t)),
    knob("settings.gravity.x", REAL, |s, t| put(&mut s.gravity.x, t)),
    knob("settings.gravity.y", REAL, |s, t| put(&mut s.gravity.y, t)),
    knob("settings.gravity.z", REAL, |s, t| put(&mut s.gravity.z, t)),
    knob("settings.substeps", COUNT, |s, t| put(&mut s.substeps, t)),
    knob("settings.max_substeps", COUNT, |s, t| put(&mut s.max_substeps, t)),
    knob("settings.implicit_substeps", COUNT, |s, t| put(&mut s.implicit_substeps, t)),
    knob("settings.implicit.stiffness", REAL, |s, t| put(&mut s.implicit.stiffness, t)),
    knob("settings.implicit.soft_stiffness", REAL, |s, t| put(&mut s.implicit.soft_stiffness, t)),
    knob("settings.implicit.rigid_stiffness", REAL, |s, t| put(&mut s.implicit.rigid_stiffness, t)),
    knob("settings.implicit.tangential", REAL, |s, t| put(&mut s.implicit.tangential, t)),
    knob("settings.implicit.carry", REAL, |s, t| put(&mut s.implicit.carry, t)),
    knob("settings.implicit.tolerance", REAL, |s, t| put(&mut s.implicit.tolerance, t)),
    knob("settings.implicit.iterations", COUNT, |s, t| put(&mut s.implicit.iterations, t)),
    knob("settings.implicit.passes", COUNT, |s, t| put(&mut s.implicit.passes, t)),
    knob("settings.implicit.audit_passes", COUNT, |s, t| put(&mut s.implicit.audit_passes, t)),
    knob("settings.implicit.guard", COUNT, |s, t| put(&mut s.implicit.guard, t)),
    knob("settings.sweeps", COUNT, |s, t| put(&mut s.sweeps, t)),
    knob("settings.relax_sweeps", COUNT, |s, t| put(&mut s.relax_sweeps, t)),
    knob("settings.contact.frequency", REAL, |s, t| frequency(&mut s.contact, t)),
    knob("settings.contact.damping_ratio", REAL, |s, t| damping_ratio(&mut s.contact, t)),
    knob("settings.contact.baumgarte", REAL, |s, t| baumgarte(&mut s.contact, t)),
    knob("settings.joint.frequency", REAL, |s, t| frequency(&mut s.joint, t)),
    knob("settings.joint.damping_ratio", REAL, |s, t| damping_ratio(&mut s.joint, t)),
    knob("settings.joint.baumgarte", REAL, |s, t| baumgarte(&mut s.joint, t)),
    knob("settings.friction.frequency", REAL, |s, t| frequency(&mut s.friction, t)),
    knob("settings.friction.damping_ratio", REAL, |s, t| damping_ratio(&mut s.friction, t)),
    knob("settings.friction.baumgarte", REAL, |s, t| baumgarte(&mut s.friction, t)),
    knob("settings.pairs.friction", PAIR, |s, t| pair_rule(&mut s.pairs.friction, t)),
    knob("settings.pairs.restitution", PAIR, |s, t| pair_rule(&mut s.pairs.restitution, t)),
    knob("settings.warm_start", REAL, |s, t| put(&mut s.warm_start, t)),
    knob("settings.stop_residual", REAL, |s, t| put(&mut s.stop_residual, t)),
    knob("settings.order", "interleaved or staggered:RIGID,DEFORMABLE (as staggered:2,2)", |s, t| {
        order(&mut s.order, t)
    }),
    knob("settings.friction_bound", "cone or weight", |s, t| bound(&mut s.friction_bound, t)),
    knob("settings.average_impulses", YES_NO, |s, t| put(&mut s.average_impulses, t)),
    knob("settings.contact_method", METHOD, |s, t| method(&mut s.contact_method, t)),
    knob("settings.contact_margin", REAL, |s, t| put(&mut s.contact_margin, t)),
    knob("settings.contact_slop", REAL, |s, t| put(&mut s.contact_slop, t)),
    knob("settings.push_speed", REAL, |s, t| put(&mut s.push_speed, t)),
    knob("settings.restitution_speed", REAL, |s, t| put(&mut s.restitution_speed, t)),
    knob("settings.recycle_distance", REAL, |s, t| put(&mut s.recycle_distance, t)),
    knob("settings.sleep_speed", REAL, |s, t| put(&mut s.sleep_speed, t)),
    knob("settings.sleep_time", REAL, |s, t| put(&mut s.sleep_time, t)),
    knob("settings.max_speed", REAL, |s, t| put(&mut s.max_speed, t)),
    knob("settings.max_turn", REAL, |s, t| put(&mut s.max_turn, t)),
    knob("settings.intersection_free", YES_NO, |s, t| put(&mut s.intersection_free, t)),
    knob("settings.minimum_gap", REAL, |s, t| put(&mut s.minimum_gap, t)),
    knob("settings.stop_at_impact", YES_NO, |s, t| put(&mut s.stop_at_impact, t)),
    knob("settings.time_of_contact", "bisection, regula_falsi, brent or conservative", |s, t| {
        time_of_contact(&mut s.time_of_contact, t)
    }),
    knob("settings.impact_substeps", COUNT, |s, t| put(&mut s.impact_substeps, t)),
    knob("settings.sheet_substeps", COUNT, |s, t| put(&mut s.sheet_substeps, t)),
    knob("settings.force_threshold", REAL, |s, t| put(&mut s.force_threshold, t)),
    knob("settings.threads", COUNT, |s, t| put(&mut s.threads, t)),
    knob("settings.lanes", YES_NO, |s, t| put(&mut s.lanes, t)),
    knob("settings.point_forces", YES_NO, |s, t| put(&mut s.point_forces, t)),
    knob("settings.residuals", YES_NO, |s, t| put(&mut s.residuals, t)),
];

/// Applies the `--set` of a command line, in order. The world checks the values when it takes the settings.
pub fn apply(settings: &mut Settings, sets: &[String]) -> Result<(), Failure> {
    for set in sets {
        let Some((path, value)) = set.split_once('=') else {
            let set = shown(set);
            return Err(Failure::input(format!("--set {set}: write PATH=VALUE, as in settings.substeps=8")));
        };
        let (path, value) = (path.trim(), value.trim());
        let knob = KNOBS.iter().find(|k| k.path == path).ok_or_else(|| unknown_path(path))?;
        (knob.set)(settings, value)
            .ok_or_else(|| Failure::input(format!("{path}: '{}' is not {}", shown(value), knob.wants)))?;
    }
    Ok(())
}

/// A word of the command line in a message.
fn shown(word: &str) -> String {
    escaped(&excerpt(word, 60)).into_owned()
}

/// Whether a `--set` is about one of the settings below.
pub fn is_knob(set: &str) -> bool {
    let path = set.split('=').next().unwrap_or_default().trim();
    KNOBS.iter().any(|k| k.path == path)
}

fn unknown_path(path: &str) -> Failure {
    let paths = || KNOBS.iter().map(|k| k.path);
    // the word alone is the most frequent mistake
    let whole = format!("settings.{path}");
    let meant =
        paths().find(|p| *p == whole).or_else(|| near_miss(path, paths())).or_else(|| near_miss(&whole, paths()));
    unknown("setting", path, meant, &format!("settings: {}", paths().collect::<Vec<_>>().join(", ")))
}

fn put<T: FromStr>(to: &mut T, text: &str) -> Option<()> {
    *to = text.parse().ok()?;
    Some(())
}

fn vector(to: &mut Vec3, text: &str) -> Option<()> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let numbers: Vec<Real> = inner.split(',').map(|n| n.trim().parse().ok()).collect::<Option<_>>()?;
    *to = Vec3::from_array(numbers.try_into().ok()?);
    Some(())
}

/// Frequency [Hz] and damping ratio; a rigid row gets the defaults of the engine.
fn soft(row: Stabilization) -> (Real, Real) {
    match row {
        Stabilization::Soft { frequency, damping_ratio } => (frequency, damping_ratio),
        Stabilization::Baumgarte(_) => (120.0, 1.0),
    }
}

fn frequency(to: &mut Stabilization, text: &str) -> Option<()> {
    let (_, damping_ratio) = soft(*to);
    *to = Stabilization::Soft { frequency: text.parse().ok()?, damping_ratio };
    Some(())
}

fn damping_ratio(to: &mut Stabilization, text: &str) -> Option<()> {
    let (frequency, _) = soft(*to);
    *to = Stabilization::Soft { frequency, damping_ratio: text.parse().ok()? };
    Some(())
}

fn baumgarte(to: &mut Stabilization, text: &str) -> Option<()> {
    *to = Stabilization::Baumgarte(text.parse().ok()?);
    Some(())
}

fn order(to: &mut Order, text: &str) -> Option<()> {
    *to = if text == "interleaved" {
        Order::Interleaved
    } else {
        let (rigid, deformable) = text.strip_prefix("staggered:")?.split_once(',')?;
        Order::Staggered { rigid: rigid.trim().parse().ok()?, deformable: deformable.trim().parse().ok()? }
    };
    Some(())
}

fn method(to: &mut ContactMethod, text: &str) -> Option<()> {
    let (word, rest) = text.split_once(':').unwrap_or((text, ""));
    let two = || {
        let (a, b) = rest.split_once(',')?;
        Some((a.trim().parse().ok()?, b.trim().parse().ok()?))
    };
    *to = match word {
        "rows" if rest.is_empty() => ContactMethod::Rows,
        "impulse" if rest.is_empty() => ContactMethod::Impulse,
        "quadratic" => ContactMethod::Penalty(Penalty::Quadratic { stiffness: rest.trim().parse().ok()? }),
        "buffered" => {
            let (stiffness, buffer) = two()?;
            ContactMethod::Penalty(Penalty::Buffered { stiffness, buffer })
        }
        "barrier" => {
            let (strength, buffer) = two()?;
            ContactMethod::Penalty(Penalty::LogBarrier { strength, buffer })
        }
        _ => return None,
    };
    Some(())
}

fn time_of_contact(to: &mut TimeOfContact, text: &str) -> Option<()> {
    *to = match text {
        "bisection" => TimeOfContact::Bisection,
        "regula_falsi" => TimeOfContact::RegulaFalsi,
        "brent" => TimeOfContact::Brent,
        "conservative" => TimeOfContact::Conservative,
        _ => return None,
    };
    Some(())
}

fn pair_rule(to: &mut PairRule, text: &str) -> Option<()> {
    *to = match text {
        "geometric_mean" => PairRule::GeometricMean,
        "product" => PairRule::Product,
        "minimum" => PairRule::Minimum,
        "mean" => PairRule::Mean,
        "maximum" => PairRule::Maximum,
        _ => return None,
    };
    Some(())
}

fn bound(to: &mut FrictionBound, text: &str) -> Option<()> {
    *to = match text {
        "cone" => FrictionBound::Cone,
        "weight" => FrictionBound::Weight,
        _ => return None,
    };
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(set: &str) -> Result<Settings, Failure> {
        let mut settings = Settings::default();
        apply(&mut settings, &[set.to_owned()]).map(|()| settings)
    }

    fn refusal(set: &str) -> String {
        match with(set) {
            Err(Failure::Input(message)) => message,
            other => panic!("{set}: {other:?}"),
        }
    }

    #[test]
    fn every_field_of_the_settings_has_a_path() {
        // the names of the fields, as the engine prints them
        let printed = format!("{:#?}", Settings::default());
        let fields = printed.lines().filter(|l| l.starts_with("    ") && !l.starts_with("     "));
        let names: Vec<&str> = fields.filter_map(|l| Some(l.trim().split_once(':')?.0)).collect();
        assert!(names.len() > 20, "{printed}");
        for name in names {
            let path = format!("settings.{name}");
            let found = KNOBS.iter().any(|k| k.path == path || k.path.starts_with(&format!("{path}.")));
            assert!(found, "{path} cannot be set from the command line: add it to KNOBS");
        }
    }

    #[test]
    fn values_arrive() -> Result<(), Failure> {
        assert_eq!(with("settings.substeps=8")?.substeps, 8);
        assert_eq!(with("settings.gravity.y = -1.6")?.gravity.y, -1.6);
        assert_eq!(with("settings.gravity=[0, -1.6, 0]")?.gravity, Vec3::new(0.0, -1.6, 0.0));
        let soft = Stabilization::Soft { frequency: 60.0, damping_ratio: 1.0 };
        assert_eq!(with("settings.contact.frequency=60")?.contact, soft);
        assert_eq!(with("settings.joint.baumgarte=0.1")?.joint, Stabilization::Baumgarte(0.1));
        assert_eq!(with("settings.order=staggered:2,3")?.order, Order::Staggered { rigid: 2, deformable: 3 });
        assert_eq!(with("settings.contact_method=impulse")?.contact_method, ContactMethod::Impulse);
        let barrier = Penalty::LogBarrier { strength: 0.5, buffer: 0.01 };
        assert_eq!(with("settings.contact_method=barrier:0.5,0.01")?.contact_method, ContactMethod::Penalty(barrier));
        let soft = Penalty::Quadratic { stiffness: 1e4 };
        assert_eq!(with("settings.contact_method=quadratic:1e4")?.contact_method, ContactMethod::Penalty(soft));
        assert_eq!(with("settings.sleep_time=inf")?.sleep_time, Real::INFINITY);
        Ok(())
    }

    #[test]
    fn refusals_name_the_path_and_the_near_miss() {
        assert!(refusal("settings.substep=8").contains("did you mean 'settings.substeps'?"));
        assert!(refusal("substeps=8").contains("did you mean 'settings.substeps'?"));
        assert!(refusal("gravty.y=1").contains("did you mean 'settings.gravity.y'?"));
        assert!(refusal("settings.substeps=many").contains("settings.substeps: 'many' is not a whole number"));
        assert!(refusal("settings.substeps").contains("PATH=VALUE"));
        assert!(refusal("settings.contact_method=buffered:3").contains("buffered:STIFFNESS,BUFFER"));
        assert!(refusal("settings.order=staggered").contains("staggered:2,2"));
    }
}

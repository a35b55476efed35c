//! The example of `docs/adding-a-scene-key.md`: a description with every mark.

use sinew_math::{Pose, Real, Vec3};
use sinew_spec::{ANY, Item, Kind, NOT_NEGATIVE, POSITIVE, Spec, Via, choice, record};

#[derive(Clone, Debug, PartialEq)]
struct Lamp {
    pose: Pose,
    power: Real,
    cone: Option<(Real, Real)>,
    glass: Glass,
}

#[derive(Clone, Debug, PartialEq)]
enum Glass {
    Clear,
    Tinted { share: Real },
}

/// The cone as it is described.
struct Cone {
    angle: Real,
    softness: Real,
}

impl Via<(Real, Real)> for Cone {
    fn of(&(angle, softness): &(Real, Real)) -> Self {
        Self { angle, softness }
    }

    fn back(self) -> (Real, Real) {
        (self.angle, self.softness)
    }
}

record!(Cone, "cone", "A cone of light.", Cone { angle: 0.5, softness: 0.0 }, {
    angle [required]: POSITIVE, "Half its angle [rad].";
    softness: NOT_NEGATIVE, "Width of its rim [rad].";
});

choice!(Glass, "glass", "The glass of a lamp.", {
    "clear" => Clear, "Nothing is absorbed.", {};
    "tinted" => Tinted, "A share is absorbed.", { share share: Real, NOT_NEGATIVE => 0.5, "The share."; };
});

fn usual() -> Lamp {
    Lamp { pose: Pose::IDENTITY, power: 10.0, cone: None, glass: Glass::Clear }
}

record!(Lamp, "lamp", "A lamp.", usual(), {
    pose [flat]: ANY, "Where it is.";
    power [required]: POSITIVE, "Power [W].";
    cone via Option<Cone> [flat]: ANY, "Its cone; without: all directions.";
    glass as colour: ANY, "Its glass.";
});

#[test]
fn a_description_has_what_files_need() {
    let Kind::Record(lamp) = Lamp::kind(&ANY) else { panic!("a record") };
    let [pose, power, cone, glass] = (lamp.fields)() else { panic!("four fields") };
    assert!(pose.flat && cone.flat && !power.flat && !glass.flat);
    assert_eq!((power.default.clone(), glass.name), (None, "colour"));
    assert_eq!(glass.default, Some(Item::Choice(0, Vec::new())));
}

#[test]
fn values_come_back_and_foreign_trees_do_not() {
    let pose = Pose::at(Vec3::Y);
    let lamp = Lamp { pose, power: 3.0, cone: Some((0.2, 0.1)), glass: Glass::Tinted { share: 0.25 } };
    assert_eq!(Lamp::from_item(lamp.to_item()), Some(lamp.clone()));
    let Item::Record(mut items) = lamp.to_item() else { panic!("a record") };
    items.pop();
    assert_eq!(Lamp::from_item(Item::Record(items.clone())), None, "too few");
    items.push(Item::Choice(7, Vec::new()));
    assert_eq!(Lamp::from_item(Item::Record(items.clone())), None, "no such variant");
    items.pop();
    items.extend([Item::Choice(0, Vec::new()), Item::Flag(true)]);
    assert_eq!(Lamp::from_item(Item::Record(items)), None, "too many");
}

#[test]
fn ranges_are_checked_at_any_depth() {
    let lamp = Lamp { cone: Some((0.2, -0.5)), ..usual() };
    let error = sinew_spec::check(&lamp, "lamp").expect_err("a negative width");
    assert_eq!(error.to_string(), "lamp.cone.softness is -0.5, but must be a number of at least 0");
    let lamp = Lamp { glass: Glass::Tinted { share: -1.0 }, ..usual() };
    assert!(sinew_spec::check(&lamp, "lamp").expect_err("a negative share").to_string().contains("colour.share"));
}

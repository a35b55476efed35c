//! OP 6 and 7: two fingers press an object, lift it and hold it; fingers of bone and tissue beside bare bones.
//!
//! A wrist on rails carries two fingers on sliders. Both close until they touch; then the left one keeps its place and the
//! right one presses with a capped force, as a compliant and a rigid jaw; the wrist moves up. OP sets the
//! velocities of its fingers by hand instead.

use super::{Scene, floor, named};
use crate::Rng;
use sinew::{
    BodyId, Combined, Command, ConstraintId, Error, Input, Joint, Motor, Pose, Quat, Real, RigidBody, Settings, Shape,
    SoftModel, SurfaceMaterial, Tissue, TissueModel, Vec3, World, fem, oriented,
};

/// A block.
pub(super) const BLOCK: Scene = Scene {
    name: "grasp-block",
    about: "Two fingers of bone and tissue press a block with 10 N, lift it by 0.3 m and hold it.",
    figure: "OP Fig. 7",
    build: || Grasp { object: Object::Block, ..Grasp::default() }.build(),
    input: script,
    seconds: 12.0,
    text: None,
};

/// A cylinder.
pub(super) const CYLINDER: Scene = Scene {
    name: "grasp-cylinder",
    about: "The same fingers lift a cylinder by its round side: the tissue wraps around it.",
    figure: "OP Fig. 7",
    build: || Grasp::default().build(),
    input: script,
    seconds: 12.0,
    text: None,
};

/// Bare bones.
pub(super) const CYLINDER_RIGID: Scene = Scene {
    name: "grasp-cylinder-rigid",
    about: "The same motion with bare bones, turned and shifted as in grasp-tilted: the cylinder is lost.",
    figure: "OP Fig. 7",
    build: || Grasp { finger: Finger::Bare, ..TILTED_GRASP }.build(),
    input: script,
    seconds: 12.0,
    text: None,
};

/// Fingers that are badly aimed.
pub(super) const TILTED: Scene = Scene {
    name: "grasp-tilted",
    about: "Fingers that are off by 15 degrees and 10 mm lift the cylinder all the same.",
    figure: "",
    build: || TILTED_GRASP.build(),
    input: script,
    seconds: 12.0,
    text: None,
};

/// Force of the finger that presses [N].
pub const FORCE: Real = 10.0;
/// Height by which the wrist is lifted [m].
pub const LIFT: Real = 0.3;
/// Step of the scenes [s].
pub const STEP: Real = 0.005;
/// Ticks at which one finger is locked and the other presses, at which the lift begins, and at which it has ended.
const PRESS: u64 = 120;
const UP: u64 = 200;
/// Tick at which the wrist has come up.
pub const HOLD: u64 = 400;

/// Half size of a bone [m].
const BONE: Vec3 = Vec3::new(0.005, 0.015, 0.015);
/// Thickness of the pads [m].
const PAD: Real = 0.01;
/// Middle of a finger from the middle of the object at the start [m].
const START: Real = 0.055;
/// Height of the middle of the object and half its length [m].
const HALF: Real = 0.03;
/// Speed at which fingers close [m/s], and the force that they touch with [N].
const CLOSING: Real = 0.06;
const TOUCH: Real = 1.0;
const WRIST: Real = 0.15;

/// What is grasped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    /// A block of 5 x 6 x 6 cm.
    Block,
    /// A lying cylinder, 6 cm long, radius 3 cm.
    Cylinder,
}

/// What fingers are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finger {
    /// A bone with a pad of finite elements.
    Elastic,
    /// A bone with a pad of oriented particles.
    Oriented,
    /// The bone alone.
    Bare,
}

/// A grasp: what differs from one to the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grasp {
    /// What is grasped.
    pub object: Object,
    /// With what.
    pub finger: Finger,
    /// Mass of the object [kg].
    pub mass: Real,
    /// Friction between finger and object.
    pub friction: Real,
    /// How the left and the right finger are turned against their right direction: rotation vectors [rad].
    pub tilt: [Vec3; 2],
    /// How far they are off, up and aside [m].
    pub offset: [[Real; 2]; 2],
}

impl Default for Grasp {
    fn default() -> Self {
        Self {
            object: Object::Cylinder,
            finger: Finger::Elastic,
            mass: 0.3,
            friction: 0.7,
            tilt: [Vec3::ZERO; 2],
            offset: [[0.0; 2]; 2],
        }
    }
}

/// Most that fingers of random grasps are turned [rad] and shifted [m].
const MOST_TURN: f64 = 15.0 * std::f64::consts::PI / 180.0;
const MOST_SHIFT: f64 = 0.01;

/// 15 degrees [rad].
const TURN: Real = 0.261_799_4;

const TILTED_GRASP: Grasp = Grasp {
    object: Object::Cylinder,
    finger: Finger::Elastic,
    mass: 0.3,
    friction: 0.7,
    tilt: [Vec3::new(0.0, TURN, 0.0), Vec3::new(0.0, 0.0, TURN)],
    offset: [[0.01, 0.0], [0.0, 0.01]],
};

/// A turn about an axis of any direction, of up to 15 degrees [rad].
fn any_turn(rng: &mut Rng) -> Vec3 {
    let (y, around) = (rng.between(-1.0, 1.0), rng.between(0.0, std::f64::consts::TAU));
    let level = (1.0 - y * y).sqrt();
    let angle = rng.between(0.0, MOST_TURN);
    Vec3::new((level * around.cos()) as Real, y as Real, (level * around.sin()) as Real) * angle as Real
}

/// A place in a disc of 10 mm [m].
fn any_shift(rng: &mut Rng) -> [Real; 2] {
    let (r, around) = (MOST_SHIFT * rng.share().sqrt(), rng.between(0.0, std::f64::consts::TAU));
    [(r * around.cos()) as Real, (r * around.sin()) as Real]
}

impl Grasp {
    /// A grasp by rng: each finger turned by up to 15 degrees about any axis and shifted by up to 10 mm, friction 0.5 to 1,
    /// mass 0.1 to 0.5 kg. All are within force closure: 2 μ N is at least 10 N, the heaviest needs 5.8 N in the lift.
    pub fn random(seed: u64, object: Object, finger: Finger) -> Self {
        let rng = &mut Rng::new(seed);
        let (tilt, offset) = ([any_turn(rng), any_turn(rng)], [any_shift(rng), any_shift(rng)]);
        let (friction, mass) = (rng.between(0.5, 1.0) as Real, rng.between(0.1, 0.5) as Real);
        Self { object, finger, mass, friction, tilt, offset }
    }

    /// The world of this grasp; [`script`] moves it.
    ///
    /// # Errors
    /// A grasp that the engine refuses.
    pub fn build(&self) -> Result<World, Error> {
        let mut world = World::new(Settings { dt: STEP, sleep_time: Real::INFINITY, ..Settings::default() })?;
        let rough = SurfaceMaterial::friction(self.friction);
        floor(&mut world, rough)?;
        let quarter = Quat::from_rotation_x(std::f64::consts::FRAC_PI_2 as Real);
        let object = match self.object {
            Object::Block => RigidBody::dynamic().shape(Shape::cuboid(0.025, HALF, HALF)),
            Object::Cylinder => RigidBody::dynamic().shape(Shape::cylinder(HALF, HALF)).turned(quarter),
        };
        world.add_rigid(object.at([0.0, HALF, 0.0]).mass(self.mass).material(rough).named("object"))?;
        // out of the way: fingers hang from it
        let wrist = RigidBody::kinematic().at([0.0, WRIST, 0.0]).named("wrist");
        let wrist = world.add_rigid(wrist.shape(Shape::cuboid(0.08, 0.01, 0.02)).groups(sinew::Groups::NONE))?;
        let left = self.add_finger(&mut world, 0, rough)?;
        let right = self.add_finger(&mut world, 1, rough)?;
        // behind the anchors of the pads: see `sliders`
        for (bone, inward) in [(left, 1.0), (right, -1.0)] {
            let motor = Motor::Velocity { target: CLOSING, max_force: TOUCH };
            world.add_joint(Joint::slider(Some(wrist), Some(bone)).axis(Vec3::X * inward).motor(motor))?;
        }
        Ok(world)
    }

    fn add_finger(&self, world: &mut World, k: usize, rough: SurfaceMaterial) -> Result<BodyId, Error> {
        let inward = [Vec3::X, Vec3::NEG_X][k];
        let [up, aside] = self.offset[k];
        let name = ["left", "right"][k];
        let bone = RigidBody::dynamic().shape(Shape::cuboid(BONE.x, BONE.y, BONE.z)).mass(0.1).material(rough);
        let bone = bone.at(inward * -START + Vec3::new(0.0, HALF + up, aside)).named(name);
        let bone = bone.turned(Quat::from_scaled_axis(self.tilt[k]));
        let finger = Combined::new(name).group(30 + k as u32);
        let finger = match self.finger.tissue() {
            Some(tissue) => finger.covered(bone, tissue.facing(inward).material(rough)),
            None => finger.bone(bone),
        };
        Ok(world.add_combined(finger)?.bones[0])
    }
}

impl Finger {
    /// The pad on a bone.
    pub fn tissue(self) -> Option<Tissue> {
        match self {
            Finger::Bare => None,
            Finger::Elastic => Some(Tissue::new(flesh(), 0.01, PAD)),
            Finger::Oriented => {
                // about as stiff as the elastic pad; at 300 Hz 10 N press the pad through to its bone
                let frequency = 900.0;
                let params =
                    oriented::Params { frequency, damping: 10.0, implicit: true, ..oriented::Params::default() };
                let model = TissueModel::Oriented { density: 1000.0, group_size: 5, params };
                Some(Tissue::new(model, 0.0075, PAD))
            }
        }
    }
}

/// A firm fingertip, damped so that it does not ring. At 50 kPa a pad that is turned by 15 degrees is pressed through to
/// its bone by 10 N.
fn flesh() -> TissueModel {
    let params = fem::Params { youngs_modulus: 1e5, poisson_ratio: 0.4, density: 1000.0, damping: 0.01 };
    TissueModel::Solid(SoftModel::Corotational(params))
}

/// The two sliders: behind one anchor for each pad.
fn sliders(world: &World) -> [ConstraintId; 2] {
    let first = if named(world, "left tissue 0").is_some() { 2 } else { 0 };
    [first, first + 1].map(|index| ConstraintId::from_parts(index, 1))
}

/// Height of the wrist at a tick [m].
fn height(tick: u64) -> Real {
    let part = (tick.clamp(UP, HOLD) - UP) as Real / (HOLD - UP) as Real;
    // no jerk: 10 t³ − 15 t⁴ + 6 t⁵, at most 1.7 m/s² for 0.3 m in a second
    WRIST + LIFT * part * part * part * (10.0 + part * (6.0 * part - 15.0))
}

/// Closes, presses and lifts.
pub fn script(world: &World, tick: u64) -> Input {
    let [left, right] = sliders(world);
    let mut input = Input::none();
    if let Some(wrist) = named(world, "wrist") {
        input = input.target(wrist, Pose::at(Vec3::new(0.0, height(tick + 1), 0.0)));
    }
    if tick == PRESS {
        let place = named(world, "left").and_then(|id| world.body(id).ok()).map_or(0.0, |b| b.position().x + START);
        let hold = Motor::Position { target: place, frequency: 40.0, damping_ratio: 1.0, max_force: 20.0 * FORCE };
        let press = Motor::Velocity { target: CLOSING, max_force: FORCE };
        input = input.with(Command::Motor { joint: left, motor: Some(hold) });
        input = input.with(Command::Motor { joint: right, motor: Some(press) });
    }
    input
}

/// How a grasp went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// How far the object is up when the wrist has come up [m].
    pub lifted: Real,
    /// Largest way of the object against the fingers while it is held [m].
    pub slip: Real,
    /// How far the object is up at the end [m].
    pub left: Real,
    /// Mean force of the fingers on the object in the last second, by its weight.
    pub carried: Real,
}

impl Outcome {
    /// Up with the wrist within a centimetre, and less than a millimetre of slip.
    pub fn holds(&self) -> bool {
        self.lifted > LIFT - 0.01 && self.slip < 1e-3
    }

    /// It came down again, or never went up.
    pub fn dropped(&self) -> bool {
        self.left < 0.5 * LIFT
    }
}

/// Ticks that tissue is given to come to rest after the lift: a fifth of a second.
const REST: u64 = 40;

/// Plays a grasp and holds for a time [s]; `each` sees the world after every step.
///
/// # Errors
/// A grasp that the engine refuses.
pub fn play(grasp: &Grasp, seconds: f64, mut each: impl FnMut(&World)) -> Result<Outcome, Error> {
    let mut world = grasp.build()?;
    let end = HOLD + REST + (seconds / STEP as f64).round() as u64;
    let (mut start, mut outcome) = (None, Outcome { lifted: 0.0, slip: 0.0, left: 0.0, carried: 0.0 });
    let object = named(&world, "object");
    let mut count = 0.0;
    while world.state().tick < end {
        let input = script(&world, world.state().tick);
        world.step(&input);
        each(&world);
        let (Some(object), Some(held)) = (object, held(&world)) else { continue };
        let tick = world.state().tick;
        outcome.left = world.body(object)?.position().y - HALF;
        if tick == HOLD + REST {
            (start, outcome.lifted) = (Some(held), outcome.left);
        }
        outcome.slip = outcome.slip.max(start.map_or(0.0, |start: Vec3| start.distance(held)));
        if tick + (1.0 / STEP) as u64 > end {
            outcome.carried += world.report().contact_force_on(object).y / (grasp.mass * 9.81);
            count += 1.0;
        }
    }
    outcome.carried /= count;
    Ok(outcome)
}

/// Where the object is, seen from the mean of the two bones [m].
#[must_use]
pub fn held(world: &World) -> Option<Vec3> {
    let at = |name| Some(world.body(named(world, name)?).ok()?.position());
    Some(at("object")? - 0.5 * (at("left")? + at("right")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soft_fingers_carry_block_and_cylinder_and_the_force_is_the_weight() {
        for object in [Object::Block, Object::Cylinder] {
            let outcome = play(&Grasp { object, ..Grasp::default() }, 2.0, |_| ()).unwrap();
            assert!(outcome.holds() && (outcome.carried - 1.0).abs() < 0.01, "{object:?}: {outcome:?}");
        }
    }

    #[test]
    fn soft_fingers_that_are_badly_aimed_hold_what_bare_bones_lose() {
        let soft = play(&TILTED_GRASP, 2.0, |_| ()).unwrap();
        assert!(soft.holds(), "{soft:?}");
        let bare = play(&Grasp { finger: Finger::Bare, ..TILTED_GRASP }, 2.0, |_| ()).unwrap();
        assert!(bare.dropped(), "{bare:?}");
    }

    #[test]
    fn the_finger_that_presses_does_so_with_its_force_and_both_pads_wrap_around() {
        let mut world = Grasp::default().build().unwrap();
        // in the air: on the floor its friction takes a part
        while world.state().tick < HOLD + REST {
            let input = script(&world, world.state().tick);
            world.step(&input);
        }
        let object = named(&world, "object").unwrap();
        let mut points = Vec::new();
        for (name, side) in [("left tissue 0", 1.0), ("right tissue 0", -1.0)] {
            let grip = world.grasp_force(named(&world, name).unwrap(), object, &mut points).unwrap();
            assert!((grip.force.x * side / FORCE - 1.0).abs() < 0.01, "{name}: {grip:?}");
            // a patch, not a line: wider than one row of points
            assert!(grip.area > 1e-4 && points.len() >= 4, "{name}: {grip:?}");
            let sum: Real = points.iter().map(|p| p.pressure * p.area).sum();
            assert!((sum / grip.normal - 1.0).abs() < 1e-3, "{sum} {grip:?}");
        }
    }
}

//! A hand of three fingers, each of two jointed bones with pads of tissue, that picks up a ball from above.

use super::grasp::flesh;
use super::{Scene, floor, named};
use sinew::{
    Combined, Error, Groups, Input, Joint, Material, Motor, Pose, Real, RigidBody, Settings, Shape, Tissue, Vec3, World,
};

/// Three fingers and a ball.
pub(super) const HAND: Scene = Scene {
    name: "hand",
    about: "Three fingers of two jointed bones each, with soft pads, close on a ball, lift it by 0.3 m and hold it.",
    figure: "",
    build: hand,
    input: script,
    seconds: 8.0,
};

const FINGERS: usize = 3;
/// Radius of the ball [m].
const BALL: Real = 0.035;
/// Height of the palm, and of the knuckles under it [m].
const PALM: Real = 0.14;
const KNUCKLE: Real = 0.125;
/// Distance of the fingers from the axis of the hand [m].
const AROUND: Real = 0.058;
/// Half the length and the radius of a bone's capsule [m].
const HALF: Real = 0.018;
const RADIUS: Real = 0.008;
/// From joint to joint [m].
const LINK: Real = 0.05;
/// Ticks at which the lift begins and ends.
const UP: u64 = 300;
const HOLD: u64 = 500;

fn hand() -> Result<World, Error> {
    let mut world = World::new(Settings { dt: 0.005, sleep_time: Real::INFINITY, ..Settings::default() })?;
    let rough = Material::friction(0.8);
    floor(&mut world, rough)?;
    let ball = RigidBody::dynamic().shape(Shape::ball(BALL)).mass(0.2).material(rough).at([0.0, BALL, 0.0]);
    world.add_rigid(ball.named("ball"))?;
    let palm = RigidBody::kinematic().shape(Shape::cylinder(0.01, AROUND)).at([0.0, PALM, 0.0]).groups(Groups::NONE);
    let palm = world.add_rigid(palm.named("palm"))?;
    for k in 0..FINGERS {
        let angle = std::f64::consts::TAU * k as f64 / FINGERS as f64;
        let out = Vec3::new(angle.cos() as Real, 0.0, angle.sin() as Real);
        let knuckle = out * AROUND + Vec3::Y * KNUCKLE;
        // a turn about this axis brings what hangs down to the middle
        let axis = Vec3::Y.cross(out);
        let bone = |n: usize| {
            let at = knuckle - Vec3::Y * (LINK * (n as Real + 0.5));
            RigidBody::dynamic().shape(Shape::capsule(HALF, RADIUS)).mass(0.05).material(rough).at(at)
        };
        let pad = || Tissue::new(flesh(), 0.008, 0.007).facing(-out).material(rough);
        let drive = |max_force| Motor::Velocity { target: 1.0, max_force };
        let middle = Joint::hinge(None, None).anchor(knuckle - Vec3::Y * LINK).axis(axis).limits(0.0, 1.5);
        let finger = Combined::new(format!("finger {k}")).group(20 + k as u32);
        let finger = finger.covered(bone(0), pad()).covered(bone(1), pad()).joint(0, 1, middle.motor(drive(0.15)));
        let finger = world.add_combined(finger)?;
        let root = Joint::hinge(Some(palm), Some(finger.bones[0])).anchor(knuckle).axis(axis).limits(0.0, 1.5);
        world.add_joint(root.motor(drive(0.4)))?;
    }
    Ok(world)
}

fn script(world: &World, tick: u64) -> Input {
    let Some(palm) = named(world, "palm") else { return Input::none() };
    let part = ((tick + 1).clamp(UP, HOLD) - UP) as Real / (HOLD - UP) as Real;
    let up = 0.3 * part * part * part * (10.0 + part * (6.0 * part - 15.0));
    Input::none().target(palm, Pose::at(Vec3::Y * (PALM + up)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hand_lifts_the_ball_and_holds_it() {
        let mut world = hand().unwrap();
        let ball = named(&world, "ball").unwrap();
        let mut held = Vec3::ZERO;
        while world.time() < 5.0 {
            let input = script(&world, world.state().tick);
            world.step(&input);
            assert!(world.report().faults.is_empty());
            if world.state().tick == 700 {
                held = world.body(ball).unwrap().position();
            }
        }
        let now = world.body(ball).unwrap().position();
        assert!(now.y > 0.3 && now.distance(held) < 1e-3, "{held} {now}");
    }
}

//! Rigid bodies held by friction between two plates, in scenes turned at random. A grip that is stronger than the weight
//! needs holds for good: the friction of a round body is carried by the flat side, not by its spin, and a cycle of small
//! motions leaves no displacement.

use sinew::{
    BodyId, Command, Error, Input, Joint, Quat, Real, RigidBody, Settings, Shape, SurfaceMaterial, Vec3, World,
};

/// Numbers between 0 and 1, the same in every run.
struct Random(u32);

impl Random {
    fn next(&mut self) -> Real {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as Real / 16_777_216.0
    }

    fn between(&mut self, low: Real, high: Real) -> Real {
        low + (high - low) * self.next()
    }

    fn turn(&mut self) -> Quat {
        let mut part = || self.next() - 0.5;
        Quat::from_xyzw(part(), part(), part(), part()).normalize()
    }
}

/// A body between a fixed plate and one on a slider.
struct Grip {
    world: World,
    held: BodyId,
    plate: BodyId,
    /// On the plate, towards the fixed one [N].
    force: Vec3,
    turn: Quat,
}

/// What is held and how.
#[derive(Clone, Copy, Debug)]
struct Held {
    kind: usize,
    /// Half its thickness [m].
    half: Real,
    mass: Real,
    friction: Real,
    /// Force of the plate as a multiple of the one that the weight needs: m g/(2 μ).
    margin: Real,
    /// Added to the world before the plates, so that it is the first body of its contacts, or after them.
    first: bool,
    /// Of the whole scene, gravity too.
    turn: Quat,
}

const NAMES: [&str; 4] = ["box", "ball", "capsule", "cylinder"];

impl Held {
    /// The ball of the report.
    fn ball(margin: Real, first: bool, turn: Quat) -> Self {
        Self { kind: 1, half: 0.02, mass: 0.0287, friction: 0.7, margin, first, turn }
    }

    fn shape(&self) -> Shape {
        match NAMES[self.kind] {
            "box" => Shape::cuboid(self.half, self.half, self.half),
            "ball" => Shape::ball(self.half),
            "capsule" => Shape::capsule(1.5 * self.half, self.half),
            _ => Shape::cylinder(1.5 * self.half, self.half),
        }
    }

    /// The scene, at default settings but awake: a body asleep does not creep.
    fn grip(self) -> Result<Grip, Error> {
        let Self { half, turn, .. } = self;
        let gravity = turn * Vec3::new(0.0, -9.81, 0.0);
        let mut world = World::new(Settings { gravity, sleep_time: Real::INFINITY, ..Settings::default() })?;
        let material = SurfaceMaterial::friction(self.friction);
        let place = |body: RigidBody, x: Real| body.at(turn * Vec3::new(x, 0.0, 0.0)).turned(turn).material(material);
        let body = place(RigidBody::dynamic().shape(self.shape()).mass(self.mass), 0.0);
        let early = if self.first { Some(world.add_rigid(body.clone())?) } else { None };
        let shape = Shape::cuboid(0.01, 0.06, 0.06);
        world.add_rigid(place(RigidBody::fixed().shape(shape.clone()), -half - 0.01))?;
        let plate = world.add_rigid(place(RigidBody::dynamic().shape(shape).mass(0.1), half + 0.01))?;
        let anchor = turn * Vec3::new(half + 0.01, 0.0, 0.0);
        world.add_joint(Joint::slider(None, Some(plate)).anchor(anchor).axis(turn * Vec3::X))?;
        let held = match early {
            Some(held) => held,
            None => world.add_rigid(body)?,
        };
        let force = turn * Vec3::new(-self.margin * self.mass * 9.81 / (2.0 * self.friction), 0.0, 0.0);
        Ok(Grip { world, held, plate, force, turn })
    }
}

impl Grip {
    /// Presses the plate.
    fn push(&self) -> Input {
        Input::none().with(Command::Force { body: self.plate, force: self.force, torque: Vec3::ZERO })
    }

    fn run(&mut self, steps: u32) {
        for _ in 0..steps {
            self.world.step(&self.push());
        }
    }

    /// Pose of the held body in the axes of the scene.
    fn pose(&self) -> Result<(Vec3, Quat), Error> {
        let body = self.world.body(self.held)?;
        Ok((self.turn.inverse() * body.position(), body.rotation()))
    }
}

fn degrees(from: Quat, to: Quat) -> Real {
    let turned = from.inverse() * to;
    (2.0 * turned.xyz().length().atan2(turned.w.abs())).to_degrees()
}

#[test]
fn a_grip_that_is_strong_enough_holds_for_a_minute() -> Result<(), Error> {
    let mut random = Random(7);
    for kind in 0..NAMES.len() {
        for margin in [1.2, 2.0, 5.0, 20.0, 100.0] {
            for first in [true, false] {
                let (half, mass) = (random.between(0.02, 0.03), random.between(0.02, 0.05));
                let (friction, turn) = (random.between(0.6, 0.8), random.turn());
                let held = Held { kind, half, mass, friction, margin, first, turn };
                let mut grip = held.grip()?;
                grip.run(60);
                let (x, q) = grip.pose()?;
                grip.run(3540);
                let (end, turned) = grip.pose()?;
                let (creep, turned) = ((end - x).length() / 59.0, degrees(q, turned));
                let name = NAMES[kind];
                println!("{name:8} {margin:5} {first:5}: {:.4} um/s, {turned:.4} degrees", creep * 1e6);
                assert!(creep < 1e-6, "{name} at {margin}: {creep} m/s, {held:?}");
                assert!(turned < 0.1, "{name} at {margin}: {turned} degrees, {held:?}");
            }
        }
    }
    Ok(())
}

#[test]
fn friction_does_not_turn_with_the_spin_of_a_ball() -> Result<(), Error> {
    // the weight hangs on the stretch of the friction springs; if that turned with the ball by half a radian, the
    // ball would be pushed aside by a third of its weight, and move by millimetres
    let mut random = Random(3);
    for first in [true, false] {
        let mut grip = Held::ball(5.0, first, random.turn()).grip()?;
        grip.run(60);
        let (x, q) = grip.pose()?;
        let spin = grip.turn * Vec3::X * 2.0;
        let spun = Command::Velocity { body: grip.held, velocity: Vec3::ZERO, spin };
        grip.world.step(&grip.push().with(spun));
        grip.run(60);
        let (end, turned) = grip.pose()?;
        assert!(degrees(q, turned) > 20.0, "{}", degrees(q, turned));
        assert!((end - x).length() < 5e-5, "{first}: moved by {:?} m", (end - x).to_array());
    }
    Ok(())
}

#[test]
fn a_ball_that_spins_on_a_table_stops_by_the_friction_of_its_patch() -> Result<(), Error> {
    // Hertz pressure over the radius a = r/1000: torque 3π/16 μ a m g, inertia 2/5 m r²
    let (r, friction) = (0.02, 0.5);
    let slows = 3.0 * std::f64::consts::PI as Real / 16.0 * friction * 1e-3 * 9.81 / (0.4 * r);
    for (mu, slows) in [(friction, slows), (0.0, 0.0)] {
        let mut world = World::default();
        let material = SurfaceMaterial::friction(mu);
        let table = RigidBody::fixed().shape(Shape::cuboid(1.0, 0.1, 1.0)).at([0.0, -0.1, 0.0]);
        world.add_rigid(table.material(material))?;
        let ball = RigidBody::dynamic().shape(Shape::ball(r)).at([0.0, r, 0.0]).material(material);
        let id = world.add_rigid(ball.can_sleep(false))?;
        for _ in 0..60 {
            world.step(&Input::none());
        }
        world.step(&Input::none().with(Command::Velocity { body: id, velocity: Vec3::ZERO, spin: Vec3::Y * 0.5 }));
        let before = world.body(id)?.spin().y;
        for _ in 0..60 {
            world.step(&Input::none());
        }
        let lost = before - world.body(id)?.spin().y;
        // in one second
        assert!((lost - slows).abs() < 0.01 * slows + 1e-5, "{lost} and not {slows} rad/s");
    }
    Ok(())
}

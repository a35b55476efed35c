//! Soft and rigid bodies together: collisions, weight on soft blocks, a grip, throws, rolling.

use super::soft_tools::{FOUR_NEO, Kind, Stuff, cells, refused};
use super::tools::{
    G, Slope, Track, ball, block, cross, distance, floor, free_space, num, real, run, sleepless, turn, vec3, wide,
};
use super::{Case, Reading, Readings};
use sinew::{
    BodyId, Combined, Command, Error, Input, Joint, Motor, RigidBody, Settings, Shape, Skin, SoftBody, SoftModel,
    SurfaceMaterial, TetMesh, Tissue, TissueModel, TriMesh, Vec3, World, fem,
};

const HIT: &str = "Momentum in a rigid-soft collision in free space";
const PLATE: &str = "Soft ball on a free plate";
const WEIGHT: &str = "Rigid block on a soft block";
const HEAVY: &str = "100:1 rigid on soft";
const GRIP: &str = "Two soft fingers lift a cylinder";
const TOWER: &str = "Alternating rigid/soft tower";
const THROW: &str = "Centre of mass of a thrown, wobbling soft body";
const ROLL: &str = "Nearly rigid soft ball on incline";

const ROUNDED: &str =
    "p moves by 7e-5 in f32 (1e-5 allowed); perhaps the rounding of goals divided by the substep; not run in f64";

const LAGGING: &str = "holds and lets go as it should, but slides 16% too fast at N=3; not understood, perhaps the backs follow the force too slowly";

const DRAGGING: &str = "holds and lets go as it should, but slides 6% too slowly at N=3 (5% before edges had contacts at rims); the force that presses while it slides is not looked at here";

/// M01 to M08.
pub const CASES: &[Case] = &[
    Case::mixed("M01", HIT, "corotational", || m01(Kind::Fast)),
    Case::mixed("M01", HIT, "solid tet4 neo-hookean", || m01(FOUR_NEO)),
    Case::mixed("M01", HIT, "springs", || m01(Kind::Springs)),
    Case::mixed("M01", HIT, "meshless", || m01(Kind::Meshless)),
    Case::mixed("M02", PLATE, "corotational", || m02(Kind::Fast)),
    Case::mixed("M02", PLATE, "solid tet4 neo-hookean", || m02(FOUR_NEO)),
    Case::mixed("M02", PLATE, "springs", || m02(Kind::Springs)),
    Case::mixed("M02", PLATE, "pbd", || m02(Kind::Pbd)),
    Case::mixed("M02", PLATE, "shape-matching", || m02(Kind::Shape)).known(ROUNDED),
    Case::mixed("M02", PLATE, "meshless", || m02(Kind::Meshless)),
    Case::mixed("M03", WEIGHT, "corotational", || m03(Kind::Fast)),
    Case::mixed("M03", WEIGHT, "solid tet4 neo-hookean", || m03(FOUR_NEO)),
    Case::mixed("M04", HEAVY, "corotational", || m04(Kind::Fast)),
    Case::mixed("M04", HEAVY, "solid tet4 neo-hookean", || m04(FOUR_NEO)),
    Case::mixed("M05", GRIP, "corotational", || m05(Kind::Fast)).known(LAGGING),
    Case::mixed("M05", GRIP, "combined", m05_combined).known(DRAGGING),
    Case::mixed("M06", TOWER, "corotational", || m06(Kind::Fast)),
    Case::mixed("M06", TOWER, "solid tet4 neo-hookean", || m06(FOUR_NEO)),
    Case::mixed("M07", THROW, "corotational", || m07(Kind::Fast)),
    Case::mixed("M07", THROW, "solid tet4 neo-hookean", || m07(FOUR_NEO)),
    Case::mixed("M07", THROW, "springs", || m07(Kind::Springs)),
    Case::mixed("M07", THROW, "pbd", || m07(Kind::Pbd)),
    Case::mixed("M07", THROW, "shape-matching", || m07(Kind::Shape)),
    Case::mixed("M07", THROW, "meshless", || m07(Kind::Meshless)),
    Case::mixed("M08", ROLL, "corotational", || m08(Kind::Fast)),
];

/// Momentum, and angular momentum about the origin, of rigid bodies and nodes.
fn momenta(world: &World) -> ([f64; 3], [f64; 3]) {
    let (mut p, mut l) = ([0.0; 3], [0.0; 3]);
    let mut count = |m: f64, x: [f64; 3], v: [f64; 3], own: [f64; 3]| {
        let arm = cross(x, v);
        for k in 0..3 {
            p[k] += m * v[k];
            l[k] += m * arm[k] + own[k];
        }
    };
    for body in world.bodies() {
        if body.is_rigid() {
            let own = wide(body.angular_momentum());
            count(num(body.mass()), wide(body.center_of_mass()), wide(body.velocity()), own);
        }
        for ((x, v), m) in body.node_positions().iter().zip(body.node_velocities()).zip(body.node_masses()) {
            count(num(*m), wide(*x), wide(*v), [0.0; 3]);
        }
    }
    (p, l)
}

/// Kinetic energy of all and elastic energy of the soft body [J].
fn energy(world: &World, soft: BodyId) -> Result<f64, Error> {
    let mut sum = num(world.elastic(soft)?.energy());
    for body in world.bodies() {
        sum += if body.is_rigid() { num(body.kinetic_energy()) } else { 0.0 };
        for (v, m) in body.node_velocities().iter().zip(body.node_masses()) {
            sum += 0.5 * num(*m) * super::tools::dot(*v, *v);
        }
    }
    Ok(sum)
}

fn m01(kind: Kind) -> Readings {
    let mut world = World::new(free_space())?;
    // a cube of 1 kg, twice as wide as the offset needs
    let cube = kind.body(cells([4, 4, 4], [0.2; 3])?, Stuff { e: 1e5, nu: 0.3, rho: 125.0 });
    let cube = world.add_soft(cube)?;
    world.add_rigid(ball(0.05, 1.0).at([-0.2, 0.05, 0.0]).velocity([2.0, 0.0, 0.0]))?;
    let start = energy(&world, cube)?;
    let (mut most, mut touched) = (start, false);
    for _ in 0..300 {
        touched |= !world.step(&Input::none()).pairs.is_empty();
        most = most.max(energy(&world, cube)?);
    }
    let (p, l) = momenta(&world);
    let exact = if std::mem::size_of::<sinew::Real>() == 4 { 1e-5 } else { 1e-10 };
    Ok(vec![
        Reading::holds("they touched", touched),
        Reading::relative("p_x", p[0], 2.0, exact),
        Reading::relative("v_cm", p[0] / 2.0, 1.0, exact),
        Reading::relative("L_z about the cube centre (b=0.05)", l[2], -0.1, 1e-4),
        // energies are sums of f32: their rounding is not energy
        Reading::at_most("energy above the start", (most / start - 1.0).max(0.0), 1e-6),
    ])
}

fn m02(kind: Kind) -> Readings {
    let mut world = World::new(free_space())?;
    let mesh = TetMesh::ball(0.05, 3).map_err(|e| refused(&e))?;
    let rho = 0.5 / num(mesh.volume());
    let soft = kind.body(mesh, Stuff { e: 1e5, nu: 0.3, rho }).at([0.0, 0.1, 0.0]).velocity([0.0, -2.0, 0.0]);
    let soft = world.add_soft(soft)?;
    let plate = world.add_rigid(block([0.4, 0.02, 0.4], 1.0))?;
    run(&mut world, 0.3);
    let (p, _) = momenta(&world);
    let exact = if std::mem::size_of::<sinew::Real>() == 4 { 1e-5 } else { 1e-10 };
    let speed = -num(world.body(plate)?.velocity().y);
    let ball = num(world.body(soft)?.velocity().y);
    Ok(vec![
        Reading::relative("v_cm", p[1] / 1.5, -1.0 / 1.5, exact),
        Reading::relative("p", p[1], -1.0, exact),
        Reading::at_least("plate speed, least", speed, 0.666_66),
        Reading::at_least("plate speed, below the most", 4.0 / 3.0 - speed, 0.0),
        Reading::at_least("the ball leaves the plate", ball + speed, 0.0),
    ])
}

/// Sum of the vertical contact forces between two bodies [N].
fn between(world: &World, a: BodyId, b: BodyId) -> f64 {
    let pairs = world.report().pairs.iter();
    pairs.filter(|p| (p.a, p.b) == (a, b) || (p.a, p.b) == (b, a)).map(|p| num(p.force.y).abs()).sum()
}

/// A soft cube of 0.1 m on the floor with a rigid block on it: forces below and on it [N], height of its top with and
/// without the block [m], and how the block still moves [m/s].
fn loaded(kind: Kind, e: f64, mass: f64) -> Result<[f64; 5], Error> {
    // without Poisson's ratio nothing moves sideways, so that friction only keeps the block from wandering off
    let rough = SurfaceMaterial::friction(0.5);
    let stuff = Stuff { e, nu: 0.0, rho: 1000.0 };
    let make = |with: bool| -> Result<(World, [BodyId; 3]), Error> {
        let mut world = World::new(Settings { dt: 1.0 / 240.0, ..sleepless() })?;
        let ground = floor(&mut world, rough)?;
        let soft = kind.damped(cells([3, 3, 3], [0.1; 3])?, stuff, 0.02).at([0.0, 0.05, 0.0]).material(rough);
        let soft = world.add_soft(soft)?;
        let at = if with { [0.0, 0.12, 0.0] } else { [10.0, 0.02, 0.0] };
        let top = world.add_rigid(block([0.12, 0.04, 0.12], mass).material(rough).at(at.map(real)))?;
        Ok((world, [ground, soft, top]))
    };
    let top = |world: &World, soft: BodyId| -> Result<f64, Error> {
        let x = world.body(soft)?.node_positions();
        let upper: Vec<f64> = x.iter().map(|p| num(p.y)).collect();
        let highest = upper.iter().copied().fold(f64::MIN, f64::max);
        let near: Vec<f64> = upper.into_iter().filter(|y| highest - y < 0.01).collect();
        Ok(near.iter().sum::<f64>() / near.len() as f64)
    };
    let (mut alone, ids) = make(false)?;
    run(&mut alone, 2.0);
    let free = top(&alone, ids[1])?;
    let (mut world, [ground, soft, rigid]) = make(true)?;
    run(&mut world, 3.0);
    // the mean over the last part of the rest
    let (mut below, mut on, mut motion) = (0.0, 0.0, 0.0);
    for _ in 0..60 {
        world.step(&Input::none());
        below += between(&world, ground, soft) / 60.0;
        on += between(&world, soft, rigid) / 60.0;
        motion += num(world.body(rigid)?.velocity().length_squared()) / 60.0;
    }
    Ok([below, on, free, top(&world, soft)?, motion.sqrt()])
}

fn m03(kind: Kind) -> Readings {
    let [below, on, free, pressed, _] = loaded(kind, 1e5, 2.0)?;
    Ok(vec![
        Reading::relative("sinking by the block", free - pressed, 0.001_962, 0.03),
        Reading::relative("self weight part", 0.1 - free, 0.000_490_5, 0.03),
        Reading::relative("interface force", on, 19.62, 0.005),
        Reading::relative("floor force", below, 29.43, 0.005),
    ])
}

fn m04(kind: Kind) -> Readings {
    let [_, on, free, pressed, motion] = loaded(kind, 1e7, 100.0)?;
    Ok(vec![
        Reading::relative("sinking", free - pressed, 0.000_981, 0.05),
        Reading::relative("interface force", on, 981.0, 0.05),
        Reading::at_most("rms v", motion, 1e-4),
    ])
}

/// A cylinder of 0.5 kg with its flat ends between two soft pads, whose backs are moved so that each presses with a force
/// [N].
struct Grip {
    world: World,
    cylinder: BodyId,
    pads: [BodyId; 2],
    /// Nodes of the backs, and where they were [m].
    backs: [Vec<(u32, Vec3)>; 2],
    /// How far the backs went in [m].
    pressed: f64,
    force: f64,
    /// What each pad pressed with, step by step [N].
    pressing: Track,
}

impl Grip {
    fn new(kind: Kind, force: f64) -> Result<Self, Error> {
        let mut world = World::new(Settings { dt: 1.0 / 240.0, gravity: Vec3::ZERO, ..sleepless() })?;
        let rough = SurfaceMaterial::friction(0.6);
        let shape = Shape::cylinder(0.03, 0.03);
        let along = turn(Vec3::Z, std::f64::consts::FRAC_PI_2);
        let cylinder = world.add_rigid(RigidBody::dynamic().shape(shape).mass(0.5).material(rough).turned(along))?;
        let mut finger = |side: f64| -> Result<(BodyId, Vec<(u32, Vec3)>), Error> {
            let mesh = cells([2, 6, 4], [0.04, 0.12, 0.08])?;
            let back = vec3(side * 0.02, 0.0, 0.0);
            let pad = kind.damped(mesh, Stuff { e: 1e5, nu: 0.3, rho: 1000.0 }, 0.01).material(rough);
            let pad = pad.pin_region(back - vec3(1e-4, 1.0, 1.0), back + vec3(1e-4, 1.0, 1.0));
            let id = world.add_soft(pad.at(vec3(side * 0.05, 0.0, 0.0)).gravity_scale(0.0))?;
            let nodes = world.body(id)?.node_positions().iter().enumerate();
            let held = nodes.filter(|(_, x)| (num(x.x) - side * 0.07).abs() < 1e-4);
            Ok((id, held.map(|(n, x)| (n as u32, *x)).collect()))
        };
        let ((left, a), (right, b)) = (finger(-1.0)?, finger(1.0)?);
        let mut grip = Self {
            world,
            cylinder,
            pads: [left, right],
            backs: [a, b],
            pressed: 0.0,
            force,
            pressing: Track::default(),
        };
        // closed without weight, then the weight comes on
        grip.run(1.0)?;
        let settings = Settings { gravity: Vec3::NEG_Y * real(G), ..grip.world.settings().clone() };
        grip.world.set_settings(settings)?;
        Ok(grip)
    }

    /// Height of the cylinder while the pads keep pressing with their force.
    fn run(&mut self, seconds: f64) -> Result<Track, Error> {
        let mut track = Track::default();
        for _ in 0..super::tools::step_count(&self.world, seconds) {
            let pairs = &self.world.report().pairs;
            let on =
                |pad: BodyId| pairs.iter().filter(|p| p.a == pad || p.b == pad).map(|p| num(p.normal)).sum::<f64>();
            let pressing = 0.5 * (on(self.pads[0]) + on(self.pads[1]));
            // a tenth of the displacement that follows from the pads' stiffness of about 7 kN/m
            self.pressed += 0.1 * (self.force - pressing) / 7000.0;
            let mut input = Input::none();
            for (id, (back, side)) in self.pads.iter().zip(self.backs.iter().zip([1.0, -1.0])) {
                let aim = |(node, from): &(u32, Vec3)| {
                    let position = *from + Vec3::X * real(side * self.pressed);
                    Command::NodeTarget { body: *id, node: *node, position }
                };
                input.commands.extend(back.iter().map(aim));
            }
            self.world.step(&input);
            self.pressing.t.push(self.world.time());
            self.pressing.y.push(pressing);
            track.t.push(self.world.time());
            track.y.push(num(self.world.body(self.cylinder)?.center_of_mass().y));
        }
        Ok(track)
    }
}

fn m05(kind: Kind) -> Readings {
    let least = 0.5 * G / (2.0 * 0.6);
    let mut firm = Grip::new(kind, 1.05 * least)?;
    // the pads give way to the weight within a second: that is no slip
    firm.run(1.0)?;
    let slip = firm.run(30.0)?.drift();
    let fallen = -Grip::new(kind, 0.95 * least)?.run(0.5)?.last();
    let mut loose = Grip::new(kind, 3.0)?;
    let free = loose.run(0.2)?;
    let start = free.t.first().copied().unwrap_or(0.0);
    let a = -free.between(start + 0.05, start + 0.2).acceleration();
    let pressing = loose.pressing.between(start + 0.05, start + 0.2).y;
    let mean = pressing.iter().sum::<f64>() / pressing.len() as f64;
    Ok(vec![
        Reading::at_most("slip in 30 s at 1.05 N_min", slip, 1e-3),
        // g (1 − 0.95) t²/2 is 61 mm
        Reading::at_least("N_min: slides within 0.5 s at 0.95 N_min", fallen, 0.01),
        Reading::relative("a at N=3", a, 2.61, 0.05),
        Reading::relative("a by the mean of the measured N", a, G - 2.0 * 0.6 * mean / 0.5, 0.05),
    ])
}

/// The same cylinder between two bones with pads, one fixed and one on a slider that presses with a force [N].
struct Fingers {
    world: World,
    cylinder: BodyId,
}

impl Fingers {
    fn new(force: f64) -> Result<Self, Error> {
        let mut world = World::new(Settings { dt: 1.0 / 240.0, gravity: Vec3::ZERO, ..sleepless() })?;
        let rough = SurfaceMaterial::friction(0.6);
        let along = turn(Vec3::Z, std::f64::consts::FRAC_PI_2);
        let shape = Shape::cylinder(0.03, 0.03);
        let cylinder = world.add_rigid(RigidBody::dynamic().shape(shape).mass(0.5).material(rough).turned(along))?;
        let params = fem::Params { youngs_modulus: 1e5, poisson_ratio: 0.3, density: 1000.0, damping: 0.01 };
        let model = TissueModel::Solid(SoftModel::Corotational(params));
        for (k, (name, side)) in [("left", -1.0), ("right", 1.0)].into_iter().enumerate() {
            let bone = if k == 0 { RigidBody::fixed() } else { RigidBody::dynamic().mass(0.1).gravity_scale(0.0) };
            let bone = bone.shape(Shape::cuboid(0.005, 0.06, 0.04)).at(vec3(side * 0.055, 0.0, 0.0));
            let pad = Tissue::new(model.clone(), 0.02, 0.02).cells(2).facing(vec3(-side, 0.0, 0.0)).material(rough);
            let finger = Combined::new(name).covered(bone, pad).group(30 + k as u32);
            let bone = world.add_combined(finger)?.bones[0];
            if k == 1 {
                let press = Motor::Velocity { target: 0.1, max_force: real(force) };
                world.add_joint(Joint::slider(None, Some(bone)).axis(Vec3::NEG_X).motor(press))?;
            }
        }
        let mut fingers = Self { world, cylinder };
        // closed without weight, then the weight comes on
        fingers.run(1.0)?;
        let settings = Settings { gravity: Vec3::NEG_Y * real(G), ..fingers.world.settings().clone() };
        fingers.world.set_settings(settings)?;
        Ok(fingers)
    }

    /// Height of the cylinder.
    fn run(&mut self, seconds: f64) -> Result<Track, Error> {
        let [height] = super::tools::track_body(&mut self.world, self.cylinder, seconds, |b| [num(b.position().y)])?;
        Ok(height)
    }
}

fn m05_combined() -> Readings {
    let least = 0.5 * G / (2.0 * 0.6);
    let mut firm = Fingers::new(1.05 * least)?;
    firm.run(1.0)?;
    let slip = firm.run(30.0)?.drift();
    let carried = num(firm.world.report().contact_force_on(firm.cylinder).y);
    let fallen = -Fingers::new(0.95 * least)?.run(0.5)?.last();
    let free = Fingers::new(3.0)?.run(0.2)?;
    let start = free.t.first().copied().unwrap_or(0.0);
    let a = -free.between(start + 0.05, start + 0.2).acceleration();
    Ok(vec![
        Reading::at_most("slip in 30 s at 1.05 N_min", slip, 1e-3),
        Reading::relative("force on the held cylinder", carried, 0.5 * G, 0.01),
        Reading::at_least("N_min: slides within 0.5 s at 0.95 N_min", fallen, 0.01),
        Reading::relative("a at N=3", a, 2.61, 0.05),
    ])
}

fn m06(kind: Kind) -> Readings {
    let mut world = World::new(Settings { dt: 1.0 / 240.0, ..sleepless() })?;
    let ground = floor(&mut world, SurfaceMaterial::friction(0.5))?;
    let stuff = Stuff { e: 1e5, nu: 0.3, rho: 200.0 };
    let mut y = 0.0;
    let mut lowest = None;
    for layer in 0..5 {
        if layer % 2 == 0 {
            let id = world.add_rigid(block([0.14, 0.05, 0.14], 1.0).at(vec3(0.0, y + 0.025, 0.0)))?;
            lowest = lowest.or(Some(id));
            y += 0.05;
        } else {
            let soft: SoftBody = kind.damped(cells([2, 2, 2], [0.1; 3])?, stuff, 0.02);
            world.add_soft(soft.at(vec3(0.0, y + 0.05, 0.0)))?;
            y += 0.1;
        }
    }
    run(&mut world, 4.0);
    let mut force = 0.0;
    for _ in 0..60 {
        world.step(&Input::none());
        force += lowest.map_or(f64::NAN, |id| between(&world, ground, id)) / 60.0;
    }
    let label = "lowest interface (3 rigid + 2 soft above floor)";
    Ok(vec![Reading::relative(label, force, 33.354, 0.01)])
}

fn m07(kind: Kind) -> Readings {
    let mut world = World::new(sleepless())?;
    let body = kind.body(cells([3, 2, 2], [0.3, 0.2, 0.2])?, Stuff { e: 2e4, nu: 0.3, rho: 1000.0 });
    let body = world.add_soft(body.velocity([3.0, 4.0, 0.0]).spin([2.0, 1.0, 4.0]))?;
    let own = |world: &World| -> Result<[f64; 3], Error> {
        let (p, l) = momenta(world);
        let centre = cross(wide(world.body(body)?.center_of_mass()), p);
        Ok([l[0] - centre[0], l[1] - centre[1], l[2] - centre[2]])
    };
    let start = own(&world)?;
    let (mut height, mut way) = (Track::default(), Track::default());
    let (mut worst, mut drift) = (0.0f64, 0.0f64);
    let dt = 1e-3;
    for k in 1..=850 {
        world.step(&Input::none());
        let t = f64::from(k) * dt;
        let x = wide(world.body(body)?.center_of_mass());
        // semi-implicit steps fall by g t h/2 more than the parabola, with the substep of the report
        let substeps = f64::from(world.report().counts.substeps.max(1));
        let h = if world.report().counts.implicit_islands > 0 { dt } else { dt / substeps };
        let right = [3.0 * t, 4.0 * t - 0.5 * G * t * (t + h), 0.0];
        worst = worst.max(distance(x, right));
        drift = drift.max(distance(own(&world)?, start) / distance(start, [0.0; 3]));
        for (track, y) in [(&mut height, x[1] + 0.5 * G * t * h), (&mut way, x[0])] {
            track.t.push(t);
            track.y.push(y);
        }
    }
    let landing = height.crossings().last().copied().unwrap_or(f64::NAN);
    Ok(vec![
        Reading::absolute("apex height", height.max(), 0.815_494_4, 1e-4),
        Reading::absolute("range to same height", way.at(landing), 2.446_483_2, 1e-3),
        Reading::at_most("centre of mass off its parabola", worst, 1e-4),
        Reading::at_most("drift of L", drift, 0.005),
    ])
}

fn m08(kind: Kind) -> Readings {
    let mut world = World::new(sleepless())?;
    let slope = Slope::new(10f64.to_radians());
    let rough = SurfaceMaterial::friction(0.8);
    slope.ground(&mut world, rough)?;
    let mesh = TetMesh::ball(0.1, 6).map_err(|e| refused(&e))?;
    // 24 facets around would each land and take energy: a skin with 128 rolls
    let skin = Skin { mesh: TriMesh::ball(0.1, 32).map_err(|e| refused(&e))?, offset: 0.0 };
    let mut ball = kind.damped(mesh, Stuff { e: 1e7, nu: 0.3, rho: 1000.0 }, 1e-4);
    ball.skin = Some(skin);
    let id = world.add_soft(ball.material(rough).at(slope.normal * 0.1))?;
    let [way] = super::tools::track_body(&mut world, id, 0.8, |b| [slope.along(b.center_of_mass())])?;
    Ok(vec![Reading::relative("a", way.between(0.1, 0.8).acceleration(), 1.216_777_6, 0.05)])
}

//! Rigid bodies in motion against each other: R20 to R26. Steps of 1 ms.

use super::reading::{Case, Reading};
use super::rigid_b::{FINE, G, awake, steps, threshold, wide, with_floor};
use sinew::{
    Command, Error, Input, Material, Pose, Quat, Real, RigidBody, Sdf, Settings, Shape, Sym3, Vec3, World,
};

/// The cases of this file.
pub const CASES: &[Case] = &[
    Case { id: "R20", group: "rigid", title: "Painleve rod", model: "rigid", run: painleve, known: None },
    Case { id: "R21", group: "rigid", title: "Ball rolling in a bowl", model: "rigid", run: bowl, known: None },
    Case {
        id: "R22",
        group: "rigid",
        title: "Body sliding off a frictionless sphere",
        model: "rigid",
        run: sphere_slide,
        known: None,
    },
    Case { id: "R23", group: "rigid", title: "Block on a free wedge", model: "rigid", run: wedge, known: None },
    Case {
        id: "R24",
        group: "rigid",
        title: "Cylinder / sphere on an accelerated plank",
        model: "rigid",
        run: plank,
        known: None,
    },
    Case { id: "R25", group: "rigid", title: "Oblique impact with friction", model: "rigid", run: impact, known: None },
    Case {
        id: "R26",
        group: "rigid",
        title: "Spin-down of a ring on the floor",
        model: "rigid",
        run: ring,
        known: None,
    },
];

/// What a sliding rod does in one step.
struct Slide {
    /// Speed of its tip along the floor after the first step [m/s]; positive: on its way.
    slip: f64,
    /// Speed of its tip away from the floor after the first step [m/s].
    lift: f64,
    /// Largest rise of energy above the start in 1 s [J].
    gain: f64,
    /// All numbers stayed finite and no body was frozen.
    sane: bool,
}

/// Speed at which the rod slides [m/s].
const SLIDE: Real = 3.0;

/// R20. A uniform rod slides tip first, its centre behind and above: friction turns the tip into the floor.
fn painleve() -> Result<Vec<Reading>, Error> {
    let steepest = (2.0 as Real).atan();
    let start = slide(steepest, 2.0, 1.0)?;
    let (mut least, mut theta) = (f64::INFINITY, f64::NAN);
    // where the tip stops dead within one step, least friction over all angles
    for k in 0..=40 {
        let degrees = 55.0 + 0.4 * f64::from(k);
        let jams = |mu: f64| Ok(slide((degrees as Real).to_radians(), mu as Real, 0.0)?.slip < 0.05);
        let mu = threshold((0.5, 3.0), 9, jams)?;
        if mu < least {
            (least, theta) = (mu, degrees);
        }
    }
    let stops = start.slip.abs() < 0.01 * wide(SLIDE) || start.lift > 0.01;
    Ok(vec![
        Reading::relative("mu_min", least, 4.0 / 3.0, 0.01),
        Reading::absolute("theta", theta, 63.434_948_822_922, 2.0),
        Reading::holds("finite, no NaN at mu=2", start.sane),
        Reading::at_most("energy gain at mu=2 [J]", start.gain, 1e-4),
        Reading::holds("jams or jumps within one step at mu=2", stops),
    ])
}

/// A rod of 1 m and 1 kg, at an angle to the floor, its tip sliding towards −x.
fn slide(angle: Real, mu: Real, time: f64) -> Result<Slide, Error> {
    const ROUND: Real = 0.001;
    let (mut world, _) = with_floor(FINE, mu)?;
    let turn = Quat::from_rotation_z(angle - (90.0 as Real).to_radians());
    let rod = RigidBody::dynamic().shape(Shape::capsule(0.5, ROUND)).mass(1.0).material(Material::friction(mu));
    let rod = rod.inertia(Sym3::diagonal(Vec3::new(1.0 / 12.0, 1e-4, 1.0 / 12.0))).turned(turn);
    let center = turn * Vec3::new(0.0, 0.5, 0.0) + Vec3::new(0.0, ROUND, 0.0);
    let rod = world.add_rigid(rod.at(center).velocity([-SLIDE, 0.0, 0.0]))?;
    let energy = |world: &World| -> Result<f64, Error> {
        let body = world.body(rod)?;
        Ok(wide(body.kinetic_energy()) + G * wide(body.center_of_mass().y))
    };
    let before = energy(&world)?;
    let mut out = Slide { slip: f64::NAN, lift: f64::NAN, gain: 0.0, sane: true };
    for n in 0..steps(&world, time).max(1) {
        let faults = world.step(&Input::none()).faults.len();
        let body = world.body(rod)?;
        let arm = body.rotation() * Vec3::new(0.0, -0.5, 0.0) - Vec3::new(0.0, ROUND, 0.0);
        let tip = body.velocity() + body.spin().cross(arm);
        if n == 0 {
            (out.slip, out.lift) = (-wide(tip.x), wide(tip.y));
        }
        out.sane &= faults == 0 && body.position().is_finite() && tip.is_finite();
        out.gain = out.gain.max(energy(&world)? - before);
    }
    Ok(out)
}

/// R21. A ball in a bowl: radii [m].
const BOWL: Real = 1.0;
const BALL: Real = 0.1;

fn bowl() -> Result<Vec<Reading>, Error> {
    let path = wide(BOWL - BALL);
    let (rolling, loss) = swing(0.5)?;
    let (sliding, sliding_loss) = swing(0.0)?;
    let period = |k: f64| std::f64::consts::TAU * (k * path / G).sqrt();
    Ok(vec![
        Reading::relative("T rolling", rolling, period(1.4), 0.01),
        Reading::relative("T frictionless", sliding, period(1.0), 0.01),
        Reading::at_most("amplitude loss in 10 periods, rolling", loss, 0.05),
        Reading::at_most("amplitude loss in 10 periods, frictionless", sliding_loss, 0.05),
    ])
}

/// Mean period over ten swings from 5 degrees [s], and the share of the amplitude that is then gone.
fn swing(mu: Real) -> Result<(f64, f64), Error> {
    let mut world = World::new(awake(FINE))?;
    let bowl = RigidBody::fixed().shape(Shape::sdf(Sdf::bowl(Vec3::ZERO, BOWL))).material(Material::friction(mu));
    world.add_rigid(bowl)?;
    let start = (5.0 as Real).to_radians();
    let ball = RigidBody::dynamic().shape(Shape::ball(BALL)).mass(1.0).material(Material::friction(mu));
    let at = Vec3::new(start.sin(), -start.cos(), 0.0) * (BOWL - BALL);
    let ball = world.add_rigid(ball.at(at))?;
    let (mut before, mut crossings, mut widest) = (wide(start), Vec::new(), 0.0);
    for n in 0..60_000 {
        world.step(&Input::none());
        let x = world.body(ball)?.position();
        let angle = wide(x.x).atan2(-wide(x.y));
        if before > 0.0 && angle <= 0.0 {
            crossings.push((f64::from(n) + before / (before - angle)) * wide(FINE));
            if crossings.len() == 11 {
                break;
            }
            widest = 0.0;
        }
        // the widest angle since the last crossing: after the tenth it is that of the tenth swing
        widest = f64::max(widest, angle);
        before = angle;
    }
    let period = if crossings.len() == 11 { (crossings[10] - crossings[0]) / 10.0 } else { f64::NAN };
    Ok((period, 1.0 - widest / wide(start)))
}

/// R22. A small ball on a fixed one; its centre runs on a circle of 1 m, as the point of the formula does.
fn sphere_slide() -> Result<Vec<Reading>, Error> {
    const SMALL: Real = 0.02;
    let mut world = World::new(awake(FINE))?;
    let smooth = Material::friction(0.0);
    world.add_rigid(RigidBody::fixed().shape(Shape::ball(1.0 - SMALL)).material(smooth))?;
    let start = (10.0 as Real).to_radians();
    let body = RigidBody::dynamic().shape(Shape::ball(SMALL)).mass(1.0).material(smooth);
    let body = world.add_rigid(body.at([start.sin(), start.cos(), 0.0]))?;
    // the last step in which the sphere pushes
    let (mut theta, mut speed) = (f64::NAN, f64::NAN);
    for _ in 0..2000 {
        let push = world.step(&Input::none()).contact_force_on(body).length();
        let view = world.body(body)?;
        let x = view.center_of_mass();
        if push > 0.0 {
            theta = wide(x.x).atan2(wide(x.y)).to_degrees();
            speed = wide(view.velocity().length());
        }
        if x.y < 0.0 {
            break;
        }
    }
    let cosine = 2.0 / 3.0 * wide(start).cos();
    let right = (G * cosine).sqrt();
    // one degree, as a share of the speed: v² = g R (2/3) cos θ₀ falls by ½ tan θ per radian
    let degree = 0.5 * cosine.acos().tan() * 1.0_f64.to_radians();
    Ok(vec![
        Reading::absolute("theta", theta, cosine.acos().to_degrees(), 1.0),
        Reading::relative("speed", speed, right, degree),
    ])
}

/// R23. A block of 1 kg on a wedge of 2 kg on the floor, all without friction; wedge falls away towards +x.
fn wedge() -> Result<Vec<Reading>, Error> {
    let smooth = Material::friction(0.0);
    let (mut world, _) = with_floor(FINE, 0.0)?;
    let slope = (30.0 as Real).to_radians();
    let (length, height) = (3.0, 3.0 * slope.tan());
    let corners = [(0.0, 0.0), (length, 0.0), (0.0, height)];
    let points: Vec<Vec3> = corners.iter().flat_map(|&(x, y)| [-0.5, 0.5].map(|z| Vec3::new(x, y, z))).collect();
    let wedge = RigidBody::dynamic().shape(Shape::convex_hull(points)).mass(2.0).material(smooth);
    let wedge = world.add_rigid(wedge)?;
    let turn = Quat::from_rotation_z(-slope);
    let (down, up) = (turn * Vec3::X, turn * Vec3::Y);
    let block = RigidBody::dynamic().shape(Shape::cuboid(0.2, 0.1, 0.2)).mass(1.0).material(smooth).turned(turn);
    let block = world.add_rigid(block.at(Vec3::new(0.0, height, 0.0) + down * 0.6 + up * 0.1))?;
    // speeds at 0.1 and 0.6 s
    let mut seen = Vec::new();
    let mut momentum: f64 = 0.0;
    for n in 1..=600 {
        world.step(&Input::none());
        let (v_wedge, v_block) = (world.body(wedge)?.velocity(), world.body(block)?.velocity());
        momentum = momentum.max((2.0 * wide(v_wedge.x) + wide(v_block.x)).abs());
        if n == 100 || n == 600 {
            seen.push((-wide(v_wedge.x), wide((v_block - v_wedge).dot(down))));
        }
    }
    let (s, c) = (wide(slope).sin(), wide(slope).cos());
    let wedge_right = G * s * c / (2.0 + s * s);
    let mean = |a: f64, b: f64| (b - a) / 0.5;
    Ok(vec![
        Reading::relative("A wedge", mean(seen[0].0, seen[1].0), wedge_right, 0.01),
        Reading::relative(
            "block down-slope accel rel. to wedge",
            mean(seen[0].1, seen[1].1),
            G * s + wedge_right * c,
            0.01,
        ),
        Reading::at_most("horizontal momentum", momentum, 1e-6),
    ])
}

/// R24.
fn plank() -> Result<Vec<Reading>, Error> {
    const PULL: Real = 2.0;
    const ROUND: Real = 0.1;
    let mut world = World::new(awake(FINE))?;
    let plank = world.add_rigid(RigidBody::kinematic().shape(Shape::cuboid(5.0, 0.05, 1.0)).at([0.0, -0.05, 0.0]))?;
    let along_z = Quat::from_rotation_x((90.0 as Real).to_radians());
    let cylinder = RigidBody::dynamic().shape(Shape::cylinder(0.1, ROUND)).mass(1.0).turned(along_z);
    let cylinder = world.add_rigid(cylinder.at([0.0, ROUND, -0.5]))?;
    let sphere = RigidBody::dynamic().shape(Shape::ball(ROUND)).mass(1.0).at([0.0, ROUND, 0.5]);
    let sphere = world.add_rigid(sphere)?;
    // speeds at 0.1 and 1 s
    let mut seen = Vec::new();
    for n in 1..=1000 {
        let velocity = Vec3::X * (PULL * FINE * n as Real);
        world.step(&Input::none().with(Command::Velocity { body: plank, velocity, spin: Vec3::ZERO }));
        if n == 100 || n == 1000 {
            seen.push([cylinder, sphere].map(|id| world.body(id).map(|b| wide(b.velocity().x))));
        }
    }
    let mut rates = Vec::new();
    for k in 0..2 {
        rates.push((seen[1][k].clone()? - seen[0][k].clone()?) / 0.9);
    }
    Ok(vec![
        Reading::relative("cylinder", rates[0], wide(PULL) / 3.0, 0.01),
        Reading::relative("sphere", rates[1], wide(PULL) * 2.0 / 7.0, 0.01),
    ])
}

/// R25. Speeds of a sphere before it hits the floor [m/s], along it and down, and the restitution.
const ALONG: Real = 3.0;
const DOWN: Real = 4.0;
const BOUNCE: Real = 0.6;

fn impact() -> Result<Vec<Reading>, Error> {
    let [v_t, v_n, e] = [ALONG, DOWN, BOUNCE].map(wide);
    let limit = threshold((0.02, 0.5), 12, |mu| {
        let [along, rim, _] = hit(mu as Real)?;
        Ok(along - rim < 1e-3 * v_t)
    })?;
    let (grip, slip) = (hit(0.5)?, hit(0.05)?);
    Ok(vec![
        Reading::relative("mu limit", limit, 2.0 / 7.0 * v_t / ((1.0 + e) * v_n), 0.01),
        Reading::relative("v_t after, grip", grip[0], 5.0 / 7.0 * v_t, 0.01),
        Reading::relative("R*w after, grip", grip[1], 5.0 / 7.0 * v_t, 0.01),
        Reading::relative("v_t after mu=0.05", slip[0], v_t - 0.05 * (1.0 + e) * v_n, 0.01),
        Reading::relative("R*w after mu=0.05", slip[1], 2.5 * 0.05 * (1.0 + e) * v_n, 0.01),
        Reading::relative("v_n after, grip", grip[2], e * v_n, 0.01),
        Reading::relative("v_n after mu=0.05", slip[2], e * v_n, 0.01),
    ])
}

/// Speed along the floor, speed of the rim by spin, speed away from the floor after the impact [m/s]; no gravity.
fn hit(mu: Real) -> Result<[f64; 3], Error> {
    const ROUND: Real = 0.1;
    let mut world = World::new(Settings { gravity: Vec3::ZERO, ..awake(FINE) })?;
    let surface = Material::friction(mu).restitution(BOUNCE);
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(surface))?;
    let ball = RigidBody::dynamic().shape(Shape::ball(ROUND)).mass(1.0).material(surface);
    let ball = world.add_rigid(ball.at([0.0, ROUND + 0.0503, 0.0]).velocity([ALONG, -DOWN, 0.0]))?;
    for _ in 0..60 {
        world.step(&Input::none());
    }
    let body = world.body(ball)?;
    Ok([wide(body.velocity().x), -wide(body.spin().z * ROUND), wide(body.velocity().y)])
}

/// R26. A thin ring that touches the floor with beads on its rim.
fn ring() -> Result<Vec<Reading>, Error> {
    const RIM: Real = 0.2;
    const BEAD: Real = 0.01;
    const SPIN: Real = 20.0;
    let (mut world, _) = with_floor(FINE, 0.3)?;
    let beads: Vec<(Pose, Shape)> = (0..24)
        .map(|k| {
            let angle = (15.0 * k as Real).to_radians();
            (Pose::at(Vec3::new(angle.cos(), 0.0, angle.sin()) * RIM), Shape::ball(BEAD))
        })
        .collect();
    let ring = RigidBody::dynamic().shape(Shape::compound(beads)).mass(1.0).material(Material::friction(0.3));
    let inertia = Sym3::diagonal(Vec3::new(0.5, 1.0, 0.5) * (RIM * RIM));
    let ring = world.add_rigid(ring.inertia(inertia).at([0.0, BEAD, 0.0]).spin([0.0, SPIN, 0.0]))?;
    let mut stop = f64::NAN;
    let mut before = wide(SPIN);
    for n in 0..4000 {
        world.step(&Input::none());
        let spin = wide(world.body(ring)?.spin().y);
        // from a hundredth of the first spin on, straight to the end
        let low = 0.01 * wide(SPIN);
        if spin < low {
            let at = f64::from(n) + (before - low) / (before - spin);
            stop = at * wide(FINE) / 0.99;
            break;
        }
        before = spin;
    }
    let right = wide(SPIN) * wide(RIM) / (0.3 * G);
    Ok(vec![Reading::relative("t_stop", stop, right, 0.02)])
}

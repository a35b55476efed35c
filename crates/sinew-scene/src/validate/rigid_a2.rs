//! Rigid bodies, R08 to R13: free fall, free rotation, gyroscope, pendulums.

use super::tools::{
    G, Track, bare, bisect, block, dot, energy, free_space, num, real, run, sleepless, track, track_body, turn, vec3,
};
use super::{Case, Reading, Readings};
use sinew::{BodyId, BodyView, Distance, Error, Joint, Particles, Quat, Real, RigidBody, Settings, Site, Vec3, World};

/// R08 to R13.
pub const CASES: &[Case] = &[
    Case::rigid("R08", "Free fall / projectile and its discrete twin", r08),
    Case::rigid("R09", "Dzhanibekov flip (tennis-racket), torque free", r09),
    Case::rigid("R10", "Wobbling plate: precession 2:1", r10),
    Case::rigid("R11", "Gyroscope steady precession and sleeping-top limit", r11),
    Case::rigid("R12", "Pendulum periods", r12),
    Case::rigid("R13", "Double pendulum: modes and short trajectory", r13).known(
        "hinged point masses lose 1.0% of their energy in 10 s (0.5% allowed); angles and modes pass, and so do particles on rods: docs/accuracy.md",
    ),
];

/// How far a body falls from rest in 1 s [m].
fn fall(rate: u32, substeps: u32) -> Result<f64, Error> {
    let settings = Settings { dt: 1.0 / rate as Real, substeps, ..Settings::default() };
    let mut world = World::new(settings)?;
    let id = world.add_rigid(bare(1.0, [0.1; 3]))?;
    run(&mut world, 1.0);
    Ok(-num(world.body(id)?.position().y))
}

fn r08() -> Readings {
    let exact = 0.5 * G;
    let tolerance = if Real::EPSILON > 1e-10 { 1e-5 } else { 1e-6 };
    let (coarse, fine) = (fall(60, 1)?, fall(120, 1)?);
    let twin = |h: f64| exact + 0.5 * G * h;
    Ok(vec![
        // semi-implicit Euler is off by g t h/2: linear in h, so two steps extrapolate to the exact value
        Reading::relative("y exact", 2.0 * fine - coarse, exact, tolerance),
        Reading::relative("y semi-implicit Euler dt=1/60", coarse, twin(1.0 / 60.0), tolerance),
        Reading::relative("y dt=1/60, 4 substeps", fall(60, 4)?, twin(1.0 / 240.0), tolerance),
    ])
}

/// A tennis racket in free space: body-frame w_y, twice the energy and |L| over time.
fn racket(dt: f64, seconds: f64) -> Result<[Track; 3], Error> {
    let mut world = World::new(Settings { dt: real(dt), ..free_space() })?;
    let id = world.add_rigid(block([0.3, 0.2, 0.1], 1.0).spin([0.0, 10.0, 0.5]))?;
    track_body(&mut world, id, seconds, |b| {
        let local = b.rotation().inverse() * b.spin();
        let l = b.angular_momentum();
        [num(local.y), dot(b.spin(), l), dot(l, l).sqrt()]
    })
}

/// Largest relative rise above the first value.
fn rise(track: &Track) -> f64 {
    track.max() / track.y[0] - 1.0
}

fn r09() -> Readings {
    let (first, interval) = (0.8351504285612558, 1.6703008571249933);
    let (twice_energy, momentum) = (0.8360416666666667, 0.0835091894477621);
    let seconds = first + 10.5 * interval;
    let mut readings = Vec::new();

    let [w, e, l] = racket(0.001, seconds)?;
    let flips = w.crossings();
    readings.push(Reading::relative("first flip (w_y=0)", flips.first().copied().unwrap_or(f64::NAN), first, 0.03));
    readings.push(Reading::relative("flip interval", 0.5 * w.period(), interval, 0.03));
    readings.push(Reading::relative("2E", e.last(), twice_energy, 1e-3));
    readings.push(Reading::relative("|L|", l.last(), momentum, 1e-3));
    readings.push(Reading::at_most("energy drift over 10 flips", e.drift() / e.y[0], 1e-3));
    readings.push(Reading::at_most("|L| drift over 10 flips", l.drift() / l.y[0], 1e-3));

    let [w, e, _] = racket(1.0 / 60.0, seconds)?;
    readings.push(Reading::at_least("flips at 60 Hz", w.crossings().len() as f64, 9.0));
    readings.push(Reading::at_most("energy growth at 60 Hz", rise(&e).max(0.0), 1e-3));
    Ok(readings)
}

fn r10() -> Readings {
    // thin disc of 1 kg, R = 0.1 m, its axis y in body coordinates; momentum along y of the world
    let (i1, i3, w3) = (0.0025, 0.005, 10.0);
    let tilt = 10.0f64.to_radians();
    let rotation = turn(Vec3::Z, tilt);
    // L = I3 w3 a + I1 w1 b is upright when I1 w1 = I3 w3 tan(tilt), with b across the axis a in the plane of tilt
    let across = w3 * i3 / i1 * tilt.tan();
    let spin = rotation * vec3(across, w3, 0.0);
    let mut world = World::new(free_space())?;
    let id = world.add_rigid(bare(1.0, [i1, i3, i1]).turned(rotation).spin(spin))?;
    let [space, body] = track_body(&mut world, id, 3.0, |b| {
        let axis = b.rotation() * Vec3::Y;
        let local = b.rotation().inverse() * b.spin();
        [num(axis.x).atan2(num(axis.z)), num(local.x).atan2(num(local.z))]
    })?;
    Ok(vec![
        Reading::relative("space precession", space.unwrapped().rate().abs(), i3 / i1 * w3 / tilt.cos(), 0.005),
        Reading::relative("body wobble", body.unwrapped().rate().abs(), (i3 - i1) / i1 * w3, 0.005),
    ])
}

/// A disc of 1 kg, R = 0.1 m on a massless axle, 0.15 m from a ball joint at the origin; axle and disc axis along x of
/// the body.
struct Top {
    world: World,
    disc: BodyId,
}

const ARM: f64 = 0.15;
const DISC: [f64; 3] = [0.005, 0.0025, 0.0025];

impl Top {
    fn new(rotation: Quat, spin: f64, precession: Vec3) -> Result<Self, Error> {
        let mut world = World::new(sleepless())?;
        let axle = rotation * vec3(ARM, 0.0, 0.0);
        let axis = rotation * Vec3::X;
        let spec = bare(1.0, DISC)
            .at(axle)
            .turned(rotation)
            .velocity(precession.cross(axle))
            .spin(axis * real(spin) + precession);
        let disc = world.add_rigid(spec)?;
        world.add_joint(Joint::ball(None, Some(disc)).anchor(Vec3::ZERO))?;
        Ok(Self { world, disc })
    }

    /// True when a top that starts 0.1 deg from upright falls beyond 5 deg within 12 s.
    fn falls(spin: f64) -> Result<bool, Error> {
        let upright = turn(Vec3::Z, std::f64::consts::FRAC_PI_2 - 0.1f64.to_radians());
        let mut top = Self::new(upright, spin, Vec3::ZERO)?;
        let limit = ARM * 5.0f64.to_radians().cos();
        for _ in 0..120 {
            run(&mut top.world, 0.1);
            if num(top.world.body(top.disc)?.position().y) < limit {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn r11() -> Readings {
    let omega = G * ARM / (DISC[0] * 200.0);
    let period = std::f64::consts::TAU / omega;
    let mut top = Top::new(Quat::IDENTITY, 200.0, vec3(0.0, omega, 0.0))?;
    let [azimuth, height] = track_body(&mut top.world, top.disc, 2.05 * period, |b| {
        let x = b.position();
        [(-num(x.z)).atan2(num(x.x)), num(x.y)]
    })?;
    let azimuth = azimuth.unwrapped();
    // one whole turn
    let turned = azimuth.first(|a| a >= std::f64::consts::TAU);
    let i1 = DISC[1] + ARM * ARM;
    let critical = 2.0 * (i1 * G * ARM).sqrt() / DISC[0];
    // slower tops fall, so the question is whether it stands
    let measured = bisect(60.0, 95.0, 8, |spin| Ok(!Top::falls(spin)?))?;
    Ok(vec![
        Reading::relative("Omega", azimuth.rate(), omega, 0.01),
        Reading::relative("period", turned, period, 0.01),
        Reading::at_most("axle drop per turn", height.between(0.0, period).drift(), 1e-3),
        Reading::relative("sleeping-top critical spin", measured, critical, 0.01),
    ])
}

/// What a pendulum did: its period [s] and the share of amplitude lost in ten periods.
struct Swing {
    period: f64,
    loss: f64,
}

impl Swing {
    fn of(angle: &Track, period: f64) -> Self {
        // the turning point after ten periods against the start
        let later = angle.between(9.5 * period, 10.5 * period).max();
        Self { period: angle.period(), loss: 1.0 - later / angle.y[0] }
    }
}

/// Angle of a body from straight below the origin [rad].
fn hang(b: BodyView<'_>) -> f64 {
    let x = b.center_of_mass();
    num(x.x).atan2(-num(x.y))
}

/// Direction of a rod at an angle from straight down.
fn lean(angle: f64) -> Vec3 {
    vec3(angle.sin(), -angle.cos(), 0.0)
}

/// A mass as good as a point: moments of a ball of 2 cm, which lengthen the period by 0.008%.
fn point_mass(at: Vec3) -> RigidBody {
    bare(1.0, [1.6e-4; 3]).at(at)
}

/// A rigid body on a hinge at the origin, released from an angle [rad].
fn hinged(body: RigidBody, arm: f64, amplitude: f64, period: f64) -> Result<Swing, Error> {
    let mut world = World::new(sleepless())?;
    let id = world.add_rigid(body.at(lean(amplitude) * real(arm)).turned(turn(Vec3::Z, amplitude)))?;
    world.add_joint(Joint::hinge(None, Some(id)).anchor(Vec3::ZERO).axis(Vec3::Z))?;
    let [angle] = track_body(&mut world, id, 10.6 * period, |b| [hang(b)])?;
    Ok(Swing::of(&angle, period))
}

/// A particle on a rod of 1 m, released from an angle [rad].
fn on_a_rod(amplitude: f64, period: f64) -> Result<Swing, Error> {
    let mut world = World::new(sleepless())?;
    let id = world.add_particles(Particles::new(vec![lean(amplitude)]).mass(1.0).radius(0.0))?;
    world.add_distance(Distance::rod(Site::World(Vec3::ZERO), Site::Node { body: id, node: 0 }, 1.0))?;
    let [angle] = track_body(&mut world, id, 10.6 * period, |b| [hang(b)])?;
    Ok(Swing::of(&angle, period))
}

fn r12() -> Readings {
    let amplitudes =
        [("T0", 1.0, 2.0060666807106475), ("T45", 45.0, 2.0862558726143674), ("T90", 90.0, 2.3678419475762373)];
    let mut readings = Vec::new();
    let mut push = |label: &str, swing: Swing, right: f64| {
        readings.push(Reading::relative(label, swing.period, right, 0.002));
        readings.push(Reading::at_most(&format!("{label}: amplitude loss in 10 periods"), swing.loss, 0.01));
    };
    for (label, degrees, right) in amplitudes {
        push(label, hinged(point_mass(Vec3::ZERO), 1.0, f64::to_radians(degrees), right)?, right);
    }
    // a thin rod of 1 m: I = m L²/12 across
    let rod = bare(1.0, [1.0 / 12.0, 1e-4, 1.0 / 12.0]);
    let right = 1.6379465859132758;
    push("rod", hinged(rod, 0.5, 1.0f64.to_radians(), right)?, right);
    for (label, degrees, right) in amplitudes {
        push(&format!("{label} particle on a rod"), on_a_rod(f64::to_radians(degrees), right)?, right);
    }
    Ok(readings)
}

/// Two point masses on hinges; angles from straight down and the energy over time.
fn double_pendulum(angles: [f64; 2], seconds: f64) -> Result<[Track; 3], Error> {
    let mut world = World::new(sleepless())?;
    let knee = lean(angles[0]);
    let a = world.add_rigid(point_mass(knee))?;
    let b = world.add_rigid(point_mass(knee + lean(angles[1])))?;
    world.add_joint(Joint::hinge(None, Some(a)).anchor(Vec3::ZERO).axis(Vec3::Z))?;
    world.add_joint(Joint::hinge(Some(a), Some(b)).anchor(knee).axis(Vec3::Z))?;
    track(&mut world, seconds, |w| {
        let (xa, xb) = (w.body(a)?.position(), w.body(b)?.position());
        let d = xb - xa;
        Ok([num(xa.x).atan2(-num(xa.y)), num(d.x).atan2(-num(d.y)), energy(w)])
    })
}

/// The same of particles on rods.
fn double_on_rods(angles: [f64; 2], seconds: f64) -> Result<[Track; 3], Error> {
    let mut world = World::new(sleepless())?;
    let knee = lean(angles[0]);
    let id = world.add_particles(Particles::new(vec![knee, knee + lean(angles[1])]).mass(1.0).radius(0.0))?;
    let node = |node| Site::Node { body: id, node };
    world.add_distance(Distance::rod(Site::World(Vec3::ZERO), node(0), 1.0))?;
    world.add_distance(Distance::rod(node(0), node(1), 1.0))?;
    track(&mut world, seconds, |w| {
        let body = w.body(id)?;
        let (x, v) = (body.node_positions(), body.node_velocities());
        let d = x[1] - x[0];
        let energy: f64 = (0..2).map(|k| 0.5 * dot(v[k], v[k]) + G * num(x[k].y)).sum();
        Ok([num(x[0].x).atan2(-num(x[0].y)), num(d.x).atan2(-num(d.y)), energy])
    })
}

fn r13() -> Readings {
    let mut readings = Vec::new();
    type Build = fn([f64; 2], f64) -> Result<[Track; 3], Error>;
    let builds: [(&str, Build); 2] = [("", double_pendulum), (" particles on rods", double_on_rods)];
    for (who, build) in builds {
        // mode shapes: the second angle is ±√2 times the first
        let small = 0.01;
        let [slow, _, _] = build([small, small * 2f64.sqrt()], 14.0)?;
        let [fast, _, _] = build([small, -small * 2f64.sqrt()], 6.0)?;
        let [th1, th2, e] = build([std::f64::consts::FRAC_PI_2; 2], 10.0)?;
        // energy above the lowest place at the start: m g (1 + 2)
        let drift = e.drift() / (3.0 * G);
        let mut push = |label: &str, measured, right, tolerance: f64| {
            readings.push(Reading::absolute(&format!("{label}{who}"), measured, right, tolerance));
        };
        push("th1(1s)", th1.at(1.0), -0.6250876998052579, 0.02);
        push("th2(1s)", th2.at(1.0), -1.0345850856822048, 0.02);
        push("th1(2s)", th1.at(2.0), -0.48297153425428585, 0.02);
        push("th2(2s)", th2.at(2.0), -1.324048712299588, 0.02);
        readings.push(Reading::relative(&format!("f1{who}"), 1.0 / slow.period(), 0.3815261337469844, 0.005));
        readings.push(Reading::relative(&format!("f2{who}"), 1.0 / fast.period(), 0.9210855664917412, 0.005));
        readings.push(Reading::at_most(&format!("energy drift in 10 s{who}"), drift, 0.005));
    }
    Ok(readings)
}

//! Rigid bodies at rest on each other: R14 to R19. Steps of 1 ms; nobody may sleep, so that what stands stands by physics.

use super::reading::{Case, Reading};
use sinew::{
    BodyId, Collider, Error, Input, Joint, Material, Pose, Quat, Real, Report, RigidBody, Settings, Shape, Vec3, World,
};

/// The cases of this file.
pub const CASES: &[Case] = &[
    Case {
        id: "R14",
        group: "rigid",
        title: "Falling rod about its foot; tipping thresholds (domino)",
        model: "rigid",
        run: falling_rod,
        known: None,
    },
    Case { id: "R15", group: "rigid", title: "Stack of 20 boxes", model: "rigid", run: stack, known: None },
    Case { id: "R16", group: "rigid", title: "Mass-ratio stack 1:1000", model: "rigid", run: mass_ratio, known: None },
    Case { id: "R17", group: "rigid", title: "Two leaning cards", model: "rigid", run: cards, known: None },
    Case { id: "R18", group: "rigid", title: "Overhanging brick stack", model: "rigid", run: overhang, known: None },
    Case { id: "R19", group: "rigid", title: "Masonry semicircular arch", model: "rigid", run: arch, known: None },
];

/// Acceleration of gravity [m/s²], that of `Settings::default`.
pub(super) const G: f64 = 9.81;
/// The step of a case [s].
pub(super) const FINE: Real = 0.001;
/// The step of the readings marked '(60 Hz)' [s].
const FRAME: Real = 1.0 / 60.0;

/// The default settings at a step [s], without sleep.
pub(super) fn awake(dt: Real) -> Settings {
    Settings { dt, sleep_time: Real::INFINITY, ..Settings::default() }
}

/// A real as f64, whatever the precision of the build.
#[allow(clippy::useless_conversion, reason = "the conversion does something in the f32 build")]
pub(super) fn wide(x: Real) -> f64 {
    f64::from(x)
}

/// How many steps a time takes [s].
pub(super) fn steps(world: &World, time: f64) -> usize {
    (time / wide(world.settings().dt)).round() as usize
}

/// A world with a floor at y = 0 of a friction coefficient; everything else should have the same one.
pub(super) fn with_floor(dt: Real, mu: Real) -> Result<(World, BodyId), Error> {
    let mut world = World::new(awake(dt))?;
    let floor = RigidBody::fixed().shape(Shape::half_space(Vec3::Y)).material(Material::friction(mu));
    let floor = world.add_rigid(floor)?;
    Ok((world, floor))
}

/// The value between `low` (where `beyond` is false) and `high` (where it is true) at which it turns.
pub(super) fn threshold(
    (mut low, mut high): (f64, f64),
    rounds: u32,
    mut beyond: impl FnMut(f64) -> Result<bool, Error>,
) -> Result<f64, Error> {
    for _ in 0..rounds {
        let middle = 0.5 * (low + high);
        if beyond(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(0.5 * (low + high))
}

/// Normal force between two bodies in the last step [N].
fn normal_force(report: &Report, a: BodyId, b: BodyId) -> f64 {
    let ours = |p: &&sinew::PairForce| (p.a, p.b) == (a, b) || (p.a, p.b) == (b, a);
    report.pairs.iter().filter(ours).map(|p| wide(p.normal)).sum()
}

/// R14. Block of width 0.2 and height 1.
const BLOCK: [Real; 2] = [0.2, 1.0];

fn falling_rod() -> Result<Vec<Reading>, Error> {
    // a rod on a hinge, 0.2 degrees off the vertical: ω² is short of 3g/L by 6e-6
    let mut world = World::new(awake(FINE))?;
    let tilt = Quat::from_rotation_z((-0.2 as Real).to_radians());
    let rod = RigidBody::dynamic().shape(Shape::cuboid(0.002, 0.5, 0.002)).mass(1.0).turned(tilt);
    let rod = world.add_rigid(rod.at(tilt * Vec3::new(0.0, 0.5, 0.0)))?;
    world.add_joint(Joint::hinge(None, Some(rod)).anchor(Vec3::ZERO).axis(Vec3::Z))?;
    let (mut omega, mut tip) = (f64::NAN, f64::NAN);
    let mut before = [0.0; 3];
    for _ in 0..10_000 {
        world.step(&Input::none());
        let body = world.body(rod)?;
        let end = body.velocity() + body.spin().cross(body.rotation() * Vec3::new(0.0, 0.5, 0.0));
        let now = [wide(body.position().y), wide(body.spin().length()), wide(end.length())];
        if now[0] <= 0.0 {
            let share = before[0] / (before[0] - now[0]);
            omega = before[1] + share * (now[1] - before[1]);
            tip = before[2] + share * (now[2] - before[2]);
            break;
        }
        before = now;
    }
    let [w, h] = BLOCK.map(wide);
    let tips_at = threshold((9.0, 14.0), 9, |degrees| tips_on_slope(degrees as Real))?;
    let barrier = 0.5 * G * ((h * h + w * w).sqrt() - h);
    let energy = threshold((0.5 * barrier, 1.5 * barrier), 9, |energy| tips_when_pushed(energy as Real))?;
    // the list gives no tolerance for the barrier: that of the speed
    Ok(vec![
        Reading::relative("omega at floor", omega, (3.0 * G).sqrt(), 0.01),
        Reading::relative("tip speed", tip, (3.0 * G).sqrt(), 0.01),
        Reading::absolute("block tips at", tips_at, w.atan2(h).to_degrees(), 0.3),
        Reading::relative("domino barrier per m", energy, barrier, 0.01),
    ])
}

fn block() -> RigidBody {
    let shape = Shape::cuboid(0.5 * BLOCK[0], 0.5 * BLOCK[1], 0.2);
    RigidBody::dynamic().shape(shape).mass(1.0).material(Material::friction(0.8))
}

/// Whether the block, put on a slope at rest, leaves it by more than 15 degrees within 4 s.
fn tips_on_slope(degrees: Real) -> Result<bool, Error> {
    let mut world = World::new(awake(FINE))?;
    let turn = Quat::from_rotation_z(-degrees.to_radians());
    let up = turn * Vec3::Y;
    world.add_rigid(RigidBody::fixed().shape(Shape::half_space(up)).material(Material::friction(0.8)))?;
    let block = world.add_rigid(block().turned(turn).at(up * (0.5 * BLOCK[1])))?;
    leans(&mut world, block, up, 4.0)
}

/// Whether the block on a flat floor, turning about its lower edge with an energy per mass [J/kg], goes over.
fn tips_when_pushed(energy: Real) -> Result<bool, Error> {
    let (mut world, _) = with_floor(FINE, 0.8)?;
    let [w, h] = BLOCK;
    let spin = (6.0 * energy / (w * w + h * h)).sqrt();
    let pushed = block().at([0.0, 0.5 * h, 0.0]).spin([0.0, 0.0, -spin]).velocity([0.5 * spin * h, 0.5 * spin * w, 0.0]);
    let block = world.add_rigid(pushed)?;
    leans(&mut world, block, Vec3::Y, 4.0)
}

/// Steps for a time [s]; true as soon as the body's y axis is more than 15 degrees off `up`.
fn leans(world: &mut World, body: BodyId, up: Vec3, time: f64) -> Result<bool, Error> {
    for _ in 0..steps(world, time) {
        world.step(&Input::none());
        if (world.body(body)?.rotation() * Vec3::Y).dot(up) < (15.0 as Real).to_radians().cos() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// R15.
fn stack() -> Result<Vec<Reading>, Error> {
    let mut readings = stack_at(FINE, "")?;
    readings.extend(stack_at(FRAME, " (60 Hz)")?);
    Ok(readings)
}

fn stack_at(dt: Real, suffix: &str) -> Result<Vec<Reading>, Error> {
    let (mut world, floor) = with_floor(dt, 0.5)?;
    let mut boxes = vec![floor];
    for k in 0..20 {
        let body = RigidBody::dynamic().shape(Shape::cuboid(0.5, 0.5, 0.5)).mass(1.0);
        boxes.push(world.add_rigid(body.at([0.0, 0.5 + k as Real, 0.0]))?);
    }
    // forces are means over the last second
    let (count, last) = (steps(&world, 60.0), steps(&world, 1.0));
    let (mut bottom, mut tenth) = (0.0, 0.0);
    for n in 0..count {
        let report = world.step(&Input::none());
        if n + last >= count {
            bottom += normal_force(report, floor, boxes[1]) / last as f64;
            tenth += normal_force(report, boxes[9], boxes[10]) / last as f64;
        }
    }
    let (mut drift, mut speed): (f64, f64) = (0.0, 0.0);
    for &id in &boxes[1..] {
        let body = world.body(id)?;
        let x = body.position();
        drift = drift.max(wide(x.x.hypot(x.z)));
        speed = speed.max(wide(body.velocity().length()));
    }
    let top = wide(world.body(boxes[20])?.position().y) + 0.5;
    let label = |what: &str| format!("{what}{suffix}");
    Ok(vec![
        Reading::relative(&label("bottom normal force"), bottom, 20.0 * G, 0.01),
        Reading::relative(&label("10th interface force"), tenth, 11.0 * G, 0.01),
        Reading::relative(&label("top height"), top, 20.0, 0.005),
        Reading::at_most(&label("lateral drift in 60 s"), drift, 1e-3),
        Reading::at_most(&label("|v| after 60 s"), speed, 1e-3),
    ])
}

/// R16.
fn mass_ratio() -> Result<Vec<Reading>, Error> {
    let mut readings = Vec::new();
    for (dt, suffix) in [(FINE, ""), (FRAME, " (60 Hz)")] {
        readings.extend(pile(dt, [1.0, 1000.0], ["N_floor", "N_mid heavy top"], suffix)?);
        readings.extend(pile(dt, [1000.0, 1.0], ["N_floor light top", "N_mid light top"], suffix)?);
    }
    Ok(readings)
}

/// Two cubes of 1 m, masses from below.
fn pile(dt: Real, masses: [Real; 2], labels: [&str; 2], suffix: &str) -> Result<Vec<Reading>, Error> {
    let (mut world, floor) = with_floor(dt, 0.5)?;
    let cube = |k: usize| {
        let body = RigidBody::dynamic().shape(Shape::cuboid(0.5, 0.5, 0.5)).mass(masses[k]);
        body.at([0.0, 0.5 + k as Real, 0.0])
    };
    let low = world.add_rigid(cube(0))?;
    let high = world.add_rigid(cube(1))?;
    let (count, last) = (steps(&world, 60.0), steps(&world, 1.0));
    let (mut below, mut between, mut deepest) = (0.0, 0.0, 0.0);
    for n in 0..count {
        let report = world.step(&Input::none());
        deepest = f64::max(deepest, wide(report.penetration));
        if n + last >= count {
            below += normal_force(report, floor, low) / last as f64;
            between += normal_force(report, low, high) / last as f64;
        }
    }
    let top = world.body(high)?;
    let upright = (top.rotation() * Vec3::Y).y > 0.99 && top.position().x.hypot(top.position().z) < 0.1;
    let stands = upright && (wide(top.position().y) - 1.5).abs() < 0.02;
    let which = if masses[1] > masses[0] { "heavy top" } else { "light top" };
    let total = wide(masses[0] + masses[1]) * G;
    Ok(vec![
        Reading::relative(&format!("{}{suffix}", labels[0]), below, total, 0.01),
        Reading::relative(&format!("{}{suffix}", labels[1]), between, wide(masses[1]) * G, 0.01),
        Reading::at_most(&format!("penetration / side, {which}{suffix}"), deepest, 0.01),
        Reading::holds(&format!("stays up 60 s, {which}{suffix}"), stands),
    ])
}

/// R17. Lean of the cards, from the vertical.
const LEAN: f64 = 15.0;

fn cards() -> Result<Vec<Reading>, Error> {
    let least = threshold((0.22, 0.06), 8, |mu| cards_fall(mu as Real, 10.0))?;
    // the band in which the two runs of the list leave the threshold: the nearer side
    let expected = 0.5 * LEAN.to_radians().tan();
    Ok(vec![
        Reading::absolute("mu_min", least, expected, expected - 0.11),
        Reading::holds("stands 60 s at mu=0.16", !cards_fall(0.16, 60.0)?),
        Reading::holds("collapses at mu=0.11", cards_fall(0.11, 60.0)?),
    ])
}

/// Whether two cards of 1 m, leaning on each other, come down within a time [s].
fn cards_fall(mu: Real, time: f64) -> Result<bool, Error> {
    const ROUND: Real = 0.005;
    let (mut world, _) = with_floor(FINE, mu)?;
    let mut pair = Vec::new();
    for side in [-1.0, 1.0] {
        // the left card (side −1) leans to the right
        let turn = Quat::from_rotation_z(side * (LEAN as Real).to_radians());
        let foot = Vec3::new(side * (ROUND + (LEAN as Real).to_radians().sin()), ROUND, 0.0);
        let card = RigidBody::dynamic().collider(card_plate()).mass(1.0).turned(turn);
        let card = round_edges(card, ROUND).material(Material::friction(mu));
        pair.push(world.add_rigid(card.at(foot + turn * Vec3::new(0.0, 0.5, 0.0)))?);
    }
    let start = world.body(pair[0])?.position().y;
    for _ in 0..steps(&world, time) {
        world.step(&Input::none());
        if world.body(pair[0])?.position().y < start - 0.05 {
            return Ok(true);
        }
    }
    Ok(false)
}

fn card_plate() -> Collider {
    Collider::new(Shape::cuboid(0.0025, 0.5, 0.3))
}

/// Round edges, top and bottom: where two sharp edges meet, any direction between their faces is a normal, and the answer
/// would be that of the collision test's taste.
fn round_edges(card: RigidBody, radius: Real) -> RigidBody {
    let along_z = Quat::from_rotation_x((90.0 as Real).to_radians());
    [-0.5, 0.5].into_iter().fold(card, |card, y| {
        let place = Pose::new(Vec3::new(0.0, y, 0.0), along_z);
        card.collider(Collider::new(Shape::capsule(0.3 - radius, radius)).at(place).density(0.0))
    })
}

/// R18. Length and height of a brick [m].
const BRICK: [Real; 2] = [1.0, 0.25];

fn overhang() -> Result<Vec<Reading>, Error> {
    let harmonic = |share: f64| [1.0, 2.0, 3.0, 4.0].map(|k: f64| (share * 0.5 / k) as Real);
    let most: f64 = [1.0, 2.0, 3.0, 4.0].iter().map(|k| 0.5 / k).sum();
    let share = threshold((0.9, 1.1), 7, |share| bricks_fall(harmonic(share), 6.0))?;
    let mut readings = vec![
        Reading::relative("overhang", share * most, most, 0.03),
        Reading::holds("97% of each step stands 30 s", !bricks_fall(harmonic(0.97), 30.0)?),
    ];
    for k in 0..4 {
        // the k bricks down to this step must have their centre over the edge below: s_k = L/2 − (1/k) Σ_{i<k} i s_i
        let mut steps = harmonic(0.97);
        let moment: Real = (0..k).map(|i| (i as Real + 1.0) * steps[i]).sum();
        steps[k] = 1.03 * (0.5 * BRICK[0] - moment / (k as Real + 1.0));
        let label = format!("103% of step {} falls", k + 1);
        readings.push(Reading::holds(&label, bricks_fall(steps, 10.0)?));
    }
    Ok(readings)
}

/// Whether four bricks come down; `steps` are their overhangs from the top one down, each over the brick below, the last
/// one over the table's edge at x = 0.
fn bricks_fall(steps_out: [Real; 4], time: f64) -> Result<bool, Error> {
    let mut world = World::new(awake(FINE))?;
    let table = RigidBody::fixed().shape(Shape::cuboid(2.0, 0.5, 1.0)).at([-2.0, -0.5, 0.0]);
    world.add_rigid(table)?;
    let mut end = 0.0;
    let mut bricks = Vec::new();
    for k in 0..4 {
        end += steps_out[3 - k];
        let brick = RigidBody::dynamic().shape(Shape::cuboid(0.5 * BRICK[0], 0.5 * BRICK[1], 0.25)).mass(1.0);
        let at = [end - 0.5 * BRICK[0], BRICK[1] * (0.5 + k as Real), 0.0];
        bricks.push((world.add_rigid(brick.at(at))?, at[1]));
    }
    for _ in 0..steps(&world, time) {
        world.step(&Input::none());
        for &(id, start) in &bricks {
            if world.body(id)?.position().y < start - 0.1 {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// R19. Mean radius [m] and number of stones.
const RADIUS: Real = 1.0;
const STONES: usize = 25;

fn arch() -> Result<Vec<Reading>, Error> {
    let least = threshold((0.15, 0.07), 6, |share| arch_falls(share as Real, 10.0))?;
    Ok(vec![
        // the band in which the two runs of the list leave the threshold: the nearer side
        Reading::absolute("t/R min", least, 0.1075, 0.1075 - 0.09),
        Reading::holds("t/R=0.13 stands 60 s", !arch_falls(0.13, 60.0)?),
        Reading::holds("t/R=0.09 falls", arch_falls(0.09, 60.0)?),
    ])
}

/// Whether a semicircle of stones of a thickness (share of the mean radius) comes down within a time [s].
fn arch_falls(thickness: Real, time: f64) -> Result<bool, Error> {
    let (mut world, _) = with_floor(FINE, 0.8)?;
    let (inner, outer) = (RADIUS * (1.0 - 0.5 * thickness), RADIUS * (1.0 + 0.5 * thickness));
    let mut stones = Vec::new();
    for k in 0..STONES {
        // a wedge between two radial cuts, its corners given about the arch's centre
        let cut = |n: usize| (180.0 as Real).to_radians() * n as Real / STONES as Real;
        let middle = 0.5 * (cut(k) + cut(k + 1));
        let place = Vec3::new(middle.cos(), middle.sin(), 0.0) * RADIUS;
        let mut points = Vec::new();
        for angle in [cut(k), cut(k + 1)] {
            for (radius, z) in [(inner, -0.2), (inner, 0.2), (outer, -0.2), (outer, 0.2)] {
                points.push(Vec3::new(radius * angle.cos(), radius * angle.sin(), z * RADIUS) - place);
            }
        }
        let stone = RigidBody::dynamic().shape(Shape::convex_hull(points)).density(2000.0).at(place);
        stones.push(world.add_rigid(stone.material(Material::friction(0.8)))?);
    }
    let key = stones[STONES / 2];
    for _ in 0..steps(&world, time) {
        world.step(&Input::none());
        if world.body(key)?.position().y < 0.8 * RADIUS {
            return Ok(true);
        }
    }
    Ok(false)
}

//! N2: worlds that diverge. Each divergence must be detected within two steps and the body reset to its last valid
//! state, and no body, involved or not, may ever have a position that is not finite.
//!
//! Divergence is judged from outside, by energy. A closed system cannot have more energy than its budget: its elastic
//! and kinetic energy at the start, the potential energy down to the floor, the energy from the correction of overlaps
//! (their speed is capped: half the mass times the cap squared), and the energy that the generator of the world put
//! into it: gas under pressure, joints that close a gap within a step. A world with twice its budget has diverged, and
//! the body must be frozen after this step or the next. For position based bodies only kinetic energy counts after the
//! start: a constraint of 1e11 Pa that the sweeps have not satisfied yet would store any energy, and moves no node
//! faster than it is satisfied.

use sinew::{BodyId, BodyView, Motion, Quat, Real, Vec3, World};
use sinew_scene::Rng;
use sinew_scene::faults::is_finite;
use sinew_scene::file::{Syntax, read_text};
use sinew_scene::validate::tools::num;

/// Number of worlds.
const WORLDS: u32 = 4000;
/// Steps of each world.
const STEPS: u32 = 120;
/// Maximum number of steps until a divergence is detected.
const WITHIN: u64 = 2;
/// One world in this many may be detected later.
const LATE: u32 = 1000;

/// The floor, and a bystander that interacts with nothing.
const STAGE: &str = "[bodies.floor]\nkind = 'fixed'\nshape = 'half_space'\nsurface = 0.5\n\
     [bodies.aside]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.1 }\nposition = [500, 5, 0]\ngravity_scale = 0\ncan_sleep = false\n";

/// A world that is set up to diverge.
struct Bomb {
    world: World,
    /// Energy that is neither kinetic nor elastic [J].
    hidden: f64,
    /// The constraints are solved by sweeps: their elastic energy is not converted to motion.
    swept: bool,
}

type Make = fn(&mut Rng) -> Result<Bomb, String>;

const KINDS: [(&str, Make); 8] = [
    ("too stiff for the step", stiff),
    ("nodes torn away", torn),
    ("turned inside out", scrambled),
    ("kicked", kicked),
    ("in one place", crowd),
    ("joints pulled apart", apart),
    ("penalty contacts", penalty),
    ("balloons under pressure", balloon),
];

/// Outcome of a world.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// It continues within its energy budget.
    Recovered,
    /// The diverged body is frozen.
    Held,
    /// It exceeded the budget for longer than two steps before this was reported, if ever; at the end it did not. The
    /// value is the maximum energy over the budget.
    Strayed(f64),
}

/// Runs the worlds and counts the outcomes.
pub fn n2(less: u32) -> Result<String, String> {
    let worlds = WORLDS / less;
    let (mut recovered, mut held, mut strayed, mut wrong) = (0, 0, Vec::new(), Vec::new());
    for seed in 0..worlds {
        let mut rng = Rng::new(u64::from(seed));
        let (kind, make) = KINDS[seed as usize % KINDS.len()];
        let bomb = make(&mut rng).map_err(|why| format!("{kind}, seed {seed}: {why}"))?;
        match run(bomb) {
            Ok(End::Recovered) => recovered += 1,
            Ok(End::Held) => held += 1,
            Ok(End::Strayed(most)) => {
                strayed.push(format!("{kind}, seed {seed}: {most:.1} times its means for a while"));
            }
            Err(why) => wrong.push(format!("{kind}, seed {seed}: {why}")),
        }
    }
    let (kinds, late) = (KINDS.len(), strayed.len());
    let message = format!(
        "{worlds} worlds of {kinds} kinds, never a number that is none: {recovered} ran on, {held} were put back and held, \
         {late} had more energy than they were given for longer than {WITHIN} steps, unnoticed, and not in the end {strayed:?}"
    );
    let wrong = wrong.join("\n");
    if late <= (worlds / LATE) as usize && wrong.is_empty() { Ok(message) } else { Err(format!("{message}\n{wrong}")) }
}

fn run(mut bomb: Bomb) -> Result<End, String> {
    let world = &mut bomb.world;
    let movers: Vec<BodyId> = world.bodies().filter(|b| b.motion() == Motion::Dynamic).map(|b| b.id()).collect();
    let aside =
        movers.iter().position(|id| world.body(*id).is_ok_and(|b| b.name() == "aside")).ok_or("nobody aside")?;
    let rest = world.body(movers[aside]).map_err(|e| e.to_string())?.position();
    let means = means(world) + bomb.hidden;
    let (mut broken, mut strayed, mut most): (Option<u64>, bool, f64) = (None, false, 0.0);
    for step in 0..u64::from(STEPS) {
        world.step(&sinew::Input::none());
        if !is_finite(world) {
            return Err(format!("a number that is none after step {step}"));
        }
        let there = world.body(movers[aside]).map_err(|e| e.to_string())?;
        if there.is_frozen() || there.position() != rest {
            return Err(format!("the ball that floats aside was touched in step {step}"));
        }
        // frozen bodies have no energy any more
        let energy = motion(world) + if bomb.swept { 0.0 } else { stored(world) };
        most = most.max(energy / means);
        broken = if energy > 2.0 * means { broken.or(Some(step)) } else { None };
        strayed |= broken.is_some_and(|first| step + 1 - first >= WITHIN);
    }
    if let Some(first) = broken {
        let energy = motion(world) + stored(world);
        let who = world.bodies().max_by(|a, b| own_motion(a).total_cmp(&own_motion(b)));
        let who = who.map_or("none", |b| b.name());
        return Err(format!(
            "{energy:.3e} J of {means:.3e} J since step {first}, the fastest {who}; without a fault in the report"
        ));
    }
    let held = bomb.world.bodies().any(|b| b.is_frozen());
    Ok(match (held, strayed) {
        (_, true) => End::Strayed(most),
        (true, false) => End::Held,
        (false, false) => End::Recovered,
    })
}

/// Kinetic energy of all bodies that are not frozen [J].
fn motion(world: &World) -> f64 {
    world.bodies().map(|body| own_motion(&body)).sum()
}

fn own_motion(body: &BodyView<'_>) -> f64 {
    if body.is_frozen() || body.motion() != Motion::Dynamic {
        return 0.0;
    }
    let nodes = body.node_masses().iter().zip(body.node_velocities());
    let inner: f64 = nodes.map(|(m, v)| 0.5 * num(*m) * num(v.length_squared())).sum();
    if body.is_rigid() { num(body.kinetic_energy()) } else { inner }
}

/// Elastic energy of all bodies that are not frozen [J].
fn stored(world: &World) -> f64 {
    let free = world.bodies().filter(|body| !body.is_frozen());
    free.filter_map(|body| world.elastic(body.id()).ok()).map(|view| num(view.energy())).sum()
}

/// Energy budget of a world [J].
fn means(world: &World) -> f64 {
    let s = world.settings();
    let (g, push) = (num(s.gravity.length()), num(s.push_speed));
    let mut sum = motion(world) + stored(world);
    let movers: Vec<_> = world.bodies().filter(|b| b.motion() == Motion::Dynamic).collect();
    for body in &movers {
        let nodes = body.node_positions();
        let highest =
            nodes.iter().map(|x| num(x.y)).chain([num(body.center_of_mass().y)]).fold(0.0_f64, |a, b| a.max(b.abs()));
        let cap = push * movers.len() as f64;
        sum += num(body.mass()) * (g * highest + 0.5 * cap * cap);
    }
    sum
}

fn build(text: &str) -> Result<Bomb, String> {
    let scene = read_text(&format!("{STAGE}{text}"), "bomb.toml", Syntax::Toml).map_err(|e| e.to_string())?;
    Ok(Bomb { world: scene.build().map_err(|e| e.to_string())?, hidden: 0.0, swept: text.contains("pbd") })
}

/// A log-uniform random number between the two bounds.
fn log(rng: &mut Rng, low: f64, high: f64) -> f64 {
    rng.between(low.ln(), high.ln()).exp()
}

fn direction(rng: &mut Rng) -> Vec3 {
    let mut part = || rng.between(-1.0, 1.0) as Real;
    Vec3::new(part(), part(), part()).normalize_or(Vec3::Y)
}

/// A soft body of any model on the floor, as the text of its table.
fn soft(rng: &mut Rng, modulus: f64) -> String {
    let tets = [
        "'corotational'",
        "{ kind = 'solid', law = 'neo_hookean' }",
        "{ kind = 'solid', law = 'st_venant_kirchhoff', integrator = 'explicit' }",
        "'springs'",
        "{ kind = 'springs', integrator = 'symplectic_euler' }",
        "'pbd_solid'",
        "'shape_matching'",
        "'meshless'",
        "'oriented'",
    ];
    let sheets = ["'membrane'", "{ kind = 'membrane', integrator = 'explicit' }", "'springs'"];
    let which = rng.below(tets.len() + sheets.len());
    let (geometry, model) = match tets.get(which) {
        Some(model) => ("{ kind = 'block', cells = [2, 2, 2], size = [0.2, 0.2, 0.2] }", *model),
        None => ("{ kind = 'sheet', cells = [4, 4], size = [0.4, 0.4] }", sheets[which - tets.len()]),
    };
    format!(
        "[bodies.soft]\nkind = 'soft'\ngeometry = {geometry}\n\
         material = {{ youngs_modulus = {modulus}, poisson_ratio = 0.3, density = 1000 }}\nmodel = {model}\n\
         position = [0, 0.3, 0]\n"
    )
}

/// Explicit models and any stiffness, with steps and substeps beyond the stability limit.
fn stiff(rng: &mut Rng) -> Result<Bomb, String> {
    let modulus = log(rng, 1e4, 1e11);
    let (dt, most) = (log(rng, 1e-3, 0.1), 1 + rng.below(8));
    build(&format!("[settings]\ndt = {dt}\nmax_substeps = {most}\n{}", soft(rng, modulus)))
}

/// Some nodes are displaced instantaneously, by up to 100 body sizes.
fn torn(rng: &mut Rng) -> Result<Bomb, String> {
    let modulus = log(rng, 1e3, 1e7);
    let mut bomb = build(&soft(rng, modulus))?;
    let count = bomb.world.state().node_x.len();
    for _ in 0..1 + rng.below(4) {
        let (node, far) = (rng.below(count), log(rng, 0.05, 20.0) as Real);
        let way = direction(rng) * far;
        bomb.world.tamper().node_x[node] += way;
    }
    Ok(bomb)
}

/// Every node is moved to a random position in the bounding box of the body, or mirrored.
fn scrambled(rng: &mut Rng) -> Result<Bomb, String> {
    let modulus = log(rng, 1e3, 1e6);
    let mut bomb = build(&soft(rng, modulus))?;
    let mirror = rng.below(2) == 0;
    for x in &mut bomb.world.tamper().node_x {
        let scattered = Vec3::new(0.0, 0.3, 0.0) + direction(rng) * 0.1;
        *x = if mirror { Vec3::new(-x.x, 0.6 - x.y, -x.z) } else { scattered };
    }
    Ok(bomb)
}

/// Nodes and angular velocities faster than realistic, but below the limit of validation.
fn kicked(rng: &mut Rng) -> Result<Bomb, String> {
    let modulus = log(rng, 1e3, 1e6);
    let mut bomb = build(&format!(
        "{}[bodies.box]\nkind = 'dynamic'\nshape = {{ kind = 'box', half_extents = [0.1, 0.02, 0.05] }}\nposition = [0, 0.8, 0]\n",
        soft(rng, modulus)
    ))?;
    let slot = bomb.world.bodies().find(|b| b.name() == "box").map_or(0, |b| b.id().to_parts().0 as usize);
    let state = bomb.world.tamper();
    for v in &mut state.node_v {
        *v = direction(rng) * log(rng, 1.0, 1900.0) as Real;
    }
    state.w[slot] = direction(rng) * log(rng, 1.0, 1e4) as Real;
    state.q[slot] = Quat::from_rotation_y(1.0);
    Ok(bomb)
}

/// Bodies of any mass at almost the same position.
fn crowd(rng: &mut Rng) -> Result<Bomb, String> {
    let mut text = soft(rng, 1e5);
    for i in 0..10 {
        let mass = log(rng, 1e-3, 1e3);
        let shape = ["{ kind = 'ball', radius = 0.1 }", "{ kind = 'box', half_extents = [0.1, 0.1, 0.1] }"][i % 2];
        let x = rng.between(-0.05, 0.05);
        text += &format!(
            "[bodies.b{i}]\nkind = 'dynamic'\nshape = {shape}\nmass = {mass}\nposition = [{x}, 0.3, {}]\n",
            rng.between(-0.05, 0.05)
        );
    }
    build(&text)
}

/// A chain of joints whose bodies are displaced instantaneously by metres.
fn apart(rng: &mut Rng) -> Result<Bomb, String> {
    let mut text = String::new();
    for i in 0..4 {
        let (mass, y) = (log(rng, 1e-2, 1e2), 2.0 - 0.3 * f64::from(i));
        text += &format!(
            "[bodies.b{i}]\nkind = 'dynamic'\nshape = {{ kind = 'box', half_extents = [0.05, 0.1, 0.05] }}\nmass = {mass}\nposition = [0, {y}, 0]\n"
        );
        let kind = ["ball", "hinge", "fixed", "slider"][rng.below(4)];
        let a = if i == 0 { String::new() } else { format!("a = 'b{}'\n", i - 1) };
        text += &format!("[joints.j{i}]\nkind = '{kind}'\n{a}b = 'b{i}'\nanchor = [0, {}, 0]\n", y + 0.15);
    }
    let mut bomb = build(&text)?;
    for _ in 0..1 + rng.below(3) {
        let name = format!("b{}", rng.below(4));
        let slot = bomb.world.bodies().find(|b| b.name() == name).map_or(0, |b| b.id().to_parts().0 as usize);
        let way = direction(rng) * log(rng, 0.1, 50.0) as Real;
        bomb.world.tamper().x[slot] += Vec3::new(way.x, way.y.abs(), way.z);
        // every body of the chain may be accelerated to the speed at which the gap closes
        let speed = num(way.length()) / num(bomb.world.settings().dt);
        let mass: f64 = bomb.world.bodies().filter(|b| b.name() != "aside").map(|b| num(b.mass())).sum();
        bomb.hidden += 0.5 * mass * speed * speed;
    }
    Ok(bomb)
}

/// The penalty contacts of the lecture, far too stiff for the step.
fn penalty(rng: &mut Rng) -> Result<Bomb, String> {
    let (stiffness, dt) = (log(rng, 1e2, 1e9), log(rng, 1e-3, 0.05));
    let method = [
        format!("{{ kind = 'quadratic', stiffness = {stiffness} }}"),
        format!("{{ kind = 'buffered', stiffness = {stiffness}, buffer = 0.02 }}"),
    ];
    let law = &method[rng.below(2)];
    let mut text = format!("[settings]\ndt = {dt}\ncontact_method = {{ kind = 'penalty', law = {law} }}\n");
    for i in 0..4 {
        let (mass, speed) = (log(rng, 1e-3, 10.0), log(rng, 0.1, 100.0));
        text += &format!(
            "[bodies.b{i}]\nkind = 'dynamic'\nshape = {{ kind = 'ball', radius = 0.1 }}\nmass = {mass}\nposition = [{i}, 0.3, 0]\nvelocity = [0, -{speed}, 0]\n"
        );
    }
    build(&text)
}

/// A closed surface filled with a gas of far too high pressure.
fn balloon(rng: &mut Rng) -> Result<Bomb, String> {
    let (pressure, stretch) = (log(rng, 1e2, 1e8), log(rng, 10.0, 1e5));
    let mut bomb = build(&format!(
        "[bodies.balloon]\nkind = 'soft'\ngeometry = {{ kind = 'surface', surface = {{ kind = 'ball', radius = 0.2, cells = 3 }} }}\n\
         model = {{ kind = 'pbd_sheet', stretch = {stretch}, density = 0.2 }}\nposition = [0, 0.5, 0]\n\
         [joints.gas]\nkind = 'volume'\nbody = 'balloon'\ninside = {{ kind = 'gas', pressure = {pressure} }}\n"
    ))?;
    // the isothermal work of a gas is p V ln(V'/V): 10 p V corresponds to 20,000 times the volume
    bomb.hidden = 10.0 * (pressure + 1e5) * 4.19 * 0.2_f64.powi(3);
    Ok(bomb)
}

//! Readings: numbers of a world by their names, for tables, sweeps and programs in other languages.

use crate::escape::escaped;
use crate::gallery::near_miss;
use crate::links::elastic_energy;
use crate::open::Unknown;
use crate::validate::tools::{real, short};
use sinew::{BodyId, BodyView, ConstraintId, Ledger, Real, Vec3, World};
use std::fmt;

/// Quantities of a body that are vectors.
const OF_BODY: [&str; 6] = ["position", "center", "velocity", "spin", "force", "reaction"];
/// Quantities of a tool: force and torque of contacts and anchors on it with its jaws, those on the hand, its rotation
/// vector, the opening of its jaws. Its position is that of its body.
const OF_TOOL: [&str; 6] = ["force", "torque", "hand_force", "hand_torque", "turn", "opening"];
/// Quantities of a node.
const OF_NODE: [&str; 2] = ["position", "velocity"];
/// Quantities of a pair: what the first does to the second.
const OF_PAIR: [&str; 5] = ["force", "normal", "area", "pressure", "center"];
/// Quantities of the world.
const OF_WORLD: [&str; 8] = [
    "energy.kinetic",
    "energy.elastic",
    "energy.gravity",
    "energy.total",
    "contacts",
    "penetration",
    "awake",
    "faults",
];

/// What is read, without its component.
#[derive(Clone, Debug, PartialEq)]
enum Quantity {
    World(&'static str),
    /// An entry of the ledger since the start, by its index.
    Ledger(usize),
    Body(BodyId, &'static str),
    Node(BodyId, usize, &'static str),
    Tool(ConstraintId, &'static str),
    /// What the first does to the second: force, normal force, area, largest pressure, centre of pressure.
    Pair(BodyId, BodyId, &'static str),
    /// Of a constraint, by its slot: force, torque or largest.
    Constraint(u32, &'static str),
}

/// Which number of it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Whole,
    Axis(usize),
    Size,
}

/// A number that is read from a world, found by its name once: `ball.position.y`, `energy.kinetic`, `box>floor.force.size`.
///
/// ```
/// use sinew::*;
/// use sinew_scene::reading::readings;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)).at([0.0, 5.0, 0.0]).named("ball"))?;
/// let list = readings(&["ball.position.y".to_owned()], &world)?;
/// assert_eq!(list[0].value(&world), 5.0);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    name: String,
    quantity: Quantity,
    part: Part,
}

/// What a quantity is at a moment.
enum Found {
    Number(f64),
    Vector(Vec3),
}

/// Why a name is no reading.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadingError {
    /// No such quantity.
    Unknown(Unknown),
    /// A component of a quantity that is one number.
    Scalar {
        /// The name as it was given.
        name: String,
        /// The quantity.
        stem: String,
    },
}

impl fmt::Display for ReadingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(unknown) => unknown.fmt(f),
            Self::Scalar { name, stem } => {
                let [name, stem] = [name, stem].map(|word| escaped(word));
                write!(f, "reading {name}: '{stem}' is one number and has no x, y, z or size")
            }
        }
    }
}

impl std::error::Error for ReadingError {}

/// The columns of a list of names, each with commas or not; a vector without component has three.
///
/// # Errors
/// A name that is no reading of this world, with the one that was probably meant.
pub fn readings(names: &[String], world: &World) -> Result<Vec<Reading>, ReadingError> {
    let mut out = Vec::new();
    let wanted = names.iter().flat_map(|list| list.split(',')).map(str::trim).filter(|n| !n.is_empty());
    // the pose of a tool is its position and its rotation vector
    let parts = |name: &str| match name.strip_suffix(".pose") {
        Some(whose) if find(&format!("{whose}.turn"), world).is_some() => {
            vec![format!("{whose}.position"), format!("{whose}.turn")]
        }
        _ => vec![name.to_owned()],
    };
    for name in wanted.flat_map(parts) {
        let name = name.as_str();
        let (stem, part) = split_part(name);
        let quantity = find(stem, world).ok_or_else(|| refuse(name, stem, world))?;
        let vector = matches!(read(&quantity, world), Found::Vector(_));
        if !vector && part != Part::Whole {
            return Err(ReadingError::Scalar { name: name.to_owned(), stem: stem.to_owned() });
        }
        if vector && part == Part::Whole {
            for (axis, letter) in ["x", "y", "z"].into_iter().enumerate() {
                let quantity = quantity.clone();
                out.push(Reading { name: format!("{name}.{letter}"), quantity, part: Part::Axis(axis) });
            }
        } else {
            out.push(Reading { name: name.to_owned(), quantity, part });
        }
    }
    Ok(out)
}

fn split_part(name: &str) -> (&str, Part) {
    let parts = [(".x", Part::Axis(0)), (".y", Part::Axis(1)), (".z", Part::Axis(2)), (".size", Part::Size)];
    parts.into_iter().find_map(|(end, part)| Some((name.strip_suffix(end)?, part))).unwrap_or((name, Part::Whole))
}

/// How a body is called: by its name, or by its slot as `#3`.
fn called(body: &BodyView<'_>, word: &str) -> bool {
    (!body.name().is_empty() && body.name() == word) || word == format!("#{}", body.id().to_parts().0)
}

fn find(stem: &str, world: &World) -> Option<Quantity> {
    if let Some(word) = OF_WORLD.into_iter().find(|w| *w == stem) {
        return Some(Quantity::World(word));
    }
    if let Some(entry) = stem.strip_prefix("ledger.") {
        return Ledger::NAMES.iter().position(|name| *name == entry).map(Quantity::Ledger);
    }
    if let Some(rest) = stem.strip_prefix("constraint.") {
        let (slot, what) = rest.split_once('.')?;
        let what = ["force", "torque", "largest"].into_iter().find(|w| *w == what)?;
        let slot = slot.parse().ok().filter(|k| (*k as usize) < world.state().broken.len())?;
        return Some(Quantity::Constraint(slot, what));
    }
    let body = |word: &str| world.bodies().find(|b| called(b, word));
    let (whose, what) = stem.rsplit_once('.')?;
    if let Some((a, b)) = whose.split_once('>') {
        let what = OF_PAIR.into_iter().find(|w| *w == what)?;
        return Some(Quantity::Pair(body(a)?.id(), body(b)?.id(), what));
    }
    if let Some(body) = body(whose) {
        let tool = tool_of(body.id(), world);
        if let (Some(tool), Some(what)) = (tool, OF_TOOL.into_iter().find(|w| *w == what)) {
            return Some(Quantity::Tool(tool, what));
        }
        return OF_BODY.into_iter().find(|w| *w == what).map(|w| Quantity::Body(body.id(), w));
    }
    // NAME.node.K.position
    let (whose, node) = whose.rsplit_once('.')?;
    let body = body(whose.strip_suffix(".node")?)?;
    let node = node.parse().ok().filter(|k| *k < body.node_positions().len())?;
    OF_NODE.into_iter().find(|w| *w == what).map(|w| Quantity::Node(body.id(), node, w))
}

/// The tool whose body this is.
fn tool_of(body: BodyId, world: &World) -> Option<ConstraintId> {
    world.tools().find(|tool| world.tool(*tool).is_ok_and(|t| t.body == body))
}

/// Names the reading that was probably meant, and how readings are made.
fn refuse(name: &str, stem: &str, world: &World) -> ReadingError {
    let mut known: Vec<String> = OF_WORLD.iter().map(|w| (*w).to_owned()).collect();
    known.extend(Ledger::NAMES.iter().map(|name| format!("ledger.{name}")));
    for body in world.bodies() {
        let slot = body.id().to_parts().0;
        let word = if body.name().is_empty() { format!("#{slot}") } else { body.name().to_owned() };
        known.extend(OF_BODY.iter().map(|what| format!("{word}.{what}")));
        if tool_of(body.id(), world).is_some() {
            known.extend(OF_TOOL.iter().chain([&"pose"]).map(|what| format!("{word}.{what}")));
        }
    }
    let meant = near_miss(stem, known.iter().map(String::as_str));
    let bodies = "BODY.position, .center, .velocity, .spin, .force, .reaction; BODY.node.K.position, .velocity; \
                  TOOL.force, .torque, .hand_force, .hand_torque, .pose, .turn, .opening";
    let others = "A>B.force, .normal, .area, .pressure, .center; constraint.K.force, .torque, .largest";
    let how =
        format!("readings: {}; ledger.ENTRY; {bodies}; {others}; of vectors .x, .y, .z or .size", OF_WORLD.join(", "));
    ReadingError::Unknown(Unknown::new("reading", name, meant, &how))
}

fn narrow(v: sinew::tool::Wide3) -> Vec3 {
    Vec3::from_array(v.to_array().map(real))
}

fn read(quantity: &Quantity, world: &World) -> Found {
    let report = world.report();
    match quantity {
        Quantity::World(word) => Found::Number(match *word {
            "energy.kinetic" => short(report.energies.kinetic),
            "energy.gravity" => short(report.energies.gravity),
            "energy.elastic" => elastic_energy(world),
            "energy.total" => short(report.energies.kinetic) + short(report.energies.gravity) + elastic_energy(world),
            "contacts" => f64::from(report.counts.contacts),
            "penetration" => short(report.penetration),
            "awake" => f64::from(report.counts.awake),
            _ => report.faults.len() as f64,
        }),
        Quantity::Ledger(entry) => Found::Number(report.ledger.total.values()[*entry]),
        Quantity::Body(id, what) => Found::Vector(world.body(*id).map_or(Vec3::NAN, |b| match *what {
            "position" => b.position(),
            "center" => b.center_of_mass(),
            "velocity" => b.velocity(),
            "spin" => b.spin(),
            "reaction" => b.reaction(),
            _ => report.contact_force_on(*id),
        })),
        Quantity::Node(id, node, what) => {
            let of = |b: BodyView<'_>| {
                let list = if *what == "position" { b.node_positions() } else { b.node_velocities() };
                list.get(*node).copied()
            };
            Found::Vector(world.body(*id).ok().and_then(of).unwrap_or(Vec3::NAN))
        }
        Quantity::Tool(tool, what) => {
            let Ok(tool) = world.tool(*tool) else { return Found::Vector(Vec3::NAN) };
            match *what {
                "force" => Found::Vector(narrow(tool.contact.force)),
                "torque" => Found::Vector(narrow(tool.contact.torque)),
                "hand_force" => Found::Vector(narrow(tool.on_hand.force)),
                "hand_torque" => Found::Vector(narrow(tool.on_hand.torque)),
                "turn" => Found::Vector(tool.pose.rotation.to_scaled_axis()),
                _ => Found::Number(short(tool.opening)),
            }
        }
        Quantity::Pair(a, b, what) => {
            let grip = world.grasp_force(*a, *b, &mut Vec::new()).unwrap_or_default();
            match *what {
                "force" => Found::Vector(grip.force),
                "normal" => Found::Number(short(grip.normal)),
                "area" => Found::Number(short(grip.area)),
                "pressure" => Found::Number(short(grip.peak)),
                _ => Found::Vector(grip.center),
            }
        }
        Quantity::Constraint(slot, what) => {
            let found = report.constraints.iter().find(|c| c.id.to_parts().0 == *slot);
            match *what {
                "force" => Found::Vector(found.map_or(Vec3::ZERO, |c| c.force)),
                "torque" => Found::Vector(found.map_or(Vec3::ZERO, |c| c.torque)),
                _ => Found::Number(found.map_or(0.0, |c| short(c.largest))),
            }
        }
    }
}

impl Reading {
    /// Its name, with the component.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its value now.
    pub fn value(&self, world: &World) -> f64 {
        let real = |x: Real| short(x);
        match (read(&self.quantity, world), self.part) {
            (Found::Number(x), _) => x,
            (Found::Vector(v), Part::Axis(k)) => real(v[k]),
            (Found::Vector(v), _) => real(v.length()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::tools::num;
    use sinew::{Input, RigidBody, Shape};

    fn falling() -> World {
        let mut world = World::default();
        let ball = RigidBody::dynamic().shape(Shape::ball(0.1)).at([0.0, 5.0, 0.0]).named("ball");
        world.add_rigid(ball).unwrap();
        world
    }

    #[test]
    fn a_falling_ball_obeys_the_integrator() {
        let mut world = falling();
        let list = readings(&["ball.position.y, ball.velocity.y".into()], &world).unwrap();
        let (h, g) = (num(world.settings().h()), -num(world.settings().gravity.y));
        let substeps = f64::from(world.settings().substeps);
        for step in 1..=60 {
            world.step(&Input::none());
            // velocity first, then position: after n substeps v = -g n h, y = y0 - g h² n (n + 1) / 2
            let n = substeps * f64::from(step);
            let right = 5.0 - 0.5 * g * h * h * n * (n + 1.0);
            assert!((list[0].value(&world) - right).abs() < 5e-6 * 5.0, "{} {right}", list[0].value(&world));
            assert!((list[1].value(&world) + g * n * h).abs() < 1e-5 * g, "{}", list[1].value(&world));
        }
    }

    #[test]
    fn a_vector_is_three_columns_and_a_slip_is_told() {
        let world = falling();
        let list = readings(&["ball.velocity".into(), "energy.kinetic".into(), "#0.spin.size".into()], &world).unwrap();
        let names: Vec<&str> = list.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names, ["ball.velocity.x", "ball.velocity.y", "ball.velocity.z", "energy.kinetic", "#0.spin.size"]);
        let refusal = |name: &str| readings(&[name.into()], &world).unwrap_err().to_string();
        assert!(refusal("ball.velocty.x").contains("did you mean 'ball.velocity'?"));
        assert!(refusal("energy.kinetc").contains("did you mean 'energy.kinetic'?"));
        assert!(refusal("energy.kinetic.x").contains("one number"));
        assert!(refusal("ball.node.0.position").contains("unknown reading"));
        assert!(refusal("constraint.7.force").contains("unknown reading"));
    }
}

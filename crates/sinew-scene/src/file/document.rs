//! The whole file: from the tree to bodies, joints and motions that are checked against each other.

use super::body::Body;
use super::combined::CombinedSpec;
use super::form::{ANY, FieldInfo, Form, Reader, Record, from_to, record, unknown};
use super::geometry::{MAX_NODES, node_count};
use super::joint::JointSpec;
use super::motion::{MotionSpec, MotionTarget, ResolvedTarget};
use super::parameters::Parameter;
use super::plain::{Name, Wide};
use super::schema::{Schemas, object};
use super::settings::Camera;
use super::state::StateSpec;
use super::tool::ToolTable;
use super::tree::{Entry, Node, Span, Value};
use crate::validate::tools::real;
use sinew::tool::ToolIds;
use sinew::{BodyId, BodySpec, Combined, CombinedIds, ConstraintId, Error, Settings, Vec3, World};
use std::collections::BTreeMap;

/// Most bodies of a scene, copies included.
const MAX_BODIES: usize = 100_000;

/// Description of a scene, and its settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    pub name: Option<String>,
    pub about: String,
    pub figure: String,
    pub seconds: Option<Wide>,
    pub settings: Settings,
    pub camera: Option<Camera>,
    pub state: Option<StateSpec>,
}

record!(Head, "scene", "A Sinew scene.", base |_| Head::default(), {
    name: ANY, "Its name; without: that of the file.";
    about: ANY, "Description in one sentence.";
    figure: ANY, "The figure that it reproduces, if any.";
    seconds: from_to(1e-6, 1e9), "Duration [s]; without: 5.";
    settings: ANY, "All settings of the engine.";
    camera: ANY, "The camera of images.";
    state: ANY, "State of a running world besides its bodies. Written by Sinew, not by hand.";
});

/// An entry with its name and its position in the file.
#[derive(Clone, Debug)]
pub(crate) struct Placed<T> {
    pub name: String,
    pub span: Span,
    pub path: String,
    pub item: T,
}

/// A scene that was read: everything needed to build it repeatedly.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub head: Head,
    pub parameters: Vec<Parameter>,
    pub bodies: Vec<Placed<BodySpec>>,
    /// Bones in tissue, with the names of the bones.
    pub combined: Vec<Placed<(Combined, Vec<String>)>>,
    /// Constraints that hold tissue to bones: they are numbered before the joints.
    pub anchors: usize,
    pub joints: Vec<Placed<JointSpec>>,
    pub tools: Vec<Placed<ToolTable>>,
    pub motions: Vec<(MotionSpec, ResolvedTarget)>,
}

/// Keys of the file beside those of the head.
const TABLES: [&str; 5] = ["bodies", "combined", "joints", "tools", "motions"];

impl Document {
    /// Reads the tree and builds the world once; all errors are in the reader. The tree is dropped before the world is
    /// built, so that a large file does not need memory for both.
    pub fn read(root: Node, parameters: Vec<Parameter>, reader: &mut Reader<'_>) -> Option<(Self, World)> {
        let Value::Table(entries) = &root.value else { return None };
        let head = reader.fields(entries, root.span, &TABLES, Head::read_fields);
        let bodies = read_bodies(&root, reader);
        let combined = read_combined(&root, reader);
        let joints = reader.within("joints", |r| read_table::<JointSpec>(&root, "joints", r));
        let tools = reader.within("tools", |r| read_table::<ToolTable>(&root, "tools", r));
        let motions = reader.within("motions", |r| read_table::<MotionSpec>(&root, "motions", r));
        let mut names =
            Names { bodies: names_of(&root, "bodies", &bodies), joints: names_of(&root, "joints", &joints) };
        let tool_names = names_of(&root, "tools", &tools);
        for tool in tools.iter().filter(|t| names.bodies.contains(&t.name) || names.joints.contains(&t.name)) {
            reader.problem_at(tool.span, &tool.path, format!("there is a body or joint '{}' already", tool.name));
        }
        names.bodies.extend(tool_names.iter().cloned());
        names.joints.extend(tool_names);
        let place = |key: &str| root.get(key).map_or(root.span, |n| n.span);
        let (settings_at, state_at) = (place("settings"), place("state"));
        drop(root);
        for body in &combined {
            for bone in body.item.1.iter().filter(|bone| names.bodies.contains(bone)) {
                reader.problem_at(body.span, &body.path, format!("there is a body '{bone}' already: rename the bone"));
            }
        }
        names.bodies.extend(combined.iter().flat_map(|c| c.item.1.iter().cloned()));
        let settings = head.as_ref().map(|h| h.settings.clone()).unwrap_or_default();
        let head = Head { settings, ..head.unwrap_or_default() };
        let (motions_read, motions) = (motions, Vec::new());
        let mut document = Self { head, parameters, bodies, combined, anchors: 0, joints, tools, motions };
        let mut world = match World::new(document.head.settings.clone()) {
            Ok(world) => world,
            Err(e) => {
                reader.problem(settings_at, e.to_string());
                World::default()
            }
        };
        let ids = document.populate(&mut world, &names, reader);
        document.anchors = ids.anchors;
        document.motions = document.find_motions(motions_read, &ids, &names, reader);
        for (motion, target) in &document.motions {
            if let Some((name, fault)) = motion.fault_in(*target, &world) {
                reader.problem_at(name.span, &name.path, fault);
            }
        }
        if let Some(state) = document.head.state.as_ref().filter(|_| reader.problems.is_empty())
            && let Err(reason) = state.restore(&mut world)
        {
            reader.problem_at(state_at, "state", format!("{reason}; remove the table to start from the bodies alone"));
        }
        reader.problems.is_empty().then_some((document, world))
    }

    /// Adds all bodies and joints; those that are refused are reported.
    fn populate(&self, world: &mut World, names: &Names, reader: &mut Reader<'_>) -> Ids {
        let mut ids = Ids::default();
        for body in &self.bodies {
            match world.add(body.item.clone()) {
                Ok(id) => {
                    ids.bodies.insert(body.name.clone(), id);
                }
                Err(e) => reader.problem_at(body.span, &body.path, e.to_string()),
            }
        }
        for body in &self.combined {
            match world.add_combined(body.item.0.clone()) {
                Ok(parts) => ids.add_combined(&parts, &body.item.1, world),
                Err(e) => reader.problem_at(body.span, &body.path, e.to_string()),
            }
            if world.state().node_x.len() as u64 > MAX_NODES {
                reader.problem_at(body.span, &body.path, format!("a scene has at most {MAX_NODES} nodes"));
                return ids;
            }
        }
        for joint in &self.joints {
            let built = joint.item.build(world, &mut |name| names.body(name, &ids, reader));
            let Some(built) = built else { continue };
            match world.add(built) {
                Ok(id) => {
                    ids.joints.insert(joint.name.clone(), id);
                }
                Err(e) => reader.problem_at(joint.span, &joint.path, e.to_string()),
            }
        }
        for tool in &self.tools {
            match add_tool(world, tool) {
                Ok(made) => ids.add_tool(&tool.name, &made),
                Err(e) => reader.problem_at(tool.span, &tool.path, e.to_string()),
            }
        }
        ids
    }

    fn find_motions(
        &self,
        motions: Vec<Placed<MotionSpec>>,
        ids: &Ids,
        names: &Names,
        reader: &mut Reader<'_>,
    ) -> Vec<(MotionSpec, ResolvedTarget)> {
        let mut found = Vec::new();
        for motion in motions {
            if let Some(fault) = motion.item.fault() {
                reader.problem_at(motion.span, &motion.path, fault);
                continue;
            }
            let target = match motion.item.acts_on() {
                MotionTarget::Body(name) => names.body(name, ids, reader).map(ResolvedTarget::Body),
                MotionTarget::Joint(name) => names.joint(name, ids, reader).map(ResolvedTarget::Joint),
            };
            if let MotionSpec::Nodes(n) = &motion.item
                && let Some(placed) = self.bodies.iter().find(|b| b.name == n.body.text)
                && let Some(fault) = n.unpinned(&placed.item)
            {
                reader.problem_at(n.body.span, &n.body.path, fault);
            }
            if let (MotionSpec::Target(_), MotionTarget::Body(name)) = (&motion.item, motion.item.acts_on()) {
                let wrong = |b: &Placed<BodySpec>| {
                    b.name == name.text
                        && !matches!(&b.item, BodySpec::Rigid(r) if r.motion == sinew::Motion::Kinematic)
                };
                if self.bodies.iter().any(wrong) {
                    reader.problem_at(name.span, &name.path, format!("'{}' is not a kinematic body", name.text));
                }
            }
            found.extend(target.map(|w| (motion.item, w)));
        }
        found
    }

    /// The world in its initial state. It was built once already, so that only a lack of memory can refuse it.
    pub fn build(&self) -> Result<World, Error> {
        let mut world = World::new(self.head.settings.clone())?;
        let mut ids = Ids::default();
        for body in &self.bodies {
            ids.bodies.insert(body.name.clone(), world.add(body.item.clone())?);
        }
        for body in &self.combined {
            let parts = world.add_combined(body.item.0.clone())?;
            ids.add_combined(&parts, &body.item.1, &world);
        }
        for joint in &self.joints {
            if let Some(built) = joint.item.build(&world, &mut |name: &Name| ids.bodies.get(&name.text).copied()) {
                world.add(built)?;
            }
        }
        for tool in &self.tools {
            add_tool(&mut world, tool)?;
        }
        if let Some(state) = &self.head.state {
            state.restore(&mut world).map_err(Error::BadSnapshot)?;
        }
        Ok(world)
    }
}

fn add_tool(world: &mut World, tool: &Placed<ToolTable>) -> Result<ToolIds, Error> {
    let spec = tool.item.build(&tool.name).map_err(|reason| Error::BadConstraint { constraint: "tool", reason })?;
    world.add(spec)
}

/// Bodies and joints that were accepted.
#[derive(Default)]
struct Ids {
    bodies: BTreeMap<String, BodyId>,
    joints: BTreeMap<String, ConstraintId>,
    anchors: usize,
}

impl Ids {
    /// A tool by its name, which is that of its body too.
    fn add_tool(&mut self, name: &str, made: &ToolIds) {
        self.bodies.insert(name.to_owned(), made.body);
        self.joints.insert(name.to_owned(), made.tool);
        for (k, jaw) in made.jaws.iter().flatten().enumerate() {
            self.bodies.entry(format!("{name} jaw {}", k + 1)).or_insert(*jaw);
        }
    }

    /// Bones by the names of their tables, tissue by those that it got. Names of tables are stronger.
    fn add_combined(&mut self, parts: &CombinedIds, bones: &[String], world: &World) {
        self.anchors += parts.anchors.len() + parts.joints.len();
        for (name, id) in bones.iter().zip(&parts.bones) {
            self.bodies.entry(name.clone()).or_insert(*id);
        }
        for id in &parts.tissues {
            let name = world.body(*id).map_or("", |b| b.name()).to_owned();
            self.bodies.entry(name).or_insert(*id);
        }
    }
}

/// All names in the file, including refused entries: their error is reported once, at their position.
struct Names {
    bodies: Vec<String>,
    joints: Vec<String>,
}

impl Names {
    fn body(&self, name: &Name, ids: &Ids, reader: &mut Reader<'_>) -> Option<BodyId> {
        let id = ids.bodies.get(&name.text).copied();
        if id.is_none() && !self.bodies.contains(&name.text) {
            let known: Vec<&str> = self.bodies.iter().chain(ids.bodies.keys()).map(String::as_str).collect();
            reader.problem_at(name.span, &name.path, unknown("body", &name.text, &known));
        }
        id
    }

    fn joint(&self, name: &Name, ids: &Ids, reader: &mut Reader<'_>) -> Option<ConstraintId> {
        let id = ids.joints.get(&name.text).copied();
        if id.is_none() && !self.joints.contains(&name.text) {
            let known: Vec<&str> = self.joints.iter().map(String::as_str).collect();
            reader.problem_at(name.span, &name.path, unknown("joint", &name.text, &known));
        }
        id
    }
}

fn names_of<T>(root: &Node, table: &str, read: &[Placed<T>]) -> Vec<String> {
    let mut names: Vec<String> = read.iter().map(|p| p.name.clone()).collect();
    if let Some(Node { value: Value::Table(entries), .. }) = root.get(table) {
        let known: std::collections::BTreeSet<String> = names.iter().cloned().collect();
        names.extend(entries.iter().map(|e| e.key.to_string()).filter(|k| !known.contains(k)));
    }
    names
}

/// Entries of a table by name.
fn entries<'a>(root: &'a Node, table: &str, reader: &mut Reader<'_>) -> &'a [Entry] {
    match root.get(table) {
        None => &[],
        Some(Node { value: Value::Table(entries), .. }) => entries,
        Some(node) => {
            let _: Option<()> = reader.unexpected(node, "a table of names");
            &[]
        }
    }
}

fn read_table<T: Form>(root: &Node, table: &str, reader: &mut Reader<'_>) -> Vec<Placed<T>> {
    read_entries(entries(root, table, reader), reader)
}

/// Named entries, each with its position.
pub(crate) fn read_entries<T: Form>(entries: &[Entry], reader: &mut Reader<'_>) -> Vec<Placed<T>> {
    let mut all = Vec::new();
    for entry in entries {
        reader.within(&entry.key, |r| {
            let path = r.path().to_owned();
            let item = T::read(&entry.node, &ANY, r);
            all.extend(item.map(|item| Placed { name: entry.key.to_string(), span: entry.node.span, path, item }));
        });
    }
    all
}

/// Combined bodies in the order of the file.
fn read_combined(root: &Node, reader: &mut Reader<'_>) -> Vec<Placed<(Combined, Vec<String>)>> {
    let read = reader.within("combined", |r| read_table::<CombinedSpec>(root, "combined", r));
    let mut all = Vec::new();
    for Placed { name, span, path, item } in read {
        // before they are made: the world counts the rest
        if item.geometries().map(node_count).sum::<u64>() > MAX_NODES {
            reader.problem_at(span, &path, format!("a scene has at most {MAX_NODES} nodes"));
            continue;
        }
        let item = item.build(&name);
        all.push(Placed { name, span, path, item });
    }
    all
}

/// Bodies in the order of the file, copies made.
fn read_bodies(root: &Node, reader: &mut Reader<'_>) -> Vec<Placed<BodySpec>> {
    let mut all: Vec<Placed<BodySpec>> = Vec::new();
    let mut nodes = 0;
    reader.within("bodies", |reader| {
        for entry in entries(root, "bodies", reader) {
            reader.matter = None;
            reader.within(&entry.key, |r| {
                let path = r.path().to_owned();
                let Some(body) = Body::read(&entry.node, &ANY, r) else { return };
                let copies = body.repeat();
                let count: u64 = copies.map_or(1, |c| c.count.iter().map(|&n| u64::from(n)).product());
                let each = match &body {
                    Body::Soft(soft) => node_count(soft.geometry()),
                    Body::Particles(particles) => particles.positions.len() as u64,
                    _ => 0,
                };
                nodes += count * each;
                if all.len() as u64 + count > MAX_BODIES as u64 {
                    return r.problem(entry.node.span, format!("a scene has at most {MAX_BODIES} bodies"));
                }
                if nodes > MAX_NODES {
                    return r.problem(entry.node.span, format!("a scene has at most {MAX_NODES} nodes"));
                }
                let place =
                    |name: String, item: BodySpec| Placed { name, span: entry.node.span, path: path.clone(), item };
                match copies {
                    None => all.push(place(entry.key.to_string(), body.build(&entry.key))),
                    Some(repeat) => {
                        let template = body.build(&entry.key);
                        for (i, offset) in offsets(repeat.count, repeat.step).enumerate() {
                            let name = format!("{} {i}", entry.key);
                            all.push(place(name.clone(), moved(template.clone(), offset, name)));
                        }
                    }
                }
            });
        }
    });
    all
}

/// Places of copies, x running first.
fn offsets([nx, ny, nz]: [u32; 3], step: Vec3) -> impl Iterator<Item = Vec3> {
    let at = move |i: u32, j: u32, k: u32| {
        let [i, j, k] = [i, j, k].map(|n| real(f64::from(n)));
        Vec3::new(step.x * i, step.y * j, step.z * k)
    };
    (0..nz).flat_map(move |k| (0..ny).flat_map(move |j| (0..nx).map(move |i| at(i, j, k))))
}

fn moved(mut body: BodySpec, by: Vec3, name: String) -> BodySpec {
    match &mut body {
        BodySpec::Rigid(rigid) => (rigid.pose.position, rigid.name) = (rigid.pose.position + by, name),
        BodySpec::Soft(soft) => (soft.pose.position, soft.name) = (soft.pose.position + by, name),
        BodySpec::Particles(_) => {}
    }
    body
}

/// The JSON Schema of a scene file.
pub(crate) fn schema() -> Value {
    let mut schemas = Schemas::default();
    let mut fields = Vec::new();
    Head::describe(&mut fields, &mut schemas);
    let mut add = |name, about, schema: Value| {
        fields.push(FieldInfo { name, about, schema, required: false, default: Value::Nothing });
    };
    let of = |schema: Value| Value::table([("type", Value::text("object")), ("additionalProperties", schema)]);
    let text = || Value::table([("type", Value::text("string"))]);
    let names = Value::table([("type", Value::text("array")), ("items", text())]);
    add("include", "Scene files to begin from, relative to this one; what this one says is stronger.", names);
    let any =
        Value::table([("description", Value::text("A value, or a table with 'value', 'low', 'high' and 'about'."))]);
    add("parameters", "Named values that others refer to as \"$name\".", of(any));
    add("bodies", "Bodies by name, in the order in which they are made.", of(Body::schema(&ANY, &mut schemas)));
    let combined = of(CombinedSpec::schema(&ANY, &mut schemas));
    add("combined", "Bones in tissue by name, made after the bodies.", combined);
    add("joints", "Joints, rods, ropes and springs by name.", of(JointSpec::schema(&ANY, &mut schemas)));
    add("tools", "Tools that a hand moves, by name, made after the joints.", of(ToolTable::schema(&ANY, &mut schemas)));
    add("motions", "Scripted motion by name.", of(MotionSpec::schema(&ANY, &mut schemas)));
    let mut all = vec![
        Entry::new("$schema", Value::text("https://json-schema.org/draft/2020-12/schema")),
        Entry::new("title", Value::text("Sinew scene")),
    ];
    if let Value::Table(inner) = object(Head::ABOUT, None, fields) {
        all.extend(inner);
    }
    all.push(Entry::new("$defs", schemas.into_defs()));
    Value::Table(all.into())
}

//! A running world as a scene file.
//!
//! Rigid bodies are written where they are now and as fast as they are now; soft bodies by their rest shape, number by
//! number; joints with their frames. What is not in any of these (bent nodes, warm impulses, contacts, sleep) lies in the
//! table `[state]`, which makes the copy go on with the same bits. Without it a soft body starts from its rest shape.
//! Custom rows are code and are refused. Numbers of removed bodies are not kept: ids, and with them the hash, then differ.

use super::body::Body;
use super::document::Head;
use super::form::{Form, Record};
use super::joint::JointSpec;
use super::motion::{MotionSpec, ResolvedTarget};
use super::plain::Name;
use super::print;
use super::tree::{Entry, Value};
use super::{SceneFile, Syntax, state};
use sinew::{Blueprint, BodyId, BodySpec, BodyView, ConstraintSpec, Error, SoftModel, World};
use std::collections::{BTreeMap, BTreeSet};

/// Description of a world that is written to a file.
///
/// An example is at [`file::SceneFile`](crate::file::SceneFile).
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Its name; empty: that of the file.
    pub name: String,
    /// One sentence: what to look at.
    pub about: String,
    /// How long it is worth watching [s]; 0 leaves it open.
    pub seconds: f64,
    /// Leaves out the table `[state]`: easier to read and to change, but contacts and bent nodes are forgotten.
    pub bodies_only: bool,
}

/// Writes a world down as a scene file.
///
/// ```
/// use sinew::{RigidBody, Shape, World};
/// use sinew_scene::file::{About, Syntax, read_text, write};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.5)).at([0.0, 2.0, 0.0]).named("ball"))?;
/// let text = write(&world, &About::default(), Syntax::Toml)?;
/// let copy = read_text(&text, "copy.toml", Syntax::Toml)?.build()?;
/// assert_eq!(copy.hash(), world.hash());
/// # Ok(()) }
/// ```
///
/// # Errors
/// Custom rows and custom models are code and have no form.
pub fn write(world: &World, about: &About, syntax: Syntax) -> Result<String, Error> {
    tree(world, about, None).map(|entries| printed(entries, syntax))
}

/// The same for a world that a scene file made: with its motions, and the names of its tables.
///
/// # Errors
/// As [`write()`].
pub fn write_scene(world: &World, about: &About, scene: &SceneFile, syntax: Syntax) -> Result<String, Error> {
    tree(world, about, Some(scene)).map(|entries| printed(entries, syntax))
}

fn printed(entries: Vec<Entry>, syntax: Syntax) -> String {
    match syntax {
        Syntax::Toml => print::toml(&entries),
        Syntax::Json => print::json(&Value::Table(entries.into())),
    }
}

fn tree(world: &World, about: &About, scene: Option<&SceneFile>) -> Result<Vec<Entry>, Error> {
    let Blueprint { settings, bodies, constraints, .. } = world.blueprint()?;
    for slot in &bodies {
        if let Some(BodySpec::Soft(body)) = &slot.item
            && let SoftModel::Custom(model) = &body.model
        {
            let reason = format!("the model '{}' is code and has no form in a scene file", model.name());
            return Err(Error::BadShape { shape: "soft body".into(), reason });
        }
    }
    if let Some(body) = world.bodies().find(|body| body.topology() > 0) {
        // the state of a file is that of bodies as their tables make them
        let reason = format!("the topology of '{}' was edited: save the world instead", body.name());
        return Err(Error::BadShape { shape: "soft body".into(), reason });
    }
    let head = Head {
        name: Some(about.name.clone()).filter(|n| !n.is_empty()),
        about: about.about.clone(),
        settings,
        seconds: (about.seconds > 0.0).then_some(super::plain::Wide(about.seconds)),
        camera: scene.and_then(SceneFile::camera),
        ..Head::default()
    };
    let mut out = Vec::new();
    head.write_fields(&mut out);
    let names = names(world, bodies.len(), scene);
    let views: BTreeMap<usize, BodyView<'_>> = world.bodies().map(|b| (slot_of(b.id()), b)).collect();
    let mut table = Vec::new();
    for (slot, item) in bodies.into_iter().enumerate().filter_map(|(i, s)| Some((i, s.item?))) {
        let item = if world.state().tick > 0 { present(item, views.get(&slot)) } else { item };
        table.push(Entry::new(names[slot].clone(), with_kind(Body::of(item).write())));
    }
    out.push(Entry::new("bodies", Value::Table(table.into())));
    let name = |id: BodyId| Name::from(names[slot_of(id)].as_str());
    let mut table = Vec::new();
    for (slot, item) in constraints.into_iter().enumerate().filter_map(|(i, s)| Some((i, s.item?))) {
        // anchors of tissue come before the joints of the file
        let joint =
            |s: &SceneFile| s.document.joints.get(slot.checked_sub(s.document.anchors)?).map(|j| j.name.clone());
        let tool = match &item {
            ConstraintSpec::Tool(tool) => Some(names[slot_of(tool.body)].clone()),
            _ => None,
        };
        // a motion names a tool by its body
        let key = tool.or_else(|| scene.and_then(joint)).unwrap_or_else(|| free_name(format!("joint {slot}"), scene));
        let spec = JointSpec::of(&item, &name);
        table.push(Entry::new(key, with_kind(spec.write())));
    }
    let motions = scene.map_or(&[][..], |s| &s.document.motions);
    let motion = |(i, (spec, _)): (usize, &(MotionSpec, ResolvedTarget))| {
        Entry::new(format!("motion {i}"), with_kind(spec.write()))
    };
    let motions: Vec<Entry> = motions.iter().enumerate().map(motion).collect();
    let parts = [("joints", table), ("motions", motions)];
    out.extend(
        parts.into_iter().filter(|(_, t)| !t.is_empty()).map(|(key, t)| Entry::new(key, Value::Table(t.into()))),
    );
    if !about.bodies_only {
        out.push(Entry::new("state", state::write(world)));
    }
    Ok(out)
}

fn slot_of(id: BodyId) -> usize {
    id.to_parts().0 as usize
}

/// A kind alone as a table: bodies and joints have a header each.
fn with_kind(value: Value) -> Value {
    match value {
        Value::Text(_) => Value::table([("kind", value)]),
        other => other,
    }
}

/// A name that no joint of the scene has.
fn free_name(wanted: String, scene: Option<&SceneFile>) -> String {
    let taken = |name: &String| scene.is_some_and(|s| s.document.joints.iter().any(|j| j.name == *name));
    let mut name = wanted;
    while taken(&name) {
        name.push('\'');
    }
    name
}

/// A name for every slot, each only once: that of its table, or of the body.
fn names(world: &World, slots: usize, scene: Option<&SceneFile>) -> Vec<String> {
    let mut names = vec![String::new(); slots];
    let mut taken = BTreeSet::new();
    for body in world.bodies() {
        let slot = slot_of(body.id());
        let own = scene.and_then(|s| s.document.bodies.get(slot)).map(|b| b.name.clone());
        let wanted = match own {
            Some(own) => own,
            None if body.name().is_empty() => format!("body {slot}"),
            None => body.name().to_owned(),
        };
        let name = if taken.contains(&wanted) { format!("{wanted} #{slot}") } else { wanted };
        taken.insert(name.clone());
        names[slot] = name;
    }
    names
}

/// A rigid body where it is now.
fn present(mut spec: BodySpec, view: Option<&BodyView<'_>>) -> BodySpec {
    if let (BodySpec::Rigid(rigid), Some(view)) = (&mut spec, view)
        && let Ok(pose) = view.pose()
    {
        rigid.pose = pose;
        (rigid.velocity, rigid.spin) = (view.velocity(), view.spin());
    }
    spec
}

//! Constraints between bodies, which are referenced by name. Their keys are those that the engine describes, except that
//! rods, ropes and springs are distances with a shorter form.
//!
//! Lists that are long and follow from the body (edges, folds) may be left out: they are then taken from its surface. Files
//! that Sinew writes have them all.

use super::described::{self, Worded, with_ids};
use super::form::{ANY, FieldInfo, Fields, Form, NOT_NEGATIVE, Reader, Record, Rule, article, put, tagged, tell};
use super::plain::Name;
use super::schema::Schemas;
use super::seam::Seam;
use super::tree::{Entry, Node, Value};
use sinew::spec::{Item, Kind, Spec, Word};
use sinew::{BodyId, ConstraintSpec, Distance, Joint, JointKind, Real, Site, TriMesh, Vec3, World};

described::described!(sinew::Motor);

/// A constraint in the form of a scene file.
#[derive(Clone, Debug)]
pub(crate) enum JointSpec {
    /// A constraint of the engine. The index of an id is that of its name in the list.
    Plain(Box<ConstraintSpec>, Vec<Name>),
    Seam(Seam),
}

/// Finds a body by name; `None` when there is none, which is reported then.
pub(crate) type Find<'a> = dyn FnMut(&Name) -> Option<BodyId> + 'a;

/// What a word of a file means.
enum Meaning {
    Joint(JointKind),
    Rod,
    Rope,
    Spring,
    Range,
    Seam,
    /// The variant of the engine with the same word.
    Described(Worded),
}

/// All words in order, each with its sentence and meaning.
fn words() -> Vec<(String, String, Meaning)> {
    let mut all = Vec::new();
    let mut add = |word: &str, about: &str, meaning| all.push((word.to_owned(), about.to_owned(), meaning));
    let Kind::Choice(choice) = ConstraintSpec::kind(&ANY) else { return all };
    for described in Worded::all(&choice) {
        match described.word.as_str() {
            "joint" => {
                let Kind::Words(kinds) = JointKind::kind(&ANY) else { continue };
                for (i, Word { word, about }) in kinds.iter().enumerate() {
                    JointKind::from_item(Item::Word(i))
                        .into_iter()
                        .for_each(|kind| add(word, about, Meaning::Joint(kind)));
                }
            }
            "distance" => {
                add("rod", "A rigid rod between two sites.", Meaning::Rod);
                add("rope", "A rope between two sites: it only pulls.", Meaning::Rope);
                add("spring", "A damped spring between two sites.", Meaning::Spring);
                add("distance", "Two sites within a range of distances.", Meaning::Range);
                add("seam", "One surface stitched to another where they are near.", Meaning::Seam);
            }
            _ => {
                let (word, about) = (described.word.clone(), described.about.clone());
                add(&word, &about, Meaning::Described(described));
            }
        }
    }
    all
}

/// Fields of a joint that a file has in another form, or that this kind does not have.
fn left_out(kind: JointKind) -> &'static [&'static str] {
    match kind {
        JointKind::Fixed | JointKind::Ball => &["kind", "limits", "motor"],
        JointKind::Hinge | JointKind::Slider => &["kind"],
    }
}

/// Fields of a distance of one length.
const ONE_LENGTH: [&str; 3] = ["min", "max", "spring"];
const LENGTH: (&str, &str) = ("length", "Its length [m].");
const STIFFNESS: &str = "stiffness";

/// A rod, rope or spring: one length instead of a range.
fn read_length(meaning: &Meaning, fields: &mut Fields<'_, '_, '_>) -> Option<Distance> {
    let length: Option<Real> = fields.given(LENGTH.0, &NOT_NEGATIVE, None);
    let max = length.unwrap_or(0.0);
    let origin = Site::World(Vec3::ZERO);
    let base = match meaning {
        Meaning::Rope => Distance::rope(origin, origin, max),
        _ => Distance::rod(origin, origin, max),
    };
    let skip = if let Meaning::Spring = meaning { &ONE_LENGTH[..2] } else { &ONE_LENGTH };
    if skip.len() < ONE_LENGTH.len() && !fields.has(STIFFNESS) {
        fields.missing(STIFFNESS, "a number of at least 0");
    }
    let read = described::read_fields(&base, skip, fields);
    length.and(read)
}

fn describe(meaning: &Meaning, schemas: &mut Schemas) -> Vec<FieldInfo> {
    let mut out = Vec::new();
    match meaning {
        Meaning::Joint(kind) => described::describe::<Joint>(left_out(*kind), &mut out, schemas),
        Meaning::Rod | Meaning::Rope | Meaning::Spring => {
            let skip = if let Meaning::Spring = meaning { &ONE_LENGTH[..2] } else { &ONE_LENGTH };
            described::describe::<Distance>(skip, &mut out, schemas);
            out.iter_mut().filter(|field| field.name == STIFFNESS).for_each(|field| field.required = true);
            tell(&mut out, schemas, LENGTH, &NOT_NEGATIVE, Err(&Real::default()));
        }
        Meaning::Range => described::describe::<Distance>(&[], &mut out, schemas),
        Meaning::Seam => Seam::describe(&mut out, schemas),
        Meaning::Described(worded) => out = worded.describe(schemas),
    }
    out
}

impl Form for JointSpec {
    fn read(node: &Node, _: &Rule, reader: &mut Reader<'_>) -> Option<Self> {
        let words = words();
        let all: Vec<&str> = words.iter().map(|(word, ..)| word.as_str()).collect();
        reader.names.clear();
        let plain = |spec: ConstraintSpec| Self::Plain(Box::new(spec), Vec::new());
        let read = reader.choice(node, "joint", &all, |word, fields| {
            let (.., meaning) = words.iter().find(|(known, ..)| known == word)?;
            match meaning {
                Meaning::Joint(kind) => {
                    let base = Joint { kind: *kind, ..Joint::fixed(None, None) };
                    described::read_fields(&base, left_out(*kind), fields).map(ConstraintSpec::Joint).map(plain)
                }
                Meaning::Rod | Meaning::Rope | Meaning::Spring => {
                    read_length(meaning, fields).map(ConstraintSpec::Distance).map(plain)
                }
                Meaning::Range => {
                    let origin = Site::World(Vec3::ZERO);
                    let base = Distance { max: Real::INFINITY, ..Distance::rope(origin, origin, 0.0) };
                    described::read_fields(&base, &[], fields).map(ConstraintSpec::Distance).map(plain)
                }
                Meaning::Seam => Seam::read_fields(fields).map(Self::Seam),
                Meaning::Described(worded) => worded.read(&[], fields).and_then(ConstraintSpec::from_item).map(plain),
            }
        })?;
        Some(match read {
            Self::Plain(spec, _) => Self::Plain(spec, std::mem::take(&mut reader.names)),
            seam => seam,
        })
    }

    fn write(&self) -> Value {
        let (spec, names) = match self {
            Self::Plain(spec, names) => (spec, names),
            Self::Seam(seam) => {
                let mut out = Vec::new();
                seam.write_fields(&mut out);
                return tagged("seam", out);
            }
        };
        let mut name = |i: u32, _| names.get(i as usize).map(|name| Item::Text(name.text.clone()));
        let Some(Item::Choice(index, items)) = with_ids(spec.to_item(), &mut name) else { return Value::Nothing };
        let mut out = Vec::new();
        match &**spec {
            ConstraintSpec::Joint(joint) => {
                described::entries(&items, described::fields::<Joint>(), left_out(joint.kind), &mut out);
                let Kind::Words(kinds) = JointKind::kind(&ANY) else { return Value::Nothing };
                let Item::Word(i) = joint.kind.to_item() else { return Value::Nothing };
                tagged(kinds.get(i).map_or("", |kind| kind.word), out)
            }
            ConstraintSpec::Distance(d) => tagged(distance_word(d, &items, &mut out), out),
            _ => described::plain_value(&Item::Choice(index, items), &ConstraintSpec::kind(&ANY)),
        }
    }

    fn schema(_: &Rule, schemas: &mut Schemas) -> Value {
        let about = "What holds two bodies together, or a body to the world.";
        schemas.choice(("joint", about), |schemas| {
            let each = |(word, about, meaning): (String, String, Meaning)| (word, about, describe(&meaning, schemas));
            words().into_iter().map(each).collect()
        })
    }

    fn wants(_: &Rule) -> String {
        article("joint")
    }
}

/// The shortest form of a distance: its keys, and its word.
fn distance_word(d: &Distance, items: &[Item], out: &mut Vec<Entry>) -> &'static str {
    let word = match d.spring {
        None if d.min == d.max => "rod",
        None if d.min == 0.0 && d.max.is_finite() => "rope",
        Some(_) if d.min == d.max => "spring",
        _ => "distance",
    };
    let skip = if word == "distance" { &[][..] } else { &ONE_LENGTH[..2] };
    described::entries(items, described::fields::<Distance>(), skip, out);
    if !skip.is_empty() {
        put(out, LENGTH.0, d.max.write(), None);
    }
    word
}

impl JointSpec {
    /// The engine's constraint; nothing when a body is missing. The world has all bodies.
    pub fn build(&self, world: &World, find: &mut Find<'_>) -> Option<ConstraintSpec> {
        let (spec, names) = match self {
            Self::Plain(spec, names) => (spec, names),
            Self::Seam(seam) => return seam.build(world, find),
        };
        let mut id = |i: u32, _| names.get(i as usize).and_then(&mut *find).map(|id| id.to_item());
        let mut spec = ConstraintSpec::from_item(with_ids(spec.to_item(), &mut id)?)?;
        match &mut spec {
            ConstraintSpec::DistanceSet(set) if set.pairs.is_empty() => set.pairs = sheet(world, set.body).edges(),
            ConstraintSpec::Bending(bending) if bending.folds.is_empty() => {
                bending.folds = sheet(world, bending.body).folds();
            }
            _ => {}
        }
        Some(spec)
    }

    /// The form of a constraint of the engine. `name` gives the names of bodies.
    pub fn of(spec: &ConstraintSpec, name: &dyn Fn(BodyId) -> Name) -> Self {
        let mut names = Vec::new();
        let item = with_ids(spec.to_item(), &mut |index, generation| {
            names.push(name(BodyId::from_parts(index, generation)));
            Some(Item::Id(names.len() as u32 - 1, 0))
        });
        let numbered = item.and_then(ConstraintSpec::from_item).unwrap_or_else(|| spec.clone());
        Self::Plain(Box::new(numbered), names)
    }
}

/// The surface of a body as a mesh over its nodes; nothing when its points are not nodes.
fn sheet(world: &World, id: BodyId) -> TriMesh {
    let mesh = || {
        let body = world.body(id).ok()?;
        let surface = body.surface()?;
        let node = |surfel: u32| match surface.shares(surfel) {
            [one] => Some(one.node),
            _ => None,
        };
        let mut triangles = Vec::new();
        for &[a, b, c] in surface.triangles() {
            triangles.push([node(a)?, node(b)?, node(c)?]);
        }
        Some(TriMesh { vertices: body.node_positions().to_vec(), triangles })
    };
    mesh().unwrap_or(TriMesh { vertices: Vec::new(), triangles: Vec::new() })
}

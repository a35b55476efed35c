//! Saves and snapshots.

use crate::columns;
use crate::error::{Kind, Section, WireError};
use crate::form::{Described, ModelForm};
use crate::frame::{self, Contents, Writer};
use sinew::{Blueprint, BodySpec, ModelRegistry, Settings, State, World};

/// Writes a world down: settings, model and state. [`load`] gives a world that goes on with the same bits.
///
/// # Errors
/// Custom rows are code and have no form.
///
/// ```
/// # fn main() -> Result<(), sinew_wire::WireError> {
/// let world = sinew::World::default();
/// let bytes = sinew_wire::save(&world)?;
/// assert_eq!(&bytes[..5], b"SINEW");
/// # Ok(()) }
/// ```
pub fn save(world: &World) -> Result<Vec<u8>, WireError> {
    let blueprint = world.blueprint().map_err(WireError::refused(Section::Model))?;
    let mut writer = Writer::new(Kind::Save);
    writer.put(Section::Settings, &settings_body(&blueprint.settings)?);
    writer.put(Section::Model, &model_body(&blueprint)?);
    writer.put(Section::State, &columns::write(world.state()));
    Ok(writer.finish())
}

/// Builds the world of a save.
///
/// # Errors
/// Whatever is not a whole, undamaged save of this format and precision, or would be refused at the engine's own doors.
///
/// ```
/// use sinew_wire::{WireError, load};
/// assert_eq!(load(b"P6 640 480 255").unwrap_err(), WireError::Foreign);
/// ```
pub fn load(bytes: &[u8]) -> Result<World, WireError> {
    load_with(bytes, &ModelRegistry::default())
}

/// Builds the world of a save whose soft bodies may have models of the caller: the file holds their names and parameters,
/// the registry their constructors.
///
/// # Errors
/// As [`load`]; and a model whose name the registry does not have, by its name.
///
/// ```
/// use sinew::{CustomModel, Geometry, ModelRegistry, SoftBody, SoftModel, Vec3, World};
/// use sinew_wire::{load, load_with, save};
/// # use sinew::Real;
/// # use sinew::deformable::{BodyMut, BodyRef, Deformable, StepContext};
/// # #[derive(Debug)]
/// # struct Dust(Vec<Real>);
/// # impl Deformable for Dust {
/// #     fn masses(&self) -> &[Real] { &self.0 }
/// #     fn predict(&mut self, ctx: &StepContext<'_>, mut body: BodyMut<'_>) { body.kick(ctx.h); }
/// #     fn energy(&self, _: BodyRef<'_>) -> Real { 0.0 }
/// #     fn forces(&self, _: BodyRef<'_>, _: &mut [Vec3]) -> bool { true }
/// # }
/// fn dust(geometry: &Geometry, _params: &[u8]) -> Result<Box<dyn Deformable>, String> {
///     Ok(Box::new(Dust(vec![0.01; geometry.nodes().len()])))
/// }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// let model = SoftModel::Custom(CustomModel::new("dust", [], dust));
/// world.add_soft(SoftBody::new(Geometry::Points(vec![Vec3::ZERO]), model))?;
/// let bytes = save(&world)?;
/// let twin = load_with(&bytes, &ModelRegistry::default().with("dust", dust))?;
/// assert_eq!(twin.hash(), world.hash());
/// // without the constructor the error names the model
/// assert!(load(&bytes).unwrap_err().to_string().contains("dust"));
/// # Ok(()) }
/// ```
pub fn load_with(bytes: &[u8], registry: &ModelRegistry) -> Result<World, WireError> {
    let contents = frame::read_whole(bytes, Kind::Save)?;
    let [settings, model, state] = sections(&contents, [Section::Settings, Section::Model, Section::State])?;
    build(read_settings(settings)?, model, Section::State, state, registry)
}

/// Writes the state alone, for a reader that has the model: an undo, a rewind, a correction over a network.
///
/// It carries a fingerprint of the model (bodies, constraints, their numbering; not settings and motors). A world with
/// custom rows has none, and only the sizes of the columns are compared.
///
/// ```
/// use sinew::{Input, RigidBody, Shape, World};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.5)))?;
/// let before = sinew_wire::snapshot(&world);
/// let hash = world.hash();
/// world.step(&Input::none());
/// sinew_wire::restore(&mut world, &before)?;
/// assert_eq!(world.hash(), hash);
/// # Ok(()) }
/// ```
pub fn snapshot(world: &World) -> Vec<u8> {
    let mut writer = Writer::new(Kind::Snapshot);
    writer.put(Section::Fingerprint, &fingerprint(world));
    writer.put(Section::State, &columns::write(world.state()));
    writer.finish()
}

/// Goes back to a snapshot of this world.
///
/// # Errors
/// Damaged bytes, another precision, the snapshot of another model. The world stays as it was.
pub fn restore(world: &mut World, bytes: &[u8]) -> Result<(), WireError> {
    let contents = frame::read_whole(bytes, Kind::Snapshot)?;
    let [print, state] = sections(&contents, [Section::Fingerprint, Section::State])?;
    if print != fingerprint(world) {
        return Err(WireError::OtherModel);
    }
    let state = columns::read(Section::State, state)?;
    world.restore(&state).map_err(WireError::refused(Section::State))
}

/// The bodies of exactly these sections, in this order.
fn sections<'a, const N: usize>(contents: &Contents<'a>, wanted: [Section; N]) -> Result<[&'a [u8]; N], WireError> {
    let mut bodies: [&[u8]; N] = [&[]; N];
    for (i, section) in wanted.into_iter().enumerate() {
        match contents.records.get(i) {
            Some(record) if record.section == section => bodies[i] = record.body,
            Some(record) => {
                return Err(WireError::malformed(record.section, format!("stands where {section} belongs")));
            }
            None => return Err(WireError::malformed(section, "is missing")),
        }
    }
    match contents.records.get(N) {
        Some(record) => Err(WireError::malformed(record.section, "one section too many")),
        None => Ok(bodies),
    }
}

/// Hash of the model, nothing when it has no form.
fn fingerprint(world: &World) -> Vec<u8> {
    let model = world.blueprint().ok().map(|blueprint| ModelForm::of(&blueprint));
    let bytes = model.and_then(|m| frame::encode(Section::Model, &m.without_motors()).ok());
    bytes.map_or(Vec::new(), |b| frame::hash(&b).to_le_bytes().to_vec())
}

pub(crate) fn settings_body(settings: &Settings) -> Result<Vec<u8>, WireError> {
    frame::encode(Section::Settings, &Described(settings.clone()))
}

pub(crate) fn read_settings(body: &[u8]) -> Result<Settings, WireError> {
    Ok(frame::decode::<Described<Settings>>(Section::Settings, body)?.0)
}

pub(crate) fn model_body(blueprint: &Blueprint) -> Result<Vec<u8>, WireError> {
    frame::encode(Section::Model, &ModelForm::of(blueprint))
}

/// A world from settings and the bodies of two sections.
pub(crate) fn build(
    settings: Settings,
    model: &[u8],
    section: Section,
    state: &[u8],
    registry: &ModelRegistry,
) -> Result<World, WireError> {
    settings.check().map_err(WireError::refused(Section::Settings))?;
    let state: State = columns::read(section, state)?;
    let form: ModelForm = frame::decode(Section::Model, model)?;
    let mut blueprint = form.build(settings, &state).map_err(WireError::bad(Section::Model))?;
    for slot in &mut blueprint.bodies {
        if let Some(BodySpec::Soft(body)) = &mut slot.item {
            registry.bind(&mut body.model).map_err(WireError::refused(Section::Model))?;
        }
    }
    World::build(blueprint, &state).map_err(|source| {
        let section = if matches!(source, sinew::Error::BadSnapshot(_)) { section } else { Section::Model };
        WireError::Refused { section, source }
    })
}

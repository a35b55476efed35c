//! A built scene: its world, its adjustable parameters (knobs) and its constant data. All of it can be built on another
//! thread than the one that steps.

use crate::describe::describe;
use crate::geometry::SceneGeometry;
use crate::session::Show;
use crate::tune::{self, Knob};
use sinew::{Blueprint, Error, Real, Settings, State, World};
use sinew_scene::file::{self, Syntax};
use sinew_scene::{AnyScene, gallery};
use std::sync::Arc;

/// A built scene.
pub struct Stage {
    /// The scene.
    pub scene: AnyScene,
    /// Its world.
    pub world: World,
    /// The model as the scene defines it, without the factors of the knobs.
    pub plain: Option<Blueprint>,
    /// Its adjustable parameters.
    pub knobs: Vec<Knob>,
    /// Its constant data.
    pub geometry: Arc<SceneGeometry>,
    /// Knobs of the model were changed: the world must be rebuilt.
    pub stale: bool,
    /// The topology of a body was edited: the model is not that of the scene any more.
    pub edited: bool,
}

impl Stage {
    /// A scene in its initial state; `revision` is the number of its constant data.
    ///
    /// # Errors
    /// The error of the engine when it refuses the scene.
    pub fn new(scene: AnyScene, revision: u32) -> Result<Self, Error> {
        let world = scene.build()?;
        let plain = world.blueprint().ok();
        let knobs = tune::knobs(&scene, world.settings(), plain.as_ref());
        let geometry = draw(&scene, &world, plain.as_ref(), &knobs, revision);
        Ok(Self { scene, world, plain, knobs, geometry, stale: false, edited: false })
    }

    /// Draws the constant data again when the topology of a body was edited; `revision` is incremented then. The page
    /// gets the surface with its new numbers, and drops frames of the old ones by their revision.
    pub fn follow_topology(&mut self, revision: &mut u32) {
        if self.geometry.is_of(&self.world) {
            return;
        }
        *revision += 1;
        self.edited = true;
        let blueprint = self.world.blueprint().ok();
        self.geometry = draw(&self.scene, &self.world, blueprint.as_ref(), &self.knobs, *revision);
    }

    /// Sets a knob. Settings change at once, the model with the next build.
    ///
    /// # Errors
    /// The reason for a refusal, as a message.
    pub fn turn(&mut self, name: &str, value: f64) -> Result<(), String> {
        let Some(knob) = self.knobs.iter_mut().find(|k| k.name == name) else {
            return Err(format!("this scene has no knob '{name}'"));
        };
        if !knob.takes(value) {
            let (low, high) = (knob.low, knob.high);
            return Err(format!("{name}: {value}, from {low} to {high} is allowed"));
        }
        let mut settings = self.world.settings().clone();
        let of_settings = tune::set(&mut settings, name, value);
        if self.edited && !of_settings {
            return Err(format!("{name}: the topology of a body was edited, reset the scene to change its model"));
        }
        knob.value = value;
        if of_settings {
            // the range of the knob lies inside that of the settings
            let _ = self.world.set_settings(settings);
        } else {
            self.stale = true;
        }
        Ok(())
    }

    /// Copies the values of knobs of the same name.
    fn turn_as(&mut self, knobs: &[Knob]) {
        for old in knobs {
            if self.knobs.iter().any(|k| k.name == old.name && k.value != old.value) {
                // a value outside the range in this scene is ignored
                let _ = self.turn(&old.name, old.value);
            }
        }
    }

    /// The data needed to rebuild this stage with other knob values.
    pub fn base(&self) -> Base {
        Base {
            scene: self.scene.clone(),
            plain: self.plain.clone(),
            knobs: self.knobs.clone(),
            geometry: self.geometry.clone(),
            settings: self.world.settings().clone(),
            state: self.world.snapshot(),
        }
    }
}

/// A copy of a stage without its world, but with the state of the world.
pub struct Base {
    scene: AnyScene,
    plain: Option<Blueprint>,
    knobs: Vec<Knob>,
    geometry: Arc<SceneGeometry>,
    settings: Settings,
    state: State,
}

/// The factor of a knob.
#[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
fn factor(knobs: &[Knob], name: &str) -> Real {
    knobs.iter().find(|k| k.name == name).map_or(1.0, |k| k.value) as Real
}

fn draw(
    scene: &AnyScene,
    world: &World,
    plain: Option<&Blueprint>,
    knobs: &[Knob],
    revision: u32,
) -> Arc<SceneGeometry> {
    let mut geometry = SceneGeometry::new(world, plain, revision);
    geometry.text = describe(scene, world, plain, knobs, revision);
    Arc::new(geometry)
}

/// A build. It owns all data that it needs.
pub struct Plan {
    /// The served scene, with its file and its overrides.
    pub show: Arc<Show>,
    /// Revision number of the result.
    pub revision: u32,
    /// The kind of build.
    pub kind: Kind,
}

/// Kinds of builds.
pub enum Kind {
    /// A scene of the list by its name, from its initial state.
    Scene(String),
    /// The same scene from its initial state, with the present knob values.
    Again(AnyScene, Vec<Knob>),
    /// The present stage with the model that its knobs define, in its present state.
    Turned(Box<Base>),
}

/// The result of a build.
pub struct Built {
    /// The stage.
    pub stage: Stage,
    /// True when the state of the previous world is carried over to this one.
    pub goes_on: bool,
    /// A message, or empty.
    pub note: String,
}

impl Built {
    fn fresh(stage: Stage) -> Self {
        Self { stage, goes_on: false, note: String::new() }
    }
}

impl Plan {
    /// Executes the build.
    ///
    /// # Errors
    /// The reason for a failure, as a message.
    pub fn build(self) -> Result<Built, String> {
        let Self { show, revision, kind } = self;
        let named = |scene: AnyScene| {
            let name = scene.name().to_owned();
            Stage::new(scene, revision).map_err(|error| format!("{name}: {error}"))
        };
        match kind {
            Kind::Scene(name) => Ok(Built::fresh(named(find(&show, &name)?)?)),
            Kind::Again(scene, knobs) => {
                let given = scene.name() == show.scene.name();
                let mut stage = named(if given { show.scene.clone() } else { scene })?;
                stage.turn_as(&knobs);
                if !stage.stale {
                    return Ok(Built::fresh(stage));
                }
                Ok(Built { goes_on: false, note: String::new(), ..turned(&show, revision, stage.base())? })
            }
            Kind::Turned(base) => turned(&show, revision, *base),
        }
    }
}

/// Finds a scene by its name.
fn find(show: &Show, name: &str) -> Result<AnyScene, String> {
    let given = Some(show.scene.clone()).filter(|s| s.name() == name);
    given.or_else(|| gallery::find(name).map(AnyScene::from)).ok_or_else(|| format!("there is no scene '{name}'"))
}

/// Builds the model that the knobs of a stage define.
fn turned(show: &Show, revision: u32, base: Base) -> Result<Built, String> {
    let read = read_again(show, &base)?;
    let plain = match &read {
        Some(scene) => scene.build().map_err(|e| e.to_string())?.blueprint().ok(),
        None => base.plain.clone(),
    };
    let mut blueprint = plain.clone().ok_or("this scene has rows of its own and cannot be changed")?;
    blueprint.settings = base.settings.clone();
    tune::scale(&mut blueprint, factor(&base.knobs, "stiffness"), factor(&base.knobs, "friction"));
    let world = match (World::build(blueprint, &base.state), &read) {
        (Ok(world), _) => world,
        // a parameter changed the structure of the model: the new model starts from its initial state
        (Err(_), Some(scene)) => return anew(scene.clone(), revision, &base.knobs),
        (Err(error), None) => return Err(error.to_string()),
    };
    let (knobs, geometry) = (base.knobs, base.geometry);
    let geometry = read.as_ref().map_or(geometry, |scene| draw(scene, &world, plain.as_ref(), &knobs, revision));
    let stage = Stage { scene: read.unwrap_or(base.scene), world, plain, knobs, geometry, stale: false, edited: false };
    Ok(Built { stage, goes_on: true, note: String::new() })
}

/// A scene of another structure from its initial state, with the knob values of the previous one.
fn anew(scene: AnyScene, revision: u32, knobs: &[Knob]) -> Result<Built, String> {
    let mut stage = Stage::new(scene, revision).map_err(|e| e.to_string())?;
    stage.turn_as(knobs);
    // parameters are already applied, factors are not
    stage.stale = factor(knobs, "stiffness") != 1.0 || factor(knobs, "friction") != 1.0;
    let note = "the scene begins anew: this parameter changes its shape".to_owned();
    Ok(Built { stage, goes_on: false, note })
}

/// Reads the scene file again with the parameters of the knobs; `None` when it has none, or no text.
fn read_again(show: &Show, base: &Base) -> Result<Option<AnyScene>, String> {
    let own = base.knobs.iter().filter_map(|k| Some((k.name.strip_prefix("scene.")?, k.value)));
    let own: Vec<String> = own.map(|(name, value)| format!("parameters.{name}.value={value}")).collect();
    let name = base.scene.name();
    // another scene may have been selected since
    let is_first = name == show.scene.name();
    let sets = if is_first { [&show.sets[..], &own].concat() } else { own.clone() };
    let text = gallery::find(name).and_then(|scene| scene.text);
    let read = match (show.file.as_ref().filter(|_| is_first), text) {
        _ if own.is_empty() => return Ok(None),
        (Some(path), _) => file::read_with(path, &sets),
        (None, Some(text)) => file::read_text_with(text, name, Syntax::Toml, &sets),
        (None, None) => return Ok(None),
    };
    read.map(|scene| Some(scene.into())).map_err(|problems| problems.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew::TopologyEdit;

    #[test]
    fn the_page_gets_the_surface_of_an_edited_body_again() {
        let scene = AnyScene::from(gallery::find("jelly").expect("built in"));
        let (mut revision, mut stage) = (1, Stage::new(scene, 1).expect("it builds"));
        stage.follow_topology(&mut revision);
        assert_eq!((revision, stage.geometry.revision), (1, 1), "nothing was edited");
        let soft = stage.world.bodies().find(|b| b.is_soft()).map(|b| b.id()).expect("a soft body");
        let triangles = |stage: &Stage| stage.geometry.soft[0].surface.triangles().to_vec();
        let (before, text) = (triangles(&stage), stage.geometry.text.clone());
        stage.world.edit_topology(soft, &TopologyEdit::new().remove([0])).expect("an element is removed");
        stage.follow_topology(&mut revision);
        assert_eq!((revision, stage.geometry.revision), (2, 2));
        let surface = stage.world.body(soft).expect("it exists").surface().expect("a surface").triangles();
        assert!(triangles(&stage) == surface && triangles(&stage) != before && stage.geometry.text != text);
        let refused = stage.turn("stiffness", 2.0).expect_err("the scene has another mesh");
        assert!(refused.contains("topology") && !stage.stale, "{refused}");
    }
}

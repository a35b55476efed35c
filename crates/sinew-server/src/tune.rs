//! Knobs: parameters that a viewer may change while a scene runs.
//!
//! Gravity and iteration counts are settings and change between two steps. Stiffness and friction belong to the model:
//! the world is rebuilt from its blueprint, with all parameters of that kind multiplied by a factor, in its present
//! state. For a parameter of a scene file the file is read again, and the state is kept when it fits.

use serde_json::{Map, Value, json};
use sinew::fem::PlaneStress;
use sinew::spring::Stiffness;
use sinew::{Blueprint, BodySpec, Real, Settings, SoftModel, SurfaceMaterial, pbd};
use sinew_scene::AnyScene;
use sinew_scene::validate::tools::num;

/// An adjustable parameter, shown as a slider.
#[derive(Clone, Debug, PartialEq)]
pub struct Knob {
    /// Name in commands.
    pub name: String,
    /// Label on the page.
    pub label: String,
    /// Description, or empty.
    pub about: String,
    /// Unit, or empty.
    pub unit: String,
    /// Minimum.
    pub low: f64,
    /// Maximum.
    pub high: f64,
    /// True for integers.
    pub whole: bool,
    /// True for a logarithmic slider.
    pub logarithmic: bool,
    /// Present value.
    pub value: f64,
}

impl Knob {
    fn new(name: &str, label: &str, range: [f64; 2], value: f64) -> Self {
        let [low, high] = range;
        // the initial value of a scene may lie outside the default range
        let (low, high) = (low.min(value), high.max(value));
        let (name, label) = (name.to_owned(), label.to_owned());
        let (about, unit) = (String::new(), String::new());
        Self { name, label, about, unit, low, high, whole: false, logarithmic: false, value }
    }

    fn unit(self, unit: &str) -> Self {
        Self { unit: unit.to_owned(), ..self }
    }

    fn whole(self) -> Self {
        Self { whole: true, ..self }
    }

    fn logarithmic(self) -> Self {
        Self { logarithmic: true, ..self }
    }

    /// JSON for the page.
    pub fn describe(&self) -> Value {
        json!({
            "name": self.name, "label": self.label, "about": self.about, "unit": self.unit, "low": self.low, "high": self.high,
            "whole": self.whole, "logarithmic": self.logarithmic,
        })
    }

    /// True when a value may be set.
    pub fn takes(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value) && (!self.whole || value.fract() == 0.0)
    }
}

/// Values of knobs by name.
pub fn values(knobs: &[Knob]) -> Map<String, Value> {
    knobs.iter().map(|k| (k.name.clone(), json!(k.value))).collect()
}

/// The knobs of a scene.
pub fn knobs(scene: &AnyScene, settings: &Settings, blueprint: Option<&Blueprint>) -> Vec<Knob> {
    let mut out = Vec::new();
    if let AnyScene::File(file) = scene {
        for p in file.parameters() {
            let (Some(low), Some(high), Some(value)) = (p.low, p.high, p.value) else { continue };
            let knob = Knob {
                about: p.about.clone(),
                ..Knob::new(&format!("scene.{}", p.name), &title(&p.name), [low, high], value)
            };
            let knob = knob.unit(unit_of(&p.about));
            let wide = low > 0.0 && high / low > 20.0;
            out.push(if wide { knob.logarithmic() } else { knob });
        }
    }
    let specs = || blueprint.into_iter().flat_map(|b| b.bodies.iter().filter_map(|s| s.item.as_ref()));
    if specs().any(|s| matches!(s, BodySpec::Soft(_))) {
        out.push(Knob::new("stiffness", "Stiffness", [0.1, 10.0], 1.0).unit("×").logarithmic());
    }
    if blueprint.is_some() {
        out.push(Knob::new("friction", "Friction", [0.0, 3.0], 1.0).unit("×"));
    }
    out.push(Knob::new("gravity", "Gravity", [-20.0, 10.0], num(settings.gravity.y)).unit("m/s²"));
    out.push(Knob::new("substeps", "Substeps", [1.0, 32.0], f64::from(settings.substeps)).whole());
    out.push(Knob::new("iterations", "Iterations", [1.0, 32.0], f64::from(settings.sweeps)).whole());
    out
}

/// A label from a name: "wall_height" becomes "Wall height".
fn title(name: &str) -> String {
    let words = name.replace(['_', '-'], " ");
    let mut commands = words.chars();
    commands.next().map_or_else(String::new, |first| first.to_uppercase().chain(commands).collect())
}

/// The unit: the text in brackets of a description.
fn unit_of(about: &str) -> &str {
    let inside = about.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or("", |(unit, _)| unit)
}

/// Sets the setting of a knob; false when the knob is not a setting.
#[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
pub fn set(settings: &mut Settings, knob: &str, value: f64) -> bool {
    match knob {
        "gravity" => settings.gravity.y = value as Real,
        "substeps" => settings.substeps = value as u32,
        "iterations" => settings.sweeps = value as u32,
        _ => return false,
    }
    true
}

/// Multiplies all stiffnesses and all friction coefficients of a model by a factor each.
pub fn scale(blueprint: &mut Blueprint, stiffness: Real, friction: Real) {
    for spec in blueprint.bodies.iter_mut().filter_map(|slot| slot.item.as_mut()) {
        match spec {
            BodySpec::Rigid(body) => body.colliders.iter_mut().for_each(|c| rub(&mut c.material, friction)),
            BodySpec::Particles(body) => rub(&mut body.material, friction),
            BodySpec::Soft(body) => {
                rub(&mut body.material, friction);
                stiffen(&mut body.model, stiffness);
            }
        }
    }
}

fn rub(material: &mut SurfaceMaterial, factor: Real) {
    material.static_friction *= factor;
    material.kinetic_friction *= factor;
}

fn stiffen(model: &mut SoftModel, factor: Real) {
    match model {
        SoftModel::Corotational(p) => p.youngs_modulus *= factor,
        SoftModel::Solid(p) => p.youngs_modulus *= factor,
        SoftModel::Membrane(p) => match &mut p.material {
            PlaneStress::Isotropic { youngs_modulus, .. } => *youngs_modulus *= factor,
            PlaneStress::Orthotropic { youngs_x, youngs_y, shear, .. } => {
                [youngs_x, youngs_y, shear].into_iter().for_each(|k| *k *= factor);
            }
        },
        SoftModel::Springs(p) => match &mut p.stiffness {
            Stiffness::Uniform(k) | Stiffness::Young(k) => *k *= factor,
            Stiffness::PerSpring(list) => list.iter_mut().for_each(|k| *k *= factor),
        },
        SoftModel::Pbd(pbd::Structure::Solid(m), _) => m.youngs_modulus *= factor,
        SoftModel::Pbd(pbd::Structure::Sheet(m), _) => (m.stretch, m.bend) = (m.stretch * factor, m.bend * factor),
        SoftModel::Pbd(pbd::Structure::Cord(m), _) => (m.stretch, m.bend) = (m.stretch * factor, m.bend * factor),
        // stiffness is proportional to the square of the frequency
        SoftModel::ShapeMatching(_, _, p) => p.frequency *= factor.sqrt(),
        SoftModel::Oriented(_, _, p) => p.frequency *= factor.sqrt(),
        SoftModel::Meshless(p, _) => p.youngs_modulus *= factor,
        // its parameters are bytes
        SoftModel::Custom(_) => {}
    }
}

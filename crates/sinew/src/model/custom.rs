//! Models of users: a name, parameters as bytes, and the constructor that a registry holds under the name.

use super::soft::{Geometry, SoftModel};
use crate::deformable::{Coordinates, Deformable, rotation};
use sinew_spec::{Kind, Rule, Sink, Source, Spec};
use std::fmt;
use std::sync::Arc;

/// Largest number of internal state of a body: 256 MiB in f32, copied in each step.
const MAX_INTERNAL_STATE: usize = 1 << 26;

/// Builds a model from the rest shape of its body and its parameters; or the reason why it cannot be built.
type Constructor = dyn Fn(&Geometry, &[u8]) -> Result<Box<dyn Deformable>, String> + Send + Sync;

/// A user's deformable model. Name and parameters are stored in a save; the constructor is code, and a reader finds it by
/// the name in a [`ModelRegistry`].
///
/// The code of a model runs inside the step. A panic in it leaves `World::step` as a panic, and the world is then to be
/// restored from a snapshot.
///
/// The nodes of the body are the vertices or points of its geometry, in their order. The same geometry and bytes must
/// give the same model: a restored body is built again.
///
/// ```
/// use sinew::deformable::{BodyMut, BodyRef, Deformable, StepContext};
/// use sinew::*;
///
/// /// Particles of a gas that do not interact: each node has a mass and no internal force.
/// #[derive(Debug)]
/// struct Dust(Vec<Real>);
///
/// impl Deformable for Dust {
///     fn masses(&self) -> &[Real] {
///         &self.0
///     }
///     fn predict(&mut self, ctx: &StepContext<'_>, mut body: BodyMut<'_>) {
///         body.kick(ctx.h);
///     }
///     fn energy(&self, _: BodyRef<'_>) -> Real {
///         0.0
///     }
///     fn forces(&self, _: BodyRef<'_>, _: &mut [Vec3]) -> bool {
///         true
///     }
/// }
///
/// # fn main() -> Result<(), Error> {
/// // the parameter is the mass of a node in grams
/// let dust = CustomModel::new("dust", [5], |geometry, params| {
///     let [grams] = params else { return Err("one byte is needed: the mass [g]".into()) };
///     Ok(Box::new(Dust(vec![1e-3 * Real::from(*grams); geometry.nodes().len()])))
/// });
/// let points = Geometry::Points(vec![Vec3::ZERO, Vec3::X]);
/// let mut world = World::default();
/// let body = world.add_soft(SoftBody::new(points, SoftModel::Custom(dust)))?;
/// for _ in 0..60 {
///     world.step(&Input::none());
/// }
/// // one second of free fall
/// assert!((world.body(body)?.velocity().y + 9.81).abs() < 0.01);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct CustomModel {
    name: String,
    params: Vec<u8>,
    make: Option<Arc<Constructor>>,
}

impl CustomModel {
    /// A model with its name, its parameters and its constructor.
    pub fn new(
        name: impl Into<String>,
        params: impl Into<Vec<u8>>,
        make: impl Fn(&Geometry, &[u8]) -> Result<Box<dyn Deformable>, String> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), params: params.into(), make: Some(Arc::new(make)) }
    }

    /// Name and parameters without a constructor, as a file holds them; [`ModelRegistry::bind`] adds it. A world refuses
    /// such a model.
    pub fn unbound(name: impl Into<String>, params: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), params: params.into(), make: None }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its parameters.
    pub fn params(&self) -> &[u8] {
        &self.params
    }

    /// The model on a geometry, checked for what the engine relies on.
    pub(crate) fn build(&self, geometry: &Geometry) -> Result<Box<dyn Deformable>, String> {
        let Some(make) = &self.make else { return Err(self.unknown()) };
        let bad = |reason: String| format!("the model '{}': {reason}", self.name);
        let model = make(geometry, &self.params).map_err(bad)?;
        let (nodes, masses, traits) = (geometry.nodes().len(), model.masses().len(), model.traits());
        if nodes == 0 || masses != nodes {
            return Err(bad(format!("{masses} masses for {nodes} nodes")));
        }
        if traits.internal_state_count > MAX_INTERNAL_STATE {
            let count = traits.internal_state_count;
            return Err(bad(format!(
                "{count} numbers of internal state, but at most {MAX_INTERNAL_STATE} are possible"
            )));
        }
        let (turns, radii) = (traits.coordinates == Coordinates::Ellipsoids, model.ellipsoids());
        if radii.len() != if turns { nodes } else { 0 } {
            return Err(bad(format!("{} ellipsoids for coordinates that are {:?}", radii.len(), traits.coordinates)));
        }
        if !radii.iter().all(|r| r.is_finite() && r.min_element() > 0.0) {
            return Err(bad("the semi-axes of its nodes must be finite and above 0".into()));
        }
        if turns && traits.internal_state_count < rotation::SPAN * nodes {
            let reason = "nodes that are ellipsoids need ten numbers of internal state each";
            return Err(bad(reason.into()));
        }
        if !(traits.stable_step > 0.0) {
            return Err(bad(format!("its stable step is {} s, but must be above 0", traits.stable_step)));
        }
        Ok(model)
    }

    fn unknown(&self) -> String {
        format!("no constructor of the model '{}' is registered: load it with a registry that has one", self.name)
    }
}

impl fmt::Debug for CustomModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomModel").field("name", &self.name).field("params", &self.params).finish_non_exhaustive()
    }
}

/// Equal by name and parameters.
impl PartialEq for CustomModel {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.params) == (&other.name, &other.params)
    }
}

/// Constructors of user models by name: what a program passes to the reader of a save.
///
/// ```
/// use sinew::*;
/// let registry = ModelRegistry::default().with("jelly", |_, _| Err("not today".into()));
/// let mut jelly = SoftModel::Custom(CustomModel::unbound("jelly", []));
/// assert!(registry.bind(&mut jelly).is_ok());
/// // a name that it does not have is an error that names it
/// let mut foam = SoftModel::Custom(CustomModel::unbound("foam", []));
/// assert!(registry.bind(&mut foam).unwrap_err().to_string().contains("foam"));
/// ```
#[derive(Clone, Default)]
pub struct ModelRegistry {
    entries: Vec<(String, Arc<Constructor>)>,
}

impl ModelRegistry {
    /// Adds a constructor; the last one of a name counts.
    pub fn with(
        mut self,
        name: impl Into<String>,
        make: impl Fn(&Geometry, &[u8]) -> Result<Box<dyn Deformable>, String> + Send + Sync + 'static,
    ) -> Self {
        self.entries.push((name.into(), Arc::new(make)));
        self
    }

    /// Gives a user's model its constructor; other models are unchanged.
    pub fn bind(&self, model: &mut SoftModel) -> Result<(), crate::Error> {
        let SoftModel::Custom(custom) = model else { return Ok(()) };
        let found = self.entries.iter().rev().find(|(name, _)| *name == custom.name);
        let Some((_, make)) = found else {
            return Err(crate::Error::BadShape { shape: "soft body".into(), reason: custom.unknown() });
        };
        custom.make = Some(Arc::clone(make));
        Ok(())
    }
}

impl fmt::Debug for ModelRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|(name, _)| name)).finish()
    }
}

/// Its name and its parameters; a model that was read has no constructor.
impl Spec for CustomModel {
    fn kind(_: &Rule) -> Kind {
        Kind::Bytes
    }

    fn put(&self, to: &mut dyn Sink) {
        self.name.put(to);
        to.length(self.params.len());
        self.params.iter().for_each(|byte| to.byte(*byte));
    }

    fn take(from: &mut dyn Source) -> Option<Self> {
        let name = String::take(from)?;
        let length = from.length()?;
        let mut params = Vec::new();
        for _ in 0..length {
            params.push(from.byte()?);
        }
        Some(Self::unbound(name, params))
    }
}

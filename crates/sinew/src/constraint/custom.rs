//! User-defined constraints: a pure function from the poses of the bodies to rows, swept with all others.

use super::row::{Bounds, RowBuffer};
use super::site::{Site, Terms, View};
use super::{CUSTOM_ROWS, Kind, Traits};
use crate::error::Error;
use crate::math::{Real, Vec3};
use crate::model::{BodyId, Remap};
use crate::settings::Stabilization;
use crate::solver::soft::{Softness, soften};
use std::sync::Arc;

/// User-defined rows. `rows` is called in every substep and must depend on the view alone, so that a replay is exact.
///
/// ```
/// use sinew::*;
/// use std::sync::Arc;
///
/// /// Keeps a body's origin on the plane y = height, like a bead on a table without gravity.
/// #[derive(Debug)]
/// struct OnPlane { body: BodyId, height: Real }
/// impl Rows for OnPlane {
///     fn bodies(&self) -> Vec<BodyId> { vec![self.body] }
///     fn rows(&self, view: &View<'_>, out: &mut RowWriter<'_>) -> Result<(), Error> {
///         let site = Site::Rigid { body: self.body, local: Vec3::ZERO };
///         let error = view.position(&site)?.y - self.height;
///         out.row().push(&site, Vec3::Y)?.held(error);
///         Ok(())
///     }
/// }
/// # fn main() -> Result<(), Error> {
/// let mut world = World::new(Settings::default())?;
/// let ball = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)).velocity([1.0, 0.0, 0.0]))?;
/// world.add_custom(Arc::new(OnPlane { body: ball, height: 0.0 }))?;
/// for _ in 0..60 { world.step(&Input::none()); }
/// let p = world.body(ball)?.position();
/// assert!(p.y.abs() < 1e-3 && (p.x - 1.0).abs() < 1e-2);
/// # Ok(()) }
/// ```
pub trait Rows: Send + Sync + std::fmt::Debug {
    /// The bodies it links.
    fn bodies(&self) -> Vec<BodyId>;
    /// Writes its rows for the present state of the bodies. An error deactivates the constraint for this substep.
    fn rows(&self, view: &View<'_>, out: &mut RowWriter<'_>) -> Result<(), Error>;
    /// The same constraint after the numbers of a body changed ([`World::edit_topology`](crate::World::edit_topology)),
    /// or after its model was exchanged and its id with it; none, the default: it is removed.
    fn follow(&self, from: BodyId, to: BodyId, remap: &Remap) -> Option<Arc<dyn Rows>> {
        let _ = (from, to, remap);
        None
    }
}

/// Receives the rows of a custom constraint.
///
/// An example is at [`Rows`](crate::Rows).
#[derive(Debug)]
pub struct RowWriter<'a> {
    view: View<'a>,
    soft: Softness,
    out: &'a mut RowBuffer,
}

impl<'a> RowWriter<'a> {
    pub(crate) fn new(view: View<'a>, soft: Softness, out: &'a mut RowBuffer) -> Self {
        Self { view, soft, out }
    }

    /// Begins a row.
    pub fn row(&mut self) -> RowDraft<'_, 'a> {
        let soft = self.soft;
        RowDraft { writer: self, terms: Terms::default(), soft }
    }
}

/// A row being written: first the sites it acts on, then its law.
#[derive(Debug)]
pub struct RowDraft<'w, 'a> {
    writer: &'w mut RowWriter<'a>,
    terms: Terms,
    soft: Softness,
}

impl RowDraft<'_, '_> {
    /// Acts on a site along a direction: J there is `axis`.
    pub fn push(mut self, site: &Site, axis: Vec3) -> Result<Self, Error> {
        let place = site.resolve(self.writer.view.model)?;
        let count = self.terms.as_slice().len() + place.term_count(self.writer.view.model);
        if count > Terms::MOST {
            let reason = format!("a row on {count} blocks, at most {} are allowed", Terms::MOST);
            return Err(Error::BadConstraint { constraint: "custom row", reason });
        }
        let point = self.writer.view.point(&place);
        self.writer.view.push_terms(&place, axis, point, &mut self.terms);
        Ok(self)
    }

    /// Acts on a rigid body's spin about an axis.
    pub fn twist(mut self, body: BodyId, axis: Vec3) -> Result<Self, Error> {
        self.writer.view.model.rigid(body)?;
        self.writer.view.twist_terms(body.index, axis, &mut self.terms);
        Ok(self)
    }

    /// Replaces the stabilisation that the settings have for joints.
    pub fn stabilization(mut self, stabilization: Stabilization) -> Self {
        self.soft = soften(stabilization, self.writer.view.h);
        self
    }

    /// Keeps an error [m or rad] at zero, two-sided.
    pub fn held(self, error: Real) {
        self.within(error, Real::NEG_INFINITY, Real::INFINITY);
    }

    /// Keeps an error at zero with a force between two limits [N or N·m].
    pub fn within(self, error: Real, low: Real, high: Real) {
        let h = self.writer.view.h;
        let correction = error * self.soft.rate;
        let softness = self.soft.relative * self.terms.answer();
        let bounds = Bounds::Between { low: low * h, high: high * h };
        self.writer.out.push(self.terms.as_slice(), correction, correction, softness, bounds);
    }

    /// Keeps a gap [m or rad] from becoming negative: one-sided, the force only pushes.
    pub fn keep_open(self, gap: Real) {
        super::joint::push_limit(self.writer.out, &self.terms, gap, 1.0, self.soft, self.writer.view.h);
    }

    /// Drives J·v to a speed [m/s or rad/s] with at most this force [N or N·m].
    pub fn drive(self, speed: Real, max_force: Real) {
        let limit = max_force * self.writer.view.h;
        let bounds = Bounds::Between { low: -limit, high: limit };
        self.writer.out.push(self.terms.as_slice(), -speed, 0.0, 0.0, bounds);
    }

    /// A spring: pulls an error [m or rad] to zero with stiffness [N/m] and damping [N·s/m].
    pub fn spring(self, error: Real, stiffness: Real, damping: Real) {
        let (rate, softness) = crate::solver::soft::spring(stiffness, damping, self.writer.view.h);
        self.writer.out.push_spring(self.terms.as_slice(), error * rate, softness, Bounds::Free);
    }
}

/// User-defined rows in a world.
#[derive(Clone, Debug)]
pub(crate) struct BuiltCustom {
    pub rows: Arc<dyn Rows>,
    pub slots: Vec<u32>,
    pub nodes: bool,
}

impl Kind for BuiltCustom {
    fn traits(&self) -> Traits {
        Traits { rows: CUSTOM_ROWS, nodes: self.nodes, ..Traits::default() }
    }

    fn slots(&self, found: &mut dyn FnMut(u32)) {
        self.slots.iter().copied().for_each(found);
    }

    fn rows(&self, view: &View<'_>, joint: Softness, out: &mut RowBuffer) {
        let mut writer = RowWriter::new(*view, joint, out);
        // a custom constraint that returns an error is inactive for this substep; rows written before the error remain
        // valid
        let _ = self.rows.rows(view, &mut writer);
    }
}

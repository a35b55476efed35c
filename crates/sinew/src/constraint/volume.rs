//! The volume inside a closed surface as one row: incompressible contents, a balloon of gas, a constant pressure.
//!
//! With V = ⅙ Σ a·(b × c) over the triangles and J = ∂V/∂x, a row of impulse λ [Pa·s] exerts the pressure p = λ/h on
//! the area associated with each node. So its force is the pressure, and the law of a gas is a soft row. From p(V) at
//! the start of the substep and k = −dp/dV, implicit Euler requires λ/h = p − k h J·v, which is
//!
//! ```text
//!   J·v + λ/(h² k) − p/(h k) = 0
//! ```
//!
//! This is why the gas is a row and not an external force: an explicit force is unstable for a small balloon of light
//! nodes at high pressure, and its compliance would be missing in the contact solve. A constant pressure is the row
//! with both bounds at p h.
//!
//! Volumes are computed relative to one of the nodes, to avoid cancellation far from the origin.

use super::row::{Bounds, RowBuffer, Term, Wish};
use super::site::{View, check_surfels};
use super::{Kind, Traits};
use crate::error::{Error, check, finite, not_negative, positive};
use crate::math::{Real, Vec3};
use crate::model::{BodyId, Nodes};
use crate::solver::soft::Softness;
use sinew_spec::{ANY, FINITE, NOT_NEGATIVE, POSITIVE, choice, record};

/// The contents.
///
/// An example is at [`Volume`](crate::Volume).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VolumeLaw {
    /// A prescribed volume.
    Held {
        /// Volume [m³]; none: as it is when the constraint is added.
        volume: Option<Real>,
        /// Compliance [m³/Pa]; 0: incompressible.
        compliance: Real,
    },
    /// An ideal gas of constant temperature: (p + outside) V is constant, with its value at `volume`.
    Gas {
        /// Pressure above the outside at `volume` [Pa].
        pressure: Real,
        /// Volume [m³]; none: as it is when the constraint is added.
        volume: Option<Real>,
        /// Pressure outside [Pa].
        outside: Real,
    },
    /// A constant pressure above the outside [Pa].
    Pressure(Real),
}

/// The volume inside a closed surface of a body. One row; its force is the pressure [Pa].
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() })?;
/// let skin = TriMesh::ball(0.1, 6)?;
/// let pairs = skin.edges();
/// let params = spring::Params::default();
/// let body = world.add_soft(SoftBody::new(Geometry::Sheet(skin), SoftModel::Springs(params)))?;
/// world.add_distance_set(DistanceSet::new(body, pairs))?;
/// let air = world.add_volume(Volume::pressure(body, 5.0))?;
/// for _ in 0..10 {
///     world.step(&Input::none());
/// }
/// assert!((world.row_forces(air)?[0] - 5.0).abs() < 1e-3);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Volume {
    /// The body.
    pub body: BodyId,
    /// Triangles over its surface points; empty: its whole surface. They must form a closed surface, oriented outward.
    pub triangles: Vec<[u32; 3]>,
    /// The contents.
    pub law: VolumeLaw,
    /// It bursts above this pressure [Pa] and is then inactive.
    pub burst: Real,
}

impl Volume {
    /// The whole surface of a body with the given contents.
    pub fn new(body: BodyId, law: VolumeLaw) -> Self {
        Self { body, triangles: Vec::new(), law, burst: Real::INFINITY }
    }

    /// Conserves the present volume.
    pub fn held(body: BodyId) -> Self {
        Self::new(body, VolumeLaw::Held { volume: None, compliance: 0.0 })
    }

    /// A gas that has `pressure` above `outside` [Pa] at the present volume.
    pub fn gas(body: BodyId, pressure: Real, outside: Real) -> Self {
        Self::new(body, VolumeLaw::Gas { pressure, volume: None, outside })
    }

    /// A constant pressure above the outside [Pa].
    pub fn pressure(body: BodyId, pressure: Real) -> Self {
        Self::new(body, VolumeLaw::Pressure(pressure))
    }

    /// Part of the body's surface: triangles over its surface points.
    pub fn triangles(mut self, triangles: impl Into<Vec<[u32; 3]>>) -> Self {
        self.triangles = triangles.into();
        self
    }

    /// Bursts above this pressure [Pa].
    pub fn burst(mut self, pressure: Real) -> Self {
        self.burst = pressure;
        self
    }

    pub(crate) fn build(&self, view: &View<'_>) -> Result<BuiltVolume, Error> {
        let bad = |reason: &str| Error::BadConstraint { constraint: "volume", reason: reason.to_owned() };
        let nodes = view.model.nodes(self.body)?;
        super::site::check_lumped("volume", nodes)?;
        check("volume.burst", self.burst, self.burst > 0.0, "above 0 (infinity: never bursts)")?;
        let mut source = self.clone();
        if source.triangles.is_empty() {
            source.triangles = nodes.surface.triangles().to_vec();
        }
        let mesh = crate::TriMesh { vertices: Vec::new(), triangles: source.triangles.clone() };
        if !mesh.is_closed() {
            return Err(bad("its triangles are not a closed surface"));
        }
        let mut built = BuiltVolume { slot: self.body.index, nodes: Vec::new(), source };
        built.list_nodes(nodes)?;
        let now = built.volume(view, nodes);
        match &mut built.source.law {
            VolumeLaw::Held { volume, compliance } => {
                positive("volume.volume", *volume.get_or_insert(now))?;
                not_negative("volume.compliance", *compliance)?;
            }
            VolumeLaw::Gas { pressure, volume, outside } => {
                positive("volume.volume", *volume.get_or_insert(now))?;
                not_negative("volume.outside", *outside)?;
                finite("volume.pressure", *pressure)?;
                positive("volume.pressure + volume.outside", *pressure + *outside)?;
            }
            VolumeLaw::Pressure(pressure) => finite("volume.pressure", *pressure)?,
        }
        Ok(built)
    }
}

/// A volume constraint in the form used by the step.
#[derive(Clone, Debug)]
pub(crate) struct BuiltVolume {
    pub slot: u32,
    /// Nodes that determine the surface, ascending.
    nodes: Vec<u32>,
    pub source: Volume,
}

impl BuiltVolume {
    fn list_nodes(&mut self, nodes: &Nodes) -> Result<(), Error> {
        for triangle in &self.source.triangles {
            check_surfels(nodes, triangle)?;
            for &surfel in triangle {
                self.nodes.extend(nodes.surface.shares(surfel).iter().map(|s| s.node));
            }
        }
        self.nodes.sort_unstable();
        self.nodes.dedup();
        Ok(())
    }

    /// Corners of a triangle, relative to the first node [m].
    fn corners(&self, triangle: [u32; 3], view: &View<'_>, nodes: &Nodes) -> [Vec3; 3] {
        let first = view.node_block(self.slot, 0) as usize;
        let x = &view.pose[first..first + nodes.inv_mass.len()];
        let origin = view.node(self.slot, self.nodes[0]);
        triangle.map(|surfel| nodes.surface.position(surfel, x) - origin)
    }

    /// Volume inside [m³].
    fn volume(&self, view: &View<'_>, nodes: &Nodes) -> Real {
        let sum = self.source.triangles.iter().fold(0.0, |sum, &t| {
            let [a, b, c] = self.corners(t, view, nodes);
            sum + a.dot(b.cross(c))
        });
        sum / 6.0
    }

    /// One row.
    pub fn rows(&self, view: &View<'_>, soft: Softness, out: &mut RowBuffer) {
        let Some(nodes) = view.model.nodes_at(self.slot) else { return };
        let first = view.node_block(self.slot, 0);
        for &node in &self.nodes {
            out.add_term(Term { block: first + node, jacobian: Vec3::ZERO, response: Vec3::ZERO });
        }
        let terms = out.open_terms();
        let mut volume = 0.0;
        for &triangle in &self.source.triangles {
            let [a, b, c] = self.corners(triangle, view, nodes);
            volume += a.dot(b.cross(c)) / 6.0;
            for (&surfel, area) in triangle.iter().zip([b.cross(c), c.cross(a), a.cross(b)]) {
                for share in nodes.surface.shares(surfel) {
                    if let Ok(at) = self.nodes.binary_search(&share.node) {
                        terms[at].jacobian += area * (share.weight / 6.0);
                    }
                }
            }
        }
        for term in terms {
            term.response = term.jacobian * view.velocity[term.block as usize][3];
        }
        let (wish, bounds) = self.wish(volume, view.h, soft);
        out.close(wish, bounds);
    }

    fn wish(&self, now: Real, h: Real, soft: Softness) -> (Wish, Bounds) {
        match self.source.law {
            VolumeLaw::Held { volume, compliance } => {
                let error = now - volume.unwrap_or(now);
                if compliance > 0.0 {
                    (Wish::Spring(error, 1.0 / compliance, 0.0, h), Bounds::Free)
                } else {
                    (Wish::Held(error, 0.0, soft), Bounds::Free)
                }
            }
            VolumeLaw::Gas { pressure, volume, outside } => {
                let rest = volume.unwrap_or(now);
                // the gas law has no finite pressure at or below zero volume: the volume is clamped to a thousandth of
                // its rest value
                let now = now.max(1e-3 * rest);
                let inside = (pressure + outside) * rest / now;
                let k = inside / now;
                (Wish::Law((outside - inside) / (h * k), 1.0 / (h * h * k)), Bounds::AtLeast(-outside * h))
            }
            VolumeLaw::Pressure(p) => (Wish::Law(0.0, 0.0), Bounds::Between { low: p * h, high: p * h }),
        }
    }
}

choice!(VolumeLaw, "filling", "What is inside a closed surface.", {
    "held" => Held, "A prescribed volume.", {
        volume volume: Option<Real>, POSITIVE => None, "Volume [m³]; without: as at the start.";
        compliance compliance: Real, NOT_NEGATIVE => 0.0, "Compliance [m³/Pa].";
    };
    "gas" => Gas, "A gas of constant temperature.", {
        pressure pressure: Real, FINITE, "Pressure above the outside at the volume [Pa].";
        volume volume: Option<Real>, POSITIVE => None, "Volume [m³]; without: as at the start.";
        outside outside: Real, NOT_NEGATIVE => 101_325.0, "Pressure outside [Pa].";
    };
    "pressure" => Pressure, "A constant pressure.", { 0 pressure: Real, FINITE, "Pressure above the outside [Pa]."; };
});

// The order of the fields is that of saves: new ones are appended.
record!(Volume, "volume", "Holds the volume inside a body's surface, or fills it with gas.",
    Volume::new(BodyId::NONE, VolumeLaw::Held { volume: None, compliance: 0.0 }), {
    body [required]: ANY, "Which body.";
    triangles: ANY, "Triangles over its surface points; without: its whole surface.";
    law as inside: ANY, "Pressure law; without: the initial volume is kept.";
    burst: POSITIVE.or_infinite(), "Bursts above this pressure [Pa].";
});

impl Kind for BuiltVolume {
    fn traits(&self) -> Traits {
        Traits {
            rows: 1,
            internal: true,
            nodes: true,
            wide: true,
            resultant: false,
            break_force: self.source.burst,
            ..Traits::default()
        }
    }

    fn slots(&self, found: &mut dyn FnMut(u32)) {
        found(self.slot);
    }

    fn rows(&self, view: &View<'_>, joint: Softness, out: &mut RowBuffer) {
        BuiltVolume::rows(self, view, joint, out);
    }

    /// Only positive pressure bursts.
    fn strain(&self, _: Vec3, rows: &[Real]) -> Real {
        rows.iter().copied().fold(0.0, Real::max)
    }
}

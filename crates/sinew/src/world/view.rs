//! Read access to a body.

use crate::deformable::rotation;
use crate::error::Error;
use crate::math::{Pose, Quat, Real, Vec3};
use crate::model::particle_skin::ParticleSkin;
use crate::model::surface::Surface;
use crate::model::{Body, BodyId, Motion, Nodes, SurfaceMaterial};
use crate::state::State;

/// The present state of a body.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let brick = RigidBody::dynamic().shape(Shape::cuboid(0.1, 0.05, 0.05)).mass(2.0).named("brick");
/// let brick = world.add_rigid(brick.velocity([3.0, 0.0, 0.0]))?;
/// let view: BodyView<'_> = world.body(brick)?;
/// assert_eq!((view.name(), view.mass(), view.is_rigid(), view.is_asleep()), ("brick", 2.0, true, false));
/// assert_eq!(view.kinetic_energy(), 9.0);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BodyView<'a> {
    pub(crate) id: BodyId,
    pub(crate) body: &'a Body,
    pub(crate) state: &'a State,
    pub(crate) reaction: Vec3,
}

impl<'a> BodyView<'a> {
    /// Its id.
    pub fn id(&self) -> BodyId {
        self.id
    }

    /// Number of its topology: changes when nodes, elements or surface cells are appended, removed or renumbered. Data
    /// derived from the numbering are valid as long as id and number are the same. 0 for a rigid body and for a body
    /// that was just added or loaded.
    pub fn topology(&self) -> u32 {
        match self.body {
            Body::Rigid(_) => 0,
            Body::Nodes(n) => n.topology,
        }
    }

    /// Its name, empty when it has none.
    pub fn name(&self) -> &'a str {
        match self.body {
            Body::Rigid(r) => &r.source.name,
            Body::Nodes(n) => &n.traits.name,
        }
    }

    /// Surface material of its first shape, or of its nodes; none without shapes.
    pub fn material(&self) -> Option<&'a SurfaceMaterial> {
        match self.body {
            Body::Rigid(r) => r.source.colliders.first().map(|c| &c.material),
            Body::Nodes(n) => Some(&n.traits.material),
        }
    }

    /// Dynamic, kinematic or fixed; nodes are dynamic.
    pub fn motion(&self) -> Motion {
        match self.body {
            Body::Rigid(r) => r.motion,
            Body::Nodes(_) => Motion::Dynamic,
        }
    }

    /// True for rigid bodies.
    pub fn is_rigid(&self) -> bool {
        matches!(self.body, Body::Rigid(_))
    }

    /// Pose of the origin of a rigid body.
    pub fn pose(&self) -> Result<Pose, Error> {
        match self.body {
            Body::Rigid(r) => Ok(r.origin(self.state.x[self.slot()], self.state.q[self.slot()])),
            Body::Nodes(_) => Err(Error::WrongKind(self.id, "set of nodes", "rigid body")),
        }
    }

    /// Origin of a rigid body, centre of mass of nodes [m].
    pub fn position(&self) -> Vec3 {
        match self.body {
            Body::Rigid(r) => r.origin(self.state.x[self.slot()], self.state.q[self.slot()]).position,
            Body::Nodes(_) => self.center_of_mass(),
        }
    }

    /// Orientation; identity for nodes.
    pub fn rotation(&self) -> Quat {
        self.state.q[self.slot()]
    }

    /// Centre of mass [m].
    pub fn center_of_mass(&self) -> Vec3 {
        match self.body {
            Body::Rigid(_) => self.state.x[self.slot()],
            Body::Nodes(n) => weighted(&n.inv_mass, &self.state.node_x[n.span()]),
        }
    }

    /// Velocity of the centre of mass [m/s].
    pub fn velocity(&self) -> Vec3 {
        match self.body {
            Body::Rigid(_) => self.state.v[self.slot()],
            Body::Nodes(n) => weighted(&n.inv_mass, &self.state.node_v[n.span()]),
        }
    }

    /// Angular velocity of a rigid body, world axes [rad/s].
    pub fn spin(&self) -> Vec3 {
        self.state.w[self.slot()]
    }

    /// Mass [kg]; 0 for fixed and kinematic bodies.
    pub fn mass(&self) -> Real {
        match self.body {
            Body::Rigid(r) => r.mass,
            Body::Nodes(n) => n.inv_mass.iter().filter(|m| **m > 0.0).map(|m| 1.0 / m).sum(),
        }
    }

    /// Angular momentum about the centre of mass [kg·m²/s]. Nodes that are pinned count as no mass, as in [`Self::mass`].
    pub fn angular_momentum(&self) -> Vec3 {
        match self.body {
            Body::Rigid(r) => {
                let q = self.state.q[self.slot()];
                q * r.inertia.mul(q.inverse() * self.spin())
            }
            Body::Nodes(n) => self.node_motion(n).1,
        }
    }

    /// Kinetic energy [J]: of translation and rotation of a rigid body, of all nodes of others. Nodes that are pinned count
    /// as no mass.
    pub fn kinetic_energy(&self) -> Real {
        match self.body {
            Body::Rigid(_) => {
                0.5 * (self.mass() * self.velocity().length_squared() + self.spin().dot(self.angular_momentum()))
            }
            Body::Nodes(n) => self.node_motion(n).0,
        }
    }

    /// Kinetic energy [J] and angular momentum about the centre of mass [kg·m²/s] of a body of nodes, the rotation of
    /// ellipsoidal nodes included.
    fn node_motion(&self, nodes: &Nodes) -> (Real, Vec3) {
        let (centre, mean) = (self.center_of_mass(), self.velocity());
        let internal = &self.state.internal_state[nodes.internal_state_span()];
        let (mut energy, mut momentum) = (0.0, Vec3::ZERO);
        let motion = self.state.node_x[nodes.span()].iter().zip(&self.state.node_v[nodes.span()]);
        for (node, (x, v)) in motion.enumerate().filter(|(node, _)| nodes.inv_mass[*node] > 0.0) {
            let mass = nodes.mass[node];
            energy += 0.5 * mass * v.length_squared();
            momentum += (*x - centre).cross(*v - mean) * mass;
            if let Some(&radii) = nodes.radii.get(node) {
                let (own_energy, own_momentum) = rotation::rotation_of(internal, node, mass, radii);
                (energy, momentum) = (energy + own_energy, momentum + own_momentum);
            }
        }
        (energy, momentum)
    }

    /// Force of its pinned nodes and pinned axes on the body [N]: what its supports carry, the weight of pinned nodes
    /// included. Mean over the last step in which it was awake; zero for a body without supports.
    ///
    /// ```
    /// use sinew::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let points = Polyline::rope(Vec3::ZERO, Vec3::NEG_Y, 10)?.points;
    /// let cord = pbd::Cord { stretch: 1e4, bend: 0.0, density: 0.1, compression: 1.0 };
    /// let rope = SoftModel::Pbd(pbd::Structure::Cord(cord), pbd::Params::default());
    /// let mut world = World::default();
    /// let rope = world.add_soft(SoftBody::new(Geometry::Rope(points), rope).pinned([0]).damping(10.0))?;
    /// for _ in 0..300 {
    ///     world.step(&Input::none());
    /// }
    /// let rope = world.body(rope)?;
    /// let weight = 9.81 * rope.node_masses().iter().sum::<Real>();
    /// assert!((rope.reaction().y - weight).abs() < 0.01 * weight);
    /// # Ok(()) }
    /// ```
    pub fn reaction(&self) -> Vec3 {
        self.reaction
    }

    /// Range of its nodes in the node columns of [`State`]; empty for rigid bodies.
    pub fn node_span(&self) -> std::ops::Range<usize> {
        match self.body {
            Body::Rigid(_) => 0..0,
            Body::Nodes(n) => n.span(),
        }
    }

    /// Positions of the nodes [m]; empty for rigid bodies.
    pub fn node_positions(&self) -> &'a [Vec3] {
        match self.body {
            Body::Rigid(_) => &[],
            Body::Nodes(n) => &self.state.node_x[n.span()],
        }
    }

    /// Velocities of the nodes [m/s]; empty for rigid bodies.
    pub fn node_velocities(&self) -> &'a [Vec3] {
        match self.body {
            Body::Rigid(_) => &[],
            Body::Nodes(n) => &self.state.node_v[n.span()],
        }
    }

    /// Semi-axes of ellipsoidal nodes (oriented particles) [m]; empty for all other bodies.
    pub fn particle_radii(&self) -> &'a [Vec3] {
        match self.body {
            Body::Rigid(_) => &[],
            Body::Nodes(n) => &n.radii,
        }
    }

    /// Orientation of an ellipsoidal node; none for other bodies and particles that do not exist.
    pub fn particle_rotation(&self, node: u32) -> Option<Quat> {
        Some(rotation::orientation(self.particle_memory(node)?, node as usize))
    }

    /// Angular velocity of an ellipsoidal node, world axes [rad/s]; none where there is no such particle.
    pub fn particle_spin(&self, node: u32) -> Option<Vec3> {
        Some(rotation::spin(self.particle_memory(node)?, node as usize))
    }

    /// The surface mesh (skin) of a body of ellipsoidal nodes; the present positions of its vertices are written to
    /// `out` [m].
    pub fn particle_skin(&self, out: &mut Vec<Vec3>) -> Option<&'a ParticleSkin> {
        let Body::Nodes(n) = self.body else { return None };
        let skin = n.skin.as_deref()?;
        skin.positions_in(&self.state.node_x[n.span()], &self.state.internal_state[n.internal_state_span()], out);
        Some(skin)
    }

    fn particle_memory(&self, node: u32) -> Option<&'a [Real]> {
        match self.body {
            Body::Nodes(n) if (node as usize) < n.radii.len() => {
                Some(&self.state.internal_state[n.internal_state_span()])
            }
            _ => None,
        }
    }

    /// Masses of the nodes, including pinned ones [kg]; empty for rigid bodies.
    pub fn node_masses(&self) -> &'a [Real] {
        match self.body {
            Body::Rigid(_) => &[],
            Body::Nodes(n) => &n.mass,
        }
    }

    /// Surface of a body with nodes; none for rigid bodies.
    pub fn surface(&self) -> Option<&'a Surface> {
        match self.body {
            Body::Rigid(_) => None,
            Body::Nodes(n) => Some(&n.surface),
        }
    }

    /// Contact distance of the surface points [m]; none for rigid bodies and for nodes without contacts.
    pub fn node_radius(&self) -> Option<Real> {
        match self.body {
            Body::Nodes(n) if n.touches() => Some(n.traits.radius),
            _ => None,
        }
    }

    /// True for deformable bodies.
    pub fn is_soft(&self) -> bool {
        matches!(self.body, Body::Nodes(n) if n.is_soft())
    }

    /// Position of a surface point [m]; none for rigid bodies and points that do not exist.
    pub fn surface_point(&self, surfel: u32) -> Option<Vec3> {
        let Body::Nodes(n) = self.body else { return None };
        if surfel as usize >= n.surface.len() {
            return None;
        }
        let x = &self.state.node_x[n.span()];
        Some(n.surface.shares(surfel).iter().fold(Vec3::ZERO, |sum, s| sum + x[s.node as usize] * s.weight))
    }

    /// True when it is sleeping.
    pub fn is_asleep(&self) -> bool {
        self.state.is_asleep(self.slot())
    }

    /// True when a fault has frozen it.
    pub fn is_frozen(&self) -> bool {
        self.state.is_frozen(self.slot())
    }

    /// Shapes with their poses relative to the body's origin; empty for nodes.
    pub fn shapes(&self) -> impl Iterator<Item = (Pose, &'a crate::model::Shape)> {
        let colliders = match self.body {
            Body::Rigid(r) => r.source.colliders.as_slice(),
            Body::Nodes(_) => &[],
        };
        colliders.iter().map(|c| (c.place, &c.shape))
    }

    fn slot(&self) -> usize {
        self.id.index as usize
    }
}

/// Mass-weighted mean; the arithmetic mean when all nodes are pinned.
fn weighted(inv_mass: &[Real], values: &[Vec3]) -> Vec3 {
    let (mut sum, mut total) = (Vec3::ZERO, 0.0);
    for (&m, &v) in inv_mass.iter().zip(values) {
        if m > 0.0 {
            sum += v / m;
            total += 1.0 / m;
        }
    }
    if total > 0.0 { sum / total } else { values.iter().copied().sum::<Vec3>() / values.len().max(1) as Real }
}

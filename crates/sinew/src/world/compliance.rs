//! Compliance queries: displacements that forces on sites would cause, without a step.

use super::World;
use crate::constraint::Site;
use crate::error::{Error, check, count, finite_vec};
use crate::island::compliance::{ComplianceWork, Effect, Load, Present, Scope};
use crate::math::{Real, Vec3};
use crate::solver::implicit::Effort;

/// Largest component of a force [N] or direction: the squares of impulses of the longest time remain finite in f32.
const MAX_VECTOR: Real = 1e12;

/// A force at a site. A force of zero reads the response of the site to the others.
///
/// An example is at [`ComplianceScratch`](crate::ComplianceScratch).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteForce {
    /// Where it acts.
    pub site: Site,
    /// Force, world axes [N].
    pub force: Vec3,
}

/// A direction at a site.
///
/// An example is at [`ComplianceScratch`](crate::ComplianceScratch).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteDirection {
    /// Which point.
    pub site: Site,
    /// World axes. A unit vector gives entries in m/N; it is not normalised.
    pub direction: Vec3,
}

/// Response of a site to all forces of a query, in addition to its motion without them.
///
/// An example is at [`ComplianceScratch`](crate::ComplianceScratch).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SiteResponse {
    /// Displacement at the end of the step [m]: the velocity change times the step.
    pub displacement: Vec3,
    /// Velocity change at the end of the step [m/s].
    pub velocity: Vec3,
}

/// What a compliance query includes, and how accurate it is.
///
/// ```
/// use sinew::*;
/// // the static compliance of a body held by pins: forces that act for so long that inertia does not count
/// let rest = ComplianceOptions { time: Some(100.0), iterations: 400, tolerance: 1e-5, ..Default::default() };
/// assert!(rest.constraints && rest.contacts);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComplianceOptions {
    /// Time for which the forces act [s]: one step of implicit Euler of this length. None: `Settings::dt`. Long times give
    /// the static compliance of bodies that are held.
    pub time: Option<Real>,
    /// Maximum number of iterations of a solve. Fewer: the answer is too stiff, never too compliant
    /// (`docs/compliance.md` has the error). Default 30.
    pub iterations: u32,
    /// Relative residual at which a solve ends earlier, from 0 to below 1. Default 1e-3.
    pub tolerance: Real,
    /// Joints, attachments and all other constraints act. Default true.
    pub constraints: bool,
    /// Contacts that pushed in the last step act: they push and pull, and hold tangentially if they stick. Default true.
    pub contacts: bool,
}

impl Default for ComplianceOptions {
    fn default() -> Self {
        Self { time: None, iterations: 30, tolerance: 1e-3, constraints: true, contacts: true }
    }
}

impl ComplianceOptions {
    fn scope(&self, dt: Real) -> Result<Scope, Error> {
        let time = self.time.unwrap_or(dt);
        check("options.time", time, (1e-9..=1e6).contains(&time), "from 1e-9 to 1e6 [s]")?;
        count("options.iterations", self.iterations, 1..=100_000, "from 1 to 100000")?;
        let tolerance = self.tolerance;
        check("options.tolerance", tolerance, (0.0..1.0).contains(&tolerance), "from 0 to below 1")?;
        let effort = Effort { iterations: self.iterations, tolerance };
        Ok(Scope { time, constraints: self.constraints, contacts: self.contacts, effort })
    }
}

/// Accuracy and size of a compliance query.
///
/// An example is at [`ComplianceScratch`](crate::ComplianceScratch).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ComplianceReport {
    /// Iterations of all solves.
    pub iterations: u32,
    /// Relative residual, the largest of all solves.
    pub residual: Real,
    /// Bodies that respond.
    pub bodies: u32,
    /// Rows of constraints and contacts that act.
    pub rows: u32,
    /// Largest difference of opposite entries of a matrix as solved, relative to √(C_ii C_jj): an estimate of the error of
    /// a single solve. 0 for a single response.
    pub asymmetry: Real,
}

impl From<Effect> for ComplianceReport {
    fn from(effect: Effect) -> Self {
        let Effect { iterations, residual, bodies, rows, asymmetry } = effect;
        Self { iterations, residual, bodies, rows, asymmetry }
    }
}

/// Memory of compliance queries, kept by the caller from query to query: deformable models with their matrices at the
/// last state, and the vectors of the solve. A query with the memory of the one before allocates nothing, and builds a
/// matrix only for bodies whose state changed. Memory that was used with another world is emptied.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mut world = World::default();
/// let ball = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)).mass(2.0))?;
/// let site = Site::Rigid { body: ball, local: Vec3::ZERO };
/// let (mut scratch, mut out, mut matrix) = (ComplianceScratch::default(), Vec::new(), Vec::new());
/// let options = ComplianceOptions::default();
/// for _ in 0..3 {
///     world.step(&Input::none());
///     let report: ComplianceReport =
///         world.compliance(&[SiteForce { site, force: Vec3::X }], &options, &mut scratch, &mut out)?;
///     let direction = SiteDirection { site, direction: Vec3::X };
///     world.compliance_matrix(&[direction], &options, &mut scratch, &mut matrix)?;
///     let SiteResponse { displacement, .. } = out[0];
///     assert!((displacement.x - matrix[0]).abs() < 1e-6 * matrix[0] && report.bodies == 1);
/// }
/// # Ok(()) }
/// ```
#[derive(Debug, Default)]
pub struct ComplianceScratch {
    work: ComplianceWork,
    loads: Vec<Load>,
    velocities: Vec<Vec3>,
}

impl ComplianceScratch {
    /// Checks sites and vectors.
    fn resolve(
        &mut self,
        world: &World,
        what: &'static str,
        list: impl Iterator<Item = (Site, Vec3)>,
    ) -> Result<(), Error> {
        self.loads.clear();
        for (k, (site, vector)) in list.enumerate() {
            let size = vector.abs().max_element();
            // the names are formatted for bad vectors only: a query allocates nothing
            if !vector.is_finite() || size > MAX_VECTOR {
                let name = what.replace('#', &k.to_string());
                finite_vec(&name, vector)?;
                check(&name, size, false, "at most 1e12")?;
            }
            self.loads.push((site.resolve(&world.model)?, vector));
        }
        Ok(())
    }
}

impl World {
    /// Displacements and velocity changes of sites, to first order, when these forces act on them in addition for one
    /// step, into `out`, one for each force. The world does not change, and the answer depends on model, state and settings
    /// alone.
    ///
    /// - Deformable bodies with an implicit form: one solve A Δv = h f from a zero start, A the matrix of linearly implicit
    ///   Euler at the present state. Bodies that steps integrate by sweeps or explicitly respond with this form too, which
    ///   is an approximation of their steps.
    /// - Rigid bodies: inverse mass and inertia at the present orientation.
    /// - Particles, and models without an implicit form (position based sheets and ropes): the mass of each node by
    ///   itself, h f/m.
    /// - Fixed, kinematic and frozen bodies and pinned nodes do not respond. Bodies that sleep respond as if awake.
    ///
    /// Bodies that are linked by constraints and contacts respond together (`docs/compliance.md`).
    ///
    /// ```
    /// use sinew::*;
    /// # fn main() -> Result<(), Error> {
    /// let mut world = World::default();
    /// let ball = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.1)).mass(2.0))?;
    /// let forces = [SiteForce { site: Site::Rigid { body: ball, local: Vec3::ZERO }, force: Vec3::X * 3.0 }];
    /// let (mut scratch, mut out) = (ComplianceScratch::default(), Vec::new());
    /// let report = world.compliance(&forces, &ComplianceOptions::default(), &mut scratch, &mut out)?;
    /// let SiteResponse { displacement, velocity } = out[0];
    /// let h = world.settings().dt;
    /// assert!((velocity.x - h * 3.0 / 2.0).abs() < 1e-6 && (displacement.x - h * velocity.x).abs() < 1e-9);
    /// assert_eq!((report.bodies, report.rows), (1, 0));
    /// // a point that no force acts on: the torque of the first turns the ball below it
    /// let top = Site::Rigid { body: ball, local: Vec3::Y * 0.1 };
    /// let below = Site::Rigid { body: ball, local: Vec3::Y * -0.1 };
    /// let forces = [SiteForce { site: top, force: Vec3::X }, SiteForce { site: below, force: Vec3::ZERO }];
    /// world.compliance(&forces, &ComplianceOptions::default(), &mut scratch, &mut out)?;
    /// assert!(out[0].displacement.x > 0.0 && out[1].displacement.x < 0.0);
    /// # Ok(()) }
    /// ```
    pub fn compliance(
        &self,
        forces: &[SiteForce],
        options: &ComplianceOptions,
        scratch: &mut ComplianceScratch,
        out: &mut Vec<SiteResponse>,
    ) -> Result<ComplianceReport, Error> {
        out.clear();
        let scope = options.scope(self.settings.dt)?;
        scratch.resolve(self, "forces[#].force", forces.iter().map(|f| (f.site, f.force)))?;
        let ComplianceScratch { work, loads, velocities } = scratch;
        let effect = work.velocities(self.present(), scope, loads, velocities);
        let response = |&velocity| SiteResponse { displacement: velocity * scope.time, velocity };
        out.extend(velocities.iter().map(response));
        Ok(effect.into())
    }

    /// The compliance matrix of sites along directions, row by row into `out` [m/N]: entry i n + j is the displacement of
    /// site i along its direction per unit force on site j along its own. One solve for each site, as in
    /// [`World::compliance`].
    ///
    /// The entries are b_iᵀv_j + v_iᵀr_j with the residual r_j of each solve: symmetric, and of twice as many digits as a
    /// single solve. Memory: two vectors of all blocks for each site.
    ///
    /// ```
    /// use sinew::*;
    /// # fn main() -> Result<(), Error> {
    /// let mut world = World::default();
    /// let block = TetMesh::block([4, 2, 2], Vec3::new(0.2, 0.1, 0.1))?;
    /// let jelly = SoftBody::corotational(block, ElasticMaterial::jelly()).pin_region([-1.0; 3], [-0.099, 1.0, 1.0]);
    /// let jelly = world.add_soft(jelly)?;
    /// // two corners of the free end, both pushed down
    /// let nodes = world.body(jelly)?.node_positions();
    /// let corners: Vec<u32> = (0..nodes.len() as u32).filter(|&k| nodes[k as usize].x > 0.099).collect();
    /// let direction = Vec3::NEG_Y;
    /// let sites = [corners[0], corners[1]].map(|node| SiteDirection { site: Site::Node { body: jelly, node }, direction });
    /// let (mut scratch, mut matrix) = (ComplianceScratch::default(), Vec::new());
    /// let report = world.compliance_matrix(&sites, &ComplianceOptions::default(), &mut scratch, &mut matrix)?;
    /// let [c00, c01, c10, c11] = [matrix[0], matrix[1], matrix[2], matrix[3]];
    /// assert!(c00 > 0.0 && c11 > 0.0 && c01 == c10 && c00 * c11 > c01 * c10);
    /// assert!(report.asymmetry < 0.01, "{report:?}");
    /// # Ok(()) }
    /// ```
    pub fn compliance_matrix(
        &self,
        sites: &[SiteDirection],
        options: &ComplianceOptions,
        scratch: &mut ComplianceScratch,
        out: &mut Vec<Real>,
    ) -> Result<ComplianceReport, Error> {
        out.clear();
        let scope = options.scope(self.settings.dt)?;
        scratch.resolve(self, "sites[#].direction", sites.iter().map(|s| (s.site, s.direction)))?;
        Ok(scratch.work.matrix(self.present(), scope, &scratch.loads, out).into())
    }

    fn present(&self) -> Present<'_> {
        Present { model: &self.model, state: &self.state, settings: &self.settings, world: self.identity }
    }
}

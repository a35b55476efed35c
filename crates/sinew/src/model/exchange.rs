//! Exchange of the deformable model under a surface at run time (FC 3.2, 3.3): the state of the old nodes becomes that
//! of the new ones.
//!
//! ```text
//!   1. x⁰_n = Σ_j N_nj x_j, v⁰ likewise: weights of first order of the new rest positions over the old ones
//!   2. min Σ_s |x_s(new) − x_s(old)|² + μ Σ_n |x_n − x⁰_n|²: the skin keeps its shape where both have one
//!   3. x shifted so that the centre of mass is preserved
//!   4. v = v_c + ω × r + s (v⁰ less its rigid part): v_c and ω from the old linear and angular momentum, 0 ≤ s ≤ 1 so
//!      that the kinetic energy does not grow
//! ```
//!
//! Affine motion is preserved exactly by 1. Linear and angular momentum are always conserved; the energy of the rigid
//! part is then determined, and grows only when the new mass is smaller or lies nearer to the centre: see
//! [`Exchange::kinetic`]. Elastic energy is that of the new model at the new positions; a stiffer model has more in the
//! same shape.

use super::surface::{BindError, BindOptions, Surface, Weights, meshless_weights};
use super::topology::{LostConstraints, Remap};
use crate::math::{Block, Real, Vec3, Wide3, WideMat3, narrow, vec, wide_outer, wide_pseudo_inverse, widen};

/// Iterations of the least-squares fit of the skin.
const FIT_STEPS: usize = 60;
/// μ of the fit relative to the mean diagonal of its matrix: regularises nodes on which the skin does not depend.
const FIT_HOLD: f64 = 1e-3;
/// Ratio of an eigenvalue of the inertia to the largest below which a body is a line and has no angular velocity about
/// it.
const LINE: f64 = 1e-9;

/// The body that is replaced.
///
/// An example is at [`Exchange`](crate::Exchange).
#[derive(Clone, Copy, Debug)]
pub struct SourceState<'a> {
    /// Rest positions. (old_count) [m]
    pub rest: &'a [Vec3],
    /// Masses. (old_count) [kg]
    pub masses: &'a [Real],
    /// Positions. (old_count) [m]
    pub x: &'a [Block],
    /// Velocities. (old_count) [m/s]
    pub v: &'a [Block],
    /// The skin, bound to these nodes.
    pub surface: Option<&'a Surface>,
}

/// The body that replaces it, in the same rest frame.
///
/// An example is at [`Exchange`](crate::Exchange).
#[derive(Clone, Copy, Debug)]
pub struct TargetBody<'a> {
    /// Rest positions. (new_count) [m]
    pub rest: &'a [Vec3],
    /// Masses. (new_count) [kg]
    pub masses: &'a [Real],
    /// The same skin, bound to these nodes: with the same surfels, in the same order, as that of the leaving body.
    pub surface: Option<&'a Surface>,
}

/// State of the new nodes, and quality of the exchange.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// let mesh = TetMesh::block([2, 2, 2], Vec3::splat(0.1))?;
/// let mut world = World::default();
/// let soft = world.add_soft(SoftBody::corotational(mesh.clone(), ElasticMaterial::jelly()).velocity([0.0, 1.0, 0.0]))?;
/// // while it moves it becomes another model; momentum stays
/// let params = fem::SolidParams { density: ElasticMaterial::jelly().density, ..fem::SolidParams::default() };
/// let (stiff, exchange) = world.exchange_model(soft, SoftBody::new(Geometry::Tets(mesh), SoftModel::Solid(params)))?;
/// assert!((world.body(stiff)?.velocity().y - 1.0).abs() < 1e-4);
/// assert!((exchange.kinetic[1] / exchange.kinetic[0] - 1.0).abs() < 1e-3);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// Positions. (new_count) [m]
    pub x: Vec<Block>,
    /// Velocities [m/s] and inverse masses [1/kg]; pinning is applied by the caller. (new_count)
    pub v: Vec<Block>,
    /// Kinetic energy before and after [J].
    pub kinetic: [Real; 2],
    /// Largest displacement of a surfel [m]; 0 unless both bodies have a skin.
    pub surface_error: Real,
    /// New numbers by old ones; empty outside a world.
    pub remap: Remap,
    /// Constraints of the body that could not follow; none outside a world.
    pub constraints: LostConstraints,
}

/// Reason why an exchange was rejected.
///
/// An example is at [`Exchange`](crate::Exchange).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExchangeError {
    /// Lists of one body differ in length.
    #[error("{body}: {count} {list}, but {nodes} rest positions")]
    Length {
        /// SourceState or entering.
        body: &'static str,
        /// The list with the wrong length.
        list: &'static str,
        /// Its length.
        count: usize,
        /// Its expected length.
        nodes: usize,
    },
    /// A mass is not positive.
    #[error("{body}.masses[{node}] = {mass}: must be positive and finite [kg]")]
    Mass {
        /// SourceState or entering.
        body: &'static str,
        /// The node.
        node: usize,
        /// The value given [kg].
        mass: Real,
    },
    /// The two skins differ in the number of surfels.
    #[error("the skins have {old} and {new} surfels: they must be the same")]
    Skin {
        /// Surfels of the leaving body.
        old: usize,
        /// Surfels of the entering body.
        new: usize,
    },
    /// New nodes cannot be interpolated from the old ones.
    #[error("entering body among the leaving nodes: {0}")]
    Bind(#[from] BindError),
}

/// Positions and velocities of the new nodes: see the module documentation.
pub fn exchange(old: &SourceState<'_>, new: &TargetBody<'_>, wrap: BindOptions) -> Result<Exchange, ExchangeError> {
    check(old, new)?;
    let weights = meshless_weights(old.rest, new.rest, wrap)?;
    let mut x = carry(&weights, old, new, old.x);
    let mut skin = Vec::new();
    if let (Some(before), Some(after)) = (old.surface, new.surface) {
        before.positions(old.x, &mut skin);
        fit(after, &skin, &mut x);
    }

    // the centre of mass is preserved
    let before = Sums::new(old.masses, old.x, old.v);
    let total: f64 = new.masses.iter().map(|&m| wide(m)).sum();
    let centre = x.iter().zip(new.masses).fold(Wide3::ZERO, |s, (x, &m)| s + *x * wide(m)) / total;
    let x: Vec<Block> = x.iter().map(|&x| block(narrow(x + before.centre - centre), 0.0)).collect();

    // without its rigid part, then with that of the old body
    let mut v = carry(&weights, old, new, old.v);
    let sums = Sums::of_wide(new.masses, &x, &v);
    for (v, &x) in v.iter_mut().zip(&x) {
        *v -= sums.rigid(place(x));
    }
    let rigid = Sums { momentum: before.momentum, spin: before.spin, ..sums };
    let rigid_part: Vec<Wide3> = x.iter().map(|&x| rigid.rigid(place(x))).collect();
    let (rest, given) = (kinetic(new.masses, &v), kinetic(new.masses, &rigid_part));
    let room = (before.kinetic - given).max(0.0);
    let scale = if rest > room { (room / rest).sqrt() } else { 1.0 };
    for (v, r) in v.iter_mut().zip(&rigid_part) {
        *v = *v * scale + *r;
    }

    let surface_error = new
        .surface
        .filter(|_| !skin.is_empty())
        .map_or(0.0, |s| (0..s.len()).map(|k| s.position(k as u32, &x).distance(skin[k])).fold(0.0, Real::max));
    let after = kinetic(new.masses, &v);
    let v = v.iter().zip(new.masses).map(|(&v, m)| block(narrow(v), 1.0 / m)).collect();
    let kinetic = [before.kinetic, after].map(real);
    Ok(Exchange { x, v, kinetic, surface_error, remap: Remap::default(), constraints: LostConstraints::default() })
}

/// Values of the old nodes interpolated at the new ones. A node at the rest position of an old node keeps its value:
/// least squares would smooth it.
fn carry(weights: &Weights, old: &SourceState<'_>, new: &TargetBody<'_>, values: &[Block]) -> Vec<Wide3> {
    let mut out = Vec::with_capacity(new.rest.len());
    for (n, &at) in new.rest.iter().enumerate() {
        let shares = weights.of(n);
        let same = shares.iter().find(|s| old.rest[s.node as usize] == at);
        out.push(match same {
            Some(s) => place(values[s.node as usize]),
            None => shares.iter().fold(Wide3::ZERO, |sum, s| sum + place(values[s.node as usize]) * wide(s.weight)),
        });
    }
    out
}

/// Moves x so that the skin matches `goal`, by conjugate gradients on the normal equations of step 2.
fn fit(skin: &Surface, goal: &[Vec3], x: &mut [Wide3]) {
    let shares = |s: usize| skin.shares(s as u32).iter().map(|s| (s.node as usize, wide(s.weight)));
    let diagonal: f64 = (0..skin.len()).flat_map(shares).map(|(_, w)| w * w).sum();
    let hold = FIT_HOLD * diagonal / x.len() as f64;
    let apply = |u: &[Wide3], out: &mut [Wide3]| {
        out.iter_mut().zip(u).for_each(|(o, u)| *o = *u * hold);
        for s in 0..skin.len() {
            let at = shares(s).fold(Wide3::ZERO, |sum, (n, w)| sum + u[n] * w);
            shares(s).for_each(|(n, w)| out[n] += at * w);
        }
    };
    let mut residual = vec![Wide3::ZERO; x.len()];
    for s in 0..skin.len() {
        // the offset along the normal is treated as constant: only the remainder is fitted
        let now: Vec<(usize, f64)> = shares(s).collect();
        let foot = now.iter().fold(Wide3::ZERO, |sum, &(n, w)| sum + x[n] * w);
        let lift = if skin.offset(s as u32) == 0.0 { Wide3::ZERO } else { lift_of(skin, s, x) };
        now.iter().for_each(|&(n, w)| residual[n] += (widen(goal[s]) - foot - lift) * w);
    }
    let dot = |a: &[Wide3], b: &[Wide3]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
    let mut direction = residual.clone();
    let mut image = residual.clone();
    let start = dot(&residual, &residual);
    let mut size = start;
    for _ in 0..FIT_STEPS {
        if size <= 1e-20 * start || size == 0.0 {
            break;
        }
        apply(&direction, &mut image);
        let step = size / dot(&direction, &image);
        for k in 0..x.len() {
            x[k] += direction[k] * step;
            residual[k] -= image[k] * step;
        }
        let next = dot(&residual, &residual);
        direction.iter_mut().zip(&residual).for_each(|(d, r)| *d = *r + *d * (next / size));
        size = next;
    }
}

fn lift_of(skin: &Surface, surfel: usize, x: &[Wide3]) -> Wide3 {
    let [a, b, c] = [0, 1, 2].map(|k| x[skin.shares(surfel as u32)[k].node as usize]);
    (b - a).cross(c - a).normalize_or_zero() * wide(skin.offset(surfel as u32))
}

/// Sums over a body, in f64.
#[derive(Clone, Copy)]
struct Sums {
    mass: f64,
    centre: Wide3,
    momentum: Wide3,
    /// Angular momentum about the centre [kg·m²/s].
    spin: Wide3,
    /// Pseudo-inverse of the inertia about the centre.
    inverse_inertia: WideMat3,
    kinetic: f64,
}

impl Sums {
    fn new(masses: &[Real], x: &[Block], v: &[Block]) -> Self {
        let v: Vec<Wide3> = v.iter().map(|&v| place(v)).collect();
        Self::of_wide(masses, x, &v)
    }

    fn of_wide(masses: &[Real], x: &[Block], v: &[Wide3]) -> Self {
        let mass: f64 = masses.iter().map(|&m| wide(m)).sum();
        let centre = x.iter().zip(masses).fold(Wide3::ZERO, |s, (&x, &m)| s + place(x) * wide(m)) / mass;
        let (mut momentum, mut spin, mut inertia) = (Wide3::ZERO, Wide3::ZERO, WideMat3::ZERO);
        for ((&x, &v), &m) in x.iter().zip(v).zip(masses) {
            let (arm, m) = (place(x) - centre, wide(m));
            momentum += v * m;
            spin += arm.cross(v * m);
            inertia += (WideMat3::from_diagonal(Wide3::splat(arm.length_squared())) - wide_outer(arm, arm)) * m;
        }
        let inverse_inertia = wide_pseudo_inverse(&inertia, LINE).inverse;
        Self { mass, centre, momentum, spin, inverse_inertia, kinetic: kinetic(masses, v) }
    }

    /// Velocity of a point when the body moves rigidly with this linear and angular momentum.
    fn rigid(&self, at: Wide3) -> Wide3 {
        self.momentum / self.mass + (self.inverse_inertia * self.spin).cross(at - self.centre)
    }
}

fn kinetic(masses: &[Real], v: &[Wide3]) -> f64 {
    v.iter().zip(masses).map(|(v, &m)| 0.5 * wide(m) * v.length_squared()).sum()
}

fn check(old: &SourceState<'_>, new: &TargetBody<'_>) -> Result<(), ExchangeError> {
    let lists = [
        ("leaving", "masses", old.masses.len(), old.rest.len()),
        ("leaving", "positions", old.x.len(), old.rest.len()),
        ("leaving", "velocities", old.v.len(), old.rest.len()),
        ("entering", "masses", new.masses.len(), new.rest.len()),
    ];
    if let Some((body, list, count, nodes)) = lists.into_iter().find(|l| l.2 != l.3) {
        return Err(ExchangeError::Length { body, list, count, nodes });
    }
    for (body, masses) in [("leaving", old.masses), ("entering", new.masses)] {
        if let Some(node) = masses.iter().position(|&m| !(m > 0.0 && m.is_finite())) {
            return Err(ExchangeError::Mass { body, node, mass: masses[node] });
        }
    }
    match (old.surface, new.surface) {
        (Some(a), Some(b)) if a.len() != b.len() => Err(ExchangeError::Skin { old: a.len(), new: b.len() }),
        _ => Ok(()),
    }
}

fn block(v: Vec3, last: Real) -> Block {
    [v.x, v.y, v.z, last]
}

fn place(b: Block) -> Wide3 {
    widen(vec(b))
}

#[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
fn wide(r: Real) -> f64 {
    r as f64
}

#[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
fn real(w: f64) -> Real {
    w as Real
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Mat3;
    use crate::model::tet_mesh::TetMesh;
    use crate::model::tri_mesh::TriMesh;

    /// A bar of 0.6 x 0.2 x 0.2 m, 24 kg, with lumped masses.
    fn bar(cells: [u32; 3]) -> (TetMesh, Vec<Real>) {
        let mesh = TetMesh::block(cells, Vec3::new(0.6, 0.2, 0.2)).unwrap();
        let mut masses = vec![0.0; mesh.vertices.len()];
        for (t, corners) in mesh.tets.iter().enumerate() {
            corners.iter().for_each(|&c| masses[c as usize] += 250.0 * mesh.tet_volume(t));
        }
        (mesh, masses)
    }

    fn skin() -> TriMesh {
        let block = TetMesh::block([9, 3, 3], Vec3::new(0.6, 0.2, 0.2)).unwrap();
        TriMesh { triangles: block.boundary_faces(), vertices: block.vertices }
    }

    /// Bent and twisted, translating, rotating and vibrating.
    fn wild(rest: &[Vec3]) -> (Vec<Block>, Vec<Block>) {
        let bent = |p: Vec3| {
            let turn = Mat3::from_rotation_x(2.0 * p.x) * Mat3::from_rotation_z(1.2 * p.x);
            turn * p + Vec3::new(0.0, 0.5 * p.x * p.x, 1.0)
        };
        let x: Vec<Vec3> = rest.iter().map(|&p| bent(p)).collect();
        let ring = |p: Vec3| Vec3::new((9.0 * p.y).sin(), (12.0 * p.x).cos(), (15.0 * p.x).sin()) * 0.7;
        let v = rest.iter().zip(&x);
        let v = v.map(|(&p, &x)| Vec3::new(1.0, -2.0, 0.5) + Vec3::new(3.0, 1.0, -4.0).cross(x) + ring(p));
        let v = v.map(|v| block(v, 1.0)).collect();
        (x.iter().map(|&x| block(x, 0.0)).collect(), v)
    }

    fn run(from: [u32; 3], to: [u32; 3]) -> (Sums, Sums, Exchange) {
        let ((a, a_masses), (b, b_masses)) = (bar(from), bar(to));
        let (x, v) = wild(&a.vertices);
        let (on_a, on_b) = (Surface::embedded(&a, &skin()).unwrap(), Surface::embedded(&b, &skin()).unwrap());
        let old = SourceState { rest: &a.vertices, masses: &a_masses, x: &x, v: &v, surface: Some(&on_a) };
        let new = TargetBody { rest: &b.vertices, masses: &b_masses, surface: Some(&on_b) };
        let done = exchange(&old, &new, BindOptions::default()).unwrap();
        (Sums::new(&a_masses, &x, &v), Sums::new(&b_masses, &done.x, &done.v), done)
    }

    #[test]
    fn centre_and_momenta_are_conserved_and_energy_does_not_grow() {
        for (from, to) in [([12, 4, 4], [3, 1, 1]), ([3, 1, 1], [12, 4, 4]), ([6, 2, 2], [7, 3, 2])] {
            let (before, after, done) = run(from, to);
            let tolerance = 20.0 * wide(Real::EPSILON);
            assert!(before.centre.distance(after.centre) < tolerance, "{} {}", before.centre, after.centre);
            assert!(before.momentum.distance(after.momentum) < tolerance * before.momentum.length());
            // the angular momentum is a small difference of large terms: compare with mass times speed times length
            assert!(before.spin.distance(after.spin) < tolerance * 24.0 * 3.0 * 0.3, "{} {}", before.spin, after.spin);
            // the rigid part given by linear and angular momentum is the minimum that remains
            let spin = before.spin.dot(after.inverse_inertia * before.spin);
            let rigid = 0.5 * (before.momentum.length_squared() / after.mass + spin);
            let limit = before.kinetic.max(rigid) * (1.0 + tolerance);
            assert!(after.kinetic <= limit, "{} {}", before.kinetic, after.kinetic);
            // and most of it is preserved
            assert!(after.kinetic > 0.8 * before.kinetic, "{} {}", before.kinetic, after.kinetic);
            assert!((done.kinetic[1] - real(after.kinetic)).abs() < 1e-4 * done.kinetic[1]);
        }
    }

    #[test]
    fn exchange_preserves_the_shape_of_the_skin() {
        // 1 % of the length of 0.6 m, with ends that moved by 0.2 m and rotated by 0.6 rad
        for (from, to) in [([12, 4, 4], [6, 2, 2]), ([3, 1, 1], [12, 4, 4]), ([6, 2, 2], [7, 3, 2])] {
            let (.., done) = run(from, to);
            assert!(done.surface_error < 0.006, "{from:?} {to:?}: {}", done.surface_error);
        }
    }

    #[test]
    fn an_affine_shape_is_preserved_exactly() {
        let ((a, a_masses), (b, b_masses)) = (bar([4, 2, 2]), bar([5, 3, 2]));
        let map = Mat3::from_cols(Vec3::new(1.3, 0.2, 0.1), Vec3::new(-0.4, 0.8, 0.2), Vec3::new(0.1, -0.3, 1.1));
        let x: Vec<Block> = a.vertices.iter().map(|&p| block(map * p + Vec3::Y, 0.0)).collect();
        let v = vec![[0.0; 4]; x.len()];
        let old = SourceState { rest: &a.vertices, masses: &a_masses, x: &x, v: &v, surface: None };
        let done =
            exchange(&old, &TargetBody { rest: &b.vertices, masses: &b_masses, surface: None }, BindOptions::default())
                .unwrap();
        // both meshes have their centre at the origin
        for (x, p) in done.x.iter().zip(&b.vertices) {
            assert!(narrow(place(*x)).distance(map * *p + Vec3::Y) < 1e-5);
        }
        assert_eq!(done.kinetic, [0.0, 0.0]);
    }

    #[test]
    fn the_same_nodes_keep_their_state() {
        let (a, masses) = bar([4, 2, 2]);
        let (x, v) = wild(&a.vertices);
        let old = SourceState { rest: &a.vertices, masses: &masses, x: &x, v: &v, surface: None };
        let new = TargetBody { rest: &a.vertices, masses: &masses, surface: None };
        let done = exchange(&old, &new, BindOptions::default()).unwrap();
        for k in 0..x.len() {
            assert!(place(x[k]).distance(place(done.x[k])) < 10.0 * wide(Real::EPSILON));
            assert!(place(v[k]).distance(place(done.v[k])) < 100.0 * wide(Real::EPSILON));
        }
    }

    #[test]
    fn invalid_exchanges_are_rejected_with_a_named_cause() {
        let (a, masses) = bar([1, 1, 1]);
        let (x, v) = wild(&a.vertices);
        let old = SourceState { rest: &a.vertices, masses: &masses, x: &x[..7], v: &v, surface: None };
        let new = TargetBody { rest: &a.vertices, masses: &masses, surface: None };
        let error = exchange(&old, &new, BindOptions::default()).unwrap_err().to_string();
        assert_eq!(error, "leaving: 7 positions, but 8 rest positions");
        let mut bad = masses.clone();
        bad[3] = -1.0;
        let old = SourceState { x: &x, ..old };
        let error =
            exchange(&old, &TargetBody { masses: &bad, ..new }, BindOptions::default()).unwrap_err().to_string();
        assert!(error.starts_with("entering.masses[3] = -1"), "{error}");
    }
}

//! Corotational linear tetrahedra with linearly implicit Euler.
//!
//! Small strain in the turned frame of each element (Müller and Gross 2004; Hauth and Strasser 2004):
//!
//! ```text
//!   F = Σ x_i G_iᵀ,   R = rotation of F,   ε = sym(RᵀF) − I,   σ = 2μ ε + λ tr(ε) I,   f_i = −V R σ G_i
//! ```
//!
//! G_i is the rest gradient of shape function i [1/m]. With g_i = R G_i the stiffness is
//! K_ij = V (λ g_i g_jᵀ + μ g_j g_iᵀ + μ (g_i·g_j) I), rotations held (Baraff and Witkin 1998 for the time step):
//!
//! ```text
//!   A v⁺ = b,   A = M + h (h + β) K,   b = M v + h (f(x) + f_ext)
//! ```
//!
//! β is stiffness-proportional damping [s]. Mass is lumped. For sweeps the response is the lumped inverse mass: a
//! declared approximation, right for momentum and too soft by A_ii/m; see `solver/implicit.rs`.
//!
//! R is a pure function of x, found from scratch every time: a rotation kept from the last step would be State in hiding.

use crate::deformable::{BodyMut, BodyRef, Deformable, Modes, Operator, RigidSums, StepContext, add, outer, vec};
use crate::math::{Block, Mat3, Quat, Real, Sym3, Vec3, integrate_rotation};
use crate::model::tet_mesh::{TetMesh, TetMeshError};

/// Newton steps on an element's rotation. Two are enough below 10 % strain, four in the worst case tried.
const ROTATION_STEPS: usize = 6;
/// Turn [rad] at which the rotation is found, in units of the rounding of a real.
const ROTATION_DONE: Real = 4.0 * Real::EPSILON;

/// Material of a corotational body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Young's modulus [Pa].
    pub youngs_modulus: Real,
    /// Poisson's ratio, from 0 up to below 0.5.
    pub poisson_ratio: Real,
    /// Density [kg/m³].
    pub density: Real,
    /// Stiffness-proportional damping β [s].
    pub damping: Real,
}

/// Why a body was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParamsError {
    /// A number outside its range.
    #[error("{name} = {value}: must be {range}")]
    OutOfRange {
        /// Field of [`Params`].
        name: &'static str,
        /// What was given.
        value: Real,
        /// What is allowed.
        range: &'static str,
    },
    /// The mesh cannot be simulated.
    #[error(transparent)]
    Mesh(#[from] TetMeshError),
}

/// A body of linear tetrahedra.
#[derive(Clone, Debug)]
pub struct Corotational {
    rest: Rest,
    /// Blocks of A, pattern as in `rest`. Written by `predict` in the first substep. (entry_count) [kg]
    matrix: Vec<Mat3>,
    /// b. Written by `predict`. (node_count) [N·s]
    load: Vec<Block>,
    /// Masses, infinite where pinned. Written by `predict`. (node_count) [kg]
    mass: Vec<Real>,
    /// Sums over the body. Written by `predict`.
    sums: RigidSums,
}

/// Constants since the last edit.
#[derive(Clone, Debug)]
struct Rest {
    /// First and second Lamé parameter [Pa].
    lame: [Real; 2],
    damping: Real,
    tets: Vec<[u32; 4]>,
    /// Rest gradients of the four shape functions. (tet_count) [1/m]
    gradients: Vec<[Vec3; 4]>,
    /// Rest volumes. (tet_count) [m³]
    volumes: Vec<Real>,
    /// Lumped masses. (node_count) [kg]
    mass: Vec<Real>,
    /// First entry of each block row, and the end. (node_count + 1)
    row_start: Vec<u32>,
    /// Block column of each entry, ascending in a row. (entry_count)
    column: Vec<u32>,
    /// Entry of each pair of corners, four a corner. (tet_count)
    entries: Vec<[[u32; 4]; 4]>,
}

impl Corotational {
    /// A body from a mesh and a material, at rest in the mesh's shape.
    pub fn new(mesh: &TetMesh, params: Params) -> Result<Self, ParamsError> {
        params.check()?;
        mesh.check()?;
        let rest = Rest::new(mesh, params);
        let (nodes, entries) = (mesh.vertices.len(), rest.column.len());
        Ok(Self {
            mass: rest.mass.clone(),
            rest,
            matrix: vec![Mat3::ZERO; entries],
            load: vec![[0.0; 4]; nodes],
            sums: RigidSums::default(),
        })
    }

    fn elastic_energy(&self, x: &[Block]) -> Real {
        let [lambda, mu] = self.rest.lame;
        let mut energy = 0.0;
        for tet in 0..self.rest.tets.len() {
            let (_, strain) = self.rest.strain(tet, x);
            let square: Real = (0..3).map(|i| strain.col(i).length_squared()).sum();
            energy += self.rest.volumes[tet] * (mu * square + 0.5 * lambda * trace(&strain) * trace(&strain));
        }
        energy
    }

    /// Elastic forces into `load` (times h) and, in the first substep, A.
    fn assemble(&mut self, ctx: &StepContext<'_>, x: &[Block]) {
        let rest = &self.rest;
        let [lambda, mu] = rest.lame;
        let factor = ctx.h * (ctx.h + rest.damping);
        let rebuild = ctx.substep == 0;
        if rebuild {
            self.matrix.fill(Mat3::ZERO);
        }
        for (tet, corners) in rest.tets.iter().enumerate() {
            let (rotation, strain) = rest.strain(tet, x);
            let stress = strain * (2.0 * mu) + Mat3::from_diagonal(Vec3::splat(lambda * trace(&strain)));
            let g = rest.gradients[tet].map(|g| rotation * g);

            // f_i = −V R σ G_i
            let turned = rotation * stress;
            for (corner, &node) in corners.iter().enumerate() {
                let pull = turned * rest.gradients[tet][corner] * (-rest.volumes[tet] * ctx.h);
                add(&mut self.load[node as usize], pull);
            }

            // h (h + β) K_ij
            if rebuild {
                let scale = factor * rest.volumes[tet];
                for i in 0..4 {
                    for j in 0..4 {
                        let outer = outer(g[i], g[j]);
                        let shear = Mat3::from_diagonal(Vec3::splat(mu * g[i].dot(g[j])));
                        let block = outer * lambda + outer.transpose() * mu + shear;
                        self.matrix[rest.entries[tet][i][j] as usize] += block * scale;
                    }
                }
            }
        }
        if rebuild {
            for (node, &mass) in rest.mass.iter().enumerate() {
                self.matrix[rest.diagonal_entry(node)] += Mat3::from_diagonal(Vec3::splat(mass));
            }
        }
    }
}

impl Deformable for Corotational {
    fn masses(&self) -> &[Real] {
        &self.rest.mass
    }

    fn predict(&mut self, ctx: &StepContext<'_>, body: BodyMut<'_>) {
        // b = M v + h f_ext, then the elastic part
        for (node, load) in self.load.iter_mut().enumerate() {
            let mass = self.rest.mass[node];
            let push = vec(body.v[node]) * mass + body.force[node] * ctx.h;
            *load = [push.x, push.y, push.z, 0.0];
            self.mass[node] = if body.v[node][3] == 0.0 { Real::INFINITY } else { mass };
        }
        self.assemble(ctx, body.x);
        self.sums.sum_up(&self.rest.mass, ctx.h, &body);
    }

    fn operator(&self) -> Option<&dyn Operator> {
        Some(self)
    }

    fn energy(&self, body: BodyRef<'_>) -> Real {
        self.elastic_energy(body.x)
    }

    fn forces(&self, body: BodyRef<'_>, out: &mut [Vec3]) -> bool {
        for tet in 0..self.rest.tets.len() {
            self.rest.pull(tet, body.x, |node, force| out[node] += force);
        }
        true
    }
}

impl Operator for Corotational {
    fn block_count(&self) -> usize {
        self.rest.mass.len()
    }

    fn apply(&self, v: &[Block], out: &mut [Block]) {
        for (node, out) in out.iter_mut().enumerate() {
            let row = self.rest.row_start[node] as usize..self.rest.row_start[node + 1] as usize;
            let mut sum = Vec3::ZERO;
            for (block, &column) in self.matrix[row.clone()].iter().zip(&self.rest.column[row]) {
                sum += *block * vec(v[column as usize]);
            }
            *out = [sum.x, sum.y, sum.z, 0.0];
        }
    }

    fn diagonal(&self, out: &mut [Mat3]) {
        for (node, out) in out.iter_mut().enumerate() {
            *out = self.matrix[self.rest.diagonal_entry(node)];
        }
    }

    fn load(&self) -> &[Block] {
        &self.load
    }

    fn mass(&self) -> &[Real] {
        &self.mass
    }

    fn modes(&self) -> Option<Modes<'_>> {
        self.sums.modes()
    }
}

impl Params {
    fn check(&self) -> Result<(), ParamsError> {
        let positive = |v: Real| v > 0.0 && v.is_finite();
        let checks = [
            ("youngs_modulus", self.youngs_modulus, positive(self.youngs_modulus), "positive and finite [Pa]"),
            ("poisson_ratio", self.poisson_ratio, (0.0..0.5).contains(&self.poisson_ratio), "from 0 up to below 0.5"),
            ("density", self.density, positive(self.density), "positive and finite [kg/m³]"),
            ("damping", self.damping, self.damping >= 0.0 && self.damping.is_finite(), "0 or more [s]"),
        ];
        match checks.into_iter().find(|c| !c.2) {
            Some((name, value, _, range)) => Err(ParamsError::OutOfRange { name, value, range }),
            None => Ok(()),
        }
    }
}

impl Rest {
    fn new(mesh: &TetMesh, params: Params) -> Self {
        let nodes = mesh.vertices.len();
        let (e, nu) = (params.youngs_modulus, params.poisson_ratio);
        let lame = [e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), e / (2.0 * (1.0 + nu))];

        // gradients are the columns of Dm⁻ᵀ, the first is minus their sum
        let mut gradients = Vec::with_capacity(mesh.tets.len());
        let mut volumes = Vec::with_capacity(mesh.tets.len());
        let mut mass = vec![0.0; nodes];
        for (tet, corners) in mesh.tets.iter().enumerate() {
            let [a, b, c, d] = corners.map(|i| mesh.vertices[i as usize]);
            let g = Mat3::from_cols(b - a, c - a, d - a).inverse().transpose();
            gradients.push([-(g.x_axis + g.y_axis + g.z_axis), g.x_axis, g.y_axis, g.z_axis]);
            let volume = mesh.tet_volume(tet);
            volumes.push(volume);
            for &node in corners {
                mass[node as usize] += 0.25 * volume * params.density;
            }
        }

        // pattern: the sorted neighbours of each node, itself among them
        let mut neighbours: Vec<Vec<u32>> = (0..nodes as u32).map(|i| vec![i]).collect();
        for corners in &mesh.tets {
            for &i in corners {
                neighbours[i as usize].extend(corners);
            }
        }
        let (mut row_start, mut column) = (vec![0], Vec::new());
        for row in &mut neighbours {
            row.sort_unstable();
            row.dedup();
            column.extend_from_slice(row);
            row_start.push(column.len() as u32);
        }
        let find = |i: u32, j: u32| {
            let start = row_start[i as usize];
            start + neighbours[i as usize].partition_point(|&n| n < j) as u32
        };
        let entries = mesh.tets.iter().map(|c| c.map(|i| c.map(|j| find(i, j)))).collect();
        Self {
            lame,
            damping: params.damping,
            tets: mesh.tets.clone(),
            gradients,
            volumes,
            mass,
            row_start,
            column,
            entries,
        }
    }

    fn diagonal_entry(&self, node: usize) -> usize {
        let row = self.row_start[node] as usize..self.row_start[node + 1] as usize;
        row.start + self.column[row].partition_point(|&c| (c as usize) < node)
    }

    /// Elastic forces of an element on its corners, f_i = −V R σ G_i [N].
    fn pull(&self, tet: usize, x: &[Block], mut on: impl FnMut(usize, Vec3)) {
        let [lambda, mu] = self.lame;
        let (rotation, strain) = self.strain(tet, x);
        let stress = strain * (2.0 * mu) + Mat3::from_diagonal(Vec3::splat(lambda * trace(&strain)));
        let turned = rotation * stress;
        for (corner, &node) in self.tets[tet].iter().enumerate() {
            on(node as usize, turned * self.gradients[tet][corner] * -self.volumes[tet]);
        }
    }

    /// Rotation of an element and its small strain ε = sym(RᵀF) − I.
    fn strain(&self, tet: usize, x: &[Block]) -> (Mat3, Mat3) {
        // F from edges: differences first keep the digits that large coordinates would cost
        let g = &self.gradients[tet];
        let corners = self.tets[tet].map(|i| vec(x[i as usize]));
        let f = (1..4).fold(Mat3::ZERO, |f, i| f + outer(corners[i] - corners[0], g[i]));
        let rotation = Mat3::from_quat(rotation_of(&f));
        let local = rotation.transpose() * f;
        (rotation, (local + local.transpose()) * 0.5 - Mat3::IDENTITY)
    }
}

/// The rotation R nearest to F: the largest tr(RᵀF) (Müller et al. 2016), by Newton's method on R ← exp(ω) R,
/// ω = (tr S I − sym S)⁻¹ Σ r_i × f_i with S = F Rᵀ. It starts from the frame of F's first two columns, so that it is a
/// function of F alone and a proper rotation even for an inverted element.
fn rotation_of(f: &Mat3) -> Quat {
    let x = f.x_axis.normalize_or(Vec3::X);
    let z = f.x_axis.cross(f.y_axis).normalize_or(crate::math::any_orthonormal(x));
    let mut q = Quat::from_mat3(&Mat3::from_cols(x, z.cross(x), z));
    for _ in 0..ROTATION_STEPS {
        let r = Mat3::from_quat(q);
        let axial = r.x_axis.cross(f.x_axis) + r.y_axis.cross(f.y_axis) + r.z_axis.cross(f.z_axis);
        let s = *f * r.transpose();
        let hessian = Sym3::from_mat(&(Mat3::from_diagonal(Vec3::splat(trace(&s))) - s));
        // where Newton has no maximum to go to (inverted or very flat), a short step along the gradient
        let turn = match hessian.inverse() {
            Some(inverse) => inverse.mul(axial).clamp_length_max(0.7),
            None => (axial / (trace(&s).abs() + 1e-3)).clamp_length_max(0.7),
        };
        q = integrate_rotation(q, turn);
        if turn.length_squared() < ROTATION_DONE * ROTATION_DONE {
            break;
        }
    }
    q
}

fn trace(m: &Mat3) -> Real {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body() -> (Corotational, Vec<Block>) {
        let mesh = TetMesh::block([2, 2, 3], Vec3::new(0.1, 0.1, 0.15)).unwrap();
        let params = Params { youngs_modulus: 1e5, poisson_ratio: 0.3, density: 1000.0, damping: 0.0 };
        let body = Corotational::new(&mesh, params).unwrap();
        let x = mesh.vertices.iter().map(|x| [x.x, x.y, x.z, 0.0]).collect();
        (body, x)
    }

    fn predict(body: &mut Corotational, x: &mut [Block], v: &mut [Block]) {
        let ctx = StepContext::new(0.01, 0);
        let force = vec![Vec3::ZERO; x.len()];
        body.predict(&ctx, BodyMut { x, v, force: &force, inner: &mut [] });
    }

    fn strained(x: &mut [Block]) {
        for (k, x) in x.iter_mut().enumerate() {
            add(x, Vec3::new((k % 3) as Real, (k % 5) as Real, (k % 7) as Real) * 1e-3);
        }
    }

    #[test]
    fn mass_is_density_times_volume() {
        let (body, _) = body();
        assert!((body.masses().iter().sum::<Real>() - 1.5).abs() < 1e-5);
    }

    #[test]
    fn a_turned_body_feels_no_force_whatever_the_angle() {
        for angle in [0.0, 0.5, 2.0, 3.1] {
            let (mut body, mut x) = body();
            let q = Quat::from_axis_angle(Vec3::new(1.0, 2.0, -1.0).normalize(), angle);
            for x in &mut x {
                let p = q * vec(*x);
                (x[0], x[1], x[2]) = (p.x, p.y, p.z);
            }
            let mut v = vec![[0.0, 0.0, 0.0, 1.0]; x.len()];
            predict(&mut body, &mut x, &mut v);
            let worst = body.load().iter().map(|b| vec(*b).length()).fold(0.0, Real::max);
            // E · rounding · area · h
            assert!(worst < 1e5 * 20.0 * Real::EPSILON * 0.01 * 0.01, "{angle}: {worst}");
            assert!(body.elastic_energy(&x) < 1e-8);
        }
    }

    #[test]
    fn inner_forces_make_neither_push_nor_turn() {
        let (mut body, mut x) = body();
        strained(&mut x);
        let mut v = vec![[0.0, 0.0, 0.0, 1.0]; x.len()];
        predict(&mut body, &mut x, &mut v);
        let (mut push, mut turn, mut size) = (Vec3::ZERO, Vec3::ZERO, 0.0);
        for (b, x) in body.load().iter().zip(&x) {
            push += vec(*b);
            turn += vec(*x).cross(vec(*b));
            size += vec(*b).length();
        }
        assert!(push.length() < 1e-5 * size && turn.length() < 1e-6 * size, "{push} {turn} {size}");
    }

    #[test]
    fn the_operator_is_symmetric_and_at_least_the_mass() {
        let (mut body, mut x) = body();
        strained(&mut x);
        let mut v = vec![[0.0, 0.0, 0.0, 1.0]; x.len()];
        predict(&mut body, &mut x, &mut v);
        let wave = |seed: usize| -> Vec<Block> {
            let part = |k: usize| ((k * 7919 + seed * 104_729) % 1000) as Real / 500.0 - 1.0;
            (0..x.len()).map(|i| [part(3 * i), part(3 * i + 1), part(3 * i + 2), 0.0]).collect()
        };
        let dot = |a: &[Block], b: &[Block]| a.iter().zip(b).map(|(a, b)| vec(*a).dot(vec(*b))).sum::<Real>();
        let (a, b) = (wave(1), wave(2));
        let (mut ka, mut kb) = (a.clone(), b.clone());
        body.apply(&a, &mut ka);
        body.apply(&b, &mut kb);
        assert!((dot(&a, &kb) - dot(&b, &ka)).abs() < 1e-4 * dot(&a, &ka));
        let kinetic: Real = a.iter().zip(body.mass()).map(|(a, m)| vec(*a).length_squared() * m).sum();
        assert!(dot(&a, &ka) > kinetic);
        let mut diagonal = vec![Mat3::ZERO; x.len()];
        body.diagonal(&mut diagonal);
        let mut unit = vec![[0.0; 4]; x.len()];
        unit[5] = [0.0, 1.0, 0.0, 0.0];
        let mut column = unit.clone();
        body.apply(&unit, &mut column);
        assert_eq!(vec(column[5]), diagonal[5].y_axis);
    }

    #[test]
    fn modes_hold_the_momentum_and_a_pinned_body_has_none() {
        let (mut body, mut x) = body();
        let mut v: Vec<Block> = x.iter().map(|x| [1.0 - 2.0 * x[1], 2.0 * x[0], 0.0, 1.0]).collect();
        predict(&mut body, &mut x, &mut v);
        let modes = body.modes().unwrap();
        assert!((modes.momentum - Vec3::new(1.5, 0.0, 0.0)).length() < 1e-5, "{}", modes.momentum);
        assert!((modes.inertia.mul(Vec3::new(0.0, 0.0, 2.0)) - modes.spin).length() < 1e-7);
        v[0][3] = 0.0;
        predict(&mut body, &mut x, &mut v);
        assert!(body.modes().is_none() && body.mass()[0] == Real::INFINITY);
    }

    #[test]
    fn bad_parameters_are_refused_by_name() {
        let mesh = TetMesh::block([1; 3], Vec3::ONE).unwrap();
        let params = Params { youngs_modulus: 1e5, poisson_ratio: 0.5, density: 1000.0, damping: 0.0 };
        let error = Corotational::new(&mesh, params).unwrap_err();
        assert!(error.to_string().starts_with("poisson_ratio = 0.5"), "{error}");
    }
}

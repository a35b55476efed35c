//! Linear system of a position based solid that is solved together with implicit bodies (Baraff and Witkin 1998).
//!
//! The potential U = Σ C²/2α is the one that the sweeps minimise (`rows.rs`), here linearised once per substep, so that
//! a contact force at the surface acts on the compliance of the complete body in one solve and not on that of the node
//! alone:
//!
//! ```text
//!   A v⁺ = b,   A = M + h (h + τ) Σ ∇C ∇Cᵀ/α + h² Σ T/l (1 − û ûᵀ),   b = M v + h f_ext − h Σ C ∇C/α
//! ```
//!
//! Edges under tension T also have the geometric stiffness; under compression it is negative and omitted, which keeps A
//! positive definite. A rigid row is `RIGID` times as stiff as the masses at its ends.

use crate::deformable::fem::tet_kernel::RestTet;
use crate::deformable::pbd::rows::Row;
use crate::deformable::pbd::{Distance, Rows};
use crate::deformable::system::EulerSystem;
use crate::deformable::{BodyMut, StepContext};
use crate::math::{Block, Mat3, Real, Vec3, outer, vec};
use crate::model::tet_mesh::TetMesh;

/// h² k w of a rigid row.
const RIGID: Real = 1e4;

/// Masses, constraints and dashpot time constant τ [s] of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made<'a> {
    pub masses: &'a [Real],
    pub rows: &'a Rows,
    pub row_damping: Real,
}

impl Made<'_> {
    /// The system of edges, then volumes, over the tetrahedra of this mesh.
    pub(in crate::deformable) fn system(&self, mesh: &TetMesh) -> EulerSystem {
        let Rows { distances, volumes, .. } = self.rows;
        let elements = distances.iter().map(|d| &d.nodes[..]).chain(volumes.iter().map(|v| &v.nodes[..]));
        let system = EulerSystem::new(self.masses, elements, false);
        let tets: Vec<RestTet> = mesh.tets.iter().map(|tet| RestTet::new(&mesh.vertices, *tet)).collect();
        // a third of the trace of K_ii, over all nodes
        let edges: Real = distances.iter().filter(|d| d.compliance > 0.0).map(|d| 2.0 / d.compliance).sum();
        let squares = |v: &crate::deformable::pbd::Volume| -> Real {
            let slopes = v.measure(v.nodes.map(|n| mesh.vertices[n as usize])).map_or([Vec3::ZERO; 4], |m| m.1);
            slopes.iter().map(|g| g.length_squared()).sum()
        };
        let bulk: Real = volumes.iter().filter(|v| v.compliance > 0.0).map(|v| squares(v) / v.compliance).sum();
        system.with_smooth(&mesh.vertices, &tets, (edges + bulk) / (3.0 * self.masses.iter().sum::<Real>()))
    }

    /// b, and A in the first substep.
    pub(in crate::deformable) fn assemble(&self, ctx: &StepContext<'_>, body: &BodyMut<'_>, system: &mut EulerSystem) {
        let factor = ctx.h * (ctx.h + self.row_damping);
        system.prepare(ctx, factor, self.masses, body, |x, system| pull(ctx, self, x, system));
        system.begin(ctx, self.masses, 0.0, body);
        pull(ctx, self, body.x, system);
    }
}

/// Forces and stiffness of all rows at x.
fn pull(ctx: &StepContext<'_>, made: &Made<'_>, x: &[Block], system: &mut EulerSystem) {
    for (element, row) in made.rows.distances.iter().enumerate() {
        pull_edge(ctx, made, element, row, x, system);
    }
    let first = made.rows.distances.len();
    for (index, row) in made.rows.volumes.iter().enumerate() {
        let Some((c, slopes)) = row.measure(row.nodes.map(|n| vec(x[n as usize]))) else { continue };
        let k = stiffness(ctx.h, made, row.compliance(c), &row.nodes, &slopes);
        for i in 0..4 {
            system.push(row.nodes[i], slopes[i] * (-ctx.h * k * c));
            for j in i..if ctx.substep == 0 { 4 } else { 0 } {
                let block = outer(slopes[i], slopes[j]) * (ctx.h * (ctx.h + made.row_damping) * k);
                system.add_block(first + index, i, j, block);
            }
        }
    }
}

fn pull_edge(
    ctx: &StepContext<'_>,
    made: &Made<'_>,
    element: usize,
    row: &Distance,
    x: &[Block],
    system: &mut EulerSystem,
) {
    let h = ctx.h;
    let Some((c, slopes)) = row.measure(row.nodes.map(|n| vec(x[n as usize]))) else { return };
    let k = stiffness(h, made, row.compliance(c), &row.nodes, &slopes);
    for (node, slope) in row.nodes.into_iter().zip(slopes) {
        system.push(node, slope * (-h * k * c));
    }
    if ctx.substep == 0 {
        let across = (k * c / (row.rest + c)).max(0.0);
        let along = h * (h + made.row_damping) * k - h * h * across;
        system
            .add_link(element, outer(slopes[1], slopes[1]) * along + Mat3::from_diagonal(Vec3::splat(h * h * across)));
    }
}

/// 1/α; for a rigid row from the masses at its ends.
fn stiffness(h: Real, made: &Made<'_>, compliance: Real, nodes: &[u32], slopes: &[Vec3]) -> Real {
    if compliance > 0.0 {
        return 1.0 / compliance;
    }
    let answer = |(node, slope): (&u32, &Vec3)| slope.length_squared() / made.masses[*node as usize];
    let response: Real = nodes.iter().zip(slopes).map(answer).sum();
    if response > 0.0 { RIGID / (h * h * response) } else { 0.0 }
}

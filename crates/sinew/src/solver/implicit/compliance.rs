//! Response of a system to additional impulses: the solve of a step, linearised, from a zero start.
//!
//! With A the systems of the bodies, J the active rows and C their softness, the velocity change by an impulse b is
//!
//! ```text
//!   (A + Jᵀ C⁻¹ J) v = b
//! ```
//!
//! by the CG and the preconditioner of a pass. From v = 0 every iterate minimises ½ vᵀA v − bᵀv over a Krylov space, so
//! that bᵀv grows towards bᵀA⁻¹b (Hestenes and Stiefel 1952, theorem 6:1): a truncated solve is too stiff, never too
//! compliant.

use super::cg::{dot, mix};
use super::space::{Kind, apply_bodies};
use super::{Scratch, Settings, System, regularize};
use crate::constraint::RowBuffer;
use crate::math::{Block, Real};

/// Stopping criteria of a response.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Maximum number of iterations.
    pub iterations: u32,
    /// Relative residual at which a response ends, in the norm of the preconditioner.
    pub tolerance: Real,
}

/// Reads the bodies and makes the preconditioner for the rows that are active; the others are left out. Must precede
/// [`respond`] with the same system and rows.
pub fn linearise_active(
    system: &System<'_>,
    rows: &mut RowBuffer,
    active: &[bool],
    block_count: usize,
    settings: &Settings,
    scratch: &mut Scratch,
) {
    regularize(system, rows, block_count, settings, scratch);
    let s = &mut scratch.fine;
    for ((rate, row), &active) in s.rate.iter_mut().zip(rows.rows()).zip(active) {
        let acts = active && row.diagonal.is_finite() && row.softness > 0.0;
        *rate = if acts { 1.0 / row.softness } else { 0.0 };
    }
    s.precondition(system, rows);
}

/// Velocity changes v by the impulses b [N·s, N·m·s]. Returns iterations and relative residual; the residual itself is
/// [`residual`].
pub fn respond(
    system: &System<'_>,
    b: &[Block],
    v: &mut [Block],
    effort: Effort,
    scratch: &mut Scratch,
) -> (u32, Real) {
    let (iterations, left) = iterate(system, b, v, effort, scratch);
    if left.is_nan() && !scratch.fine.plain {
        // as in a pass: a coarse correction that is not positive definite is left out
        scratch.fine.plain = true;
        let (more, left) = iterate(system, b, v, effort, scratch);
        return (iterations + more, left);
    }
    (iterations, left)
}

fn iterate(system: &System<'_>, b: &[Block], v: &mut [Block], effort: Effort, scratch: &mut Scratch) -> (u32, Real) {
    let s = &mut scratch.fine;
    v.fill([0.0; 4]);
    for ((r, b), kind) in s.r.iter_mut().zip(b).zip(&s.kind) {
        *r = if *kind == Kind::Prescribed { [0.0; 4] } else { *b };
    }
    s.apply_inverse(system);
    s.p.copy_from_slice(&s.z);
    let first = dot(&s.r, &s.z);
    if first == 0.0 {
        return (0, 0.0);
    }
    let floor = Real::MIN_POSITIVE / Real::EPSILON;
    let goal = (effort.tolerance * effort.tolerance * first).max(floor);
    let (mut rz, mut iterations) = (first, 0);
    while rz > goal && iterations < effort.iterations {
        // blocks of no body are written by rows alone
        s.q.fill([0.0; 4]);
        apply_bodies(system, &s.p, &mut s.q);
        s.active.add_product(&s.p, &mut s.q);
        let pq = dot(&s.p, &s.q);
        if !(pq > 0.0 && pq.is_finite()) {
            break;
        }
        let alpha = rz / pq;
        mix(v, 1.0, &s.p, alpha);
        mix(&mut s.r, 1.0, &s.q, -alpha);
        s.apply_inverse(system);
        let next = dot(&s.r, &s.z);
        mix(&mut s.p, next / rz, &s.z, 1.0);
        rz = next;
        iterations += 1;
    }
    (iterations, (rz / first).sqrt())
}

/// b − (A + Jᵀ C⁻¹ J) v of the last response [N·s]; meaningless on prescribed blocks.
pub fn residual(scratch: &Scratch) -> &[Block] {
    &scratch.fine.r
}

/// Σ a·b over all blocks.
pub fn product(a: &[Block], b: &[Block]) -> Real {
    dot(a, b)
}

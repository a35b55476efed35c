//! The energy ledger: what changed the energy and the momentum of the bodies in a step (`docs/ledger.md`).
//!
//! In a substep a body of mass m has the velocity v⁻ before and v⁺ after all impulses. With the mean velocity
//! v̄ = (v⁻ + v⁺)/2
//!
//! ```text
//!   ½ m (v⁺² − v⁻²) = Σ p·v̄   over all impulses p on it,
//! ```
//!
//! so that each impulse has a work of its own and the works add up without remainder. For a pair of impulses at a contact or
//! in a row, the work is λ J·v̄: what both bodies lose on the way. For a side that no impulse moves (a kinematic body, a
//! moved pinned node) −λ J·v̄ on that side is the work that enters from it.
//!
//! Potential energies are functions of positions, and positions move with the corrected velocities c
//! (`step/solve.rs`). Per substep the work of gravity differs from the change of its potential by
//!
//! ```text
//!   m h g·v̄ − m h g·c = m h g·(v̄ − v⁺)  [integrator]  +  m h g·(v⁺ − c)  [correction].
//! ```
//!
//! A linearly implicit body solves A v⁺ = b + Jᵀλ with A = (1 + hα) M + h (h + β) K. Its internal impulses
//! p = M Δv − h f_ext − Jᵀλ contain damping. With q = v⁺·(A − (1 + hα) M) v⁺ = h (h + β) v⁺·K v⁺ and the residual
//! r = A v⁺ − b − Jᵀλ of the solve
//!
//! ```text
//!   p·v̄ = −ΔU − (hα v⁺·M v⁺ + q β/(h + β))  [damping]  − (½ q h/(h + β) + ½ p·Δv − r·v⁺)  [integrator]
//! ```
//!
//! where U is quadratic; what other laws differ by is unexplained. Bodies that no such formula describes (explicit
//! integration, goal positions, position-based models, cloth in columns) have the rest of their balance in `integrator`.
//!
//! Nothing here changes bodies or State. Sums are f64; their order is that of slots and rows, independent of threads.

mod book;
mod contacts;
mod rows;
mod stock;
mod substep;

pub(crate) use book::{begin, end, enter, flow};
pub(crate) use stock::{around, kinetic_of};
pub(crate) use substep::{Members, close_implicit, close_swept, open};

use crate::math::Real;

#[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
fn wide(x: Real) -> f64 {
    x as f64
}

//! Bodies of vibration modes in a world: a frame that moves as a rigid body, and a few modes that deform it
//! (`sinew-reduce`). A model of the user's kind (`sinew::deformable::Deformable`) with a response of its own.
//!
//! ```text
//!   x_k = c + R (X_k + W_k z),   M V̇ = Σ f,   L̇ = Σ r × f,   z̈ + (α₁ λ + α₂) ż + λ z = Wᵀ Rᵀ f
//! ```
//!
//! The state is positions and velocities of the nodes and nothing else: c is the centre of mass, R the polar rotation of
//! Σ m (x − c) Xᵀ, which is exact since modes have no angular momentum at rest, z = Wᵀ M (Rᵀ (x − c) − X). So save,
//! restore and hash need no care.
//!
//! A mode takes one exact step under a force that is constant over the step (`ModeStep`): no step limit, no numerical
//! damping. An impulse p of a row counts as the force p/h, so that bodies at rest on contacts have their exact static
//! deflection; what it changes of the mean speed of a mode in the step is s/h² with s the answer to a unit force. That
//! vanishes where a step is a whole period, so modes with ω h above `EXACT` take an implicit step (static answer exact,
//! motion damped).
//!
//! Momentum and angular momentum are those of the nodes to rounding: modes are made orthogonal to the rotations of the
//! present shape, W̃ = R W − Q × r. Small deflections in the frame: a spinning body does not bulge, and large bending
//! does not shorten. Nodes that are pinned do not hold it: attach them by constraints.
//!
//! ```
//! use sinew::*;
//! use sinew_modal::{Params, body};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let block = TetMesh::block([4, 2, 2], Vec3::new(0.4, 0.2, 0.2))?;
//! let mut world = World::default();
//! let id = world.add_soft(body(block, &Params { modes: 12, ..Params::default() })?)?;
//! for _ in 0..60 {
//!     world.step(&Input::none());
//! }
//! assert!((world.body(id)?.velocity().y + 9.81).abs() < 0.01);
//! # Ok(()) }
//! ```

mod frame;
mod model;

pub use model::{NAME, Params, body, custom, make};

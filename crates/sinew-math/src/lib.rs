//! Numbers: the real type of the engine, aliases of vector types, small matrix functions, SIMD lanes.
//!
//! Part of the core, in a crate of its own for the sake of the compile time. Only this crate uses the vector crate
//! directly, and only here and in `collision/parry.rs` of the core may the `f64` feature be tested.

mod block;
mod draws;
mod frame;
mod lanes;
mod number;
mod polar;
mod rotation;
mod sane;
mod tensor;
mod wide;

pub use block::{Block, add, hold, put, quat, rigid_pose, vec};
#[doc(hidden)]
pub use draws::Draws;
pub use frame::{Frame, Motion, Wrench, rotation_vector, shortened, turn};
pub use lanes::strip::{Columns, StripPairs, StripSpan, Strips};
pub use lanes::vector::{self as lane3, Eight, Eight3, Sixteen, Sixteen3};
pub use lanes::{
    BROAD, Blocks, BroadKernel, Kernel, LANES, Lane, Number, PairPicks, Pairs, Picked, PickedPairs, Picks, one_level,
    run, run_broad, run_wide,
};
pub use number::{NumberError, check, not_negative, positive};
pub use polar::{Svd, cofactor, natural_log, polar_rotation, positive_part, trace};
pub use rotation::{angle_of, nearest_rotation, nearest_rotation_from, pseudo_inverse, root};
pub use sane::{FAR, is_place, is_turn};
pub use tensor::{Pose, Sym3, any_orthonormal, beyond_tangent, cross_matrix, integrate_rotation, outer, turn_free};
pub use wide::{
    Wide3, WideMat3, WideQuat, eigen, narrow, narrow_rotation, pseudo_inverse as wide_pseudo_inverse, wide_outer,
    widen, widen_rotation,
};

#[cfg(not(feature = "f64"))]
mod precision {
    /// The real number of the engine: f32, or f64 with the `f64` feature.
    pub type Real = f32;
    /// Three reals.
    pub type Vec3 = glam::Vec3;
    /// A rotation as a unit quaternion.
    pub type Quat = glam::Quat;
    /// A 3x3 matrix, columns first.
    pub type Mat3 = glam::Mat3;
}
#[cfg(feature = "f64")]
mod precision {
    /// The real number of the engine: f32, or f64 with the `f64` feature.
    pub type Real = f64;
    /// Three reals.
    pub type Vec3 = glam::DVec3;
    /// A rotation as a unit quaternion.
    pub type Quat = glam::DQuat;
    /// A 3x3 matrix, columns first.
    pub type Mat3 = glam::DMat3;
}
pub use precision::{Mat3, Quat, Real, Vec3};

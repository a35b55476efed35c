//! All errors of the public functions. Each names the cause and a remedy; a step itself never fails.

use crate::model::tet_mesh::TetMeshError;
use crate::model::tri_mesh::TriMeshError;
use crate::model::{BodyId, ConstraintId};

/// Reason for a rejection. The world is unchanged.
///
/// ```
/// use sinew::*;
/// let mut world = World::default();
/// let told = world.add_rigid(RigidBody::dynamic().shape(Shape::ball(-1.0)).named("egg")).unwrap_err().to_string();
/// assert!(told.contains("egg"), "{told}");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number is not finite, or out of its range.
    #[error("{what} is {value}, but must be {must}")]
    BadNumber {
        /// The field, by its public name.
        what: String,
        /// The given value.
        value: f64,
        /// The allowed values.
        must: std::borrow::Cow<'static, str>,
    },
    /// A shape that cannot be built.
    #[error("{shape}: {reason}")]
    BadShape {
        /// Kind of shape, with the index inside a compound.
        shape: String,
        /// The problem and a remedy.
        reason: String,
    },
    /// An invalid mesh of tetrahedra.
    #[error(transparent)]
    Tets(#[from] TetMeshError),
    /// An invalid mesh of triangles.
    #[error(transparent)]
    Triangles(#[from] TriMeshError),
    /// A moving body without mass or with an inertia that cannot be inverted.
    #[error("{body}: {reason}")]
    BadMass {
        /// Name or kind of the body.
        body: String,
        /// The problem and a remedy.
        reason: String,
    },
    /// An id of a body that was removed, or of another world.
    #[error("{0:?} is stale: that body was removed, or belongs to another world")]
    StaleBody(BodyId),
    /// An id of a constraint that was removed, or of another world.
    #[error("{0:?} is stale: that constraint was removed, or belongs to another world")]
    StaleConstraint(ConstraintId),
    /// The call is for another kind of body.
    #[error("{0:?} is a {1}, this call needs a {2}")]
    WrongKind(BodyId, &'static str, &'static str),
    /// An invalid joint or constraint.
    #[error("{constraint}: {reason}")]
    BadConstraint {
        /// Kind of constraint.
        constraint: &'static str,
        /// The problem and a remedy.
        reason: String,
    },
    /// An edit of the topology of a body that cannot be made.
    #[error("{body}, model '{model}': {reason}")]
    BadTopology {
        /// Name or id of the body.
        body: String,
        /// Name of its model.
        model: String,
        /// The problem and a remedy.
        reason: String,
    },
    /// A snapshot of another model, or an inconsistent one.
    #[error("snapshot refused: {0}")]
    BadSnapshot(String),
}

impl From<sinew_math::NumberError> for Error {
    fn from(error: sinew_math::NumberError) -> Self {
        let sinew_math::NumberError { what, value, must } = error;
        Error::BadNumber { what, value, must }
    }
}

/// Checks a number that must be finite.
pub(crate) fn finite(what: &str, value: crate::math::Real) -> Result<(), Error> {
    check(what, value, value.is_finite(), "finite")
}

/// Checks a number that must be finite and above zero.
pub(crate) fn positive(what: &str, value: crate::math::Real) -> Result<(), Error> {
    Ok(sinew_math::positive(what, value)?)
}

/// Checks a mass [kg]. Beyond these bounds its inverse, sums over a body or moments over a kilometre overflow or
/// underflow.
pub(crate) fn weighable(what: &str, mass: crate::math::Real) -> Result<(), Error> {
    check(what, mass, (1e-20..=1e20).contains(&mass), "from 1e-20 to 1e20 [kg]")
}

/// Checks a number that must be finite and not below zero.
pub(crate) fn not_negative(what: &str, value: crate::math::Real) -> Result<(), Error> {
    Ok(sinew_math::not_negative(what, value)?)
}

/// Checks a factor on gravity. More than this is a slip of the pen: the limit of gravity times it is still far from overflow.
pub(crate) fn gravity_factor(what: &str, factor: crate::math::Real) -> Result<(), Error> {
    check(what, factor, factor.abs() <= 1e5, "from -1e5 to 1e5")
}

/// Checks a vector that must be finite.
pub(crate) fn finite_vec(what: &str, v: crate::math::Vec3) -> Result<(), Error> {
    for (name, c) in ["x", "y", "z"].iter().zip(v.to_array()) {
        finite(&format!("{what}.{name}"), c)?;
    }
    Ok(())
}

pub(crate) fn check(what: &str, value: crate::math::Real, ok: bool, must: &'static str) -> Result<(), Error> {
    Ok(sinew_math::check(what, value, ok, must)?)
}

/// Checks a count. The error has the exact value: f32 does not represent all of `u32`.
pub(crate) fn count(what: &str, n: u32, range: std::ops::RangeInclusive<u32>, must: &'static str) -> Result<(), Error> {
    if range.contains(&n) {
        Ok(())
    } else {
        Err(Error::BadNumber { what: what.to_owned(), value: f64::from(n), must: must.into() })
    }
}

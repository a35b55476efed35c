//! Guards: limits on the result of a step after the solve. Continuous collision detection, resolution of intersections,
//! rollback of diverging bodies, the energy limiter.

pub(crate) mod ccd;
pub(crate) mod energy_limiter;
pub(crate) mod intersections;
pub(crate) mod motion_sums;
pub(crate) mod rollback;
mod time_of_contact;

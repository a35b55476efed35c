//! Guards: what keeps a step within bounds after the solver is done. Continuous collision detection, resolution of
//! intersections, rollback of diverging bodies, the energy limiter.

pub(crate) mod ccd;
pub(crate) mod energy_limiter;
pub(crate) mod intersections;
pub(crate) mod motion_sums;
pub(crate) mod rollback;

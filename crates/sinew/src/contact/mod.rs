//! Contact: detection (`find/`), the law of a contact, the kernels that solve it (`kernel/`), and the memory of
//! contacts from step to step. A contact takes one route through a step; `step/plan.rs` chooses it.

pub(crate) mod cloth;
pub(crate) mod find;
pub(crate) mod kernel;
pub(crate) mod law;
pub(crate) mod light_nodes;
pub(crate) mod point;
pub(crate) mod readout;
pub(crate) mod route;
pub(crate) mod sort;

//! Islands: bodies linked by contacts and constraints, how many substeps they take, and how each kind of island is
//! driven through its substeps.

pub(crate) mod air;
pub(crate) mod cloth_substeps;
mod context;
pub(crate) mod impact_substeps;
pub(crate) mod implicit;
pub(crate) mod momentum;
pub(crate) mod soft_body;
mod union;

pub(crate) use context::SubstepContext;
pub(crate) use union::Islands;

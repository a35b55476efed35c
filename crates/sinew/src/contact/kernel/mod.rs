//! Kernels that solve contacts, one for each layout of the data: manifolds of rigid bodies, light nodes, soft surfaces
//! as rows, cloth in SoA, self-contact of cloth.

pub(crate) mod cloth;
pub(crate) mod node;
pub(crate) mod node_law;
mod pinch;
pub(crate) mod rigid;
pub(crate) mod rigid_batch;
pub(crate) mod rigid_law;
mod rigid_ledger;
#[cfg(test)]
mod rigid_oracle;
pub(crate) mod rigid_set;
pub(crate) mod self_contact;
pub(crate) mod surface;

//! Physics with known answers: each [`Case`] builds a world, runs it, and gives [`Reading`]s with measured and right values.
//!
//! The cases, their numbers and their tolerances are those of the list of physics with known answers; labels of readings
//! are the labels of that list. Readings beyond the list have labels of their own.

mod cloth;
mod elastic_contact;
mod elastic_dynamics;
mod elastic_laws;
mod elastic_statics;
mod friction;
mod friction_contact;
mod hands;
mod mixed;
mod reading;
mod relations;
mod rigid_a1;
mod rigid_a2;
mod rigid_b;
mod rigid_c;
mod ropes;
mod ropes_contact;
pub mod soft_tools;
pub mod tools;

pub use reading::{Case, Reading, Readings};

/// All cases, group after group.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    let rigid = [rigid_a1::CASES, rigid_a2::CASES, rigid_b::CASES, rigid_c::CASES];
    let soft =
        [elastic_statics::CASES, elastic_contact::CASES, elastic_dynamics::CASES, elastic_laws::CASES, mixed::CASES];
    let friction = [friction::CASES, friction_contact::CASES];
    let thin = [ropes::CASES, ropes_contact::CASES, cloth::CASES];
    rigid.into_iter().chain(thin).chain(soft).chain(friction).chain([relations::CASES, hands::CASES]).flatten()
}

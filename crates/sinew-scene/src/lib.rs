//! Scenes for Sinew, from Rust ([`gallery`]) and from files ([`mod@file`]), and the validation of their physics: [`validate`] runs cases whose right answers are
//! known, [`bench_models`] gives every deformable model the same task.

#![forbid(unsafe_code)]

mod any;
pub mod bench_models;
pub mod census;
pub mod escape;
pub mod faults;
pub mod file;
pub mod friction_bench;
pub mod gallery;
pub mod links;
pub mod open;
pub mod reading;
mod rng;
pub mod validate;

pub use any::AnyScene;
pub use rng::Rng;

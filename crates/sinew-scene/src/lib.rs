//! Scenes for Sinew, from Rust ([`gallery`]) and from files ([`mod@file`]), and the physics they are judged by: [`validate`] runs cases whose right answers are
//! known, [`bench_models`] gives every deformable model the same task.

#![forbid(unsafe_code)]

mod any;
pub mod bench_models;
pub mod census;
mod chance;
pub mod escape;
pub mod faults;
pub mod file;
pub mod friction_bench;
pub mod gallery;
pub mod validate;

pub use any::AnyScene;
pub use chance::Chance;

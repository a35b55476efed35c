//! Scenes for Sinew, from Rust ([`gallery`]) and from files ([`file`]), and the physics they are judged by: [`validate`] runs cases whose right answers are known.

mod any;
pub mod file;
pub mod gallery;
pub mod validate;

pub use any::AnyScene;

//! Scenes for Sinew, and the physics they are judged by: [`validate`] runs cases whose right answers are known.

pub mod gallery;
pub mod validate;

//! Meshless bodies: points that interact with their neighbours.

mod mls;
mod rest;
mod tangent;
#[cfg(test)]
mod tests;

pub use mls::{Mls, MlsError, MlsParams, Scheme};

//! Detection: colliders, their bounds, and the surfaces of bodies of nodes.

use super::SkinWork;
use crate::collision::surface::{Held, NearPairs, Touching};
use crate::collision::{Bounds3, BroadPhase, Candidate, NarrowScratch};
use crate::contact::find::ellipsoid::Around;
use crate::math::Real;
use crate::model::{Groups, Motion, SurfaceMaterial};
use crate::state::ContactKey;

/// One collider of the world, by the slot of its body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColliderRef {
    pub body: u32,
    pub collider: u32,
    /// Its index in `Work::surfaces`.
    pub surface: u32,
    pub groups: Groups,
    pub sensor: bool,
    /// Kind of motion of the body.
    pub motion: Motion,
}

/// Colliders, bounds, the broad phase, surfaces, and the scratch of the search for contacts.
#[derive(Debug, Default)]
pub(crate) struct DetectWork {
    /// All colliders. Rebuilt when the model changes.
    pub colliders: Vec<ColliderRef>,
    /// First collider of each body (slots + 1).
    pub collider_start: Vec<u32>,
    pub unbounded: Vec<bool>,
    /// Materials of the colliders; consecutive equal ones share one entry. Rebuilt when the model changes.
    pub surfaces: Vec<SurfaceMaterial>,
    pub revision: Option<u64>,
    /// Tight boxes, grown by the motion of the step. Written by `detect`. (colliders)
    pub bounds: Vec<Bounds3>,
    /// Largest displacement of each body within the step [m]. Written by `detect`. (slots)
    pub motion: Vec<Real>,
    pub broad: BroadPhase,
    pub candidates: Vec<Candidate>,
    pub narrow: Vec<NarrowScratch>,
    /// Surfaces of bodies of nodes. Written by `detect`. (slots)
    pub skins: Vec<Option<SkinWork>>,
    /// Pairs of features that may be in contact, and those that are, of the current two bodies. Written by `detect`.
    pub near_pairs: NearPairs,
    /// Keys of the contacts of these bodies in State. Written by `detect`.
    pub known_keys: Vec<ContactKey>,
    pub touching_features: Vec<Touching>,
    /// Vertices with a contact, while edge contacts are reduced.
    pub held_vertices: Held,
    /// Colliders and cells near the current surface. Written by `detect`.
    pub near_colliders: Vec<u32>,
    pub near_cells: Vec<u32>,
    /// Largest displacement of each surfel of the current body, with margin [m]. Written by `detect`.
    pub reaches: Vec<Real>,
    /// Largest depth of a shape that began inside a soft body [m]. Written by `detect`.
    pub inside: Real,
    /// Bounding spheres of oriented particles, sorted by their smallest x. Written by `detect`.
    pub particles_around: Vec<Around>,
}

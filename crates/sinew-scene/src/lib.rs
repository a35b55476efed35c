//! sinew-scene

//! sinew-wire

//! A frame: what the simulation gives for one picture.

use crate::state::State;

/// Surface points of a deformable body.
///
/// An example is at [`Frame`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BodyPoints {
    /// Number of the body in the scene.
    pub body: u16,
    /// All its points [m].
    pub points: Vec<[f32; 3]>,
}

/// All that moves, at one step.
///
/// ```
/// use sinew_stream::{BodyPoints, Frame};
/// let body = BodyPoints { body: 1, points: vec![[0.0; 3]; 4] };
/// let frame = Frame { tick: 600, bodies: vec![body], ..Frame::default() };
/// assert_eq!(frame.bodies[0].points.len(), 4);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Step of the simulation.
    pub tick: u32,
    /// Deformable bodies.
    pub bodies: Vec<BodyPoints>,
    /// Rigid bodies, tools, readings.
    pub state: State,
}

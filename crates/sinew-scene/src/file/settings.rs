//! Settings of the engine, and the camera.

use super::described::described;
use super::form::{FINITE, from_to, record};
use sinew::{Real, Settings, Stabilization, Vec3};

described!(Settings, Stabilization);

/// The camera of images of the scene.
///
/// ```
/// use sinew_scene::file::{Syntax, read_text};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = "[camera]\neye = [1, 1, 1]\ntarget = [0, 0, 0]\n";
/// assert_eq!(read_text(text, "c.toml", Syntax::Toml)?.camera().map(|c| c.eye.x), Some(1.0));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Its position [m].
    pub eye: Vec3,
    /// The point it is directed at [m].
    pub target: Vec3,
    /// Vertical angle of view [°].
    pub field_of_view: Real,
}

impl Default for Camera {
    fn default() -> Self {
        Self { eye: Vec3::new(2.0, 1.5, 3.0), target: Vec3::ZERO, field_of_view: 45.0 }
    }
}

record!(Camera, "camera", "The camera of images of the scene.", base |_| Camera::default(), {
    eye: FINITE, "Its position [m].";
    target: FINITE, "The point it is directed at [m].";
    field_of_view: from_to(1.0, 179.0), "Vertical angle of view [degrees].";
});

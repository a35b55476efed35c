//! The camera: rays of pixels, and the nearest eye position from which all given points are in the view frustum.

use crate::primitive::Ray;
use sinew::{Real, Vec3};

/// A camera that looks at a point, upright.
///
/// ```
/// use sinew::Vec3;
/// use sinew_render::Camera;
/// // far enough away to see both points
/// let camera = Camera::around(&[Vec3::NEG_X, Vec3::X], Vec3::Z, 0.8, 1.0);
/// assert!(camera.eye.length() > 1.0 && camera.target.length() < 1e-4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Position of the eye [m].
    pub eye: Vec3,
    /// Point that it looks at [m].
    pub target: Vec3,
    /// Vertical field of view in degrees.
    pub field_of_view: Real,
}

/// Axes of a camera: right, up, backward (from the target to the eye); and half the height of the image plane at
/// distance 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub eye: Vec3,
    pub right: Vec3,
    pub up: Vec3,
    pub back: Vec3,
    tangent: Real,
}

/// Margin around the framed points, as a fraction of the image.
const MARGIN: Real = 0.08;

impl Camera {
    pub(crate) fn frame(&self) -> Frame {
        let back = (self.eye - self.target).try_normalize().unwrap_or(Vec3::Z);
        // vertical view direction: right is +x, so that -z is up in a view from above
        let right = Vec3::Y.cross(back).try_normalize().unwrap_or(Vec3::X);
        let tangent = (self.field_of_view.to_radians() * 0.5).tan();
        Frame { eye: self.eye, right, up: back.cross(right), back, tangent }
    }

    /// The camera nearest to the points whose view frustum contains all of them, for a direction from the points to the
    /// eye. `aspect` is width / height of the image.
    pub fn around(points: &[Vec3], towards: Vec3, field_of_view: Real, aspect: Real) -> Self {
        let start = Self { eye: towards, target: Vec3::ZERO, field_of_view };
        let frame = start.frame();
        let ty = frame.tangent * (1.0 - 2.0 * MARGIN);
        let tx = ty * aspect;
        // A point (x, y, z), z towards the eye, is inside when |x - cx| ≤ (cz - z) tx: four planes, each of which
        // contains one of the points.
        let reach = |axis: Vec3, t: Real| {
            points.iter().map(|p| p.dot(axis) + p.dot(frame.back) * t).fold(Real::NEG_INFINITY, Real::max)
        };
        let sides = [(frame.right, tx), (-frame.right, tx), (frame.up, ty), (-frame.up, ty)].map(|(a, t)| reach(a, t));
        if points.is_empty() || sides.iter().any(|s| !s.is_finite()) {
            let eye = frame.back * 3.0;
            return Self { eye, ..start };
        }
        let [right, left, up, down] = sides;
        let (cx, cy) = ((right - left) * 0.5, (up - down) * 0.5);
        let cz = ((right + left) / (2.0 * tx)).max((up + down) / (2.0 * ty));
        let nearest = points.iter().map(|p| p.dot(frame.back)).fold(Real::NEG_INFINITY, Real::max);
        let farthest = points.iter().map(|p| p.dot(frame.back)).fold(Real::INFINITY, Real::min);
        let cz = cz.max(nearest + 0.05 * (nearest - farthest) + 1e-3);
        let eye = frame.right * cx + frame.up * cy + frame.back * cz;
        Self { eye, target: eye - frame.back * (cz - 0.5 * (nearest + farthest)).max(1e-3), field_of_view }
    }
}

impl Frame {
    /// The ray through a point of the image: x and y from -1 to 1, right and up.
    pub fn ray(&self, x: Real, y: Real, aspect: Real) -> Ray {
        let across = self.right * (x * self.tangent * aspect) + self.up * (y * self.tangent);
        Ray { origin: self.eye, direction: (across - self.back).normalize_or_zero() }
    }

    /// Size of a pixel at distance 1 when the image has this height.
    pub fn pixel(&self, height: u32) -> Real {
        2.0 * self.tangent / height as Real
    }
}

//! Images of a world, ray-traced on the CPU without GPU and display.
//!
//! Rays are cast into a bounding volume hierarchy of all bodies; each sample has one shadow ray to the sun and two
//! ambient occlusion rays to the sky. The same world and camera give the same image, bit for bit, on any number of
//! threads. [`figures`] returns the bodies as solids, also for export to files.
//!
//! ```
//! use sinew::*;
//! use sinew_render::{Options, automatic, render};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut world = World::default();
//! world.add_rigid(RigidBody::fixed().shape(Shape::half_space(Vec3::Y)))?;
//! world.add_rigid(RigidBody::dynamic().shape(Shape::ball(0.5)).at([0.0, 0.5, 0.0]))?;
//! let options = Options { width: 64, height: 40, ..Options::default() };
//! let picture = render(&world, &automatic(&world, &options), &options)?;
//! assert_eq!(picture.pixels.len(), 64 * 40 * 3);
//! # Ok(()) }
//! ```

#![forbid(unsafe_code)]

mod camera;
mod figure;
mod hull;
mod image;
mod light;
mod primitive;
mod shape;
mod stage;
mod tree;

pub use camera::Camera;
pub use figure::{Figure, Look, Solid, Triangles, figures};
pub use image::Image;

use light::Light;
use sinew::{Pose, Real, Vec3, World};
use stage::Stage;

/// Maximum width and height of an image in pixels.
pub const MAX_SIDE: u32 = 8192;
/// Maximum number of samples along a side of a pixel.
pub const MAX_SAMPLES: u32 = 8;
/// Field of view of the automatic camera [degrees].
const VIEW: Real = 32.0;

/// Options of an image.
///
/// ```
/// use sinew::{RigidBody, Shape, World};
/// use sinew_render::{Options, automatic, render};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// world.add_rigid(RigidBody::fixed().shape(Shape::ball(0.5)))?;
/// let options = Options { width: 40, height: 30, samples: 1, ..Options::default() };
/// let image = render(&world, &automatic(&world, &options), &options)?;
/// // the ball in the middle is not the sky of a corner
/// assert_ne!(image.pixel(20, 15), image.pixel(0, 0));
/// let mut png = Vec::new();
/// image.write_png(&mut png)?;
/// assert!(png.starts_with(b"\x89PNG"));
/// // a picture without pixels is refused
/// assert!(render(&world, &automatic(&world, &options), &Options { width: 0, ..options }).is_err());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Samples along each side of a pixel: 3 means nine samples per pixel. More: smoother edges and shadows, and
    /// slower.
    pub samples: u32,
    /// Direction to the sun; `None`: from the left, above and behind the camera.
    pub sun: Option<Vec3>,
}

impl Default for Options {
    fn default() -> Self {
        Self { width: 960, height: 600, samples: 4, sun: None }
    }
}

/// Why an image was not rendered.
///
/// An example is at [`Options`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RenderError {
    /// A size that is zero or too large.
    #[error("{what}: {value}, must be from 1 to {most}")]
    Size {
        /// The name of the size.
        what: &'static str,
        /// Its value.
        value: u32,
        /// The maximum.
        most: u32,
    },
    /// The camera is not finite, its eye and target coincide, or its field of view is out of range.
    #[error("camera: {0}")]
    Camera(&'static str),
    /// The caller of [`render_until`] stopped it.
    #[error("stopped")]
    Stopped,
}

/// A camera that shows all moving bodies, and the fixed bodies near them. It is raised where the ground would occlude
/// them.
pub fn automatic(world: &World, options: &Options) -> Camera {
    let all = figures(world);
    let moving = points(all.iter().filter(|f| f.look != Look::Stage));
    let fixed = points(all.iter().filter(|f| f.look == Look::Stage));
    let mut seen = moving;
    if seen.is_empty() {
        seen = fixed;
    } else {
        // A landscape is not framed completely: only the parts near the moving bodies.
        let (low, high) = bounds(&seen);
        let room = Vec3::splat(0.35 * (high - low).max_element());
        let near = |p: &Vec3| p.cmpge(low - room).all() && p.cmple(high + room).all();
        seen.extend(fixed.into_iter().filter(near));
    }
    let aspect = options.width.max(1) as Real / options.height.max(1) as Real;
    let from = |height: Real| Camera::around(&seen, Vec3::new(0.45, height, 0.85), VIEW, aspect);
    let fields: Vec<Figure> = all.into_iter().filter(is_field).collect();
    let ground = Stage::new(&fields);
    // visibility is tested for a sample of the points, most of which must be visible
    let some: Vec<Vec3> = seen.iter().step_by(seen.len() / 40 + 1).copied().collect();
    let hidden = |camera: &Camera| {
        let count = some.iter().filter(|p| ground.hides(camera.eye, **p)).count();
        20 * count > some.len()
    };
    let heights = [0.36, 0.6, 0.9, 1.3, 2.0, 3.5];
    heights.into_iter().map(from).find(|camera| !hidden(camera)).unwrap_or_else(|| from(0.36))
}

fn is_field(figure: &Figure) -> bool {
    figure.solids.iter().any(|s| matches!(s, Solid::Field { .. }))
}

/// Minimum and maximum corner of the bounding box of points.
fn bounds(points: &[Vec3]) -> (Vec3, Vec3) {
    let low = points.iter().fold(Vec3::INFINITY, |a, &b| a.min(b));
    (low, points.iter().fold(Vec3::NEG_INFINITY, |a, &b| a.max(b)))
}

/// Points whose convex hull contains all bounded solids of the figures.
fn points<'a>(figures: impl Iterator<Item = &'a Figure>) -> Vec<Vec3> {
    let mut out = Vec::new();
    for figure in figures {
        let mut around = |center: Vec3, radius: Real| {
            let center = figure.pose.point(center);
            let axes = [Vec3::X, Vec3::Y, Vec3::Z];
            out.extend(axes.into_iter().flat_map(|a| [center + a * radius, center - a * radius]));
        };
        for solid in &figure.solids {
            match solid {
                Solid::Ball { center, radius } => around(*center, *radius),
                Solid::Capsule { a, b, radius } => [a, b].into_iter().for_each(|end| around(*end, *radius)),
                Solid::Mesh(mesh) => mesh.vertices.iter().for_each(|v| around(*v, 0.0)),
                Solid::Plane { .. } | Solid::Field { .. } => {}
            }
        }
    }
    out.retain(|p| p.is_finite());
    out
}

/// Renders an image.
///
/// # Errors
/// Sizes that are zero or too large, and an invalid camera.
pub fn render(world: &World, camera: &Camera, options: &Options) -> Result<Image, RenderError> {
    render_until(world, camera, options, || false)
}

/// Renders an image until `stop` returns true. All threads call it before each pixel.
///
/// # Errors
/// Those of [`render`], and [`RenderError::Stopped`].
pub fn render_until(
    world: &World,
    camera: &Camera,
    options: &Options,
    stop: impl Fn() -> bool + Sync,
) -> Result<Image, RenderError> {
    check(camera, options)?;
    let stage = Stage::new(&with_ground(figures(world), world));
    let frame = camera.frame();
    let scale = (camera.eye - camera.target).length();
    let usual = frame.back * 0.55 - frame.right * 0.75 + Vec3::Y * 1.15;
    let sun = options.sun.unwrap_or(usual).try_normalize().unwrap_or(Vec3::Y);
    let n = options.samples;
    let light = Light { sun, scale, pixel: frame.pixel(options.height * n), samples: n * n };
    let (width, height) = (options.width, options.height);
    let aspect = width as Real / height as Real;
    let draw = |y: u32, row: &mut [u8]| {
        for (x, pixel) in row.chunks_mut(3).enumerate().take_while(|_| !stop()) {
            let mut sum = Vec3::ZERO;
            for k in 0..n * n {
                let place = |at: u32, inner: u32, count: u32| {
                    2.0 * (at as Real + (inner as Real + 0.5) / n as Real) / count as Real - 1.0
                };
                let ray = frame.ray(place(x as u32, k % n, width), -place(y, k / n, height), aspect);
                // neighbouring samples of a pixel use distant points of the sun disc
                sum += light.colour(&stage, &ray, k * 7 % (n * n));
            }
            pixel.copy_from_slice(&image::encode(sum / (n * n) as Real));
        }
    };
    let mut pixels = vec![0; 3 * width as usize * height as usize];
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        // rows are assigned to the threads in turn, so that the work of sky and bodies is balanced
        let mut shares: Vec<Vec<(u32, &mut [u8])>> = (0..threads).map(|_| Vec::new()).collect();
        for (y, row) in pixels.chunks_mut(3 * width as usize).enumerate() {
            shares[y % threads].push((y as u32, row));
        }
        for share in shares {
            scope.spawn(|| share.into_iter().for_each(|(y, row)| draw(y, row)));
        }
    });
    if stop() { Err(RenderError::Stopped) } else { Ok(Image { width, height, pixels }) }
}

fn check(camera: &Camera, options: &Options) -> Result<(), RenderError> {
    let sizes = [
        ("width", options.width, MAX_SIDE),
        ("height", options.height, MAX_SIDE),
        ("samples", options.samples, MAX_SAMPLES),
    ];
    for (what, value, most) in sizes {
        if value == 0 || value > most {
            return Err(RenderError::Size { what, value, most });
        }
    }
    if !camera.eye.is_finite() || !camera.target.is_finite() || camera.eye == camera.target {
        return Err(RenderError::Camera("eye and target must be two finite points"));
    }
    if !(camera.field_of_view >= 1.0 && camera.field_of_view <= 179.0) {
        return Err(RenderError::Camera("field_of_view must be from 1 to 179 degrees"));
    }
    Ok(())
}

/// With gravity but without ground, a floor is drawn below the lowest point: size and position of bodies before an
/// empty background cannot be judged.
fn with_ground(mut figures: Vec<Figure>, world: &World) -> Vec<Figure> {
    let gravity = world.settings().gravity;
    if gravity == Vec3::ZERO || figures.iter().any(is_ground) {
        return figures;
    }
    let all = points(figures.iter());
    let up = -gravity.normalize_or_zero();
    let lowest = all.iter().map(|p| p.dot(up)).fold(Real::INFINITY, Real::min);
    let highest = all.iter().map(|p| p.dot(up)).fold(Real::NEG_INFINITY, Real::max);
    if lowest.is_finite() {
        let point = up * (lowest - 0.15 * (highest - lowest));
        let solids = vec![Solid::Plane { point, normal: up }];
        let (name, pose) = (String::new(), Pose::IDENTITY);
        figures.push(Figure { body: None, name, look: Look::Stage, pose, solids });
    }
    figures
}

/// True when the figure is unbounded.
fn is_ground(figure: &Figure) -> bool {
    figure.solids.iter().any(|solid| matches!(solid, Solid::Plane { .. } | Solid::Field { .. }))
}

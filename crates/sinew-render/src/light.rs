//! Shading: an area light (sun), a sky with ambient occlusion, a specular highlight, a floor with grid lines that fades
//! with distance. Not physically based: it is chosen to make shape, position and contact easy to see.

use crate::primitive::Ray;
use crate::stage::{Hit, Stage};
use sinew::{Real, Vec3};

/// Angular radius of the sun [rad]: it sets the width of the penumbra.
const SUN_WIDTH: Real = 0.025;
const SUN: Vec3 = Vec3::new(1.20, 1.12, 0.98);
const SKY: Vec3 = Vec3::new(0.40, 0.46, 0.56);
const BOUNCE: Vec3 = Vec3::new(0.27, 0.26, 0.25);
const HORIZON: Vec3 = Vec3::new(0.66, 0.73, 0.80);
const ZENITH: Vec3 = Vec3::new(0.25, 0.40, 0.62);

/// The sun and the parameters of shading.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Light {
    /// Direction to the sun.
    pub sun: Vec3,
    /// Distance from the eye to the target [m].
    pub scale: Real,
    /// Size of a sample at distance 1.
    pub pixel: Real,
    /// Samples per pixel.
    pub samples: u32,
}

/// Point `k` of `count` on the unit disc, uniformly distributed (Vogel's spiral).
fn on_disc(k: u32, count: u32) -> (Real, Real) {
    const GOLDEN: Real = 2.399_963_2;
    let (s, c) = (k as Real * GOLDEN).sin_cos();
    let r = ((k as Real + 0.5) / count as Real).sqrt();
    (r * c, r * s)
}

impl Light {
    /// Colour of a ray; `sample` is its index in the pixel. The sampling pattern is the same in all pixels, so there is
    /// no noise.
    pub fn colour(&self, stage: &Stage, ray: &Ray, sample: u32) -> Vec3 {
        let far = 200.0 * self.scale;
        match stage.first(ray, far) {
            Some(hit) => self.surface(stage, ray, &hit, sample),
            None => sky(ray.direction),
        }
    }

    fn surface(&self, stage: &Stage, ray: &Ray, hit: &Hit, sample: u32) -> Vec3 {
        let n = hit.normal;
        let at = ray.at(hit.distance) + n * (4e-4 * self.scale);
        let mut colour = hit.paint.colour;
        if hit.paint.floor {
            colour *= 1.0 - 0.38 * self.lines(ray.at(hit.distance), n, ray, hit.distance);
        }
        let sun = self.sunlight(stage, at, n, sample, hit.paint.soft);
        let open = self.open_sky(stage, at, n, sample);
        let ambient = BOUNCE.lerp(SKY, 0.5 + 0.5 * n.y) * open;
        let mut light = colour * (SUN * sun + ambient);
        if hit.paint.floor {
            let fade = 1.0 - (-(hit.distance / (7.0 * self.scale)).powi(2)).exp();
            light = light.lerp(sky(ray.direction), fade);
        } else {
            light += self.gloss(ray.direction, n, sun, open);
        }
        light
    }

    /// Fraction of the sunlight that arrives, by angle of incidence and shadow.
    fn sunlight(&self, stage: &Stage, at: Vec3, n: Vec3, sample: u32, soft: bool) -> Real {
        let (u, w) = self.sun.any_orthonormal_pair();
        let (x, y) = on_disc(sample, self.samples);
        let towards = (self.sun + (u * x + w * y) * SUN_WIDTH).normalize_or_zero();
        // wrap lighting for soft bodies: an approximation of subsurface scattering beyond the terminator
        let wrap = if soft { 0.25 } else { 0.0 };
        let slope = ((n.dot(towards) + wrap) / (1.0 + wrap)).max(0.0);
        if slope == 0.0 || stage.blocked(&Ray { origin: at, direction: towards }, 100.0 * self.scale) {
            0.0
        } else {
            slope
        }
    }

    /// Fraction of the sky that is visible (ambient occlusion); near occluders count most.
    fn open_sky(&self, stage: &Stage, at: Vec3, n: Vec3, sample: u32) -> Real {
        const RAYS: u32 = 2;
        let reach = 0.3 * self.scale;
        let (u, w) = n.any_orthonormal_pair();
        let mut open = 0.0;
        for k in 0..RAYS {
            let (x, y) = on_disc(sample + k * self.samples, RAYS * self.samples);
            // points of a disc projected onto the hemisphere: a cosine-weighted distribution of directions
            let up = (1.0 - x * x - y * y).max(0.0).sqrt();
            let ray = Ray { origin: at, direction: (u * x + w * y + n * up).normalize_or_zero() };
            open += stage.first(&ray, reach).map_or(1.0, |hit| {
                let near = 1.0 - hit.distance / reach;
                1.0 - near * near
            });
        }
        open / RAYS as Real
    }

    /// Specular highlight of the sun, and reflection of the sky at grazing angles (Schlick).
    fn gloss(&self, view: Vec3, n: Vec3, sun: Real, open: Real) -> Vec3 {
        let half = (self.sun - view).normalize_or_zero();
        let spot = n.dot(half).max(0.0).powi(70) * sun.min(1.0);
        let flat = (1.0 + n.dot(view)).clamp(0.0, 1.0).powi(5);
        let mirrored = view - n * (2.0 * view.dot(n));
        SUN * (0.28 * spot) + sky(mirrored) * ((0.03 + 0.30 * flat) * open)
    }

    /// Coverage by a grid line of the floor at a point, 0 to 1. The grid spacing is a power of ten metres; every tenth
    /// line is stronger.
    fn lines(&self, at: Vec3, normal: Vec3, ray: &Ray, distance: Real) -> Real {
        // axes in the plane: x and z when it is horizontal
        let u = (Vec3::X - normal * normal.x).try_normalize().unwrap_or(Vec3::Y);
        let w = u.cross(normal);
        let slant = ray.direction.dot(normal).abs().max(0.05);
        let sample = self.pixel * distance / slant;
        let pitch = (10.0 as Real).powi((0.5 * self.scale).log10().floor() as i32);
        let mut strongest: Real = 0.0;
        for (pitch, strength) in [(pitch, 0.75), (10.0 * pitch, 1.0)] {
            let width = (0.008 * pitch).min(0.0025 * self.scale).max(0.9 * self.pixel * distance);
            for axis in [u, w] {
                let x = at.dot(axis) / pitch;
                let gap = (x - x.round()).abs() * pitch;
                let cover = ((0.5 * width - gap) / sample + 0.5).clamp(0.0, 1.0);
                // fade out grids whose lines would merge
                let room = (1.0 - 5.0 * sample / pitch).clamp(0.0, 1.0);
                strongest = strongest.max(cover * room * strength);
            }
        }
        strongest
    }
}

/// Colour of the sky in a direction; below the horizon that of the horizon.
fn sky(direction: Vec3) -> Vec3 {
    let height = direction.y.clamp(0.0, 1.0);
    HORIZON.lerp(ZENITH, height.powf(0.6))
}

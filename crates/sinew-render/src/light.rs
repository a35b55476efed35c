//! Light: a sun of some width, a sky that is darker in corners, a little gloss, a floor with lines that fades into the
//! distance. Not physics: what makes shape, place and touch easy to see.

use crate::primitive::Ray;
use crate::stage::{Hit, Stage};
use sinew::{Real, Vec3};

/// Half the angle under which the sun is seen [rad]: the width of the edge of shadows.
const SUN_WIDTH: Real = 0.025;
const SUN: Vec3 = Vec3::new(1.20, 1.12, 0.98);
const SKY: Vec3 = Vec3::new(0.40, 0.46, 0.56);
const BOUNCE: Vec3 = Vec3::new(0.27, 0.26, 0.25);
const HORIZON: Vec3 = Vec3::new(0.66, 0.73, 0.80);
const ZENITH: Vec3 = Vec3::new(0.25, 0.40, 0.62);

/// The lamp and what its light depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Light {
    /// Towards the sun.
    pub sun: Vec3,
    /// Distance from the eye to what it looks at [m].
    pub scale: Real,
    /// Size of a sample at distance 1.
    pub pixel: Real,
    /// Samples of a pixel.
    pub samples: u32,
}

/// Point `k` of `count` on a disc of radius 1, evenly spread (Vogel's spiral).
fn on_disc(k: u32, count: u32) -> (Real, Real) {
    const GOLDEN: Real = 2.399_963_2;
    let (s, c) = (k as Real * GOLDEN).sin_cos();
    let r = ((k as Real + 0.5) / count as Real).sqrt();
    (r * c, r * s)
}

impl Light {
    /// Colour of a ray: `sample` is its number in the pixel. The same pattern in all pixels, so that there is no grain.
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

    /// Share of the sun that arrives, by angle and shadow.
    fn sunlight(&self, stage: &Stage, at: Vec3, n: Vec3, sample: u32, soft: bool) -> Real {
        let (u, w) = self.sun.any_orthonormal_pair();
        let (x, y) = on_disc(sample, self.samples);
        let towards = (self.sun + (u * x + w * y) * SUN_WIDTH).normalize_or_zero();
        // light goes some way into soft bodies, and comes out beyond the edge of day
        let wrap = if soft { 0.25 } else { 0.0 };
        let slope = ((n.dot(towards) + wrap) / (1.0 + wrap)).max(0.0);
        if slope == 0.0 || stage.blocked(&Ray { origin: at, direction: towards }, 100.0 * self.scale) {
            0.0
        } else {
            slope
        }
    }

    /// Share of the sky that is seen, near things counting most.
    fn open_sky(&self, stage: &Stage, at: Vec3, n: Vec3, sample: u32) -> Real {
        const RAYS: u32 = 2;
        let reach = 0.3 * self.scale;
        let (u, w) = n.any_orthonormal_pair();
        let mut open = 0.0;
        for k in 0..RAYS {
            let (x, y) = on_disc(sample + k * self.samples, RAYS * self.samples);
            // points of a disc lifted onto the half sphere: as much as their light counts
            let up = (1.0 - x * x - y * y).max(0.0).sqrt();
            let ray = Ray { origin: at, direction: (u * x + w * y + n * up).normalize_or_zero() };
            open += stage.first(&ray, reach).map_or(1.0, |hit| {
                let near = 1.0 - hit.distance / reach;
                1.0 - near * near
            });
        }
        open / RAYS as Real
    }

    /// A highlight of the sun, and the sky in a flat view of the surface (Schlick).
    fn gloss(&self, view: Vec3, n: Vec3, sun: Real, open: Real) -> Vec3 {
        let half = (self.sun - view).normalize_or_zero();
        let spot = n.dot(half).max(0.0).powi(70) * sun.min(1.0);
        let flat = (1.0 + n.dot(view)).clamp(0.0, 1.0).powi(5);
        let mirrored = view - n * (2.0 * view.dot(n));
        SUN * (0.28 * spot) + sky(mirrored) * ((0.03 + 0.30 * flat) * open)
    }

    /// How much of a line of the floor is at a point: 0 to 1. A line every power of ten metres, a stronger one every ten.
    fn lines(&self, at: Vec3, normal: Vec3, ray: &Ray, distance: Real) -> Real {
        // axes in the plane: x and z when it is level
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
                // lines that would melt into each other are left out
                let room = (1.0 - 5.0 * sample / pitch).clamp(0.0, 1.0);
                strongest = strongest.max(cover * room * strength);
            }
        }
        strongest
    }
}

/// The sky in a direction; below the horizon it stays as bright as there.
fn sky(direction: Vec3) -> Vec3 {
    let height = direction.y.clamp(0.0, 1.0);
    HORIZON.lerp(ZENITH, height.powf(0.6))
}

//! Frames: the binary encoding of a snapshot. `docs/protocol.md` documents every field.
//!
//! A frame is little-endian words of four bytes, so that the page reads it through typed arrays over the same bytes:
//!
//! ```text
//!   'SNF2' | revision of the scene | tick | number of sections
//!   section:  tag | number of words | words
//! ```
//!
//! Points are quantized to 16 bits within the bounding box of their body: half the bytes of f32, with an error of at
//! most 1/131070 of the box size.

use crate::geometry::{ConstraintPlace, SceneGeometry, SoftGeometry};
use crate::layer::Layers;
use crate::pressure::pressures;
use crate::snapshot::Snapshot;
use sinew::{GraspForce, Real, Site, Vec3};

const MAGIC: u32 = u32::from_le_bytes(*b"SNF2");

/// Tags of the sections.
mod tag {
    pub const RUN: u32 = 1;
    pub const RIGID: u32 = 2;
    pub const POINTS: u32 = 3;
    pub const LINKS: u32 = 4;
    pub const HELD: u32 = 5;
    pub const NODES: u32 = 6;
    pub const CONTACTS: u32 = 7;
    pub const CONSTRAINTS: u32 = 8;
    pub const STRAIN: u32 = 9;
    pub const VELOCITIES: u32 = 10;
    pub const RESIDUALS: u32 = 11;
    pub const GRIPS: u32 = 12;
    pub const PRESSURE: u32 = 13;
    pub const TURNS: u32 = 14;
    pub const LEDGER: u32 = 15;
}

/// Encodes one frame.
pub fn encode(snapshot: &Snapshot, viewers: u32) -> Vec<u8> {
    let geometry = &*snapshot.geometry;
    let mut out = Words(Vec::with_capacity(256 + 40 * snapshot.rigid.len() + 8 * snapshot.x.len()));
    out.word(MAGIC);
    out.word(geometry.revision);
    out.word(snapshot.tick as u32);
    out.word(0);
    out.section(tag::RUN, |out| run(out, snapshot, viewers));
    out.section(tag::RIGID, |out| rigid(out, snapshot));
    out.section(tag::POINTS, |out| {
        each_soft(snapshot, &snapshot.x, |body, x| out.points(body.slot, &surfels(snapshot, body, x)))
    });
    out.section(tag::TURNS, |out| turns(out, snapshot));
    out.section(tag::LINKS, |out| links(out, snapshot));
    out.section(tag::HELD, |out| held(out, snapshot));
    if snapshot.layers.has(Layers::NODES) {
        out.section(tag::NODES, |out| each_soft(snapshot, &snapshot.x, |body, x| out.points(body.slot, x)));
    }
    if snapshot.layers.has(Layers::CONTACTS) {
        out.section(tag::CONTACTS, |out| {
            for c in &snapshot.contacts {
                out.vector(c.point);
                out.vector(c.force);
            }
        });
    }
    if snapshot.layers.has(Layers::CONSTRAINTS) {
        out.section(tag::CONSTRAINTS, |out| constraints(out, snapshot));
    }
    if snapshot.layers.has(Layers::STRAIN) {
        out.section(tag::STRAIN, |out| each_soft(snapshot, &snapshot.x, |body, x| strain(out, body, x)));
    }
    if snapshot.layers.has(Layers::VELOCITIES) {
        out.section(tag::VELOCITIES, |out| {
            each_soft(snapshot, &snapshot.v, |body, v| {
                let surface = &body.surface;
                let blend = |k| surface.shares(k).iter().fold(Vec3::ZERO, |sum, s| sum + v[s.node as usize] * s.weight);
                let all: Vec<Vec3> = (0..surface.len() as u32).map(blend).collect();
                out.points(body.slot, &all);
            });
        });
    }
    if snapshot.layers.has(Layers::ENERGIES) {
        out.section(tag::LEDGER, |out| snapshot.ledger.iter().for_each(|&e| out.double(e)));
    }
    if snapshot.layers.has(Layers::RESIDUALS) {
        out.section(tag::RESIDUALS, |out| snapshot.residuals.iter().for_each(|&r| out.real(r)));
    }
    if snapshot.layers.has(Layers::PRESSURE) {
        let pressures = pressures(snapshot);
        out.section(tag::GRIPS, |out| pressures.grips.iter().for_each(|g| grasp_force(out, g)));
        out.section(tag::PRESSURE, |out| {
            for (slot, pressure) in &pressures.bodies {
                out.word(*slot);
                shares(out, pressure);
            }
        });
    }
    out.0
}

fn grasp_force(out: &mut Words, (finger, object, grip): &(u32, u32, GraspForce)) {
    out.word(*finger);
    out.word(*object);
    out.vector(grip.force);
    out.real(grip.normal);
    out.real(grip.area);
    out.real(grip.peak);
    out.vector(grip.center);
}

fn run(out: &mut Words, snapshot: &Snapshot, viewers: u32) {
    let pace = snapshot.pace;
    out.double(snapshot.time);
    out.double(pace.real_time_factor);
    out.double(1e3 * pace.step);
    out.double(1e3 * pace.budget);
    snapshot.phases.iter().for_each(|s| out.double(1e3 * s));
    snapshot.energies.iter().for_each(|&e| out.real(e));
    out.real(snapshot.penetration);
    let c = &snapshot.counts;
    for count in [
        c.awake,
        c.asleep,
        c.islands,
        c.contacts,
        c.contact_rows,
        c.constraint_rows,
        c.sweeps,
        c.iterations,
        c.substeps,
        viewers,
    ] {
        out.word(count);
    }
}

fn rigid(out: &mut Words, snapshot: &Snapshot) {
    for (slot, (x, q, v)) in snapshot.geometry.rigid.iter().zip(&snapshot.rigid) {
        out.word(*slot);
        out.vector(*x);
        q.to_array().into_iter().for_each(|q| out.real(q));
        out.vector(*v);
    }
}

fn links(out: &mut Words, snapshot: &Snapshot) {
    for (_, place) in &snapshot.geometry.constraints {
        let ConstraintPlace::Line(a, b) = place else { continue };
        if let (Some(a), Some(b)) = (position(snapshot, a), position(snapshot, b)) {
            out.vector(a);
            out.vector(b);
        }
    }
}

fn held(out: &mut Words, snapshot: &Snapshot) {
    for held in &snapshot.held {
        out.word(held.viewer);
        out.vector(held.point);
        out.vector(held.target);
        out.vector(held.force);
    }
}

fn constraints(out: &mut Words, snapshot: &Snapshot) {
    for carried in &snapshot.constraints {
        let places = &snapshot.geometry.constraints;
        let Ok(i) = places.binary_search_by_key(&carried.id.to_parts(), |(id, _)| id.to_parts()) else { continue };
        let site = match &places[i].1 {
            ConstraintPlace::Point(site) | ConstraintPlace::Line(_, site) => site,
        };
        if let Some(at) = position(snapshot, site) {
            out.vector(at);
            out.vector(carried.force);
            out.real(carried.largest);
        }
    }
}

fn strain(out: &mut Words, body: &SoftGeometry, x: &[Vec3]) {
    if body.elements.is_empty() {
        return;
    }
    let sizes = body.elements.sizes(x);
    let of_surfel = |k| body.surface.shares(k).iter().map(|s| sizes[s.node as usize] * s.weight).sum::<Real>();
    let all: Vec<Real> = (0..body.surface.len() as u32).map(of_surfel).collect();
    out.word(body.slot);
    shares(out, &all);
}

/// One number per surface point: count, maximum, and each value as a fraction of the maximum in one byte.
fn shares(out: &mut Words, all: &[Real]) {
    let largest = all.iter().copied().fold(0.0, Real::max);
    out.word(all.len() as u32);
    out.real(largest);
    let scale = if largest > 0.0 { 255.0 / largest } else { 0.0 };
    out.bytes(all.iter().map(|&e| (e * scale) as u8));
}

/// Calls `look` for every body with nodes, with its range of a list that has one entry per node.
fn each_soft(snapshot: &Snapshot, list: &[Vec3], mut look: impl FnMut(&SoftGeometry, &[Vec3])) {
    for body in &snapshot.geometry.soft {
        if let Some(part) = list.get(body.nodes.clone()) {
            look(body, part);
        }
    }
}

/// The points that are drawn of a body: its embedded surface carried by particles, or its own surface.
fn surfels(snapshot: &Snapshot, body: &SoftGeometry, x: &[Vec3]) -> Vec<Vec3> {
    let mut out = Vec::with_capacity(body.surface.len());
    match (&body.skin, snapshot.turns.get(body.particles.clone())) {
        (Some(skin), Some(turns)) => skin.positions(x, |k| turns[k], &mut out),
        _ => body.surface.positions(x, &mut out),
    }
    out
}

/// Orientations of particles that are drawn as ellipsoids: four quaternion components as 16-bit integers in units of
/// 1/32767.
fn turns(out: &mut Words, snapshot: &Snapshot) {
    for body in snapshot.geometry.soft.iter().filter(|b| b.is_ellipsoids()) {
        let Some(turns) = snapshot.turns.get(body.particles.clone()) else { continue };
        out.word(body.slot);
        out.word(turns.len() as u32);
        for q in turns {
            q.to_array().into_iter().for_each(|c| out.0.extend_from_slice(&((c * 32767.0) as i16).to_le_bytes()));
        }
    }
}

/// Position of an attachment site [m].
fn position(snapshot: &Snapshot, site: &Site) -> Option<Vec3> {
    let geometry: &SceneGeometry = &snapshot.geometry;
    let soft = |slot: u32| geometry.soft.iter().find(|b| b.slot == slot);
    match site {
        Site::World(at) => Some(*at),
        Site::Rigid { body, local } => {
            let i = geometry.rigid.binary_search(&body.to_parts().0).ok()?;
            let (x, q, _) = snapshot.rigid.get(i)?;
            Some(*x + *q * *local)
        }
        Site::Node { body, node } => {
            let nodes = soft(body.to_parts().0)?.nodes.clone();
            snapshot.x.get(nodes)?.get(*node as usize).copied()
        }
        Site::Surfel { body, surfel } => soft(body.to_parts().0)?.surfel(&snapshot.x, *surfel),
        Site::Face { body, triangle, weights } => soft(body.to_parts().0)?.face(&snapshot.x, *triangle, *weights),
    }
}

struct Words(Vec<u8>);

impl Words {
    fn word(&mut self, w: u32) {
        self.0.extend_from_slice(&w.to_le_bytes());
    }

    #[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f64 build")]
    fn real(&mut self, r: Real) {
        self.0.extend_from_slice(&(r as f32).to_le_bytes());
    }

    fn double(&mut self, r: f64) {
        self.0.extend_from_slice(&(r as f32).to_le_bytes());
    }

    fn vector(&mut self, v: Vec3) {
        v.to_array().into_iter().for_each(|x| self.real(x));
    }

    fn bytes(&mut self, bytes: impl Iterator<Item = u8>) {
        self.0.extend(bytes);
        self.pad();
    }

    /// Pads to a multiple of four bytes.
    fn pad(&mut self) {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    /// Writes a section and increments the section count in the header. An empty section is omitted.
    fn section(&mut self, tag: u32, fill: impl FnOnce(&mut Self)) {
        let start = self.0.len();
        self.word(tag);
        self.word(0);
        fill(self);
        let words = (self.0.len() - start - 8) / 4;
        if words == 0 {
            self.0.truncate(start);
            return;
        }
        self.0[start + 4..start + 8].copy_from_slice(&(words as u32).to_le_bytes());
        self.0[12] += 1;
    }

    /// A list of points quantized to 16 bits within its bounding box: slot, count, minimum corner, step, coordinates.
    fn points(&mut self, slot: u32, points: &[Vec3]) {
        let (mut least, mut most) = (Vec3::splat(Real::INFINITY), Vec3::splat(Real::NEG_INFINITY));
        for p in points {
            (least, most) = (least.min(*p), most.max(*p));
        }
        if !(most - least).is_finite() {
            (least, most) = (Vec3::ZERO, Vec3::ZERO);
        }
        let step = (most - least) / 65535.0;
        // a degenerate box has a step of zero along its flat axis
        let per = |s: Real| if s > 0.0 { 1.0 / s } else { 0.0 };
        let inverse = Vec3::new(per(step.x), per(step.y), per(step.z));
        self.word(slot);
        self.word(points.len() as u32);
        self.vector(least);
        self.vector(step);
        for p in points {
            let q = (*p - least) * inverse + Vec3::splat(0.5);
            q.to_array().into_iter().for_each(|c| self.0.extend_from_slice(&(c as u16).to_le_bytes()));
        }
        self.pad();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantized_points_are_exact_to_half_a_quantization_step() {
        let points: Vec<Vec3> =
            (0..101).map(|k| Vec3::new(k as Real * 0.37 % 1.2, 5.0, (k as Real).sqrt() - 3.0)).collect();
        let mut out = Words(Vec::new());
        out.points(7, &points);
        assert_eq!(out.0.len() % 4, 0);
        let real = |word: usize| f32::from_le_bytes(out.0[4 * word..4 * word + 4].try_into().expect("four bytes"));
        assert_eq!(&out.0[..8], &[7, 0, 0, 0, 101, 0, 0, 0]);
        for (k, p) in points.iter().enumerate() {
            for (axis, wanted) in p.to_array().into_iter().enumerate() {
                let at = 32 + 6 * k + 2 * axis;
                let steps = u16::from_le_bytes([out.0[at], out.0[at + 1]]);
                let got = real(2 + axis) + f32::from(steps) * real(5 + axis);
                let allowed = 0.51 * real(5 + axis) + 1e-6;
                assert!((Real::from(got) - wanted).abs() <= Real::from(allowed), "{got} for {wanted}");
            }
        }
    }

    #[test]
    fn an_empty_section_is_omitted() {
        let mut out = Words(vec![0; 16]);
        out.section(5, |_| {});
        assert_eq!((out.0.len(), out.0[12]), (16, 0));
        out.section(5, |out| out.word(1));
        assert_eq!((out.0.len(), out.0[12]), (28, 1));
    }
}

//! Level values of cuts at the nodes of the rest mesh: what makes neighbouring elements agree where a cut lies.
//!
//! A value is the signed distance to the swept surface in units of the body's resolution, taken once by each cut. It is
//! never zero: a node on the surface belongs to the positive side, by a small fraction of its shortest edge. Slots are
//! used in turn, so that the values of cuts that have ended remain as long as possible: a later cut that meets an older
//! one takes its values, and the two are one surface.

use crate::mesh::Mesh;
use crate::quad::Quad;
use crate::{Point, exact};

/// Cuts whose levels are kept.
pub(crate) const SLOTS: usize = 8;

/// Two cuts that pass a node within this fraction of a mean edge, nearly parallel, are one there.
const WELD: f64 = 0.03;
/// Cosine of the largest angle between them, 1.8 degrees.
const WELD_COSINE: f64 = 0.9995;

/// The level of one cut at one node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    cut: u32,
    pub value: i32,
    /// Distance before rounding [m].
    pub raw: f64,
    pub normal: Point,
    /// Path of the stroke when it was taken [m].
    pub path: f64,
}

const NOWHERE: Level = Level { cut: u32::MAX, value: 0, raw: 0.0, normal: Point::ZERO, path: 0.0 };

pub(crate) struct Levels {
    table: Vec<[Level; SLOTS]>,
    /// Length of one unit [m].
    unit: f64,
    weld: f64,
    /// Least distance of a node from a cut, as a fraction of its shortest edge.
    clearance: f64,
}

impl Levels {
    pub fn new(mesh: &Mesh, clearance: f64) -> Self {
        // planes that cut an element are within its longest edge of all corners; a factor of four for curved cuts
        let unit = 4.0 * mesh.longest / f64::from(exact::LARGEST_LEVEL);
        Self { table: vec![[NOWHERE; SLOTS]; mesh.rest.len()], unit, weld: WELD * mesh.edge, clearance }
    }

    pub fn get(&self, node: u32, slot: usize, cut: u32) -> Option<&Level> {
        let level = &self.table[node as usize][slot];
        (level.cut == cut).then_some(level)
    }

    /// The level value of a distance [m] at a node.
    pub fn value(&self, mesh: &Mesh, node: u32, distance: f64) -> i32 {
        let least = (self.clearance * mesh.sizes[node as usize] / self.unit).max(1.0) as i32;
        let largest = f64::from(exact::LARGEST_LEVEL);
        let value = (distance / self.unit).round().clamp(-largest, largest) as i32;
        if value >= 0 { value.max(least) } else { value.min(-least) }
    }

    /// Takes the level of a cut at a node from a piece of the swept surface.
    pub fn take(&mut self, mesh: &Mesh, node: u32, (slot, cut): (usize, u32), quad: &Quad, path: f64) -> i32 {
        let raw = quad.height(mesh.rest[node as usize]);
        let mut value = self.value(mesh, node, raw);
        let mut nearest = self.weld;
        for other in self.table[node as usize].iter().filter(|other| other.cut != u32::MAX && other.cut != cut) {
            let cosine = other.normal.dot(quad.normal);
            let sign = cosine.signum();
            let apart = (raw - sign * other.raw).abs();
            if cosine.abs() >= WELD_COSINE && apart <= nearest {
                nearest = apart;
                value = if sign > 0.0 { other.value } else { -other.value };
            }
        }
        self.table[node as usize][slot] = Level { cut, value, raw, normal: quad.normal, path };
        value
    }

    /// Stores a value as it is.
    pub fn put(&mut self, node: u32, (slot, cut): (usize, u32), value: i32) {
        self.table[node as usize][slot] = Level { cut, value, ..NOWHERE };
    }

    /// Gives the levels of one cut to another, at nodes where they were taken after `path`.
    pub fn inherit(&mut self, (from, old): (usize, u32), (to, new): (usize, u32), path: f64) {
        for levels in &mut self.table {
            if levels[from].cut == old && levels[from].path >= path {
                levels[to] = Level { cut: new, ..levels[from] };
            }
        }
    }
}

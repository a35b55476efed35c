//! Loads on the surface of a soft body, the air around it, and nodes that are held in some directions only.

use super::soft::{Region, SoftBody};
use super::surface::Surface;
use crate::deformable::fem::Face;
use crate::error::{Error, check, finite_vec, not_negative};
use crate::math::{Real, Vec3};
use sinew_spec::{ANY, FINITE, NOT_NEGATIVE, record};

/// The air around the surface of a soft body: drag on its triangles, and wind.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let breeze = Air { wind: Vec3::X * 3.0, ..Air::default() };
/// let sail = TriMesh::sheet([4, 4], [1.0, 1.0], Diagonals::Alternating)?;
/// let sail = SoftBody::new(Geometry::Sheet(sail), SoftModel::Membrane(fem::MembraneParams::default())).air(breeze);
/// let mut world = World::default();
/// world.add_soft(sail)?;
/// world.step(&Input::none());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Air {
    /// Density [kg/m³]: air 1.2, water 1000.
    pub density: Real,
    /// Drag coefficient across a triangle: about 1.2 for a plate.
    pub normal: Real,
    /// Drag coefficient along a triangle: about 0.01 to 0.1 for cloth.
    pub tangential: Real,
    /// Velocity of the air [m/s].
    pub wind: Vec3,
}

impl Default for Air {
    fn default() -> Self {
        Self { density: 1.2, normal: 1.2, tangential: 0.03, wind: Vec3::ZERO }
    }
}

impl Air {
    pub(crate) fn check(&self, who: &str) -> Result<(), Error> {
        not_negative(&format!("{who}.density"), self.density)?;
        not_negative(&format!("{who}.normal"), self.normal)?;
        not_negative(&format!("{who}.tangential"), self.tangential)?;
        finite_vec(&format!("{who}.wind"), self.wind)?;
        check(&format!("{who}.wind"), self.wind.length(), self.wind.length() < 1e4, "below 10 km/s")
    }
}

/// A load on a part of a soft body: a pressure, a force, or both.
///
/// The part is the set of surface triangles whose three corners lie in `region`, in the coordinates of the rest shape,
/// and those listed in `faces`.
///
/// - *Pressure* is a follower load: in every substep each triangle gets −p times its present area vector, a third of it
///   at each corner. Faces of ten-node elements get the consistent forces of their six nodes. It acts against the outward
///   normal of a solid and against the side of a sheet from which its triangles are counter-clockwise. A closed surface under
///   uniform pressure has no resultant.
/// - *Force* is a dead load: it keeps its direction and is distributed as a uniform traction over the area at rest. A
///   region without a triangle (ropes, points, interior nodes) distributes it over its nodes by mass.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// // a block on its lower face, its upper face pressed with 100 Pa
/// let block = TetMesh::block([2, 2, 2], Vec3::splat(0.1))?;
/// let top = Region { min: Vec3::new(-1.0, 0.04, -1.0), max: Vec3::ONE };
/// let body = SoftBody::corotational(block, ElasticMaterial::jelly())
///     .pin_region([-1.0, -1.0, -1.0], [1.0, -0.04, 1.0])
///     .load(Load::pressure(top, 100.0));
/// let mut world = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() })?;
/// let body = world.add_soft(body)?;
/// let before = world.body(body)?.center_of_mass().y;
/// for _ in 0..120 {
///     world.step(&Input::none());
/// }
/// assert!(world.body(body)?.center_of_mass().y < before);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Load {
    /// Triangles and nodes inside this box, in the coordinates of the rest shape.
    pub region: Option<Region>,
    /// Triangles of the surface, by number. For ten-node elements the whole face that a triangle is part of.
    pub faces: Vec<u32>,
    /// Pressure, positive inward [Pa].
    pub pressure: Real,
    /// Total force, world axes [N].
    pub force: Vec3,
    /// Time in which the load rises linearly from 0, from time 0 of the world [s]; 0: constant. A step has the load of
    /// its end.
    pub ramp: Real,
}

impl Load {
    /// A pressure [Pa] on the triangles inside a box.
    pub fn pressure(region: Region, pressure: Real) -> Self {
        Self { region: Some(region), pressure, ..Self::default() }
    }

    /// A force [N] on the triangles or nodes inside a box.
    pub fn force(region: Region, force: impl Into<Vec3>) -> Self {
        Self { region: Some(region), force: force.into(), ..Self::default() }
    }

    /// Rises linearly from 0 in this time after the start of the world [s].
    pub fn ramp(mut self, time: Real) -> Self {
        self.ramp = time;
        self
    }

    /// The fraction of the load at a time [s].
    pub(crate) fn fraction(&self, time: Real) -> Real {
        if self.ramp > 0.0 { (time / self.ramp).clamp(0.0, 1.0) } else { 1.0 }
    }
}

/// Nodes that are held in some directions and free in the others: symmetry planes, rollers.
///
/// Directions are the axes of the rest shape, turned with the pose of the body. When the body is added, it becomes an
/// [`Attachment`](crate::Attachment) with `axes`, one for each set of directions.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), Error> {
/// // the lower face slides on its plane
/// let block = TetMesh::block([2, 2, 2], Vec3::splat(0.1))?;
/// let floor = Region { min: Vec3::new(-1.0, -0.05, -1.0), max: Vec3::new(1.0, -0.05, 1.0) };
/// let rollers = PinnedAxes { region: floor, x: false, y: true, z: false };
/// let mut world = World::default();
/// let body = world.add_soft(SoftBody::corotational(block, ElasticMaterial::jelly()).pin_axes(rollers))?;
/// for _ in 0..60 {
///     world.step(&Input::none());
/// }
/// let lowest = world.body(body)?.node_positions().iter().fold(1.0, |y: Real, x| y.min(x.y));
/// assert!((lowest + 0.05).abs() < 1e-5);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PinnedAxes {
    /// Nodes inside this box, in the coordinates of the rest shape.
    pub region: Region,
    /// Held along x.
    pub x: bool,
    /// Held along y.
    pub y: bool,
    /// Held along z.
    pub z: bool,
}

/// A load with its triangles and nodes.
#[derive(Debug)]
pub(crate) struct BuiltLoad {
    pub source: Load,
    /// Faces over nodes.
    pub faces: Vec<Face>,
    /// Triangles over surfels that are not nodes.
    pub skin: Vec<[u32; 3]>,
    /// Nodes with their fractions of the dead force; they sum to 1.
    pub shares: Vec<(u32, Real)>,
}

/// What loads act on.
pub(crate) struct LoadTarget<'a> {
    pub surface: &'a Surface,
    /// Nodes at rest [m].
    pub rest: &'a [Vec3],
    /// Surfels at rest [m].
    pub surfels: &'a [Vec3],
    pub mass: &'a [Real],
    /// Faces of ten-node elements, four triangles of the surface each; empty for others.
    pub quadratic: &'a [Face],
}

impl<'a> LoadTarget<'a> {
    /// A body whose nodes are those of its geometry.
    pub fn of(source: &'a SoftBody, nodes: &'a super::Nodes) -> Self {
        let super::Nodes { surface, rest, mass, .. } = nodes;
        Self { surface, rest: source.geometry.nodes(), surfels: rest, mass, quadratic: &[] }
    }
}

impl LoadTarget<'_> {
    pub fn build(&self, who: &str, loads: &[Load]) -> Result<Vec<BuiltLoad>, Error> {
        loads.iter().enumerate().map(|(k, load)| self.build_one(&format!("{who}.loads[{k}]"), load)).collect()
    }

    fn build_one(&self, who: &str, load: &Load) -> Result<BuiltLoad, Error> {
        let refuse = |reason: &str| Error::BadShape { shape: who.to_owned(), reason: reason.to_owned() };
        check(&format!("{who}.pressure"), load.pressure, load.pressure.is_finite(), "finite")?;
        finite_vec(&format!("{who}.force"), load.force)?;
        not_negative(&format!("{who}.ramp"), load.ramp)?;
        if load.pressure == 0.0 && load.force == Vec3::ZERO {
            return Err(refuse("it has neither a pressure nor a force"));
        }
        let mut built = BuiltLoad { source: load.clone(), faces: Vec::new(), skin: Vec::new(), shares: Vec::new() };
        for triangle in self.triangles(load).map_err(|reason| refuse(&reason))? {
            self.add_triangle(triangle, &mut built);
        }
        let mut fraction = vec![0.0; self.rest.len()];
        self.spread_area(&built, &mut fraction);
        if fraction.iter().all(|w| *w == 0.0) {
            if load.pressure != 0.0 {
                return Err(refuse("no triangle of the surface lies in its region: a pressure needs an area"));
            }
            let inside = |p: &Vec3| load.region.is_some_and(|r| r.contains(*p));
            for (n, _) in self.rest.iter().enumerate().filter(|(_, p)| inside(p)) {
                fraction[n] = self.mass[n];
            }
        }
        let total: Real = fraction.iter().sum();
        if !(total > 0.0) {
            return Err(refuse("no triangle and no node of the body lies in its region"));
        }
        let shares = fraction.iter().enumerate().filter(|(_, w)| **w != 0.0);
        built.shares = shares.map(|(n, w)| (n as u32, w / total)).collect();
        Ok(built)
    }

    /// Triangles of a load, ascending.
    pub fn triangles(&self, load: &Load) -> Result<Vec<u32>, String> {
        let triangles = self.surface.triangles();
        let mut found = load.faces.clone();
        if let Some(wrong) = found.iter().find(|t| **t as usize >= triangles.len()) {
            return Err(format!("the surface has no triangle {wrong}, it has {}", triangles.len()));
        }
        if let Some(region) = load.region {
            let inside = |t: &[u32; 3]| t.iter().all(|&s| region.contains(self.surfels[s as usize]));
            found.extend((0..triangles.len() as u32).filter(|&t| inside(&triangles[t as usize])));
        }
        if !self.quadratic.is_empty() {
            // a region takes a face when it has its corners, not when it has one of its four parts
            let region = |f: &u32| {
                let face = self.quadratic[*f as usize / 4];
                load.region.is_some_and(|r| face.corners.iter().all(|&n| r.contains(self.rest[n as usize])))
            };
            found.retain(|t| load.faces.contains(t) || region(t));
            found.iter_mut().for_each(|t| *t -= *t % 4);
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    fn add_triangle(&self, triangle: u32, built: &mut BuiltLoad) {
        if let Some(&face) = self.quadratic.get(triangle as usize / 4) {
            built.faces.push(face);
            return;
        }
        let surfels = self.surface.triangles()[triangle as usize];
        match self.surface.nodes() {
            Some(nodes) => {
                let corners = surfels.map(|s| nodes[s as usize].node);
                built.faces.push(Face { corners, middles: None });
            }
            None => built.skin.push(surfels),
        }
    }

    /// Adds the area at rest that each node carries [m²].
    fn spread_area(&self, built: &BuiltLoad, area: &mut [Real]) {
        let size = |[a, b, c]: [Vec3; 3]| 0.5 * (b - a).cross(c - a).length();
        for face in &built.faces {
            // ∫ N_i dA of a flat face: a third at each corner; with midpoints a third at each of these and none at corners
            let third = size(face.corners.map(|n| self.rest[n as usize])) / 3.0;
            for n in face.middles.unwrap_or(face.corners) {
                area[n as usize] += third;
            }
        }
        for &surfels in &built.skin {
            let third = size(surfels.map(|s| self.surfels[s as usize])) / 3.0;
            for share in surfels.iter().flat_map(|&s| self.surface.shares(s)) {
                area[share.node as usize] += third * share.weight;
            }
        }
    }
}

impl SoftBody {
    /// Nodes that are held in some directions, each with a bit for x, y and z, ascending; nodes that are pinned
    /// altogether are left out.
    pub(crate) fn axis_pins(&self, who: &str, rest: &[Vec3], inv_mass: &[Real]) -> Result<Vec<(u32, u8)>, Error> {
        let mut held = vec![0u8; rest.len()];
        for (k, pins) in self.pinned_axes.iter().enumerate() {
            let PinnedAxes { region, x, y, z } = *pins;
            let bits = u8::from(x) | u8::from(y) << 1 | u8::from(z) << 2;
            let mut any = false;
            for (held, _) in held.iter_mut().zip(rest).filter(|(_, p)| region.contains(**p)) {
                *held |= bits;
                any = true;
            }
            if !any || bits == 0 {
                let reason = if any { "it holds no axis" } else { "no node of the body lies in its region" };
                return Err(Error::BadShape { shape: format!("{who}.pinned_axes[{k}]"), reason: reason.to_owned() });
            }
        }
        let pins = held.into_iter().zip(inv_mass).enumerate().filter(|(_, (bits, inv))| *bits != 0 && **inv > 0.0);
        Ok(pins.map(|(n, (bits, _))| (n as u32, bits)).collect())
    }
}

record!(PinnedAxes, "pinned axes", "Nodes that are held along some axes of the rest shape and free along the others: symmetry planes, rollers.",
    PinnedAxes { region: Region { min: Vec3::ZERO, max: Vec3::ZERO }, x: false, y: false, z: false }, {
    region [required]: ANY, "All nodes inside this box.";
    x: ANY, "Held along x.";
    y: ANY, "Held along y.";
    z: ANY, "Held along z.";
});

record!(Air, "air", "The air around a surface: drag on its triangles, and wind.", Air::default(), {
    density: NOT_NEGATIVE, "Density [kg/m³]: air 1.2, water 1000.";
    normal: NOT_NEGATIVE, "Drag coefficient across a triangle: about 1.2 for a plate.";
    tangential: NOT_NEGATIVE, "Drag coefficient along a triangle: about 0.01 to 0.1 for cloth.";
    wind: FINITE, "Velocity of the air [m/s].";
});

record!(Load, "load", "A pressure or a force on a part of the surface.", Load::default(), {
    region: ANY, "The triangles inside this box; for a force without a triangle there, its nodes.";
    faces: ANY, "Triangles of the surface, by number.";
    pressure: FINITE, "Pressure on the present surface, positive inward [Pa].";
    force: FINITE, "Total force, world axes, distributed by area at rest, or by mass over nodes [N].";
    ramp: NOT_NEGATIVE, "Time in which it rises linearly from 0 at time 0 [s]; 0: constant.";
});

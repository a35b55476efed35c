//! Constructors of primitives: parameters are checked here, the mapping of blocks is in other files.

use super::super::tet_mesh::{TetMesh, TetMeshError};
use super::super::tri_mesh::TriMesh;
use super::sweep::{Section, Sweep};
use super::{Check, Diagonals, PrimitiveError, implicit, solid};
use crate::math::{Real, Vec3};

/// Position of a point of a cylinder's section: the section's axes are z and x, the path goes up along y.
fn upright(radius: Real, height: Real, steps: u32) -> impl Fn([Real; 2], u32) -> Vec3 {
    move |[z, x], station| {
        let y = height * (station as Real / steps as Real - 0.5);
        Vec3::new(radius * x, y, radius * z)
    }
}

/// Position of a point of a torus's section: its first axis points outward, its second along y; the path turns about y.
fn around(ring_radius: Real, tube_radius: Real, steps: u32) -> impl Fn([Real; 2], u32) -> Vec3 {
    move |[out, up], station| {
        let angle = std::f64::consts::TAU * f64::from(station) / f64::from(steps);
        let reach = ring_radius + tube_radius * out;
        Vec3::new(reach * angle.cos() as Real, tube_radius * up, reach * angle.sin() as Real)
    }
}

/// Number of steps along a length with about the cell size, at least one.
fn steps(length: Real, cell: Real) -> u32 {
    (length / cell).round().clamp(1.0, 10_000.0) as u32
}

type Placed = Box<dyn Fn([Real; 2], u32) -> Vec3>;

fn cylinder(radius: Real, height: Real, cells: u32) -> Result<Sweep<Placed>, PrimitiveError> {
    let check = Check("cylinder");
    check.length("radius", radius)?;
    check.length("height", height)?;
    check.count("cells", cells, 1)?;
    let steps = steps(height, radius / cells as Real);
    let place = Box::new(upright(radius, height, steps));
    Ok(Sweep { section: Section::disc(cells), steps, closed: false, place })
}

fn torus(ring_radius: Real, tube_radius: Real, cells: u32) -> Result<Sweep<Placed>, PrimitiveError> {
    let check = Check("torus");
    check.length("ring_radius", ring_radius)?;
    check.smaller("tube_radius", tube_radius, ring_radius)?;
    check.count("cells", cells, 1)?;
    let length = std::f64::consts::TAU as Real * ring_radius;
    let steps = steps(length, tube_radius / cells as Real).max(8);
    let place = Box::new(around(ring_radius, tube_radius, steps));
    Ok(Sweep { section: Section::disc(cells), steps, closed: true, place })
}

/// Radii and height of a tube.
fn tube([inner, outer]: [Real; 2], height: Real, cells: u32) -> Result<Sweep<Placed>, PrimitiveError> {
    let check = Check("tube");
    check.length("outer_radius", outer)?;
    check.smaller("inner_radius", inner, outer)?;
    check.length("height", height)?;
    check.count("cells", cells, 1)?;
    let cell = (outer - inner) / cells as Real;
    let middle = std::f64::consts::PI as Real * (inner + outer);
    let around = steps(middle, cell).max(8);
    let steps = steps(height, cell);
    let place = Box::new(upright(outer, height, steps));
    Ok(Sweep { section: Section::ring(inner / outer, around, cells), steps, closed: false, place })
}

fn check_ball(radius: Real, cells: u32) -> Result<(), PrimitiveError> {
    let check = Check("ball");
    check.length("radius", radius)?;
    check.count("cells", cells, 1)
}

impl TetMesh {
    /// A ball. `cells` along a side of the cube at its centre: 4 `cells` around the equator, about `cells` along the
    /// radius; 6 `cells`³ + 36 `cells`² ⌈`cells`/2⌉ tetrahedra.
    pub fn ball(radius: Real, cells: u32) -> Result<Self, PrimitiveError> {
        check_ball(radius, cells)?;
        let mut mesh = solid::ball(cells);
        mesh.vertices.iter_mut().for_each(|p| *p *= radius);
        Ok(mesh)
    }

    /// A cylinder along y. `cells` along the radius, and cells as long as that along y.
    pub fn cylinder(radius: Real, height: Real, cells: u32) -> Result<Self, PrimitiveError> {
        Ok(cylinder(radius, height, cells)?.tets())
    }

    /// A torus about y: `ring_radius` to the centre line of the tube, `cells` along the radius of the tube.
    pub fn torus(ring_radius: Real, tube_radius: Real, cells: u32) -> Result<Self, PrimitiveError> {
        Ok(torus(ring_radius, tube_radius, cells)?.tets())
    }

    /// A hollow cylinder along y, `[inner, outer]` radii, `cells` through the wall.
    pub fn tube(radii: [Real; 2], height: Real, cells: u32) -> Result<Self, PrimitiveError> {
        Ok(tube(radii, height, cells)?.tets())
    }
}

impl TriMesh {
    /// The surface of a block of `cells` cells, `size` long [m], centred on the origin.
    pub fn block(cells: [u32; 3], size: Vec3) -> Result<Self, TetMeshError> {
        Ok(TetMesh::block(cells, size)?.boundary())
    }

    /// The surface of [`TetMesh::ball`].
    pub fn ball(radius: Real, cells: u32) -> Result<Self, PrimitiveError> {
        check_ball(radius, cells)?;
        let mut mesh = solid::sphere(cells);
        mesh.vertices.iter_mut().for_each(|p| *p *= radius);
        Ok(mesh)
    }

    /// The surface of [`TetMesh::cylinder`].
    pub fn cylinder(radius: Real, height: Real, cells: u32) -> Result<Self, PrimitiveError> {
        Ok(cylinder(radius, height, cells)?.surface())
    }

    /// The surface of [`TetMesh::torus`].
    pub fn torus(ring_radius: Real, tube_radius: Real, cells: u32) -> Result<Self, PrimitiveError> {
        Ok(torus(ring_radius, tube_radius, cells)?.surface())
    }

    /// The surface of [`TetMesh::tube`].
    pub fn tube(radii: [Real; 2], height: Real, cells: u32) -> Result<Self, PrimitiveError> {
        Ok(tube(radii, height, cells)?.surface())
    }

    /// A flat sheet in the plane y = 0, facing upward: `cells` squares along x and z, `size` long [m]. Vertices run
    /// along x first.
    pub fn sheet(cells: [u32; 2], size: [Real; 2], diagonals: Diagonals) -> Result<Self, PrimitiveError> {
        let check = Check("sheet");
        for k in 0..2 {
            check.count("cells", cells[k], 1)?;
            check.length("size", size[k])?;
        }
        let [nx, nz] = cells;
        let index = |i: u32, j: u32| i + (nx + 1) * j;
        let mut mesh = Self::default();
        for j in 0..=nz {
            for i in 0..=nx {
                let part = [i as Real / nx as Real - 0.5, j as Real / nz as Real - 0.5];
                mesh.vertices.push(Vec3::new(part[0] * size[0], 0.0, part[1] * size[1]));
            }
        }
        for j in 0..nz {
            for i in 0..nx {
                let [a, b, c, d] = [index(i, j), index(i, j + 1), index(i + 1, j + 1), index(i + 1, j)];
                let turned = diagonals == Diagonals::Alternating && (i + j) % 2 == 1;
                mesh.triangles.extend(if turned { [[b, c, d], [b, d, a]] } else { [[a, b, c], [a, c, d]] });
            }
        }
        Ok(mesh)
    }

    /// A flat disc in the plane y = 0, facing upward, `cells` along the radius.
    pub fn disc(radius: Real, cells: u32) -> Result<Self, PrimitiveError> {
        let check = Check("disc");
        check.length("radius", radius)?;
        check.count("cells", cells, 1)?;
        let section = Section::disc(cells);
        let vertices = section.points.iter().map(|&[z, x]| Vec3::new(radius * x, 0.0, radius * z)).collect();
        Ok(Self { vertices, triangles: section.squares.into_iter().flat_map(super::halve).collect() })
    }

    /// A strip of 2 x `pairs` nodes along x in the plane y = 0, facing upward: a rope with a contact surface. Nodes 2i
    /// and 2i + 1 are opposite each other across the width [m].
    pub fn strip(length: Real, width: Real, pairs: u32) -> Result<Self, PrimitiveError> {
        let check = Check("strip");
        check.length("length", length)?;
        check.length("width", width)?;
        check.count("pairs", pairs, 2)?;
        let node = |i: u32| {
            let along = length * ((i / 2) as Real / (pairs - 1) as Real - 0.5);
            Vec3::new(along, 0.0, width * (0.5 - (i % 2) as Real))
        };
        let square = |i: u32| {
            let [a, b, c, d] = [2 * i, 2 * i + 2, 2 * i + 3, 2 * i + 1];
            [[a, b, c], [a, c, d]]
        };
        Ok(Self { vertices: (0..2 * pairs).map(node).collect(), triangles: (0..pairs - 1).flat_map(square).collect() })
    }

    /// A smooth organ of two unequal lobes, like a liver, `length` long along x [m]; `cells` along its length. Closed,
    /// to be filled with tetrahedra.
    pub fn organ(length: Real, cells: u32) -> Result<Self, PrimitiveError> {
        implicit::extract("organ", implicit::organ, length, cells)
    }

    /// A solid teapot: body, foot, lid with a knob, spout and handle in one closed surface, `length` from handle to
    /// spout along x [m]; `cells` along its length. Below 40 cells the handle and the spout get coarse.
    pub fn teapot(length: Real, cells: u32) -> Result<Self, PrimitiveError> {
        implicit::extract("teapot", implicit::teapot, length, cells)
    }
}

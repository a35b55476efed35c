//! Numeric codes of element types in file formats.

use crate::draft::Shape;

/// Shape and number of nodes of a Gmsh element type (Gmsh manual, "MSH file format"); `None` for types not listed.
pub fn gmsh(code: i64) -> Option<(Shape, usize)> {
    use Shape::{Other, Quad, Tet, Triangle};
    Some(match code {
        1 => (Other("line"), 2),
        2 => (Triangle, 3),
        3 => (Quad, 4),
        4 => (Tet, 4),
        5 => (Other("hexahedron"), 8),
        6 => (Other("prism"), 6),
        7 => (Other("pyramid"), 5),
        8 => (Other("line"), 3),
        9 => (Triangle, 6),
        10 => (Quad, 9),
        11 => (Tet, 10),
        12 => (Other("hexahedron"), 27),
        13 => (Other("prism"), 18),
        14 => (Other("pyramid"), 14),
        15 => (Other("point"), 1),
        16 => (Quad, 8),
        17 => (Other("hexahedron"), 20),
        18 => (Other("prism"), 15),
        19 => (Other("pyramid"), 13),
        20 => (Triangle, 9),
        21 => (Triangle, 10),
        22 => (Triangle, 12),
        23 | 24 => (Triangle, 15),
        25 => (Triangle, 21),
        26 => (Other("line"), 4),
        27 => (Other("line"), 5),
        28 => (Other("line"), 6),
        29 => (Tet, 20),
        30 => (Tet, 35),
        31 => (Tet, 56),
        92 => (Other("hexahedron"), 64),
        93 => (Other("hexahedron"), 125),
        _ => return None,
    })
}

/// Shape of a VTK cell type (vtkCellType.h).
pub fn vtk(code: i64) -> Shape {
    use Shape::{Other, Pixel, Polygon, Quad, Strip, Tet, Triangle};
    match code {
        0 => Other("empty cell"),
        1 | 2 => Other("point"),
        3 | 4 | 21 | 35 | 68 => Other("line"),
        // quadratic, biquadratic and Lagrange elements list their corners first
        5 | 22 | 34 | 69 => Triangle,
        6 => Strip,
        7 => Polygon,
        8 => Pixel,
        9 | 23 | 28 | 30 | 70 => Quad,
        10 | 24 | 71 => Tet,
        11 => Other("voxel"),
        12 | 25 | 29 | 33 | 72 => Other("hexahedron"),
        13 | 26 | 31 | 32 | 73 => Other("prism"),
        14 | 27 | 37 | 74 => Other("pyramid"),
        _ => Other("cell of a kind not known"),
    }
}

/// VTK's code of the triangles that Sinew writes.
pub const VTK_TRIANGLE: u8 = 5;
/// See [`VTK_TRIANGLE`].
pub const VTK_TET: u8 = 10;

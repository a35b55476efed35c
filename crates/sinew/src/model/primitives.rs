//! Primitive meshes: block, ball, cylinder, torus and tube as surfaces and as tetrahedra, sheet, disc, strip and rope,
//! and two closed surfaces of complex shape, an organ and a teapot.
//!
//! Round bodies are mapped blocks: a square (or cube) at the centre and blocks around it that end on the circle (or
//! sphere), so that no corner is flat and no element is thin. All axes are along y and all meshes are centred on the
//! origin, like the shapes of the same name; the sheet and the disc lie in the plane y = 0 and face upward.

mod implicit;
mod shapes;
mod solid;
mod sweep;

pub(crate) use sweep::split;

use super::tet_mesh::TetMesh;
use super::tri_mesh::TriMesh;
use crate::math::{Real, Vec3};

/// Reason why a primitive was rejected.
///
/// An example is at [`Polyline`](crate::Polyline).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{shape}.{parameter}: {value}, must be {allowed}")]
pub struct PrimitiveError {
    /// The primitive.
    pub shape: &'static str,
    /// Its parameter.
    pub parameter: &'static str,
    /// The value given.
    pub value: Real,
    /// The allowed range.
    pub allowed: &'static str,
}

/// Diagonals that split the squares of a sheet.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), PrimitiveError> {
/// // the same sheet: with parallel diagonals it shears more easily one way than the other
/// let (a, b) = (Diagonals::Parallel, Diagonals::Alternating);
/// let edges = |d| TriMesh::sheet([2, 2], [1.0, 1.0], d).map(|mesh| mesh.edges().len());
/// assert_eq!(edges(a)?, edges(b)?);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Diagonals {
    /// All parallel: the sheet shears more easily in one direction than in the other.
    Parallel,
    /// Alternating from square to square, so that no direction is preferred.
    #[default]
    Alternating,
}

/// Points joined by segments.
///
/// ```
/// use sinew::*;
/// # fn main() -> Result<(), PrimitiveError> {
/// let rope = Polyline::rope(Vec3::ZERO, Vec3::X * 2.0, 8)?;
/// assert_eq!((rope.points.len(), rope.segments.len()), (9, 8));
/// let told = Polyline::rope(Vec3::ZERO, Vec3::X, 0).unwrap_err();
/// assert_eq!(told.parameter, "segments");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Polyline {
    /// Points [m].
    pub points: Vec<Vec3>,
    /// Two points each.
    pub segments: Vec<[u32; 2]>,
}

impl Polyline {
    /// A straight rope of `segments` equal segments [m].
    pub fn rope(from: Vec3, to: Vec3, segments: u32) -> Result<Self, PrimitiveError> {
        let check = Check("rope");
        check.count("segments", segments, 1)?;
        check.length("length", (to - from).length())?;
        let point = |i: u32| from + (to - from) * (i as Real / segments as Real);
        Ok(Self { points: (0..=segments).map(point).collect(), segments: (0..segments).map(|i| [i, i + 1]).collect() })
    }
}

/// Checks the parameters of the named primitive.
struct Check(&'static str);

impl Check {
    fn refuse(&self, parameter: &'static str, value: Real, allowed: &'static str) -> PrimitiveError {
        PrimitiveError { shape: self.0, parameter, value, allowed }
    }

    fn length(&self, parameter: &'static str, value: Real) -> Result<(), PrimitiveError> {
        if value > 0.0 && value.is_finite() {
            Ok(())
        } else {
            Err(self.refuse(parameter, value, "positive and finite"))
        }
    }

    /// Number of cells: from `least` to a thousand, so that an input error does not exhaust the memory.
    fn count(&self, parameter: &'static str, value: u32, least: u32) -> Result<(), PrimitiveError> {
        let allowed = match least {
            0..=1 => "1 to 1000",
            2..=3 => "2 to 1000",
            _ => "8 to 1000",
        };
        if (least..=1000).contains(&value) { Ok(()) } else { Err(self.refuse(parameter, value as Real, allowed)) }
    }

    /// The radius of a hole must be smaller than the outer radius.
    fn smaller(&self, parameter: &'static str, value: Real, than: Real) -> Result<(), PrimitiveError> {
        self.length(parameter, value)?;
        if value < than { Ok(()) } else { Err(self.refuse(parameter, value, "less than the outer radius")) }
    }
}

impl TetMesh {
    /// The boundary as a surface of its own, without inner vertices.
    pub fn boundary(&self) -> TriMesh {
        compact(&self.vertices, self.boundary_faces())
    }
}

/// A surface with only the vertices that its triangles use, in their order.
fn compact(vertices: &[Vec3], mut triangles: Vec<[u32; 3]>) -> TriMesh {
    const UNUSED: u32 = u32::MAX;
    let mut number = vec![UNUSED; vertices.len()];
    triangles.iter().flatten().for_each(|&i| number[i as usize] = 0);
    let mut kept = Vec::new();
    for (new, &place) in number.iter_mut().zip(vertices) {
        if *new != UNUSED {
            *new = kept.len() as u32;
            kept.push(place);
        }
    }
    triangles.iter_mut().flatten().for_each(|i| *i = number[*i as usize]);
    TriMesh { vertices: kept, triangles }
}

/// Splits a square along the diagonal through its lowest vertex. The rule does not depend on neighbours, so shared
/// squares always match.
fn halve(mut square: [u32; 4]) -> [[u32; 3]; 2] {
    let lowest = (0..4).fold(0, |best, i| if square[i] < square[best] { i } else { best });
    square.rotate_left(lowest);
    let [a, b, c, d] = square;
    [[a, b, c], [a, c, d]]
}

#[cfg(test)]
mod tests;

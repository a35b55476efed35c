//! Tetrahedra from a closed triangle surface, by isosurface stuffing.
//!
//! F. Labelle and J. R. Shewchuk, "Isosurface stuffing: fast tetrahedral meshes with good dihedral angles", 2007. A
//! body-centred cubic lattice is laid over the shape; lattice points close to the surface are moved onto it; the
//! remaining parts of the lattice's tetrahedra inside are filled by stencils. All dihedral angles lie between 10.7 and
//! 164.8 degrees, for any surface. The method was chosen because it cannot fail on a closed surface, is fast, and gives
//! elements of nearly equal size, which suits explicit integration and contact. Its drawbacks: walls thinner than about
//! one and a half edges get holes (and are then refused), and sharp edges are reproduced only where the angles allow
//! it.
//!
//! Deviations: sides come from the winding number and cuts from the triangles themselves, so every vertex of the
//! boundary lies on the surface; after stuffing, vertices are moved where that improves the worst angle.
//!
//! All arithmetic is f64, without threads and without hash maps: the same input gives the same mesh.

mod check;
mod cross;
mod improve;
mod lattice;
mod prune;
mod quality;
#[cfg(test)]
mod shapes;
mod stuff;
mod tree;
mod vector;

use lattice::{Frame, Lattice};
use sinew::{Real, TetMesh, TriMesh, Vec3};
use stuff::Tets;
use tree::{Surface, Tree};
use vector::Vector;

/// Resolution of the mesh.
///
/// An example is at [`tetrahedralize::Options`](crate::tetrahedralize::Options).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// Length of the lattice's long edges [m]; the short ones are 0.87 times as long.
    Edge(f64),
    /// About this many tetrahedra; the edge length follows from the volume.
    Count(usize),
}

/// Options of the tetrahedralization.
///
/// ```
/// use sinew_mesh::tetrahedralize::{Options, Size, tetrahedralize};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ball = sinew::TriMesh::ball(0.1, 6)?;
/// let filled = tetrahedralize(&ball, &Options { size: Size::Edge(0.04), ..Options::default() })?;
/// assert!(filled.quality.min_dihedral_deg > 5.0 && filled.mesh.volume() > 0.0);
/// // a surface with a hole has no inside
/// let sheet = sinew::TriMesh::sheet([2, 2], [1.0, 1.0], sinew::Diagonals::Parallel)?;
/// assert!(tetrahedralize(&sheet, &Options::default()).is_err());
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Resolution. Default: about 20,000 tetrahedra.
    pub size: Size,
    /// The mesh is refused if any dihedral angle is below this [deg]. Default 10; the method gives 10.7 at least.
    pub min_dihedral_deg: f64,
    /// Move vertices after stuffing to improve angles, those of the boundary along the surface. Default true.
    pub smooth: bool,
    /// Snap vertices of the boundary to sharp edges and corners of the surface, where angles allow. Default true.
    pub snap: bool,
    /// The mesh is refused as too coarse if a part of the surface is farther from its boundary than this, in edge
    /// lengths \[1\], or if components of it are split or merged, or holes appear. The tip of a spike is always lost: a
    /// spike is as thin as an edge some edges before its end. Infinite: nothing is refused. Default 3.
    pub max_loss: f64,
    /// Maximum number of tetrahedra. Default 2,000,000.
    pub max_tets: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            size: Size::Count(20_000),
            min_dihedral_deg: 10.0,
            smooth: true,
            snap: true,
            max_loss: 3.0,
            max_tets: 2_000_000,
        }
    }
}

/// Quality of the mesh, measured on the returned vertices.
///
/// An example is at [`tetrahedralize::Options`](crate::tetrahedralize::Options).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Long edge of the lattice [m].
    pub size: f64,
    /// Vertices.
    pub vertices: usize,
    /// Tetrahedra.
    pub tets: usize,
    /// Minimum dihedral angle [deg].
    pub min_dihedral_deg: f64,
    /// Maximum dihedral angle [deg].
    pub max_dihedral_deg: f64,
    /// Volume inside the surface given [m³].
    pub surface_volume: f64,
    /// Volume of the tetrahedra divided by that of the surface, minus one.
    pub volume_error: f64,
    /// Maximum distance of the boundary from the surface [m].
    pub boundary_to_surface: f64,
    /// Maximum distance of the surface from the boundary [m]; large where a part was lost.
    pub surface_to_boundary: f64,
    /// Components of the boundary; a body with a cavity has two.
    pub pieces: usize,
    /// Boundary edges with more than two faces.
    pub pinched_edges: usize,
    /// Triangles of the input that faced inward and were flipped.
    pub turned: usize,
}

/// A mesh and its quality.
///
/// An example is at [`tetrahedralize::Options`](crate::tetrahedralize::Options).
#[derive(Clone, Debug, PartialEq)]
pub struct Tetrahedralized {
    /// The tetrahedra, all positive.
    pub mesh: TetMesh,
    /// Its quality.
    pub quality: Quality,
}

/// Why a surface was not filled.
///
/// An example is at [`tetrahedralize::Options`](crate::tetrahedralize::Options).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TetrahedralizeError {
    /// Nothing to fill.
    #[error("the surface has no triangles")]
    Empty,
    /// A vertex is not finite.
    #[error("vertex {vertex} is not finite")]
    NotFinite {
        /// The vertex.
        vertex: usize,
    },
    /// A triangle refers to a vertex that does not exist.
    #[error("triangle {triangle}: vertex {vertex} does not exist (the mesh has {count})")]
    NoVertex {
        /// The triangle.
        triangle: usize,
        /// Missing vertex.
        vertex: u32,
        /// Number of vertices.
        count: usize,
    },
    /// The surface has a boundary.
    #[error(
        "the surface is not closed: {count} open edges, the first between vertices {} and {} (triangle {triangle}) at \
         {at:?} m; close it first ('sinew mesh repair' joins vertices that coincide)",
        edge[0], edge[1]
    )]
    Open {
        /// Number of edges with one triangle.
        count: usize,
        /// The first of them.
        edge: [u32; 2],
        /// Its triangle.
        triangle: usize,
        /// Its midpoint [m].
        at: [f64; 3],
    },
    /// More than two triangles meet at an edge.
    #[error(
        "{count} edges have more than two triangles; the first, between vertices {} and {} at {at:?} m, has {triangles}",
        edge[0], edge[1]
    )]
    NonManifold {
        /// Number of such edges.
        count: usize,
        /// The first of them.
        edge: [u32; 2],
        /// Number of its triangles.
        triangles: usize,
        /// Its midpoint [m].
        at: [f64; 3],
    },
    /// The surface is one-sided: it cannot be oriented.
    #[error("triangles {} and {}: the surface has no inside (walking around it comes back on the other side)", triangles[0], triangles[1])]
    OneSided {
        /// Where the inconsistency was found.
        triangles: [usize; 2],
    },
    /// Two triangles intersect.
    #[error("triangles {} and {} cross near {at:?} m", triangles[0], triangles[1])]
    Crossing {
        /// The triangles.
        triangles: [usize; 2],
        /// Centre of the first [m].
        at: [f64; 3],
    },
    /// A component lies inside another, and both face outward.
    #[error(
        "the piece with triangle {inner} lies inside the piece with triangle {outer}, and both face outward; remove the \
         inner one, or turn it if it is a cavity"
    )]
    Nested {
        /// First triangle of the inner component.
        inner: usize,
        /// First triangle of the outer component.
        outer: usize,
    },
    /// The surface encloses no volume.
    #[error("the surface encloses no volume ({volume:e} m³)")]
    Flat {
        /// Volume found [m³].
        volume: f64,
    },
    /// An option is out of range.
    #[error("{name}: {value}, must be {allowed}")]
    BadOption {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The allowed range.
        allowed: &'static str,
    },
    /// More tetrahedra than allowed.
    #[error(
        "a size of {} m makes about {tets} tetrahedra, more than max_tets {limit}; raise the size or the limit",
        *size as f32
    )]
    TooMany {
        /// Edge length [m].
        size: f64,
        /// Number of tetrahedra, estimated or created.
        tets: usize,
        /// The limit.
        limit: usize,
    },
    /// A thin part was lost.
    #[error(
        "the surface is too thin for a size of {} m near {at:?} m: {what}; lower the size, or allow the loss",
        *size as f32
    )]
    TooThin {
        /// Edge length [m].
        size: f64,
        /// Position [m].
        at: [f64; 3],
        /// What was lost.
        what: String,
    },
    /// The required angle was not reached.
    #[error("the least dihedral angle is {reached} degrees, below min_dihedral_deg {asked}")]
    PoorAngle {
        /// Minimum dihedral angle [deg].
        reached: f64,
        /// Required angle [deg].
        asked: f64,
    },
}

/// Tetrahedra of a BCC lattice in a cube of one long edge.
const TETS_PER_CELL: f64 = 12.0;

/// Allowed lattice points per allowed tetrahedron: a bar along the diagonal of its bounding box needs a lattice far
/// larger than itself.
const POINTS_PER_TET: f64 = 64.0;

/// Fills a closed surface with tetrahedra.
///
/// Triangles that face inward are flipped, and counted in the result. A surface that is open, intersects itself or is
/// too thin for the size is refused; the message contains the position.
pub fn tetrahedralize(surface: &TriMesh, options: &Options) -> Result<Tetrahedralized, TetrahedralizeError> {
    let checked = check::check(surface)?;
    let tree = &checked.tree;
    if !(options.max_loss >= 0.0) {
        let value = options.max_loss;
        return Err(TetrahedralizeError::BadOption { name: "max_loss", value, allowed: "0 or more, in edge lengths" });
    }
    let size = choose_size(tree, options)?;

    // fill
    let lattice = Lattice::build(tree, Frame::around(&tree.bounds(), size));
    let mut tets = stuff::stuff(&lattice);
    drop(lattice);
    prune::prune(&mut tets, checked.bodies);
    if tets.tets.len() > options.max_tets {
        return Err(TetrahedralizeError::TooMany { size, tets: tets.tets.len(), limit: options.max_tets });
    }
    if tets.tets.is_empty() {
        let at = tree.surface.corners(0)[0].0;
        return Err(TetrahedralizeError::TooThin { size, at, what: "nothing is left of it".into() });
    }
    improve::improve(&mut tets, tree, size, improve::Wanted { smooth: options.smooth, snap: options.snap });

    // the returned mesh is measured, after rounding
    let mesh = hand_out(&tets);
    round(&mut tets);
    let quality = measure(&tets, &checked, size, options.max_loss)?;
    if !(quality.min_dihedral_deg >= options.min_dihedral_deg) {
        return Err(TetrahedralizeError::PoorAngle {
            reached: quality.min_dihedral_deg,
            asked: options.min_dihedral_deg,
        });
    }
    Ok(Tetrahedralized { mesh, quality })
}

/// Edge length, checked against the limit before any large allocation [m].
fn choose_size(tree: &Tree, options: &Options) -> Result<f64, TetrahedralizeError> {
    let volume = tree.surface.volume();
    if !(volume > 0.0) {
        return Err(TetrahedralizeError::Flat { volume });
    }
    let size = match options.size {
        Size::Edge(size) if !(size > 0.0 && size.is_finite()) => {
            return Err(TetrahedralizeError::BadOption { name: "size", value: size, allowed: "positive and finite" });
        }
        Size::Edge(size) => size,
        Size::Count(0) => {
            return Err(TetrahedralizeError::BadOption { name: "size", value: 0.0, allowed: "at least 1 tetrahedron" });
        }
        Size::Count(count) => (TETS_PER_CELL * volume / count as f64).cbrt(),
    };
    let limit = options.max_tets;
    let expected = TETS_PER_CELL * volume / size.powi(3);
    let points = 2.0 * Frame::cells_around(&tree.bounds(), size).iter().product::<f64>();
    let largest = (POINTS_PER_TET * limit as f64).min(f64::from(u32::MAX));
    if expected > limit as f64 || points > largest {
        return Err(TetrahedralizeError::TooMany { size, tets: expected as usize, limit });
    }
    Ok(size)
}

fn hand_out(tets: &Tets) -> TetMesh {
    let vertices = tets.vertices.iter().map(|p| Vec3::from_array(p.0.map(|x| x as Real))).collect();
    TetMesh { vertices, tets: tets.tets.clone() }
}

#[allow(clippy::unnecessary_cast)] // f32 or f64
fn round(tets: &mut Tets) {
    for p in &mut tets.vertices {
        *p = Vector(p.0.map(|x| x as Real as f64));
    }
}

fn measure(tets: &Tets, checked: &check::Checked, size: f64, max_loss: f64) -> Result<Quality, TetrahedralizeError> {
    let tree = &checked.tree;
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    for t in 0..tets.tets.len() {
        let (least, largest) = quality::extreme_dihedrals(tets.corners(t));
        (low, high) = (low.min(least), high.max(largest));
    }
    let boundary = Tree::build(Surface { vertices: tets.vertices.clone(), triangles: tets.boundary() });
    let shape = quality::shape(&boundary.surface.triangles);
    let (out, _) = quality::farthest(&boundary.surface, tree);
    let (lost, at) = quality::farthest(&tree.surface, &boundary);

    // a lost part is detected by its distance; a hole or a bridge by the number of components and the Euler
    // characteristic
    if max_loss.is_finite() {
        let what = if lost > max_loss * size {
            Some(format!("a part {lost} m from the mesh is lost"))
        } else if (shape.pieces, shape.euler) != (checked.pieces, checked.euler) || shape.pinched > 0 {
            Some(format!(
                "pieces and Euler characteristic were {} and {}, would be {} and {}, with {} pinched edges",
                checked.pieces, checked.euler, shape.pieces, shape.euler, shape.pinched
            ))
        } else {
            None
        };
        if let Some(what) = what {
            return Err(TetrahedralizeError::TooThin { size, at: at.0, what });
        }
    }
    let volume = tree.surface.volume();
    Ok(Quality {
        size,
        vertices: tets.vertices.len(),
        tets: tets.tets.len(),
        min_dihedral_deg: low.to_degrees(),
        max_dihedral_deg: high.to_degrees(),
        surface_volume: volume,
        volume_error: tets.volume() / volume - 1.0,
        boundary_to_surface: out,
        surface_to_boundary: lost,
        pieces: shape.pieces,
        pinched_edges: shape.pinched,
        turned: checked.turned,
    })
}

#[cfg(test)]
mod tests;

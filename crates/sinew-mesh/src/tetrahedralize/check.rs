//! Requirements on a surface before it is filled: closed, every edge shared by two triangles, consistently oriented, no
//! self-intersection. Orientations are corrected here (and counted); every other violation is refused with the index
//! and position of the offending element.

use super::TetrahedralizeError as Error;
use super::cross::cross;
use super::tree::{Bounds, Surface, Tree};
use super::vector::Vector;
use sinew::TriMesh;

/// A surface that satisfies the requirements.
#[derive(Debug)]
pub(super) struct Checked {
    pub tree: Tree,
    /// Triangles flipped so that all face outward.
    pub turned: usize,
    /// Vertices − edges + triangles.
    pub euler: i64,
    /// Connected components of the surface.
    pub pieces: usize,
    /// Components that are not cavities.
    pub bodies: usize,
}

/// Checks a surface and corrects its orientation.
pub(super) fn check(mesh: &TriMesh) -> Result<Checked, Error> {
    let mut surface = read(mesh)?;
    let neighbours = pair_edges(&surface)?;
    let given = surface.triangles.clone();
    let piece_of = align(&mut surface, &neighbours)?;
    // before nesting is determined: for intersecting components it is undefined
    refuse_crossing(&Tree::build(surface.clone()))?;
    let bodies = face_outward(&mut surface, &piece_of)?;
    let turned = given.iter().zip(&surface.triangles).filter(|(a, b)| a != b).count();
    let used = used_vertices(&surface.triangles) as i64;
    let tree = Tree::build(surface);
    let count = tree.surface.triangles.len();
    let pieces = piece_of.iter().max().map_or(0, |&p| p as usize + 1);
    // each triangle has three half-edges
    Ok(Checked { tree, turned, euler: used - (count / 2) as i64, pieces, bodies })
}

/// Number of vertices that the triangles use.
pub(super) fn used_vertices(triangles: &[[u32; 3]]) -> usize {
    let mut used: Vec<u32> = triangles.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    used.len()
}

/// Converts to f64, without triangles that use a vertex twice: they have no effect on closedness.
fn read(mesh: &TriMesh) -> Result<Surface, Error> {
    let count = mesh.vertices.len();
    if let Some(vertex) = mesh.vertices.iter().position(|v| !v.is_finite()) {
        return Err(Error::NotFinite { vertex });
    }
    for (triangle, corners) in mesh.triangles.iter().enumerate() {
        if let Some(&vertex) = corners.iter().find(|&&i| i as usize >= count) {
            return Err(Error::NoVertex { triangle, vertex, count });
        }
    }
    #[allow(clippy::useless_conversion)] // f32 or f64
    let vertices = mesh.vertices.iter().map(|v| Vector(v.to_array().map(f64::from))).collect();
    let triangles: Vec<_> = mesh.triangles.iter().copied().filter(|&[a, b, c]| a != b && b != c && c != a).collect();
    if triangles.is_empty() {
        return Err(Error::Empty);
    }
    Ok(Surface { vertices, triangles })
}

/// The three neighbours of each triangle, by edge, and whether the neighbour traverses the edge in the same direction
/// (one of the two is then flipped).
type Neighbours = Vec<[(u32, bool); 3]>;

fn pair_edges(surface: &Surface) -> Result<Neighbours, Error> {
    // (low vertex, high vertex, triangle, edge, upward)
    let mut edges = Vec::with_capacity(3 * surface.triangles.len());
    for (t, corners) in surface.triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            edges.push((a.min(b), a.max(b), t as u32, k, a < b));
        }
    }
    edges.sort_unstable();
    let mut neighbours = vec![[(0, false); 3]; surface.triangles.len()];
    let mut open: Option<(usize, [u32; 2], u32)> = None;
    let mut crowded: Option<(usize, [u32; 2], usize)> = None;
    for group in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let edge = [group[0].0, group[0].1];
        match group {
            [one] => open = Some(open.map_or((1, edge, one.2), |(n, e, t)| (n + 1, e, t))),
            [one, other] => {
                let same = one.4 == other.4;
                neighbours[one.2 as usize][one.3] = (other.2, same);
                neighbours[other.2 as usize][other.3] = (one.2, same);
            }
            more => crowded = Some(crowded.map_or((1, edge, more.len()), |(n, e, k)| (n + 1, e, k))),
        }
    }
    let place = |edge: [u32; 2]| {
        let [a, b] = edge.map(|i| surface.vertices[i as usize]);
        a.lerp(b, 0.5).0
    };
    if let Some((count, edge, triangle)) = open {
        return Err(Error::Open { count, edge, triangle: triangle as usize, at: place(edge) });
    }
    if let Some((count, edge, triangles)) = crowded {
        return Err(Error::NonManifold { count, edge, triangles, at: place(edge) });
    }
    Ok(neighbours)
}

/// Flips triangles until neighbours are consistent, the minority of each component; returns the component of each
/// triangle.
fn align(surface: &mut Surface, neighbours: &Neighbours) -> Result<Vec<u32>, Error> {
    let count = surface.triangles.len();
    let mut piece_of = vec![u32::MAX; count];
    let mut turn = vec![false; count];
    let mut pieces = 0;
    for seed in 0..count {
        if piece_of[seed] != u32::MAX {
            continue;
        }
        // traverse the component
        piece_of[seed] = pieces;
        let mut piece = vec![seed];
        let mut next = 0;
        while next < piece.len() {
            let t = piece[next];
            next += 1;
            for (other, same) in neighbours[t] {
                let wanted = turn[t] ^ same;
                let o = other as usize;
                if piece_of[o] == u32::MAX {
                    piece_of[o] = pieces;
                    turn[o] = wanted;
                    piece.push(o);
                } else if turn[o] != wanted {
                    return Err(Error::OneSided { triangles: [t, o] });
                }
            }
        }
        // the minority is flipped
        let minority = piece.iter().filter(|&&t| turn[t]).count();
        let flip = 2 * minority > piece.len();
        piece.iter().filter(|&&t| turn[t] != flip).for_each(|&t| surface.triangles[t].swap(1, 2));
        pieces += 1;
    }
    Ok(piece_of)
}

/// Orients whole components outward; a component inside another one may be a cavity (inward) but not a second outward
/// surface. Returns the number of components that are not cavities.
fn face_outward(surface: &mut Surface, piece_of: &[u32]) -> Result<usize, Error> {
    let count = piece_of.iter().max().map_or(0, |&p| p as usize + 1);
    let mut parts: Vec<Surface> = vec![Surface { vertices: Vec::new(), triangles: Vec::new() }; count];
    let mut first = vec![usize::MAX; count];
    for (t, &p) in piece_of.iter().enumerate() {
        let p = p as usize;
        first[p] = first[p].min(t);
        parts[p].triangles.push(surface.triangles[t]);
    }
    let mut volumes = Vec::with_capacity(count);
    for part in &mut parts {
        part.vertices.clone_from(&surface.vertices);
        volumes.push(part.volume());
    }
    let mut turn = vec![volumes.iter().sum::<f64>() < 0.0; count];
    if count > 1 {
        let trees: Vec<Tree> = parts.into_iter().map(Tree::build).collect();
        for p in 0..count {
            let probe = surface.vertices[surface.triangles[first[p]][0] as usize];
            let outer: Vec<usize> = (0..count).filter(|&o| o != p && trees[o].winding(probe).abs() > 0.5).collect();
            let outward = (volumes[p] > 0.0) ^ turn[p];
            if outer.len().is_multiple_of(2) {
                turn[p] ^= !outward;
            } else if outward {
                return Err(Error::Nested { inner: first[p], outer: first[outer[0]] });
            }
        }
    }
    for (t, &p) in piece_of.iter().enumerate() {
        if turn[p as usize] {
            surface.triangles[t].swap(1, 2);
        }
    }
    Ok((0..count).filter(|&p| (volumes[p] > 0.0) ^ turn[p]).count())
}

fn refuse_crossing(tree: &Tree) -> Result<(), Error> {
    for t in 0..tree.surface.triangles.len() {
        let corners = tree.surface.corners(t);
        let mut culprit = usize::MAX;
        tree.overlaps(&Bounds::of(&corners), |o| {
            if o > t && o < culprit && cross(&tree.surface, t, o) {
                culprit = o;
            }
        });
        if culprit != usize::MAX {
            let [a, b, c] = corners;
            return Err(Error::Crossing { triangles: [t, culprit], at: ((a + b + c) * (1.0 / 3.0)).0 });
        }
    }
    Ok(())
}

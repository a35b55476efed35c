//! Connectivity of triangles: edges, holes, components.

/// An undirected edge, a triangle that has it, and whether the triangle traverses it from the lower to the higher
/// vertex.
pub(super) type Side = ([u32; 2], u32, bool);

/// All sides of triangles, sorted by edge. Triangles with a repeated corner are left out.
pub(super) fn sides(triangles: &[[u32; 3]]) -> Vec<Side> {
    let mut sides = Vec::with_capacity(3 * triangles.len());
    for (t, &[a, b, c]) in triangles.iter().enumerate() {
        if a == b || b == c || c == a {
            continue;
        }
        for (from, to) in [(a, b), (b, c), (c, a)] {
            sides.push(([from.min(to), from.max(to)], t as u32, from < to));
        }
    }
    sides.sort_unstable();
    sides
}

/// Edges and components of a surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    /// Edges with one triangle: the boundaries of holes.
    pub boundary_edges: usize,
    /// Edges with more than two triangles.
    pub non_manifold_edges: usize,
    /// Edges whose two triangles have inconsistent orientations.
    pub turned_edges: usize,
    /// No edge has an odd number of triangles, and there are triangles.
    pub closed: bool,
    /// Boundary loops as rings of vertices.
    pub holes: Vec<Vec<u32>>,
    /// Connected components by shared vertices.
    pub components: usize,
}

/// Computes the topology of a list of triangles.
pub fn topology(triangles: &[[u32; 3]]) -> Topology {
    let sides = sides(triangles);
    let mut found = Topology { closed: !sides.is_empty(), ..Topology::default() };
    let mut rims = Vec::new();
    for edge in sides.chunk_by(|a, b| a.0 == b.0) {
        found.closed &= edge.len() % 2 == 0;
        match edge {
            [([low, high], _, rises)] => rims.push(if *rises { [*high, *low] } else { [*low, *high] }),
            [(_, _, one), (_, _, other)] => found.turned_edges += usize::from(one == other),
            _ => found.non_manifold_edges += 1,
        }
    }
    found.boundary_edges = rims.len();
    found.holes = rings(rims);
    found.components = pieces(triangles).1;
    found
}

/// Joins directed edges to closed loops. Where several loops meet in a vertex, any continuation is taken.
fn rings(mut edges: Vec<[u32; 2]>) -> Vec<Vec<u32>> {
    edges.sort_unstable();
    let mut used = vec![false; edges.len()];
    // per vertex, by its first edge: the first edge that may still be unused, so that many loops at one vertex take no
    // quadratic time
    let mut free: Vec<usize> = (0..edges.len()).collect();
    let mut rings = Vec::new();
    for start in 0..edges.len() {
        if used[start] {
            continue;
        }
        let mut ring = Vec::new();
        let mut next = Some(start);
        while let Some(at) = next {
            used[at] = true;
            ring.push(edges[at][0]);
            let to = edges[at][1];
            let first = edges.partition_point(|e| e[0] < to);
            next = (first < edges.len()).then(|| {
                while free[first] < edges.len() && used[free[first]] {
                    free[first] += 1;
                }
                free[first]
            });
            next = next.filter(|&i| edges.get(i).is_some_and(|e| e[0] == to));
        }
        rings.push(ring);
    }
    rings
}

/// A component index for each element, the same for elements that share vertices, and the number of components.
pub(super) fn pieces<const N: usize>(elements: &[[u32; N]]) -> (Vec<u32>, usize) {
    let count = elements.iter().flatten().max().map_or(0, |&m| m as usize + 1);
    let mut parent: Vec<u32> = (0..count as u32).collect();
    fn root(parent: &mut [u32], mut i: u32) -> u32 {
        while parent[i as usize] != i {
            let above = parent[parent[i as usize] as usize];
            parent[i as usize] = above;
            i = above;
        }
        i
    }
    for element in elements {
        let first = root(&mut parent, element[0]);
        for &other in &element[1..] {
            let other = root(&mut parent, other);
            parent[other as usize] = first;
        }
    }
    // components are numbered in the order of their first elements
    let mut number = vec![u32::MAX; count];
    let mut pieces = 0;
    let of_element = elements.iter().map(|element| {
        let root = root(&mut parent, element[0]) as usize;
        if number[root] == u32::MAX {
            number[root] = pieces;
            pieces += 1;
        }
        number[root]
    });
    let of_element: Vec<u32> = of_element.collect();
    (of_element, pieces as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNER: [[u32; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

    #[test]
    fn a_tetrahedron_is_closed_and_without_a_face_it_has_one_hole_of_three_edges() {
        let whole = topology(&CORNER);
        assert!(whole.closed && whole.components == 1 && whole.holes.is_empty() && whole.turned_edges == 0);
        let open = topology(&CORNER[..3]);
        assert!(!open.closed);
        assert_eq!((open.boundary_edges, open.holes.len(), open.holes[0].len()), (3, 1, 3));
    }

    #[test]
    fn a_flipped_face_and_a_fin_are_detected() {
        let mut turned = CORNER;
        turned[0].swap(0, 1);
        assert_eq!(topology(&turned).turned_edges, 3);
        let fin: Vec<[u32; 3]> = CORNER.into_iter().chain([[0, 1, 4]]).collect();
        let fin = topology(&fin);
        assert_eq!((fin.non_manifold_edges, fin.closed), (1, false));
        assert_eq!(topology(&[[0, 1, 2], [3, 4, 5]]).components, 2);
    }
}

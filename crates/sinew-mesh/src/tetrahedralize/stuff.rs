//! Tetrahedra of the interior, by stencils (Labelle and Shewchuk 2007, section 3.3).
//!
//! A lattice tetrahedron with corners inside, on and outside the surface is cut to its interior part: nothing, a
//! tetrahedron, a pyramid or a prism. A pyramid and a prism have quadrilateral sides on faces shared with a neighbour.
//! Both must use the same diagonal, so it is determined by the face alone:
//!
//! - one long and one short edge of the face are cut: the diagonal starts at the cut of the long edge;
//! - both short edges are cut: it starts at that end of the long edge with an even coordinate along its axis (the
//!   paper's parity rule), so that the two faces at this long edge start at the same end.
//!
//! With these rules every prism can be split, and the diagonal of the outer quadrilateral is free or determined.

use super::lattice::{Lattice, Side};
use super::quality::worst_sine;
use super::vector::{Vector, orient};
use std::collections::BTreeMap;

/// A mesh in f64.
#[derive(Clone, Debug, Default)]
pub(super) struct Tets {
    pub vertices: Vec<Vector>,
    pub tets: Vec<[u32; 4]>,
}

/// Key of a vertex of the result: a lattice point, or the cut of an edge (its point and direction).
type Name = [u32; 2];

/// Second part of the key of a lattice point: no direction has this number.
const POINT: u32 = 7;

struct Stuffer<'a> {
    lattice: &'a Lattice,
    names: BTreeMap<Name, u32>,
    mesh: Tets,
}

/// Fills the interior.
pub(super) fn stuff(lattice: &Lattice) -> Tets {
    let mut stuffer = Stuffer { lattice, names: BTreeMap::new(), mesh: Tets::default() };
    lattice.frame.tets(|corners| stuffer.fill(corners));
    stuffer.mesh
}

impl Stuffer<'_> {
    fn vertex(&mut self, name: Name, place: impl FnOnce() -> Vector) -> u32 {
        let mesh = &mut self.mesh;
        *self.names.entry(name).or_insert_with(|| {
            mesh.vertices.push(place());
            mesh.vertices.len() as u32 - 1
        })
    }

    fn point(&mut self, at: [i32; 3]) -> u32 {
        let number = self.lattice.frame.number(at).unwrap_or(0);
        let lattice = self.lattice;
        self.vertex([number, POINT], || lattice.place(number))
    }

    /// Vertex on the cut edge between two points on opposite sides.
    fn cut(&mut self, a: [i32; 3], b: [i32; 3]) -> u32 {
        match self.lattice.cut(a, b) {
            Some((name, place)) => self.vertex(name, || place),
            // unreachable: an edge between inside and outside has a cut, and loses it only when the sides of its ends
            // change
            None => self.point(a),
        }
    }

    /// Adds a tetrahedron with positive orientation.
    fn push(&mut self, mut tet: [u32; 4]) {
        let [a, b, c, d] = tet.map(|i| self.mesh.vertices[i as usize]);
        if orient(a, b, c, d) < 0.0 {
            tet.swap(2, 3);
        }
        self.mesh.tets.push(tet);
    }

    fn fill(&mut self, corners: [[i32; 3]; 4]) {
        let with = |side: Side| -> Vec<[i32; 3]> {
            let of = |&at: &[i32; 3]| self.lattice.frame.number(at).is_some_and(|n| self.lattice.side(n) == side);
            corners.into_iter().filter(of).collect()
        };
        let (inside, on, outside) = (with(Side::Inside), with(Side::On), with(Side::Outside));
        match (&inside[..], &outside[..]) {
            ([], _) => {}
            (_, []) => {
                let tet = corners.map(|at| self.point(at));
                self.push(tet);
            }
            // the remaining part is a tetrahedron
            (&[a], _) => {
                let mut tet = vec![self.point(a)];
                tet.extend(on.iter().map(|&at| self.point(at)));
                tet.extend(outside.iter().map(|&at| self.cut(a, at)));
                self.push([tet[0], tet[1], tet[2], tet[3]]);
            }
            // a pyramid over the cut face
            (&[a, b], &[out]) => {
                let apex = self.point(on[0]);
                let mut square = [self.point(a), self.point(b), self.cut(b, out), self.cut(a, out)];
                // the diagonal goes from corner 0 to corner 2
                if !starts_at_first(a, b, out) {
                    square.rotate_left(1);
                }
                self.push([square[0], square[1], square[2], apex]);
                self.push([square[0], square[2], square[3], apex]);
            }
            (&[a, b, c], &[out]) => self.cut_corner([a, b, c], out),
            (&[a, b], &[c, d]) => self.cut_middle([a, b], [c, d]),
            _ => {}
        }
    }

    /// Three corners inside: a prism between them and the cuts of their edges.
    fn cut_corner(&mut self, inside: [[i32; 3]; 3], out: [i32; 3]) {
        let top = inside.map(|at| self.point(at));
        let bottom = inside.map(|at| self.cut(at, out));
        let before = |i: usize, j: usize| starts_at_first(inside[i], inside[j], out);
        for tet in prism(top, bottom, [before(0, 1), before(1, 2), before(0, 2)]) {
            self.push(tet);
        }
    }

    /// Two corners inside: a prism between each of them and its two cuts.
    fn cut_middle(&mut self, [a, b]: [[i32; 3]; 2], [c, d]: [[i32; 3]; 2]) {
        let top = [self.point(a), self.cut(a, c), self.cut(a, d)];
        let bottom = [self.point(b), self.cut(b, c), self.cut(b, d)];
        let (first, second) = (starts_at_first(a, b, c), starts_at_first(a, b, d));
        let tets = if first == second {
            // the diagonal of the outer quadrilateral is free: the better one is taken
            let split = [true, false].map(|free| prism(top, bottom, [first, free, second]));
            let worst = split.map(|tets| tets.map(|t| self.worst_sine(t)).into_iter().fold(f64::INFINITY, f64::min));
            split[usize::from(worst[1] > worst[0])]
        } else {
            // column 0 is between the two others in the order
            prism(top, bottom, [first, second, second])
        };
        for tet in tets {
            self.push(tet);
        }
    }

    fn worst_sine(&self, tet: [u32; 4]) -> f64 {
        worst_sine(tet.map(|i| self.mesh.vertices[i as usize]))
    }
}

/// Whether the diagonal of the quadrilateral (a, b, cut of b, cut of a) starts at a; else it starts at b.
fn starts_at_first(a: [i32; 3], b: [i32; 3], out: [i32; 3]) -> bool {
    let long = |p: [i32; 3], q: [i32; 3]| (0..3).find(|&i| (p[i] - q[i]).abs() == 2);
    match long(a, b) {
        Some(axis) => (a[axis] >> 1) & 1 == 0,
        None => long(b, out).is_some(),
    }
}

/// Splits a prism into three tetrahedra. `before` gives for the columns (0, 1), (1, 2), (0, 2) whether the diagonal of
/// their quadrilateral goes from the top of the first to the bottom of the second. Without a cycle this is an order of
/// the columns, and the tetrahedra follow it: tops up to a column, bottoms from there.
fn prism(top: [u32; 3], bottom: [u32; 3], before: [bool; 3]) -> [[u32; 4]; 3] {
    // number of columns before each
    let mut place = [0; 3];
    for (pair, &is) in [[0, 1], [1, 2], [0, 2]].into_iter().zip(&before) {
        place[if is { pair[1] } else { pair[0] }] += 1;
    }
    let mut order = [0, 1, 2];
    order.sort_by_key(|&column| place[column]);
    let [x, y, z] = order;
    [
        [top[x], bottom[x], bottom[y], bottom[z]],
        [top[x], top[y], bottom[y], bottom[z]],
        [top[x], top[y], top[z], bottom[z]],
    ]
}

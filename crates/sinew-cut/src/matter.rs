//! The matter of an element copy: the convex polyhedron that its planes leave of the parent element, exactly.
//!
//! Corners are integer points (`exact.rs`), so that "empty", "whole" and "on the plane" are decided without rounding. A
//! part counts if it has a corner strictly inside, that is, a volume above zero however small.

use crate::exact::{self, Levels};

/// Planes of cuts in one element copy that bound its matter.
pub const MAX_PLANES: usize = 12;
const FACES: usize = 4 + MAX_PLANES + 1;
const CORNERS: usize = 64;
const NONE: u8 = u8::MAX;

/// What a plane does to a polyhedron.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clip {
    /// Nothing lies on the negative side.
    Whole,
    /// Nothing lies on the positive side.
    Empty,
    /// The negative side was taken away.
    Cut,
}

/// A face of the polyhedron: its corners in order, counter-clockwise from outside.
#[derive(Clone, Copy)]
pub(crate) struct Face {
    /// 0 to 3: the face of the element opposite to this corner. 4 + k: plane k of the copy.
    pub plane: u8,
    pub count: u8,
    pub corners: [u8; FACES],
}

impl Face {
    const EMPTY: Self = Self { plane: 0, count: 0, corners: [0; FACES] };

    pub fn corners(&self) -> &[u8] {
        &self.corners[..self.count as usize]
    }

    fn push(&mut self, corner: u8) {
        self.corners[self.count as usize] = corner;
        self.count += 1;
    }
}

/// A convex polyhedron in an element.
pub(crate) struct Matter {
    pub points: [[i128; 4]; CORNERS],
    /// One bit for each corner in use.
    pub alive: u64,
    planes: [Levels; FACES],
    pub faces: [Face; FACES],
    pub face_count: usize,
}

impl Default for Matter {
    fn default() -> Self {
        Self {
            points: [[0; 4]; CORNERS],
            alive: 0,
            planes: [[0; 4]; FACES],
            faces: [Face::EMPTY; FACES],
            face_count: 0,
        }
    }
}

/// Faces of an element of positive volume, outward, each opposite to the corner of its number.
pub(crate) const OUTWARD: [[u8; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

impl Matter {
    /// The whole element.
    pub fn reset(&mut self) {
        for k in 0..4 {
            self.points[k] = exact::face_plane(k).map(i128::from);
            self.planes[k] = exact::face_plane(k);
            self.faces[k] = Face { plane: k as u8, count: 3, ..Face::EMPTY };
            self.faces[k].corners[..3].copy_from_slice(&OUTWARD[k]);
        }
        self.alive = 0b1111;
        self.face_count = 4;
    }

    pub fn faces(&self) -> &[Face] {
        &self.faces[..self.face_count]
    }

    /// Numbers of the corners.
    pub fn corners(&self) -> impl Iterator<Item = usize> + use<> {
        let alive = self.alive;
        (0..CORNERS).filter(move |k| alive >> k & 1 == 1)
    }

    /// Whether corners lie strictly on the positive and on the negative side of a plane.
    pub fn sides(&self, plane: &Levels) -> (bool, bool) {
        let (mut above, mut below) = (false, false);
        for k in self.corners() {
            let side = exact::side(&self.points[k], plane);
            above |= side > 0;
            below |= side < 0;
        }
        (above, below)
    }

    /// Takes away what lies on the negative side of plane `number` of the copy.
    pub fn clip(&mut self, plane: &Levels, number: usize) -> Clip {
        let mut side = [0_i8; CORNERS];
        let (mut above, mut below) = (false, false);
        for k in self.corners() {
            side[k] = exact::side(&self.points[k], plane);
            above |= side[k] > 0;
            below |= side[k] < 0;
        }
        match (above, below) {
            (_, false) => return Clip::Whole,
            (false, true) => return Clip::Empty,
            (true, true) => {}
        }
        let plane_id = (4 + number) as u8;
        self.planes[plane_id as usize] = *plane;
        self.cut_faces(plane_id, &mut side);
        self.close(plane_id, &side);
        for k in self.corners() {
            if side[k] < 0 {
                self.alive &= !(1 << k);
            }
        }
        Clip::Cut
    }

    /// Cuts each face polygon; new corners get side 0.
    fn cut_faces(&mut self, plane: u8, side: &mut [i8; CORNERS]) {
        let mut made = [(0_u8, 0_u8, 0_u8); CORNERS];
        let mut made_count = 0;
        for f in 0..self.face_count {
            let old = self.faces[f];
            let mut out = Face { plane: old.plane, ..Face::EMPTY };
            let corners = old.corners();
            for k in 0..corners.len() {
                let (a, b) = (corners[k], corners[(k + 1) % corners.len()]);
                if side[a as usize] >= 0 {
                    out.push(a);
                }
                if side[a as usize] * side[b as usize] >= 0 {
                    continue;
                }
                let key = (a.min(b), a.max(b));
                let known = made[..made_count].iter().find(|m| (m.0, m.1) == key).map(|m| m.2);
                let corner = known.unwrap_or_else(|| {
                    let corner = self.new_corner(f, (a, b), plane);
                    made[made_count] = (key.0, key.1, corner);
                    made_count += 1;
                    corner
                });
                side[corner as usize] = 0;
                out.push(corner);
            }
            self.faces[f] = out;
        }
    }

    /// The point where an edge of face `f` crosses a plane. Faces after `f` are not cut yet, and the other face at the
    /// edge is one of them, otherwise the corner would be there.
    fn new_corner(&mut self, f: usize, (a, b): (u8, u8), plane: u8) -> u8 {
        let has_edge = |face: &Face| {
            let corners = face.corners();
            (0..corners.len()).any(|k| (corners[k], corners[(k + 1) % corners.len()]) == (b, a))
        };
        let mate = self.faces[f + 1..self.face_count].iter().find(|face| has_edge(face));
        // a closed polyhedron has the reverse of each edge
        let mate = mate.map_or(plane, |face| face.plane);
        let of = |id: u8| &self.planes[id as usize];
        let point = exact::meet(of(self.faces[f].plane), of(mate), of(plane));
        let corner = (!self.alive).trailing_zeros() as usize;
        self.points[corner] = point;
        self.alive |= 1 << corner;
        corner as u8
    }

    /// The new face: the reverse of each edge on the plane, in order. Faces with fewer than three corners go.
    fn close(&mut self, plane: u8, side: &[i8; CORNERS]) {
        let mut next = [NONE; CORNERS];
        let mut kept = 0;
        let mut start = NONE;
        for f in 0..self.face_count {
            let face = self.faces[f];
            let corners = face.corners();
            if corners.len() < 3 {
                continue;
            }
            for k in 0..corners.len() {
                let (a, b) = (corners[k] as usize, corners[(k + 1) % corners.len()] as usize);
                if side[a] == 0 && side[b] == 0 {
                    next[b] = a as u8;
                    start = b as u8;
                }
            }
            self.faces[kept] = face;
            kept += 1;
        }
        let mut cap = Face { plane, ..Face::EMPTY };
        let mut at = start;
        while at != NONE && (cap.count as usize) < FACES {
            cap.push(at);
            at = next[at as usize];
            if at == start {
                break;
            }
        }
        self.faces[kept] = cap;
        self.face_count = kept + 1;
    }

    /// Volume as a fraction of the element's. Never zero: a part that exists has some.
    pub fn fill(&self) -> f64 {
        /// Far below what the sum of the fills of an element can resolve, and far above the least f32.
        const LEAST: f64 = 1e-15;
        let faces = self.faces();
        let apex = faces[0].corners[0];
        let origin = exact::weights(&self.points[apex as usize]);
        let mut weights = [[0.0; 3]; CORNERS];
        for k in self.corners() {
            let w = exact::weights(&self.points[k]);
            weights[k] = [w[1] - origin[1], w[2] - origin[2], w[3] - origin[3]];
        }
        let mut sum = 0.0;
        for face in faces.iter().filter(|face| !face.corners().contains(&apex)) {
            let corners = face.corners();
            let a = weights[corners[0] as usize];
            for pair in corners[1..].windows(2) {
                let (b, c) = (weights[pair[0] as usize], weights[pair[1] as usize]);
                sum += a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
                    + a[2] * (b[0] * c[1] - b[1] * c[0]);
            }
        }
        sum.abs().max(LEAST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill_of(planes: &[Levels]) -> f64 {
        let mut matter = Matter::default();
        matter.reset();
        for (k, plane) in planes.iter().enumerate() {
            assert_eq!(matter.clip(plane, k), Clip::Cut, "{plane:?}");
        }
        matter.fill()
    }

    #[test]
    fn fills_follow_the_closed_formula() {
        // case X04: sum over s_i > 0 of s_i³ / Π(s_i − s_j)
        for (levels, wanted) in [
            ([1, 2, -1, -3], 0.408_333_333),
            ([3, -1, -2, -4], 0.192_857_143),
            ([1, 2, 3, -1], 0.958_333_333),
            ([1, -1, -1, -1], 0.125),
        ] {
            let fill = fill_of(&[levels]);
            assert!((fill - wanted).abs() < 1e-9, "{levels:?}: {fill}");
            let rest = fill_of(&[levels.map(|s: i32| -s)]);
            assert!((fill + rest - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn a_plane_through_a_corner_or_an_edge_cuts_cleanly() {
        assert!((fill_of(&[[0, 1, -1, 0]]) - 0.5).abs() < 1e-15);
        assert!((fill_of(&[[0, 1, -1, 0], [1, 0, 0, -1]]) - 0.25).abs() < 1e-15);
        assert!((fill_of(&[[0, 1, -1, -1]]) - 0.25).abs() < 1e-15);
    }

    #[test]
    fn the_same_plane_again_leaves_all_or_nothing() {
        let mut matter = Matter::default();
        matter.reset();
        let plane = [5, -3, 2, -9];
        assert_eq!(matter.clip(&plane, 0), Clip::Cut);
        assert_eq!(matter.clip(&plane, 1), Clip::Whole);
        assert_eq!(matter.clip(&plane.map(|s| 3 * s), 1), Clip::Whole);
        assert_eq!(matter.clip(&plane.map(|s| -s), 1), Clip::Empty);
        assert_eq!(matter.sides(&plane), (true, false));
    }

    #[test]
    fn random_planes_divide_the_element_without_loss() {
        let mut seed = 7_u64;
        let mut draw = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((seed >> 33) as i32 % 2_000_001) - 1_000_000
        };
        for _ in 0..300 {
            let mut parts: Vec<Vec<Levels>> = vec![vec![]];
            for _ in 0..6 {
                let plane = [draw(), draw(), draw(), draw()];
                let mut next = Vec::new();
                for part in parts {
                    for sign in [1, -1] {
                        let mut matter = Matter::default();
                        matter.reset();
                        part.iter().enumerate().for_each(|(k, p)| {
                            matter.clip(p, k);
                        });
                        let side = plane.map(|s| sign * s);
                        if matter.clip(&side, part.len()) != Clip::Empty {
                            next.push(part.iter().copied().chain([side]).collect());
                        }
                    }
                }
                parts = next;
            }
            let sum: f64 = parts
                .iter()
                .map(|part: &Vec<Levels>| {
                    let mut matter = Matter::default();
                    matter.reset();
                    part.iter().enumerate().for_each(|(k, p)| {
                        matter.clip(p, k);
                    });
                    matter.fill()
                })
                .sum();
            assert!((sum - 1.0).abs() < 1e-12, "{sum}");
        }
    }
}

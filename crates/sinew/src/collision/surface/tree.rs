//! Bounding boxes over the cells of a deforming surface: built once from the rest shape, refitted when the cells have
//! moved.
//!
//! The tree topology never changes, and the cells returned are those whose own boxes overlap: a restored world finds
//! the
//! same.

use crate::collision::Bounds3;
use crate::collision::parry::{Bvh, BvhBuildStrategy, lib_aabb};

/// A tree over boxes, one per cell.
pub(crate) struct SurfaceTree {
    tree: Bvh,
    boxes: Vec<Bounds3>,
}

impl std::fmt::Debug for SurfaceTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SurfaceTree({} boxes)", self.boxes.len())
    }
}

impl SurfaceTree {
    /// Over the boxes of cells at rest.
    pub fn new(boxes: Vec<Bounds3>) -> Self {
        let leaves: Vec<_> = boxes.iter().map(lib_aabb).collect();
        Self { tree: Bvh::from_leaves(BvhBuildStrategy::Binned, &leaves), boxes }
    }

    /// Refits to the cells: one box each, in their order.
    pub fn refit(&mut self, boxes: impl Iterator<Item = Bounds3>) {
        for (cell, (to, now)) in self.boxes.iter_mut().zip(boxes).enumerate() {
            *to = now;
            self.tree.insert_or_update_partially(lib_aabb(&now), cell as u32, 0.0);
        }
        self.tree.refit_without_opt();
    }

    /// The box around all cells; none without cells.
    pub fn bounds(&self) -> Option<Bounds3> {
        if self.boxes.is_empty() {
            return None;
        }
        let all = self.tree.root_aabb();
        Some(Bounds3 { min: all.mins, max: all.maxs })
    }

    /// Calls `found` for every cell whose box overlaps `bounds`, in no particular order.
    pub fn overlapping(&self, bounds: &Bounds3, mut found: impl FnMut(u32)) {
        for cell in self.tree.intersect_aabb(&lib_aabb(bounds)) {
            if self.boxes[cell as usize].meets(bounds) {
                found(cell);
            }
        }
    }

    /// Pairs of cells of two surfaces whose boxes overlap, sorted, into `out`.
    pub fn pairs(&self, other: &Self, out: &mut Vec<(u32, u32)>) {
        out.clear();
        let meets = |&(a, b): &(u32, u32)| self.boxes[a as usize].meets(&other.boxes[b as usize]);
        out.extend(self.tree.leaf_pairs(&other.tree, |a, b| a.intersects(b)).filter(meets));
        out.sort_unstable();
    }

    /// Pairs of cells of one surface whose boxes overlap, the smaller first, sorted, into `out`.
    pub fn own_pairs(&self, out: &mut Vec<(u32, u32)>) {
        self.pairs(self, out);
        out.retain(|&(a, b)| a < b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Draws, Vec3};

    #[test]
    fn finds_the_same_pairs_as_brute_force_while_cells_move() {
        let mut draws = Draws(3);
        let mut random = || 0.5 * (draws.number() + 1.0);
        let mut boxes = |count: usize| -> Vec<Bounds3> {
            (0..count)
                .map(|_| {
                    let min = Vec3::new(random(), random(), random()) * 10.0;
                    Bounds3 { min, max: min + Vec3::splat(random()) }
                })
                .collect()
        };
        for count in [1, 2, 3, 150] {
            let (mut a, mut b) = (SurfaceTree::new(boxes(count)), SurfaceTree::new(boxes(100)));
            for _ in 0..5 {
                let (now_a, now_b) = (boxes(count), boxes(100));
                a.refit(now_a.iter().copied());
                b.refit(now_b.iter().copied());
                let mut got = Vec::new();
                a.pairs(&b, &mut got);
                let all = |x: &[Bounds3], y: &[Bounds3]| -> Vec<(u32, u32)> {
                    let of =
                        |i: usize| (0..y.len()).filter(move |&j| x[i].meets(&y[j])).map(move |j| (i as u32, j as u32));
                    (0..x.len()).flat_map(of).collect()
                };
                assert_eq!(got, all(&now_a, &now_b));
                a.own_pairs(&mut got);
                let want: Vec<_> = all(&now_a, &now_a).into_iter().filter(|p| p.0 < p.1).collect();
                assert_eq!(got, want);
            }
        }
    }
}

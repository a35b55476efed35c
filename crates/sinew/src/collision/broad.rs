//! Broad phase: pairs of colliders that may be in contact. A tree over fattened bounding boxes finds them; boxes that
//! stay inside their fattened box cost nothing.
//!
//! The pairs returned by this file are those whose *tight* boxes overlap now: they depend on the state alone, not on
//! when a box was last fattened, so that a restored world finds the same pairs.

use super::Bounds3;
use super::parry::{Bvh, BvhWorkspace, lib_aabb};
use crate::math::Real;

/// The tree and its cached pairs. Derived data: all of it can be rebuilt from the state.
pub(crate) struct BroadPhase {
    tree: Bvh,
    workspace: BvhWorkspace,
    fat: Vec<Bounds3>,
    /// Unbounded colliders: tested against all others.
    endless: Vec<u32>,
    /// Pairs of fat boxes that overlap, smaller collider first.
    pairs: Vec<(u32, u32)>,
    revision: u64,
    stale: bool,
}

impl Default for BroadPhase {
    fn default() -> Self {
        Self {
            tree: Bvh::new(),
            workspace: BvhWorkspace::default(),
            fat: Vec::new(),
            endless: Vec::new(),
            pairs: Vec::new(),
            revision: u64::MAX,
            stale: true,
        }
    }
}

impl std::fmt::Debug for BroadPhase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BroadPhase({} boxes, {} pairs)", self.fat.len(), self.pairs.len())
    }
}

impl BroadPhase {
    /// Discards all cached data: after a restore or an edit.
    pub fn invalidate(&mut self) {
        self.revision = u64::MAX;
    }

    /// Updates the boxes of all colliders (`endless[i]` marks unbounded ones) and finds the pairs. `slack` is the
    /// margin by which a box is fattened [m].
    pub fn update(&mut self, revision: u64, tight: &[Bounds3], endless: &[bool], slack: Real) {
        if self.revision != revision || self.fat.len() != tight.len() {
            self.rebuild(revision, tight, endless, slack);
        } else {
            for (i, bounds) in tight.iter().enumerate() {
                if endless[i] || self.fat[i].contains(bounds) {
                    continue;
                }
                self.fat[i] = bounds.grown(slack);
                self.tree.insert_or_update_partially(lib_aabb(&self.fat[i]), i as u32, 0.0);
                self.stale = true;
            }
        }
        if self.stale {
            self.find_pairs();
        }
    }

    fn rebuild(&mut self, revision: u64, tight: &[Bounds3], endless: &[bool], slack: Real) {
        self.revision = revision;
        self.tree = Bvh::new();
        self.fat.clear();
        self.endless.clear();
        for (i, bounds) in tight.iter().enumerate() {
            self.fat.push(bounds.grown(slack));
            if endless[i] {
                self.endless.push(i as u32);
            } else {
                self.tree.insert_or_update_partially(lib_aabb(&self.fat[i]), i as u32, 0.0);
            }
        }
        self.stale = true;
    }

    fn find_pairs(&mut self) {
        self.tree.refit(&mut self.workspace);
        self.pairs.clear();
        let pairs = &mut self.pairs;
        self.tree.traverse_bvtt_single_tree::<false>(&mut self.workspace, &mut |a: u32, b: u32| {
            pairs.push((a.min(b), a.max(b)));
        });
        for &e in &self.endless {
            for i in 0..self.fat.len() as u32 {
                // two unbounded colliders are never paired: both belong to bodies that do not move
                if i != e && !self.endless.contains(&i) {
                    self.pairs.push((e.min(i), e.max(i)));
                }
            }
        }
        self.pairs.sort_unstable();
        self.stale = false;
    }

    /// Pairs of colliders whose fat boxes overlap, sorted. The caller keeps those whose tight boxes overlap.
    pub fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    /// Calls `found` for every collider whose fat box overlaps `bounds`, unbounded ones included, in no particular
    /// order.
    pub fn overlapping(&self, bounds: &Bounds3, mut found: impl FnMut(u32)) {
        let aabb = lib_aabb(bounds);
        for leaf in self.tree.intersect_aabb(&aabb) {
            found(leaf);
        }
        for &e in &self.endless {
            found(e);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Draws, Vec3};

    #[test]
    fn finds_the_same_pairs_as_brute_force() {
        let mut draws = Draws(1);
        let mut random = || 0.5 * (draws.number() + 1.0);
        let mut boxes: Vec<Bounds3> = (0..200)
            .map(|_| {
                let min = Vec3::new(random(), random(), random()) * 10.0;
                Bounds3 { min, max: min + Vec3::splat(0.8) }
            })
            .collect();
        let endless = vec![false; boxes.len()];
        let mut broad = BroadPhase::default();
        for _ in 0..20 {
            for b in &mut boxes {
                let step = Vec3::new(random() - 0.5, random() - 0.5, random() - 0.5) * 0.3;
                *b = Bounds3 { min: b.min + step, max: b.max + step };
            }
            broad.update(1, &boxes, &endless, 0.1);
            let got: Vec<_> =
                broad.pairs().iter().copied().filter(|&(a, b)| boxes[a as usize].meets(&boxes[b as usize])).collect();
            let mut want = Vec::new();
            for a in 0..boxes.len() {
                for b in a + 1..boxes.len() {
                    if boxes[a].meets(&boxes[b]) {
                        want.push((a as u32, b as u32));
                    }
                }
            }
            assert_eq!(got, want);
        }
    }
}

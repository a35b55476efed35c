//! Pairs of cells that may meet, kept from step to step while the fat boxes they were found with hold.
//!
//! The box of a cell in a step lies within its fat box (`SkinWork::fit`), so that two cells whose boxes meet now are among the
//! pairs that the trees gave then. Who asks takes from them those whose boxes meet: what comes out does not depend on when
//! the list was made, and a restored world sees the same.

use super::SkinWork;

/// Lists of all pairs of surfaces that are near each other.
#[derive(Debug, Default)]
pub(crate) struct NearCells {
    lists: Vec<List>,
}

#[derive(Debug)]
struct List {
    bodies: (u32, u32),
    /// Of the fat boxes it was made with.
    stamps: [(u32, u64); 2],
    pairs: Vec<(u32, u32)>,
    used: bool,
}

impl NearCells {
    /// All pairs of cells of two surfaces whose boxes meet, into `out`; of one surface each pair once.
    pub fn meeting(&mut self, a: (u32, &SkinWork), b: (u32, &SkinWork), out: &mut Vec<(u32, u32)>) {
        out.clear();
        let boxes = (&a.1.boxes, &b.1.boxes);
        let meet = |&&(p, q): &&(u32, u32)| boxes.0[p as usize].meets(&boxes.1[q as usize]);
        out.extend(self.list(a, b).iter().filter(meet));
    }

    fn list(&mut self, (a, skin_a): (u32, &SkinWork), (b, skin_b): (u32, &SkinWork)) -> &[(u32, u32)] {
        let at = self.lists.binary_search_by_key(&(a, b), |l| l.bodies).unwrap_or_else(|at| {
            // no fat boxes have the time 0
            self.lists.insert(at, List { bodies: (a, b), stamps: [(0, 0); 2], pairs: Vec::new(), used: false });
            at
        });
        let list = &mut self.lists[at];
        list.used = true;
        let stamps = [skin_a.stamp(), skin_b.stamp()];
        if list.stamps != stamps {
            list.stamps = stamps;
            list.pairs.clear();
            if let (Some(tree_a), Some(tree_b)) = (&skin_a.tree, &skin_b.tree) {
                tree_a.unsorted_pairs(tree_b, &mut list.pairs);
            }
            if a == b {
                list.pairs.retain(|(p, q)| p < q);
            }
        }
        &list.pairs
    }

    /// Forgets the lists that nobody asked for since the last call.
    pub fn forget_unused(&mut self) {
        self.lists.retain_mut(|l| std::mem::take(&mut l.used));
    }
}

//! A bounding volume hierarchy of boxes, to find those that overlap another box. Built once, by median splits of the
//! widest axis.

use crate::geometry::Point;

type Box3 = [Point; 2];

/// Maximum number of boxes in a leaf.
const LEAF: usize = 4;

struct Node {
    bounds: Box3,
    /// Index into `order`.
    from: u32,
    count: u32,
    /// Index of the second child; the first follows its parent. 0 for a leaf.
    second: u32,
}

/// The tree.
pub struct Tree<'a> {
    boxes: &'a [Box3],
    order: Vec<u32>,
    nodes: Vec<Node>,
}

fn join(a: Box3, b: Box3) -> Box3 {
    [std::array::from_fn(|i| a[0][i].min(b[0][i])), std::array::from_fn(|i| a[1][i].max(b[1][i]))]
}

fn meet(a: &Box3, b: &Box3) -> bool {
    (0..3).all(|i| a[0][i] <= b[1][i] && b[0][i] <= a[1][i])
}

impl<'a> Tree<'a> {
    pub fn new(boxes: &'a [Box3]) -> Self {
        let mut tree = Tree { boxes, order: (0..boxes.len() as u32).collect(), nodes: Vec::new() };
        if !boxes.is_empty() {
            tree.split(0, boxes.len());
        }
        tree
    }

    /// Both halves have equal numbers, so the depth is logarithmic in the number of boxes.
    fn split(&mut self, from: usize, to: usize) {
        let part = &self.order[from..to];
        let all = part.iter().map(|&i| self.boxes[i as usize]).reduce(join);
        let bounds = all.unwrap_or_default();
        let node = self.nodes.len();
        self.nodes.push(Node { bounds, from: from as u32, count: (to - from) as u32, second: 0 });
        if to - from <= LEAF {
            return;
        }
        let side = |i: usize| bounds[1][i] - bounds[0][i];
        let axis = (0..3).fold(0, |best, i| if side(i) > side(best) { i } else { best });
        let middle = (from + to) / 2;
        let boxes = self.boxes;
        let centre = |i: u32| boxes[i as usize][0][axis] + boxes[i as usize][1][axis];
        // ties are broken by index: the tree is deterministic
        self.order[from..to]
            .select_nth_unstable_by(middle - from, |&a, &b| centre(a).total_cmp(&centre(b)).then(a.cmp(&b)));
        self.split(from, middle);
        self.nodes[node].second = self.nodes.len() as u32;
        self.split(middle, to);
    }

    /// Calls `call` for every box that overlaps the probe, until it returns false. `steps` counts the visited nodes.
    pub fn meeting(&self, probe: &Box3, steps: &mut u64, mut call: impl FnMut(u32) -> bool) {
        let mut stack = vec![0usize];
        while let Some(at) = stack.pop() {
            let Some(node) = self.nodes.get(at) else { return };
            *steps += 1;
            if !meet(&node.bounds, probe) {
                continue;
            }
            if node.second != 0 {
                stack.push(node.second as usize);
                stack.push(at + 1);
                continue;
            }
            for &i in &self.order[node.from as usize..(node.from + node.count) as usize] {
                if meet(&self.boxes[i as usize], probe) && !call(i) {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_finds_the_same_boxes_as_an_exhaustive_search() {
        // a helical row of boxes
        let boxes: Vec<Box3> = (0..200)
            .map(|i| {
                let t = f64::from(i) * 0.37;
                let low = [t.sin() * 5.0, (1.7 * t).cos() * 5.0, t % 3.0];
                [low, low.map(|x| x + 0.2 + f64::from(i % 5) * 0.1)]
            })
            .collect();
        let tree = Tree::new(&boxes);
        for probe in &boxes {
            let mut found = Vec::new();
            tree.meeting(probe, &mut 0, |i| {
                found.push(i as usize);
                true
            });
            found.sort_unstable();
            let all: Vec<usize> = (0..boxes.len()).filter(|&i| meet(&boxes[i], probe)).collect();
            assert_eq!(found, all);
        }
    }
}

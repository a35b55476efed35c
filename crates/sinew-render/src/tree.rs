//! A bounding volume hierarchy over primitives: finds the first intersection of a ray without testing all of them.
//!
//! Built top-down by the surface area heuristic over eight bins along the widest axis. Nodes lie in one list, the first
//! child directly after its parent.

use crate::primitive::{Meeting, Primitive, Ray};
use sinew::{Real, Vec3};

const BINS: usize = 8;
const LEAF: usize = 4;

#[derive(Clone, Copy, Debug)]
struct Bounds {
    low: Vec3,
    high: Vec3,
}

impl Bounds {
    const NONE: Self = Self { low: Vec3::INFINITY, high: Vec3::NEG_INFINITY };

    fn add(&mut self, other: Bounds) {
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
    }

    fn area(&self) -> Real {
        let d = (self.high - self.low).max(Vec3::ZERO);
        d.x * d.y + d.y * d.z + d.z * d.x
    }

    fn middle(&self) -> Vec3 {
        (self.low + self.high) * 0.5
    }

    /// Distance at which a ray enters the box; `None` when it misses the box before `limit`.
    fn enter(&self, origin: Vec3, inverse: Vec3, limit: Real) -> Option<Real> {
        let (a, b) = ((self.low - origin) * inverse, (self.high - origin) * inverse);
        let near = a.min(b).max_element().max(0.0);
        let far = a.max(b).min_element().min(limit);
        (near <= far).then_some(near)
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Bounds,
    /// Leaf: index of the first item, and the number of items. Inner node: index of the second child, and 0.
    first: u32,
    count: u32,
}

/// Primitives and the tree over them.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    items: Vec<(Primitive, u32)>,
}

impl Tree {
    /// A tree over primitives, each with a number that hits report.
    pub fn new(items: Vec<(Primitive, u32)>) -> Self {
        let mut boxes: Vec<(Bounds, u32)> = Vec::with_capacity(items.len());
        for (k, (item, _)) in items.iter().enumerate() {
            let (low, high) = item.bounds();
            boxes.push((Bounds { low, high }, k as u32));
        }
        let mut tree = Self::default();
        let count = boxes.len();
        if count > 0 {
            tree.split(&mut boxes, 0);
        }
        tree.items = boxes.iter().map(|&(_, k)| items[k as usize]).collect();
        tree
    }

    /// Adds the node of `boxes`, whose first item is number `first`.
    fn split(&mut self, boxes: &mut [(Bounds, u32)], first: u32) {
        let mut bounds = Bounds::NONE;
        let mut middles = Bounds::NONE;
        for (b, _) in boxes.iter() {
            bounds.add(*b);
            middles.add(Bounds { low: b.middle(), high: b.middle() });
        }
        let index = self.nodes.len();
        self.nodes.push(Node { bounds, first, count: boxes.len() as u32 });
        if boxes.len() <= LEAF {
            return;
        }
        let at = partition(boxes, &middles);
        let (left, right) = boxes.split_at_mut(at);
        self.split(left, first);
        self.nodes[index].first = self.nodes.len() as u32;
        self.nodes[index].count = 0;
        self.split(right, first + at as u32);
    }

    /// The first intersection before `limit`, and the number of the primitive.
    pub fn first(&self, ray: &Ray, limit: Real) -> Option<(Meeting, u32)> {
        let mut best = None;
        self.walk(ray, limit, |items, limit| {
            for (item, number) in items {
                if let Some(meeting) = item.meet(ray, *limit) {
                    *limit = meeting.distance;
                    best = Some((meeting, *number));
                }
            }
            true
        });
        best
    }

    /// Whether there is any intersection before `limit`.
    pub fn any(&self, ray: &Ray, limit: Real) -> bool {
        let mut found = false;
        self.walk(ray, limit, |items, limit| {
            found = items.iter().any(|(item, _)| item.meet(ray, *limit).is_some());
            !found
        });
        found
    }

    fn leaf(&self, node: &Node) -> &[(Primitive, u32)] {
        &self.items[node.first as usize..(node.first + node.count) as usize]
    }

    /// Visits leaves whose boxes the ray enters before `limit`, the nearer child first, until `visit` returns false.
    fn walk(&self, ray: &Ray, mut limit: Real, mut visit: impl FnMut(&[(Primitive, u32)], &mut Real) -> bool) {
        if self.nodes.is_empty() {
            return;
        }
        let inverse = ray.direction.recip();
        let enter = |k: u32, limit: Real| self.nodes[k as usize].bounds.enter(ray.origin, inverse, limit);
        // the depth of a tree over 2³² items stays far below with binning
        let mut stack = Vec::with_capacity(64);
        stack.extend(enter(0, limit).map(|near| (0_u32, near)));
        while let Some((k, near)) = stack.pop() {
            if near > limit {
                continue;
            }
            let node = &self.nodes[k as usize];
            if node.count > 0 {
                if !visit(self.leaf(node), &mut limit) {
                    return;
                }
                continue;
            }
            let children = [k + 1, node.first].map(|c| enter(c, limit).map(|near| (c, near)));
            match children {
                [Some(a), Some(b)] if a.1 <= b.1 => stack.extend([b, a]),
                [Some(a), Some(b)] => stack.extend([a, b]),
                [a, b] => stack.extend(a.or(b)),
            }
        }
    }
}

/// Moves the boxes of the first child to the front and returns their number.
fn partition(boxes: &mut [(Bounds, u32)], middles: &Bounds) -> usize {
    let size = middles.high - middles.low;
    let axis = if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    };
    let half = boxes.len() / 2;
    if !(size[axis] > 0.0) {
        return half;
    }
    let bin = |b: &Bounds| {
        let share = (b.middle()[axis] - middles.low[axis]) / size[axis];
        ((share * BINS as Real) as usize).min(BINS - 1)
    };
    let mut bins = [(Bounds::NONE, 0_usize); BINS];
    for (b, _) in boxes.iter() {
        let slot = &mut bins[bin(b)];
        slot.0.add(*b);
        slot.1 += 1;
    }
    let cost = |cut: usize| {
        let side = |part: &[(Bounds, usize)]| {
            let mut all = Bounds::NONE;
            part.iter().for_each(|(b, _)| all.add(*b));
            all.area() * part.iter().map(|(_, n)| n).sum::<usize>() as Real
        };
        side(&bins[..cut]) + side(&bins[cut..])
    };
    let cut = (1..BINS).min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or(BINS / 2);
    boxes.sort_by_key(|(b, k)| (bin(b) >= cut, *k));
    let at = boxes.partition_point(|(b, _)| bin(b) < cut);
    if at == 0 || at == boxes.len() { half } else { at }
}

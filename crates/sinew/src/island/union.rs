//! Islands: bodies linked by contacts and constraints. They are solved, and fall asleep and wake, together.

/// Union of bodies. The root of an island is its smallest slot, so that nothing depends on the order of links.
#[derive(Debug, Default)]
pub(crate) struct Islands {
    parent: Vec<u32>,
}

impl Islands {
    /// Every body in an island of its own.
    pub fn reset(&mut self, bodies: usize) {
        self.parent.clear();
        self.parent.extend(0..bodies as u32);
    }

    /// The root of a body's island.
    pub fn root(&mut self, body: u32) -> u32 {
        let mut at = body;
        while self.parent[at as usize] != at {
            // path halving
            let up = self.parent[self.parent[at as usize] as usize];
            self.parent[at as usize] = up;
            at = up;
        }
        at
    }

    /// Joins two islands.
    pub fn link(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        let (low, high) = (a.min(b), a.max(b));
        self.parent[high as usize] = low;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_the_smallest_slots_in_any_order() {
        let mut islands = Islands::default();
        for order in [[(4, 2), (2, 7), (1, 3)], [(1, 3), (7, 4), (4, 2)]] {
            islands.reset(8);
            for (a, b) in order {
                islands.link(a, b);
            }
            let roots: Vec<_> = (0..8).map(|b| islands.root(b)).collect();
            assert_eq!(roots, [0, 1, 2, 1, 2, 5, 6, 2]);
        }
    }
}

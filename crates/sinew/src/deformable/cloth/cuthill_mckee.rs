//! An order of nodes in which neighbours are close: breadth first from a node with few neighbours, these sorted by
//! their number of neighbours (Cuthill and McKee 1969). Meshes have arbitrary node numbers. Eight consecutive nodes are
//! then adjacent in space, so that they are in contact with a wall together or not at all, and rows read data that is
//! in cache.

/// The nodes in this order; `pairs`: pairs of neighbours.
pub(crate) fn cuthill_mckee_order(nodes: usize, pairs: impl Iterator<Item = [u32; 2]> + Clone) -> Vec<u32> {
    // neighbours of all nodes, in one array
    let mut start = vec![0usize; nodes + 1];
    pairs.clone().flatten().for_each(|n| start[n as usize + 1] += 1);
    for n in 0..nodes {
        start[n + 1] += start[n];
    }
    let (mut next, mut all) = (start.clone(), vec![0u32; start[nodes]]);
    for [a, b] in pairs {
        for (from, to) in [(a, b), (b, a)] {
            all[next[from as usize]] = to;
            next[from as usize] += 1;
        }
    }
    let count = |n: u32| start[n as usize + 1] - start[n as usize];
    let mut roots: Vec<u32> = (0..nodes as u32).collect();
    roots.sort_by_key(|&n| count(n));
    let (mut seen, mut order) = (vec![false; nodes], Vec::with_capacity(nodes));
    for root in roots {
        if std::mem::replace(&mut seen[root as usize], true) {
            continue;
        }
        let mut at = order.len();
        order.push(root);
        while let Some(&node) = order.get(at) {
            let first = order.len();
            for &n in &all[start[node as usize]..start[node as usize + 1]] {
                if !std::mem::replace(&mut seen[n as usize], true) {
                    order.push(n);
                }
            }
            order[first..].sort_by_key(|&n| (count(n), n));
            at += 1;
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_occurs_once_and_neighbours_of_a_shuffled_chain_are_adjacent() {
        // a chain 3 - 0 - 4 - 1 - 2, and the isolated node 5
        let pairs = [[0, 3], [4, 1], [0, 4], [1, 2]];
        let order = cuthill_mckee_order(6, pairs.into_iter());
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4, 5]);
        let place = |n: u32| order.iter().position(|m| *m == n).expect("is there");
        assert!(pairs.iter().all(|[a, b]| place(*a).abs_diff(place(*b)) == 1), "{order:?}");
    }
}

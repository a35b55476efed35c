//! Index of the keys of a long table. A linear search per key would take quadratic time: a file of a megabyte can have a
//! hundred thousand keys.

use std::hash::{BuildHasher, RandomState};

/// Up to this many keys are searched linearly.
const FEW: usize = 16;
const FREE: u32 = u32::MAX;

/// Numbers of keys by their hashes, four bytes per slot. The hash has a random seed, so that no file can provoke collisions.
#[derive(Debug, Default)]
pub(crate) struct Keys(Option<Box<Slots>>);

#[derive(Debug)]
struct Slots {
    seed: RandomState,
    /// Numbers of keys, at the slot of their hash or the next free one. A power of two, at least a third of it free.
    table: Vec<u32>,
}

impl Keys {
    /// The number of a key among `count`; `name` returns their names.
    pub fn find<'a>(&self, key: &str, count: usize, name: impl Fn(usize) -> &'a str) -> Option<usize> {
        match &self.0 {
            None => (0..count).rev().find(|&i| name(i) == key),
            Some(slots) => {
                let mut at = slots.first(key);
                loop {
                    match slots.table[at] {
                        FREE => return None,
                        i if name(i as usize) == key => return Some(i as usize),
                        _ => at = (at + 1) & (slots.table.len() - 1),
                    }
                }
            }
        }
    }

    /// Adds the last of `count` keys.
    pub fn added<'a>(&mut self, count: usize, name: impl Fn(usize) -> &'a str) {
        if count <= FEW {
            return;
        }
        if self.0.as_ref().is_some_and(|slots| count * 3 <= slots.table.len() * 2) {
            self.place(count - 1, name(count - 1));
            return;
        }
        // the old table is dropped before the new one is allocated
        self.0 = None;
        let table = vec![FREE; (2 * count).next_power_of_two()];
        self.0 = Some(Box::new(Slots { seed: RandomState::new(), table }));
        (0..count).for_each(|i| self.place(i, name(i)));
    }

    fn place(&mut self, i: usize, key: &str) {
        let Some(slots) = &mut self.0 else { return };
        let mut at = slots.first(key);
        while slots.table[at] != FREE {
            at = (at + 1) & (slots.table.len() - 1);
        }
        slots.table[at] = i as u32;
    }
}

impl Slots {
    fn first(&self, key: &str) -> usize {
        self.seed.hash_one(key) as usize & (self.table.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_keys_are_found_and_no_others_at_any_length() {
        let names: Vec<String> = (0..3000).map(|i| format!("k{i}")).collect();
        let mut keys = Keys::default();
        for count in 1..=names.len() {
            let name = |i: usize| names[i].as_str();
            assert_eq!(keys.find(&names[count - 1], count - 1, name), None);
            keys.added(count, name);
            for i in [0, count / 2, count - 1] {
                assert_eq!(keys.find(&names[i], count, name), Some(i));
            }
        }
    }
}

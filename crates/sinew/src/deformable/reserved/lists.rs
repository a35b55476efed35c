//! Short sorted lists of numbers, one for each node, in one array.
//!
//! The place of a list holds a power of two of numbers; a list that outgrows it moves to a larger one, and the place that
//! it leaves is used again. Where a list is does not matter to those who read it.

/// Numbers in the smallest place.
const SMALLEST: usize = 8;
/// Sizes of places.
const SIZES: usize = 24;

/// The place of a list.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    first: u32,
    len: u32,
    /// The place holds `SMALLEST << size` numbers, once it has one.
    size: u8,
    has_one: bool,
}

/// Lists of ascending numbers.
#[derive(Clone, Debug)]
pub(in crate::deformable) struct Lists {
    places: Vec<Place>,
    numbers: Vec<u32>,
    /// First numbers of the places that are free, by size.
    free: Vec<Vec<u32>>,
}

impl Lists {
    /// Room for `lists` lists with `numbers` numbers in all.
    pub fn with_capacity(lists: usize, numbers: usize) -> Self {
        let free = (0..SIZES).map(|size| Vec::with_capacity((lists >> size).min(lists) + 8)).collect();
        // a list fills more than half of its place, or its place is the smallest
        let room = 2 * numbers + SMALLEST * lists;
        Self { places: Vec::with_capacity(lists), numbers: Vec::with_capacity(room + room / 2), free }
    }

    /// Appends an empty list.
    pub fn push(&mut self) {
        self.places.push(Place::default());
    }

    /// Drops the last lists; they must be empty.
    pub fn truncate(&mut self, lists: usize) {
        while self.places.len() > lists {
            self.clear(self.places.len() - 1);
            self.places.pop();
        }
    }

    /// A list.
    pub fn of(&self, list: usize) -> &[u32] {
        let place = self.places[list];
        &self.numbers[place.first as usize..][..place.len as usize]
    }

    /// Puts a number in its place; one that is there already is not added again.
    pub fn insert(&mut self, list: usize, number: u32) {
        let Err(at) = self.of(list).binary_search(&number) else { return };
        let place = self.places[list];
        if !place.has_one || place.len as usize == SMALLEST << place.size {
            self.enlarge(list);
        }
        let place = &mut self.places[list];
        let (first, len) = (place.first as usize, place.len as usize);
        place.len += 1;
        self.numbers.copy_within(first + at..first + len, first + at + 1);
        self.numbers[first + at] = number;
    }

    /// Takes a number out, if it is there.
    pub fn remove(&mut self, list: usize, number: u32) {
        let Ok(at) = self.of(list).binary_search(&number) else { return };
        let place = &mut self.places[list];
        let (first, len) = (place.first as usize, place.len as usize);
        place.len -= 1;
        self.numbers.copy_within(first + at + 1..first + len, first + at);
    }

    fn clear(&mut self, list: usize) {
        let place = std::mem::take(&mut self.places[list]);
        if place.has_one {
            self.free[place.size as usize].push(place.first);
        }
    }

    /// Moves a list to a place twice as large, or to its first one.
    fn enlarge(&mut self, list: usize) {
        let old = self.places[list];
        let size = if old.has_one { old.size + 1 } else { 0 };
        let first = self.free[size as usize].pop().unwrap_or_else(|| {
            let first = self.numbers.len();
            self.numbers.resize(first + (SMALLEST << size), 0);
            first as u32
        });
        self.numbers.copy_within(old.first as usize..(old.first + old.len) as usize, first as usize);
        self.clear(list);
        self.places[list] = Place { first, len: old.len, size, has_one: true };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_hold_what_sets_hold_while_they_grow_shrink_and_move() {
        let mut lists = Lists::with_capacity(4, 40);
        let mut sets = vec![std::collections::BTreeSet::new(); 4];
        (0..4).for_each(|_| lists.push());
        let mut seed = 7_u32;
        for k in 0..4000 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (list, number) = ((seed >> 10) as usize % 4, (seed >> 16) % 60);
            if (k / 500 + seed / 7).is_multiple_of(3) {
                lists.remove(list, number);
                sets[list].remove(&number);
            } else {
                lists.insert(list, number);
                sets[list].insert(number);
            }
            assert!((0..4).all(|l| lists.of(l).iter().eq(&sets[l])));
        }
        lists.truncate(1);
        lists.push();
        assert_eq!(lists.of(1), []);
        assert!(lists.of(0).iter().eq(&sets[0]));
    }
}

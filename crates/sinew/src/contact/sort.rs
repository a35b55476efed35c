//! Contacts sorted by key. Records are large: they are moved once, when the order is known.

use crate::state::ContactMemory;

/// Sorts contacts by key; `swap` applies the same exchanges to associated arrays.
pub(crate) fn put_in_order(contacts: &mut [ContactMemory], order: &mut Vec<u32>, mut swap: impl FnMut(usize, usize)) {
    if contacts.is_sorted_by_key(|m| m.key) {
        return;
    }
    order.clear();
    order.extend(0..contacts.len() as u32);
    order.sort_unstable_by_key(|&k| contacts[k as usize].key);
    // cycle by cycle: the record that belongs here is swapped in from its position, which is then free
    for start in 0..order.len() {
        let mut at = start;
        while order[at] as usize != at {
            let from = std::mem::replace(&mut order[at], at as u32) as usize;
            if from == start {
                break;
            }
            contacts.swap(at, from);
            swap(at, from);
            at = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Draws;
    use crate::state::ContactKey;
    use bytemuck::Zeroable;

    #[test]
    fn associated_data_is_sorted_with_its_contacts() {
        let mut draws = Draws(7);
        let mut contacts: Vec<ContactMemory> = (0..200)
            .map(|k| {
                let (a, sub_b) = ((2.5 * (draws.number() + 1.0)) as u32, k);
                ContactMemory { key: ContactKey { a, sub_b, ..Zeroable::zeroed() }, ..Zeroable::zeroed() }
            })
            .collect();
        let mut along: Vec<ContactKey> = contacts.iter().map(|m| m.key).collect();
        let mut want = along.clone();
        want.sort_unstable();
        put_in_order(&mut contacts, &mut Vec::new(), |a, b| along.swap(a, b));
        assert_eq!(along, want);
        assert!(contacts.iter().zip(&want).all(|(m, key)| m.key == *key));
    }
}

//! Seeded, structure-aware mutations of the files of the corpus. They are not guided by coverage, so they find less per
//! run than a fuzzer; but they need no instrumented build, and a million runs of a reader take a minute.

use crate::grammar::WILD;
use sinew_scene::Rng;

/// Maximum number of mutations of one input.
const CHANGES: usize = 6;
/// Maximum length of an input [bytes].
const LONGEST: usize = 4096;
/// Boundary values of bytes: of signs, of text, of counts.
const EDGES: [u8; 12] = [0, 1, 2, 0x7f, 0x80, 0xff, b'\n', b' ', b'-', b'"', b'[', b'}'];
/// Boundary values of 32-bit words.
const WORDS: [u32; 8] = [0, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX, 0x7f80_0000, 0x7fc0_0000, 0x0000_0001];

/// An input made by mutating one of the seeds; empty when there are none.
///
/// ```
/// use sinew_fuzz::mutate::mutated;
/// use sinew_scene::Rng;
/// let seeds = [b"v 0 0 0\nf 1 1 1\n".to_vec()];
/// assert_eq!(mutated(&seeds, &mut Rng::new(3)), mutated(&seeds, &mut Rng::new(3)));
/// ```
pub fn mutated(seeds: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let Some(seed) = seeds.get(rng.below(seeds.len())) else { return Vec::new() };
    let mut bytes = seed.clone();
    for _ in 0..=rng.below(CHANGES) {
        change(&mut bytes, seeds, rng);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn change(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], rng: &mut Rng) {
    let at = rng.below(bytes.len());
    let span = |bytes: &[u8], rng: &mut Rng| at..(at + 1 + rng.below(16)).min(bytes.len());
    match rng.below(9) {
        _ if bytes.is_empty() => bytes.push(EDGES[rng.below(EDGES.len())]),
        0 => bytes[at] ^= 1 << rng.below(8),
        1 => bytes[at] = EDGES[rng.below(EDGES.len())],
        2 => bytes.insert(at, EDGES[rng.below(EDGES.len())]),
        3 => drop(bytes.drain(span(bytes, rng))),
        4 => {
            let copy = bytes[span(bytes, rng)].to_vec();
            let to = rng.below(bytes.len());
            bytes.splice(to..to, copy);
        }
        5 => {
            let word = WORDS[rng.below(WORDS.len())].to_le_bytes();
            let end = (at + 4).min(bytes.len());
            bytes[at..end].copy_from_slice(&word[..end - at]);
        }
        6 => put_number(bytes, at, rng),
        // a line is moved, or the remainder is replaced by that of another seed
        7 => move_line(bytes, at, rng),
        _ => {
            let other = &seeds[rng.below(seeds.len())];
            let from = rng.below(other.len());
            bytes.truncate(at);
            bytes.extend(&other[from..]);
        }
    }
}

/// Replaces the number at this position of a text by an extreme one.
fn put_number(bytes: &mut Vec<u8>, at: usize, rng: &mut Rng) {
    let is_part = |b: &u8| b.is_ascii_digit() || b"+-.eE".contains(b);
    let Some(start) = (at..bytes.len()).find(|i| bytes[*i].is_ascii_digit()) else { return };
    let end = (start..bytes.len()).find(|i| !is_part(&bytes[*i])).unwrap_or(bytes.len());
    let counts = ["4294967295", "4294967296", "18446744073709551616", "-2147483649", "99999"];
    let which = rng.below(WILD.len() + counts.len());
    let wild = WILD.get(which).copied().unwrap_or_else(|| counts[which - WILD.len()]);
    bytes.splice(start..end, wild.bytes());
}

fn move_line(bytes: &mut Vec<u8>, at: usize, rng: &mut Rng) {
    let start = bytes[..at].iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    let end = bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |i| at + i + 1);
    let line: Vec<u8> = bytes.drain(start..end).collect();
    let to = rng.below(bytes.len());
    let to = bytes[..to].iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    bytes.splice(to..to, line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutations_respect_the_maximum_length_and_change_most_inputs() {
        let seeds = [b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n".to_vec(), vec![0xff; 5000], Vec::new()];
        let mut rng = Rng::new(1);
        let made: Vec<Vec<u8>> = (0..1000).map(|_| mutated(&seeds, &mut rng)).collect();
        assert!(made.iter().all(|bytes| bytes.len() <= LONGEST));
        assert!(made.iter().filter(|bytes| seeds.contains(bytes)).count() < 50);
        assert!(mutated(&[], &mut rng).is_empty());
    }
}

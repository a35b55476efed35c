//! The word that was probably meant.

/// The nearest of the known words, if it is near enough to be a slip of the fingers.
///
/// ```
/// use sinew_scene::gallery::near_miss;
/// assert_eq!(near_miss("brige", ["bridge", "bowl"]), Some("bridge"));
/// assert_eq!(near_miss("elephant", ["bridge", "bowl"]), None);
/// ```
pub fn near_miss<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    // a third of the letters may be wrong
    let limit = word.chars().count().div_ceil(3);
    let begins = |k: &str| word.len() >= 2 && k.to_lowercase().starts_with(&word);
    let away = |k: &str| if begins(k) { 0 } else { distance(&word, &k.to_lowercase()) };
    known.into_iter().map(|k| (away(k), k)).filter(|(d, _)| *d <= limit).min_by_key(|(d, _)| *d).map(|(_, k)| k)
}

/// Letters to insert, leave out, change, or swap with their neighbour (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut next = vec![i];
        for j in 1..=b.len() {
            let changed = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = changed.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted() {
        assert_eq!(distance("stack", "stack"), 0);
        assert_eq!(distance("stakc", "stack"), 1);
        assert_eq!(distance("stck", "stack"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn a_beginning_is_enough_and_nonsense_is_not() {
        assert_eq!(near_miss("pyr", ["pile", "pyramid"]), Some("pyramid"));
        assert_eq!(near_miss("Stack", ["pile", "stack"]), Some("stack"));
        assert_eq!(near_miss("q", ["pile", "stack"]), None);
        assert_eq!(near_miss("", ["pile"]), None);
    }
}

//! Limits the length of source files, so that each can be read as a whole.

use super::Finding;

/// A longer file is listed as a warning.
const SOFT_LIMIT: usize = 700;
/// A longer file is an error.
const HARD_LIMIT: usize = 1000;

const SOURCES: [&str; 5] = [".rs", ".ts", ".js", ".py", ".css"];

/// Checks the number of lines of a source file; other files have no findings.
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    if !SOURCES.iter().any(|ending| path.ends_with(ending)) {
        return Vec::new();
    }
    match text.lines().count() {
        count if count > HARD_LIMIT => {
            vec![Finding::error(0, format!("{count} lines, more than {HARD_LIMIT}: split it by verb or by kind"))]
        }
        count if count > SOFT_LIMIT => {
            vec![Finding::warning(0, format!("{count} lines, more than {SOFT_LIMIT}: think of splitting it"))]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_warn_and_very_long_ones_fail() {
        let verdict = |lines| check("a.rs", &"x\n".repeat(lines)).first().map(|finding| finding.warning);
        assert_eq!([verdict(700), verdict(701), verdict(1000)], [None, Some(true), Some(true)]);
        assert_eq!(verdict(1001), Some(false));
    }

    #[test]
    fn data_may_be_long() {
        assert_eq!(check("Cargo.lock", &"x\n".repeat(5000)), []);
    }
}

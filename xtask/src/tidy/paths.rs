//! No file contains an absolute path of a developer's machine: such a path is not portable.

use super::Finding;

/// Top-level folders of a developer's machine. Without slashes, so that this file passes its own rule.
const PRIVATE: [&str; 2] = ["work", "root"];

/// Checks any file.
pub fn check(text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for folder in PRIVATE {
        let needle = format!("/{folder}/");
        for (index, line) in text.lines().enumerate() {
            if has_absolute(line, &needle) {
                findings.push(Finding::error(index + 1, format!("absolute path of a developer's machine: {needle}")));
            }
        }
    }
    findings
}

/// True if the needle begins a path. In `src/work/rows.rs` or `$DIR/work/` it is the middle of one.
fn has_absolute(line: &str, needle: &str) -> bool {
    line.match_indices(needle).any(|(at, _)| !line[..at].ends_with(continues_a_path))
}

fn continues_a_path(c: char) -> bool {
    c.is_alphanumeric() || "_.-~*)}]>".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line, with `@` for a slash: this file must pass its own rule.
    fn count(line: &str) -> usize {
        check(&line.replace('@', "/")).len()
    }

    #[test]
    fn absolute_paths_are_found() {
        assert_eq!(count("see @work@main"), 1);
        assert_eq!(count("@root@.cargo"), 1);
        assert_eq!(count("open(\"@work@x\"); file:@@@root@y"), 2);
        assert_eq!(check(&"a\n@work@b".replace('@', "/"))[0].line, 2);
    }

    #[test]
    fn folders_inside_the_repository_are_not() {
        for line in ["crates@sinew@src@work@rows.rs", "~@work@", "$DIR@work@", "${DIR}@work@", "..@work@", "work@"] {
            assert_eq!(count(line), 0, "{line}");
        }
    }
}

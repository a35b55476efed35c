//! Rust source, line by line: the code without its comments, and whether it is part of a test.

/// One line of a source file.
pub struct Line<'a> {
    /// From 1.
    pub number: usize,
    /// Without the comment at its end.
    pub code: &'a str,
    /// Inside a test function or test module, or the attribute that makes it one.
    pub test: bool,
}

/// True for files that contain only tests.
pub fn is_test_file(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs")
}

/// State of the line parser.
enum Place {
    Code,
    /// After a test attribute, before the item it belongs to.
    Attribute,
    /// In the item, up to the closing brace in the first column (where rustfmt puts it).
    Test,
}

/// Splits a file into lines. It examines the first column only and handles no block comments and no raw strings:
/// sufficient for formatted code.
pub fn lines(text: &str) -> Vec<Line<'_>> {
    let mut place = Place::Code;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let code = without_comment(line);
        let (test, next) = follow(&place, code.trim_end());
        place = next;
        lines.push(Line { number: index + 1, code, test });
    }
    lines
}

/// Whether a line is part of a test, and the state after it.
fn follow(place: &Place, code: &str) -> (bool, Place) {
    match place {
        Place::Code if is_test_attribute(code) => (true, Place::Attribute),
        Place::Code => (false, Place::Code),
        Place::Attribute if code.is_empty() || code.starts_with("#[") => (true, Place::Attribute),
        // an item of one line: `mod tests;`, `fn f() {}`
        Place::Attribute if code.ends_with([';', '}']) => (true, Place::Code),
        Place::Attribute => (true, Place::Test),
        Place::Test if code == "}" => (true, Place::Code),
        Place::Test => (true, Place::Test),
    }
}

fn is_test_attribute(code: &str) -> bool {
    ["#[test]", "#[cfg(test)]", "#[cfg(all(test,"].iter().any(|start| code.starts_with(start))
}

/// Removes `// ..`, but not the `//` of a URL.
fn without_comment(line: &str) -> &str {
    let comment = line.match_indices("//").find(|(at, _)| !line[..*at].ends_with(':'));
    comment.map_or(line, |(at, _)| &line[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests_of(text: &str) -> Vec<usize> {
        lines(text).iter().filter(|line| line.test).map(|line| line.number).collect()
    }

    #[test]
    fn comments_are_removed() {
        assert_eq!(without_comment("a(); // why"), "a(); ");
        assert_eq!(without_comment("/// doc"), "");
        assert_eq!(without_comment("f(\"https://x\")"), "f(\"https://x\")");
    }

    #[test]
    fn a_test_module_ends_at_its_brace() {
        let text = "fn a() {\n}\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\nfn c() {\n}";
        assert_eq!(tests_of(text), [3, 4, 5, 6, 7]);
    }

    #[test]
    fn test_functions_and_one_line_items_are_detected() {
        assert_eq!(tests_of("#[test]\n#[ignore]\nfn a() {\n    x\n}\nfn b() {}"), [1, 2, 3, 4, 5]);
        assert_eq!(tests_of("#[cfg(test)]\nuse a::b;\nfn c() {}"), [1, 2]);
        assert_eq!(tests_of("#[cfg(all(test, not(windows)))]\nmod tests;\nfn c() {}"), [1, 2]);
        assert_eq!(tests_of("#[cfg(unix)]\nfn a() {\n}"), []);
    }

    #[test]
    fn test_files_are_recognized_by_their_path() {
        assert!(is_test_file("crates/sinew/tests/laws.rs") && is_test_file("crates/sinew/src/solver/tests.rs"));
        assert!(!is_test_file("crates/sinew/src/tests_of_time.rs"));
    }
}

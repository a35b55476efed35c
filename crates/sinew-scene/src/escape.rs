//! Text of files on its way to a terminal: control characters become visible.
//!
//! A scene file, a mesh or a file name may hold escape sequences that clear the screen, change its title or recolour it,
//! and marks that turn the direction of reading. All of them are written as `\u{1b}` and the like.

use std::borrow::Cow;

/// Controls of C0 and C1, DEL, separators of lines, and marks of the direction of reading.
fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A word or a line of a file: no control character is left, also no end of a line.
///
/// ```
/// use sinew_scene::escape::escaped;
/// assert_eq!(escaped("red\u{1b}[31m\n"), r"red\u{1b}[31m\n");
/// assert_eq!(escaped("μ = 0.5"), "μ = 0.5");
/// ```
pub fn escaped(text: &str) -> Cow<'_, str> {
    escape(text, is_control)
}

/// Text with a layout of its own: ends of lines and tabs stay, all other control characters go.
///
/// ```
/// use sinew_scene::escape::escaped_lines;
/// assert_eq!(escaped_lines("a\n\tb\u{7}"), "a\n\tb\\u{7}");
/// ```
pub fn escaped_lines(text: &str) -> Cow<'_, str> {
    escape(text, |c| is_control(c) && c != '\n' && c != '\t')
}

/// JSON: control characters stand in strings only, where `\u001b` means the same.
///
/// ```
/// use sinew_scene::escape::escaped_json;
/// assert_eq!(escaped_json("{\n  \"a\u{9b}\": 1\n}"), "{\n  \"a\\u009b\": 1\n}");
/// ```
pub fn escaped_json(text: &str) -> Cow<'_, str> {
    let bad = |c: char| is_control(c) && c != '\n';
    if !text.contains(bad) {
        return Cow::Borrowed(text);
    }
    let one = |c: char| if bad(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    Cow::Owned(text.chars().map(one).collect())
}

fn escape(text: &str, bad: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&bad) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if bad(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_character_becomes_visible() {
        let all = (0..=0x9f).chain([0x61c, 0x200e, 0x200f]).chain(0x2028..=0x202e).chain(0x2066..=0x2069);
        for c in all.filter_map(char::from_u32).filter(|c| !(' '..='~').contains(c)) {
            let text = c.to_string();
            assert!(escaped(&text).bytes().all(|b| (b' '..=b'~').contains(&b)), "{c:?}");
            let kept = c == '\n' || c == '\t';
            assert_eq!(escaped_lines(&text) == text, kept, "{c:?}");
            assert_eq!(escaped_json(&text) == text, c == '\n', "{c:?}");
        }
    }

    #[test]
    fn plain_text_is_not_copied() {
        assert!(matches!(escaped("Größe 10 µm, 中文"), Cow::Borrowed(_)));
    }
}

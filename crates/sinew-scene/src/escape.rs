//! Escapes control and format characters of text from files before it is printed to a terminal.
//!
//! A scene file, a mesh or a file name may hold escape sequences that clear the screen, change its title or recolour it,
//! marks that turn the direction of reading, and characters without a width that make two names look the same. All of
//! them are written as `\u{1b}` and the like.

use std::borrow::Cow;

/// Controls of C0 and C1, DEL, separators of lines, and characters that only change or hide others.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || is_format(c) || is_blank(c)
}

/// Format characters: the general category Cf of Unicode 16.
fn is_format(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}'
        | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Characters of other categories without a shape of their own (Default_Ignorable_Code_Point): joiners, fillers and
/// selectors of variants.
fn is_blank(c: char) -> bool {
    matches!(c,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}')
}

/// The start and the end of a text that is longer than `most` characters, with a mark between them.
///
/// ```
/// use sinew_scene::escape::excerpt;
/// assert_eq!(excerpt("bodies.ball.mass", 60), "bodies.ball.mass");
/// assert_eq!(excerpt("bodies.aaaaaaaaaa.mass", 10), "bodie ... .mass");
/// ```
pub fn excerpt(text: &str, most: usize) -> Cow<'_, str> {
    // no text has more characters than bytes
    if text.len() <= most || text.chars().count() <= most {
        return Cow::Borrowed(text);
    }
    let head: String = text.chars().take(most.div_ceil(2)).collect();
    let mut tail: Vec<char> = text.chars().rev().take(most / 2).collect();
    tail.reverse();
    Cow::Owned(format!("{head} ... {}", tail.into_iter().collect::<String>()))
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
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if bad(c) {
            // beyond the first plane JSON has pairs of surrogates
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
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
        let marks = [0xad, 0x61c, 0x180e, 0xfeff, 0xfff9, 0xfe0f, 0x3164, 0x1d173, 0xe0001, 0xe0041, 0xe0100];
        let all = (0..=0x9f).chain(0x200b..=0x200f).chain(0x2028..=0x202e).chain(0x2060..=0x206f).chain(marks);
        for c in all.filter_map(char::from_u32).filter(|c| !(' '..='~').contains(c)) {
            let text = c.to_string();
            assert!(escaped(&text).bytes().all(|b| (b' '..=b'~').contains(&b)), "{c:?}");
            let kept = c == '\n' || c == '\t';
            assert_eq!(escaped_lines(&text) == text, kept, "{c:?}");
            assert_eq!(escaped_json(&text) == text, c == '\n', "{c:?}");
        }
    }

    #[test]
    fn json_means_the_same_after_the_escape() {
        let text = "a\u{200b}b\u{e0041}c\u{9b}";
        let json = serde_json::to_string(text).expect("text");
        let escaped = escaped_json(&json);
        assert_eq!(escaped, r#""a\u200bb\udb40\udc41c\u009b""#);
        assert_eq!(serde_json::from_str::<String>(&escaped).expect("JSON"), text);
    }

    #[test]
    fn plain_text_is_not_copied() {
        assert!(matches!(escaped("Größe 10 µm, 中文"), Cow::Borrowed(_)));
    }
}

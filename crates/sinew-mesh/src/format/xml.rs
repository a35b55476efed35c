//! The subset of XML that VTU files use: tags with attributes, and the text between them. No entities, no namespaces.

use crate::scan::{Parsed, Scan};

/// `<name key="value" ..>`, `<name ../>` or `</name>`.
pub struct Tag<'a> {
    pub name: &'a str,
    pub attributes: Vec<(&'a str, &'a str)>,
    /// `</name>`
    pub closes: bool,
    /// Offset of the first byte after the tag.
    pub end: usize,
}

impl<'a> Tag<'a> {
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.attributes.iter().find(|(k, _)| *k == key).map(|(_, value)| *value)
    }
}

/// The next tag; comments, declarations and text are skipped.
pub fn next_tag<'a>(scan: &mut Scan<'a>) -> Parsed<Option<Tag<'a>>> {
    loop {
        if !scan.skip_past(b"<") {
            return Ok(None);
        }
        let rest = scan.rest();
        let end: &[u8] = match rest {
            [b'!', b'-', b'-', ..] => b"-->",
            [b'!' | b'?', ..] => b">",
            _ => break,
        };
        if !scan.skip_past(end) {
            return Err(scan.fault("a remark or declaration of the XML has no end"));
        }
    }
    let rest = scan.rest();
    let mut quoted = false;
    let length = rest.iter().position(|&b| {
        quoted ^= b == b'"';
        b == b'>' && !quoted
    });
    let Some(length) = length else { return Err(scan.fault("a tag of the XML has no end")) };
    let text = std::str::from_utf8(&rest[..length]).map_err(|_| scan.fault("a tag of the XML is not text"))?;
    scan.go(scan.at() + length + 1);
    let (closes, text) = text.strip_prefix('/').map_or((false, text), |t| (true, t));
    let text = text.trim_end_matches('/').trim();
    let (name, mut left) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let mut attributes = Vec::new();
    while let Some((key, more)) = left.split_once("=\"") {
        let Some((value, more)) = more.split_once('"') else { break };
        attributes.push((key.trim(), value));
        left = more;
    }
    Ok(Some(Tag { name, attributes, closes, end: scan.at() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_have_names_attributes_and_ends() {
        let mut scan = Scan::new(b"<?xml version=\"1.0\"?><!-- <x> --><a b=\"1\" c=\"d > e\"> text </a><f/>");
        let tag = next_tag(&mut scan).unwrap().unwrap();
        assert_eq!((tag.name, tag.get("b"), tag.get("c"), tag.closes), ("a", Some("1"), Some("d > e"), false));
        assert!(next_tag(&mut scan).unwrap().unwrap().closes);
        assert_eq!(next_tag(&mut scan).unwrap().unwrap().name, "f");
        assert!(next_tag(&mut scan).unwrap().is_none());
    }
}

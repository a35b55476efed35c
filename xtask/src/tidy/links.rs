//! Checks that links of the documentation resolve, and that every page of `docs/` is listed in the book
//! (`docs/SUMMARY.md`).

use super::Finding;

const SUMMARY: &str = "docs/SUMMARY.md";

/// Checks one page against the list of all files (paths from the root, with slashes).
pub fn check(path: &str, text: &str, files: &[String]) -> Vec<Finding> {
    if !path.ends_with(".md") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for link in links(line) {
            if !leads_somewhere(path, link, files) {
                findings.push(Finding::error(index + 1, format!("there is no `{link}`")));
            }
        }
    }
    if path == SUMMARY {
        let named: Vec<&str> = text.lines().flat_map(links).collect();
        let pages = files.iter().filter_map(|file| file.strip_prefix("docs/")).filter(|page| page.ends_with(".md"));
        let left_out = pages.filter(|page| *page != "SUMMARY.md" && !page.contains('/') && !named.contains(page));
        findings.extend(left_out.map(|page| Finding::error(0, format!("`{page}` is not in the book"))));
    }
    findings
}

/// The targets of `[word](link)` on a line, without the part after `#`; URLs are left out.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let behind = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    behind.map(|link| link.split('#').next().unwrap_or(link)).filter(|link| !link.is_empty() && !link.contains(':'))
}

fn leads_somewhere(from: &str, link: &str, files: &[String]) -> bool {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "." | "" => {}
            ".." => _ = parts.pop(),
            name => parts.push(name),
        }
    }
    let target = parts.join("/");
    files.iter().any(|file| *file == target || file.starts_with(&format!("{target}/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_resolved_relative_to_their_file() {
        let files = ["README.md", "docs/a.md", "docs/images/b.svg", "docs/SUMMARY.md"].map(str::to_owned);
        let lines = |path: &str, text: &str| check(path, text, &files).iter().map(|f| f.line).collect::<Vec<_>>();
        assert_eq!(lines("docs/a.md", "![b](images/b.svg) [r](../README.md#x) [w](https://x.org/y)"), []);
        assert_eq!(lines("docs/a.md", "fine\n[gone](images/c.svg)"), [2]);
        assert_eq!(lines("README.md", "[a](a.md) [docs](docs)"), [1]);
    }

    #[test]
    fn every_page_is_listed_in_the_book() {
        let files = ["docs/a.md", "docs/b.md", "docs/SUMMARY.md"].map(str::to_owned);
        let found = check("docs/SUMMARY.md", "- [A](a.md)", &files);
        assert_eq!(found.len(), 1);
        assert!(found[0].message.contains("b.md"));
    }
}

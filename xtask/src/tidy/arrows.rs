//! Allowed dependencies between the crates of the workspace. Dependencies for tests and build scripts count too.

use super::Finding;

/// Crate, and the workspace crates that it may depend on. `benches` and `xtask` are outside: no crate may depend on
/// them.
const ARROWS: &[(&str, &[&str])] = &[
    ("sinew-math", &[]),
    ("sinew-spec", &["sinew-math"]),
    ("sinew-friction", &["sinew-math", "sinew-spec"]),
    // its tests count allocations
    ("sinew-cut", &["sinew-math", "sinew-tally"]),
    // its tests count allocations
    ("sinew", &["sinew-friction", "sinew-math", "sinew-spec", "sinew-tally"]),
    ("sinew-tally", &[]),
    // its tests measure memory
    ("sinew-stream", &["sinew-tally"]),
    ("sinew-mesh", &["sinew"]),
    ("sinew-reduce", &[]),
    // its tests save and load
    ("sinew-modal", &["sinew", "sinew-math", "sinew-reduce", "sinew-wire"]),
    ("sinew-wire", &["sinew"]),
    ("sinew-scene", &["sinew", "sinew-haptic", "sinew-mesh"]),
    ("sinew-render", &["sinew"]),
    ("sinew-server", &["sinew", "sinew-mesh", "sinew-scene", "sinew-wire"]),
    ("sinew-peers", &["sinew"]),
    // its tests count allocations
    ("sinew-haptic", &["sinew", "sinew-math", "sinew-tally"]),
    (
        "sinew-cli",
        &[
            "sinew",
            "sinew-haptic",
            "sinew-mesh",
            "sinew-peers",
            "sinew-render",
            "sinew-scene",
            "sinew-server",
            "sinew-stream",
            "sinew-sweep",
            "sinew-tally",
            "sinew-wire",
        ],
    ),
    ("sinew-fuzz", &["sinew", "sinew-mesh", "sinew-scene", "sinew-server", "sinew-tally", "sinew-wire"]),
    ("sinew-sweep", &["sinew", "sinew-scene"]),
    ("sinew-python", &["sinew", "sinew-render", "sinew-scene", "sinew-sweep", "sinew-wire"]),
];

/// Checks the manifest of a crate; other files have no findings.
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    let crates = path.strip_prefix("crates/").and_then(|rest| rest.strip_suffix("/Cargo.toml"));
    let Some(name) = crates.or((path == "python/Cargo.toml").then_some("sinew-python")) else { return Vec::new() };
    let Some((_, allowed)) = ARROWS.iter().find(|(from, _)| *from == name) else {
        return vec![Finding::error(0, format!("`{name}` has no row in xtask/src/tidy/arrows.rs: add one"))];
    };
    dependencies(text)
        .into_iter()
        .filter(|(_, to)| is_ours(to) && !allowed.contains(&to.as_str()))
        .map(|(line, to)| Finding::error(line, format!("`{name}` must not depend on `{to}`")))
        .collect()
}

fn is_ours(name: &str) -> bool {
    name == "sinew" || name.starts_with("sinew-") || name == "xtask"
}

/// Line and package of every dependency. Parses the subset of TOML that is usual in manifests, not all of TOML.
fn dependencies(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut in_table = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_end_matches(']');
            in_table = header.ends_with("dependencies");
            // [dependencies.name]
            if let Some((_, name)) = header.split_once("dependencies.") {
                found.push((index + 1, unquoted(name)));
            }
        } else if let Some((key, value)) = line.split_once('=') {
            let package = renamed(key, value);
            // a rename may also be in a separate table, where any other key is a setting
            if in_table || package.is_some() {
                let key = key.split('.').next().unwrap_or(key);
                found.push((index + 1, package.unwrap_or_else(|| unquoted(key))));
            }
        }
    }
    found
}

/// The package name in `alias = { package = "name", .. }` or in a line `package = "name"`.
fn renamed(key: &str, value: &str) -> Option<String> {
    if key.trim() == "package" {
        return Some(unquoted(value));
    }
    let (_, rest) = value.split_once("package")?;
    let rest = rest.trim_start().strip_prefix('=')?;
    rest.split('"').nth(1).map(String::from)
}

fn unquoted(text: &str) -> String {
    text.trim().trim_matches('"').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(name: &str, text: &str) -> Vec<usize> {
        check(&format!("crates/{name}/Cargo.toml"), text).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn the_core_depends_on_its_parts_only() {
        assert_eq!(lines("sinew", "[dependencies]\nglam.workspace = true\nsinew-wire.workspace = true"), [3]);
        assert_eq!(lines("sinew", "[dev-dependencies]\nsinew-scene = { path = \"../sinew-scene\" }"), [2]);
        assert_eq!(lines("sinew", "[package]\nname = \"sinew\"\n[features]\nf32 = [\"dep:parry3d\"]"), []);
    }

    #[test]
    fn dependencies_follow_the_layers() {
        assert_eq!(lines("sinew-wire", "[dependencies]\nsinew.workspace = true"), []);
        assert_eq!(lines("sinew-wire", "[dependencies]\nsinew-scene = \"1\""), [2]);
        assert_eq!(lines("sinew-scene", "[dependencies]\nsinew-wire = \"1\""), [2]);
        assert_eq!(lines("sinew-cli", "[dependencies]\nsinew-wire = \"1\"\nsinew-scene = \"1\"\nsinew = \"1\""), []);
        assert_eq!(lines("sinew-cli", "[dependencies]\nsinew-benches = \"1\""), [2]);
    }

    #[test]
    fn every_notation_of_a_dependency_is_found() {
        assert_eq!(lines("sinew", "[dependencies.sinew-wire]\npath = \"x\""), [1]);
        assert_eq!(lines("sinew", "[target.'cfg(unix)'.dependencies]\n\"sinew-wire\" = \"1\""), [2]);
        assert_eq!(lines("sinew", "[dependencies]\nw = { path = \"x\", package = \"sinew-wire\" }"), [2]);
        assert_eq!(lines("sinew", "[dependencies.w]\npackage = \"sinew-wire\""), [2]);
        assert_eq!(lines("sinew", "[dependencies]\n# sinew-wire = \"1\""), []);
    }

    #[test]
    fn a_new_crate_needs_an_entry_in_the_table() {
        assert_eq!(lines("sinew-gpu", ""), [0]);
        assert_eq!(check("python/Cargo.toml", "[dependencies]\nsinew-server = \"1\"").len(), 1);
        assert_eq!(check("benches/Cargo.toml", "[dependencies]\nsinew = \"1\""), []);
    }
}

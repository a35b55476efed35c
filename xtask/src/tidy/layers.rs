//! Allowed dependencies between the folders of the core (`crate::x` in its sources). Tests are free.

use super::Finding;

const CORE: &str = "crates/sinew/src/";

/// Folder or file at the top of the core, and the ones that it may name. From data to the step: each row names rows
/// above it, apart from pairs that share one subject: rows and their softness (`constraint`, `solver`), and the data of
/// a phase with its code (`work` with `contact` and `island`).
const LAYERS: &[(&str, &[&str])] = &[
    ("math", &[]),
    ("tuning", &["math"]),
    ("error", &["math"]),
    ("friction", &["error", "math"]),
    ("model", &["error", "friction", "math"]),
    ("state", &["error", "math"]),
    ("report", &["math", "model"]),
    ("tool", &["constraint", "error", "math", "model", "report", "solver", "state"]),
    ("debug", &["report"]),
    ("collision", &["error", "math", "model", "state"]),
    ("solver", &["constraint", "error", "math", "tuning"]),
    ("settings", &["error", "math", "model", "solver"]),
    ("deformable", &["math", "model"]),
    ("constraint", &["deformable", "error", "math", "model", "settings", "solver", "state", "tool"]),
    ("input", &["constraint", "math", "model", "settings", "tool"]),
    (
        "work",
        &[
            "collision",
            "constraint",
            "contact",
            "debug",
            "deformable",
            "friction",
            "island",
            "math",
            "model",
            "report",
            "settings",
            "solver",
            "state",
        ],
    ),
    (
        "contact",
        &[
            "collision",
            "constraint",
            "deformable",
            "friction",
            "math",
            "model",
            "report",
            "settings",
            "solver",
            "state",
            "tuning",
            "work",
        ],
    ),
    (
        "guard",
        &[
            "collision",
            "constraint",
            "contact",
            "deformable",
            "math",
            "model",
            "report",
            "settings",
            "solver",
            "state",
            "tuning",
            "work",
        ],
    ),
    (
        "island",
        &[
            "collision",
            "constraint",
            "contact",
            "deformable",
            "friction",
            "guard",
            "math",
            "model",
            "report",
            "settings",
            "solver",
            "state",
            "tuning",
            "work",
        ],
    ),
    (
        "ledger",
        &[
            "constraint",
            "contact",
            "deformable",
            "input",
            "island",
            "math",
            "model",
            "report",
            "settings",
            "solver",
            "state",
            "work",
        ],
    ),
    ("classic", &["collision", "contact", "math", "model", "report", "settings", "state", "work"]),
    (
        "step",
        &[
            "classic",
            "collision",
            "constraint",
            "contact",
            "debug",
            "deformable",
            "error",
            "guard",
            "input",
            "island",
            "ledger",
            "math",
            "model",
            "report",
            "settings",
            "solver",
            "state",
            "tool",
            "tuning",
            "work",
        ],
    ),
    (
        "world",
        &[
            "collision",
            "constraint",
            "deformable",
            "error",
            "input",
            "math",
            "model",
            "report",
            "settings",
            "solver",
            "state",
            "step",
            "tool",
            "work",
        ],
    ),
];

/// Files that name a folder beyond their layer, and why.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("error.rs", "model", "an error contains the id of the body, or the error of the mesh"),
    ("settings.rs", "classic", "the penalty law is a public setting"),
    ("island/implicit.rs", "ledger", "works are summed at the end of each substep of an island"),
    ("model/mod.rs", "constraint", "the Model owns the constraints"),
    ("model/layer.rs", "collision", "a collider is built when it is added"),
    ("model/rigid.rs", "collision", "a collider is built when it is added"),
    ("model/shape.rs", "collision", "a shape may be a signed distance field"),
    ("model/custom.rs", "deformable", "a user's model is built when its body is added"),
    ("model/load.rs", "deformable", "pressure on a face of ten nodes is that of its element"),
    ("model/nodes.rs", "deformable", "the Model owns a deformable until the first step"),
    ("model/particle_skin.rs", "deformable", "orientations of particles are in the internal state of their model"),
    ("model/reserve.rs", "deformable", "which models take a reserve"),
    ("model/soft.rs", "deformable", "a description of a soft body makes its model"),
    ("deformable/alone.rs", "constraint", "the test bench of a model solves it with rows"),
    ("deformable/alone.rs", "solver", "the test bench of a model solves it with rows"),
    ("deformable/conformance.rs", "solver", "the conformance checks run on several threads"),
    ("deformable/pbd/rows.rs", "solver", "the colouring of distances is that of rows"),
    ("deformable/cloth/self_contact.rs", "collision", "self-contact is solved within the substep of the cloth"),
    ("deformable/cloth/self_contact.rs", "contact", "self-contact is solved within the substep of the cloth"),
    ("deformable/cloth/fused_substep.rs", "contact", "contacts are solved within the substep of the cloth"),
    ("solver/implicit.rs", "deformable", "the operators of an implicit island are those of its models"),
    ("solver/implicit/regularize.rs", "deformable", "the operators of an implicit island are those of its models"),
    ("solver/soft.rs", "settings", "frequency and damping ratio are settings"),
    ("work/classic.rs", "classic", "data of the classic methods within a step"),
    ("contact/find/surfel.rs", "classic", "contacts of the classic methods are found with those of rows"),
    ("world/compliance.rs", "island", "a compliance query solves the island of its sites"),
    ("step/intake.rs", "world", "commands add and remove bodies as the methods of the world do"),
];

/// Checks a source of the core; other files have no findings.
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    let Some(file) = path.strip_prefix(CORE).filter(|file| file.ends_with(".rs") && *file != "lib.rs") else {
        return Vec::new();
    };
    if file.contains("tests") {
        return Vec::new();
    }
    let folder = file.split('/').next().unwrap_or(file).trim_end_matches(".rs");
    let Some((_, allowed)) = LAYERS.iter().find(|(from, _)| *from == folder) else {
        return vec![Finding::error(0, format!("`{folder}` has no row in xtask/src/tidy/layers.rs: add one"))];
    };
    let named = named_folders(text);
    let excepted = |to: &str| EXCEPTIONS.iter().any(|(from, exception, _)| *from == file && *exception == to);
    let mut findings: Vec<Finding> = named
        .iter()
        .filter(|(_, to)| to != folder && !allowed.contains(&to.as_str()) && !excepted(to))
        .map(|(line, to)| Finding::error(*line, format!("`{folder}` must not name `crate::{to}`")))
        .collect();
    for (_, to, _) in EXCEPTIONS.iter().filter(|(from, _, _)| *from == file) {
        if !named.iter().any(|(_, name)| name == to) {
            findings.push(Finding::error(0, format!("its exception for `{to}` in layers.rs is not needed: remove it")));
        }
    }
    findings
}

/// Line and folder of every `crate::folder` outside comments and tests; types at the root of the crate do not count.
fn named_folders(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        if line.trim() == "#[cfg(test)]" && lines.peek().is_some_and(|(_, next)| next.starts_with("mod ")) {
            break;
        }
        let code = line.split("//").next().unwrap_or("");
        for (at, _) in code.match_indices("crate::") {
            let rest = &code[at + "crate::".len()..];
            let names = match rest.strip_prefix('{') {
                Some(list) => list.split(',').map(str::trim).collect(),
                None => vec![rest],
            };
            for name in names {
                let name: String = name.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
                if !name.is_empty() {
                    found.push((index + 1, name));
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(file: &str, text: &str) -> Vec<usize> {
        check(&format!("{CORE}{file}"), text).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_folder_names_the_layers_below_it() {
        assert_eq!(lines("collision/broad.rs", "use crate::math::Vec3;\nuse crate::model::Shape;"), []);
        assert_eq!(lines("collision/broad.rs", "use crate::math::Vec3;\nuse crate::contact::law;"), [2]);
        assert_eq!(lines("math/vec.rs", "use crate::{math, state};\nlet x = crate::step::step();"), [1, 2]);
        assert_eq!(lines("solver/pgs.rs", "use crate::work::Work;"), [1]);
    }

    #[test]
    fn comments_tests_and_types_of_the_root_are_free() {
        assert_eq!(lines("math/vec.rs", "//! see crate::step\nuse crate::Settings;\nuse self::x; // crate::work"), []);
        assert_eq!(lines("math/vec.rs", "#[cfg(test)]\nmod tests {\n    use crate::world::World;\n}"), []);
        assert_eq!(lines("math/tests.rs", "use crate::world::World;"), []);
        assert_eq!(lines("lib.rs", "pub use crate::world::World;"), []);
        assert_eq!(check("crates/sinew-mesh/src/math.rs", "use crate::step::step;"), []);
    }

    #[test]
    fn an_exception_holds_for_its_file_and_must_be_needed() {
        assert_eq!(lines("step/intake.rs", "use crate::world::edit;"), []);
        assert_eq!(lines("step/plan.rs", "use crate::world::edit;"), [1]);
        assert_eq!(lines("step/intake.rs", "use crate::math::Vec3;"), [0]);
    }

    #[test]
    fn a_new_folder_needs_a_row() {
        assert_eq!(lines("fluid/mod.rs", ""), [0]);
        for (folder, allowed) in LAYERS {
            assert!(allowed.iter().all(|to| LAYERS.iter().any(|(name, _)| name == to)), "{folder} names no folder");
        }
    }
}

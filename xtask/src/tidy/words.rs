//! Words that only some files may contain. Comments may contain any; tests may where a rule allows it.

use super::Finding;
use super::source::{Line, is_test_file, lines};

struct Rule {
    /// Any of these words, compared without spaces.
    words: &'static [&'static str],
    /// The files that the rule applies to: prefix of their paths.
    within: &'static str,
    /// Files and folders that are exempt.
    except: &'static [&'static str],
    /// Tests are exempt too: the rule is about the behaviour of the engine, not about dependencies.
    tests_may: bool,
    /// The reason, and the alternative.
    reason: &'static str,
}

/// The core; its parts in crates of their own, `FRICTION` and `MATH`, have the same rules.
const CORE: &str = "crates/sinew/src/";
const MATH: &str = "crates/sinew-math/src/";
const FRICTION: &str = "crates/sinew-friction/src/";
const PARRY: &str = "crates/sinew/src/collision/parry.rs";
const TIMING: &str = "crates/sinew/src/debug/timing.rs";

const RULES: &[Rule] = &[
    Rule {
        words: &["parry3d"],
        within: "crates/",
        except: &[PARRY],
        tests_may: false,
        reason: "only collision/parry.rs knows the geometry crate",
    },
    Rule {
        words: &["glam::"],
        within: "crates/",
        except: &[MATH],
        tests_may: false,
        reason: "only sinew-math knows the vector crate: use crate::math",
    },
    Rule {
        words: &["feature=\"f64\""],
        within: "crates/",
        except: &[MATH, PARRY],
        tests_may: true,
        reason: "only sinew-math and collision/parry.rs know the precision: use Real",
    },
    Rule {
        words: &["mul_add"],
        within: CORE,
        except: &[],
        tests_may: true,
        reason: "a fused multiply-add changes bits between CPUs",
    },
    Rule {
        words: &["HashMap", "HashSet"],
        within: CORE,
        except: &[],
        tests_may: true,
        reason: "its order differs from run to run: use a sorted Vec or a BTreeMap",
    },
    Rule {
        words: &["println!", "print!", "dbg!", "std::fs", "std::net"],
        within: CORE,
        except: &[],
        tests_may: true,
        reason: "the core is silent and does no IO: put it into the report",
    },
    Rule {
        words: &["println!", "print!", "io::stdout()", "io::stderr().lock"],
        within: "crates/sinew-cli/src/",
        except: &["crates/sinew-cli/src/screen.rs", "crates/sinew-cli/src/place.rs"],
        tests_may: true,
        reason: "text of files may hold control characters: print through screen.rs, which escapes them",
    },
    Rule {
        words: &["File::create", "fs::write", "fs::rename", "OpenOptions"],
        within: "crates/sinew-cli/src/",
        except: &["crates/sinew-cli/src/place.rs"],
        tests_may: true,
        reason: "outputs go through place.rs, which replaces no device and follows no link",
    },
    Rule {
        words: &["Instant::now", "SystemTime::now"],
        within: CORE,
        except: &[TIMING],
        tests_may: true,
        reason: "the clock is read in debug/timing.rs only",
    },
    Rule {
        words: &[".sin()", ".cos()", ".sin_cos()"],
        within: "crates/sinew/src/solver/",
        except: &[],
        tests_may: true,
        reason: "the platform's sine differs in the last bit: the solver does without, or uses math",
    },
];

/// Checks a Rust file; other files have no findings.
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    let rules: Vec<&Rule> = RULES.iter().filter(|rule| rule.covers(path)).collect();
    if rules.is_empty() || !path.ends_with(".rs") {
        return Vec::new();
    }
    let lines = lines(text);
    lines.iter().flat_map(|line| rules.iter().filter_map(|rule| rule.breach(path, line))).collect()
}

impl Rule {
    fn covers(&self, path: &str) -> bool {
        let part = self.within == CORE && (path.starts_with(MATH) || path.starts_with(FRICTION));
        (part || path.starts_with(self.within)) && !self.except.iter().any(|free| path.starts_with(free))
    }

    fn breach(&self, path: &str, line: &Line<'_>) -> Option<Finding> {
        if self.tests_may && (line.test || is_test_file(path)) {
            return None;
        }
        let code: String = line.code.split_whitespace().collect();
        let word = self.words.iter().find(|word| code.contains(**word))?;
        Some(Finding::error(line.number, format!("`{word}`: {}", self.reason)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(path, text).len()
    }

    #[test]
    fn only_one_file_uses_parry_and_only_math_uses_glam() {
        assert_eq!(count("crates/sinew/src/collision/parry.rs", "use parry3d::shape::Ball;"), 0);
        assert_eq!(count("crates/sinew/src/collision/broad.rs", "use parry3d_f64::shape::Ball;"), 1);
        assert_eq!(count("crates/sinew-scene/src/lib.rs", "use parry3d::shape::Ball;"), 1);
        assert_eq!(count("crates/sinew-math/src/lib.rs", "type Vec3 = glam::Vec3;"), 0);
        assert_eq!(count("crates/sinew/tests/laws.rs", "use glam::Vec3;"), 1);
    }

    #[test]
    fn the_precision_feature_is_allowed_in_math_parry_and_tests() {
        let text = "#[cfg(feature = \"f64\")]\nfn a() {}";
        assert_eq!(count("crates/sinew-math/src/lanes.rs", text), 0);
        assert_eq!(count("crates/sinew/src/collision/parry.rs", text), 0);
        assert_eq!(count("crates/sinew/tests/laws.rs", text), 0);
        assert_eq!(count("crates/sinew/src/solver/pgs.rs", text), 1);
        assert_eq!(count("crates/sinew-wire/src/lib.rs", "if cfg!(feature=\"f64\") {}"), 1);
        assert_eq!(
            count("crates/sinew/src/solver/pgs.rs", "#[cfg(all(test, not(feature = \"f64\")))]\nmod tests {\n}"),
            0
        );
    }

    #[test]
    fn the_command_prints_and_writes_in_one_place() {
        assert_eq!(count("crates/sinew-cli/src/run.rs", "println!(\"x\");"), 1);
        assert_eq!(count("crates/sinew-cli/src/run.rs", "std::fs::write(path, bytes)?;"), 1);
        assert_eq!(count("crates/sinew-cli/src/screen.rs", "io::stdout().flush()"), 0);
        assert_eq!(count("crates/sinew-cli/tests/cli.rs", "std::fs::write(path, bytes)?;"), 0);
    }

    #[test]
    fn the_core_is_silent_pure_and_the_same_on_every_machine() {
        let core = "crates/sinew/src/step/solve.rs";
        for bad in ["a.mul_add(b, c)", "use std::collections::HashMap;", "eprintln!(\"x\")", "std::fs::read(p)"] {
            assert_eq!(count(core, bad), 1, "{bad}");
            assert_eq!(count("crates/sinew-server/src/lib.rs", bad), 0, "{bad}");
            assert_eq!(count(core, &format!("// {bad}")), 0, "{bad}");
            assert_eq!(count(core, &format!("#[test]\nfn t() {{\n    {bad}\n}}")), 0, "{bad}");
        }
    }

    #[test]
    fn the_clock_is_read_in_one_file_only() {
        assert_eq!(count("crates/sinew/src/debug/timing.rs", "Instant::now()"), 0);
        assert_eq!(count("crates/sinew/src/step/mod.rs", "std::time::Instant::now()"), 1);
    }

    #[test]
    fn the_solver_uses_no_platform_sine() {
        assert_eq!(count("crates/sinew/src/solver/pgs.rs", "let y = x.sin();"), 1);
        assert_eq!(count("crates/sinew/src/rigid/mod.rs", "let y = x.sin();"), 0);
    }
}

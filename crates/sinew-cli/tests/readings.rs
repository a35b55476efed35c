//! Figures that `run` and `check` print, against what they are measured from.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn sinew(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sinew")).args(args).output().expect("the binary runs")
}

fn json(args: &[&str]) -> Value {
    let output = sinew(args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("stdout is JSON")
}

/// A scene file of this test run; removed when dropped.
struct Scene(PathBuf);

impl Scene {
    fn new(name: &str, text: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}.toml", std::process::id()));
        std::fs::write(&path, text).expect("a scratch file");
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("a plain path")
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.0);
    }
}

const BLOCK: &str = "
[bodies.block]
kind = 'soft'
geometry = { kind = 'block', cells = [2, 2, 2], size = [0.1, 0.1, 0.1] }
material = { youngs_modulus = 1e4, poisson_ratio = 0.3, density = 1000 }
pinned_regions = [{ min = [-1, 0.049, -1], max = [1, 1, 1] }]
";

#[test]
fn a_cloth_is_stretched_and_counted() {
    let run = json(&["run", "cloth", "--steps", "60", "--json", "-"]);
    assert!(run["stretch_max"].as_f64().is_some_and(|s| s > 1e-4), "{}", run["stretch_max"]);
    let counts = &run["counts"];
    for kind in ["nodes", "faces", "springs"] {
        assert!(counts[kind].as_u64().is_some_and(|n| n > 0), "{kind}: {counts}");
    }
    let run = json(&["run", "pudding", "--steps", "2", "--json", "-"]);
    assert!(run["counts"]["tets"].as_u64().is_some_and(|n| n > 0), "{}", run["counts"]);
    assert!(run["energy"]["elastic"].as_f64().is_some_and(|e| e.is_sign_positive()));
}

#[test]
fn the_reaction_of_a_hung_block_is_its_weight() {
    let scene = Scene::new("hung", BLOCK);
    let csv = sinew(&["run", scene.path(), "--steps", "200", "--csv", "-", "--read", "block.reaction.y"]);
    let text = String::from_utf8_lossy(&csv.stdout).into_owned();
    let forces: Vec<f64> = text.lines().skip(1).filter_map(|l| l.rsplit(',').next()?.parse().ok()).collect();
    // 1 kg; it sleeps in the end and keeps its reaction
    assert!((forces[199] - 9.81).abs() < 0.02, "{text}");
}

#[test]
fn numbers_have_the_digits_of_the_engine() {
    let csv = sinew(&["run", "stack", "--steps", "3", "--csv", "-"]);
    let text = String::from_utf8_lossy(&csv.stdout).into_owned();
    let head: Vec<&str> = text.lines().next().expect("a head").split(',').collect();
    // new columns are at the end
    assert_eq!(head.iter().position(|name| *name == "elastic_j"), Some(21));
    assert_eq!(head.last(), Some(&"ledger_unexplained_j"));
    let line: Vec<&str> = text.lines().nth(1).expect("a step").split(',').collect();
    assert_eq!(line[1], "0.016666668", "{text}");
    // nine digits are enough for a real of 32 bits; that of 64 bits has seventeen
    let longest = if cfg!(feature = "f64") { 17 } else { 9 };
    for (name, value) in head.iter().zip(&line).filter(|(name, _)| ["kinetic_j", "gravity_j"].contains(name)) {
        let digits = value.trim_start_matches(['-', '0', '.']).chars().filter(char::is_ascii_digit).count();
        assert!(digits <= longest, "{name} {value}");
    }
}

#[test]
fn a_frozen_body_is_named_with_step_and_reason() {
    let text = "[settings]\nmax_speed = 5\n[bodies.stone]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.1 }\n";
    let scene = Scene::new("frozen", text);
    let run = json(&["run", scene.path(), "--steps", "60", "--json", "-"]);
    let frozen = &run["frozen"][0];
    assert_eq!((&run["faults"], &frozen["body"]), (&1.into(), &"stone".into()), "{run}");
    // 5 m/s are reached after 0.51 s
    assert!(frozen["tick"].as_u64().is_some_and(|t| (29..=33).contains(&t)), "{frozen}");
    assert!(frozen["reason"].as_str().is_some_and(|r| r.contains("above its limit")), "{frozen}");
    let told = sinew(&["run", scene.path(), "--steps", "60"]);
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("stone in step 3"), "{told}");
}

#[test]
fn check_and_run_warn_of_empty_regions_and_of_bodies_inside_each_other() {
    let empty = Scene::new("empty", &BLOCK.replace("0.049", "0.9"));
    let floor = "[bodies.floor]\nkind = 'fixed'\nshape = { kind = 'box', half_extents = [1, 0.1, 1] }\n";
    let inside = "[bodies.box]\nkind = 'dynamic'\nshape = { kind = 'box', half_extents = [0.1, 0.1, 0.1] }\n";
    let deep = Scene::new("deep", &format!("{floor}{inside}position = [0, 0.19, 0]\n"));
    let fits = Scene::new("fits", &format!("{floor}{inside}position = [0, 0.2, 0]\n"));
    for (scene, expected) in [
        (&empty, "pinned_regions[0] of 'block' holds no node"),
        (&deep, "'floor' and 'box' start inside each other, 10.0 mm deep"),
    ] {
        for words in [&["check", scene.path()][..], &["run", scene.path(), "--steps", "1"]] {
            let output = sinew(words);
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success() && told.contains(expected), "{told}");
        }
    }
    let told = sinew(&["check", fits.path()]).stderr;
    assert!(told.is_empty(), "{}", String::from_utf8_lossy(&told));
}

#[test]
fn scenes_of_the_gallery_start_apart() {
    for scene in sinew_scene::gallery::scenes().iter().filter(|s| s.name != "pile") {
        let told = sinew(&["check", scene.name]).stderr;
        assert!(told.is_empty(), "{}: {}", scene.name, String::from_utf8_lossy(&told));
    }
}

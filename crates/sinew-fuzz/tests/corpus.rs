//! Replays every input of `fuzz/corpus` through its target: seeds, and all findings of the fuzzers.

use sinew_fuzz::TARGETS;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// An input that takes longer counts as a hang, on any machine.
const HANGS: Duration = Duration::from_secs(20);

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// The file name is printed before the file is run: after a panic it is the last one in the output.
fn replay(targets: &[&str]) {
    for (name, target) in TARGETS.iter().filter(|(name, _)| targets.iter().any(|start| name.starts_with(start))) {
        let files = files(&corpus().join(name));
        assert!(!files.is_empty(), "{name} has no seeds: cargo run -p sinew-fuzz --example seeds");
        for path in files {
            println!("{}", path.display());
            let bytes = std::fs::read(&path).expect("it was listed");
            let begin = Instant::now();
            target(&bytes);
            assert!(begin.elapsed() < HANGS, "{:?}", begin.elapsed());
        }
    }
}

#[test]
fn mesh_files_of_the_corpus_are_read_or_refused() {
    replay(&["mesh_"]);
}

#[test]
fn saves_snapshots_and_recordings_of_the_corpus_are_read_or_refused() {
    replay(&["save", "snapshot", "recording"]);
}

#[test]
fn scene_files_of_the_corpus_are_read_or_refused() {
    replay(&["scene_toml", "scene_json"]);
}

#[test]
fn generated_scenes_of_the_corpus_run_for_a_second_and_stay_finite() {
    replay(&["scene_step"]);
}

#[test]
fn commands_of_the_corpus_are_refused_or_executed() {
    replay(&["viewer_command"]);
}

#[test]
fn every_folder_of_the_corpus_has_a_target() {
    for entry in std::fs::read_dir(corpus()).expect("fuzz/corpus").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(TARGETS.iter().any(|(target, _)| *target == name), "{name}");
    }
}

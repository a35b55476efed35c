//! `sinew sweep`: the table, its formats, and a sweep that is killed and taken up again.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn sinew(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.args(args).current_dir(folder).stdin(Stdio::null());
    command
}

fn run(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = sinew(folder, args).output().expect("the command is there");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code(), text(stdout), text(stderr))
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("sinew-sweep-{name}-{}", std::process::id()));
    _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    folder
}

const RUNS: [&str; 7] =
    ["sweep", "press", "--vary", "parameters.depth=0.06:0.2:8", "--vary", "settings.substeps=4|6", "--steps"];

#[test]
fn the_table_has_the_hashes_and_readings_of_single_runs() {
    let folder = folder("table");
    let (code, csv, told) =
        run(&folder, &[&RUNS[..], &["20", "--read", "plate.position.y,ball.force", "--csv", "-"]].concat());
    assert_eq!(code, Some(0), "{told}");
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let head = "run,parameters.depth,settings.substeps,plate.position.y,ball.force.x,ball.force.y,ball.force.z,faults,state_hash,error";
    assert_eq!(lines[0].join(","), head);
    assert_eq!(lines.len(), 17);
    let set = [format!("parameters.depth={}", lines[4][1]), format!("settings.substeps={}", lines[4][2])];
    let single = ["run", "press", "--steps", "20", "--json", "-", "--set", &set[0], "--set", &set[1]];
    let (_, single, _) = run(&folder, &single);
    assert!(single.contains(lines[4][8]), "{single}");
    // the cache is where it was told, and another form of the table makes nothing anew
    let kept = std::fs::read_dir(folder.join(".sinew-sweep")).expect("the cache").count();
    assert_eq!(kept, 16);
    let (code, json, _) =
        run(&folder, &[&RUNS[..], &["20", "--read", "plate.position.y,ball.force", "--json", "-"]].concat());
    assert!(code == Some(0) && json.contains("\"state_hash\"") && json.contains(lines[16][8]));
    _ = std::fs::remove_dir_all(folder);
}

#[test]
fn a_sweep_that_is_killed_thrice_gives_one_table() {
    let folder = folder("killed");
    let args = [&RUNS[..], &["120", "--read", "ball.force.y", "--jobs", "2", "--csv", "-"]].concat();
    let (code, whole, told) = run(&folder, &[&args[..], &["--no-cache"]].concat());
    assert!(code == Some(0) && !folder.join(".sinew-sweep").exists(), "{told}");
    let kept = || std::fs::read_dir(folder.join(".sinew-sweep")).map_or(0, Iterator::count);
    for wanted in [2, 5, 9] {
        let mut child = sinew(&folder, &args).stdout(Stdio::null()).spawn().expect("the command is there");
        let start = Instant::now();
        while kept() < wanted
            && child.try_wait().expect("a child").is_none()
            && start.elapsed() < Duration::from_secs(60)
        {
            std::thread::sleep(Duration::from_millis(2));
        }
        _ = child.kill();
        _ = child.wait();
    }
    assert!(kept() >= 2);
    let (code, continued, told) = run(&folder, &args);
    assert_eq!((code, continued), (Some(0), whole), "{told}");
    _ = std::fs::remove_dir_all(folder);
}

#[test]
fn bad_use_is_refused_and_refused_values_are_in_their_rows() {
    let folder = folder("refused");
    let refused = |args: &[&str], word: &str| {
        let (code, _, told) = run(&folder, args);
        assert!(code == Some(2) && told.contains(word), "{code:?} {told}");
    };
    refused(&["sweep", "press"], "--vary");
    refused(&["sweep", "press", "--vary", "a"], "PATH=a:b:n");
    refused(&["sweep", "pres", "--vary", "parameters.depth=1|2"], "did you mean 'press'");
    refused(&["sweep", "press", "--vary", "parameters.dept=0.1|0.2"], "dept");
    refused(
        &["sweep", "press", "--vary", "parameters.depth=0.1|0.2", "--read", "bal.force"],
        "did you mean 'ball.force'",
    );
    refused(&["sweep", "press", "--vary", "parameters.depth=0.1|0.2", "--verify", "2"], "0 to 1");
    let (code, csv, told) =
        run(&folder, &["sweep", "stack", "--vary", "settings.substeps=2|0", "--steps", "2", "--csv", "-"]);
    assert!(code == Some(1) && told.contains("run 1") && csv.contains("from 1 to 1000"), "{code:?} {csv} {told}");
    _ = std::fs::remove_dir_all(folder);
}

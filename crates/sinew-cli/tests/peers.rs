//! `sinew bench --with DIR` with peers made of shell scripts: one that works, one that hangs, one that prints invalid lines.
#![cfg(unix)]

use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn sinew(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sinew")).args(args).output().expect("the binary runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder of peers; removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn script(&self, program: &str, text: &str) {
        let path = self.0.join(program);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it may run");
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("a plain path")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

const ANSWER: &str = "echo \"fake-1.0,$1,rope,1,50,0,0,49,20.000,4,0.1,1000,2000,\\\"finite=1 stretch_max=1.0% heavy_vy=-1.85 wheel_w=6.0; steps=40\\\"\"";

#[test]
fn good_peers_are_compared_and_bad_ones_named() {
    let folder = Folder::new("peers");
    folder.script("bullet/bench_bullet", ANSWER);
    folder.script("rapier/target/release/bench_rapier", "echo rubbish; echo more");
    let run = |more: &[&str]| {
        let mut args = vec!["bench", "--with", folder.path(), "--scenes", "s3", "--runs", "1"];
        args.extend(more);
        sinew(&args)
    };
    let output = run(&["--json", "-"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = value["rows"].as_array().expect("an array");
    let engines: Vec<&str> = rows.iter().filter_map(|r| r["engine"].as_str()).collect();
    // two steps of ours; the peer has only one
    assert_eq!(engines.len(), 3, "{engines:?}");
    assert!(engines[0].starts_with("sinew-") && engines[1] == "fake-1.0" && engines[2].starts_with("sinew-"));
    let (ours, ratio) = (rows[0]["median_ms"].as_f64(), rows[1]["ratio"].as_f64());
    assert!((ours.expect("ours") / 1000.0 - ratio.expect("a ratio")).abs() < 1e-6);
    assert_eq!((&rows[0]["goals_met"], &rows[1]["goals_met"]), (&true.into(), &true.into()));
    let left_out = value["left_out"].to_string();
    assert!(left_out.contains("rapier: printed 2 line(s)") && left_out.contains("rubbish"), "{left_out}");
    assert!(left_out.contains("jolt: not built"), "{left_out}");

    // a peer that hangs is killed, and the others are still listed
    folder.script("rapier/target/release/bench_rapier", "sleep 600");
    let output = run(&["--peers", "rapier,bullet", "--limit", "8", "--markdown"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("rapier: ended after 8 s") && text.contains("| fake-1.0 |"), "{text}");
}

#[test]
fn errors_name_the_culprit() {
    let folder = Folder::new("no-peers");
    let cases: &[(&[&str], &str)] = &[
        (&["--with", "no-such-folder"], "no-such-folder"),
        (&["--with", folder.path()], "no peer is built; run its setup.sh"),
        (&["--with", folder.path(), "--scenes", "S1,T3"], "did you mean 'S3'"),
        (&["--with", folder.path(), "--peers", "jolr"], "did you mean 'jolt'"),
        (&["--half", "S9"], "S7 a soft cylinder"),
    ];
    for (args, message) in cases {
        let output = sinew(&[&["bench"], *args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(message), "{args:?}: {}", stderr(&output));
    }
}

//! Inputs under attack: endless files, names that hide characters or have megabytes, settings without a range, and
//! command lines that would drive a terminal.
#![cfg(unix)]

use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn sinew(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sinew")).args(args).output().expect("the binary runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder of this test; removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("inputs-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a plain path").to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Waits for the end; a process that reads on is killed before it fills the memory.
fn ends(mut child: Child, what: &str) -> Output {
    let clock = Instant::now();
    while child.try_wait().expect("a child of this test").is_none() {
        if clock.elapsed() > Duration::from_secs(5) {
            let _ = child.kill();
            let _ = child.wait();
            panic!("{what}: it does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().expect("a child of this test")
}

fn start(args: &[&str], input: Stdio) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.args(args).stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs")
}

#[test]
fn endless_inputs_are_refused_by_their_first_bytes() {
    let folder = Folder::new("endless");
    let done = ends(start(&["replay", "/dev/zero"], Stdio::null()), "/dev/zero");
    assert_eq!(done.status.code(), Some(2));
    assert!(stderr(&done).contains("not a Sinew file"), "{}", stderr(&done));
    let mut yes = Command::new("yes").stdout(Stdio::piped()).spawn().expect("yes is there");
    let done = ends(start(&["replay", "/dev/stdin"], yes.stdout.take().expect("a pipe").into()), "yes");
    let _ = yes.kill();
    let _ = yes.wait();
    assert_eq!(done.status.code(), Some(2));
    assert!(stderr(&done).contains("not a Sinew file"), "{}", stderr(&done));
    let (mesh, fifo) = (folder.path("m.obj"), folder.path("f.obj"));
    symlink("/dev/zero", &mesh).expect("a link");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo is there").success());
    for path in [&mesh, &fifo] {
        let done = ends(start(&["mesh", "info", path], Stdio::null()), path);
        assert_eq!(done.status.code(), Some(2));
        assert!(stderr(&done).contains("not a plain file"), "{}", stderr(&done));
    }
}

#[test]
fn a_recording_is_read_from_a_pipe() {
    let folder = Folder::new("pipe");
    let file = folder.path("r.sinew");
    assert!(sinew(&["run", "stack", "--steps", "3", "--record", &file]).status.success());
    let mut cat = Command::new("cat").arg(&file).stdout(Stdio::piped()).spawn().expect("cat is there");
    let done = ends(start(&["replay", "/dev/stdin"], cat.stdout.take().expect("a pipe").into()), "cat");
    let _ = cat.wait();
    assert!(done.status.success(), "{}", stderr(&done));
    assert!(String::from_utf8_lossy(&done.stdout).contains("3 of 3 steps match"));
}

/// Without width or shape: a reader does not see them, and two names look the same.
const HIDDEN: [char; 8] =
    ['\u{200b}', '\u{2060}', '\u{feff}', '\u{ad}', '\u{180e}', '\u{fff9}', '\u{e0041}', '\u{202e}'];

#[test]
fn format_characters_are_visible_everywhere() {
    let folder = Folder::new("hidden");
    let (file, bad) = (folder.path("s.toml"), folder.path("bad.toml"));
    let hidden: String = HIDDEN.iter().collect();
    let ball = "kind = 'dynamic'\nmass = 1\nshape = { kind = 'ball', radius = 0.1 }\n";
    let name = format!("ball{hidden}");
    fs::write(&file, format!("name = \"x{hidden}\"\n[bodies.\"{name}\"]\n{ball}")).unwrap();
    fs::write(&bad, format!("[bodies.\"{name}\"]\n{ball}mas{hidden} = 1\n")).unwrap();
    let position = format!("{name}.position");
    let runs: [&[&str]; 7] = [
        &["run", &file, "--steps", "2"],
        &["run", &file, "--steps", "2", "--json", "-"],
        &["run", &file, "--steps", "2", "--csv", "-", "--read", &position],
        &["run", &file, "--steps", "2", "--csv", "-", "--read", "bal.position"],
        &["check", &file, &bad],
        &["run", &position],
        &["run", "stack", "--set", &format!("settings.substeps{hidden}=1")],
    ];
    for args in runs {
        let done = sinew(args);
        for text in [String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr)] {
            assert!(!text.contains(HIDDEN), "{args:?}: {text:?}");
        }
    }
    let json = sinew(&["run", &file, "--steps", "2", "--json", "-"]);
    let summary: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(summary["scene"], format!("x{hidden}"), "JSON keeps what the file said");
}

#[test]
fn the_parser_of_the_command_line_prints_no_control_characters() {
    let odd = "\u{9b}31m\u{202e}\u{1b}[2J\u{200b}\nsinew: all is well";
    let flag = format!("--{odd}");
    let runs: [&[&str]; 8] = [
        &["run", "stack", "--steps", odd],
        &["run", "stack", "--seconds", odd],
        &[odd],
        &["run", "stack", &flag],
        &["run", "stack", "--steps", "1", "--export", "x", "--format", odd],
        &["render", "stack", "--size", odd],
        &["mesh", odd],
        &["run", "stack", "extra", odd],
    ];
    for args in runs {
        let done = sinew(args);
        let text = stderr(&done);
        assert_eq!(done.status.code(), Some(2), "{args:?}: {text}");
        let bad = |c: char| (c.is_control() && c != '\n') || ['\u{202e}', '\u{200b}'].contains(&c);
        assert!(!text.contains(bad), "{args:?}: {text:?}");
        assert!(!text.lines().any(|l| l.starts_with("sinew: all is well")), "{args:?}: {text}");
    }
    let text = stderr(&sinew(&["run", "stack", "--steps", odd]));
    assert!(text.contains("\\u{9b}31m") && text.contains("--steps"), "{text}");
}

#[test]
fn names_of_megabytes_are_cut_in_messages() {
    let folder = Folder::new("long");
    let long = "k".repeat(1 << 20);
    let ball = "kind = 'dynamic'\nmass = 1\nshape = { kind = 'ball', radius = 0.1 }\n";
    for (name, text) in [
        ("key.toml", format!("{long} = 1\n")),
        ("twice.toml", format!("{long} = 1\n{long} = 1\n")),
        ("twice.json", format!("{{\"{long}\": 1, \"{long}\": 1}}")),
        ("body.toml", format!("[bodies.{long}]\n{ball}mas = 1\n")),
        ("value.toml", format!("[bodies.a]\nkind = '{long}'\n")),
        ("mesh.toml", format!("[bodies.a]\nkind = 'fixed'\nshape = {{ kind = 'mesh', file = '{long}.obj' }}\n")),
        ("joint.toml", format!("[bodies.{long}]\n{ball}[joints.j]\nkind = 'ball'\nbodies = ['x', 'y']\n")),
        ("include.toml", format!("include = ['{long}.toml']\n")),
    ] {
        let file = folder.path(name);
        fs::write(&file, text).unwrap();
        let done = sinew(&["check", &file]);
        assert_eq!(done.status.code(), Some(2), "{name}");
        let size = done.stderr.len() + done.stdout.len();
        assert!(size < 20_000, "{name}: {size} bytes");
    }
    let done = sinew(&["run", "stack", "--set", &format!("{}=1", "k".repeat(100_000))]);
    assert!(done.stderr.len() < 20_000, "{} bytes", done.stderr.len());
}

#[test]
fn a_refused_setting_is_named_as_it_was_set() {
    for (set, message) in [
        (
            "settings.order=staggered:4294967295,4294967295",
            "settings.order.rigid: expected a whole number from 1 to 10000, found 4294967295",
        ),
        ("settings.order=staggered:0,0", "settings.order.rigid: expected a whole number from 1 to 10000"),
        ("settings.order=staggered:1,10001", "settings.order.deformable: expected a whole number from 1 to 10000"),
        ("settings.contact.baumgarte=nan", "settings.contact.share: expected a number from 0 to 1, found NaN"),
        ("settings.joint.baumgarte=2", "settings.joint.share: expected a number from 0 to 1, found 2"),
        ("settings.friction.baumgarte=-1", "settings.friction.share: expected a number from 0 to 1, found -1"),
        ("settings.implicit.passes=4294967295", "settings.implicit.passes: expected a whole number from 1 to 100000"),
        ("settings.substeps=4294967295", "settings.substeps: expected a whole number from 1 to 1000"),
    ] {
        let done = ends(start(&["run", "stack", "--steps", "1", "--set", set], Stdio::null()), set);
        assert_eq!(done.status.code(), Some(2), "{set}");
        assert!(stderr(&done).contains(message), "{set}: {}", stderr(&done));
    }
}

//! Places of outputs under attack: rights, owners, inputs, shared places, limits of the system, names of folders.
#![cfg(unix)]

use serde_json::Value;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const BALL: &str = "[bodies.b]\nkind = 'dynamic'\nmass = 1\nshape = { kind = 'ball', radius = 0.1 }\n";
const TETRAHEDRON: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

fn sinew(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sinew")).args(args).output().expect("the binary runs")
}

fn start(args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.args(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Exit code 2 and this text on stderr.
fn refused(args: &[&str], text: &str) {
    let done = sinew(args);
    assert_eq!(done.status.code(), Some(2), "{args:?}: {}", stderr(&done));
    assert!(stderr(&done).contains(text), "{args:?}: {}", stderr(&done));
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().expect("kill").success());
}

/// A folder of this test; removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("places-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a plain path").to_owned()
    }

    fn with(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::create_dir_all(Path::new(&path).parent().expect("a folder")).expect("a folder");
        fs::write(&path, text).expect("a file");
        path
    }

    fn fifo(&self, name: &str) -> String {
        let path = self.path(name);
        assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
        path
    }

    /// The temporary file that a command makes here.
    fn part(&self) -> PathBuf {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(60) {
            let all = fs::read_dir(&self.0).expect("the folder").flatten().map(|e| e.path());
            // the probe before the run is empty
            let grown = |p: &PathBuf| fs::metadata(p).is_ok_and(|m| m.len() > 0);
            if let Some(part) = all.filter(|p| p.extension().is_some_and(|e| e == "part")).find(grown) {
                return part;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("no temporary file in {}", self.0.display());
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_scene_with_a_long_name_is_run() {
    let folder = Folder::new("long");
    let scene = folder.with("s.toml", &format!("name = '{}'\n{BALL}", "n".repeat(70_000)));
    let json = folder.path("o.json");
    for args in [["run", &scene, "--steps", "1", "--json", &json], ["soak", &scene, "--steps", "20", "--json", &json]] {
        let done = sinew(&args);
        assert!(done.status.success(), "{args:?}: {}", stderr(&done));
        assert!(String::from_utf8_lossy(&done.stdout).lines().all(|line| line.len() < 2000), "{args:?}");
    }
    // the JSON has all of it
    let summary: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(summary["scene"].as_str().map(str::len), Some(70_000));
}

#[test]
fn a_private_file_stays_private_while_it_is_written() {
    let folder = Folder::new("private");
    let record = folder.with("o.rec", "old");
    fs::set_permissions(&record, fs::Permissions::from_mode(0o600)).unwrap();
    let child = start(&["run", "stack", "--steps", "100000000", "--record", &record]);
    let mode = fs::metadata(folder.part()).unwrap().mode() & 0o7777;
    signal(&child, "-INT");
    let done = child.wait_with_output().unwrap();
    assert_eq!(mode, 0o600);
    assert!(done.status.success(), "{}", stderr(&done));
    assert_eq!(fs::metadata(&record).unwrap().mode() & 0o7777, 0o600);
}

#[test]
fn owner_and_group_are_kept_and_set_id_is_not() {
    let folder = Folder::new("owner");
    let json = folder.with("o.json", "old");
    let is_root = std::os::unix::fs::chown(&json, Some(1234), Some(1235)).is_ok();
    let before = fs::metadata(&json).unwrap();
    fs::set_permissions(&json, fs::Permissions::from_mode(0o6754)).unwrap();
    let done = sinew(&["run", "stack", "--steps", "1", "--json", &json]);
    assert!(done.status.success(), "{}", stderr(&done));
    let there = fs::metadata(&json).unwrap();
    assert_eq!(there.mode() & 0o7777, 0o754);
    assert_eq!((there.uid(), there.gid()), (before.uid(), before.gid()));
    if !is_root {
        eprintln!("SKIPPED: no rights to change an owner");
    }
}

#[test]
fn two_outputs_are_not_at_one_place() {
    let folder = Folder::new("twice");
    let e = folder.path("e");
    fs::create_dir(&e).unwrap();
    let run = |more: &[&str]| {
        refused(&[&["run", "stack", "--steps", "2"], more].concat(), "two outputs cannot have one place")
    };
    let inside = |name: &str| folder.path(&format!("e/{name}"));
    run(&["--export", &e, "--format", "gltf", "--record", &inside("stack.glb")]);
    run(&["--export", &e, "--json", &inside("stack-000002.vtu")]);
    run(&["--export", &e, "--json", &inside("stack.pvd")]);
    run(&["--export", &e, "--format", "obj", "--json", &inside("stack-000000.obj")]);
    // a link at the name of a frame leads out of the folder
    let out = folder.with("out.json", "");
    symlink(&out, inside("stack.pvd")).unwrap();
    run(&["--export", &e, "--json", &out]);
    run(&["--json", "/dev/stderr", "--csv", "/dev/stderr"]);
    let fifo = folder.fifo("f");
    fs::hard_link(&fifo, folder.path("g")).unwrap();
    // a FIFO that is open for reading makes no writer wait
    let _reader = fs::OpenOptions::new().read(true).write(true).open(&fifo).unwrap();
    run(&["--json", &fifo, "--csv", &folder.path("g")]);
    run(&["--json", &fifo, "--csv", &fifo]);
    // other names in the folder of an export are free
    let done = sinew(&["run", "stack", "--steps", "1", "--export", &e, "--json", &inside("summary.json")]);
    assert!(done.status.success(), "{}", stderr(&done));
    let obj = folder.with("m.obj", TETRAHEDRON);
    refused(&["mesh", "repair", &obj, &folder.path("n.obj"), "--json", &folder.path("n.obj")], "one place");
}

#[test]
fn an_input_is_not_an_output() {
    let folder = Folder::new("input");
    let mesh = folder.with("m.obj", TETRAHEDRON);
    let part = folder.with("part.toml", BALL);
    let text = "include = ['part.toml']\n[bodies.m]\nkind = 'fixed'\nshape = { kind = 'mesh', surface = { kind = 'file', file = 'm.obj' } }\n";
    let scene = folder.with("scene.toml", text);
    let link = folder.path("link.toml");
    symlink(&scene, &link).unwrap();
    for place in [&scene, &part, &mesh, &link] {
        for flag in ["--csv", "--json", "--record"] {
            refused(&["run", &scene, "--steps", "1", flag, place], "is an input of this command");
        }
        refused(&["render", &scene, "--at", "0", "--size", "8x8", "-o", place], "is an input of this command");
    }
    refused(&["run", &scene, "--steps", "1", "--write", &part], "is an input of this command");
    for verb in ["convert", "repair"] {
        refused(&["mesh", verb, &mesh, &mesh], "is an input of this command");
    }
    assert_eq!(fs::read_to_string(&scene).unwrap(), text);
    assert_eq!(fs::read_to_string(&part).unwrap(), BALL);
    assert_eq!(fs::read_to_string(&mesh).unwrap(), TETRAHEDRON);
    // a scene that continues from its end
    let done = sinew(&["run", &scene, "--steps", "1", "--write", &scene]);
    assert!(done.status.success() && sinew(&["check", &scene]).status.success(), "{}", stderr(&done));
}

#[test]
fn a_picture_is_stopped_while_it_is_drawn() {
    let folder = Folder::new("drawn");
    let png = folder.path("o.png");
    let args = ["render", "stack", "--at", "0", "--size", "4000x4000", "--samples", "8", "-o", &png];
    let child = start(&args);
    std::thread::sleep(Duration::from_secs(1));
    signal(&child, "-INT");
    let sent = Instant::now();
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(130), "{}", stderr(&done));
    assert!(stderr(&done).contains("is left as it was") && !Path::new(&png).exists(), "{}", stderr(&done));
    assert!(sent.elapsed() < Duration::from_secs(5), "{:?}", sent.elapsed());
}

#[test]
fn a_limit_of_the_size_of_files_is_a_full_disk() {
    let folder = Folder::new("limit");
    let scene = folder.with("s.toml", BALL);
    let [json, record] = ["o.json", "o.rec"].map(|n| folder.path(n));
    let done = Command::new("sh")
        .args(["-c", "ulimit -f 80; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_sinew"), "run", &scene, "--steps", "600"])
        .args(["--json", &json, "--record", &record])
        .output()
        .expect("a shell");
    assert_eq!(done.status.code(), Some(2), "{}", stderr(&done));
    assert!(stderr(&done).contains("o.rec: ") && stderr(&done).contains("all else goes on"), "{}", stderr(&done));
    assert_eq!(serde_json::from_slice::<Value>(&fs::read(&json).unwrap()).unwrap()["steps"], 600);
}

#[test]
fn a_command_that_waits_for_a_reader_ends_with_130() {
    let folder = Folder::new("waits");
    let fifo = folder.fifo("f");
    let child = start(&["run", "stack", "--steps", "1", "--json", &fifo]);
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "-TERM");
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(130), "{}", stderr(&done));
}

#[test]
fn names_of_folders_are_no_files_and_the_reverse() {
    let folder = Folder::new("names");
    for end in ["f.json/", "f.json/.", "f.json//"] {
        refused(&["run", "stack", "--steps", "1", "--json", &folder.path(end)], "the name of a folder");
    }
    assert!(!Path::new(&folder.path("f.json")).exists());
    refused(&["run", "stack", "--steps", "1", "--export", "-"], "stdout is none");
    refused(&["friction", "--out", "-"], "stdout is none");
    let fifo = folder.fifo("f");
    refused(&["run", "stack", "--steps", "1", "--export", &fifo], "is not a folder");
    for place in ["-", "/dev/stdout"] {
        refused(&["run", "stack", "--steps", "1", "--write", place], "stdout has none");
        let obj = folder.with("m.obj", TETRAHEDRON);
        refused(&["mesh", "convert", &obj, place], "stdout has none");
    }
}

#[test]
fn a_folder_that_is_gone_leaves_no_name_of_a_temporary_file() {
    let folder = Folder::new("gone");
    let inner = Folder(folder.0.join("inner"));
    fs::create_dir(&inner.0).unwrap();
    let child = start(&["run", "stack", "--steps", "100000000", "--record", &inner.path("o.rec")]);
    inner.part();
    fs::remove_dir_all(&inner.0).unwrap();
    signal(&child, "-INT");
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(2), "{}", stderr(&done));
    assert!(stderr(&done).contains("o.rec: ") && !stderr(&done).contains(".part"), "{}", stderr(&done));
}

//! Outputs under attack: FIFOs, devices, full disks, planted links, signals, and text that would drive a terminal.
#![cfg(unix)]

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

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

/// A folder of this test; removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("outputs-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a plain path").to_owned()
    }

    fn names(&self) -> Vec<String> {
        let all = fs::read_dir(&self.0).expect("the folder");
        let mut names: Vec<String> = all.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn parts(&self) -> Vec<String> {
        self.names().into_iter().filter(|n| n.ends_with(".part")).collect()
    }

    /// A device of its own, so that a fault cannot replace the machine's; nothing where that is not allowed.
    fn device(&self, name: &str, minor: &str) -> Option<String> {
        let path = self.path(name);
        let made = Command::new("mknod").args(["-m", "666", &path, "c", "1", minor]).output();
        let usable = made.is_ok_and(|o| o.status.success()) && fs::OpenOptions::new().write(true).open(&path).is_ok();
        if !usable {
            eprintln!("SKIPPED: no rights to make a device in {}", self.0.display());
        }
        usable.then_some(path)
    }

    fn fifo(&self, name: &str) -> String {
        let path = self.path(name);
        assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

/// Each output by its flags: `FILE` stands for the place. The ending of the name matters to some.
const OUTPUTS: [(&str, &[&str]); 5] = [
    ("o.json", &["run", "stack", "--steps", "3", "--json", "FILE"]),
    ("o.csv", &["run", "stack", "--steps", "3", "--csv", "FILE"]),
    ("o.rec", &["run", "stack", "--steps", "3", "--record", "FILE"]),
    ("o.toml", &["run", "stack", "--steps", "3", "--write", "FILE"]),
    ("o.png", &["render", "stack", "--at", "0", "--size", "16x16", "--samples", "1", "-o", "FILE"]),
];

fn at(flags: &[&str], place: &str) -> Vec<String> {
    flags.iter().map(|flag| if *flag == "FILE" { place } else { flag }.to_owned()).collect()
}

fn write_to(flags: &[&str], place: &str) -> Output {
    let args = at(flags, place);
    sinew(&args.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_fifo_is_written_to_and_stays() {
    let folder = Folder::new("fifo");
    for (name, flags) in OUTPUTS {
        let fifo = folder.fifo(name);
        let reader = std::thread::spawn({
            let fifo = fifo.clone();
            move || fs::read(fifo).expect("the FIFO is read")
        });
        let done = write_to(flags, &fifo);
        assert!(done.status.success(), "{name}: {}", stderr(&done));
        assert!(fs::metadata(&fifo).unwrap().file_type().is_fifo(), "{name} was replaced");
        assert!(reader.join().unwrap().len() > 40, "{name}");
    }
    // frames of an export are outputs like all others
    let frame = folder.fifo("stack-000000.obj");
    let reader = std::thread::spawn({
        let frame = frame.clone();
        move || fs::read(frame).expect("the FIFO is read")
    });
    let to = folder.0.to_str().unwrap();
    let done = sinew(&["run", "stack", "--steps", "1", "--export", to, "--format", "obj"]);
    assert!(done.status.success(), "{}", stderr(&done));
    assert!(fs::metadata(&frame).unwrap().file_type().is_fifo() && reader.join().unwrap().starts_with(b"# metres"));
    assert!(folder.parts().is_empty());
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let folder = Folder::new("gone");
    let (fifo, json) = (folder.fifo("o.csv"), folder.path("o.json"));
    let reader = std::thread::spawn({
        let fifo = fifo.clone();
        move || {
            let mut line = String::new();
            BufReader::new(fs::File::open(fifo).unwrap()).read_line(&mut line).unwrap();
            line
        }
    });
    let done = sinew(&["run", "stack", "--steps", "2000", "--csv", &fifo, "--json", &json]);
    assert!(done.status.success(), "{}", stderr(&done));
    assert!(reader.join().unwrap().starts_with("tick,"));
    let summary: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(summary["steps"], 2000);
}

#[test]
fn a_device_is_written_to_and_stays() {
    let folder = Folder::new("device");
    for (name, flags) in OUTPUTS {
        let Some(null) = folder.device(name, "3") else { return };
        let done = write_to(flags, &null);
        assert!(done.status.success(), "{name}: {}", stderr(&done));
        assert!(fs::metadata(&null).unwrap().file_type().is_char_device(), "{name} was replaced");
    }
    assert!(folder.parts().is_empty());
}

#[test]
fn a_full_device_loses_nothing_else() {
    let folder = Folder::new("full");
    for (name, flags) in OUTPUTS {
        let Some(full) = folder.device(name, "7") else { return };
        let mut args = at(flags, &full);
        let other = folder.path("other.rec");
        if flags[0] == "run" {
            args.extend(["--record".to_owned(), other.clone()].into_iter().filter(|_| name != "o.rec"));
            args.extend(["--json".to_owned(), folder.path("other.json")].into_iter().filter(|_| name != "o.json"));
        }
        let done = sinew(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(done.status.code(), Some(2), "{name}");
        assert!(stderr(&done).contains(name) && stderr(&done).contains("No space left"), "{name}: {}", stderr(&done));
        assert!(fs::metadata(&full).unwrap().file_type().is_char_device(), "{name} was replaced");
        if flags[0] == "run" {
            assert!(String::from_utf8_lossy(&done.stdout).contains("hash"), "{name}: the summary is there");
            assert!(name == "o.rec" || sinew(&["replay", &other]).status.success(), "{name}");
            if name != "o.json" {
                let json = fs::read(folder.path("other.json")).unwrap();
                assert_eq!(serde_json::from_slice::<Value>(&json).unwrap()["steps"], 3, "{name}");
            }
        }
    }
    assert!(folder.parts().is_empty());
}

#[test]
fn a_full_disk_loses_nothing_else() {
    let folder = Folder::new("disk");
    let [json, csv, record, write] = ["o.json", "o.csv", "o.rec", "o.toml"].map(|n| folder.path(n));
    fs::write(&record, "the old recording").unwrap();
    let scene = folder.path("scene.toml");
    fs::write(&scene, "[bodies.b]\nkind = 'dynamic'\nmass = 1\nshape = { kind = 'ball', radius = 0.1 }\n").unwrap();
    // no file may grow beyond a limit: what a full disk does, without rights to make one
    let limit = "trap '' XFSZ; ulimit -f 80; exec \"$0\" \"$@\"";
    let files = ["--json", &json, "--csv", &csv, "--read", "energy.kinetic", "--record", &record, "--write", &write];
    let done = Command::new("sh")
        .args(["-c", limit, env!("CARGO_BIN_EXE_sinew"), "run", &scene, "--steps", "600"])
        .args(files)
        .output()
        .expect("a shell");
    assert_eq!(done.status.code(), Some(2), "{}", stderr(&done));
    assert!(stderr(&done).contains("o.rec: ") && stderr(&done).contains("all else goes on"), "{}", stderr(&done));
    assert!(stderr(&done).contains("1 output was not written"), "{}", stderr(&done));
    assert_eq!(fs::read(&record).unwrap(), b"the old recording");
    assert_eq!(serde_json::from_slice::<Value>(&fs::read(&json).unwrap()).unwrap()["steps"], 600);
    assert_eq!(fs::read_to_string(&csv).unwrap().lines().count(), 601);
    assert!(sinew(&["check", &write]).status.success());
    assert!(folder.parts().is_empty(), "{:?}", folder.names());
}

#[test]
fn a_planted_link_is_not_followed() {
    let folder = Folder::new("planted");
    for (name, flags) in OUTPUTS {
        let (place, victim) = (folder.path(name), folder.path("victim"));
        fs::write(&victim, "precious").unwrap();
        symlink(&victim, format!("{place}.part")).unwrap();
        let done = write_to(flags, &place);
        assert!(done.status.success(), "{name}: {}", stderr(&done));
        assert_eq!(fs::read(&victim).unwrap(), b"precious", "{name}");
        assert!(fs::symlink_metadata(format!("{place}.part")).unwrap().is_symlink(), "{name}");
        assert!(fs::symlink_metadata(&place).unwrap().is_file(), "{name}");
    }
}

#[test]
fn a_link_is_kept_and_its_file_written() {
    let folder = Folder::new("links");
    for (name, flags) in OUTPUTS {
        let (link, target) = (folder.path(name), folder.path(&format!("target-{name}")));
        symlink(&target, &link).unwrap();
        let done = write_to(flags, &link);
        assert_eq!(done.status.code(), Some(2), "{name}");
        assert!(stderr(&done).contains("is a link to") && !Path::new(&target).exists(), "{name}: {}", stderr(&done));
        fs::write(&target, "old").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(write_to(flags, &link).status.success(), "{name}");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{name}");
        let there = fs::symlink_metadata(&target).unwrap();
        assert!(there.is_file() && there.len() > 40, "{name}");
        assert_eq!(there.permissions().mode() & 0o777, 0o640, "{name}");
    }
    assert!(folder.parts().is_empty());
}

#[test]
fn stdout_by_name_is_stdout() {
    let folder = Folder::new("stdout");
    let path = folder.path("all.txt");
    let file = fs::File::create(&path).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.args(["run", "stack", "--steps", "3", "--json", "/dev/stdout"]).stdout(file.try_clone().unwrap());
    assert!(command.status().unwrap().success());
    // the file that was given as stdout has it, and nothing besides
    let mut text = String::new();
    fs::File::open(&path).unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["steps"], 3);
    let done = sinew(&["run", "stack", "--steps", "3", "--csv", "-"]);
    let csv = String::from_utf8(done.stdout).unwrap();
    assert!(csv.starts_with("tick,") && csv.lines().count() == 4, "{csv}");
}

#[test]
fn two_outputs_do_not_share_a_place() {
    let folder = Folder::new("twice");
    let (one, again) = (folder.path("o"), folder.path("./o"));
    let done = sinew(&["run", "stack", "--steps", "3", "--json", &one, "--csv", &again]);
    assert_eq!(done.status.code(), Some(2));
    assert!(stderr(&done).contains("one place") && folder.names().is_empty(), "{}", stderr(&done));
}

/// Starts a command that takes for ever and stops it by a signal. On a busy machine the signal may come before the
/// command listens to it: then it is given more time.
fn stopped(args: &[&str], signal: &str) -> Output {
    let mut wait = Duration::from_millis(200);
    loop {
        let child = start(args);
        std::thread::sleep(wait);
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill").success());
        let done = child.wait_with_output().unwrap();
        if done.status.code().is_some() || wait > Duration::from_secs(20) {
            return done;
        }
        wait *= 2;
    }
}

#[test]
fn a_stopped_picture_is_not_a_success() {
    let folder = Folder::new("stopped");
    for name in ["-INT", "-TERM", "-HUP"] {
        let path = folder.path("o.png");
        let done = stopped(&["render", "stack", "--at", "1e6", "-o", &path], name);
        assert_eq!(done.status.code(), Some(130), "{name}: {}", stderr(&done));
        assert!(stderr(&done).contains("is left as it was") && folder.names().is_empty(), "{:?}", folder.names());
    }
}

#[test]
fn a_stopped_run_has_all_its_files() {
    let folder = Folder::new("run");
    for name in ["-INT", "-TERM", "-HUP"] {
        let [json, csv, record] = ["o.json", "o.csv", "o.rec"].map(|n| folder.path(n));
        let files = ["--json", &json, "--csv", &csv, "--record", &record];
        let done = stopped(&[&["run", "stack", "--steps", "100000000"], files.as_slice()].concat(), name);
        assert_eq!(done.status.code(), Some(0), "{name}: {}", stderr(&done));
        let steps = serde_json::from_slice::<Value>(&fs::read(&json).unwrap()).unwrap()["steps"].as_u64().unwrap();
        assert_eq!(fs::read_to_string(&csv).unwrap().lines().count() as u64, steps + 1);
        let replayed = sinew(&["replay", &record]);
        assert!(replayed.status.success(), "{}", stderr(&replayed));
        assert!(String::from_utf8_lossy(&replayed.stdout).starts_with(&format!("{steps} of {steps} steps")));
    }
}

/// What killed recordings were like.
#[derive(Debug, Default)]
struct Kills {
    before_it_began: u32,
    unreadable: u32,
    /// Steps of which the CSV had its line and the recording lacked the section.
    steps_lost: u64,
    /// The same as a time [s].
    seconds_lost: f64,
    steps: u64,
}

/// Kills recordings at these times [ms] after their start. Steps are counted by lines of a CSV that goes through a FIFO.
fn kill_at(times: impl Iterator<Item = u64>, name: &str) -> Kills {
    let folder = Folder::new(name);
    let (fifo, record) = (folder.fifo("o.csv"), folder.path("o.rec"));
    let mut kills = Kills::default();
    for time in times {
        let reader = std::thread::spawn({
            let fifo = fifo.clone();
            move || {
                let file = BufReader::new(fs::File::open(fifo).unwrap());
                // headings and the first line are no step in between; the last line may be half
                file.split(b'\n').map_while(Result::ok).map(|_| Instant::now()).collect::<Vec<_>>()
            }
        });
        let mut child = start(&["run", "stack", "--steps", "100000000", "--csv", &fifo, "--record", &record]);
        std::thread::sleep(Duration::from_millis(time));
        child.kill().unwrap();
        let killed = Instant::now();
        child.wait().unwrap();
        if fs::metadata(&fifo).is_ok() {
            // a reader whose writer never came waits for one
            _ = fs::OpenOptions::new().read(true).write(true).open(&fifo);
        }
        let lines = reader.join().unwrap();
        assert!(!Path::new(&record).exists(), "a recording has its name only when it is whole");
        let parts = folder.parts();
        let Some(part) = parts.first() else {
            kills.before_it_began += 1;
            continue;
        };
        let replayed = sinew(&["replay", &folder.path(part)]);
        let text = String::from_utf8_lossy(&replayed.stdout).into_owned();
        let read: Option<u64> = text.split(' ').next().and_then(|n| n.parse().ok());
        match read {
            Some(n) if replayed.status.code() == Some(1) && text.starts_with(&format!("{n} of {n} steps match")) => {
                assert!(stderr(&replayed).contains(&format!("cut off after step {n}")), "{}", stderr(&replayed));
                let done = (lines.len() as u64).saturating_sub(1);
                kills.steps += n;
                kills.steps_lost = kills.steps_lost.max(done.saturating_sub(n));
                let last_kept = lines.get(n as usize).copied().unwrap_or(killed);
                kills.seconds_lost = kills.seconds_lost.max(killed.saturating_duration_since(last_kept).as_secs_f64());
            }
            _ => kills.unreadable += 1,
        }
        fs::remove_file(folder.path(part)).unwrap();
    }
    kills
}

/// Pseudo-random times, the same in every run [ms].
fn times(count: u64, longest: u64) -> impl Iterator<Item = u64> {
    (1..=count).map(move |k| 1 + (k.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % longest)
}

#[test]
fn a_killed_recording_is_read_to_its_last_step() {
    let kills = kill_at(times(8, 400), "kill");
    assert!(kills.unreadable == 0 && kills.steps > 0, "{kills:?}");
    assert!(kills.steps_lost <= 1 && kills.seconds_lost <= 1.0, "{kills:?}");
}

#[test]
#[ignore = "a hundred kills take minutes"]
fn a_hundred_killed_recordings_are_read_to_their_last_step() {
    let kills = kill_at(times(100, 1500), "kills");
    eprintln!("{kills:?}");
    assert!(kills.unreadable == 0 && kills.steps > 0, "{kills:?}");
    assert!(kills.steps_lost <= 1 && kills.seconds_lost <= 1.0, "{kills:?}");
}

/// A scene whose names drive a terminal: clear it, set its title, turn the direction of reading, forge a line.
const HOSTILE: &str = "name = \"x\\u001b[2J\"\nabout = \"\\u001b]0;title\\u0007\\u001b[31mred\\u202Etxt\"\n\
    [bodies.\"b\\u001b[5m\\nsinew: all is well\\u009b1m\"]\nkind = 'dynamic'\nmass = 1\nshape = { kind = 'ball', radius = 0.1 }\n";

/// Nothing but text, ends of lines and tabs.
fn is_plain(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    !text.contains(|c: char| (c.is_control() && c != '\n' && c != '\t') || ('\u{202a}'..='\u{202e}').contains(&c))
}

#[test]
fn text_of_files_does_not_reach_the_terminal_as_control() {
    let folder = Folder::new("text");
    let [good, bad, mesh, odd] = ["good.toml", "bad.toml", "m.obj", "o\u{1b}[2J.json"].map(|n| folder.path(n));
    fs::write(&good, HOSTILE).unwrap();
    fs::write(&bad, format!("{HOSTILE}mas\u{7f} = 1\n\"k\\u001b[1m\" = \"\\u001b[2m\"\n")).unwrap();
    fs::write(&mesh, "v 0 0 \u{1b}[2Jzero\n").unwrap();
    let picture = folder.path("p.png");
    let runs: [&[&str]; 10] = [
        &["run", &good, "--steps", "2"],
        &["run", &good, "--steps", "2", "--json", "-"],
        &["run", &good, "--steps", "2", "--csv", "-", "--read", "b\u{1b}[5m\nsinew: all is well\u{9b}1m.position"],
        &["run", &good, "--steps", "2", "--csv", "-", "--read", "b.position"],
        &["run", &good, "--steps", "2", "--json", &odd],
        &["run", &odd],
        &["check", &good, &bad],
        &["run", &good, "--set", "bodies.\"b\u{1b}\".mass=-1"],
        &["render", &good, "--at", "0", "--size", "8x8", "-o", &picture],
        &["mesh", "info", &mesh],
    ];
    for args in runs {
        let done = sinew(args);
        assert!(is_plain(&done.stdout), "{args:?}: {:?}", String::from_utf8_lossy(&done.stdout));
        assert!(is_plain(&done.stderr), "{args:?}: {:?}", stderr(&done));
        let forged = |text: &[u8]| String::from_utf8_lossy(text).lines().any(|l| l.starts_with("sinew: all is well"));
        assert!(!forged(&done.stdout) && !forged(&done.stderr), "{args:?}");
    }
    let json = sinew(&["run", &good, "--steps", "2", "--json", "-"]);
    let summary: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(summary["scene"], "x\u{1b}[2J", "JSON keeps what the file said");
    let faults = stderr(&sinew(&["check", &bad]));
    assert!(faults.contains("\\u{7f}"), "{faults}");
}

#[test]
fn absurd_settings_are_refused_with_their_range() {
    let folder = Folder::new("absurd");
    let file = folder.path("s.toml");
    fs::write(&file, "[settings]\ngravity = [0, -3e38, 0]\n").unwrap();
    let done = sinew(&["check", &file]);
    assert_eq!(done.status.code(), Some(2));
    assert!(
        stderr(&done).contains("settings.gravity[1]: expected a number from -100000 to 100000"),
        "{}",
        stderr(&done)
    );
    for (set, range) in [
        ("settings.gravity.y=3e38", "settings.gravity[1]: expected a number from -100000 to 100000"),
        ("settings.dt=1e-30", "settings.dt: expected a number from 0.000000001 to 10"),
        ("settings.max_speed=1e30", "settings.max_speed: expected a number above 0 and at most 1000000"),
        ("settings.contact_margin=1e30", "settings.contact_margin: expected a number from 0 to 1000"),
        (
            "settings.contact.frequency=1e30",
            "settings.contact.frequency: expected a number above 0 and at most 1000000000",
        ),
        ("settings.substeps=100000", "settings.substeps: expected a whole number from 1 to 1000"),
    ] {
        let done = sinew(&["run", "stack", "--steps", "1", "--set", set]);
        assert_eq!(done.status.code(), Some(2), "{set}");
        assert!(stderr(&done).contains(range), "{set}: {}", stderr(&done));
    }
}

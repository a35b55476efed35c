//! The built binary, as a script would drive it: words, flags, files, exit codes.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

fn sinew(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sinew")).args(args).output().expect("the binary runs")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("it ended by itself")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(output: &Output) -> Value {
    assert_eq!(code(output), 0, "{}", stderr(output));
    serde_json::from_slice(&output.stdout).expect("stdout is JSON")
}

/// A file of this test run; removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}", std::process::id())))
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("a plain path")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn scenes_are_listed_one_a_line() {
    let output = sinew(&["scenes"]);
    assert_eq!(code(&output), 0);
    let listed: Vec<String> =
        stdout(&output).lines().filter_map(|l| Some(l.split_whitespace().next()?.to_owned())).collect();
    let known: Vec<&str> = sinew_scene::gallery::scenes().iter().map(|s| s.name).collect();
    assert_eq!(listed, known);
}

/// A viewer on a free port; ended when dropped.
struct Viewer(Child, String);

impl Viewer {
    fn start(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sinew"))
            .args(args)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let message = lines.map_while(Result::ok).find_map(|line| {
            let rest = line.split_once("http://")?.1.to_owned();
            Some(rest.split_whitespace().next()?.trim_end_matches('/').to_owned())
        });
        Self(child, message.expect("it prints its address"))
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.1).expect("it listens");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.1).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_bare_command_and_view_print_an_address_with_a_page() {
    for args in [&[][..], &["view", "domino", "--port", "0"]] {
        let viewer = Viewer::start(args);
        let page = viewer.get("/");
        assert!(page.starts_with("HTTP/1.1 200") && page.contains("Sinew"), "{page}");
        assert!(viewer.get("/../Cargo.toml").starts_with("HTTP/1.1 404"));
    }
}

#[test]
fn a_view_that_cannot_be_says_why() {
    let viewer = Viewer::start(&["view", "domino", "--port", "0"]);
    let port = viewer.1.rsplit(':').next().expect("host:port");
    let output = sinew(&["view", "domino", "--port", port]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("--port"), "{}", stderr(&output));
    let output = sinew(&["view", "dominos"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("domino"), "{}", stderr(&output));
}

#[test]
fn run_writes_every_field_of_the_contract() {
    let run = json(&sinew(&["run", "stack", "--steps", "20", "--json", "-"]));
    for field in [
        "scene",
        "steps",
        "dt",
        "substeps",
        "threads",
        "counts",
        "constraints",
        "ms",
        "residual_by_iteration",
        "penetration_max",
        "stretch_max",
        "momentum_error",
        "energy",
        "faults",
        "frozen",
        "finite",
        "state_hash",
    ] {
        assert!(run.get(field).is_some(), "{field} is missing in {run}");
    }
    assert_eq!((&run["scene"], &run["steps"], &run["faults"]), (&"stack".into(), &20.into(), &0.into()));
    assert_eq!(run["counts"], serde_json::json!({"rigid": 21, "nodes": 0, "faces": 0, "springs": 0, "tets": 0}));
    // twenty faces with four points and three rows each
    assert_eq!(run["constraints"]["max"], 240);
    assert_eq!(run["constraints"]["by_kind"]["contact"], 240);
    let phases = run["ms"]["by_phase"].as_object().expect("an object");
    assert_eq!(phases.len(), 10);
    for phase in ["intake", "detect", "plan", "cloth", "predict", "assemble", "solve", "advance", "remember", "observe"]
    {
        assert!(phases.contains_key(phase), "{phase}");
    }
    assert!(!run["residual_by_iteration"].as_array().expect("a list").is_empty());
    assert_eq!(run["momentum_error"], Value::Null);
    assert_eq!(run["finite"], true);
    let hash = run["state_hash"].as_str().expect("a string");
    assert!(hash.len() == 16 && u64::from_str_radix(hash, 16).is_ok(), "{hash}");
}

#[test]
fn a_closed_world_has_a_small_momentum_error_and_threads_change_no_bit() {
    let run = |threads| json(&sinew(&["run", "swarm", "--seconds", "1", "--threads", threads, "--json", "-"]));
    let (one, two) = (run("1"), run("2"));
    assert!(one["momentum_error"].as_f64().expect("a number") < 1e-5, "{one}");
    assert_eq!((&one["threads"], &two["threads"]), (&1.into(), &2.into()));
    assert_eq!(one["state_hash"], two["state_hash"]);
}

#[test]
fn run_writes_files() {
    let (object, table) = (Scratch::new("run.json"), Scratch::new("run.csv"));
    let args = ["run", "bullet", "--steps", "7", "--json", object.path(), "--csv", table.path()];
    let output = sinew(&args);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("hash"), "a summary for people as well");
    let run: Value = serde_json::from_slice(&std::fs::read(&object.0).expect("written")).expect("JSON");
    assert_eq!(run["steps"], 7);
    let csv = std::fs::read_to_string(&table.0).expect("written");
    let columns: Vec<usize> = csv.lines().map(|l| l.split(',').count()).collect();
    assert_eq!(columns.len(), 8, "a head and seven steps");
    assert!(columns.iter().all(|n| *n == columns[0]), "{columns:?}");
}

#[test]
fn readings_go_into_the_table_and_a_slip_is_told() {
    let table = Scratch::new("read.csv");
    let args = ["run", "pudding", "--steps", "5", "--csv", table.path(), "--read", "energy.total,pudding.center.y"];
    let output = sinew(&args);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let csv = std::fs::read_to_string(&table.0).expect("written");
    assert_eq!(csv.lines().next(), Some("tick,time_s,energy.total,pudding.center.y"));
    assert_eq!(csv.lines().count(), 6);
    let output = sinew(&["run", "pudding", "--steps", "5", "--csv", table.path(), "--read", "puding.center.y"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("did you mean 'pudding.center'?"), "{}", stderr(&output));
}

#[test]
fn frames_are_written_for_other_programs() {
    for (format, files) in [("vtk", 4), ("obj", 3), ("gltf", 1)] {
        let folder = Scratch::new(&format!("frames-{format}"));
        let args = ["run", "dent", "--steps", "10", "--export", folder.path(), "--format", format, "--every", "5"];
        let output = sinew(&args);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let entries = std::fs::read_dir(&folder.0).expect("made");
        let names: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
        assert_eq!(names.len(), files, "{names:?}");
        // ball and block come back, by our own readers
        for path in names.iter().filter(|p| p.extension().is_some_and(|e| e != "pvd")) {
            let output = sinew(&["mesh", "info", path.to_str().expect("a plain path")]);
            assert_eq!(code(&output), 0, "{}", stderr(&output));
        }
        std::fs::remove_dir_all(&folder.0).expect("removed");
    }
}

#[test]
fn a_picture_is_drawn_at_a_time() {
    let picture = Scratch::new("dent.png");
    let output = sinew(&["render", "dent", "-o", picture.path(), "--at", "0.1", "--size", "32x20"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let bytes = std::fs::read(&picture.0).expect("written");
    assert_eq!((&bytes[1..4], bytes[19], bytes[23]), (&b"PNG"[..], 32, 20));
    assert_eq!(code(&sinew(&["render", "dent", "-o", picture.path(), "--size", "0x20"])), 2);
    assert_eq!(code(&sinew(&["render", "dent", "-o", "/no/such/folder/x.png"])), 2);
}

#[test]
fn bad_use_exits_with_2_and_a_hint() {
    for (args, hint) in [
        (&["run", "stak"][..], "did you mean 'stack'?"),
        (&["run", "elephant"], "built-in scenes: jelly, cloth"),
        (&["run", "mine.toml"], "'mine.toml' does not exist"),
        (&["check"], "SCENE"),
        (&["run", "stack", "--set", "settings.substep=8"], "did you mean 'substeps'?"),
        (&["run", "stack", "--set", "substeps=8"], "did you mean 'settings.substeps'?"),
        (&["run", "stack", "--set", "settings.nonsense=8"], "unknown key 'nonsense'"),
        (&["run", "stack", "--set", "settings.substeps=x"], "expected a whole number from 1 to 1000"),
        (&["run", "stack", "--set", "settings.dt=-1"], "settings.dt: expected a number from"),
        (&["run", "stack", "--set", "settings.dt"], "PATH=VALUE"),
        (&["run", "stack", "--threads", "0"], "settings.threads"),
        (&["run", "stack", "--seconds", "1", "--steps", "1"], "cannot be used with"),
        (&["run", "stack", "--seconds", "nan"], "above 0"),
        (&["run", "stack", "--steps", "1", "--json", "/no/such/place.json"], "/no/such/place.json"),
        (&["validate", "R9x"], "unknown case"),
        (&["validate", "E28", "--model", "sprongs"], "springs"),
        (&["bench", "pyramyd"], "did you mean 'pyramid'?"),
        (&["replay", "/no/such/file"], "/no/such/file"),
        (&["soak", "stack"], "--minutes"),
        (&["view", "stacks"], "stack"),
        (&["friction", "lugree"], "lugre"),
        (&["rum"], "run"),
    ] {
        let output = sinew(args);
        assert_eq!(code(&output), 2, "{args:?}");
        assert!(stderr(&output).contains(hint), "{args:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn a_world_that_is_written_down_goes_on_with_the_same_bits() {
    let folder = std::env::temp_dir().join(format!("sinew-write-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (scene, ending) in [("stack", "toml"), ("pudding", "json"), ("domino", "toml")] {
        let file = folder.join(format!("{scene}.{ending}")).to_str().unwrap().to_owned();
        let hash = |args: &[&str]| json(&sinew(args))["state_hash"].clone();
        hash(&["run", scene, "--steps", "25", "--json", "-", "--write", &file]);
        let onwards = hash(&["run", &file, "--steps", "15", "--json", "-"]);
        assert_eq!(onwards, hash(&["run", scene, "--steps", "40", "--json", "-"]), "{scene}");
    }
    let output = sinew(&["run", "stack", "--steps", "1", "--write", "stack.txt"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("ends in .toml or .json"), "{}", stderr(&output));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A file of the gallery.
fn scene_file(name: &str) -> String {
    format!("{}/../../scenes/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn check_reads_every_scene_of_the_gallery() {
    let folder = std::fs::read_dir(scene_file("")).expect("scenes/");
    let files: Vec<String> = folder.map(|e| e.expect("an entry").path().display().to_string()).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).filter(|f| f.ends_with(".toml")).collect();
    let output = sinew(&[&["check"][..], &files].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let message = stdout(&output);
    assert_eq!(message.lines().filter(|l| l.starts_with("ok: ")).count(), files.len(), "{message}");
    assert!(message.contains("pudding.toml: 3 bodies (2 rigid), 567 nodes, 0 joints"), "{message}");
    assert_eq!(code(&sinew(&["check", "stack"])), 0);
}

#[test]
fn check_tells_all_faults_with_their_lines() {
    let broken = Scratch::new("broken.toml");
    std::fs::write(&broken.0, "[settings]\nsubstep = 8\n[bodies.ball]\nkind = 'dynamc'\n").expect("written");
    let output = sinew(&["check", broken.path()]);
    assert_eq!(code(&output), 2);
    let message = stderr(&output);
    for part in [
        "broken.toml:2:1: settings.substep: ",
        "did you mean 'substeps'?",
        " 2 | substep = 8\n   | ^^^^^^^\n",
        "2 errors",
    ] {
        assert!(message.contains(part), "{message}");
    }
    let schema: Value = serde_json::from_slice(&sinew(&["check", "--schema"]).stdout).expect("JSON");
    assert!(schema["$defs"]["shape"].is_object());
}

#[test]
fn a_scene_file_runs_like_the_scene_it_is_and_takes_changes() {
    let pudding = scene_file("pudding.toml");
    let [file, built_in] = [&pudding, "pudding"]
        .map(|scene| json(&sinew(&["run", scene, "--steps", "40", "--json", "-"]))["state_hash"].clone());
    assert_eq!(file, built_in);
    let run = |set: &str| {
        json(&sinew(&["run", &pudding, "--steps", "40", "--json", "-", "--set", set]))["state_hash"].clone()
    };
    assert_ne!(run("bodies.chocolate.mass=0.3"), file);
    assert_ne!(run("settings.gravity=[0,-1.6,0]"), file);
    assert_ne!(run("parameters.stiffness=2e4"), file);
}

#[test]
fn old_words_are_read_with_a_warning_on_stderr() {
    let file = Scratch::new("old.toml");
    let ball = "[bodies.ball]\nkind = 'dynamic'\nshape = { kind = 'ball', radius = 0.1 }\n";
    std::fs::write(&file.0, format!("[settings]\nput_back = true\n{ball}")).expect("written");
    let path = file.path();
    let of_file = format!("warning: {path}:2:1: settings.put_back: 'put_back' is now 'stop_at_impact'");
    let of_set = "warning: --set:1:10: settings.guaranteed: 'guaranteed' is now 'intersection_free'";
    let of_word = "warning: --set:1:16: settings.order: 'joint' is now 'interleaved'";
    let sets = ["--set", "settings.guaranteed=true", "--set", "settings.order=joint"];
    let checked = sinew(&[&["check", path], &sets[..]].concat());
    let ran = sinew(&[&["run", path, "--steps", "2", "--json", "-"], &sets[..]].concat());
    let present = ["--set", "settings.intersection_free=true", "--set", "settings.order=interleaved"];
    let now = sinew(&[&["run", path, "--steps", "2", "--json", "-"], &present[..]].concat());
    for output in [&checked, &ran] {
        assert_eq!(code(output), 0, "{}", stderr(output));
        for warning in [of_file.as_str(), of_set, of_word] {
            assert!(stderr(output).contains(warning), "{}", stderr(output));
        }
        assert!(!stdout(output).contains("warning"));
    }
    assert_eq!(json(&ran)["state_hash"], json(&now)["state_hash"]);
    // a built-in scene takes the same changes
    assert!(stderr(&sinew(&[&["check", "stack"], &sets[..]].concat())).contains(of_set));
    let both =
        sinew(&["check", "stack", "--set", "settings.guaranteed=true", "--set", "settings.intersection_free=true"]);
    assert_eq!(code(&both), 2);
    assert!(stderr(&both).contains("'guaranteed' is now 'intersection_free', and both are given"), "{}", stderr(&both));
}

#[test]
fn set_changes_the_settings() {
    let sets = ["--set", "settings.substeps=2", "--set", "settings.gravity.y=0"];
    let run = json(&sinew(&[&["run", "bullet", "--steps", "3", "--json", "-"][..], &sets].concat()));
    assert_eq!((&run["substeps"], &run["energy"]["gravity"]), (&2.into(), &0.0.into()));
}

#[test]
fn a_recording_replays_and_a_tampered_one_does_not() {
    let file = Scratch::new("domino.sinew");
    let output = sinew(&["run", "domino", "--steps", "130", "--record", file.path()]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let output = sinew(&["replay", file.path(), "--threads", "2"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("130 of 130 steps match"), "{}", stdout(&output));

    let whole = std::fs::read(&file.0).expect("recorded");
    let mut bytes = whole.clone();
    bytes[whole.len() / 2] ^= 1;
    std::fs::write(&file.0, bytes).expect("writable");
    let output = sinew(&["replay", file.path()]);
    assert_eq!(code(&output), 2, "{}", stdout(&output));
    assert!(stderr(&output).contains("damaged"), "{}", stderr(&output));

    // cut off: what is there matches, but it is not all
    std::fs::write(&file.0, &whole[..whole.len() - 40]).expect("writable");
    let output = sinew(&["replay", file.path()]);
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("cut off"), "{}", stderr(&output));
}

#[test]
fn a_recording_that_lies_diverges() {
    // a force that is not recorded
    let scene = sinew_scene::gallery::find("stack").expect("a scene");
    let mut world = (scene.build)().expect("it builds");
    let mut recorder = sinew_wire::Recorder::new(&world).expect("it can be recorded");
    let top = world.bodies().last().expect("a box").id();
    for tick in 0..10 {
        let push = if tick == 4 { [1.0, 0.0, 0.0] } else { [0.0; 3] };
        world.step(&sinew::Input::none().force(top, push));
        recorder.record(&sinew::Input::none().force(top, [0.0; 3]), &world).expect("recorded");
    }
    let file = Scratch::new("lie.sinew");
    std::fs::write(&file.0, recorder.finish()).expect("writable");
    let output = sinew(&["replay", file.path()]);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert!(stderr(&output).contains("diverged at tick 5"), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("4 of 10 steps match"), "{}", stdout(&output));
}

#[test]
fn validate_runs_one_case() {
    let rows = json(&sinew(&["validate", "R02", "--json", "-"]));
    let rows = rows.as_array().expect("a list");
    assert!(!rows.is_empty());
    for field in ["id", "group", "model", "quantity", "measured", "expected", "error", "tolerance", "pass", "known"] {
        assert!(rows[0].get(field).is_some(), "{field}");
    }
    assert!(rows.iter().all(|r| r["id"] == "R02" && r["pass"] == true), "{rows:?}");
    let output = sinew(&["validate", "r02", "--markdown"]);
    assert_eq!(code(&output), 0);
    assert!(stdout(&output).starts_with("| id | model | quantity |"), "{}", stdout(&output));
}

#[test]
fn validate_runs_the_cases_of_one_model() {
    let rows = json(&sinew(&["validate", "E28", "--model", "Springs", "--json", "-"]));
    let rows = rows.as_array().expect("a list");
    assert!(!rows.is_empty());
    assert!(rows.iter().all(|r| r["id"] == "E28" && r["model"] == "springs"), "{rows:?}");
}

#[test]
fn bench_gives_a_run_for_each_number_of_threads() {
    let runs = json(&sinew(&["bench", "stack", "--steps", "10", "--json", "-"]));
    let runs = runs.as_array().expect("a list");
    let variants: Vec<&str> = runs.iter().filter_map(|r| r["variant"].as_str()).collect();
    assert_eq!(variants, ["1 thread", "2 threads"]);
    assert_eq!(runs[0]["state_hash"], runs[1]["state_hash"]);
    assert!(stdout(&sinew(&["bench", "stack", "--steps", "10"])).contains("median"));
}

#[test]
fn bench_models_gives_a_run_for_each_model_and_resolution() {
    let runs = json(&sinew(&["bench", "models", "--steps", "2", "--json", "-"]));
    let runs = runs.as_array().expect("a list");
    let mut variants: Vec<&str> = runs.iter().map(|r| r["variant"].as_str().expect("a name")).collect();
    for family in ["corotational", "solid", "membrane", "springs", "pbd", "shape matching", "meshless"] {
        assert!(variants.iter().any(|v| v.contains(family)), "{family}: {variants:?}");
    }
    assert!(runs.chunks(2).all(|pair| pair.len() == 2 && pair[0]["model"] == pair[1]["model"]), "{variants:?}");
    variants.sort_unstable();
    variants.dedup();
    assert_eq!(variants.len(), runs.len(), "a variant is there twice");
    let fields = "scene steps dt substeps threads counts constraints ms residual_by_iteration penetration_max stretch_max \
                  momentum_error energy faults finite state_hash model form cells elements h method elongation deflection";
    for run in runs {
        let missing: Vec<&str> = fields.split_whitespace().filter(|f| run.get(f).is_none()).collect();
        assert!(missing.is_empty(), "{}: {missing:?}", run["variant"]);
        assert_eq!((&run["finite"], &run["faults"]), (&true.into(), &0.into()), "{}", run["variant"]);
        // two steps are not enough for any model, and this is reported
        assert_eq!(run["elongation"]["settled"], false, "{}", run["variant"]);
    }
    let table = stdout(&sinew(&["bench", "models", "--steps", "1", "--markdown"]));
    assert_eq!(table.lines().filter(|l| l.starts_with("| ")).count(), runs.len() + 1, "{table}");
}

#[test]
fn soak_checks_saving_while_it_runs() {
    // the wheel gets new bodies on the way; 650 steps are more than one round
    let soaked = json(&sinew(&["soak", "wheel", "--steps", "650", "--json", "-"]));
    assert_eq!((&soaked["steps"], &soaked["rounds"], &soaked["checks"]), (&650.into(), &1.into(), &7.into()));
    assert_eq!(soaked["failed"], serde_json::json!([]));
}

#[test]
fn soak_counts_requests_for_memory_once_a_round_is_warm() {
    let soaked = json(&sinew(&["soak", "stack", "--steps", "650", "--steady", "--json", "-"]));
    assert_eq!((&soaked["allocations"]["count"], &soaked["allocations"]["first"]), (&0.into(), &Value::Null));
    assert!(soaked["allocations"]["steps"].as_u64().is_some_and(|n| n >= 250), "{soaked}");
    // bodies that come in on the way need room
    let busy = sinew(&["soak", "wheel", "--steps", "650", "--steady"]);
    assert_eq!(code(&busy), 1);
    assert!(stderr(&busy).contains("requests for memory"), "{}", stderr(&busy));
    // a run that never comes to the second half of a round has seen nothing
    assert_eq!(code(&sinew(&["soak", "stack", "--steps", "10", "--steady"])), 1);
}

#[test]
fn validate_draws_the_telling_cases() {
    let folder = Scratch::new("plots");
    let done = sinew(&["validate", "R08", "--plots", folder.path()]);
    assert_eq!(code(&done), 0);
    for name in ["readings", "slope", "bounce", "catenary", "tumbling", "hanging-bar"] {
        let svg = std::fs::read_to_string(folder.0.join(format!("{name}.svg"))).expect(name);
        assert!(svg.starts_with("<svg") && svg.contains("<path") && svg.len() < 40_000, "{name}");
    }
    _ = std::fs::remove_dir_all(&folder.0);
}

#[test]
fn soak_injects_bad_numbers_and_the_world_goes_on_with_the_same_bits() {
    let words = ["soak", "wheel", "--steps", "650", "--faults", "0.3", "--seed", "5", "--json", "-"];
    let soaked = json(&sinew(&words));
    assert_eq!(soaked["failed"], serde_json::json!([]));
    for door in ["commands", "states"] {
        let count = soaked["injected"][door].as_u64().expect(door);
        assert!((100..300).contains(&count), "{door}: {count}");
    }
    assert_eq!(json(&sinew(&words))["injected"], soaked["injected"], "the same seed, the same faults");
    assert_eq!(code(&sinew(&["soak", "wheel", "--steps", "1", "--faults", "2"])), 2);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    for args in [&["scenes"][..], &["run", "stack", "--steps", "5", "--json", "-"], &["--help"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sinew"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(code(&output), 0, "{args:?}: {}", stderr(&output));
        assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
    }
}

#[test]
fn a_built_in_scene_runs_with_another_friction_law() {
    let run = |law: &str| sinew(&["run", "stick-slip", "--steps", "5", "--set", &format!("parameters.law={law}")]);
    assert_eq!(code(&run("elasto-plastic")), 0, "{}", stderr(&run("elasto-plastic")));
    let refused = run("dhal");
    assert!(code(&refused) != 0 && stderr(&refused).contains("laws are coulomb"), "{}", stderr(&refused));
}

#[test]
fn the_friction_bench_plots_a_law() {
    let folder = std::env::temp_dir().join(format!("sinew-friction-{}", std::process::id()));
    let output = sinew(&["friction", "elasto-plastic", "--out", folder.to_str().expect("a plain path")]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("written");
    for what in ["velocity", "displacement", "place", "speed", "force"] {
        let svg = read(&format!("elasto-plastic-{what}.svg"));
        assert!(svg.contains("<path") && !svg.contains("NaN"), "{what}");
    }
    // held in the end: the last second has the same place to 10 nm
    let run = read("elasto-plastic-run.csv");
    let x = |line: &str| line.split(',').nth(2).and_then(|x| x.parse::<f64>().ok()).expect("a number");
    let lines: Vec<&str> = run.lines().skip(1).collect();
    assert!((x(lines[lines.len() - 1]) - x(lines[lines.len() - 1001])).abs() < 1e-8);
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_run_cleanly_and_everything_is_written() {
    let (object, tape) = (Scratch::new("stop.json"), Scratch::new("stop.sinew"));
    let args = ["run", "swarm", "--seconds", "100000", "--json", object.path(), "--record", tape.path()];
    let child = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    // when the recording grows the run is under way, and so is the handler
    let grown = || {
        let name = tape.0.file_name().and_then(|n| n.to_str()).expect("a plain name");
        let all = std::fs::read_dir(tape.0.parent().expect("a folder")).expect("the folder").flatten();
        let mut parts = all.filter(|e| e.file_name().to_str().is_some_and(|n| n.starts_with(name)));
        parts.next().and_then(|e| e.metadata().ok()).map_or(0, |m| m.len())
    };
    while grown() < 100_000 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stderr(&output).contains("stopped after"), "{}", stderr(&output));
    let run: Value = serde_json::from_slice(&std::fs::read(&object.0).expect("written")).expect("JSON");
    let steps = run["steps"].as_u64().expect("a count");
    let output = sinew(&["replay", tape.path()]);
    assert!(stdout(&output).starts_with(&format!("{steps} of {steps} steps match")), "{}", stdout(&output));
    assert_eq!(code(&output), 0, "{}", stderr(&output));
}

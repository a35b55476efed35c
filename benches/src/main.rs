//! Sinew and other engines on the same scenes, in one process and on one machine.

#![forbid(unsafe_code)]

mod cloth;
mod rapier_half;
mod rope;
mod rows;
mod s4;
mod s6;
mod soft;

use sinew_peers::boxes::{self, Build, Run};
use sinew_peers::{median, quantile};
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str =
    "usage: sinew-benches s1|s2|s3|s4|s5|s6|s7|rows [--steps N] [--threads N] [--substeps N] [--tolerance X] [--starts N] [--own 0|1] [--pick TEXT] [--baseline PATH] [--peers DIR --python PATH]

  s1               a cloth of 12,598 rows over a ball, fixed, free and momentum, 4 s at 20 ms
  s2               four soft cylinders and a box between them, 5 s at 20 ms
  s3               a rope of 50 nodes over a hinged wheel, 2 kg and 1 kg at its ends, 0.8 s at 20 ms and at 1/240 s
  s4               144,423 springs between shuffled nodes: forces and integration of a step
  s5               rigid boxes: pyramid of 1035, pile of 1024, stack of 20
  s6               soft cantilever of 15,066 tetrahedra to 8 s, at 20 ms and at 1 ms, and its kernels
  s7               a soft cylinder falls across another, coarse and fine, 2 s at 20 ms
  rows             one row in one sweep, scalar and in lanes (--steps: repeats)
  --steps N        steps a scene or round (default 600)
  --threads N      threads (default 1; more than one in s5 need `--features parallel`)
  --substeps N     s1, s3: substeps of a step (default s1: 18, of the irregular mesh 24; s3: 10 and 4 for springs, 96 and 20 for strands)
  --tolerance X    s2, s7: tolerance of the CG (default 0.01)
  --starts N       s1: worst of so many starts, up to 5 mm beside each other (default 1)
  --own 1          s1: the cloth touches itself (default 0)
  --pick TEXT      s1: only scenes whose name has this in it
  --baseline PATH  s4: the peers' plain C++ loops, run in turn with ours
  --peers DIR      s6: folder of the peers' benchmarks; MuJoCo then runs in turn with us
  --python P       s6: a Python that has mujoco (default python3)";

/// The benchmark to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bench {
    S1,
    S2,
    S3,
    S4,
    S5,
    S6,
    S7,
    Rows,
}

/// Parsed command line.
#[derive(Debug, PartialEq)]
struct Options {
    bench: Bench,
    steps: Option<usize>,
    substeps: Option<u32>,
    tolerance: Option<f32>,
    pick: String,
    starts: u32,
    own: bool,
    threads: usize,
    baseline: Option<String>,
    peers: Option<PathBuf>,
    python: PathBuf,
}

impl Options {
    fn steps(&self) -> usize {
        self.steps.unwrap_or(600)
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match parse(&args) {
        Ok(options) => match options.bench {
            Bench::S1 => cloth::s1(options.substeps, options.steps, &options.pick, (options.starts, options.own)),
            Bench::S2 => soft::s2(options.tolerance),
            Bench::S3 => rope::s3(options.substeps),
            Bench::S7 => soft::s7(options.tolerance),
            Bench::S4 => s4::run(options.steps(), options.threads, options.baseline.as_deref()),
            Bench::S5 => s5(&options),
            Bench::Rows => rows::run(options.steps()),
            Bench::S6 => s6::run(options.peers.as_deref().map(|peers| (options.python.as_path(), peers))),
        },
        Err(message) => {
            eprintln!("sinew-benches: {message}\n{USAGE}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn parse(args: &[String]) -> Result<Options, String> {
    let (name, rest) = args.split_first().ok_or("which benchmark?")?;
    let bench = match name.as_str() {
        "s1" => Bench::S1,
        "s2" => Bench::S2,
        "s3" => Bench::S3,
        "s4" => Bench::S4,
        "s5" => Bench::S5,
        "s6" => Bench::S6,
        "s7" => Bench::S7,
        "rows" => Bench::Rows,
        other => return Err(format!("there is no benchmark `{other}`")),
    };
    let python = PathBuf::from("python3");
    let mut options = Options {
        bench,
        steps: None,
        substeps: None,
        tolerance: None,
        pick: String::new(),
        starts: 1,
        own: false,
        threads: 1,
        baseline: None,
        peers: None,
        python,
    };
    for pair in rest.chunks(2) {
        let text = pair.get(1);
        let path = text.map(PathBuf::from).ok_or_else(|| format!("`{}` needs a path", pair[0]));
        if pair[0] == "--baseline" {
            options.baseline = Some(path?.display().to_string());
            continue;
        }
        if pair[0] == "--pick" {
            options.pick = text.ok_or("`--pick` needs a text")?.clone();
            continue;
        }
        if pair[0] == "--tolerance" {
            let value = text.and_then(|text| text.parse().ok()).filter(|t| *t > 0.0 && *t < 1.0);
            options.tolerance = Some(value.ok_or("`--tolerance` needs a number between 0 and 1")?);
            continue;
        }
        let value = text.and_then(|text| text.parse().ok()).filter(|&n: &usize| n > 0);
        let value = value.ok_or_else(|| format!("`{}` needs a positive number", pair[0]));
        match pair[0].as_str() {
            "--steps" => options.steps = Some(value?),
            "--substeps" => options.substeps = Some(value? as u32),
            "--starts" => options.starts = value? as u32,
            "--own" => options.own = value? > 0,
            "--threads" => options.threads = value?,
            "--peers" => options.peers = Some(path?),
            "--python" => options.python = path?,
            other => return Err(format!("unknown option `{other}`")),
        }
    }
    if options.threads > 1 && bench == Bench::S5 && !cfg!(feature = "parallel") {
        return Err("more than one thread needs a build with `--features parallel`".to_string());
    }
    Ok(options)
}

fn s5(options: &Options) {
    println!("S5, {} steps of 1/60 s, {} thread(s)", options.steps(), options.threads);
    println!(
        "{:<16} {:<12} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10} {:>9}",
        "engine", "scene", "median ms", "p99 ms", "mean ms", "drift m", "top m", "kinetic J", "contacts"
    );
    for scene in Build::ALL {
        let (sinew, rapier) = race(scene, options);
        print_row("sinew", &sinew);
        print_row("rapier3d 0.36.1", &rapier);
        println!("{:<16} {:<12} {:>9.2} x", "sinew / rapier", scene.name(), median(&sinew.ms) / median(&rapier.ms));
    }
}

/// Both engines step alternately, so that a slow phase of the machine affects both.
fn race(scene: Build, options: &Options) -> (Run, Run) {
    let mut sinew = boxes::World::new(scene, options.threads);
    let mut rapier = rapier_half::World::new(scene, options.threads);
    let (mut sinew_ms, mut rapier_ms) = (Vec::new(), Vec::new());
    for _ in 0..options.steps() {
        sinew_ms.push(sinew.step());
        rapier_ms.push(rapier.step());
    }
    (sinew.finish(sinew_ms), rapier.finish(rapier_ms))
}

fn print_row(engine: &str, run: &Run) {
    let mut sorted = run.ms.clone();
    sorted.sort_by(f64::total_cmp);
    let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
    println!(
        "{engine:<16} {:<12} {:>9.3} {:>9.3} {mean:>9.3} {:>9.3} {:>9.3} {:>10.4} {:>9}",
        run.name,
        quantile(&sorted, 0.5),
        quantile(&sorted, 0.99),
        run.drift,
        run.top,
        run.kinetic,
        run.contacts
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options, String> {
        parse(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn the_command_line_is_parsed_or_refused_with_the_offending_argument() {
        let plain = parsed("s5").unwrap();
        assert_eq!((plain.bench, plain.steps(), plain.threads, &plain.peers), (Bench::S5, 600, 1, &None));
        assert_eq!(parsed("s5 --steps 7"), Ok(Options { steps: Some(7), ..plain }));
        let springs = parsed("s4 --baseline b --threads 2").unwrap();
        assert_eq!((springs.bench, springs.threads, springs.baseline.as_deref()), (Bench::S4, 2, Some("b")));
        assert!(parsed("s4 --baseline").unwrap_err().contains("--baseline"));
        let peers = parsed("s6 --peers there").unwrap();
        assert_eq!((peers.bench, peers.peers), (Bench::S6, Some(PathBuf::from("there"))));
        assert!(parsed("s6 --peers").unwrap_err().contains("--peers"));
        assert!(parsed("s9").unwrap_err().contains("s9"));
        assert!(parsed("s5 --steps x").unwrap_err().contains("--steps"));
        assert!(parsed("s5 --steps").unwrap_err().contains("--steps"));
        assert!(parsed("s5 --colour 3").unwrap_err().contains("--colour"));
    }
}

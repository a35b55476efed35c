//! `sinew run`: a scene from start to end, with a summary, JSON, CSV and a recording.

use crate::failure::Failure;
use crate::measure::Summary;
use crate::output::{Table, Target, ms, number};
use crate::play::{Length, play};
use crate::{interrupt, scenes, settings};
use sinew::{Input, Phase, World};
use sinew_scene::validate::tools::num;
use sinew_wire::Recorder;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// What to run and what to write.
#[derive(clap::Args)]
pub struct Args {
    /// Name of a built-in scene (see `sinew scenes`), or a .toml or .json file
    scene: String,
    #[command(flatten)]
    length: Length,
    /// Worker threads; the result does not depend on it
    #[arg(long, value_name = "N")]
    threads: Option<u32>,
    /// Change a value, as in settings.substeps=8 or, in a file, bodies.ball.mass=2; may be given often
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Write the summary as JSON; `-` is stdout
    #[arg(long, value_name = "FILE|-")]
    json: Option<Target>,
    /// Write one line a step
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Record inputs and hashes, for `sinew replay`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// Runs a scene.
pub fn run(args: &Args) -> Result<(), Failure> {
    let (scene, sets) = scenes::find(&args.scene, &args.set)?;
    let mut world = scene.build()?;
    let mut wanted = world.settings().clone();
    // the JSON has residuals; they cost a few percent, so nobody else pays for them
    wanted.residuals |= args.json.is_some();
    settings::apply(&mut wanted, &sets)?;
    wanted.threads = args.threads.unwrap_or(wanted.threads);
    world.set_settings(wanted)?;
    let steps = args.length.count(&scene, world.settings());

    Target::check(&args.json)?;
    let mut csv = args.csv.as_deref().map(Csv::create).transpose()?;
    let mut tape = args.record.as_deref().map(|path| Tape::create(path, &world)).transpose()?;
    interrupt::install()?;
    let measure = play(&scene, &mut world, steps, |world, input| {
        if let Some(csv) = &mut csv {
            csv.line(world)?;
        }
        if let Some(tape) = &mut tape {
            tape.step(world, input)?;
        }
        Ok(())
    })?;

    if let Some(csv) = csv {
        csv.finish()?;
    }
    if let Some(tape) = tape {
        tape.finish()?;
    }
    let summary = measure.summary(scene.name(), &world);
    if interrupt::requested() {
        eprintln!("sinew: stopped after {} of {steps} steps", summary.steps);
    }
    if let Some(target) = &args.json {
        target.write(&summary)?;
    }
    if !Target::takes_stdout(&args.json) {
        tell(&summary)?;
    }
    Ok(())
}

/// The summary for people.
pub fn tell(s: &Summary) -> Result<(), Failure> {
    let mut table = Table::new(2, ["scene", &s.scene]);
    let mut line = |name: &str, text: String| table.row(vec![name.to_owned(), text]);
    let threads = if s.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", s.threads) };
    line("steps", format!("{} of {} ms, {} substeps, {threads}", s.steps, ms(1e3 * s.dt), s.substeps));
    line("bodies", format!("{} rigid, {} nodes", s.counts.rigid, s.counts.nodes));
    let kinds: Vec<String> = s.constraints.by_kind.iter().map(|(kind, rows)| format!("{rows} {kind}")).collect();
    line("rows", format!("at most {} ({}), mean {:.1}", s.constraints.max, kinds.join(", "), s.constraints.mean));
    let t = &s.ms;
    line("step", format!("median {} ms, mean {}, p99 {}, max {}", ms(t.p50), ms(t.mean), ms(t.p99), ms(t.max)));
    let phases = Phase::ALL.iter().zip(t.by_phase.0).map(|(phase, time)| format!("{} {}", phase.name(), ms(time)));
    line("phases", phases.collect::<Vec<_>>().join(", "));
    line("penetration", format!("at most {} m", number(s.penetration_max)));
    if s.counts.nodes > 0 {
        line("stretch", format!("at most {:.3}%", 100.0 * s.stretch_max));
    }
    if let Some(error) = s.momentum_error {
        line("momentum", format!("changed by {error:.2e} of what there was"));
    }
    let e = &s.energy;
    let energies = [("kinetic", e.kinetic), ("elastic", e.elastic), ("gravity", e.gravity)];
    line("energy", energies.map(|(name, j)| format!("{name} {} J", number(j))).join(", "));
    line("faults", format!("{}{}", s.faults, if s.finite { "" } else { ", and the state is not finite" }));
    line("hash", s.state_hash.clone());
    let mut out = std::io::stdout().lock();
    table.write(&mut out)?;
    out.flush()?;
    Ok(())
}

/// One line a step.
struct Csv {
    path: PathBuf,
    out: BufWriter<File>,
}

impl Csv {
    fn create(path: &Path) -> Result<Self, Failure> {
        let file = File::create(path).map_err(Failure::file(path))?;
        let mut csv = Self { path: path.to_owned(), out: BufWriter::new(file) };
        let head =
            "tick,time_s,contacts,contact_rows,constraint_rows,penetration_m,kinetic_j,gravity_j,awake,asleep,faults";
        let phases: Vec<String> = Phase::ALL.iter().map(|p| format!("{}_ms", p.name())).collect();
        csv.put(&format!("{head},{}\n", phases.join(",")))?;
        Ok(csv)
    }

    fn line(&mut self, world: &World) -> Result<(), Failure> {
        let r = world.report();
        let (c, e) = (&r.counts, &r.energies);
        let mut line = format!("{},{},{},{},{}", r.tick, world.time(), c.contacts, c.contact_rows, c.constraint_rows);
        for x in [r.penetration, e.kinetic, e.gravity] {
            line.push_str(&format!(",{}", num(x)));
        }
        line.push_str(&format!(",{},{},{}", c.awake, c.asleep, r.faults.len()));
        for seconds in r.seconds {
            line.push_str(&format!(",{:.6}", 1e3 * seconds));
        }
        line.push('\n');
        self.put(&line)
    }

    fn put(&mut self, text: &str) -> Result<(), Failure> {
        self.out.write_all(text.as_bytes()).map_err(Failure::file(&self.path))
    }

    fn finish(mut self) -> Result<(), Failure> {
        self.out.flush().map_err(Failure::file(&self.path))
    }
}

/// A recording that grows on disk while the world runs.
struct Tape {
    path: PathBuf,
    out: BufWriter<File>,
    recorder: Recorder,
}

impl Tape {
    fn create(path: &Path, world: &World) -> Result<Self, Failure> {
        let recorder = Recorder::new(world)?;
        let file = File::create(path).map_err(Failure::file(path))?;
        Ok(Self { path: path.to_owned(), out: BufWriter::new(file), recorder })
    }

    fn step(&mut self, world: &World, input: &Input) -> Result<(), Failure> {
        self.recorder.record(input, world)?;
        let bytes = self.recorder.take();
        self.out.write_all(&bytes).map_err(Failure::file(&self.path))
    }

    fn finish(mut self) -> Result<(), Failure> {
        self.out.write_all(&self.recorder.finish()).map_err(Failure::file(&self.path))?;
        self.out.flush().map_err(Failure::file(&self.path))
    }
}

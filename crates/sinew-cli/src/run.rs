//! `sinew run`: a scene from start to end, with a summary, JSON, CSV, a recording and frames.

use crate::export::{Export, Format};
use crate::failure::Failure;
use crate::measure::Summary;
use crate::output::{Json, Table, ms, number};
use crate::place::{Draft, Place, apart};
use crate::play::{Length, play};
use crate::run_csv::Csv;
use crate::screen::{note, screen};
use crate::write_back::WriteBack;
use crate::{advice, interrupt, scenes};
use sinew::{Input, LedgerDetail, Phase, World};
use sinew_scene::AnyScene;
use sinew_scene::reading::readings;
use sinew_wire::Recorder;
use std::io::Write;
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
    /// Write the summary as JSON; `-` is stdout, here and at all other outputs
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
    /// Write one line a step
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Columns of the CSV, as ball.position.y,energy.kinetic,box>floor.force; may be given often
    #[arg(long, value_name = "READING,..", requires = "csv")]
    read: Vec<String>,
    /// Write frames into this folder
    #[arg(long, value_name = "DIR")]
    export: Option<PathBuf>,
    /// Kind of the frames
    #[arg(long, value_enum, default_value = "vtk", requires = "export")]
    format: Format,
    /// Steps from frame to frame
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..), requires = "export")]
    every: u64,
    /// Record inputs and hashes, for `sinew replay`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Balance of energy of each body and of angular momentum in the JSON; costs a few percent
    #[arg(long, requires = "json")]
    ledger: bool,
    /// Write the world at the end as a scene file, .toml or .json; it continues from there with the same bits
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

/// Runs a scene.
pub fn run(args: &Args) -> Result<(), Failure> {
    let (scene, sets) = scenes::find(&args.scene, &args.set)?;
    let mut world = scene.build()?;
    let mut wanted = world.settings().clone();
    // residuals cost a few percent and are computed only for the JSON
    wanted.residuals |= args.json.is_some();
    wanted = scenes::with_sets(&wanted, &sets)?;
    wanted.threads = args.threads.unwrap_or(wanted.threads);
    world.set_settings(wanted)?;
    // the ledger makes a step up to half as long again and is made only for JSON and CSV
    let asked = args.json.is_some() || args.csv.is_some();
    world.set_ledger(match (args.ledger, asked) {
        (true, _) => LedgerDetail::Bodies,
        (false, true) => LedgerDetail::World,
        (false, false) => LedgerDetail::None,
    });
    let steps = args.length.count(&scene, world.settings());

    advice::tell(&scene, &args.scene);
    let mut outputs = Outputs::create(args, scene.name(), &world)?;
    interrupt::install();
    let measure = play(&scene, &mut world, steps, |world, input| {
        outputs.step(world, input);
        Ok(())
    })?;
    let summary = measure.summary(scene.name(), &world);
    if interrupt::requested() {
        note(&format!("sinew: stopped after {} of {steps} steps", summary.steps));
    }
    let quiet = outputs.quiet;
    let written = outputs.finish(&scene, &world, &summary);
    if !quiet {
        tell(&summary)?;
    }
    written
}

/// All outputs. One that fails is dropped and reported; the others continue.
struct Outputs {
    csv: Option<Csv>,
    tape: Option<Tape>,
    export: Option<Export>,
    kept: Option<WriteBack>,
    json: Json,
    /// Stdout belongs to one of them: no summary there.
    quiet: bool,
    failed: usize,
}

impl Outputs {
    /// Opens every place before the first step: what cannot be written is refused while nothing is lost yet.
    fn create(args: &Args, name: &str, world: &World) -> Result<Self, Failure> {
        let columns = readings(&args.read, world)?;
        let open = |path: &Option<PathBuf>| path.as_deref().map(Place::open).transpose();
        let json = Json::open(&args.json)?;
        let kept = args.write.as_deref().map(|path| WriteBack::to(path, Path::new(&args.scene))).transpose()?;
        let (csv, tape) = (open(&args.csv)?, open(&args.record)?);
        let places = [json.place(), kept.as_ref().map(WriteBack::place), csv.as_ref(), tape.as_ref()];
        let places: Vec<&Place> = places.into_iter().flatten().collect();
        let quiet = apart(&places)?;
        let begin = |folder: &Path| Export::create(folder, name, args.format, args.every, world);
        let export = args.export.as_deref().map(begin).transpose()?;
        export.as_ref().map_or(Ok(()), |export| export.apart(&places))?;
        let mut outputs = Self {
            csv: csv.map(|place| Csv::create(place, columns)).transpose()?,
            tape: tape.map(|place| Tape::create(place, world)).transpose()?,
            export,
            kept,
            json,
            quiet,
            failed: 0,
        };
        outputs.add(Csv::head, Tape::start, world);
        Ok(outputs)
    }

    fn step(&mut self, world: &World, input: &Input) {
        self.add(|csv| csv.line(world), |tape| tape.step(world, input), world);
    }

    fn add(
        &mut self,
        line: impl FnOnce(&mut Csv) -> Result<(), Failure>,
        section: impl FnOnce(&mut Tape) -> Result<(), Failure>,
        world: &World,
    ) {
        if let Some(Err(failure)) = self.csv.as_mut().map(line) {
            self.csv = None;
            self.lost(failure);
        }
        if let Some(Err(failure)) = self.tape.as_mut().map(section) {
            self.tape = None;
            self.lost(failure);
        }
        if let Some(Err(failure)) = self.export.as_mut().map(|export| export.step(world)) {
            // the frames that are there keep what stands over them, if there is room for it
            _ = self.export.take().map(Export::finish);
            self.lost(failure);
        }
    }

    /// Reports it at once: a run may take hours.
    fn lost(&mut self, failure: Failure) {
        self.failed += 1;
        if let Failure::Input(message) | Failure::Check(message) = failure {
            note(&format!("sinew: {message}; all else goes on"));
        }
    }

    /// Gives the files their names, also after a run that was stopped.
    fn finish(mut self, scene: &AnyScene, world: &World, summary: &Summary) -> Result<(), Failure> {
        let written = [
            self.csv.take().map(Csv::finish),
            self.tape.take().map(Tape::finish),
            self.export.take().map(Export::finish),
            self.kept.take().map(|kept| kept.write(scene, world)),
            Some(std::mem::take(&mut self.json).write(summary)),
        ];
        written.into_iter().flatten().filter_map(Result::err).for_each(|failure| self.lost(failure));
        match self.failed {
            0 => Ok(()),
            1 => Err(Failure::input("1 output was not written")),
            n => Err(Failure::input(format!("{n} outputs were not written"))),
        }
    }
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
    if s.measures_stretch {
        line("stretch", format!("at most {:.3}%", 100.0 * s.stretch_max));
    }
    if let Some(error) = s.momentum_error {
        line("momentum", format!("changed by {error:.2e} of what there was"));
    }
    let e = &s.energy;
    let energies = [("kinetic", e.kinetic), ("elastic", e.elastic), ("gravity", e.gravity)];
    line("energy", energies.map(|(name, j)| format!("{name} {} J", number(j))).join(", "));
    let share = 100.0 * s.ledger.unexplained_share;
    if s.ledger.turnover > 0.0 {
        line("ledger", format!("{} J; unexplained {share:.1e}% of what was exchanged", s.ledger.list()));
    }
    for grip in s.grips.iter().take(8) {
        let (cm2, kpa) = (1e4 * grip.area, 1e-3 * grip.peak);
        let text = format!("on {}: {:.3} N, {cm2:.2} cm², at most {kpa:.2} kPa", grip.object, grip.normal);
        line(&grip.finger, text);
    }
    line("faults", format!("{}{}", s.faults, if s.finite { "" } else { ", and the state is not finite" }));
    for f in s.frozen.iter().take(8) {
        line("frozen", format!("{} in step {} ({} s, {}): {}", f.body, f.tick, f.time_s, f.phase, f.reason));
    }
    line("hash", s.state_hash.clone());
    let mut out = screen();
    table.write(&mut out)?;
    out.flush()?;
    Ok(())
}

/// A recording that grows on disk while the world runs.
struct Tape {
    out: Draft,
    recorder: Recorder,
}

impl Tape {
    fn create(place: Place, world: &World) -> Result<Self, Failure> {
        let recorder = Recorder::new(world)?;
        Ok(Self { out: place.begin()?, recorder })
    }

    /// Writes the world at the start before the first step: a recording without it cannot be read.
    fn start(&mut self) -> Result<(), Failure> {
        self.out.put(&self.recorder.take())
    }

    fn step(&mut self, world: &World, input: &Input) -> Result<(), Failure> {
        self.recorder.record(input, world)?;
        self.out.put(&self.recorder.take())
    }

    fn finish(mut self) -> Result<(), Failure> {
        self.out.put(&self.recorder.finish())?;
        self.out.finish()
    }
}

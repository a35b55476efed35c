//! `sinew soak`: a scene for long. It is saved, loaded and restored while it runs, started anew at its end, and watched for
//! faults, for memory that grows or is allocated in every step, and for slow steps.

use crate::failure::Failure;
use crate::output::{Json, Table, ms};
use crate::play::{above_zero, progress, step_count};
use crate::screen::screen;
use crate::{TALLY, interrupt, scenes};
use serde::Serialize;
use sinew::{Input, LedgerDetail, World};
use sinew_scene::AnyScene;
use sinew_scene::faults::{Faults, is_finite};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What to run, and for how long.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("length").required(true))]
pub struct Args {
    /// Name of a built-in scene (see `sinew scenes`), or a .toml or .json file
    scene: String,
    /// Wall time [min]
    #[arg(long, value_name = "N", value_parser = above_zero, group = "length")]
    minutes: Option<f64>,
    /// Number of steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), group = "length")]
    steps: Option<u64>,
    /// Worker threads
    #[arg(long, value_name = "N")]
    threads: Option<u32>,
    /// Change a value, as in settings.substeps=8 or, in a file, bodies.ball.mass=2; may be given often
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Probability of a bad number in each step, in a command and in the state: NaN, infinite or 1e30
    #[arg(long, value_name = "RATE", value_parser = share)]
    faults: Option<f64>,
    /// Seed of the faults
    #[arg(long, value_name = "N", default_value_t = 1, requires = "faults")]
    seed: u64,
    /// Fail when a step of the second half of a round allocates memory
    #[arg(long)]
    steady: bool,
    /// Write the outcome as JSON; `-` is stdout
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
}

/// From 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|v| (0.0..=1.0).contains(v));
    value.ok_or_else(|| format!("{text}, a number from 0 to 1 is allowed"))
}

/// Steps between two checks of saving.
const CHECK_EVERY: u64 = 100;
/// Steps that a loaded copy is compared for.
const COPY_STEPS: u32 = 10;
/// Memory may grow by this much after the first round, or by a quarter [bytes].
const MEMORY_SLACK: u64 = 32 << 20;

/// The outcome.
#[derive(Debug, Serialize)]
struct Outcome {
    scene: String,
    steps: u64,
    rounds: u64,
    seconds: f64,
    threads: u32,
    checks: u64,
    failed: Vec<String>,
    faults: u64,
    injected: Injections,
    allocations: Allocations,
    ms: Histogram,
    /// Largest share of the exchanged energy that a round left unexplained (`docs/ledger.md`).
    unexplained_share: f64,
    /// Resident memory after the first round and at its most since [bytes]; `None` where the system does not report it.
    rss_first: Option<u64>,
    rss_max: Option<u64>,
}

/// Faults that were injected.
#[derive(Debug, Default, Serialize)]
struct Injections {
    commands: u64,
    states: u64,
}

/// Requests for memory in steps of the second half of each round: in the first half buffers grow to what the scene needs.
#[derive(Debug, Default, Serialize)]
struct Allocations {
    /// Steps that were counted.
    steps: u64,
    /// Requests in all of them.
    count: u64,
    /// The first step that allocated, for finding the reason.
    first: Option<String>,
}

impl Allocations {
    fn note(&mut self, round: u64, tick: u64, asked: u64) {
        self.steps += 1;
        self.count += asked;
        if asked > 0 && self.first.is_none() {
            self.first = Some(format!("round {round}, tick {tick}"));
        }
    }

    fn per_step(&self) -> f64 {
        self.count as f64 / self.steps.max(1) as f64
    }
}

/// Soaks a scene.
pub fn soak(args: &Args) -> Result<(), Failure> {
    let (scene, sets) = scenes::find(&args.scene, &args.set)?;
    let build = || -> Result<World, Failure> {
        let mut world = scene.build()?;
        let mut wanted = scenes::with_sets(world.settings(), &sets)?;
        wanted.threads = args.threads.unwrap_or(wanted.threads);
        world.set_ledger(LedgerDetail::World);
        world.set_settings(wanted)?;
        Ok(world)
    };
    let world = build()?;
    let json = Json::open(&args.json)?;
    interrupt::install();
    let mut soak = Soak::new(scene.clone(), &world);
    soak.run(world, build, args)?;
    let outcome = soak.finish(args.steady);
    let quiet = json.takes_stdout();
    let written = json.write(&outcome);
    if !quiet {
        tell(&outcome)?;
    }
    written?;
    if outcome.failed.is_empty() { Ok(()) } else { Err(Failure::Check(outcome.failed.join("\n"))) }
}

/// A soak under way.
struct Soak {
    scene: AnyScene,
    outcome: Outcome,
    clock: Instant,
    round_steps: u64,
    /// Hash at the end of the first round: all rounds are the same.
    first_hash: Option<u64>,
    copy: Option<Copy>,
}

/// A world that was saved and loaded, and how long it is still compared.
struct Copy {
    world: World,
    left: u32,
}

impl Soak {
    fn new(scene: AnyScene, world: &World) -> Self {
        let outcome = Outcome {
            scene: scene.name().to_owned(),
            steps: 0,
            rounds: 0,
            seconds: 0.0,
            threads: world.settings().threads,
            checks: 0,
            failed: Vec::new(),
            faults: 0,
            injected: Injections::default(),
            allocations: Allocations::default(),
            ms: Histogram::default(),
            unexplained_share: 0.0,
            rss_first: None,
            rss_max: None,
        };
        let round_steps = step_count(scene.seconds(), world.settings());
        Self { scene, outcome, clock: Instant::now(), round_steps, first_hash: None, copy: None }
    }

    /// Rounds of the scene, one after the other, until steps or minutes are over.
    fn run(
        &mut self,
        mut world: World,
        build: impl Fn() -> Result<World, Failure>,
        args: &Args,
    ) -> Result<(), Failure> {
        let limit = args.minutes.map(|m| Duration::from_secs_f64(60.0 * m));
        let is_over = |soak: &Self| {
            args.steps.is_some_and(|n| soak.outcome.steps >= n) || limit.is_some_and(|l| soak.clock.elapsed() >= l)
        };
        let seconds = limit.map_or(0, |l| l.as_secs());
        let mut faults = args.faults.map(|rate| Faults::new(rate, args.seed));
        let bar = progress(args.steps.unwrap_or(seconds), self.scene.name());
        while !is_over(self) && !interrupt::requested() {
            if world.state().tick >= self.round_steps {
                self.end_round(&world);
                world = build()?;
            }
            if self.outcome.steps.is_multiple_of(CHECK_EVERY) {
                self.begin_check(&world);
                self.note_memory();
                bar.set_position(if args.steps.is_some() {
                    self.outcome.steps
                } else {
                    self.clock.elapsed().as_secs()
                });
            }
            if let Some(Err(why)) = faults.as_mut().map(|f| f.wound(&mut world)) {
                self.fail(&world, &why);
            }
            let input = self.scene.input(&world, world.state().tick);
            self.step(&mut world, &input, faults.as_mut());
            self.follow(&world, &input);
        }
        if let Some(faults) = faults {
            let (commands, states) = (faults.injected.commands, faults.injected.states);
            self.outcome.injected = Injections { commands, states };
        }
        bar.finish_and_clear();
        self.note_ledger(&world);
        if !is_finite(&world) {
            self.fail(&world, "the state is not finite");
        }
        Ok(())
    }

    /// One step on the clock; a bad command among those of the scene must be refused. The copy never hears it.
    fn step(&mut self, world: &mut World, input: &Input, faults: Option<&mut Faults>) {
        let mut said = input.clone();
        let bad = faults.is_some_and(|f| f.speak(world, &mut said));
        let warm = world.state().tick >= self.round_steps / 2;
        let (start, asked) = (Instant::now(), TALLY.count());
        world.step(&said);
        let asked = (TALLY.count() - asked) as u64;
        self.outcome.ms.add(1e3 * start.elapsed().as_secs_f64());
        if warm {
            self.outcome.allocations.note(self.outcome.rounds, world.state().tick, asked);
        }
        self.outcome.steps += 1;
        self.outcome.faults += world.report().faults.len() as u64;
        if bad && !Faults::was_refused(world, &said) {
            self.fail(world, &format!("a bad command was taken: {:?}", said.commands.last()));
        }
    }

    /// Saves the world and loads it; the copy strays and is put back by a snapshot, then follows.
    fn begin_check(&mut self, world: &World) {
        self.outcome.checks += 1;
        match copy_of(world) {
            Ok(copy) if copy.hash() == world.hash() => self.copy = Some(Copy { world: copy, left: COPY_STEPS }),
            Ok(_) => self.fail(world, "a world that was saved, loaded and restored has another hash"),
            Err(e) => self.fail(world, &e),
        }
    }

    /// Makes the same step in the copy; at the end of its time the two must be equal.
    fn follow(&mut self, world: &World, input: &Input) {
        let Some(copy) = &mut self.copy else { return };
        copy.world.step(input);
        copy.left -= 1;
        if copy.left > 0 {
            return;
        }
        let difference = copy.world.state().first_difference(world.state());
        let same = copy.world.hash() == world.hash();
        self.copy = None;
        if !same {
            let column = difference.map_or("the numbering", |(name, _)| name);
            self.fail(world, &format!("a copy went another way within {COPY_STEPS} steps: {column} differs first"));
        }
    }

    /// The same script ends in the same state, each time.
    fn end_round(&mut self, world: &World) {
        self.copy = None;
        self.outcome.rounds += 1;
        self.note_ledger(world);
        let hash = world.hash();
        if *self.first_hash.get_or_insert(hash) != hash {
            self.fail(world, "this round ended in another state than the first one");
        }
    }

    fn note_ledger(&mut self, world: &World) {
        let found = &world.report().ledger;
        if found.turnover > 0.0 {
            let share = found.total.unexplained.abs() / found.turnover;
            self.outcome.unexplained_share = self.outcome.unexplained_share.max(share);
        }
    }

    fn note_memory(&mut self) {
        let Some(rss) = resident() else { return };
        let o = &mut self.outcome;
        // in the first round buffers grow to what the scene needs
        if o.rounds == 0 {
            o.rss_first = o.rss_first.max(Some(rss));
        }
        o.rss_max = o.rss_max.max(Some(rss));
    }

    fn fail(&mut self, world: &World, what: &str) {
        // one line a kind of trouble is enough, and the list must not grow for hours
        if self.outcome.failed.len() < 20 {
            self.outcome.failed.push(format!("round {}, tick {}: {what}", self.outcome.rounds, world.state().tick));
        }
    }

    fn finish(mut self, steady: bool) -> Outcome {
        self.note_memory();
        let o = &mut self.outcome;
        o.seconds = self.clock.elapsed().as_secs_f64();
        if o.faults > 0 {
            o.failed.push(format!("{} bodies were frozen", o.faults));
        }
        match (steady, o.allocations.steps, &o.allocations.first) {
            (true, 0, _) => o.failed.push("no round came to its second half: allocations were not seen".to_owned()),
            (true, _, Some(at)) => o.failed.push(format!("{} requests for memory, {at} first", o.allocations.count)),
            _ => {}
        }
        if let (Some(first), Some(max)) = (o.rss_first, o.rss_max)
            && max - first > MEMORY_SLACK.max(first / 4)
        {
            o.failed.push(format!("memory grew from {} to {}", mib(first), mib(max)));
        }
        self.outcome
    }
}

fn copy_of(world: &World) -> Result<World, String> {
    let reason = |e: sinew_wire::WireError| e.to_string();
    let mut copy = sinew_wire::load(&sinew_wire::save(world).map_err(reason)?).map_err(reason)?;
    let snapshot = sinew_wire::snapshot(world);
    for _ in 0..3 {
        copy.step(&Input::none());
    }
    sinew_wire::restore(&mut copy, &snapshot).map_err(reason)?;
    Ok(copy)
}

/// Resident memory [bytes]: `VmRSS`, which is the second number of `/proc/self/statm` with its unit.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// Step times in bins that are 2% wide: its size does not depend on how long the soak is.
#[derive(Debug)]
struct Histogram {
    bins: Vec<u64>,
    count: u64,
    max: f64,
}

/// Smallest time distinguished from zero [ms], and the ratio of two bins.
const BIN_START: f64 = 1e-4;
const BIN_RATIO: f64 = 1.02;
const BIN_COUNT: usize = 1200;

impl Default for Histogram {
    fn default() -> Self {
        Self { bins: vec![0; BIN_COUNT], count: 0, max: 0.0 }
    }
}

impl Histogram {
    fn add(&mut self, ms: f64) {
        let bin = ((ms / BIN_START).ln() / BIN_RATIO.ln()).clamp(0.0, (BIN_COUNT - 1) as f64);
        self.bins[bin as usize] += 1;
        self.count += 1;
        self.max = self.max.max(ms);
    }

    /// The time that this share of the steps does not pass, to 2% [ms].
    fn percentile(&self, share: f64) -> f64 {
        let rank = (share * self.count as f64).ceil() as u64;
        let mut seen = 0;
        for (i, n) in self.bins.iter().enumerate() {
            seen += n;
            // the last bin has no upper end
            if *n > 0 && seen >= rank && i + 1 < BIN_COUNT {
                return (BIN_START * BIN_RATIO.powi(i as i32 + 1)).min(self.max);
            }
        }
        self.max
    }

    fn figures(&self) -> [(&'static str, f64); 5] {
        let p = |share| self.percentile(share);
        [("p50", p(0.5)), ("p90", p(0.9)), ("p99", p(0.99)), ("p99.9", p(0.999)), ("max", self.max)]
    }
}

impl Serialize for Histogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.figures())
    }
}

fn tell(o: &Outcome) -> Result<(), Failure> {
    let mut table = Table::new(2, ["scene", &o.scene]);
    let mut line = |name: &str, text: String| table.row(vec![name.to_owned(), text]);
    line("steps", format!("{} in {:.1} s, {} whole rounds, threads {}", o.steps, o.seconds, o.rounds, o.threads));
    line("step", o.ms.figures().map(|(name, time)| format!("{name} {} ms", ms(time))).join(", "));
    line("checks", format!("{} of save, load, restore and {COPY_STEPS} steps after it", o.checks));
    let size = |rss: Option<u64>| rss.map_or("unknown".to_owned(), mib);
    line("memory", format!("{} in the first round, at most {}", size(o.rss_first), size(o.rss_max)));
    line("ledger", format!("at most {:.1e} of the exchanged energy of a round unexplained", o.unexplained_share));
    let a = &o.allocations;
    let first = a.first.as_ref().map(|at| format!(", {at} first")).unwrap_or_default();
    line("allocations", format!("{} a step in {} steps of second halves{first}", a.per_step(), a.steps));
    line("faults", format!("{} by themselves", o.faults));
    line("injected", format!("{} bad commands, {} bad states", o.injected.commands, o.injected.states));
    line("outcome", if o.failed.is_empty() { "ok".to_owned() } else { format!("{} failed", o.failed.len()) });
    let mut out = screen();
    table.write(&mut out)?;
    out.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_right_to_two_percent() {
        let mut histogram = Histogram::default();
        for i in 1..=1000 {
            histogram.add(0.01 * f64::from(i));
        }
        for (share, right) in [(0.5, 5.0), (0.99, 9.9), (1.0, 10.0)] {
            let found = histogram.percentile(share);
            assert!((found / right - 1.0).abs() < 0.021, "{share}: {found}");
        }
        assert_eq!(histogram.max, 10.0);
    }

    #[test]
    fn a_rate_is_a_share() {
        assert_eq!(share("0.25"), Ok(0.25));
        for bad in ["-0.1", "1.5", "nan", "often"] {
            assert!(share(bad).is_err_and(|message| message.contains(bad)));
        }
    }

    #[test]
    fn times_beyond_the_bins_are_counted_in_the_last_ones() {
        let mut histogram = Histogram::default();
        histogram.add(0.0);
        histogram.add(1e9);
        assert_eq!(histogram.count, 2);
        assert_eq!(histogram.percentile(1.0), 1e9);
    }
}

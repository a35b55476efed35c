//! `sinew sweep`: one scene with many values, as a table. Results are kept by content: a sweep that was stopped or killed
//! goes on where it was.

use crate::failure::Failure;
use crate::output::{Json, Table, number};
use crate::place::{Place, apart};
use crate::play::{above_zero, progress};
use crate::run_csv::quoted;
use crate::screen::{note, screen};
use crate::{inputs, interrupt, scenes};
use serde::Serialize;
use sinew_scene::AnyScene;
use sinew_scene::escape::escaped_lines;
use sinew_sweep::{Axis, Options, Plan, Row, sweep as run_all};
use std::io::Write;
use std::path::PathBuf;

/// Runs that the table on the screen shows.
const SHOWN: usize = 1000;

/// What to run and what to vary.
#[derive(clap::Args)]
pub struct Args {
    /// Name of a built-in scene, or a .toml or .json file
    scene: String,
    /// Vary a value: n values from a to b as PATH=a:b:n, in equal ratios PATH=a:b:n:log, or a list PATH=v|w|..; given more than once, every value with every other
    #[arg(long, value_name = "PATH=a:b:n", required = true)]
    vary: Vec<Axis>,
    /// What to read at the end of each run, as ball.position.y,energy.kinetic; may be given often
    #[arg(long, value_name = "READING,..")]
    read: Vec<String>,
    /// Change a value of all runs; may be given often
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Simulated time of each run [s]; without it as long as the scene
    #[arg(long, value_name = "S", value_parser = above_zero, conflicts_with = "steps")]
    seconds: Option<f64>,
    /// Steps of each run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
    /// Runs at a time; 0: one for each processor. No result depends on it
    #[arg(long, value_name = "N", default_value_t = 0)]
    jobs: usize,
    /// Folder in which results are kept and found again
    #[arg(long, value_name = "DIR", default_value = ".sinew-sweep")]
    cache: PathBuf,
    /// Keep nothing, and make all runs
    #[arg(long, conflicts_with = "cache")]
    no_cache: bool,
    /// Share of the runs found in the cache that are made again and compared, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share, conflicts_with = "no_cache")]
    verify: f64,
    /// Write the table as JSON; `-` is stdout
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
    /// Write the table as CSV; `-` is stdout
    #[arg(long, value_name = "FILE|-")]
    csv: Option<PathBuf>,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|x| (0.0..=1.0).contains(x));
    share.ok_or_else(|| "give a share from 0 to 1".to_owned())
}

/// The table in JSON: the fields are a contract.
#[derive(Serialize)]
struct Summary<'a> {
    scene: &'a str,
    steps: u64,
    vary: Vec<&'a str>,
    read: &'a [String],
    runs: Vec<Run<'a>>,
}

#[derive(Serialize)]
struct Run<'a> {
    run: usize,
    values: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    readings: Option<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state_hash: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    faults: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// Runs a sweep.
pub fn sweep(args: &Args) -> Result<(), Failure> {
    // deprecated words are told once, and files are noted as inputs
    let (scene, _) = scenes::find(&args.scene, &args.set)?;
    if let AnyScene::File(file) = &scene {
        file.files().iter().for_each(|path| inputs::note(path));
    }
    let mut plan = Plan::new(&args.scene, None, &args.set)?;
    plan.axes.clone_from(&args.vary);
    plan.reads.clone_from(&args.read);
    plan.steps = match (args.steps, args.seconds) {
        (Some(steps), _) => steps,
        (None, Some(seconds)) => plan.steps_of(seconds)?,
        (None, None) => plan.steps,
    };
    let json = Json::open(&args.json)?;
    let csv = args.csv.as_deref().map(Place::open).transpose()?;
    let places: Vec<&Place> = json.place().into_iter().chain(csv.as_ref()).collect();
    let quiet = apart(&places)?;
    let cache = (!args.no_cache).then(|| args.cache.clone());
    let options = Options { jobs: args.jobs, cache, verify: args.verify };
    interrupt::install();
    let bar = progress(plan.runs().unwrap_or(0) as u64, scene.name());
    let table = run_all(&plan, &options, |_| bar.inc(1), interrupt::requested);
    bar.finish_and_clear();
    let table = table.map_err(|e| Failure::input(escaped_lines(&e.to_string()).into_owned()))?;
    let runs = plan.runs().unwrap_or(0);
    if table.rows.len() < runs {
        let kept = if args.no_cache { "" } else { "; the same command goes on from here" };
        return Err(Failure::Stopped(format!("stopped after {} of {runs} runs{kept}", table.rows.len())));
    }
    let axes: Vec<&str> = plan.axes.iter().map(|axis| axis.path.as_str()).collect();
    if let Some(place) = csv {
        place.save(as_csv(&axes, &table.columns, &table.rows).as_bytes())?;
    }
    let summary = Summary {
        scene: scene.name(),
        steps: plan.steps,
        vary: axes.clone(),
        read: &table.columns,
        runs: table.rows.iter().map(Run::of).collect(),
    };
    json.write(&summary)?;
    if !quiet {
        tell(&axes, &table.columns, &table.rows)?;
    }
    verdict(&table)
}

impl<'a> Run<'a> {
    fn of(row: &'a Row) -> Self {
        let done = row.outcome.as_ref().ok();
        Self {
            run: row.run,
            values: &row.values,
            readings: done.map(|d| d.readings.as_slice()),
            state_hash: done.map(|d| d.hash.as_str()),
            faults: done.map(|d| d.faults),
            error: row.outcome.as_ref().err().map(String::as_str),
        }
    }
}

fn as_csv(axes: &[&str], columns: &[String], rows: &[Row]) -> String {
    let head: Vec<String> = axes.iter().copied().chain(columns.iter().map(String::as_str)).map(quoted).collect();
    let mut out = format!("run,{},faults,state_hash,error\n", head.join(","));
    for row in rows {
        let mut cells = vec![row.run.to_string()];
        cells.extend(row.values.iter().map(|value| quoted(value)));
        match &row.outcome {
            Ok(done) => {
                cells.extend(done.readings.iter().map(f64::to_string));
                cells.extend([done.faults.to_string(), done.hash.clone(), String::new()]);
            }
            Err(told) => {
                cells.extend(columns.iter().map(|_| String::new()));
                cells.extend([String::new(), String::new(), quoted(told.lines().next().unwrap_or_default())]);
            }
        }
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    out
}

/// The table for people.
fn tell(axes: &[&str], columns: &[String], rows: &[Row]) -> Result<(), Failure> {
    let head = ["run"].into_iter().chain(axes.iter().copied()).chain(columns.iter().map(String::as_str));
    let mut table = Table::with_head(1, head.chain(["faults", "hash"]).collect());
    for row in rows.iter().take(SHOWN) {
        let mut cells = vec![row.run.to_string()];
        cells.extend(row.values.iter().cloned());
        match &row.outcome {
            Ok(done) => {
                cells.extend(done.readings.iter().map(|x| number(*x)));
                cells.extend([done.faults.to_string(), done.hash.clone()]);
            }
            Err(_) => cells.push("refused".to_owned()),
        }
        table.row(cells);
    }
    let mut out = screen();
    table.write(&mut out)?;
    if rows.len() > SHOWN {
        writeln!(out, "and {} more: --csv or --json have them all", rows.len() - SHOWN)?;
    }
    out.flush()?;
    Ok(())
}

/// Refused values and repetitions that differ are a failure, after the table was written.
fn verdict(table: &sinew_sweep::Table) -> Result<(), Failure> {
    if let Some(run) = table.differing.first() {
        let count = table.differing.len();
        note(&format!("sinew: {count} repeated runs gave another hash than the cache, the first is run {run}"));
    }
    let refused: Vec<(usize, &String)> =
        table.rows.iter().filter_map(|row| Some((row.run, row.outcome.as_ref().err()?))).collect();
    if let Some((run, told)) = refused.first() {
        note(&format!("sinew: {} runs were refused, the first is run {run}:\n{told}", refused.len()));
    }
    if table.differing.is_empty() && refused.is_empty() {
        Ok(())
    } else {
        Err(Failure::Check("not all runs of the sweep were made or confirmed".to_owned()))
    }
}

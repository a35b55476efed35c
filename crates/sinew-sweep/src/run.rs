//! The runs of a plan, on threads.

use crate::cache::Cache;
use crate::{MOST_RUNS, Plan};
use sinew::{Settings, World};
use sinew_scene::AnyScene;
use sinew_scene::open::OpenError;
use sinew_scene::reading::{ReadingError, readings};
use std::fmt;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Steps of the probe in the keys of the cache: a build of the engine that moves otherwise finds no old results.
const PROBE: u64 = 10;

/// How a sweep is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads, one world each; 0: one for each processor.
    pub jobs: usize,
    /// Folder of results that are kept; none: nothing is kept.
    pub cache: Option<PathBuf>,
    /// Share of the cached runs that are made again and compared, from 0 to 1.
    pub verify: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { jobs: 0, cache: None, verify: 0.0 }
    }
}

/// A result.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// Hash of the world at the end, 16 hexadecimal digits.
    pub hash: String,
    /// Faults of all its steps.
    pub faults: u64,
    /// Its readings.
    pub readings: Vec<f64>,
    /// Whether it came from the cache.
    pub cached: bool,
}

/// A line of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Number of the run.
    pub run: usize,
    /// Values of the axes.
    pub values: Vec<String>,
    /// Its result, or why its world was refused.
    pub outcome: Result<Done, String>,
}

/// All runs, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Names of the readings; a vector has three.
    pub columns: Vec<String>,
    /// The runs that were made: all of them unless it was stopped.
    pub rows: Vec<Row>,
    /// Runs whose repetition gave another hash than the cache has.
    pub differing: Vec<usize>,
}

/// Why a sweep was not begun.
#[derive(Debug)]
pub enum SweepError {
    /// The scene cannot be opened with the first values.
    Open(OpenError),
    /// A reading that the scene does not have.
    Reading(ReadingError),
    /// Too many runs.
    Size,
    /// The cache cannot be used.
    Cache(PathBuf, std::io::Error),
}

impl fmt::Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(e) => e.fmt(f),
            Self::Reading(e) => e.fmt(f),
            Self::Size => write!(f, "a sweep has at most {MOST_RUNS} runs: take fewer values"),
            Self::Cache(path, e) => write!(f, "{}: {e}", path.display()),
        }
    }
}

impl std::error::Error for SweepError {}

impl From<OpenError> for SweepError {
    fn from(e: OpenError) -> Self {
        Self::Open(e)
    }
}

/// Makes all runs. `note` is called behind each, in the order in which they end; when `stop` is true no further run is
/// begun, and the table has those that ended.
///
/// # Errors
/// What is wrong with the plan as a whole; a value that the scene refuses is in its row.
pub fn sweep(
    plan: &Plan,
    options: &Options,
    note: impl Fn(&Row) + Sync,
    stop: impl Fn() -> bool + Sync,
) -> Result<Table, SweepError> {
    let count = plan.runs().ok_or(SweepError::Size)?;
    let first = plan.opened(&plan.changes(0))?;
    let mut world = first.world()?;
    let columns: Vec<String> = readings(&plan.reads, &world)
        .map_err(SweepError::Reading)?
        .iter()
        .map(|reading| reading.name().to_owned())
        .collect();
    let cache =
        options.cache.as_ref().map(|folder| Cache::open(folder).map_err(|e| SweepError::Cache(folder.clone(), e)));
    let cache = cache.transpose()?;
    let probe = if cache.is_some() { play(&first.scene, &mut world, plan.steps.min(PROBE)).1 } else { String::new() };
    let (next, rows, differing) = (AtomicUsize::new(0), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let failed: Mutex<Option<std::io::Error>> = Mutex::new(None);
    let work = || {
        while !stop() {
            let run = next.fetch_add(1, Ordering::Relaxed);
            if run >= count {
                break;
            }
            let key = key(plan, run, &probe);
            let found = cache.as_ref().and_then(|cache| cache.find(&key, columns.len()));
            let again = found.is_none() || is_verified(run, options.verify);
            let outcome = match (&found, again.then(|| one(plan, run))) {
                (Some(old), Some(Ok(new))) if old.hash != new.hash => {
                    differing.lock().map(|mut list| list.push(run)).unwrap_or_default();
                    Ok(new)
                }
                (Some(old), _) => Ok(old.clone()),
                (None, Some(made)) => made,
                (None, None) => continue,
            };
            if let (Some(cache), Ok(done)) = (&cache, &outcome)
                && !done.cached
                && let Err(e) = cache.keep(&key, done)
            {
                failed.lock().map(|mut first| first.get_or_insert(e).kind()).map(drop).unwrap_or_default();
                break;
            }
            let row = Row { run, values: plan.values(run).into_iter().map(str::to_owned).collect(), outcome };
            note(&row);
            rows.lock().map(|mut rows| rows.push(row)).unwrap_or_default();
        }
    };
    let jobs = match options.jobs {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        jobs => jobs,
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.min(count) {
            scope.spawn(work);
        }
        work();
    });
    if let (Ok(Some(e)), Some(folder)) = (failed.into_inner(), &options.cache) {
        return Err(SweepError::Cache(folder.clone(), e));
    }
    let mut rows = rows.into_inner().unwrap_or_default();
    rows.sort_by_key(|row| row.run);
    let mut differing = differing.into_inner().unwrap_or_default();
    differing.sort_unstable();
    Ok(Table { columns, rows, differing })
}

/// All that a result depends on.
fn key(plan: &Plan, run: usize, probe: &str) -> String {
    let text = plan.text.as_deref().unwrap_or_default();
    let (version, real) = (env!("CARGO_PKG_VERSION"), size_of::<sinew::Real>());
    let changes = [plan.sets.clone(), plan.changes(run)].concat().join("\n");
    let reads = plan.reads.join(",");
    format!(
        "sinew {version} real {real} probe {probe}\nscene {} {:016x}\n{text}\nsteps {}\n{changes}\nread {reads}",
        plan.scene, plan.content, plan.steps
    )
}

/// Every so many runs one, spread evenly.
fn is_verified(run: usize, share: f64) -> bool {
    (run as f64 * share).floor() != ((run + 1) as f64 * share).floor()
}

/// Makes a run.
fn one(plan: &Plan, run: usize) -> Result<Done, String> {
    let told = |e: &dyn fmt::Display| e.to_string();
    let opened = plan.opened(&plan.changes(run)).map_err(|e| told(&e))?;
    let mut world = opened.world().map_err(|e| told(&e))?;
    // one world a thread: no result depends on it
    world.set_settings(Settings { threads: 1, ..world.settings().clone() }).map_err(|e| told(&e))?;
    let list = readings(&plan.reads, &world).map_err(|e| told(&e))?;
    let (faults, hash) = play(&opened.scene, &mut world, plan.steps);
    Ok(Done { hash, faults, readings: list.iter().map(|r| r.value(&world)).collect(), cached: false })
}

/// Steps a world by its script; faults and hash.
fn play(scene: &AnyScene, world: &mut World, steps: u64) -> (u64, String) {
    let mut faults = 0;
    for _ in 0..steps {
        let input = scene.input(world, world.state().tick);
        faults += world.step(&input).faults.len() as u64;
    }
    (faults, format!("{:016x}", world.hash()))
}

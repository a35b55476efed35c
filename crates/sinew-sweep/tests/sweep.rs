//! Sweeps: physics of a table, one table for any number of threads and interruptions.

use sinew_sweep::{Axis, Options, Plan, Table, sweep};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

type Failure = Box<dyn std::error::Error>;

const FALL: &str = "
[parameters]
g = 9.81
[settings]
gravity = [0, -1, 0]
[bodies.ball]
kind = 'dynamic'
shape = { kind = 'ball', radius = 0.1 }
gravity_scale = '$g'
velocity = [0, 1, 0]
";

fn plan(runs: usize) -> Result<Plan, Failure> {
    let mut plan = Plan::new("fall.toml", Some(FALL.to_owned()), &["settings.substeps=2".to_owned()])?;
    plan.axes.push(format!("parameters.g=1:20:{runs}").parse::<Axis>()?);
    plan.axes.push("bodies.ball.velocity.y=1|2".parse()?);
    plan.reads = vec!["ball.velocity.y,ball.position".to_owned()];
    plan.steps = 12;
    Ok(plan)
}

fn cache(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("sinew-sweep-{name}-{}", std::process::id()));
    _ = std::fs::remove_dir_all(&folder);
    folder
}

fn all(plan: &Plan, options: &Options) -> Result<Table, Failure> {
    Ok(sweep(plan, options, |_| {}, || false)?)
}

/// Without the mark of what came from the cache.
fn bare(mut table: Table) -> Table {
    table.rows.iter_mut().filter_map(|row| row.outcome.as_mut().ok()).for_each(|done| done.cached = false);
    table
}

#[test]
fn every_run_falls_with_its_own_gravity() -> Result<(), Failure> {
    let table = all(&plan(5)?, &Options { jobs: 2, ..Options::default() })?;
    assert_eq!(table.columns, ["ball.velocity.y", "ball.position.x", "ball.position.y", "ball.position.z"]);
    assert_eq!(table.rows.len(), 10);
    for row in &table.rows {
        let (g, v0): (f64, f64) = (row.values[0].parse()?, row.values[1].parse()?);
        let done = row.outcome.as_ref().map_err(String::clone)?;
        assert!((done.readings[0] - (v0 - g * 0.2)).abs() < 1e-5 * g, "{row:?}");
    }
    Ok(())
}

#[test]
fn one_table_for_any_number_of_threads_and_after_three_interruptions() -> Result<(), Failure> {
    let plan = plan(20)?;
    let whole = bare(all(&plan, &Options { jobs: 1, ..Options::default() })?);
    assert_eq!(whole, bare(all(&plan, &Options { jobs: 3, ..Options::default() })?));
    let options = Options { jobs: 2, cache: Some(cache("stopped")), verify: 0.0 };
    for stop in [5, 13, 22] {
        let ended = AtomicUsize::new(0);
        let note = |_: &_| _ = ended.fetch_add(1, Ordering::Relaxed);
        let part = sweep(&plan, &options, note, || ended.load(Ordering::Relaxed) >= stop)?;
        assert!(part.rows.len() >= stop && part.rows.len() < 40);
    }
    let continued = all(&plan, &options)?;
    let cached = continued.rows.iter().filter(|row| row.outcome.as_ref().is_ok_and(|done| done.cached)).count();
    assert!((22..40).contains(&cached), "{cached}");
    assert_eq!(bare(continued), whole);
    Ok(std::fs::remove_dir_all(options.cache.unwrap_or_default())?)
}

#[test]
fn another_scene_or_reading_finds_no_old_result_and_repetition_finds_a_wrong_one() -> Result<(), Failure> {
    let folder = cache("keys");
    let options = Options { jobs: 1, cache: Some(folder.clone()), verify: 0.0 };
    let mut plan = plan(2)?;
    let cached = |table: &Table| table.rows.iter().filter(|r| r.outcome.as_ref().is_ok_and(|d| d.cached)).count();
    assert_eq!(cached(&all(&plan, &options)?), 0);
    assert_eq!(cached(&all(&plan, &options)?), 4);
    let verified = all(&plan, &Options { verify: 1.0, ..options.clone() })?;
    assert_eq!((verified.differing.len(), cached(&verified)), (0, 4));
    plan.steps += 1;
    assert_eq!(cached(&all(&plan, &options)?), 0);
    plan.reads.push("energy.kinetic".to_owned());
    assert_eq!(cached(&all(&plan, &options)?), 0);
    Ok(std::fs::remove_dir_all(folder)?)
}

#[test]
fn refusals_name_the_culprit() -> Result<(), Failure> {
    let mut wrong = plan(2)?;
    wrong.reads.push("bal.position".to_owned());
    let told = all(&wrong, &Options::default()).unwrap_err().to_string();
    assert!(told.contains("did you mean 'ball.position'"), "{told}");
    let mut wrong = plan(2)?;
    wrong.axes.push("parameters.q=1:2:2".parse()?);
    assert!(all(&wrong, &Options::default()).unwrap_err().to_string().contains("parameters.q"));
    // a value that only some runs have: its row tells, the others run
    let mut some = plan(2)?;
    some.axes.push("settings.substeps=2|0".parse()?);
    let table = all(&some, &Options::default())?;
    assert_eq!(table.rows.iter().filter(|row| row.outcome.is_err()).count(), 4);
    assert!(table.rows[1].outcome.as_ref().is_err_and(|told| told.contains("from 1 to 1000")));
    let mut large = plan(100)?;
    (0..4).for_each(|_| large.axes.push(large.axes[0].clone()));
    assert!(all(&large, &Options::default()).unwrap_err().to_string().contains("at most"));
    Ok(())
}

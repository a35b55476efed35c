//! Sweeps: the same code as `sinew sweep`.

use crate::error::{bad, open};
use crate::origin::Origin;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use sinew_sweep::{Axis, Options, Plan, Row, SweepError, sweep as run_all};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs a scene with every combination of values. `vary`: a path and a list of values each, or texts as of `--vary`.
/// Gives the names of the readings and one dict a run.
#[pyfunction]
#[pyo3(signature = (scene, vary, read=vec![], *, seconds=None, steps=None, jobs=0, cache=None, verify=0.0, set=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub fn sweep<'py>(
    py: Python<'py>,
    scene: &Bound<'_, PyAny>,
    vary: &Bound<'_, PyAny>,
    read: Vec<String>,
    seconds: Option<f64>,
    steps: Option<u64>,
    jobs: usize,
    cache: Option<PathBuf>,
    verify: f64,
    set: Option<&Bound<'_, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let Origin { name, text, sets, .. } = Origin::of(scene, set, None)?;
    let mut plan = Plan::new(&name, text, &sets).map_err(open)?;
    plan.axes = axes(vary)?;
    plan.reads = read;
    if let Some(seconds) = seconds {
        if !(seconds.is_finite() && seconds > 0.0) {
            return Err(bad(format!("seconds is {seconds}, but must be a finite number above 0")));
        }
        plan.steps = plan.steps_of(seconds).map_err(open)?;
    }
    plan.steps = steps.unwrap_or(plan.steps);
    if !(0.0..=1.0).contains(&verify) {
        return Err(bad(format!("verify is {verify}, but must be from 0 to 1")));
    }
    let options = Options { jobs, cache, verify };
    let stopped = AtomicBool::new(false);
    // a signal reaches Python's main thread only: it is asked behind every run
    let note = |_: &Row| {
        if Python::attach(|py| py.check_signals()).is_err() {
            stopped.store(true, Ordering::Relaxed);
        }
    };
    let table = py.detach(|| run_all(&plan, &options, note, || stopped.load(Ordering::Relaxed)));
    let table = table.map_err(|e| match e {
        SweepError::Open(e) => open(e),
        e => bad(e.to_string()),
    })?;
    if stopped.load(Ordering::Relaxed) {
        return Err(pyo3::exceptions::PyKeyboardInterrupt::new_err(
            "the sweep was stopped; what ended is in the cache",
        ));
    }
    let mut runs = Vec::new();
    for row in &table.rows {
        let run = PyDict::new(py);
        run.set_item("run", row.run)?;
        run.set_item("values", &row.values)?;
        match &row.outcome {
            Ok(done) => {
                run.set_item("readings", &done.readings)?;
                run.set_item("hash", &done.hash)?;
                run.set_item("faults", done.faults)?;
                run.set_item("cached", done.cached)?;
            }
            Err(told) => run.set_item("error", told)?,
        }
        runs.push(run);
    }
    let out = PyDict::new(py);
    out.set_item("columns", &table.columns)?;
    out.set_item("runs", runs)?;
    out.set_item("differing", &table.differing)?;
    Ok(out)
}

/// `{"path": [values]}`, or texts as of `--vary`.
fn axes(vary: &Bound<'_, PyAny>) -> PyResult<Vec<Axis>> {
    if let Ok(table) = vary.cast::<PyDict>() {
        let axis = |(path, values): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let path: String = path.extract().map_err(|_| bad("paths of vary are words"))?;
            let one = |value: PyResult<Bound<'_, PyAny>>| {
                let set = crate::text::change(&path, &value?)?;
                Ok(set[path.len() + 1..].to_owned())
            };
            let values: Vec<String> = values.try_iter()?.map(one).collect::<PyResult<_>>()?;
            if values.is_empty() {
                return Err(bad(format!("vary: '{path}' has no values")));
            }
            Ok(Axis { path, values })
        };
        return table.iter().map(axis).collect();
    }
    let texts: Vec<String> = match vary.cast::<PyString>() {
        Ok(one) => vec![one.to_cow()?.into_owned()],
        Err(_) => vary.extract().map_err(|_| bad("vary: a dict of paths and values, or texts PATH=a:b:n"))?,
    };
    texts.iter().map(|text| text.parse::<Axis>().map_err(|e| bad(e.to_string()))).collect()
}

//! `sinew bench models`: the same bar under its own weight for every deformable model, its error and its time.

use crate::failure::Failure;
use crate::interrupt;
use crate::measure::{Measure, Summary};
use crate::output::{Table, markdown_row, ms};
use crate::play::progress;
use crate::screen::screen;
use serde::Serialize;
use sinew::{Input, SoftReport};
use sinew_scene::bench_models::{FINENESS, Form, Load, SPECIMENS, Specimen, Test};
use sinew_scene::validate::tools::num;
use std::io::Write;
use std::time::Instant;

/// One model at one resolution, as JSON: a run object and more. The times are those of the last test it did.
#[derive(Serialize)]
pub struct ModelRun {
    #[serde(flatten)]
    summary: Summary,
    /// Model and variant.
    model: &'static str,
    form: &'static str,
    /// Cells along each axis.
    cells: Vec<u32>,
    /// Tetrahedra, triangles or segments.
    elements: usize,
    /// Substep [s].
    h: f64,
    method: &'static str,
    elongation: Answer,
    /// None for strips and ropes.
    deflection: Option<Answer>,
}

/// What a test gave [m].
#[derive(Serialize)]
struct Answer {
    measured: f64,
    expected: f64,
    /// measured/expected − 1; none for models without a modulus.
    error: Option<f64>,
    /// It came to rest within the steps it had.
    settled: bool,
    steps: u64,
}

/// Measures all models; each test ends when the body is still, or after so many steps.
pub fn measure(steps: u64) -> Result<Vec<ModelRun>, Failure> {
    let bar = progress((SPECIMENS.len() * FINENESS.len()) as u64, "models");
    let mut runs = Vec::new();
    for specimen in SPECIMENS {
        for across in FINENESS {
            if interrupt::requested() {
                break;
            }
            runs.push(examine(specimen, across, steps)?);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    Ok(runs)
}

/// Both tests of one specimen.
fn examine(specimen: &Specimen, across: u32, steps: u64) -> Result<ModelRun, Failure> {
    let (mut test, mut measured, elongation) = settle(specimen, across, Load::Hung, steps)?;
    let mut deflection = None;
    if specimen.form == Form::Bar {
        let answer;
        (test, measured, answer) = settle(specimen, across, Load::Across, steps)?;
        deflection = Some(answer);
    }
    let soft = test.integration();
    let cells = specimen.cells(across);
    let form = form_name(specimen.form);
    let variant = format!("{form}: {}, {}", specimen.name, times(&cells));
    let elements = test.elements;
    let mut summary = Summary { variant: Some(variant), ..measured.summary("models", test.world()) };
    // the measured count, not the requested one
    summary.substeps = soft.map_or(summary.substeps, |s| s.substeps);
    summary.counts.tets = if specimen.form == Form::Bar { elements } else { 0 };
    let h = summary.dt / f64::from(summary.substeps.max(1));
    let method = soft.map_or("none", |s| method(&s));
    let model = specimen.name;
    Ok(ModelRun { summary, model, form, cells, elements, h, method, elongation, deflection })
}

/// Steps a body under its load until it is still.
fn settle(specimen: &Specimen, across: u32, load: Load, steps: u64) -> Result<(Test, Measure, Answer), Failure> {
    let mut test = specimen.start(across, load)?;
    let mut measure = Measure::new(test.world());
    let (mut settled, mut done) = (false, 0);
    while !settled && done < steps && !interrupt::requested() {
        let clock = Instant::now();
        test.world().step(&Input::none());
        measure.note(test.world(), &Input::none(), 1e3 * clock.elapsed().as_secs_f64());
        settled = test.is_still()?;
        done += 1;
    }
    let (measured, expected) = (test.reading()?, test.right());
    let error = specimen.elastic.then_some(measured / expected - 1.0);
    Ok((test, measure, Answer { measured, expected, error, settled, steps: done }))
}

fn form_name(form: Form) -> &'static str {
    match form {
        Form::Bar => "bar",
        Form::Strip => "strip",
        Form::Rope => "rope",
    }
}

/// How forces went into the step. Bodies with goals take any step and are solved by sweeps.
fn method(soft: &SoftReport) -> &'static str {
    match (soft.implicit, num(soft.stable_step).is_finite()) {
        (true, true) => "implicit (by itself)",
        (true, false) => "implicit",
        (false, true) => "explicit",
        (false, false) => "goals",
    }
}

fn times(cells: &[u32]) -> String {
    cells.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}

const HEAD: [&str; 12] = [
    "form",
    "model",
    "cells",
    "method",
    "nodes",
    "elements",
    "h, ms",
    "substeps",
    "elongation",
    "deflection",
    "ms a step",
    "still after",
];

/// The table for people, or for a document.
pub fn tell(runs: &[ModelRun], markdown: bool) -> Result<(), Failure> {
    let mut out = screen();
    if markdown {
        writeln!(out, "{}", markdown_row(&HEAD.map(str::to_owned)))?;
        writeln!(out, "{}---:|---:|---:|---:|---:|---:|---:|---:|", "|---".repeat(4) + "|")?;
        for run in runs {
            writeln!(out, "{}", markdown_row(&cells(run)))?;
        }
    } else {
        let mut table = Table::new(4, HEAD);
        runs.iter().for_each(|run| table.row(cells(run).to_vec()));
        table.write(&mut out)?;
    }
    writeln!(out)?;
    writeln!(out, "elongation: error against rho g l^2/2E; deflection: against Timoshenko; minus is too stiff.")?;
    writeln!(out, "ms a step: median, one thread, dt = 1/60 s; still after: steps of the slower test.")?;
    out.flush()?;
    Ok(())
}

fn cells(run: &ModelRun) -> [String; 12] {
    let answers = || std::iter::once(&run.elongation).chain(&run.deflection);
    let still = if answers().all(|a| a.settled) {
        answers().map(|a| a.steps).max().unwrap_or(0).to_string()
    } else {
        "not still".to_owned()
    };
    [
        run.form.to_owned(),
        run.model.to_owned(),
        times(&run.cells),
        run.method.to_owned(),
        run.summary.counts.nodes.to_string(),
        run.elements.to_string(),
        format!("{:.2}", 1e3 * run.h),
        run.summary.substeps.to_string(),
        percent(Some(&run.elongation)),
        percent(run.deflection.as_ref()),
        ms(run.summary.ms.p50),
        still,
    ]
}

fn percent(answer: Option<&Answer>) -> String {
    answer.and_then(|a| a.error).map_or("n/a".to_owned(), |e| format!("{:+.2}%", 1e2 * e))
}

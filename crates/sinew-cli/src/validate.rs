//! `sinew validate`: physics against reference values.

use crate::failure::{Failure, unknown};
use crate::interrupt;
use crate::output::{Json, markdown_row, number};
use crate::play::progress;
use crate::screen::screen;
use crate::validate_plots;
use serde::Serialize;
use sinew_scene::gallery::near_miss;
use sinew_scene::validate::{Case, Reading, cases};
use std::io::Write;
use std::path::PathBuf;

/// Selection of cases, and form of the output.
#[derive(clap::Args)]
pub struct Args {
    /// Ids (R01), beginnings of ids (MR) or groups (rigid, rope, cloth, elastic, mixed, friction, relation); none: all
    names: Vec<String>,
    /// Only the cases of a model: its name or a part of it (corotational, neo-hookean, pbd)
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Write the readings as JSON; `-` is stdout
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
    /// Print a Markdown table
    #[arg(long)]
    markdown: bool,
    /// Draw the telling cases into this folder as SVG, and all readings of this run
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
}

/// One reading as JSON: the fields are a contract.
#[derive(Serialize)]
struct Row {
    id: &'static str,
    group: &'static str,
    model: &'static str,
    quantity: String,
    measured: f64,
    expected: f64,
    error: f64,
    tolerance: f64,
    pass: Option<bool>,
    known: Option<&'static str>,
}

impl Row {
    fn new(case: &Case, r: Reading) -> Self {
        Self {
            id: case.id,
            group: case.group,
            model: case.model,
            quantity: r.quantity,
            measured: r.measured,
            expected: r.expected,
            error: r.error,
            tolerance: r.tolerance,
            pass: r.pass,
            known: case.known,
        }
    }

    fn verdict(&self) -> &'static str {
        match (self.pass, self.known) {
            (Some(true), _) => "ok",
            (Some(false), None) => "OUT",
            (Some(false), Some(_)) => "known",
            (None, _) => "n/a",
        }
    }

    /// Error as a share of the tolerance; none where the tolerance is zero, or the model cannot do the case.
    fn share(&self) -> Option<f64> {
        (self.pass.is_some() && self.tolerance > 0.0).then_some(self.error / self.tolerance)
    }

    /// Outside the tolerance, without a known reason.
    fn is_out(&self) -> bool {
        self.pass == Some(false) && self.known.is_none()
    }
}

/// Runs the cases.
pub fn validate(args: &Args) -> Result<(), Failure> {
    let wanted = select(&args.names, args.model.as_deref())?;
    let json = Json::open(&args.json)?;
    interrupt::install();
    let quiet = json.takes_stdout();
    let bar = progress(wanted.len() as u64, "validate");
    let mut rows = Vec::new();
    if !quiet {
        bar.suspend(|| print_head(args.markdown))?;
    }
    let mut done = 0;
    for case in &wanted {
        if interrupt::requested() {
            break;
        }
        bar.set_message(case.id);
        let first = rows.len();
        rows.extend(readings(case).into_iter().map(|r| Row::new(case, r)));
        if !quiet {
            bar.suspend(|| rows[first..].iter().try_for_each(|row| print_row(row, args.markdown)))?;
        }
        bar.inc(1);
        done += 1;
    }
    bar.finish_and_clear();
    let written = json.write(&rows);
    if let Some(folder) = &args.plots {
        let shares: Vec<_> = rows.iter().filter_map(|r| Some((r.group, r.share()?))).collect();
        validate_plots::draw(folder, &shares)?;
    }
    let out = rows.iter().filter(|r| r.is_out()).count();
    if !quiet {
        print_end(&rows, out, args.markdown)?;
    }
    written?;
    if out > 0 {
        return Err(Failure::Check(format!("{out} of {} readings are out", rows.len())));
    }
    if done < wanted.len() {
        return Err(Failure::Check(format!("stopped after {done} of {} cases", wanted.len())));
    }
    Ok(())
}

/// The cases that names and a model stand for, in their own order.
fn select(names: &[String], model: Option<&str>) -> Result<Vec<&'static Case>, Failure> {
    for name in names {
        if !cases().any(|c| is_meant(c, name)) {
            let words = || cases().flat_map(|c| [c.id, c.group]);
            let mut groups: Vec<&str> = cases().map(|c| c.group).collect();
            groups.sort_unstable();
            groups.dedup();
            let known = format!("give an id such as R01, the beginning of one, or a group: {}", groups.join(", "));
            return Err(unknown("case", name, near_miss(name, words()), &known));
        }
    }
    let named = || cases().filter(|c| names.is_empty() || names.iter().any(|n| is_meant(c, n)));
    let Some(model) = model else { return Ok(named().collect()) };
    let wanted: Vec<_> = named().filter(|c| c.model.to_lowercase().contains(&model.to_lowercase())).collect();
    if wanted.is_empty() {
        let mut models: Vec<&str> = named().map(|c| c.model).collect();
        models.sort_unstable();
        models.dedup();
        let known = format!("these cases are claimed by: {}", models.join(", "));
        return Err(unknown("model", model, near_miss(model, models.iter().copied()), &known));
    }
    Ok(wanted)
}

fn is_meant(case: &Case, name: &str) -> bool {
    case.group.eq_ignore_ascii_case(name) || case.id.to_lowercase().starts_with(&name.to_lowercase())
}

/// What a case gives; a world that was refused is one reading that is out.
fn readings(case: &Case) -> Vec<Reading> {
    (case.run)().unwrap_or_else(|e| {
        let nan = f64::NAN;
        let quantity = format!("could not run: {e}");
        vec![Reading { quantity, measured: nan, expected: nan, error: nan, tolerance: 0.0, pass: Some(false) }]
    })
}

const HEAD: [&str; 8] = ["id", "model", "quantity", "measured", "expected", "error", "tolerance", "pass"];

fn print_head(markdown: bool) -> Result<(), Failure> {
    print_cells(&HEAD.map(str::to_owned), markdown)?;
    if markdown {
        let mut out = screen();
        writeln!(out, "| --- | --- | --- | ---: | ---: | ---: | ---: | --- |")?;
    }
    Ok(())
}

fn print_row(r: &Row, markdown: bool) -> Result<(), Failure> {
    let [error, tolerance] = [r.error, r.tolerance].map(|x| format!("{x:.2e}"));
    let [id, model, verdict] = [r.id, r.model, r.verdict()].map(str::to_owned);
    let (measured, expected) = (number(r.measured), number(r.expected));
    print_cells(&[id, model, r.quantity.clone(), measured, expected, error, tolerance, verdict], markdown)
}

/// One line at once: a case may take seconds, and people look on.
fn print_cells(c: &[String; 8], markdown: bool) -> Result<(), Failure> {
    let mut out = screen();
    if markdown {
        writeln!(out, "{}", markdown_row(c))?;
    } else {
        let [id, model, quantity, measured, expected, error, tolerance, verdict] = c;
        write!(out, "{id:<6} {model:<24} {quantity:<44} ")?;
        writeln!(out, "{measured:>13} {expected:>13} {error:>10} {tolerance:>10}  {verdict}")?;
    }
    out.flush()?;
    Ok(())
}

fn print_end(rows: &[Row], out: usize, markdown: bool) -> Result<(), Failure> {
    let count = |word: &str| rows.iter().filter(|r| r.verdict() == word).count();
    let mut stdout = screen();
    let (ok, known, not) = (count("ok"), count("known"), count("n/a"));
    let blank = if markdown { "\n" } else { "" };
    writeln!(
        stdout,
        "{blank}{} readings: {ok} ok, {out} out, {known} known to be out, {not} not applicable",
        rows.len()
    )?;
    let mut message = Vec::new();
    for row in rows.iter().filter(|r| matches!(r.verdict(), "known" | "n/a")) {
        let case = (row.id, row.model);
        if let (Some(reason), false) = (row.known, message.contains(&case)) {
            message.push(case);
            // a list in Markdown, or its lines would run together
            let dash = if markdown { "- " } else { "" };
            writeln!(stdout, "{dash}{} [{}]: {reason}", row.id, row.model)?;
        }
    }
    stdout.flush()?;
    Ok(())
}

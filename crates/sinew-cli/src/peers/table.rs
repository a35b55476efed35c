//! The comparison for people, documents and programs.

use super::Results;
use super::judge::Row;
use crate::failure::Failure;
use crate::output::{Table, markdown_row};
use crate::screen::screen;
use serde_json::{Value, json};
use sinew_peers::{Goal, Measure};
use std::io::Write;

const HEAD: [&str; 8] = ["case", "engine", "variant", "median ms", "p99 ms", "ratio", "goals", "quality"];
const NOTE: &str = "ratio: median of Sinew by theirs, below 1 Sinew is faster; one thread; goals: see docs/peers.md";

/// Tables by scene, then the peers that were left out.
pub fn tell(results: &Results, markdown: bool) -> Result<(), Failure> {
    let mut out = screen();
    write(results, markdown, &mut out)?;
    out.flush()?;
    Ok(())
}

fn write(results: &Results, markdown: bool, out: &mut impl Write) -> Result<(), Failure> {
    let mut rows = results.rows.as_slice();
    while let Some(first) = rows.first() {
        let scene = first.case.scene;
        let (these, rest) = rows.split_at(rows.iter().take_while(|r| r.case.scene == scene).count());
        rows = rest;
        if markdown {
            writeln!(out, "**{}**, {}\n", scene.name(), scene.about())?;
            writeln!(out, "{}", markdown_row(&HEAD.map(str::to_owned)))?;
            writeln!(out, "| --- | --- | --- | ---: | ---: | ---: | --- | --- |")?;
            these.iter().try_for_each(|row| writeln!(out, "{}", markdown_row(&cells(row))))?;
        } else {
            writeln!(out, "{}, {}", scene.name(), scene.about())?;
            // words first: they are what is aligned to the left
            let order = [0, 1, 2, 6, 3, 4, 5, 7];
            let mut lines: Vec<[String; 8]> = these.iter().map(cells).collect();
            // so that the last column, which is words too, begins at one place
            let mut head = HEAD.map(str::to_owned);
            let width = lines.iter().map(|l| l[7].chars().count()).max().unwrap_or(0);
            lines.iter_mut().chain([&mut head]).for_each(|l| l[7] = format!("{:<width$}", l[7]));
            let mut table = Table::new(4, order.map(|i| head[i].as_str()));
            for line in lines {
                table.row(order.map(|i| line[i].clone()).to_vec());
            }
            table.write(out)?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{NOTE}")?;
    if !results.left_out.is_empty() {
        writeln!(out, "\nnot in the table, or not whole:")?;
        for line in &results.left_out {
            writeln!(out, "- {line}")?;
        }
    }
    Ok(())
}

fn cells(row: &Row) -> [String; 8] {
    let line = &row.line;
    let variant =
        if line.effort.is_empty() { line.variant.clone() } else { format!("{}, {}", line.variant, line.effort) };
    [
        row.case.name.to_owned(),
        line.engine.clone(),
        variant,
        digits(line.median),
        digits(line.p99),
        row.ratio.map_or(String::new(), digits),
        if row.case.measures.iter().all(|m| m.goal == Goal::Reported) {
            "-".to_owned()
        } else {
            // readings at a time that was not reached are meaningless
            let word = match (row.good, row.short) {
                (true, None) => "yes",
                (true, Some(_)) => "so far",
                (false, _) => "no",
            };
            word.to_owned()
        },
        quality(row),
    ]
}

fn quality(row: &Row) -> String {
    let mut parts: Vec<String> = row.values.iter().map(|(measure, value)| part(measure, *value)).collect();
    parts.extend(row.short.map(|steps| format!("{steps} steps only")));
    parts.join(", ")
}

fn part(measure: &Measure, value: Option<f64>) -> String {
    let value = match value {
        None => "not reported".to_owned(),
        Some(x) if measure.unit.is_empty() => format!("{x:.0}"),
        Some(x) => format!("{} {}", digits(x), measure.unit),
    };
    format!("{} {value}", measure.label)
}

/// Three digits that count, and never a power of ten.
fn digits(x: f64) -> String {
    let size = x.abs();
    match size {
        s if s >= 100.0 => format!("{x:.0}"),
        s if s >= 10.0 => format!("{x:.1}"),
        s if s >= 1.0 => format!("{x:.2}"),
        _ => format!("{x:.3}"),
    }
}

/// `rows`: one object an engine and case; `left_out`: lines for people.
pub fn json(results: &Results) -> Value {
    let rows: Vec<Value> = results.rows.iter().map(object).collect();
    json!({ "rows": rows, "left_out": results.left_out })
}

fn object(row: &Row) -> Value {
    let line = &row.line;
    let goal = |measure: &Measure| match measure.goal {
        Goal::AtMost(most) => json!({ "at_most": most }),
        Goal::Between(low, high) => json!({ "between": [low, high] }),
        Goal::Reported => Value::Null,
    };
    let reading = |(m, value): &(&'static Measure, Option<f64>)| json!({ "name": m.label, "value": value, "unit": m.unit, "goal": goal(m) });
    json!({
        "scene": row.case.scene.name(),
        "case": row.case.name,
        "engine": line.engine,
        "variant": line.variant,
        "effort": line.effort,
        "h_ms": line.h_ms,
        "median_ms": line.median,
        "p99_ms": line.p99,
        "ratio": row.ratio,
        "goals_met": row.good,
        "readings": row.values.iter().map(reading).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::{judge, line};
    use sinew_peers::CASES;

    fn results() -> Results {
        let line = |text: &str| line::read(text, "S1").lines;
        let ours = line("sinew-1,S1,fixed,1,0,0,0,0,20,20 substeps,1,2,3,pen_max=0.25mm stretch_max=3.8%");
        let theirs = line("jolt-5,S1,soft|fixed,1,0,0,0,0,20,20,1,4,5,pen_max=0.8mm stretch_max=218.2%");
        Results { rows: judge::rows(&CASES[0], &[ours, theirs]), left_out: vec!["S1 x: hung".to_owned()] }
    }

    fn text(markdown: bool) -> String {
        let mut out = Vec::new();
        write(&results(), markdown, &mut out).expect("memory takes all");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn the_table_has_speed_and_quality_side_by_side() {
        let text = text(false);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("S1, cloth"), "{text}");
        assert!(lines[2].contains("sinew-1") && lines[2].contains("yes"), "{text}");
        assert!(lines[2].ends_with("penetration 0.250 mm, stretch 3.80 %"), "{text}");
        assert!(lines[3].contains("0.500") && lines[3].contains("no ") && lines[3].contains("218 %"), "{text}");
        assert!(text.contains("- S1 x: hung"), "{text}");
    }

    #[test]
    fn in_markdown_bars_do_not_break_the_table() {
        assert!(
            text(true).contains("| fixed ball | jolt-5 | soft\\|fixed, 20 | 4.00 | 5.00 | 0.500 | no |"),
            "{}",
            text(true)
        );
    }

    #[test]
    fn programs_get_the_numbers_with_their_goals() {
        let value = json(&results());
        let row = &value["rows"][1];
        assert_eq!((&row["ratio"], &row["goals_met"]), (&json!(0.5), &json!(false)));
        assert_eq!(row["readings"][0]["goal"], json!({ "at_most": 15.0 }));
    }
}

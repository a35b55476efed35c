//! Which of an engine's variants is compared: the fastest that reaches the goals of the case, or the nearest to them.

use super::line::Line;
use sinew_peers::{Case, Goal, Measure};

/// An engine in a case.
pub struct Row {
    /// Which comparison.
    pub case: &'static Case,
    /// Its line.
    pub line: Line,
    /// Our median by its; none for ourselves, or when we have none.
    pub ratio: Option<f64>,
    /// True when all goals are reached.
    pub good: bool,
    /// Values of the case's measures.
    pub values: Vec<(&'static Measure, Option<f64>)>,
    /// Steps, when it made fewer than we did.
    pub short: Option<u64>,
}

/// One row an engine, ours first, from the lines that each half printed.
pub fn rows(case: &'static Case, halves: &[Vec<Line>]) -> Vec<Row> {
    let best: Vec<Option<&Line>> = halves.iter().map(|lines| choose(case, lines)).collect();
    let ours = best.first().copied().flatten();
    let mut rows = Vec::new();
    for (index, line) in best.iter().enumerate().filter_map(|(i, line)| line.map(|line| (i, line))) {
        let ratio = ours.filter(|_| index > 0).map(|ours| ours.median / line.median).filter(|r| r.is_finite());
        let steps = |line: &Line| line.reading("steps");
        let short = ours.and_then(steps).zip(steps(line)).filter(|(ours, theirs)| theirs < ours);
        rows.push(Row {
            case,
            line: line.clone(),
            ratio,
            good: miss(case, line) == 0.0,
            values: case.measures.iter().map(|m| (m, value(m, line))).collect(),
            // of springs every step is alike; elsewhere a short run may have seen only the easy part
            short: short.map(|(_, theirs)| theirs as u64).filter(|_| !case.measures.is_empty()),
        });
    }
    rows
}

fn choose<'a>(case: &Case, lines: &'a [Line]) -> Option<&'a Line> {
    let fits = lines.iter().filter(|l| l.threads == 1 && case.takes(&l.variant, l.h_ms));
    fits.min_by(|a, b| miss(case, a).total_cmp(&miss(case, b)).then(a.median.total_cmp(&b.median)))
}

/// How far a line is from the goals: 0 when it reaches them all, else how many times the worst is missed.
fn miss(case: &Case, line: &Line) -> f64 {
    if line.reading("finite") == Some(0.0) {
        return f64::INFINITY;
    }
    let of = |m: &Measure| match (m.goal, value(m, line)) {
        (Goal::Reported, _) => 0.0,
        // a value that is not reported counts as not reached
        (_, None) => f64::INFINITY,
        (_, Some(x)) if x.is_nan() => f64::INFINITY,
        (Goal::AtMost(most), Some(x)) if x <= most => 0.0,
        (Goal::AtMost(most), Some(x)) => 1.0 + (x - most) / most.max(1.0),
        (Goal::Between(low, high), Some(x)) if (low..=high).contains(&x) => 0.0,
        (Goal::Between(low, high), Some(x)) => 1.0 + (low - x).max(x - high) / (0.5 * (high - low)),
    };
    case.measures.iter().map(of).fold(0.0, f64::max)
}

fn value(measure: &Measure, line: &Line) -> Option<f64> {
    measure.keys.iter().filter_map(|key| line.reading(key)).reduce(|a, b| if b.is_nan() || b > a { b } else { a })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_peers::CASES;

    fn line(engine: &str, variant: &str, median: f64, note: &str) -> Line {
        let (engine, variant, note) = (engine.to_owned(), variant.to_owned(), note.to_owned());
        Line { engine, variant, threads: 1, h_ms: 20.0, effort: String::new(), median, p99: median, note }
    }

    #[test]
    fn the_fastest_that_reaches_the_goals_is_compared() {
        let ours = vec![line("sinew", "fixed", 2.0, "pen_max=0.2mm stretch_max=4% steps=200")];
        let theirs = vec![
            line("jolt", "a-fixed", 0.2, "finite=1 pen_max=5mm stretch_max=190%"),
            line("jolt", "b-fixed", 4.0, "finite=1 pen_max=1mm stretch_max=18% steps=100"),
            line("jolt", "c-fixed", 9.0, "finite=1 pen_max=1mm stretch_max=2%"),
            line("jolt", "d-free", 0.1, "finite=1 pen_max=1mm stretch_max=2%"),
            line("jolt", "e-fixed", 0.1, "finite=0 pen_max=1mm stretch_max=2%"),
            Line { threads: 2, ..line("jolt", "f-fixed", 0.1, "pen_max=1mm stretch_max=2%") },
        ];
        let rows = rows(&CASES[0], &[ours, theirs, Vec::new()]);
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].ratio, rows[0].good, rows[0].short), (None, true, None));
        assert_eq!((rows[1].line.variant.as_str(), rows[1].ratio), ("b-fixed", Some(0.5)));
        assert_eq!((rows[1].good, rows[1].short), (true, Some(100)));
    }

    #[test]
    fn where_none_reaches_them_the_nearest_is_compared_and_told_so() {
        let theirs = vec![
            line("x", "a-fixed", 1.0, "pen_max=300mm stretch_max=20%"),
            line("x", "b-fixed", 5.0, "pen_max=20mm stretch_max=20%"),
            line("x", "c-fixed", 0.5, "pen_max=nanmm stretch_max=20%"),
            line("x", "d-fixed", 0.5, "stretch_max=20%"),
        ];
        let rows = rows(&CASES[0], &[Vec::new(), theirs]);
        assert_eq!((rows.len(), rows[0].line.variant.as_str()), (1, "b-fixed"));
        assert_eq!((rows[0].good, rows[0].ratio), (false, None));
    }
}

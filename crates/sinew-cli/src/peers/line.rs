//! The lines that peers print:
//! `peer,scene,variant,threads,nodes,tris,tets,constraints,h_ms,iters,ms_min,ms_median,ms_p99,quality_note`.
//!
//! They come from programs of others: any line may be cut, garbled or hostile.

/// A result.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Engine with its version.
    pub engine: String,
    /// Which variant.
    pub variant: String,
    /// Threads it ran on.
    pub threads: u32,
    /// Step [ms].
    pub h_ms: f64,
    /// Iterations, substeps or both, as the peer counts.
    pub effort: String,
    /// Median time of a step [ms].
    pub median: f64,
    /// 99th percentile [ms].
    pub p99: f64,
    /// `name=value` and words.
    pub note: String,
}

/// What a program printed.
#[derive(Debug, Default, PartialEq)]
pub struct Page {
    /// Its results.
    pub lines: Vec<Line>,
    /// How many lines are none, and the first of them, made fit to print.
    pub rubbish: Option<(usize, String)>,
}

const COLUMNS: usize = 14;

/// Reads all lines of a scene. Comments, empty lines, headings and runs that did not finish are passed over.
pub fn read(text: &str, scene: &str) -> Page {
    let mut page = Page::default();
    for text in text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#') && !l.starts_with("peer,scene,")) {
        match parse(text, scene) {
            Some(Some(line)) => page.lines.push(line),
            Some(None) => {}
            None => page.rubbish.get_or_insert_with(|| (0, tame(text, 60))).0 += 1,
        }
    }
    page
}

/// A line; `Some(None)` when it reports an unfinished run, or another scene.
fn parse(text: &str, scene: &str) -> Option<Option<Line>> {
    let cells = split(text);
    if cells.len() != COLUMNS {
        return None;
    }
    if cells[1] != scene || cells[11].is_empty() {
        return Some(None);
    }
    let positive = |text: &str| text.parse::<f64>().ok().filter(|x| x.is_finite() && *x >= 0.0);
    Some(Some(Line {
        engine: tame(&cells[0], 40),
        variant: tame(&cells[2], 60),
        threads: cells[3].parse().ok()?,
        h_ms: positive(&cells[8]).filter(|h| *h > 0.0)?,
        effort: tame(&cells[9], 30),
        median: positive(&cells[11])?,
        p99: positive(&cells[12])?,
        note: cells[13].clone(),
    }))
}

/// Cells of a line; quotes hold commas, and a doubled quote is one.
fn split(text: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        let cell = cells.len() - 1;
        match c {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cells[cell].push('"');
            }
            '"' => quoted = !quoted,
            // a note without quotes may have commas: it is the last cell
            ',' if !quoted && cells.len() < COLUMNS => cells.push(String::new()),
            c => cells[cell].push(c),
        }
    }
    cells.iter().map(|c| c.trim().to_owned()).collect()
}

/// At most so many letters, none of which moves the cursor.
pub fn tame(text: &str, most: usize) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let mut short: String = text.trim().chars().take(most).map(clean).collect();
    if text.trim().chars().count() > most {
        short.push('…');
    }
    short
}

impl Line {
    /// The largest of the note's readings that have this name; a name that ends in `_` stands for all that begin so.
    pub fn reading(&self, key: &str) -> Option<f64> {
        let all = self.note.split([' ', ';', '(', ')']).filter_map(|word| word.split_once('='));
        let named = all.filter(|(name, _)| *name == key || (key.ends_with('_') && name.starts_with(key)));
        let values = named.filter_map(|(_, value)| number(value));
        values.reduce(|a, b| if b.is_nan() || b > a { b } else { a })
    }
}

/// The number at the start of a text such as `18.2%` or `-1.89m/s`.
fn number(text: &str) -> Option<f64> {
    let end = text.char_indices().find(|(_, c)| !matches!(c, '0'..='9' | '.' | '-' | '+' | 'e' | 'E'));
    let digits = end.map_or(text, |(at, _)| &text[..at]);
    if text.to_lowercase().trim_start_matches('-').starts_with("nan") {
        return Some(f64::NAN);
    }
    if text.to_lowercase().starts_with("inf") {
        return Some(f64::INFINITY);
    }
    digits.parse().ok()
}

/// Adds the lines of another run: of the same variant the one with the least median stays.
pub fn merge(kept: &mut Vec<Line>, more: Vec<Line>) {
    for line in more {
        let same = |k: &&mut Line| {
            k.engine == line.engine
                && k.variant == line.variant
                && k.threads == line.threads
                && k.h_ms == line.h_ms
                && k.effort == line.effort
        };
        match kept.iter_mut().find(same) {
            Some(old) if line.median < old.median => *old = line,
            Some(_) => {}
            None => kept.push(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "jolt-5.0.0,S1,softbody-fixed,1,2601,5000,0,12598,20.000,20,1.338,2.049,2.651,\"finite=1 pen_max=0.8mm pen_b=1.5mm stretch_max=18.2% p1y=-3.000 (p0y=-3); mean=2.2 steps=200\"";

    #[test]
    fn a_line_and_its_note_are_read() {
        let page = read(&format!("# a word\npeer,scene,variant\n\n{GOOD}\n"), "S1");
        assert_eq!((page.lines.len(), &page.rubbish), (1, &None));
        let line = &page.lines[0];
        assert_eq!((line.engine.as_str(), line.effort.as_str(), line.threads), ("jolt-5.0.0", "20", 1));
        assert_eq!([line.h_ms, line.median, line.p99], [20.0, 2.049, 2.651]);
        let readings =
            ["pen_max", "pen_", "stretch_max", "p1y", "p0y", "steps", "nothing"].map(|key| line.reading(key));
        assert_eq!(readings, [Some(0.8), Some(1.5), Some(18.2), Some(-3.0), Some(-3.0), Some(200.0), None]);
    }

    #[test]
    fn our_own_lines_are_read_by_the_same_reader() {
        let record = sinew_peers::Record {
            scene: sinew_peers::Scene::S6,
            variant: "corotational".into(),
            sizes: [1, 2, 3, 4],
            h_ms: 20.0,
            effort: "1 substep".into(),
            ms: sinew_peers::Times { min: 1.0, median: 2.0, p99: 3.0 },
            steps: 100,
            readings: vec![sinew_peers::Reading::new("tip_deflection", 0.25, "")],
        };
        let page = read(&record.line(), "S6");
        assert_eq!(page.rubbish, None);
        assert_eq!((page.lines[0].median, page.lines[0].reading("tip_deflection")), (2.0, Some(0.25)));
    }

    #[test]
    fn other_scenes_and_unfinished_runs_are_no_rubbish() {
        let page = read("b,S7,deformable,1,0,0,0,0,20.000,-,,,,\"DNF: hang\"", "S7");
        assert_eq!(page, Page::default());
        assert_eq!(read(GOOD, "S2"), Page::default());
    }

    #[test]
    fn hostile_lines_are_counted_and_cannot_garble_the_screen() {
        let nan = GOOD.replace("2.049", "nan");
        let minus = GOOD.replace("2.049", "-1");
        let huge = GOOD.replace("20.000", "1e999");
        let zero = GOOD.replace("20.000", "0");
        let threads = GOOD.replace(",1,2601", ",4294967296,2601");
        let open = "\"a,S1,b,1,2,3,4,5,6";
        let escape = format!("\u{1b}[2J{}", "x".repeat(500));
        let all = [&nan, &minus, &huge, &zero, &threads, open, &escape, ",,,", "Traceback (most recent call last):"];
        for text in all {
            let page = read(text, "S1");
            assert!(page.lines.is_empty(), "{text}");
            let (count, first) = page.rubbish.expect(text);
            assert_eq!(count, 1);
            assert!(first.chars().count() <= 61 && !first.contains('\u{1b}'), "{first}");
        }
        assert_eq!(read(&all.join("\n"), "S1").rubbish.map(|(count, _)| count), Some(9));
    }

    #[test]
    fn numbers_that_are_none_are_seen() {
        let read_of = |note: &str| {
            let page = read(&GOOD.replace("pen_max=0.8mm", note), "S1");
            page.lines[0].reading("pen_max")
        };
        assert!(read_of("pen_max=nanmm").is_some_and(f64::is_nan));
        assert!(read_of("pen_max=-nan").is_some_and(f64::is_nan));
        assert_eq!(read_of("pen_max=inf"), Some(f64::INFINITY));
        assert_eq!(read_of("pen_max=mm"), None);
        assert_eq!(read_of("pen_max=ünf"), None);
    }

    #[test]
    fn the_best_run_of_a_variant_stays() {
        let line = |median: &str| read(&GOOD.replace("2.049", median), "S1").lines;
        let mut kept = line("3");
        merge(&mut kept, line("2"));
        merge(&mut kept, line("4"));
        assert_eq!((kept.len(), kept[0].median), (1, 2.0));
        merge(&mut kept, read(&GOOD.replace(",20,1.338", ",5,1.338"), "S1").lines);
        assert_eq!(kept.len(), 2);
    }
}

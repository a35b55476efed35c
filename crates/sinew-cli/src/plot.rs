//! Plots as SVG: axes with round ticks, linear or logarithmic, lines with or without marks, a legend. No fonts and no scripts: any
//! browser draws them.

use std::fmt::Write;

/// One line of a plot.
pub struct Line {
    /// Text in the legend.
    pub name: String,
    /// Points; what is not finite, or has no logarithm where one is needed, breaks the line.
    pub points: Vec<[f64; 2]>,
    /// How it is drawn.
    pub pen: Pen,
}

/// How a line is drawn.
#[derive(Clone, Copy, PartialEq)]
pub enum Pen {
    Solid,
    /// With a mark at each point: measurements.
    Marked,
    /// A law or a fit.
    Dashed,
}

/// How an axis runs.
#[derive(Clone, Copy, PartialEq)]
pub enum Scale {
    Linear,
    /// Whole decades.
    Log,
}

/// A plot with its axes.
pub struct Plot {
    /// Above it.
    title: String,
    /// What the axes show, with units.
    axes: [String; 2],
    scales: [Scale; 2],
    /// The lines, in order of colours.
    lines: Vec<Line>,
}

/// Size of a picture [px] and the room for ticks and words around the axes: left, right, top, bottom.
const SIZE: [f64; 2] = [720.0, 420.0];
const ROOM: [f64; 4] = [78.0, 18.0, 34.0, 52.0];
/// The corners of the axes: lower left, upper right.
const LOW: [f64; 2] = [ROOM[0], SIZE[1] - ROOM[3]];
const HIGH: [f64; 2] = [SIZE[0] - ROOM[1], ROOM[2]];
/// Distinguishable with colour vision deficiency (Okabe and Ito 2008).
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"];
/// Points of a line that are drawn: more cannot be seen.
const MOST: usize = 4000;

impl Plot {
    /// A plot without lines; both axes are linear.
    pub fn new(title: impl Into<String>, x: &str, y: &str) -> Self {
        let axes = [x.to_owned(), y.to_owned()];
        Self { title: title.into(), axes, scales: [Scale::Linear; 2], lines: Vec::new() }
    }

    /// Sets how the axes run.
    pub fn scales(mut self, x: Scale, y: Scale) -> Self {
        self.scales = [x, y];
        self
    }

    /// Adds a line.
    pub fn line(self, name: &str, points: impl IntoIterator<Item = [f64; 2]>) -> Self {
        self.drawn(name, points, Pen::Solid)
    }

    /// Adds a line drawn with a pen.
    pub fn drawn(mut self, name: &str, points: impl IntoIterator<Item = [f64; 2]>, pen: Pen) -> Self {
        self.lines.push(Line { name: name.to_owned(), points: points.into_iter().collect(), pen });
        self
    }

    /// The picture.
    pub fn svg(&self) -> String {
        let frame = Frame { axes: [self.axis(0), self.axis(1)] };
        let mut out = String::new();
        let [w, h] = SIZE;
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" font-family=\"sans-serif\" font-size=\"12\">"
        );
        let _ = writeln!(out, "<rect width=\"{w}\" height=\"{h}\" fill=\"white\"/>");
        let middle = [0, 1].map(|k| 0.5 * (LOW[k] + HIGH[k]));
        text(&mut out, [middle[0], 20.0], "middle", &self.title);
        text(&mut out, [middle[0], h - 12.0], "middle", &self.axes[0]);
        let _ = write!(out, "<g transform=\"translate(16 {:.1}) rotate(-90)\">", middle[1]);
        text(&mut out, [0.0, 0.0], "middle", &self.axes[1]);
        out.push_str("</g>\n");
        frame.grid(&mut out);
        for (k, line) in self.lines.iter().enumerate() {
            let colour = COLOURS[k % COLOURS.len()];
            frame.draw(&mut out, line, colour);
            if self.lines.len() > 1 {
                let (x, y) = (LOW[0] + 10.0, HIGH[1] + 14.0 + 16.0 * k as f64);
                stroke(&mut out, [x, y, x + 20.0, y], colour);
                text(&mut out, [x + 26.0, y + 4.0], "start", &line.name);
            }
        }
        out.push_str("</svg>\n");
        out
    }

    /// Least and largest of a coordinate: whole decades, or with a little room; never empty.
    fn axis(&self, k: usize) -> Axis {
        let scale = self.scales[k];
        let numbers = self
            .lines
            .iter()
            .flat_map(|l| &l.points)
            .map(|p| [0, 1].map(|i| self.scales[i].number(p[i])))
            .filter(whole);
        let (low, high) =
            numbers.map(|p| p[k]).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        let span = match scale {
            _ if low > high => [0.0, 1.0],
            Scale::Log => [low.floor(), high.ceil().max(low.floor() + 1.0)],
            Scale::Linear => {
                let room = if high > low { 0.04 * (high - low) } else { 0.5 * high.abs().max(1e-12) };
                [low - room, high + room]
            }
        };
        Axis { scale, span }
    }
}

fn whole(point: &[f64; 2]) -> bool {
    point.iter().all(|v| v.is_finite())
}

impl Scale {
    /// What lies evenly on the axis.
    fn number(self, value: f64) -> f64 {
        if self == Scale::Log { value.log10() } else { value }
    }
}

/// One axis: its range in its own numbers (logarithms for a logarithmic one).
struct Axis {
    scale: Scale,
    span: [f64; 2],
}

impl Axis {
    /// Powers of ten, or round numbers.
    fn ticks(&self) -> Vec<f64> {
        let [low, high] = self.span;
        if self.scale == Scale::Log {
            return (low as i32..=high as i32).map(|e| 10_f64.powi(e)).collect();
        }
        ticks(self.span)
    }
}

/// Where values lie in the picture.
struct Frame {
    axes: [Axis; 2],
}

impl Frame {
    fn place(&self, k: usize, value: f64) -> f64 {
        let Axis { scale, span: [low, high] } = self.axes[k];
        LOW[k] + (HIGH[k] - LOW[k]) * (scale.number(value) - low) / (high - low)
    }

    /// Lines at round numbers, and the numbers.
    fn grid(&self, out: &mut String) {
        for k in 0..2 {
            for tick in self.axes[k].ticks() {
                let at = self.place(k, tick);
                let line = if k == 0 { [at, LOW[1], at, HIGH[1]] } else { [LOW[0], at, HIGH[0], at] };
                stroke(out, line, if tick == 0.0 { "#888" } else { "#ddd" });
                let (point, anchor) =
                    if k == 0 { ([at, LOW[1] + 16.0], "middle") } else { ([LOW[0] - 6.0, at + 4.0], "end") };
                text(out, point, anchor, &label(tick));
            }
        }
    }

    /// A line and its marks.
    fn draw(&self, out: &mut String, line: &Line, colour: &str) {
        let step = line.points.len().div_ceil(MOST).max(1);
        let placed = line.points.iter().step_by(step).map(|p| [0, 1].map(|k| self.place(k, p[k])));
        let (mut path, mut marks, mut pen) = (String::new(), String::new(), 'M');
        for p in placed {
            if !whole(&p) {
                pen = 'M';
                continue;
            }
            let _ = write!(path, "{pen}{:.1} {:.1}", p[0], p[1]);
            pen = 'L';
            if line.pen == Pen::Marked {
                let _ = writeln!(marks, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"/>", p[0], p[1]);
            }
        }
        let dash = if line.pen == Pen::Dashed { " stroke-dasharray=\"6 4\"" } else { "" };
        let _ = writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.4\"{dash}/>");
        out.push_str(&marks);
    }
}

fn stroke(out: &mut String, [x1, y1, x2, y2]: [f64; 4], colour: &str) {
    let _ = writeln!(out, "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\"/>");
}

/// Round numbers in a span, four to nine of them: steps of 1, 2 or 5 times a power of ten.
fn ticks([low, high]: [f64; 2]) -> Vec<f64> {
    let rough = (high - low) / 6.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|s| s * power).find(|s| *s >= rough).unwrap_or(10.0 * power);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    (first..=last).map(|k| k as f64 * step).collect()
}

/// A tick as short as it can be.
fn label(x: f64) -> String {
    if x == 0.0 || (1e-3..1e5).contains(&x.abs()) {
        let text = format!("{x:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{x:.1e}").replace(".0e", "e")
    }
}

fn text(out: &mut String, [x, y]: [f64; 2], anchor: &str, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks([-0.04, 1.04]), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        for span in [[1e-6, 3e-6], [-7.0, 12.0], [0.0, 9e9]] {
            let t = ticks(span);
            assert!((3..=9).contains(&t.len()) && t.iter().all(|t| (span[0]..=span[1]).contains(t)), "{t:?}");
        }
    }

    #[test]
    fn labels_are_short() {
        assert_eq!([label(0.0), label(0.6000000000000001), label(-20.0), label(2e-6)], ["0", "0.6", "-20", "2e-6"]);
    }

    #[test]
    fn a_picture_has_every_line_and_no_gap_in_its_numbers() {
        let plot = Plot::new("a < b", "x [m]", "F [N]")
            .line("one", [[0.0, 1.0], [1.0, 2.0]])
            .line("two", [[0.0, f64::NAN], [1.0, 0.0], [2.0, 5.0]]);
        let svg = plot.svg();
        assert_eq!(svg.matches("<path").count(), 2);
        assert!(svg.contains("a &lt; b") && !svg.contains("NaN") && !svg.contains("inf"));
        assert!(Plot::new("", "", "").svg().ends_with("</svg>\n"));
    }

    #[test]
    fn logarithmic_axes_have_whole_decades_and_leave_out_what_has_no_logarithm() {
        let plot = Plot::new("t", "rows", "ms").scales(Scale::Log, Scale::Log);
        let svg = plot.drawn("a", [[1.0, 1e-3], [10.0, 0.0], [100.0, 2.0]], Pen::Marked).svg();
        assert_eq!(svg.matches("<circle").count(), 2);
        let corner = format!("cx=\"{:.1}\" cy=\"{:.1}\"", LOW[0], LOW[1]);
        assert!(svg.contains(&corner), "{svg}");
        let axis = Axis { scale: Scale::Log, span: [1.0, 4.0] };
        assert_eq!(axis.ticks(), [10.0, 100.0, 1000.0, 10_000.0]);
    }
}

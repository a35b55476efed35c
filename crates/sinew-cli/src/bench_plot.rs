//! A plain plot as SVG: axes with ticks, linear or logarithmic, lines with marks, a legend.

use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 420.0;
/// Left, top, right, bottom of the frame.
const FRAME: [f64; 4] = [80.0, 40.0, 620.0, 360.0];
/// Colours that the colour blind can tell apart (Okabe and Ito 2008).
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/// One line of a plot.
pub struct Line {
    pub name: String,
    pub points: Vec<[f64; 2]>,
    /// Drawn without marks, dashed: a law or a fit.
    pub dashed: bool,
}

/// How an axis runs.
#[derive(Clone, Copy, PartialEq)]
pub enum Scale {
    Linear,
    /// Points at or below zero are left out.
    Log,
}

/// A plot.
pub struct Plot {
    pub title: String,
    /// Label and scale of x, then of y.
    pub axes: [(String, Scale); 2],
    pub lines: Vec<Line>,
}

/// One axis: range in its own numbers (logarithms for a logarithmic one), and where it is drawn.
struct Axis {
    scale: Scale,
    range: [f64; 2],
    pixels: [f64; 2],
}

impl Axis {
    fn new(scale: Scale, values: impl Iterator<Item = f64>, pixels: [f64; 2]) -> Self {
        let start = if scale == Scale::Linear { [0.0, 0.0] } else { [f64::INFINITY, f64::NEG_INFINITY] };
        let number = |v: f64| if scale == Scale::Log { v.log10() } else { v };
        let mut range = values.map(number).fold(start, |[low, high], v| [low.min(v), high.max(v)]);
        if scale == Scale::Log {
            range = [range[0].floor(), range[1].ceil()];
        }
        if !(range[0].is_finite() && range[1] > range[0]) {
            range = [0.0, 1.0];
        }
        Self { scale, range, pixels }
    }

    fn at(&self, value: f64) -> f64 {
        let number = if self.scale == Scale::Log { value.log10() } else { value };
        let [low, high] = self.range;
        self.pixels[0] + (number - low) / (high - low) * (self.pixels[1] - self.pixels[0])
    }

    /// Powers of ten, or about five round numbers.
    fn ticks(&self) -> Vec<f64> {
        let [low, high] = self.range;
        if self.scale == Scale::Log {
            return (low as i32..=high as i32).map(|e| 10_f64.powi(e)).collect();
        }
        let rough = (high - low) / 5.0;
        let ten = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|f| f * ten).find(|s| *s >= rough).unwrap_or(rough);
        let first = (low / step).ceil() as i64;
        (first..).map(|k| k as f64 * step).take_while(|t| *t <= high + 1e-9 * step).collect()
    }
}

impl Plot {
    /// The picture as text.
    pub fn svg(&self) -> String {
        let [left, top, right, bottom] = FRAME;
        let [(x_label, x_scale), (y_label, y_scale)] = &self.axes;
        let drawn =
            |p: &[f64; 2]| (*x_scale == Scale::Linear || p[0] > 0.0) && (*y_scale == Scale::Linear || p[1] > 0.0);
        let values = |k: usize| self.lines.iter().flat_map(|l| l.points.iter().filter(|p| drawn(p))).map(move |p| p[k]);
        let x = Axis::new(*x_scale, values(0), [left, right]);
        let y = Axis::new(*y_scale, values(1), [bottom, top]);
        let mut out = String::new();
        let mut put = |text: String| out.push_str(&text);
        put(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
        ));
        put(text(0.5 * (left + right), 24.0, "middle", &self.title));
        put(text(0.5 * (left + right), HEIGHT - 16.0, "middle", x_label));
        put(format!(
            "<g transform=\"rotate(-90 18 {0})\">{1}</g>\n",
            0.5 * HEIGHT,
            text(18.0, 0.5 * HEIGHT, "middle", y_label)
        ));
        for tick in x.ticks() {
            let at = x.at(tick);
            put(format!("<path d=\"M{at:.1} {bottom}V{top}\" stroke=\"#ddd\"/>\n"));
            put(text(at, bottom + 18.0, "middle", &label(tick)));
        }
        for tick in y.ticks() {
            let at = y.at(tick);
            put(format!("<path d=\"M{left} {at:.1}H{right}\" stroke=\"#ddd\"/>\n"));
            put(text(left - 6.0, at + 4.0, "end", &label(tick)));
        }
        put(format!(
            "<rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"black\"/>\n",
            right - left,
            bottom - top
        ));
        for (k, line) in self.lines.iter().enumerate() {
            let colour = COLOURS[k % COLOURS.len()];
            let points: Vec<[f64; 2]> =
                line.points.iter().filter(|p| drawn(p)).map(|p| [x.at(p[0]), y.at(p[1])]).collect();
            put(curve(&points, colour, line.dashed));
            put(text(left + 14.0, top + 18.0 + 16.0 * k as f64, "start", &line.name)
                .replace("<text", &format!("<text fill=\"{colour}\"")));
        }
        put("</svg>\n".to_owned());
        out
    }
}

fn curve(points: &[[f64; 2]], colour: &str, dashed: bool) -> String {
    let mut out = String::new();
    let path: Vec<String> = points.iter().map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
    let dash = if dashed { " stroke-dasharray=\"6 4\"" } else { "" };
    let _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"{dash}/>",
        path.join(" ")
    );
    for [x, y] in points.iter().filter(|_| !dashed) {
        let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
    }
    out
}

fn text(x: f64, y: f64, anchor: &str, what: &str) -> String {
    let what = what.replace('&', "&amp;").replace('<', "&lt;");
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{what}</text>\n")
}

/// A number as short as it can be said.
fn label(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e5).contains(&value.abs()) {
        format!("{value:.0e}")
    } else {
        format!("{}", (value * 1e6).round() / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_draws_its_lines_within_the_frame_and_leaves_out_what_has_no_logarithm() {
        let line =
            |name: &str, points: &[[f64; 2]]| Line { name: name.to_owned(), points: points.to_vec(), dashed: false };
        let lines = vec![line("a < b", &[[1.0, 1e-3], [10.0, 0.0], [100.0, 2.0]])];
        let axes = [("rows".to_owned(), Scale::Log), ("ms".to_owned(), Scale::Log)];
        let svg = Plot { title: "t".into(), axes, lines }.svg();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains("a &lt; b"));
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("cx=\"80.0\" cy=\"360.0\""), "{svg}");
    }

    #[test]
    fn ticks_are_round_and_within_the_range() {
        let axis = Axis::new(Scale::Linear, [0.0, 23.0].into_iter(), [0.0, 1.0]);
        assert_eq!(axis.ticks(), [0.0, 5.0, 10.0, 15.0, 20.0]);
        let axis = Axis::new(Scale::Log, [30.0, 2000.0].into_iter(), [0.0, 1.0]);
        assert_eq!(axis.ticks(), [10.0, 100.0, 1000.0, 10_000.0]);
    }
}

//! Random bodies and strokes, shared by the example and the tests.

use std::collections::BTreeMap;

use sinew_cut::{Body, Front, Move, Options, Point, StrokeId, lattice};

/// A generator of random numbers, the same on all machines (splitmix64).
pub struct Draws(pub u64);

impl Draws {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    /// Uniform from `low` to `high`.
    pub fn number(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        (self.bits() % count as u64) as usize
    }

    fn direction(&mut self) -> Point {
        loop {
            let v = Point::new(self.number(-1.0, 1.0), self.number(-1.0, 1.0), self.number(-1.0, 1.0));
            if v.length() > 0.1 && v.length() <= 1.0 {
                return v.normalize();
            }
        }
    }
}

/// What came of the strokes.
#[derive(Debug, Default)]
pub struct Tally {
    /// Strokes made.
    pub strokes: usize,
    /// Of them, carried out.
    pub carried_out: usize,
    /// Broken invariants, and strokes that were not carried out without a report.
    pub failures: usize,
    /// Not carried out, reported as too tight, kept whole or refused.
    pub reported: usize,
    /// Bodies.
    pub bodies: usize,
    /// Checks of all invariants.
    pub checks: usize,
    /// Element copies split.
    pub splits: usize,
    /// Kinds of strokes: made, carried out, failed.
    pub kinds: BTreeMap<&'static str, [usize; 3]>,
    /// Times that a path came back and went on as a cut of its own.
    pub renewed: usize,
    /// Elements on paths that are too tight.
    pub tight: usize,
    /// Elements kept whole for want of planes.
    pub kept_whole: usize,
    /// Largest relative error of the area of a full plane cut of a whole body.
    pub worst_area: f64,
}

const SIZE: f64 = 1.0;

fn body(draws: &mut Draws) -> (Body, f64, &'static str) {
    let cells = 4 + draws.below(3);
    let size = SIZE / cells as f64;
    let n = [cells; 3];
    let (mut rest, tets) = match draws.below(3) {
        0 => lattice::five(n, size),
        1 => lattice::six(n, size),
        _ => lattice::centred([cells - 1; 3], SIZE / (cells - 1) as f64),
    };
    // regular, jittered, or stretched so that sizes vary by a factor of three
    let what = ["regular", "jittered", "stretched"][draws.below(3)];
    match what {
        "regular" => {}
        "jittered" => rest.iter_mut().for_each(|p| *p += draws.direction() * (0.2 * size * draws.number(0.0, 0.7))),
        _ => {
            for p in &mut rest {
                let jitter = draws.direction() * (0.1 * size * draws.number(0.0, 0.7));
                *p += jitter;
                let q = *p - Point::splat(0.5);
                *p = Point::splat(0.5) + Point::new(q.x * (0.6 + 0.8 * q.x.abs()), q.y, q.z * (1.0 - 0.5 * q.z * q.z));
            }
        }
    }
    let body = Body::new(&rest, &tets, &Options { spare: 12.0, blade: 64 }).expect("a mesh of positive volumes");
    (body, size, what)
}

type Shape = Box<dyn Fn(f64) -> (Vec<Point>, Vec<Point>)>;

/// A path of a blade: its polyline and normals at t from 0 to 1, its length, and what it separates.
struct Stroke {
    kind: &'static str,
    at: Shape,
    length: f64,
    /// Signed distance to the whole cut, for cuts that separate.
    side: Option<Box<dyn Fn(Point) -> f64>>,
    area: Option<f64>,
    note: String,
}

fn frame(n: Point, turn: f64) -> (Point, Point) {
    let u = n.any_orthonormal_vector();
    let v = n.cross(u);
    (u * turn.cos() + v * turn.sin(), v * turn.cos() - u * turn.sin())
}

/// A straight blade from `c - u w` to `c + u w`, in `parts` segments.
fn straight(c: Point, u: Point, w: f64, n: Point, parts: usize) -> (Vec<Point>, Vec<Point>) {
    let points = (0..=parts).map(|k| c + u * (w * (2.0 * k as f64 / parts as f64 - 1.0))).collect();
    (points, vec![n; parts])
}

fn plane(draws: &mut Draws, kind: &'static str, n: Point, c: Point) -> Stroke {
    let turn = draws.number(0.0, 6.28);
    let (u, v) = frame(n, turn);
    let parts = 1 + draws.below(4);
    let at = move |t: f64| straight(c + v * (3.0 * t - 1.5), u, 1.5, n, parts);
    Stroke {
        kind,
        at: Box::new(at),
        length: 3.0,
        side: Some(Box::new(move |x| (x - c).dot(n))),
        area: None,
        note: String::new(),
    }
}

fn random_plane(draws: &mut Draws) -> Stroke {
    let n = draws.direction();
    let c = Point::splat(0.5) + draws.direction() * draws.number(0.0, 0.35);
    plane(draws, "plane", n, c)
}

/// Through nodes, edges and faces of regular lattices.
fn lattice_plane(draws: &mut Draws, size: f64) -> Stroke {
    const NORMALS: [[f64; 3]; 6] =
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0], [0.0, 1.0, -1.0], [1.0, 1.0, 1.0]];
    let n = Point::from_array(NORMALS[draws.below(6)]).normalize();
    let cells = (SIZE / size).round() as usize;
    let c = Point::new(1.0, 1.0, 1.0) * ((1 + draws.below(cells - 1)) as f64 * size);
    plane(draws, "lattice plane", n, c)
}

fn trembling(draws: &mut Draws, size: f64) -> Stroke {
    let n = draws.direction();
    let c = Point::splat(0.5) + draws.direction() * draws.number(0.0, 0.3);
    let (u, v) = frame(n, draws.number(0.0, 6.28));
    let (height, seed) = (draws.number(0.05, 0.2) * size, draws.0);
    let at = move |t: f64| {
        let tremble = Draws(seed ^ (t * 1e6) as u64).number(-height, height);
        straight(c + v * (3.0 * t - 1.5) + n * tremble, u, 1.5, n, 3)
    };
    let side = move |x: Point| (x - c).dot(n);
    Stroke {
        kind: "trembling",
        at: Box::new(at),
        length: 3.0,
        side: Some(Box::new(side)),
        area: None,
        note: String::new(),
    }
}

/// Part of a plane: separates nothing.
fn patch(draws: &mut Draws) -> Stroke {
    let n = draws.direction();
    let c = Point::splat(0.5) + draws.direction() * draws.number(0.0, 0.4);
    let (u, v) = frame(n, draws.number(0.0, 6.28));
    let (w, l) = (draws.number(0.1, 0.5), draws.number(0.2, 0.8));
    let at = move |t: f64| straight(c + v * (l * (t - 0.5)), u, w, n, 2);
    Stroke { kind: "patch", at: Box::new(at), length: l, side: None, area: None, note: String::new() }
}

/// A cylinder of a radius in elements, through the whole body.
fn arc(draws: &mut Draws, size: f64, kind: &'static str, radius: f64) -> Stroke {
    let axis = draws.direction();
    let (u, _) = frame(axis, draws.number(0.0, 6.28));
    let radius = radius * size;
    // the surface passes near the middle
    let near = Point::splat(0.5) + draws.direction() * draws.number(0.0, 0.2);
    let centre = near - u * radius;
    let v = axis.cross(u);
    // a full turn and a little more where the circle is small
    let angle = std::f64::consts::TAU + 0.3;
    let at = move |t: f64| {
        let a = angle * t;
        let n = u * a.cos() + v * a.sin();
        straight(centre + n * radius, axis, 1.6, n, 3)
    };
    let side = move |x: Point| {
        let d = x - centre;
        (d - axis * d.dot(axis)).length() - radius
    };
    Stroke {
        kind,
        at: Box::new(at),
        length: radius * angle,
        side: Some(Box::new(side)),
        area: None,
        note: format!("radius {radius:.3}"),
    }
}

/// A wave across the body; the least radius of curvature in elements.
fn wave(draws: &mut Draws, size: f64, radius: f64) -> Stroke {
    let n = draws.direction();
    let c = Point::splat(0.5) + draws.direction() * draws.number(0.0, 0.2);
    let (u, v) = frame(n, draws.number(0.0, 6.28));
    let period = draws.number(0.8, 1.6);
    let k = std::f64::consts::TAU / period;
    // curvature a k² at the crests
    let a = (1.0 / (radius * size * k * k)).min(0.3 * period);
    let at = move |t: f64| {
        let y = 3.0 * t - 1.5;
        let normal = (n - v * (a * k * (k * y).cos())).normalize();
        straight(c + v * y + n * (a * (k * y).sin()), u, 1.5, normal, 3)
    };
    let side = move |x: Point| {
        let d = x - c;
        let y = d.dot(v);
        (d.dot(n) - a * (k * y).sin()) / (1.0 + (a * k * (k * y).cos()).powi(2)).sqrt()
    };
    Stroke {
        kind: "wave",
        at: Box::new(at),
        length: 3.0 + 2.0 * a * k,
        side: Some(Box::new(side)),
        area: None,
        note: String::new(),
    }
}

/// Two strokes that together are a plane: stop and go on, or head-on.
fn halves(draws: &mut Draws) -> [Stroke; 2] {
    let n = draws.direction();
    let c = Point::splat(0.5) + draws.direction() * draws.number(0.0, 0.3);
    let (u, v) = frame(n, draws.number(0.0, 6.28));
    let middle = draws.number(-0.4, 0.4);
    let head_on = draws.below(2) == 0;
    let first = move |t: f64| straight(c + v * (-1.5 + (middle + 1.5) * t), u, 1.5, n, 2);
    let second = move |t: f64| {
        let y = if head_on { 1.5 + (middle - 1.5) * t } else { middle + (1.5 - middle) * t };
        straight(c + v * y, u, 1.5, n, 3)
    };
    let kind = if head_on { "head-on" } else { "stop and go on" };
    let side = move |x: Point| (x - c).dot(n);
    [
        Stroke { kind, at: Box::new(first), length: middle + 1.5, side: None, area: None, note: String::new() },
        Stroke {
            kind,
            at: Box::new(second),
            length: 1.5 - middle,
            side: Some(Box::new(side)),
            area: None,
            note: String::new(),
        },
    ]
}

fn draw_strokes(draws: &mut Draws, size: f64, edge: f64) -> Vec<Vec<Stroke>> {
    let one = |draws: &mut Draws| match draws.below(9) {
        0 | 1 => random_plane(draws),
        2 => lattice_plane(draws, size),
        3 => trembling(draws, edge),
        4 | 5 => patch(draws),
        6 => {
            let radius = draws.number(2.0, 6.0);
            arc(draws, edge, "arc R 2-6 h", radius)
        }
        7 => {
            let radius = draws.number(2.5, 6.0);
            wave(draws, edge, radius)
        }
        _ => {
            let radius = draws.number(1.5, 2.0);
            arc(draws, edge, "arc R 1.5-2 h", radius)
        }
    };
    let mut rounds = Vec::new();
    for _ in 0..1 + draws.below(3) {
        match draws.below(6) {
            0 => rounds.push(vec![one(draws), one(draws)]),
            1 => {
                let [a, b] = halves(draws);
                if a.kind == "head-on" && draws.below(2) == 0 {
                    rounds.push(vec![a, b]);
                } else {
                    rounds.extend([vec![a], vec![b]]);
                }
            }
            _ => rounds.push(vec![one(draws)]),
        }
    }
    rounds
}

/// Makes strokes until there are `count`.
pub fn run(count: usize, seed: u64, loud: bool) -> Tally {
    let mut tally = Tally::default();
    let mut draws = Draws(seed.wrapping_mul(0xD1B5_4A32_D192_ED03));
    while tally.strokes < count {
        let start = draws.0;
        let problems = one_body(&mut draws, &mut tally);
        for (kind, problem) in problems {
            tally.failures += 1;
            tally.kinds.entry(kind).or_default()[2] += 1;
            if loud {
                println!("body {start:#x}, {kind}: {problem}");
            }
        }
    }
    tally
}

fn one_body(draws: &mut Draws, tally: &mut Tally) -> Vec<(&'static str, String)> {
    let (mut body, size, what) = body(draws);
    let edge = body.edge();
    tally.bodies += 1;
    let mut problems = Vec::new();
    let mut sides: Vec<(&'static str, Box<dyn Fn(Point) -> f64>)> = Vec::new();
    for round in draw_strokes(draws, size, edge) {
        let reported = carry_out(&mut body, &round, draws, size, tally, &mut problems);
        let broken = !problems.is_empty();
        for stroke in round {
            tally.strokes += 1;
            let counts = tally.kinds.entry(stroke.kind).or_default();
            counts[0] += 1;
            let Some(side) = stroke.side else {
                counts[1] += usize::from(!broken);
                tally.carried_out += usize::from(!broken);
                continue;
            };
            match bridge(&body, &*side) {
                _ if broken => {}
                None => {
                    counts[1] += 1;
                    tally.carried_out += 1;
                    sides.push((stroke.kind, side));
                }
                Some(_) if reported => tally.reported += 1,
                Some(problem) => {
                    problems.push((stroke.kind, format!("{what} mesh, edge {edge:.3}: {problem}; {}", stroke.note)))
                }
            }
        }
        if !problems.is_empty() {
            break;
        }
    }
    problems
}

/// Moves the blades of a round from start to end. True if something was reported.
fn carry_out(
    body: &mut Body,
    round: &[Stroke],
    draws: &mut Draws,
    size: f64,
    tally: &mut Tally,
    problems: &mut Vec<(&'static str, String)>,
) -> bool {
    let step = draws.number(0.05, 0.4) * size;
    let ticks = round.iter().map(|stroke| (stroke.length / step).ceil() as usize).max().unwrap_or(1).max(2);
    let fronts = |t: f64| round.iter().map(|stroke| (stroke.at)(t)).collect::<Vec<_>>();
    let begin = |(points, normals): &(Vec<Point>, Vec<Point>), body: &mut Body| {
        body.begin(&Front { points, normals, ..Front::default() }).expect("a blade")
    };
    let ids: Vec<StrokeId> = fronts(0.0).iter().map(|front| begin(front, body)).collect();
    let mut reported = false;
    let mut area = 0.0;
    let whole = body.node_parents().len() == body.rest().len();
    for tick in 1..=ticks {
        let fronts = fronts(tick as f64 / ticks as f64);
        let moves: Vec<Move> = ids
            .iter()
            .zip(&fronts)
            .map(|(&stroke, (points, normals))| Move {
                stroke,
                front: Front { points, normals, ..Front::default() },
                last: tick == ticks,
            })
            .collect();
        let edit = body.tick(&moves).expect("a front");
        let report = edit.report;
        let empty = edit.is_empty();
        tally.splits += report.splits;
        tally.renewed += report.renewed;
        tally.tight += report.tight;
        tally.kept_whole += report.kept_whole;
        area += report.area;
        reported |= report.tight + report.kept_whole > 0 || report.refused.is_some();
        if empty {
            continue;
        }
        tally.checks += 1;
        if let Err(broken) = body.check() {
            problems.push((round[0].kind, format!("tick {tick} of {ticks}: {broken}")));
            return reported;
        }
    }
    if let ([Stroke { area: Some(wanted), .. }], true) = (round, whole) {
        tally.worst_area = tally.worst_area.max((area / wanted - 1.0).abs());
    }
    reported
}

/// A piece that has matter well on both sides of a full cut.
fn bridge(body: &Body, side: &dyn Fn(Point) -> f64) -> Option<String> {
    let margin = 0.5 * body.edge();
    for piece in body.pieces() {
        let mut range = (0.0_f64, 0.0_f64);
        for &element in &piece.elements {
            // only elements that the cut does not reach
            let Some(centre) = whole_centre(body, element) else { continue };
            let s = side(centre);
            range = (range.0.min(s), range.1.max(s));
        }
        if range.0 < -margin && range.1 > margin {
            return Some(format!(
                "a piece of volume {:.3} reaches from {:.3} to {:.3}",
                piece.volume, range.0, range.1
            ));
        }
    }
    None
}

fn whole_centre(body: &Body, element: u32) -> Option<Point> {
    let copy = &body.elements()[element as usize];
    if copy.fill < 0.999_999 {
        return None;
    }
    let rest = |node: u32| body.rest()[body.node_parents()[node as usize] as usize];
    Some(copy.nodes.iter().map(|&node| rest(node)).sum::<Point>() / 4.0)
}

//! Times of contact against analytic solutions, against each other and against dense sampling.

use super::*;
use crate::math::{Wide3, WideQuat};

struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    }

    fn point(&mut self) -> Wide3 {
        Wide3::new(self.roll(), self.roll(), self.roll())
    }
}

const METHODS: [RootMethod; 3] = [RootMethod::Bisection, RootMethod::RegulaFalsi, RootMethod::Brent];
const NO_GAP: Keep = Keep { touch: 0.0, gap: 1e-6, floor: 1e-9 };

fn look_at(tracks: &[Track<'_>; 4], edges: bool, t: f64) -> Look {
    let at = tracks.map(|track| track.at(t));
    let x = at.map(|(x, ..)| x);
    let slab = if edges { edge_edge(&x) } else { vertex_face(&x) };
    let split = if edges { 2 } else { 1 };
    let along = |k: usize| slab.normal.dot(at[k].1);
    let toward = (0..split).map(along).fold(f64::NEG_INFINITY, f64::max);
    let away = (split..4).map(along).fold(f64::INFINITY, f64::min);
    let bend = |range: std::ops::Range<usize>| range.map(|k| at[k].2).fold(0.0, f64::max);
    let (width, normal, weights) = (slab.width, slab.normal, slab.weights);
    Look { width, closing: toward - away, bend: bend(0..split) + bend(split..4), normal, weights }
}

fn conservative(from: &[Wide3; 4], to: &[Wide3; 4], edges: bool, keep: &Keep) -> Option<f64> {
    let tracks: [Track<'_>; 4] = std::array::from_fn(|k| Track::Line(from[k], to[k] - from[k]));
    advance(|t| look_at(&tracks, edges, t), keep).map(|(t, _)| t)
}

fn distance(x: &[Wide3; 4], edges: bool) -> f64 {
    if edges { edge_edge(x).width } else { vertex_face(x).width }
}

#[test]
fn time_of_contact_of_a_vertex_falling_onto_a_face_is_the_time_of_free_flight() {
    let face = [Wide3::new(-1.0, 0.0, -1.0), Wide3::new(2.0, 0.0, -1.0), Wide3::new(-1.0, 0.0, 2.0)];
    let from = [Wide3::Y, face[0], face[1], face[2]];
    let to = [Wide3::new(0.1, -3.0, 0.2), face[0], face[1], face[2]];
    for method in METHODS {
        let t = first_meeting(method, &from, &to, false).unwrap();
        assert!((t - 0.25).abs() < 1e-9 && t <= 0.25, "{method:?}: {t}");
    }
    // maintains twice the gap and nine tenths of the margin: not later, and not much earlier
    let t = conservative(&from, &to, false, &NO_GAP).unwrap();
    assert!(t <= 0.25 && t > 0.22, "{t}");
    // beside the face
    let aside = [Wide3::new(5.0, -3.0, 0.0), face[0], face[1], face[2]];
    assert_eq!(
        first_meeting(RootMethod::Brent, &[Wide3::new(5.0, 1.0, 0.0), face[0], face[1], face[2]], &aside, false),
        None
    );
}

#[test]
fn crossing_edges_meet_at_half_the_step() {
    let from = [-Wide3::X, Wide3::X, Wide3::new(0.0, 1.0, -1.0), Wide3::new(0.0, 1.0, 1.0)];
    let to = [-Wide3::X, Wide3::X, Wide3::new(0.0, -1.0, -1.0), Wide3::new(0.0, -1.0, 1.0)];
    for method in METHODS {
        let t = first_meeting(method, &from, &to, true).unwrap();
        assert!((t - 0.5).abs() < 1e-9, "{method:?}: {t}");
    }
    let t = conservative(&from, &to, true, &NO_GAP).unwrap();
    assert!(t <= 0.5 && t > 0.44, "{t}");
}

/// Three roots: the smallest at which the features really meet counts, not the smallest of all.
#[test]
fn of_three_coplanarity_roots_the_first_with_a_contact_counts() {
    // the face rotates by two thirds of a turn while the vertex approaches from the side: coplanarity occurs before
    // contact
    let face = [Wide3::new(-1.0, 0.0, 0.0), Wide3::new(1.0, 0.0, 0.0), Wide3::new(0.0, 0.0, 1.0)];
    let from = [Wide3::new(4.0, 0.5, 0.2), face[0], face[1], face[2]];
    let to = [Wide3::new(-4.0, -0.7, 0.2), face[0], face[1], face[2] + Wide3::new(0.0, 1.5, -1.0)];
    let times = METHODS.map(|m| first_meeting(m, &from, &to, false));
    let steps = 200_000;
    let at = |t: f64| -> [Wide3; 4] { std::array::from_fn(|k| from[k].lerp(to[k], t)) };
    let sampled = (0..=steps).map(|i| i as f64 / steps as f64).find(|&t| distance(&at(t), false) < 1e-4);
    for t in times {
        match (t, sampled) {
            (Some(t), Some(s)) => assert!((t - s).abs() < 1e-3, "{t} and {s}"),
            (None, None) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// Random pairs: all root methods agree, and the conservative time is never later and never permits a crossing.
#[test]
fn conservative_time_of_random_pairs_is_never_late() {
    let mut dice = Dice(11);
    let (mut met, mut early) = (0, 0.0);
    for round in 0..4000 {
        let edges = round % 2 == 1;
        let from: [Wide3; 4] = std::array::from_fn(|_| dice.point());
        let to: [Wide3; 4] = std::array::from_fn(|k| from[k] + dice.point() * 1.5);
        let roots = METHODS.map(|m| first_meeting(m, &from, &to, edges));
        let safe = conservative(&from, &to, edges, &NO_GAP);
        if let Some(first) = roots[0] {
            met += 1;
            for other in roots {
                assert!((other.unwrap() - first).abs() < 1e-8, "{roots:?}");
            }
            let safe = safe.expect("not missed");
            assert!(safe <= first + 1e-12, "{safe} after {first}");
            early += first - safe;
        }
        // up to the conservative time the two maintain their gap
        let end = safe.unwrap_or(1.0);
        for i in 0..=50 {
            let t = end * f64::from(i) / 50.0;
            let x: [Wide3; 4] = std::array::from_fn(|k| from[k].lerp(to[k], t));
            assert!(distance(&x, edges) > 0.9e-6, "{round}: {} at {t} of {end}", distance(&x, edges));
        }
    }
    assert!(met > 300, "{met}");
    assert!(early / f64::from(met) < 0.05, "{} early on average", early / f64::from(met));
}

/// Motion within a plane has no root: the cubic is zero throughout. The conservative method detects it.
#[test]
fn conservative_advancement_detects_motion_within_a_plane() {
    // two parallel edges that collide, and two edges in one plane
    let cases = [
        ([-Wide3::X, Wide3::X, Wide3::Y - Wide3::X, Wide3::Y + Wide3::X], Wide3::Y * -2.0),
        ([-Wide3::X, Wide3::X, Wide3::new(0.0, 1.0, 0.0), Wide3::new(0.5, 2.0, 0.0)], Wide3::Y * -4.0),
    ];
    for (from, way) in cases {
        let to = [from[0], from[1], from[2] + way, from[3] + way];
        let t = conservative(&from, &to, true, &NO_GAP).expect("they meet");
        let meets = 1.0 / way.length();
        assert!(t <= meets && t > 0.85 * meets, "{t} of {meets}");
    }
    // a vertex that slides in the face's plane into its edge
    let face = [Wide3::new(-1.0, 0.0, 0.0), Wide3::new(1.0, 0.0, 0.0), Wide3::new(0.0, 0.0, 1.0)];
    let from = [Wide3::new(0.0, 0.0, -1.0), face[0], face[1], face[2]];
    let to = [Wide3::new(0.0, 0.0, 1.0), face[0], face[1], face[2]];
    let t = conservative(&from, &to, false, &NO_GAP).expect("it meets the rim");
    assert!(t <= 0.5 && t > 0.44, "{t}");
}

/// A point that slides along a face slightly above it is not stopped; nor is one that separates.
#[test]
fn sliding_and_separating_points_are_not_stopped() {
    let face = [Wide3::new(-9.0, 0.0, -9.0), Wide3::new(9.0, 0.0, -9.0), Wide3::new(0.0, 0.0, 9.0)];
    for (height, way) in
        [(1.1e-6, Wide3::X), (0.5e-6, Wide3::new(1.0, 0.1, 0.0)), (1e-3, Wide3::new(3.0, -0.9e-3, 0.0))]
    {
        let from = [Wide3::Y * height, face[0], face[1], face[2]];
        let to = [from[0] + way, face[0], face[1], face[2]];
        let t = conservative(&from, &to, false, &NO_GAP);
        assert!(t.is_none(), "{height}: {t:?}");
    }
}

/// A bar that rotates about its end by 90° sweeps over a point at 45°; its chord would miss the point.
#[test]
fn arcs_of_rotating_bodies_are_followed() {
    let turned = WideQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
    let pivot = Pivot::new((Wide3::ZERO, WideQuat::IDENTITY), (Wide3::ZERO, turned));
    let point = Wide3::new(0.68, 0.68, 0.0);
    let tracks = [
        Track::Arc(&pivot, Wide3::new(0.9, 0.0, 0.0)),
        Track::Arc(&pivot, Wide3::new(1.0, 0.0, 0.0)),
        Track::Line(point - Wide3::Z, Wide3::ZERO),
        Track::Line(point + Wide3::Z, Wide3::ZERO),
    ];
    let (t, _) = advance(|t| look_at(&tracks, true, t), &NO_GAP).expect("the tip sweeps over it");
    // half of the rotation is at half of the step by symmetry of the chord
    assert!(t <= 0.5 && t > 0.4, "{t}");
    for i in 0..=100 {
        let width = look_at(&tracks, true, t * f64::from(i) / 100.0).width;
        assert!(width > 0.9e-6, "{width}");
    }
    // speeds and accelerations stay below their bounds
    for i in 1..100 {
        let (t, d) = (f64::from(i) / 100.0, 1e-4);
        let at = |t: f64| tracks[1].at(t).0;
        let (v, a) = ((at(t + d) - at(t - d)) / (2.0 * d), (at(t + d) - at(t) * 2.0 + at(t - d)) / (d * d));
        assert!((v - tracks[1].at(t).1).length() < 1e-5);
        assert!(a.length() <= tracks[1].at(t).2 + 1e-5, "{} above {}", a.length(), tracks[1].at(t).2);
    }
}

#[test]
fn faster_root_methods_need_fewer_evaluations() {
    let asked = METHODS.map(|m| roots::find(m, |t| t * t * t - 0.2, 0.0, 1.0));
    for (t, _) in asked {
        assert!((t - 0.2f64.cbrt()).abs() < 1e-11 && t <= 0.2f64.cbrt() + 1e-15, "{t}");
    }
    assert!(asked[2].1 < asked[0].1 && asked[1].1 < asked[0].1, "{asked:?}");
}

/// The diagonal of a large ground face and an edge close above it, at all small angles and not quite level: the slab
/// between them is as wide as the gap, and never wider. (Nearest points alone gave 0 to 0.3 mm, and boxes at rest were
/// reported as tangled.)
#[test]
fn slabs_between_nearly_parallel_edges_are_as_wide_as_the_gap() {
    let mut dice = Dice(5);
    for angle in (0..200).map(|k| 10f64.powf(-9.0 + 0.04 * f64::from(k))) {
        let ground = [Wide3::new(-100.0, 0.0, -100.0), Wide3::new(100.0, 0.0, 100.0)];
        let turned = WideQuat::from_rotation_y(angle - std::f64::consts::FRAC_PI_4) * Wide3::X;
        let (middle, gap) = (30.0 * dice.roll() * Wide3::new(1.0, 0.0, 1.0), 3e-4);
        let lean = Wide3::Y * (1e-6 * dice.roll());
        let at = |along: f64| middle + Wide3::Y * gap + (turned + lean) * along;
        let x = [ground[0], ground[1], at(-0.3), at(0.7)];
        let exact = gap + (0.7 * lean.y).min(-0.3 * lean.y).min(0.0);
        let width = edge_edge(&x).width;
        assert!(width > 0.99 * exact && width < 1.01 * gap, "angle {angle:.1e}: {width:.2e} of {gap:.2e} m");
    }
}

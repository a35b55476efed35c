//! Distances of a vertex from a face and of an edge from an edge, in f64, with the slab between them.
//!
//! A slab is a unit normal n and the width s = min_b n·x − max_a n·x over the corners of the two features. For any n
//! the distance is at least s, so s is a safe bound even where the nearest points are ill conditioned. With n along the
//! line between the nearest points, s is the distance.

use crate::math::Wide3;

/// Below this fraction of the squared lengths two segments count as parallel.
const PARALLEL: f64 = 1e-14;

/// A slab between two features of two to four corners.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slab {
    /// From a to b; zero when the two are in contact.
    pub normal: Wide3,
    /// Width: a lower bound of the distance [m].
    pub width: f64,
    /// Weights of the four corners at the nearest points: those of each side sum to one.
    pub weights: [f64; 4],
}

/// A vertex (first) and a triangle.
pub(crate) fn vertex_face(x: &[Wide3; 4]) -> Slab {
    let w = point_triangle(x[0], [x[1], x[2], x[3]]);
    wider(x, 1, slab(x, 1, [1.0, w[0], w[1], w[2]]), (x[2] - x[1]).cross(x[3] - x[1]))
}

/// Two edges: the first two corners and the last two.
pub(crate) fn edge_edge(x: &[Wide3; 4]) -> Slab {
    let [s, t] = segment_segment([x[0], x[1]], [x[2], x[3]]);
    wider(x, 2, slab(x, 2, [1.0 - s, s, 1.0 - t, t]), (x[1] - x[0]).cross(x[3] - x[2]))
}

/// The wider of a slab and the slab along the normal of both features, which is the widest when the nearest points are
/// interior. The nearest points lose their digits to rounding where edges are nearly parallel and long: between the
/// diagonal of a ground of 200 m and that of a box 0.3 mm above it they gave a slab of zero width.
fn wider(x: &[Wide3; 4], split: usize, nearest: Slab, across: Wide3) -> Slab {
    let Some(across) = across.try_normalize() else { return nearest };
    let across = if across.dot(x[split] - x[0]) < 0.0 { -across } else { across };
    let other = slab_along(x, split, across, nearest.weights);
    if other.width > nearest.width { other } else { nearest }
}

/// The slab along the line between the nearest points. The first `split` corners belong to a.
fn slab(x: &[Wide3; 4], split: usize, weights: [f64; 4]) -> Slab {
    let mut apart = Wide3::ZERO;
    for k in 0..4 {
        apart += x[k] * if k < split { -weights[k] } else { weights[k] };
    }
    let Some(normal) = apart.try_normalize() else {
        return Slab { normal: Wide3::ZERO, width: 0.0, weights };
    };
    slab_along(x, split, normal, weights)
}

/// The slab with a given normal.
fn slab_along(x: &[Wide3; 4], split: usize, normal: Wide3, weights: [f64; 4]) -> Slab {
    // relative to the first corner: large coordinates would lose digits
    let along = |k: usize| normal.dot(x[k] - x[0]);
    let far_a = (0..split).map(along).fold(f64::NEG_INFINITY, f64::max);
    let near_b = (split..4).map(along).fold(f64::INFINITY, f64::min);
    Slab { normal, width: near_b - far_a, weights }
}

fn point_triangle(p: Wide3, corners: [Wide3; 3]) -> [f64; 3] {
    let [a, b, c] = corners;
    let (e, f, d) = (b - a, c - a, p - a);
    let (ee, ef, ff) = (e.dot(e), e.dot(f), f.dot(f));
    let area = ee * ff - ef * ef;
    if area > PARALLEL * ee * ff {
        let (de, df) = (d.dot(e), d.dot(f));
        let (v, w) = ((ff * de - ef * df) / area, (ee * df - ef * de) / area);
        if v >= 0.0 && w >= 0.0 && v + w <= 1.0 {
            return [1.0 - v - w, v, w];
        }
    }
    let mut best = ([1.0, 0.0, 0.0], f64::INFINITY);
    for (i, j) in [(0, 1), (1, 2), (2, 0)] {
        let t = point_segment(p, [corners[i], corners[j]]);
        let away = (corners[i] + (corners[j] - corners[i]) * t - p).length_squared();
        if away < best.1 {
            let mut weights = [0.0; 3];
            (weights[i], weights[j]) = (1.0 - t, t);
            best = (weights, away);
        }
    }
    best.0
}

fn point_segment(p: Wide3, [a, b]: [Wide3; 2]) -> f64 {
    let e = b - a;
    let length = e.length_squared();
    if length > 0.0 { ((p - a).dot(e) / length).clamp(0.0, 1.0) } else { 0.0 }
}

/// The nearest of all candidate pairs: both points interior, or an end of one with a point of the other.
fn segment_segment(a: [Wide3; 2], b: [Wide3; 2]) -> [f64; 2] {
    let (e, f, r) = (a[1] - a[0], b[1] - b[0], a[0] - b[0]);
    let (ee, ef, ff) = (e.dot(e), e.dot(f), f.dot(f));
    let area = ee * ff - ef * ef;
    if area > PARALLEL * ee * ff {
        let (er, fr) = (e.dot(r), f.dot(r));
        let (s, t) = ((ef * fr - ff * er) / area, (ee * fr - ef * er) / area);
        if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
            return [s, t];
        }
    }
    let mut best = ([0.0, 0.0], f64::INFINITY);
    for [s, t] in ends(a, b) {
        let away = (r + e * s - f * t).length_squared();
        if away < best.1 {
            best = ([s, t], away);
        }
    }
    best.0
}

/// An end of one with the point nearest to it on the other.
fn ends(a: [Wide3; 2], b: [Wide3; 2]) -> [[f64; 2]; 4] {
    let on = |end: usize| [[end as f64, point_segment(a[end], b)], [point_segment(b[end], a), end as f64]];
    let ([p, q], [r, s]) = (on(0), on(1));
    [p, q, r, s]
}

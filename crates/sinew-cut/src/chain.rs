//! Ropes: chains of points whose segments cross the swept blade.

use crate::Point;
use crate::error::{CutError, finite};
use crate::sweep::Sweep;

/// Nearer to a point than this fraction of the segment, the chain is cut at the point.
const AT_POINT: f64 = 0.2;

/// A cut of a chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ChainCut {
    /// At a point: the part behind it gets a copy of the point. Half of the point's mass goes to each.
    Point(u32),
    /// In a segment: two points are inserted at this place, one for each part; masses by length.
    Segment {
        /// Segment k joins points k and k + 1.
        segment: u32,
        /// From 0 at its first point to 1 at its second.
        place: f64,
    },
}

/// Cuts of a chain by a swept blade, along the chain. The ends of the chain are not cut off without a segment.
///
/// ```
/// use sinew_cut::{Point, Sweep, chain};
/// # fn main() -> Result<(), sinew_cut::CutError> {
/// let rope: Vec<Point> = (0..5).map(|k| Point::X * k as f64).collect();
/// let edge = |y: f64| [Point::new(2.5, y, -1.0), Point::new(2.5, y, 1.0)];
/// let (old, new) = (edge(-0.1), edge(0.1));
/// let cuts = chain::cut(&rope, &Sweep::new(&old, &new)?)?;
/// assert_eq!(cuts, [chain::ChainCut::Segment { segment: 2, place: 0.5 }]);
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// Points that are not finite.
pub fn cut(points: &[Point], sweep: &Sweep) -> Result<Vec<ChainCut>, CutError> {
    finite("point of the chain", points)?;
    let mut cuts = Vec::new();
    let last = points.len().saturating_sub(1);
    for (segment, pair) in points.windows(2).enumerate() {
        let Some(place) = sweep.crossing(pair[0], pair[1]) else { continue };
        let inner = |point: usize| point > 0 && point < last;
        let cut = if place < AT_POINT && inner(segment) {
            ChainCut::Point(segment as u32)
        } else if place > 1.0 - AT_POINT && inner(segment + 1) {
            ChainCut::Point(segment as u32 + 1)
        } else {
            ChainCut::Segment { segment: segment as u32, place }
        };
        if cuts.last() != Some(&cut) {
            cuts.push(cut);
        }
    }
    Ok(cuts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_a_point_the_rope_is_cut_there_and_beside_it_nowhere() {
        let rope: Vec<Point> = (0..5).map(|k| Point::X * f64::from(k)).collect();
        let at = |x: f64, reach: f64| {
            let edge = |y: f64| [Point::new(x, y, -reach), Point::new(x, y, 1.0)];
            let (old, new) = (edge(-0.1), edge(0.1));
            cut(&rope, &Sweep::new(&old, &new).unwrap()).unwrap()
        };
        assert_eq!(at(2.1, 1.0), [ChainCut::Point(2)]);
        assert_eq!(at(2.9, 1.0), [ChainCut::Point(3)]);
        assert_eq!(at(3.0, 1.0), [ChainCut::Point(3)]);
        assert!(at(2.1, -0.5).is_empty());
        assert!(
            matches!(at(0.125, 1.0)[..], [ChainCut::Segment { segment: 0, place }] if (place - 0.125).abs() < 1e-12)
        );
    }

    #[test]
    fn a_blade_of_no_length_and_numbers_that_are_none_are_refused() {
        let (still, nan) = ([Point::ZERO; 2], [Point::ZERO, Point::NAN]);
        assert_eq!(Sweep::new(&still, &still).unwrap_err(), CutError::NoLength);
        assert!(matches!(Sweep::new(&still, &nan).unwrap_err(), CutError::NotFinite { index: 1, .. }));
    }
}

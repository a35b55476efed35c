//! A uniform grid over boxes or points, for searches at build time: neighbours of a point, the element nearest to it.
//!
//! A search visits shells of cells around the point and stops when no unvisited item can be nearer; the order of visits
//! depends on the input alone.

use crate::math::{Real, Vec3, widen};

/// Items by cell.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    low: Vec3,
    /// Edge length of a cell [m].
    side: Real,
    counts: [i64; 3],
    /// First item of each cell, and the end. (cell_count + 1)
    starts: Vec<u32>,
    items: Vec<u32>,
}

/// Number of neighbours whose mean distance is the spacing of a point (FC 3.2.2).
pub(crate) const NEAREST: usize = 10;

impl Grid {
    /// A grid over boxes (low and high corner), about one cell per box.
    pub fn new(boxes: &[(Vec3, Vec3)]) -> Self {
        let low = boxes.iter().fold(Vec3::INFINITY, |m, b| m.min(b.0));
        let high = boxes.iter().fold(Vec3::NEG_INFINITY, |m, b| m.max(b.1));
        let extent = if boxes.is_empty() { Vec3::ONE } else { high - low };

        // shrink cells until there are as many as items, for sets of any dimension
        let cells = |side: Real| extent.to_array().map(|e| (e / side) as i64 + 1);
        let mut side = extent.max_element().max(Real::MIN_POSITIVE);
        for _ in 0..100 {
            let finer = side * 0.8;
            if cells(finer).iter().product::<i64>() > boxes.len().max(1) as i64 {
                break;
            }
            side = finer;
        }
        let mut grid = Self {
            low: if boxes.is_empty() { Vec3::ZERO } else { low },
            side,
            counts: cells(side),
            starts: Vec::new(),
            items: Vec::new(),
        };
        grid.fill(boxes);
        grid
    }

    /// A grid over points.
    pub fn of_points(points: &[Vec3]) -> Self {
        let boxes: Vec<(Vec3, Vec3)> = points.iter().map(|&p| (p, p)).collect();
        Self::new(&boxes)
    }

    fn fill(&mut self, boxes: &[(Vec3, Vec3)]) {
        // counting sort: count, prefix sum, place
        let mut starts = vec![0u32; self.counts.iter().product::<i64>() as usize + 1];
        for b in boxes {
            self.cells_between(self.cell(b.0), self.cell(b.1), |c| starts[c + 1] += 1);
        }
        for c in 1..starts.len() {
            starts[c] += starts[c - 1];
        }
        let mut next = starts.clone();
        let mut items = vec![0; starts[starts.len() - 1] as usize];
        for (k, b) in boxes.iter().enumerate() {
            self.cells_between(self.cell(b.0), self.cell(b.1), |c| {
                items[next[c] as usize] = k as u32;
                next[c] += 1;
            });
        }
        (self.starts, self.items) = (starts, items);
    }

    /// The cell of a point, the nearest one when it lies outside.
    fn cell(&self, at: Vec3) -> [i64; 3] {
        let local = ((at - self.low) / self.side).to_array();
        std::array::from_fn(|k| (local[k].floor() as i64).clamp(0, self.counts[k] - 1))
    }

    fn cells_between(&self, low: [i64; 3], high: [i64; 3], mut visit: impl FnMut(usize)) {
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                for x in low[0]..=high[0] {
                    visit((x + self.counts[0] * (y + self.counts[1] * z)) as usize);
                }
            }
        }
    }

    /// Visits the items of the cells that are `ring` cells away from that of `at`. An item in several cells is visited
    /// repeatedly.
    pub fn shell(&self, at: Vec3, ring: i64, mut visit: impl FnMut(u32)) {
        let centre = self.cell(at);
        let low: [i64; 3] = std::array::from_fn(|k| (centre[k] - ring).max(0));
        let high: [i64; 3] = std::array::from_fn(|k| (centre[k] + ring).min(self.counts[k] - 1));
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                let across = (y - centre[1]).abs().max((z - centre[2]).abs());
                // inside the shell only the two ends of a row belong to it
                let stride = if across == ring { 1 } else { 2 * ring };
                let mut x = if across == ring { low[0] } else { centre[0] - ring };
                while x <= high[0] {
                    if x >= low[0] {
                        let c = (x + self.counts[0] * (y + self.counts[1] * z)) as usize;
                        self.items[self.starts[c] as usize..self.starts[c + 1] as usize].iter().for_each(|&i| visit(i));
                    }
                    x += stride.max(1);
                }
            }
        }
    }

    /// Distance from `at` below which all items have been visited after shells 0 to `ring`; infinite when all cells
    /// have been visited [m].
    pub fn reach(&self, at: Vec3, ring: i64) -> Real {
        let centre = self.cell(at);
        let (at, low) = (at.to_array(), self.low.to_array());
        let mut reach = Real::INFINITY;
        for k in 0..3 {
            let (first, last) = (centre[k] - ring, centre[k] + ring);
            if first > 0 {
                reach = reach.min(at[k] - (low[k] + first as Real * self.side));
            }
            if last < self.counts[k] - 1 {
                reach = reach.min(low[k] + (last + 1) as Real * self.side - at[k]);
            }
        }
        // rounding of cell limits must not exclude a point
        reach - 1e-3 * self.side
    }

    /// The `count` points nearest to `at`, with their squared distance, nearest first; ties are resolved by index.
    /// `skip` is excluded.
    pub fn nearest(&self, points: &[Vec3], at: Vec3, count: usize, skip: Option<u32>, found: &mut Vec<(Real, u32)>) {
        found.clear();
        for ring in 0.. {
            self.shell(at, ring, |i| {
                if Some(i) != skip {
                    found.push((points[i as usize].distance_squared(at), i));
                }
            });
            found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            found.truncate(count);
            let reach = self.reach(at, ring);
            let worst = if found.len() == count { found.last().map_or(0.0, |f| f.0) } else { Real::INFINITY };
            if reach == Real::INFINITY || (reach > 0.0 && worst <= reach * reach) {
                return;
            }
        }
    }

    /// Indices of the points nearer to `at` than `radius`, ascending.
    pub fn within(&self, points: &[Vec3], at: Vec3, radius: Real, found: &mut Vec<u32>) {
        found.clear();
        let r = Vec3::splat(radius * 1.001);
        self.cells_between(self.cell(at - r), self.cell(at + r), |c| {
            found.extend_from_slice(&self.items[self.starts[c] as usize..self.starts[c + 1] as usize]);
        });
        found.retain(|&i| points[i as usize].distance_squared(at) < radius * radius);
        found.sort_unstable();
    }
}

/// Mean distance of each point to its ten nearest neighbours r̄ [m]; 0 where there is no other point.
pub(crate) fn spacings(points: &[Vec3], grid: &Grid) -> Vec<Real> {
    let mut found = Vec::new();
    let spacing = |(i, &at): (usize, &Vec3)| {
        grid.nearest(points, at, NEAREST, Some(i as u32), &mut found);
        found.iter().map(|f| f.0.sqrt()).sum::<Real>() / found.len().max(1) as Real
    };
    points.iter().enumerate().map(spacing).collect()
}

/// The kernel of FC 3.11, 315/(64π h⁹) (h² − r²)³ within h [1/m³].
#[allow(clippy::unnecessary_cast, reason = "the casts are needed in the f32 build")]
pub(crate) fn kernel(offset: Vec3, h: Real) -> f64 {
    let h = h as f64;
    let q = 1.0 - widen(offset).length_squared() / (h * h);
    if q > 0.0 { 315.0 / (64.0 * std::f64::consts::PI) / (h * h * h) * q * q * q } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scattered(count: u32) -> Vec<Vec3> {
        let part = |k: u32, p: u32| (k.wrapping_mul(p) % 1009) as Real / 1009.0;
        (0..count).map(|k| Vec3::new(part(k, 7919), part(k, 104_729), 0.2 * part(k, 15_485_863))).collect()
    }

    #[test]
    fn nearest_points_agree_with_an_exhaustive_search() {
        let points = scattered(300);
        let grid = Grid::of_points(&points);
        let mut found = Vec::new();
        for at in [Vec3::ZERO, Vec3::splat(0.3), Vec3::new(5.0, -3.0, 0.1), points[17]] {
            grid.nearest(&points, at, 7, None, &mut found);
            let mut all: Vec<(Real, u32)> =
                points.iter().enumerate().map(|(i, p)| (p.distance_squared(at), i as u32)).collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            assert_eq!(found, all[..7]);
        }
    }

    #[test]
    fn points_within_a_radius_agree_with_an_exhaustive_search() {
        let points = scattered(300);
        let grid = Grid::of_points(&points);
        let mut found = Vec::new();
        grid.within(&points, points[5], 0.2, &mut found);
        let all: Vec<u32> = (0..300).filter(|&i| points[i as usize].distance(points[5]) < 0.2).collect();
        assert_eq!(found, all);
        assert!(all.len() > 5);
    }

    #[test]
    fn planar_collinear_and_single_point_sets_are_searched() {
        for points in [vec![Vec3::ONE], (0..50).map(|i| Vec3::X * i as Real).collect(), vec![]] {
            let grid = Grid::of_points(&points);
            let mut found = Vec::new();
            grid.nearest(&points, Vec3::ZERO, 3, None, &mut found);
            assert_eq!(found.len(), points.len().min(3));
        }
    }

    #[test]
    fn the_kernel_integrates_to_one() {
        let n = 24;
        let step = 2.0 / n as Real;
        let mut sum = 0.0;
        for k in 0..n * n * n {
            let at = |i: i32| (i as Real + 0.5) * step - 1.0;
            sum += kernel(Vec3::new(at(k % n), at(k / n % n), at(k / n / n)), 1.0);
        }
        #[allow(clippy::unnecessary_cast, reason = "the cast is needed in the f32 build")]
        let sum = sum * (step as f64).powi(3);
        assert!((sum - 1.0).abs() < 1e-3, "{sum}");
    }
}

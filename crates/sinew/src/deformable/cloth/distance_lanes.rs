//! Distance constraints in SIMD lanes: eight pairs of nodes at a time, the hot loop of cloth and rope.
//!
//! For one pair with d = x_b − x_a, l = |d|, C = l − l0 and the XPBD step of `rows.rs` without a dashpot
//!
//! ```text
//!   ΔΛ = (−C − α̃ Λ) / (w_a + w_b + α̃),   x_a −= w_a ΔΛ d/l,   x_b += w_b ΔΛ d/l
//! ```
//!
//! Nodes stay in blocks of four numbers, inverse mass last. Only the differences d are transposed into lanes, and the
//! factor ΔΛ/l is returned by a broadcast: 11 shuffles for eight rows instead of 32 (cloth study, 1.5 against 2.0 ns
//! per row). Groups follow the order of colours: in mesh order a group waits for the stores of the previous one (2.9 ns
//! per row).
//!
//! A sheet that is a regular grid has its nodes in strips instead (`grid_strips.rs`), where eight ends are one vector:
//! no shuffles and no indices (0.7 ns per row).
//!
//! The stretch limit is the same step without compliance on l ≤ (1 + limit) l0. It is tension-only. Its first sweep
//! visits all groups, the others only those with an edge that was stretched then: where a sheet hangs in folds, many
//! are not.

use crate::deformable::cloth::grid_strips::Strand;
use crate::deformable::cloth::soa::ParticleSoa;
use crate::deformable::pbd::Distance;
use crate::math::lane3::root_and_inverse;
use crate::math::{
    Block, Eight, Kernel, LANES, Lane, PairPicks, PickedPairs, Real, StripPairs, StripSpan, Strips, run,
};

/// Compliance that represents infinity [m/N]: ∞ · 0 is not a number.
const SLACK: Real = 1e12;
/// Square of the smallest length that is divided by [m²].
const SHORT: Real = 1e-24;
/// Number of blocks for lanes without a row, after those of the nodes.
pub(crate) const PADS: usize = 2 * LANES;

/// Data of a single sweep of eight rows.
#[derive(Clone, Copy, Debug, Default)]
struct Hot {
    /// [m]
    rest: Eight,
    /// 1/(w_a + w_b + α̃) of a stretched row, and of a shortened one [kg].
    pull: Eight,
    push: Eight,
}

/// Additional data for several sweeps.
#[derive(Clone, Copy, Debug, Default)]
struct Soft {
    /// α̃ of a stretched row, and of a shortened one [1/kg].
    pull: Eight,
    push: Eight,
    /// w_a + w_b [1/kg].
    answer: Eight,
    lambda: Eight,
}

/// Storage of the ends of eight rows.
#[derive(Clone, Debug)]
enum Pairs {
    /// Arbitrary nodes, by the indices of their blocks.
    Picked(PairPicks),
    /// Contiguous in columns.
    Strips(StripPairs),
}

/// Positions that the rows correct: blocks, or columns.
#[derive(Debug)]
pub(crate) enum Places<'a> {
    Blocks(&'a mut [Block]),
    Columns(&'a mut ParticleSoa),
}

/// Distance rows of one body, in the order of their list or of their strips.
#[derive(Clone, Debug)]
pub(crate) struct DistanceLanes {
    pairs: Pairs,
    /// Compliances of stretched and of shortened rows [m/N].
    compliance: Vec<[Eight; 2]>,
    /// w_a + w_b; 0 where there is no row [1/kg]. Written by `prepare`.
    answers: Vec<Eight>,
    /// For the substep `h`. Written by `prepare`.
    hot: Vec<Hot>,
    /// Written by `begin`.
    soft: Vec<Soft>,
    /// 1/(w_a + w_b); 0 between pinned nodes [kg]. Written by `prepare`.
    rigid: Vec<Eight>,
    /// Groups with a stretched row. Written by the first sweep of the limiter.
    stretched: Vec<u32>,
    /// The substeps for which `hot` and `soft` were computed [s].
    h: Real,
    soft_h: Real,
    /// No row has compressive stiffness.
    only_pull: bool,
}

/// Kind of sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Job {
    /// The only sweep of a substep: Λ is 0 before it.
    Once,
    /// One of several.
    Again,
    /// Shortens rows longer than the limit.
    Limit(Limit),
}

/// Maximum length of a row, as a multiple of that at rest, and the number of sweeps.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Limit {
    most: Real,
    sweeps: u32,
}

impl DistanceLanes {
    fn empty(pairs: Pairs) -> Self {
        let (compliance, answers, stretched) = (Vec::new(), Vec::new(), Vec::new());
        let (hot, soft, rigid) = (Vec::new(), Vec::new(), Vec::new());
        let (h, soft_h, only_pull) = (0.0, 0.0, true);
        Self { pairs, compliance, answers, hot, soft, rigid, stretched, h, soft_h, only_pull }
    }

    /// Groups of rows of a body of `count` blocks. Rows must be sorted by colour: adjacent rows have no common node.
    pub fn new(rows: &[Distance], count: usize) -> Self {
        let (mut picks, mut links) = (PairPicks::default(), Self::empty(Pairs::Strips(StripPairs::default())));
        let pad = |lane: usize| (count + 2 * lane) as u32;
        let mut at = 0;
        while at < rows.len() {
            // as many rows as have no common node
            let mut size = 1;
            while size < LANES && at + size < rows.len() {
                let next = rows[at + size].nodes;
                if rows[at..at + size].iter().any(|r| r.nodes.iter().any(|n| next.contains(n))) {
                    break;
                }
                size += 1;
            }
            let group: [Option<&Distance>; LANES] = std::array::from_fn(|lane| rows[at..at + size].get(lane));
            let ends = |end: usize| {
                std::array::from_fn(|lane| group[lane].map_or(pad(lane) + end as u32, |row| row.nodes[end]))
            };
            picks.push(ends(0), ends(1));
            links.add(group);
            at += size;
        }
        Self { pairs: Pairs::Picked(picks), ..links }
    }

    /// Groups of rows whose ends are contiguous.
    pub fn strips(rows: &[Distance], strands: &[Strand]) -> Self {
        let (mut strips, mut links) = (StripPairs::default(), Self::empty(Pairs::Strips(StripPairs::default())));
        for strand in strands {
            strips.push(strand.ends[0], strand.ends[1]);
            links.add(strand.rows.map(|row| rows.get(row as usize)));
        }
        Self { pairs: Pairs::Strips(strips), ..links }
    }

    /// Eight rows; a lane without a row has no effect.
    fn add(&mut self, rows: [Option<&Distance>; LANES]) {
        // so long that no length exceeds the limit
        let mut hot = Hot { rest: [1e9; LANES], ..Hot::default() };
        let mut compliance = [[Real::INFINITY; LANES]; 2];
        for (lane, row) in rows.iter().enumerate() {
            if let Some(row) = row {
                hot.rest[lane] = row.rest;
                compliance[0][lane] = row.compliance.min(SLACK);
                compliance[1][lane] = row.compression.min(SLACK);
                self.only_pull &= row.compression == Real::INFINITY;
            }
        }
        self.hot.push(hot);
        self.compliance.push(compliance);
        self.answers.push([0.0; LANES]);
        self.soft.push(Soft::default());
        self.rigid.push([0.0; LANES]);
        self.stretched.push(0);
    }

    /// Constants for a substep h [s] from the inverse masses of all nodes; `stale` when these have changed.
    pub fn prepare(&mut self, inverse_mass: impl Fn(u32) -> Real, (h, lanes): (Real, bool), stale: bool) {
        if stale {
            self.learn(inverse_mass);
        }
        if !stale && self.h == h {
            return;
        }
        (self.h, self.soft_h) = (h, 0.0);
        let Self { hot, answers, compliance, .. } = self;
        run(Soften { hot, answers, compliance, rate: 1.0 / (h * h) }, lanes);
    }

    /// w_a + w_b of the rows from the inverse masses of all nodes.
    fn learn(&mut self, inverse_mass: impl Fn(u32) -> Real) {
        for group in 0..self.hot.len() {
            for lane in 0..LANES {
                let [a, b] = match &self.pairs {
                    Pairs::Picked(p) => p.pair(group, lane),
                    Pairs::Strips(p) => p.pair(group, lane),
                };
                let there = self.compliance[group][0][lane].is_finite();
                let answer = if there { inverse_mass(a) + inverse_mass(b) } else { 0.0 };
                self.answers[group][lane] = answer;
                self.rigid[group][lane] = if answer > 0.0 { 1.0 / answer } else { 0.0 };
            }
        }
    }

    /// Begins a substep of several sweeps: resets the impulses of the previous one.
    pub fn begin(&mut self) {
        if self.soft_h == self.h {
            self.soft.iter_mut().for_each(|s| s.lambda = [0.0; LANES]);
            return;
        }
        self.soft_h = self.h;
        let rate = 1.0 / (self.h * self.h);
        for ((soft, &answer), sides) in self.soft.iter_mut().zip(&self.answers).zip(&self.compliance) {
            let [pull, push] = sides.map(|side| side.map(|softness| softness.min(SLACK) * rate));
            *soft = Soft { pull, push, answer, lambda: [0.0; LANES] };
        }
    }

    /// One sweep; `once`: the only one of its substep, which needs no `begin`.
    pub fn sweep(&mut self, p: Places<'_>, once: bool, lanes: bool) {
        self.run(p, if once { Job::Once } else { Job::Again }, lanes);
    }

    /// This number of sweeps over the rows that are stretched by more than the fraction `limit`.
    pub fn limit(&mut self, p: Places<'_>, limit: Real, sweeps: u32, lanes: bool) {
        if sweeps > 0 {
            self.run(p, Job::Limit(Limit { most: 1.0 + limit, sweeps }), lanes);
        }
    }

    fn run(&mut self, p: Places<'_>, job: Job, lanes: bool) {
        let Self { pairs, hot, soft, rigid, stretched, only_pull, .. } = self;
        match (pairs, p) {
            (Pairs::Picked(picks), Places::Blocks(p)) => {
                // adjacent rows are often shortened together, so skipping pays. Those of strips are not
                let skips = *only_pull;
                run(Sweep { ends: picks.over(p), job, skips, hot, soft, rigid, stretched }, lanes)
            }
            (Pairs::Strips(strips), Places::Columns(soa)) => {
                let ends = strips.over(soa.columns_mut());
                run(Sweep { ends, job, skips: false, hot, soft, rigid, stretched }, lanes);
            }
            _ => unreachable!("rows in strips have their positions in columns, others in blocks"),
        }
    }
}

/// Both ends of eight rows: read as a difference, moved along it.
trait Ends: Copy {
    /// Data kept between reading and correcting.
    type Held<L: Lane>: Copy;
    fn span<L: Lane>(self, t: L::Token, at: (usize, usize)) -> (Self::Held<L>, [L; 3]);
    fn pull<L: Lane>(self, share: L, at: (usize, usize), held: Self::Held<L>);
}

impl Ends for PickedPairs<'_> {
    type Held<L: Lane> = L::Spans;
    #[inline(always)]
    fn span<L: Lane>(self, t: L::Token, (group, at): (usize, usize)) -> (L::Spans, [L; 3]) {
        L::pair_span(t, self, group, at)
    }
    #[inline(always)]
    fn pull<L: Lane>(self, share: L, (group, at): (usize, usize), held: L::Spans) {
        share.pair_pull(self, group, at, held);
    }
}

impl Ends for Strips<'_> {
    type Held<L: Lane> = StripSpan<L>;
    #[inline(always)]
    fn span<L: Lane>(self, t: L::Token, (group, at): (usize, usize)) -> (StripSpan<L>, [L; 3]) {
        Strips::span(&self, t, group, at)
    }
    #[inline(always)]
    fn pull<L: Lane>(self, share: L, (group, at): (usize, usize), held: StripSpan<L>) {
        Strips::pull(&self, share, group, at, held);
    }
}

/// 1/(w_a + w_b + α̃) of both sides, with α̃ = α/h².
struct Soften<'a> {
    hot: &'a mut [Hot],
    answers: &'a [Eight],
    compliance: &'a [[Eight; 2]],
    /// 1/h² [1/s²].
    rate: Real,
}

impl Kernel for Soften<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        let (none, one, rate) = (L::splat(t, 0.0), L::splat(t, 1.0), L::splat(t, self.rate));
        for ((hot, answers), [pull, push]) in self.hot.iter_mut().zip(self.answers).zip(self.compliance) {
            let mut at = 0;
            while at < LANES {
                let answer = L::load(t, &answers[at..]);
                // a lane without a row has no response, nor do two pinned nodes
                let a = one.div(answer + L::load(t, &pull[at..]) * rate);
                let b = one.div(answer + L::load(t, &push[at..]) * rate);
                answer.select_gt(none, a, none).store(&mut hot.pull[at..]);
                answer.select_gt(none, b, none).store(&mut hot.push[at..]);
                at += L::COUNT;
            }
        }
    }
}

struct Sweep<'a, E> {
    ends: E,
    job: Job,
    /// Skips groups of eight shortened rows, for rows without compressive stiffness.
    skips: bool,
    hot: &'a [Hot],
    soft: &'a mut [Soft],
    rigid: &'a [Eight],
    stretched: &'a mut [u32],
}

impl<E: Ends> Kernel for Sweep<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        match self.job {
            Job::Once => {
                for (group, hot) in self.hot.iter().enumerate() {
                    let mut at = 0;
                    while at < LANES {
                        once::<L, E>(t, self.ends, (group, at), hot, self.skips);
                        at += L::COUNT;
                    }
                }
            }
            Job::Again => {
                for (group, (hot, soft)) in self.hot.iter().zip(self.soft).enumerate() {
                    let mut at = 0;
                    while at < LANES {
                        again::<L, E>(t, self.ends, (group, at), hot, soft);
                        at += L::COUNT;
                    }
                }
            }
            Job::Limit(limit) => {
                let mut count = 0;
                for (group, hot) in self.hot.iter().enumerate() {
                    let (mut at, mut is_stretched) = (0, false);
                    while at < LANES {
                        is_stretched |= hold::<L, E>(t, self.ends, (group, at), (hot, &self.rigid[group]), limit);
                        at += L::COUNT;
                    }
                    self.stretched[count] = group as u32;
                    count += usize::from(is_stretched);
                }
                for _ in 1..limit.sweeps {
                    for &group in &self.stretched[..count] {
                        let (group, mut at) = (group as usize, 0);
                        while at < LANES {
                            hold::<L, E>(t, self.ends, (group, at), (&self.hot[group], &self.rigid[group]), limit);
                            at += L::COUNT;
                        }
                    }
                }
            }
        }
    }
}

/// l² of the difference.
#[inline(always)]
fn square<L: Lane>(t: L::Token, [x, y, z]: [L; 3]) -> L {
    // positive, to avoid a division by zero: relative to any real length the term is below rounding error
    x * x + L::splat(t, SHORT) + y * y + z * z
}

/// Λ = 0 before: s = C/(l (w_a + w_b + α̃)). The latency of the root and the division dominates: in the meantime the
/// squares select the stiffness for tension or compression.
#[inline(always)]
fn once<L: Lane, E: Ends>(t: L::Token, ends: E, (group, at): (usize, usize), hot: &Hot, skips: bool) {
    let (held, d) = ends.span::<L>(t, (group, at));
    let (q, rest) = (square(t, d), L::load(t, &hot.rest[at..]));
    if skips && (rest * rest).all_gt(q) {
        return;
    }
    let push = if skips { L::splat(t, 0.0) } else { L::load(t, &hot.push[at..]) };
    let mass = (rest * rest).select_gt(q, push, L::load(t, &hot.pull[at..]));
    let (l, per) = root_and_inverse(t, q);
    ends.pull((l - rest) * mass * per, (group, at), held);
}

#[inline(always)]
fn again<L: Lane, E: Ends>(t: L::Token, ends: E, (group, at): (usize, usize), hot: &Hot, soft: &mut Soft) {
    let (held, d) = ends.span::<L>(t, (group, at));
    let (l, per) = root_and_inverse(t, square(t, d));
    let c = l - L::load(t, &hot.rest[at..]);
    let none = L::splat(t, 0.0);
    let (pull, push) = (L::load(t, &hot.pull[at..]), L::load(t, &hot.push[at..]));
    let (soft_pull, soft_push) = (L::load(t, &soft.pull[at..]), L::load(t, &soft.push[at..]));
    let lambda = L::load(t, &soft.lambda[at..]);
    // the sign of C without this row selects the stiffness for tension or compression
    let free = c - L::load(t, &soft.answer[at..]) * lambda;
    let mass = none.select_gt(free, push, pull);
    let softness = none.select_gt(free, soft_push, soft_pull);
    let change = none - (c + softness * lambda) * mass;
    (lambda + change).store(&mut soft.lambda[at..]);
    ends.pull((none - change) * per, (group, at), held);
}

/// Corrects rows beyond the limit; true when one is stretched.
#[inline(always)]
fn hold<L: Lane, E: Ends>(
    t: L::Token,
    ends: E,
    (group, at): (usize, usize),
    (hot, rigid): (&Hot, &Eight),
    limit: Limit,
) -> bool {
    let (held, d) = ends.span::<L>(t, (group, at));
    let (q, rest) = (square(t, d), L::load(t, &hot.rest[at..]));
    // compared without a square root
    if (rest * rest).all_gt(q) {
        return false;
    }
    let (l, per) = root_and_inverse(t, q);
    let most = rest * L::splat(t, limit.most);
    if !most.all_gt(l) {
        let beyond = (l - most).max(L::splat(t, 0.0));
        ends.pull(beyond * L::load(t, &rigid[at..]) * per, (group, at), held);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A zigzag of nodes and braces between second neighbours, some of which are too long and others too short.
    fn skip_constraints(compression: Real) -> (DistanceLanes, Vec<Block>) {
        let place = |k: usize| [k as Real * 0.1, (k % 3) as Real * 0.03, 0.01 * k as Real, 1.0 + (k % 2) as Real];
        let mut places: Vec<Block> = (0..48).map(place).collect();
        places.extend((0..PADS).map(|k| [(k % 2) as Real, 0.0, 0.0, 0.0]));
        let row = |k: u32| Distance {
            nodes: [k, k + 2],
            rest: if k < 20 { 0.3 } else { 0.17 + 0.001 * k as Real },
            compliance: 1e-4,
            compression,
        };
        // rows that begin at 0 and 1 of each four nodes have no common node
        let rows: Vec<Distance> = (0..44).filter(|k| k % 4 < 2).map(row).collect();
        let mut links = DistanceLanes::new(&rows, 48);
        links.prepare(|slot| places[slot as usize][3], (0.01, true), true);
        (links, places)
    }

    #[test]
    fn tension_only_rows_do_not_move_shortened_pairs_in_lanes_and_in_scalars() {
        let made = [true, false].map(|lanes| {
            let (mut links, mut places) = skip_constraints(Real::INFINITY);
            links.sweep(Places::Blocks(&mut places), true, lanes);
            places
        });
        assert_eq!(made[0], made[1]);
        let (mut soft, mut pushed) = skip_constraints(1e11);
        assert!(!soft.only_pull);
        let (_, before) = skip_constraints(1e11);
        soft.sweep(Places::Blocks(&mut pushed), true, true);
        // all of the first twenty are shortened, some of the others stretched; a very small compressive stiffness gives
        // the same
        assert_eq!(made[0][..20], before[..20]);
        assert!(made[0][20..48] != before[20..48]);
        for (a, b) in made[0].iter().flatten().zip(pushed.iter().flatten()) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }
}

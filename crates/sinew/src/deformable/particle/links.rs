//! Distance constraints in lanes: eight pairs of nodes at a time, the hot loop of cloth and rope.
//!
//! For one pair with d = x_b − x_a, l = |d|, C = l − l0 and the XPBD step of `row.rs` without a dashpot
//!
//! ```text
//!   ΔΛ = (−C − α̃ Λ) / (w_a + w_b + α̃),   x_a −= w_a ΔΛ d/l,   x_b += w_b ΔΛ d/l
//! ```
//!
//! Nodes stay in rows of four numbers, inverse mass last. Only the differences d are turned into lanes, and the share
//! ΔΛ/l goes back by a broadcast: 11 shuffles for eight rows instead of 32 (cloth study, 1.5 against 2.0 ns a row).
//! Groups follow the order of colours: in mesh order a group waits for the stores of the one before (2.9 ns a row).
//!
//! The limiter is the same step without compliance on l ≤ (1 + limit) l0. It pulls only, and leaves out groups without an
//! edge beyond the limit.

use super::Distance;
use crate::math::{Block, Eight, Kernel, LANES, Lane, PairPicks, PickedPairs, Real, run};

/// Compliance that stands for infinity [m/N]: ∞ · 0 is not a number.
const SLACK: Real = 1e12;
/// Least length that is divided by [m].
const SHORT: Real = 1e-12;
/// Blocks of lanes without a row, behind those of the nodes.
pub(super) const PADS: usize = 2 * LANES;

/// What a single sweep of eight rows reads.
#[derive(Clone, Copy, Debug, Default)]
struct Hot {
    /// [m]
    rest: Eight,
    /// 1/(w_a + w_b + α̃) of a stretched row, and of a shortened one [kg].
    pull: Eight,
    push: Eight,
}

/// What several sweeps need besides.
#[derive(Clone, Copy, Debug, Default)]
struct Soft {
    /// α̃ of a stretched row, and of a shortened one [1/kg].
    pull: Eight,
    push: Eight,
    /// w_a + w_b [1/kg].
    answer: Eight,
    lambda: Eight,
}

/// Distance rows of one body, in the order of their list.
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    picks: PairPicks,
    /// Compliances of stretched and of shortened rows [m/N].
    compliance: Vec<[Eight; 2]>,
    /// For the substep `h`. Written by `prepare`.
    hot: Vec<Hot>,
    soft: Vec<Soft>,
    /// 1/(w_a + w_b); 0 between pinned nodes [kg]. Written by `prepare`.
    rigid: Vec<Eight>,
    /// The substep that `hot` was made for [s].
    h: Real,
}

/// Which loop.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Job {
    /// The only sweep of a substep: Λ is 0 before it.
    Once,
    /// One of several.
    Again,
    /// Pulls rows longer than this share of their rest length.
    Limit(Real),
}

impl Links {
    /// Groups of rows of a body of `count` nodes. Rows are expected sorted by colour: neighbours share no node.
    pub fn new(rows: &[Distance], count: usize) -> Self {
        let mut links = Self::default();
        let mut at = 0;
        while at < rows.len() {
            // as many as share no node
            let mut size = 1;
            while size < LANES && at + size < rows.len() {
                let next = rows[at + size].nodes;
                if rows[at..at + size].iter().any(|r| r.nodes.iter().any(|n| next.contains(n))) {
                    break;
                }
                size += 1;
            }
            links.add(&rows[at..at + size], count);
            at += size;
        }
        links
    }

    fn add(&mut self, rows: &[Distance], count: usize) {
        let pad = |lane: usize| (count + 2 * lane) as u32;
        let (mut a, mut b): ([u32; LANES], [u32; LANES]) =
            (std::array::from_fn(pad), std::array::from_fn(|lane| pad(lane) + 1));
        let mut hot = Hot { rest: [1.0; LANES], ..Hot::default() };
        let mut compliance = [[SLACK; LANES]; 2];
        for (lane, row) in rows.iter().enumerate() {
            [a[lane], b[lane]] = row.nodes;
            hot.rest[lane] = row.rest;
            compliance[0][lane] = row.compliance.min(SLACK);
            compliance[1][lane] = row.compression.min(SLACK);
        }
        self.picks.push(a, b);
        self.hot.push(hot);
        self.compliance.push(compliance);
        self.soft.push(Soft::default());
        self.rigid.push([0.0; LANES]);
    }

    /// Numbers for a substep h [s] from the inverse masses of `p`; `stale` when these have changed.
    pub fn prepare(&mut self, p: &[Block], h: Real, stale: bool) {
        if !stale && self.h == h {
            return;
        }
        self.h = h;
        let rate = 1.0 / (h * h);
        let inverse = |below: Real| if below > 0.0 { 1.0 / below } else { 0.0 };
        for group in 0..self.picks.len() {
            for lane in 0..LANES {
                let [a, b] = self.picks.pair(group, lane).map(|i| p[i as usize][3]);
                let [pull, push] = [0, 1].map(|side| self.compliance[group][side][lane] * rate);
                self.rigid[group][lane] = inverse(a + b);
                let soft = &mut self.soft[group];
                (soft.pull[lane], soft.push[lane], soft.answer[lane]) = (pull, push, a + b);
                // two pinned nodes do not answer
                let moves = if a + b > 0.0 { 1.0 } else { 0.0 };
                self.hot[group].pull[lane] = moves * inverse(a + b + pull);
                self.hot[group].push[lane] = moves * inverse(a + b + push);
            }
        }
    }

    /// Forgets the impulses of the substep before.
    pub fn begin(&mut self) {
        self.soft.iter_mut().for_each(|s| s.lambda = [0.0; LANES]);
    }

    /// One sweep; `once`: the only one of its substep, which needs no `begin`.
    pub fn sweep(&mut self, p: &mut [Block], once: bool, lanes: bool) {
        self.run(p, if once { Job::Once } else { Job::Again }, lanes);
    }

    /// One sweep over the rows that are stretched by more than the share `limit`.
    pub fn limit(&mut self, p: &mut [Block], limit: Real, lanes: bool) {
        self.run(p, Job::Limit(1.0 + limit), lanes);
    }

    fn run(&mut self, p: &mut [Block], job: Job, lanes: bool) {
        let pairs = self.picks.over(p);
        let sweep = Sweep { pairs, job, hot: &self.hot, soft: &mut self.soft, rigid: &self.rigid };
        run(sweep, lanes)
    }
}

struct Sweep<'a> {
    pairs: PickedPairs<'a>,
    job: Job,
    hot: &'a [Hot],
    soft: &'a mut [Soft],
    rigid: &'a [Eight],
}

impl Kernel for Sweep<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self, t: L::Token) {
        match self.job {
            Job::Once => {
                for (group, hot) in self.hot.iter().enumerate() {
                    let mut at = 0;
                    while at < LANES {
                        once::<L>(t, self.pairs, (group, at), hot);
                        at += L::COUNT;
                    }
                }
            }
            Job::Again => {
                for (group, (hot, soft)) in self.hot.iter().zip(self.soft).enumerate() {
                    let mut at = 0;
                    while at < LANES {
                        again::<L>(t, self.pairs, (group, at), hot, soft);
                        at += L::COUNT;
                    }
                }
            }
            Job::Limit(share) => {
                for (group, (hot, rigid)) in self.hot.iter().zip(self.rigid).enumerate() {
                    let mut at = 0;
                    while at < LANES {
                        limit::<L>(t, self.pairs, (group, at), (hot, rigid), share);
                        at += L::COUNT;
                    }
                }
            }
        }
    }
}

/// Length of the difference.
#[inline(always)]
fn length<L: Lane>(t: L::Token, [x, y, z]: [L; 3]) -> L {
    (x * x + y * y + z * z).sqrt().max(L::splat(t, SHORT))
}

/// Λ = 0 before: s = C/(l (w_a + w_b + α̃)).
#[inline(always)]
fn once<L: Lane>(t: L::Token, pairs: PickedPairs<'_>, (group, at): (usize, usize), hot: &Hot) {
    let (spans, d) = L::pair_span(t, pairs, group, at);
    let l = length(t, d);
    let c = l - L::load(t, &hot.rest[at..]);
    let none = L::splat(t, 0.0);
    let mass = none.select_gt(c, L::load(t, &hot.push[at..]), L::load(t, &hot.pull[at..]));
    (c * mass).div(l).pair_pull(pairs, group, at, spans);
}

#[inline(always)]
fn again<L: Lane>(t: L::Token, pairs: PickedPairs<'_>, (group, at): (usize, usize), hot: &Hot, soft: &mut Soft) {
    let (spans, d) = L::pair_span(t, pairs, group, at);
    let l = length(t, d);
    let c = l - L::load(t, &hot.rest[at..]);
    let none = L::splat(t, 0.0);
    let (pull, push) = (L::load(t, &hot.pull[at..]), L::load(t, &hot.push[at..]));
    let (soft_pull, soft_push) = (L::load(t, &soft.pull[at..]), L::load(t, &soft.push[at..]));
    let lambda = L::load(t, &soft.lambda[at..]);
    // the sign that C would have without this row decides which side of the spring answers
    let free = c - L::load(t, &soft.answer[at..]) * lambda;
    let mass = none.select_gt(free, push, pull);
    let softness = none.select_gt(free, soft_push, soft_pull);
    let change = none - (c + softness * lambda) * mass;
    (lambda + change).store(&mut soft.lambda[at..]);
    (none - change).div(l).pair_pull(pairs, group, at, spans);
}

#[inline(always)]
fn limit<L: Lane>(
    t: L::Token,
    pairs: PickedPairs<'_>,
    (group, at): (usize, usize),
    (hot, rigid): (&Hot, &Eight),
    share: Real,
) {
    let (spans, d) = L::pair_span(t, pairs, group, at);
    let l = length(t, d);
    let most = L::load(t, &hot.rest[at..]) * L::splat(t, share);
    // most groups have no row beyond the limit
    if most.all_gt(l) {
        return;
    }
    let beyond = (l - most).max(L::splat(t, 0.0));
    (beyond * L::load(t, &rigid[at..])).div(l).pair_pull(pairs, group, at, spans);
}

//! All contacts of a step in batches, colour after colour, and the passes over them in lanes and threads.

use crate::contact::kernel::rigid::{BodyBlocks, Job, work};
use crate::contact::kernel::rigid_batch::{ContactBatch, ContactParams};
use crate::math::{BROAD, BroadKernel, Number, Real, run_broad};
use crate::solver::colour::COLOURS;
use crate::solver::pool::Pool;
use std::ops::Range;

/// Batches that a thread takes at once: enough work to amortize the scheduling.
const GRAIN: usize = 4;

/// Contacts of a step, ready for sweeps.
#[derive(Debug, Default)]
pub(crate) struct ContactSet {
    batches: Vec<ContactBatch>,
    len: usize,
    /// Batches of each colour.
    colours: Vec<Range<usize>>,
    /// Squared impulse changes of each batch, last sweep.
    squares: Vec<Real>,
    /// Manifolds in sweep order, with their colour; scratch of `build`.
    order: Vec<(u32, u32)>,
}

impl ContactSet {
    /// Sorts manifolds into batches. `colours[i]` is the colour of manifold i and its number of points (or none when it
    /// is not solved); `fill` writes one manifold into a lane.
    pub fn build(&mut self, colours: &[Option<(u8, u8)>], mut fill: impl FnMut(&mut ContactBatch, usize, usize)) {
        // by colour, then by descending number of points, so that the lanes of a batch are full; then by key: counting
        // sort
        let kind = |colour: u8, count: u8| usize::from(colour) * 8 + usize::from(4u8.saturating_sub(count));
        let mut starts = [0_u32; (COLOURS + 1) * 8];
        let mut kinds = 0;
        for &(colour, count) in colours.iter().flatten() {
            let kind = kind(colour, count);
            starts[kind] += 1;
            kinds = kinds.max(kind + 1);
        }
        let mut all = 0;
        for start in &mut starts[..kinds] {
            all += std::mem::replace(start, all);
        }
        let all = all as usize;
        self.order.clear();
        self.order.resize(all, (0, 0));
        for (i, colour) in colours.iter().enumerate() {
            let Some((colour, count)) = *colour else { continue };
            let kind = kind(colour, count);
            self.order[starts[kind] as usize] = (kind as u32, i as u32);
            starts[kind] += 1;
        }
        self.len = 0;
        self.colours.clear();
        let mut at = 0;
        while at < self.order.len() {
            let colour = self.order[at].0 / 8;
            let end = at + self.order[at..].iter().take_while(|o| o.0 / 8 == colour).count();
            // the last colour is for contacts that share bodies: one a batch, one after the other
            let width = if colour as usize == COLOURS { 1 } else { BROAD };
            let first = self.len;
            for lanes in self.order[at..end].chunks(width) {
                if self.batches.len() == self.len {
                    self.batches.push(ContactBatch::default());
                }
                let batch = &mut self.batches[self.len];
                batch.reset();
                for (lane, &(_, manifold)) in lanes.iter().enumerate() {
                    fill(batch, lane, manifold as usize);
                }
                self.len += 1;
            }
            self.colours.push(first..self.len);
            at = end;
        }
        self.squares.clear();
        self.squares.resize(self.len, 0.0);
    }

    /// Batches in sweep order.
    pub fn batches(&self) -> &[ContactBatch] {
        &self.batches[..self.len]
    }

    /// True when any contact has restitution.
    pub fn bounces(&self) -> bool {
        self.batches().iter().any(|b| b.bounces)
    }

    /// Number of colours in use.
    pub fn colour_count(&self) -> usize {
        self.colours.len()
    }

    /// Does a job on all batches, colour after colour. Returns the sum of squared impulse changes if `wanted`, else 0.
    pub fn run(&mut self, task: Task<'_>, pool: &Pool, lanes: bool) -> Real {
        if pool.threads() == 1 {
            // batches are stored in the order of their colours
            let (batches, squares) = (&mut self.batches[..self.len], &mut self.squares[..]);
            run(task, batches, squares, lanes);
        } else {
            self.share_out(task, pool, lanes);
        }
        if task.wanted { self.squares.iter().sum() } else { 0.0 }
    }

    /// The same on several threads.
    fn share_out(&mut self, task: Task<'_>, pool: &Pool, lanes: bool) {
        for range in &self.colours {
            let batches = &mut self.batches[range.clone()];
            let squares = &mut self.squares[range.clone()];
            // a batch of the serial colour shares bodies with its neighbours: a single chunk
            let serial = batches.len() > 1 && batches[0].origin[1] == u32::MAX && batches[1].origin[1] == u32::MAX;
            let grain = if serial { batches.len() } else { GRAIN };
            let sums = SquarePointer(squares.as_mut_ptr());
            pool.chunks(batches, grain, &move |start, batches| {
                let sums = sums;
                let squares = sums.part(start, batches.len());
                run(task, batches, squares, lanes);
            });
        }
    }
}

#[derive(Clone, Copy)]
struct SquarePointer(*mut Real);
impl SquarePointer {
    fn part<'a>(self, start: usize, len: usize) -> &'a mut [Real] {
        // SAFETY: `squares` has one entry a batch, pieces of batches are disjoint, and `chunks` returns before it
        // moves.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(start), len) }
    }
}
// SAFETY: see `part`.
unsafe impl Send for SquarePointer {}
// SAFETY: see `part`.
unsafe impl Sync for SquarePointer {}

/// A job, the bodies it acts on, and whether the squared changes of impulse are computed.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub job: Job,
    pub bodies: BodyBlocks<'a>,
    pub params: &'a ContactParams,
    pub wanted: bool,
}

/// Does a job on a run of batches. Each job is a kernel of its own: a function with all of them is 170 kB of machine code, and
/// memory and time of the compiler grow faster than that.
pub(super) fn run(task: Task<'_>, batches: &mut [ContactBatch], squares: &mut [Real], lanes: bool) {
    match task.job {
        Job::Prepare => run_broad(Pass::<{ Job::Prepare as u8 }> { task, batches, squares }, lanes),
        Job::Correct => run_broad(Pass::<{ Job::Correct as u8 }> { task, batches, squares }, lanes),
        Job::SettleRelax => run_broad(Pass::<{ Job::SettleRelax as u8 }> { task, batches, squares }, lanes),
        Job::Relax => run_broad(Pass::<{ Job::Relax as u8 }> { task, batches, squares }, lanes),
        Job::Restitute => run_broad(Pass::<{ Job::Restitute as u8 }> { task, batches, squares }, lanes),
        Job::Account => run_broad(Pass::<{ Job::Account as u8 }> { task, batches, squares }, lanes),
    }
}

/// The job with this number, on a run of batches.
struct Pass<'a, const JOB: u8> {
    task: Task<'a>,
    batches: &'a mut [ContactBatch],
    squares: &'a mut [Real],
}

impl<const JOB: u8> BroadKernel for Pass<'_, JOB> {
    #[inline(always)]
    fn run<L: Number>(self, token: L::Token) {
        let Task { bodies, params, wanted, .. } = self.task;
        for (batch, squares) in self.batches.iter_mut().zip(self.squares) {
            let mut changes = [0.0; BROAD];
            let mut at = 0;
            while at < BROAD {
                // lanes are filled from the first: empty ones are skipped
                if L::COUNT == BROAD || batch.origin[at] != u32::MAX {
                    let change = work::<L, JOB>(token, batch, at, bodies, params);
                    if wanted {
                        change.store(&mut changes[at..]);
                    }
                }
                at += L::COUNT;
            }
            if wanted {
                *squares = changes.iter().sum();
            }
        }
    }
}

//! Worker threads with a barrier: each colour of a sweep is distributed over the threads, which synchronise afterwards.
//!
//! The assignment of pieces to threads never changes the result: pieces are disjoint, and sums are taken in the order
//! of pieces.
//!
//! Every thread has its own contiguous range of pieces, the same in every job with the same number of pieces, so that
//! data written in one pass are still in the cache of its core in the next. Threads that finish early take remaining
//! pieces of the others.
//!
//! A worker joins a job by incrementing a counter. The caller waits only for the workers that joined: on a busy machine
//! a worker may wake up when the job is complete, and waiting for it at every pass made two threads slower than one.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

type Task = *const (dyn Fn(usize) + Sync);

struct Shared {
    /// Job number · 2 · `OPEN` + `OPEN` while workers may join + number of workers inside.
    state: AtomicUsize,
    /// The job, valid while it is open or workers are inside.
    task: Mutex<Option<SendTask>>,
    pieces: AtomicUsize,
    /// The next piece of each thread's range; thread 0 is the caller.
    runs: Box<[Run]>,
    stop: AtomicBool,
}

/// A counter in its own cache line: avoids false sharing between threads.
#[repr(align(64))]
struct Run(AtomicUsize);

#[derive(Clone, Copy)]
struct SendTask(Task);
// SAFETY: the pointer is used only between the start and the end of `Pool::run`, which keeps the closure alive; the
// closure is Sync.
unsafe impl Send for SendTask {}

/// A pool of `threads − 1` workers in addition to the calling thread.
pub struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pool({} threads)", self.threads())
    }
}

/// Number of spins of a waiting worker before it yields its core.
const SPINS: u32 = 2_000;

/// The bit of `Shared::state` that is set while workers may join; the lower bits count the workers inside.
const OPEN: usize = 1 << 16;

impl Pool {
    /// A pool of this many threads, including the caller.
    pub fn new(threads: usize) -> Self {
        let shared = Arc::new(Shared {
            state: AtomicUsize::new(0),
            task: Mutex::new(None),
            pieces: AtomicUsize::new(0),
            runs: (0..threads.max(1)).map(|_| Run(AtomicUsize::new(0))).collect(),
            stop: AtomicBool::new(false),
        });
        let workers = (1..threads)
            .filter_map(|k| {
                let shared = shared.clone();
                std::thread::Builder::new().name(format!("sinew-{k}")).spawn(move || work(&shared, k)).ok()
            })
            .collect();
        Self { shared, workers }
    }

    /// Number of threads, including the caller.
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Calls `task(i)` for every i below `pieces`, in any order, on any thread; returns when all are done.
    pub fn run(&self, pieces: usize, task: &(dyn Fn(usize) + Sync)) {
        if self.workers.is_empty() || pieces < 2 {
            for i in 0..pieces {
                task(i);
            }
            return;
        }
        let shared = &*self.shared;
        // SAFETY: only the lifetime is erased; this function does not end before every worker inside has left the task.
        let erased: Task = unsafe { std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), Task>(task) };
        *shared.task.lock().expect("no worker panics while it holds this") = Some(SendTask(erased));
        shared.pieces.store(pieces, Ordering::Relaxed);
        for (thread, run) in shared.runs.iter().enumerate() {
            run.0.store(first_of(shared, thread, pieces), Ordering::Relaxed);
        }
        // no worker is inside, so no other thread writes the state now
        let job = shared.state.load(Ordering::Relaxed) / (2 * OPEN) + 1;
        shared.state.store(job * 2 * OPEN + OPEN, Ordering::Release);
        let _closing = Closing(shared);
        for worker in &self.workers {
            worker.thread().unpark();
        }
        take_pieces(shared, 0, task);
    }

    /// Splits `items` into pieces of `grain` and calls `task(index of the first item, piece)` for each.
    pub fn chunks<T: Send>(&self, items: &mut [T], grain: usize, task: &(dyn Fn(usize, &mut [T]) + Sync)) {
        let grain = grain.max(1);
        let len = items.len();
        let first = SendPointer(items.as_mut_ptr());
        self.run(len.div_ceil(grain), &move |piece| {
            let first = first;
            let start = piece * grain;
            let count = grain.min(len - start);
            // SAFETY: pieces do not overlap and `run` calls each once; `items` is borrowed mutably until all are done.
            let part = unsafe { std::slice::from_raw_parts_mut(first.get().add(start), count) };
            task(start, part);
        });
    }
}

impl Pool {
    /// Calls `task(index of the span, its items)` for each of these ranges, which are ascending and do not overlap.
    pub fn spans<T: Send>(&self, items: &mut [T], spans: &[Span], task: &(dyn Fn(usize, &mut [T]) + Sync)) {
        let rising = spans.windows(2).all(|two| two[0].end <= two[1].start);
        let inside = spans.iter().all(|span| span.start <= span.end && span.end <= items.len());
        assert!(rising && inside, "spans do not overlap and lie within");
        let first = SendPointer(items.as_mut_ptr());
        self.run(spans.len(), &move |k| {
            let (first, Span { start, end }) = (first, spans[k]);
            // SAFETY: spans do not overlap by the assertion and `run` calls each once; `items` is borrowed mutably
            // until all are done.
            let part = unsafe { std::slice::from_raw_parts_mut(first.get().add(start), end - start) };
            task(k, part);
        });
    }
}

/// A range of an array.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

/// Closes the job and waits for the workers inside when it is dropped, also after a panic in the caller's own piece.
struct Closing<'a>(&'a Shared);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.state.fetch_and(!OPEN, Ordering::Relaxed);
        let mut spins = 0;
        while !self.0.state.load(Ordering::Acquire).is_multiple_of(OPEN) {
            pause(&mut spins);
        }
    }
}

struct SendPointer<T>(*mut T);
impl<T> Clone for SendPointer<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for SendPointer<T> {}
impl<T> SendPointer<T> {
    fn get(self) -> *mut T {
        self.0
    }
}
// SAFETY: see `Pool::chunks`: every thread uses its own piece only.
unsafe impl<T: Send> Send for SendPointer<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for SendPointer<T> {}

/// First piece of a thread's range; the range ends where that of the next thread begins.
fn first_of(shared: &Shared, thread: usize, pieces: usize) -> usize {
    pieces * thread / shared.runs.len()
}

/// Takes pieces of the thread's own range, then of the others' ranges, until none is left.
fn take_pieces(shared: &Shared, thread: usize, task: &(dyn Fn(usize) + Sync)) {
    let (pieces, threads) = (shared.pieces.load(Ordering::Relaxed), shared.runs.len());
    for turn in 0..threads {
        let owner = (thread + turn) % threads;
        let end = first_of(shared, owner + 1, pieces);
        loop {
            let i = shared.runs[owner].0.fetch_add(1, Ordering::Relaxed);
            if i >= end {
                break;
            }
            task(i);
        }
    }
}

fn pause(spins: &mut u32) {
    *spins += 1;
    if *spins < SPINS {
        std::hint::spin_loop();
    } else {
        std::thread::yield_now();
    }
}

fn work(shared: &Shared, thread: usize) {
    let mut seen = 0;
    let mut spins = 0;
    loop {
        if shared.stop.load(Ordering::Acquire) {
            return;
        }
        let state = shared.state.load(Ordering::Acquire);
        let job = state / (2 * OPEN);
        if job == seen || state & OPEN == 0 {
            // between jobs: spin for a while, then park until the next job unparks the thread
            spins += 1;
            if spins < SPINS {
                std::hint::spin_loop();
            } else {
                std::thread::park_timeout(std::time::Duration::from_millis(50));
                spins = SPINS / 2;
            }
            continue;
        }
        // join, unless the job has just been closed or another worker joined at the same moment
        if shared.state.compare_exchange_weak(state, state + 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            continue;
        }
        seen = job;
        spins = 0;
        let task = *shared.task.lock().expect("no worker panics while it holds this");
        if let Some(SendTask(task)) = task {
            // SAFETY: this worker is counted, so `Pool::run` waits for it and the closure stays alive.
            take_pieces(shared, thread, unsafe { &*task });
        }
        shared.state.fetch_sub(1, Ordering::Release);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        for worker in self.workers.drain(..) {
            worker.thread().unpark();
            let _ = worker.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_span_is_processed_once_and_items_between_are_unchanged() {
        let spans = [Span { start: 1, end: 3 }, Span { start: 3, end: 3 }, Span { start: 5, end: 8 }];
        for threads in [1, 3] {
            let mut items = [0; 9];
            Pool::new(threads).spans(&mut items, &spans, &|k, part| part.iter_mut().for_each(|i| *i += 1 + k));
            assert_eq!(items, [0, 1, 1, 0, 0, 3, 3, 3, 0]);
        }
    }

    #[test]
    fn each_piece_is_processed_once_by_any_number_of_threads() {
        for threads in [1, 2, 3, 8] {
            let pool = Pool::new(threads);
            for round in 0..200 {
                let mut items = vec![0u32; 1 + round * 3];
                pool.chunks(&mut items, 4, &|start, part| {
                    for (k, item) in part.iter_mut().enumerate() {
                        *item += (start + k) as u32;
                    }
                });
                assert!(items.iter().enumerate().all(|(i, &v)| v == i as u32));
            }
        }
    }
}

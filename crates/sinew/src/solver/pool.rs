//! Worker threads that wait at a barrier: each colour of a sweep is shared out, then all meet again.
//!
//! Which thread does which piece never changes the result: pieces are disjoint, and sums are taken in the order of pieces.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

type Task = *const (dyn Fn(usize) + Sync);

struct Shared {
    /// Number of the current job; odd while one is on.
    epoch: AtomicUsize,
    /// The job, valid while the epoch is odd.
    task: Mutex<Option<SendTask>>,
    pieces: AtomicUsize,
    next: AtomicUsize,
    /// Workers that have finished the current job.
    done: AtomicUsize,
    stop: AtomicBool,
}

#[derive(Clone, Copy)]
struct SendTask(Task);
// SAFETY: the pointer is used only between the start and the end of `Pool::run`, which keeps the closure alive; the
// closure is Sync.
unsafe impl Send for SendTask {}

/// A pool of `threads − 1` workers beside the caller.
pub struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pool({} threads)", self.threads())
    }
}

/// Rounds a waiting worker spins before it yields its core to others.
const SPINS: u32 = 2_000;

impl Pool {
    /// A pool of this many threads, the caller's included.
    pub fn new(threads: usize) -> Self {
        let shared = Arc::new(Shared {
            epoch: AtomicUsize::new(0),
            task: Mutex::new(None),
            pieces: AtomicUsize::new(0),
            next: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
        });
        let workers = (1..threads)
            .filter_map(|k| {
                let shared = shared.clone();
                std::thread::Builder::new().name(format!("sinew-{k}")).spawn(move || work(&shared)).ok()
            })
            .collect();
        Self { shared, workers }
    }

    /// Threads at work, the caller's included.
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
        // SAFETY: only the lifetime is erased; this function does not return before every worker has left the task.
        let erased: Task = unsafe { std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), Task>(task) };
        *shared.task.lock().expect("no worker panics while it holds this") = Some(SendTask(erased));
        shared.pieces.store(pieces, Ordering::Relaxed);
        shared.next.store(0, Ordering::Relaxed);
        shared.done.store(0, Ordering::Relaxed);
        shared.epoch.fetch_add(1, Ordering::Release);
        for worker in &self.workers {
            worker.thread().unpark();
        }
        take_pieces(shared, task);
        let mut spins = 0;
        while shared.done.load(Ordering::Acquire) < self.workers.len() {
            pause(&mut spins);
        }
        *shared.task.lock().expect("no worker panics while it holds this") = None;
        shared.epoch.fetch_add(1, Ordering::Release);
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

fn take_pieces(shared: &Shared, task: &(dyn Fn(usize) + Sync)) {
    let pieces = shared.pieces.load(Ordering::Relaxed);
    loop {
        let i = shared.next.fetch_add(1, Ordering::Relaxed);
        if i >= pieces {
            return;
        }
        task(i);
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

fn work(shared: &Shared) {
    let mut seen = 0;
    let mut spins = 0;
    loop {
        if shared.stop.load(Ordering::Acquire) {
            return;
        }
        let epoch = shared.epoch.load(Ordering::Acquire);
        if epoch == seen || epoch.is_multiple_of(2) {
            // between jobs: spin a while, then sleep until the next one wakes us
            spins += 1;
            if spins < SPINS {
                std::hint::spin_loop();
            } else {
                std::thread::park_timeout(std::time::Duration::from_millis(50));
                spins = SPINS / 2;
            }
            continue;
        }
        seen = epoch;
        spins = 0;
        let task = *shared.task.lock().expect("no worker panics while it holds this");
        if let Some(SendTask(task)) = task {
            // SAFETY: the epoch is odd, so `Pool::run` is waiting for us and the closure lives.
            take_pieces(shared, unsafe { &*task });
        }
        shared.done.fetch_add(1, Ordering::Release);
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
    fn every_piece_is_done_once_by_any_number_of_threads() {
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

//! A steady step allocates nothing.
//!
//! Without capsules and hulls: when such a pair has moved on, its points are found anew by the geometry library, whose
//! penetration search allocates. At rest they allocate nothing either.

mod common;
use common::zoo;
use sinew::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;
static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system allocator unchanged; only a counter is added.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's contract is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's contract is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_steady_step_allocates_nothing() -> Result<(), Error> {
    // one test in this file: the counter is shared by the whole process
    for threads in [1, 2] {
        let mut zoo = zoo(threads)?;
        for (k, id) in zoo.boxes.iter().enumerate() {
            if k % 5 >= 3 {
                zoo.world.remove_body(*id)?;
            }
        }
        let awake = Settings { sleep_time: Real::INFINITY, ..zoo.world.settings().clone() };
        zoo.world.set_settings(awake)?;
        let input = Input::none();
        for _ in 0..600 {
            zoo.world.step(&input);
        }
        let before = COUNT.load(Ordering::Relaxed);
        for _ in 0..200 {
            zoo.world.step(&input);
        }
        let made = COUNT.load(Ordering::Relaxed) - before;
        assert_eq!(made, 0, "{made} allocations in 200 steps, {threads} threads");
    }
    Ok(())
}

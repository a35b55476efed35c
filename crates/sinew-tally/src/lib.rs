//! A counting allocator: number of allocations, memory in use, and its peak.
//!
//! "A steady step allocates nothing" and "a reader of n bytes uses at most so much memory" are guarantees; this crate
//! measures them. A program that needs the counters sets it as its global allocator; other programs are not affected:
//!
//! ```
//! use sinew_tally::Tally;
//!
//! #[global_allocator]
//! static TALLY: Tally = Tally::new();
//!
//! fn main() {
//!     let before = TALLY.count();
//!     TALLY.forget_peak();
//!     drop(vec![0_u8; 1 << 20]);
//!     assert_eq!(TALLY.count() - before, 1);
//!     assert!(TALLY.peak() >= TALLY.held() + (1 << 20));
//! }
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator with three counters, shared by all threads.
///
/// The example of the [crate](self) makes it the allocator of a program.
#[derive(Debug, Default)]
pub struct Tally {
    count: AtomicUsize,
    held: AtomicUsize,
    peak: AtomicUsize,
}

impl Tally {
    /// All counters at zero.
    pub const fn new() -> Self {
        Self { count: AtomicUsize::new(0), held: AtomicUsize::new(0), peak: AtomicUsize::new(0) }
    }

    /// Number of allocations since the start; growing a block counts as one.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Memory in use, in bytes.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Peak of the memory in use since the start or the last [`Self::forget_peak`], in bytes.
    pub fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    /// Resets the peak to the memory in use now.
    pub fn forget_peak(&self) {
        self.peak.store(self.held(), Ordering::Relaxed);
    }

    fn took(&self, size: usize) {
        let held = self.held.fetch_add(size, Ordering::Relaxed) + size;
        self.peak.fetch_max(held, Ordering::Relaxed);
    }

    fn gave(&self, size: usize) {
        self.held.fetch_sub(size, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to the system allocator unchanged; only counters are added.
unsafe impl GlobalAlloc for Tally {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.took(layout.size());
        // SAFETY: the caller's contract is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.took(layout.size());
        // SAFETY: the caller's contract is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        self.gave(layout.size());
        // SAFETY: the caller's contract is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.count.fetch_add(1, Ordering::Relaxed);
        // while a block is moved, both the old and the new one are in use
        self.took(size);
        self.gave(layout.size());
        // SAFETY: the caller's contract is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_grows_and_is_freed_is_counted_and_leaves_nothing_in_use() {
        // not the allocator of this test program: allocations of its other threads would be counted too
        let tally = Tally::new();
        let small = Layout::array::<u8>(100).expect("a small block");
        // SAFETY: the block is reallocated and freed with its own layout, and never read.
        unsafe {
            let block = tally.alloc(small);
            let grown = tally.realloc(block, small, 300);
            tally.dealloc(grown, Layout::array::<u8>(300).expect("a small block"));
        }
        assert_eq!((tally.count(), tally.held(), tally.peak()), (2, 0, 400));
        tally.forget_peak();
        assert_eq!(tally.peak(), 0);
    }
}

//! Decides how allocations are counted: those of the present thread, and what of them is left.
//!
//! Knows nothing about what is measured. Whatever is measured runs in one thread, the one of its
//! test, so that tests that run beside each other do not meet.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    ops::Sub,
};

/// What was allocated so far, by the present thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Allocated {
    /// How many times, growing included.
    pub(crate) times: u64,
    /// How many bytes, with all of what grew.
    pub(crate) bytes: u64,
    /// How many bytes more than were given back.
    pub(crate) live: i64,
}

thread_local! {
    static SO_FAR: Cell<Allocated> = const { Cell::new(Allocated { times: 0, bytes: 0, live: 0 }) };
}

impl Allocated {
    pub(crate) fn so_far() -> Self {
        SO_FAR.get()
    }
}

impl Sub for Allocated {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            times: self.times - before.times,
            bytes: self.bytes - before.bytes,
            live: self.live - before.live,
        }
    }
}

fn took(size: usize) {
    change(|so_far| {
        so_far.times += 1;
        so_far.bytes += size as u64;
        so_far.live += size.cast_signed() as i64;
    });
}

fn gave_back(size: usize) {
    change(|so_far| so_far.live -= size.cast_signed() as i64);
}

fn change(change: impl FnOnce(&mut Allocated)) {
    // A thread that ends has nothing to count in any more.
    let _ = SO_FAR.try_with(|so_far| {
        let mut changed = so_far.get();
        change(&mut changed);
        so_far.set(changed);
    });
}

struct Counting;

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every call is handed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        // SAFETY: as for the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        gave_back(layout.size());
        // SAFETY: as for the caller.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        gave_back(layout.size());
        took(size);
        // SAFETY: as for the caller.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

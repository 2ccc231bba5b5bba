//! Decides how much memory and time some bytes may cost.
//!
//! Memory is counted by the allocator of whoever runs a target, which tells [`took`] and
//! [`gave_back`]; where none does, no memory is counted and none is judged. Time is that of the
//! thread, so that a busy machine makes nobody slow.

use std::{cell::Cell, time::Duration};

use rustix::time::{ClockId, clock_gettime};

/// Bytes held at once for each byte of input: a tree of JSON values is many times its text.
const HELD_FOR_EACH: usize = 400;
/// Bytes that any input may hold.
const HELD_ANYWAY: usize = 512 * 1024;
/// Time for each byte of input, in a build without optimisation.
const TIME_FOR_EACH: Duration = Duration::from_micros(20);
/// Time that any input may take.
const TIME_ANYWAY: Duration = Duration::from_secs(1);

thread_local! {
    static HELD: Cell<i64> = const { Cell::new(0) };
    static MOST: Cell<i64> = const { Cell::new(0) };
}

/// The present thread was given this many bytes.
pub fn took(bytes: usize) {
    // A thread that ends has nothing to count in any more.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + signed(bytes));
        let _ = MOST.try_with(|most| most.set(most.get().max(held.get())));
    });
}

/// The present thread gave this many bytes back.
pub fn gave_back(bytes: usize) {
    let _ = HELD.try_with(|held| held.set(held.get() - signed(bytes)));
}

/// Does `work` on `bytes` of input and expects that it costs little beyond them.
///
/// # Panics
/// When more memory was held at once, or more time taken, than grows with the input.
pub(crate) fn bounded<T>(what: &str, bytes: usize, work: impl FnOnce() -> T) -> T {
    let before = HELD.get();
    MOST.set(before);
    let began = cpu_time();
    let done = work();
    let took = cpu_time().saturating_sub(began);
    let held = usize::try_from(MOST.get() - before).unwrap_or(0);
    let may_hold = HELD_ANYWAY + bytes * HELD_FOR_EACH;
    assert!(held <= may_hold, "{what}: {bytes} bytes made it hold {held}, at most {may_hold} may");
    let length = u32::try_from(bytes).unwrap_or(u32::MAX);
    let may_take = TIME_ANYWAY + TIME_FOR_EACH * length;
    assert!(took <= may_take, "{what}: {bytes} bytes took {took:?}, at most {may_take:?} may");
    done
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

fn signed(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

//! Late cycles against early ones: the same allocations, and no old message is touched.

use std::sync::{Arc, Mutex};

use runtime_kernel::engine::{Agent, RunOptions, Task};
use runtime_ports::{ModelRequest, TranscriptEntry};

use crate::{
    counting::Allocated,
    scripted::{LOOK, Look, Looking, MODEL, Script, Scripted},
};

/// Cycles between two readings. With two messages a cycle, 32 cycles fill two chunks of a
/// transcript and one chunk of the run's own logs: over so many cycles, what chunks cost is even.
const WINDOW: u32 = 32;

/// The requests at which readings are taken; the first window begins in cycle 10.
const EARLY: u32 = 10;
const LATE: u32 = 2_000;

/// Runs `calls` cycles with a call, and one with the answer.
fn run(prompt: &str, calls: u32, look: Look) {
    let path = Some("notes/today.md");
    let script = Script { calls, text: "I look.", last: LOOK, path };
    let model = Arc::new(Scripted::new(script, look));
    let agent = Agent::builder("counted", model, MODEL)
        .tool(Looking::new(LOOK, "Nothing is there."))
        .max_cycles(calls + 1)
        .build()
        .expect("an agent");
    let executor = tokio::runtime::Builder::new_current_thread().enable_time().build();
    executor.expect("an executor").block_on(async {
        // The id is so short that the ids of effects take the same room with two digits and four.
        let (handle, run) = agent.drive(Task::new(prompt), RunOptions::default().run_id("run"));
        drop(handle);
        run.await.finished().expect("it ends");
    });
}

/// What was allocated when each request came, from the first on.
fn readings(prompt: &str, calls: u32) -> Vec<Allocated> {
    let readings = Arc::new(Mutex::new(Vec::with_capacity(calls as usize + 1)));
    let taken = Arc::clone(&readings);
    let look = move |_: u32, _: &ModelRequest| {
        taken.lock().expect("readings").push(Allocated::so_far());
    };
    run(prompt, calls, Box::new(look));
    let readings = readings.lock().expect("readings");
    readings.clone()
}

/// What `WINDOW` cycles from `cycle` on allocate.
fn window(readings: &[Allocated], cycle: u32) -> Allocated {
    let first = cycle as usize - 1;
    readings[first + WINDOW as usize] - readings[first]
}

#[test]
fn a_late_cycle_allocates_as_often_and_as_much_as_an_early_one() {
    let readings = readings("look", LATE + WINDOW);
    let (early, late) = (window(&readings, EARLY), window(&readings, LATE));
    println!("{WINDOW} cycles from {EARLY} on: {early:?}; from {LATE} on: {late:?}");
    assert_eq!((early.times, early.bytes), (late.times, late.bytes));
}

#[test]
fn what_a_cycle_allocates_does_not_depend_on_the_size_of_old_messages() {
    let costs = [10, 1_000_000].map(|bytes| {
        let prompt = "x".repeat(bytes);
        let readings = readings(&prompt, 2 * WINDOW);
        window(&readings, EARLY)
    });
    assert_eq!((costs[0].times, costs[0].bytes), (costs[1].times, costs[1].bytes));
}

#[test]
fn consecutive_requests_share_every_entry_but_the_new_ones() {
    let seen: Arc<Mutex<Vec<Arc<TranscriptEntry>>>> = Arc::default();
    let before = Arc::clone(&seen);
    let look = move |number: u32, request: &ModelRequest| {
        let now: Vec<_> = request.messages.entries().cloned().collect();
        let mut before = before.lock().expect("entries");
        assert_eq!(now.len(), 2 * number as usize - 1);
        assert!(before.iter().zip(&now).all(|(before, now)| Arc::ptr_eq(before, now)));
        *before = now;
    };
    run("look", 100, Box::new(look));
    assert_eq!(seen.lock().expect("entries").len(), 201);
}

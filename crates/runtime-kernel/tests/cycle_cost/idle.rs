//! What a run keeps while it waits for an approval, in memory and as bytes.

use std::{future::Future, sync::Arc};

use runtime_kernel::engine::{
    Agent, Event, EventStream, Ruling, RunHandle, RunOptions, Task, ToolPolicy, Watched,
};
use tokio::runtime::Builder;

use crate::{
    counting::Allocated,
    scripted::{LOOK, Looking, MODEL, Script, Scripted},
};

/// 20 cycles with a call each, the last of which waits: 8 KiB of text with results and prompt.
const CYCLES: u32 = 20;
/// 52 bytes, four times.
const TEXT: &str = "\
    One line of text that is fifty-two bytes in length: \
    One line of text that is fifty-two bytes in length: \
    One line of text that is fifty-two bytes in length: \
    One line of text that is fifty-two bytes in length: ";
const PROMPT: &str =
    "The prompt of this run has got just as many bytes as are left over: eighty here.";
/// The tool of the call that waits.
const CHANGE: &str = "change";

const PATH: &str = "notes/today.md";

/// The promise is 40 KiB; this is what was measured, with some room for other versions of tokio.
const MOST_LIVE_BYTES: i64 = 36 * 1_024;
/// 10,000 of them are to take less than 150 MiB, which is 15,728 bytes each.
const MOST_STORED_BYTES: usize = 14_800;

const RUNS: u32 = 50;

/// A run whose last call waits for an approval, and somebody who has read all that it told.
type Waiting = (RunHandle, EventStream);

fn agent(path: Option<&'static str>) -> Agent {
    let script = Script { calls: CYCLES, text: TEXT, last: CHANGE, path };
    Agent::builder("idle", Arc::new(Scripted::new(script, Box::new(|_, _| ()))), MODEL)
        .tool(Looking::new(LOOK, TEXT))
        .tool(Looking::new(CHANGE, TEXT))
        .policy(ToolPolicy::default().with_rule(CHANGE, Ruling::Ask))
        .max_cycles(CYCLES + 1)
        .build()
        .expect("an agent")
}

async fn wait_for_approval(agent: &Agent) -> Waiting {
    let (run, mut events) = agent.watch(Task::new(PROMPT), RunOptions::default());
    while let Some(Watched::Event(told)) = events.next().await {
        if matches!(told.event, Event::ApprovalRequested { .. }) {
            return (run, events);
        }
    }
    panic!("the run told all and asked nothing")
}

/// Runs `measure` where all runs share one thread.
fn in_one_thread<T>(measure: impl Future<Output = T>) -> T {
    let executor = Builder::new_current_thread().enable_time().build();
    executor.expect("an executor").block_on(measure)
}

#[test]
fn the_text_of_the_run_is_what_was_promised() {
    let text = PROMPT.len() + (2 * CYCLES as usize - 1) * TEXT.len();
    assert_eq!(text, 8 * 1_024);
}

/// Bytes that a run adds to a process: its machine with the history, the future of its driver as a
/// task, its handle, its events with one that watches, its timers.
fn kept_by_each(path: Option<&'static str>) -> i64 {
    in_one_thread(async {
        let agent = agent(path);
        let mut waiting = Vec::with_capacity(RUNS as usize + 1);
        // The first one also pays for what all share.
        waiting.push(wait_for_approval(&agent).await);
        let before = Allocated::so_far();
        for _ in 0..RUNS {
            waiting.push(wait_for_approval(&agent).await);
        }
        (Allocated::so_far() - before).live / i64::from(RUNS)
    })
}

#[test]
fn a_run_that_waits_for_an_approval_keeps_little_with_and_without_arguments() {
    for path in [None, Some(PATH)] {
        let each = kept_by_each(path);
        println!("a run that waits keeps {each} bytes, with {path:?} in each call");
        assert!(each <= MOST_LIVE_BYTES, "{each} bytes");
    }
}

#[test]
fn a_suspended_run_is_stored_in_little() {
    let largest = in_one_thread(async {
        let agent = agent(Some(PATH));
        let mut largest = 0;
        for _ in 0..RUNS {
            let (run, _events) = wait_for_approval(&agent).await;
            let end = run.suspend().await.expect("nobody drops it");
            largest = largest.max(end.suspended().expect("it waits").as_json().len());
        }
        largest
    });
    println!("a suspended run is stored in {largest} bytes");
    assert!(largest <= MOST_STORED_BYTES, "{largest} bytes");
}

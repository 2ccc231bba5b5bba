//! What a run takes while it waits for an approval, as bytes.

use std::{future::Future, sync::Arc};

use runtime_kernel::engine::{
    Agent, Event, EventStream, Ruling, RunHandle, RunOptions, Task, ToolPolicy, Watched,
};
use tokio::runtime::Builder;

use crate::scripted::{LOOK, Looking, MODEL, Script, Scripted};

/// 20 cycles have a call and a result, and the prompt stands before them: 8 KiB of text together.
const CYCLES: u32 = 20;
/// 51 bytes, four times.
const TEXT: &str = "\
    One line of text which is fifty-one bytes long: it.\
    One line of text which is fifty-one bytes long: it.\
    One line of text which is fifty-one bytes long: it.\
    One line of text which is fifty-one bytes long: it.";
const PROMPT: &str = "Prompts are of thirty-two bytes.";
/// The tool of the call that waits.
const CHANGE: &str = "change";

/// 10,000 of them are to take less than 150 MiB.
const MOST_STORED_BYTES: usize = 150 * 1_024 * 1_024 / 10_000;

const RUNS: u32 = 50;

/// A run whose last call waits for an approval, and somebody who has read all that it told.
type Waiting = (RunHandle, EventStream);

fn agent() -> Agent {
    let script = Script { calls: CYCLES + 1, text: TEXT, last: CHANGE };
    Agent::builder("idle", Arc::new(Scripted::new(script, Box::new(|_, _| ()))), MODEL)
        .tool(Looking::new(LOOK, TEXT))
        .tool(Looking::new(CHANGE, TEXT))
        .policy(ToolPolicy::default().with_rule(CHANGE, Ruling::Ask))
        .max_cycles(CYCLES + 2)
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
    let text = PROMPT.len() + CYCLES as usize * 2 * TEXT.len();
    assert_eq!(text, 8 * 1_024);
}

#[test]
fn a_suspended_run_is_stored_in_little() {
    let largest = in_one_thread(async {
        let agent = agent();
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

//! Decides whether a cycle of the engine costs no more than was promised, in CPU time of one thread.
//!
//! Knows the two bounds: a cycle with one tool call costs at most [`MOST_TIMES_PLAIN`] times a
//! plain loop over the same ports, and at cycle 2,000 at most [`MOST_GROWTH`] times what it costs
//! at cycle 100. And whether the compaction of 10,000 messages takes at most [`MOST_COMPACTION`]
//! beside the summariser. With `--check`, a broken bound is a failure.

#[path = "../loops/cpu_time.rs"]
mod cpu_time;
mod long_history;
mod passes;
mod plain;
mod scripted;

use std::{process::ExitCode, sync::Arc, time::Duration};

use runtime_kernel::engine::{Agent, Task};
use runtime_ports::Tool;
use tokio::runtime::{Builder, Runtime};

use crate::{
    cpu_time::CpuTime,
    long_history::LongHistory,
    passes::{Costs, Readings},
    plain::Plain,
    scripted::{LOOK, Look, Looking, MODEL, Script, Scripted},
};

const MOST_TIMES_PLAIN: f64 = 4.0;
const MOST_GROWTH: f64 = 1.25;
const MOST_COMPACTION: Duration = Duration::from_millis(20);

/// Cycles of a run that is compared with the plain loop.
const CYCLES: u32 = 200;
const COMPARED: &[u32] = &[1, CYCLES + 1];
const COMPARISONS: usize = 100;

/// Two windows of 32 cycles, which is two whole chunks of a transcript: up to 100, and to 2,000.
const WINDOW: u32 = 32;
const GROWING: &[u32] = &[69, 101, 1_969, 2_001];
const GROWTHS: usize = 50;

/// Messages of a history that is compacted, and how often one is.
const COMPACTED: usize = 10_000;
const COMPACTIONS: usize = 20;

const PROMPT: &str = "Look at my notes.";
const TEXT: &str = "I look at the notes of today.";
const RESULT: &str = "Nothing was noted today.";

fn main() -> ExitCode {
    let checks = std::env::args().any(|argument| argument == "--check");
    let stage = Stage::new();
    let plain = stage.times_plain();
    let growth = stage.growth();
    let compaction = compaction();
    println!(
        "bounds: {MOST_TIMES_PLAIN} times plain, {MOST_GROWTH} times itself, {MOST_COMPACTION:?} a \
         compaction"
    );
    let is_broken =
        plain > MOST_TIMES_PLAIN || growth > MOST_GROWTH || compaction > MOST_COMPACTION;
    match checks && is_broken {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

/// What the compaction of a long history costs in the median.
fn compaction() -> Duration {
    let mut costs: Vec<_> = (0..COMPACTIONS)
        .map(|_| {
            let run = LongHistory::new(COMPACTED);
            let started = CpuTime::now();
            let compacted = run.compact();
            let cost = CpuTime::now() - started;
            assert!(compacted.messages < COMPACTED && compacted.levels.len() == 2);
            cost
        })
        .collect();
    costs.sort_unstable();
    let median = costs[COMPACTIONS / 2];
    println!("compaction of {COMPACTED} messages: least {:?}, median {median:?}", costs[0]);
    median
}

struct Stage {
    executor: Runtime,
}

impl Stage {
    fn new() -> Self {
        let executor = Builder::new_current_thread().enable_time().build();
        Self { executor: executor.expect("an executor needs nothing of the system") }
    }

    /// How many times the plain loop a cycle costs, of the least of each.
    fn times_plain(&self) -> f64 {
        let (mut plain, mut engine) = (Costs::default(), Costs::default());
        for _ in 0..COMPARISONS {
            let (readings, look) = Readings::at(COMPARED);
            self.run_plain(look);
            plain.add(readings.cost(0, 1, CYCLES));
            let (readings, look) = Readings::at(COMPARED);
            self.run_engine(CYCLES, look);
            engine.add(readings.cost(0, 1, CYCLES));
        }
        compared("plain loop", &plain, "engine", &engine)
    }

    /// How many times the cost at cycle 100 a cycle costs at 2,000, of the least of each.
    fn growth(&self) -> f64 {
        let (mut early, mut late) = (Costs::default(), Costs::default());
        for _ in 0..GROWTHS {
            let (readings, look) = Readings::at(GROWING);
            self.run_engine(2_000, look);
            early.add(readings.cost(0, 1, WINDOW));
            late.add(readings.cost(2, 3, WINDOW));
        }
        compared("engine at cycle 100", &early, "engine at cycle 2,000", &late)
    }

    fn run_plain(&self, look: Look) {
        let model = Arc::new(Scripted::new(script(CYCLES), look));
        let plain = Plain::new(model, vec![Arc::new(Looking::new(LOOK, RESULT)) as Arc<dyn Tool>]);
        let history = self.executor.block_on(plain.run(MODEL, PROMPT));
        assert_eq!(history.expect("nothing fails").len(), messages(CYCLES));
    }

    fn run_engine(&self, cycles: u32, look: Look) {
        let model = Arc::new(Scripted::new(script(cycles), look));
        let agent = Agent::builder("measured", model, MODEL)
            .tool(Looking::new(LOOK, RESULT))
            .max_cycles(cycles + 1)
            .build()
            .expect("an agent");
        let result = self.executor.block_on(async {
            let run = agent.start(Task::new(PROMPT));
            run.result().await.expect("nobody drops it").finished().expect("it ends")
        });
        assert_eq!(result.history.len(), messages(cycles));
    }
}

const fn script(calls: u32) -> Script {
    Script { calls, text: TEXT, last: LOOK, path: Some("notes/today.md") }
}

/// The prompt, a call and its result in each cycle, and the answer.
const fn messages(cycles: u32) -> usize {
    2 * cycles as usize + 2
}

fn compared(name: &str, costs: &Costs, other_name: &str, other: &Costs) -> f64 {
    let times = |of: fn(&Costs) -> Duration| of(other).as_secs_f64() / of(costs).as_secs_f64();
    for (name, costs) in [(name, costs), (other_name, other)] {
        println!(
            "{name}: {:?} a cycle at least, {:?} in the middle",
            costs.least(),
            costs.middle()
        );
    }
    println!(
        "{other_name}: {:.2} times {name} at least, {:.2} times in the middle\n",
        times(Costs::least),
        times(Costs::middle)
    );
    times(Costs::least)
}

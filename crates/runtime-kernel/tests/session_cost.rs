//! What the primary loop allocates: the same for every call and round, and never the input again.
//!
//! A binary of its own, because it counts the bytes of the whole process.

#![expect(unsafe_code, reason = "only a global allocator can count what is allocated")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use in_memory_fakes::{FakeIntelligence, TurnScript};
use runtime_kernel::{
    AgentRuntime, HostFuture, PreparedRound, RoundCompletion, RoundPreparation, SessionControl,
    SessionEvent, SessionHost, SessionRunRequest, SessionToolOutcome, ToolCall,
};
use serde_json::{Value, json};
use uuid::Uuid;

struct Counting;

static ALLOCATED_BYTES: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is handed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED_BYTES.fetch_add(layout.size() as u64, Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const INPUT_BYTES: usize = 1 << 20;

/// A host with a large input that keeps nothing.
struct Forgetful {
    rounds_left: u64,
    inputs: Vec<String>,
}

impl SessionHost for Forgetful {
    fn prepare_round<'a>(&'a mut self, _round: u64) -> HostFuture<'a, RoundPreparation> {
        let prepared = PreparedRound {
            input: self.inputs.pop().unwrap_or_default(),
            provider_input: String::new(),
            continuation: None,
            model: "fake".into(),
            reasoning_effort: String::new(),
            tool_description: String::new(),
            timeout: None,
        };
        Box::pin(async { Ok(RoundPreparation::Run(prepared)) })
    }

    fn record<'a>(&'a mut self, _event: SessionEvent) -> HostFuture<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn execute_tool<'a>(
        &'a mut self,
        _call: anyhow::Result<ToolCall>,
        _provider_operation_id: Uuid,
    ) -> HostFuture<'a, SessionToolOutcome> {
        Box::pin(async { Ok(SessionToolOutcome::success("ok")) })
    }

    fn complete_capture<'a>(
        &'a mut self,
        _capture: Value,
        _contents: String,
    ) -> HostFuture<'a, SessionControl> {
        Box::pin(async { Ok(SessionControl::Continue) })
    }

    fn complete_round<'a>(&'a mut self, _round: RoundCompletion) -> HostFuture<'a, SessionControl> {
        self.rounds_left -= 1;
        let done = self.rounds_left == 0;
        let control = if done { SessionControl::Complete(None) } else { SessionControl::Continue };
        Box::pin(async { Ok(control) })
    }
}

/// Bytes allocated while a session of `rounds` rounds with `calls` calls each is run; its inputs
/// and scripts are made before.
fn bytes_of(rounds: u64, calls: usize, input_bytes: usize) -> u64 {
    let one = (0..calls).fold(TurnScript::new(), |script, n| {
        script.ktool("look", json!({ "path": "notes/today.md" }), format!("call-{n}"))
    });
    let scripts = (0..rounds).map(|_| one.clone().complete("done"));
    let runtime = AgentRuntime::new(Arc::new(FakeIntelligence::new(scripts)));
    let inputs = (0..rounds).map(|_| "x".repeat(input_bytes)).collect();
    let mut host = Forgetful { rounds_left: rounds, inputs };
    let (user_id, operation_id, rounds_used) = ("ada".into(), Uuid::new_v4(), 0);
    let request = SessionRunRequest { user_id, operation_id, rounds_used, round_limit: rounds };
    let executor = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let before = ALLOCATED_BYTES.load(Relaxed);
    executor.block_on(runtime.run_session(request, &mut host)).unwrap();
    ALLOCATED_BYTES.load(Relaxed) - before
}

/// `many` of a thing must cost at most half as much again, each, as `few` of it.
fn check_linear(what: &str, few: (u64, u64), many: (u64, u64)) {
    let (each_of_few, each_of_many) = (few.1 / few.0, many.1 / many.0);
    let bound = each_of_few * 3 / 2;
    assert!(
        each_of_many <= bound,
        "{what}: {each_of_few} bytes each of few, {each_of_many} of many"
    );
}

/// One test, since the counter is the process's.
#[test]
fn work_is_linear_in_what_is_new() {
    bytes_of(2, 2, 0); // whatever is allocated once in a process
    let calls = |n: usize| (n as u64, bytes_of(1, n, INPUT_BYTES));
    let (hundred, thousand) = (calls(100), calls(1_000));
    check_linear("calls", hundred, thousand);
    let rounds = |n: u64| (n, bytes_of(n, 1, 0));
    check_linear("rounds", rounds(100), rounds(1_000));

    let without = bytes_of(1, 100, 0);
    let growth = hundred.1.abs_diff(without);
    assert!(growth < 4_096, "an input of 1 MiB cost {growth} bytes more than none");
}

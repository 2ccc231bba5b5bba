//! The cost of a tool call of the subagent loop does not grow with the calls before it.
//!
//! In a binary of its own: the allocator counts for the whole process. Its tests run in one thread,
//! one after the other, because there is only one.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use runtime_kernel::{
    AgentRuntime, AuditEvent, ContextBudget, Host, HostFuture, RunRequest, StateUpdate, ToolCall,
    ToolOutcome,
};
use runtime_ports::{
    AgentContinuation, AgentProvider, AgentTurn, AgentTurnEvent, Intelligence, Metering,
    PortFailure, ResolvedAgentModel, ToolResult, TurnEnd, TurnFailure, TurnStart, UsageReceipt,
};
use serde_json::{Value, json};
use uuid::Uuid;

struct Counting;

static BYTES: AtomicU64 = AtomicU64::new(0);

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every call is handed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: as for the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as for the caller.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        BYTES.fetch_add((size.saturating_sub(layout.size())) as u64, Ordering::Relaxed);
        // SAFETY: as for the caller.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A provider that asks for the same call again and again, keeping nothing.
struct Asking {
    calls: u64,
}

struct AskingTurn {
    left: u64,
    operation_id: Uuid,
}

#[async_trait]
impl Intelligence for Asking {
    async fn resolve_agent_model(&self, name: &str) -> Result<ResolvedAgentModel, PortFailure> {
        Ok(ResolvedAgentModel {
            requested_model: name.to_owned(),
            provider_model: name.to_owned(),
            provider: AgentProvider::new("fake"),
            context_window_tokens: u64::MAX,
            max_input_tokens: u64::MAX,
        })
    }

    async fn start_agent_turn(&self, start: TurnStart) -> Result<Box<dyn AgentTurn>, TurnFailure> {
        Ok(Box::new(AskingTurn { left: self.calls, operation_id: start.operation_id }))
    }

    async fn cancel(&self, _operation_id: Uuid) -> Result<bool, PortFailure> {
        Ok(false)
    }
}

#[async_trait]
impl AgentTurn for AskingTurn {
    async fn next_event(&mut self) -> Result<Option<AgentTurnEvent>, TurnFailure> {
        if self.left == 0 {
            let answer = "done".to_owned();
            let (usage, thread_id, turn_id) = (None, None, None);
            return Ok(Some(AgentTurnEvent::Completed { answer, usage, thread_id, turn_id }));
        }
        self.left -= 1;
        let arguments = json!({ "name": "note", "arguments": { "line": "one line" } });
        let (call_id, tool) = ("call".to_owned(), "call_ktool".to_owned());
        Ok(Some(AgentTurnEvent::ToolCall { call_id, tool, arguments }))
    }

    async fn respond(&mut self, _: &str, _: ToolResult) -> Result<(), PortFailure> {
        Ok(())
    }

    async fn finish_unavailable(&mut self) -> Result<UsageReceipt, PortFailure> {
        Ok(UsageReceipt {
            version: UsageReceipt::VERSION,
            operation_id: self.operation_id,
            parent_operation_id: None,
            user_id: String::new(),
            requested_model: String::new(),
            provider: AgentProvider::new("fake"),
            provider_model: String::new(),
            thread_id: None,
            started_at_ms: 0,
            ended_at_ms: 0,
            end: TurnEnd::Completed,
            requests: Vec::new(),
            metering: Metering::Unavailable,
            is_lower_bound: false,
            cost_nano_usd: None,
            losses: Vec::new(),
        })
    }

    fn receipt(&self) -> Option<&UsageReceipt> {
        None
    }

    fn continuation(&self) -> Option<&AgentContinuation> {
        None
    }
}

/// What a tool of the host does in each of its calls.
#[derive(Clone, Copy)]
enum Work {
    /// Updates a state that the result shows, after asking whether it fits.
    UpdatesAndShows,
    /// Shows a state that is never updated, and asks whether another one would fit.
    ShowsOnly,
}

struct WorkingHost {
    work: Work,
    /// Bytes that had been allocated at the beginning of each call.
    bytes: Vec<u64>,
    /// The last budget, held over the next call.
    held: Arc<Mutex<Option<ContextBudget>>>,
}

impl WorkingHost {
    fn serve(&mut self, budget: ContextBudget) -> ToolOutcome {
        self.bytes.push(BYTES.load(Ordering::Relaxed));
        assert!(budget.fits_state("page", "another page"));
        *self.held.lock().expect("held") = Some(budget);
        let page = "a page of constant size, shown by the result of the call".to_owned();
        let update = StateUpdate { key: "page".to_owned(), text: Some(page.clone()) };
        let state_updates = match self.work {
            Work::UpdatesAndShows => vec![update],
            Work::ShowsOnly => Vec::new(),
        };
        let displayed_state_keys = vec!["page".to_owned()];
        ToolOutcome { state_updates, displayed_state_keys, ..ToolOutcome::success(page) }
    }
}

impl Host for WorkingHost {
    fn render_tool_call(&mut self, call: &ToolCall) -> anyhow::Result<String> {
        Ok(format!("{} {}", call.name, call.arguments))
    }

    fn execute_tool<'a>(
        &'a mut self,
        _call: ToolCall,
        _operation_id: Uuid,
        budget: ContextBudget,
    ) -> HostFuture<'a, ToolOutcome> {
        let outcome = self.serve(budget);
        Box::pin(async move { Ok(outcome) })
    }

    fn complete_capture<'a>(
        &'a mut self,
        _capture: Value,
        contents: String,
        _budget: ContextBudget,
    ) -> HostFuture<'a, ToolOutcome> {
        Box::pin(async move { Ok(ToolOutcome::success(contents)) })
    }

    fn record(&mut self, _event: AuditEvent) -> anyhow::Result<()> {
        Ok(())
    }
}

/// Bytes allocated for each of `calls` calls, on average over the run.
fn bytes_per_call(calls: u64, work: Work) -> u64 {
    let request = RunRequest {
        user_id: "ada".to_owned(),
        parent_operation_id: Uuid::nil(),
        model: "m".to_owned(),
        reasoning_effort: String::new(),
        context: vec!["context".repeat(1_000)],
        task: "task".to_owned(),
        timeout: None,
        start_metadata: Value::Null,
    };
    let bytes = Vec::with_capacity(calls as usize);
    let mut host = WorkingHost { work, bytes, held: Arc::default() };
    let runtime = AgentRuntime::new(Arc::new(Asking { calls }));
    let executor = tokio::runtime::Builder::new_current_thread().build().expect("an executor");
    executor.block_on(runtime.run(request, &mut host)).expect("an answer");
    let (first, last) = (host.bytes[0], host.bytes[host.bytes.len() - 1]);
    (last - first) / (calls - 1)
}

#[test]
fn bytes_allocated_per_tool_call_do_not_grow_with_the_calls() {
    for (name, work) in [("updates", Work::UpdatesAndShows), ("shows", Work::ShowsOnly)] {
        bytes_per_call(10, work);
        let (few, many) = (bytes_per_call(100, work), bytes_per_call(1_000, work));
        println!("{name}: {few} bytes per call over 100 calls, {many} over 1,000");
        assert!(many <= few + few / 10, "{name}: {few} bytes a call over 100, {many} over 1,000");
    }
}

//! Decides what the provider does in the benches: the same few events in every turn, for next to
//! nothing.
//!
//! Knows nothing about the loops. It keeps nothing, so that its own cost is the same for every call
//! and every turn.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use runtime_ports::{
    AgentContinuation, AgentProvider, AgentTurn, AgentTurnEvent, Intelligence, Metering,
    PortFailure, ResolvedAgentModel, TokenUsage, ToolResult, TurnEnd, TurnFailure, TurnStart,
    UsageReceipt,
};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use uuid::Uuid;

use crate::cpu_time::CpuTime;

/// The calls, or rounds, of a run whose cost is counted: those from `first` to `last`, which is the
/// last of the run.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl Window {
    pub(crate) const ALL: [Self; 5] = [
        Self { first: 1, last: 1 },
        Self { first: 1, last: 10 },
        Self { first: 1, last: 100 },
        Self { first: 1, last: 1_000 },
        Self { first: 901, last: 1_000 },
    ];

    pub(crate) fn len(self) -> u32 {
        u32::try_from(self.last - self.first + 1).unwrap_or(u32::MAX)
    }

    pub(crate) fn name(self) -> String {
        format!("{}..={}", self.first, self.last)
    }
}

/// Whatever runs the loops; nothing in the benches ever waits.
pub(crate) fn executor() -> Runtime {
    Builder::new_current_thread().build().expect("an executor needs nothing of the system")
}

/// A provider whose every turn makes `calls` calls and answers.
#[derive(Clone)]
pub(crate) struct Scripted {
    calls: u64,
    watch: Option<Arc<Watch>>,
}

/// Reads the CPU time when call number `first` is surfaced, and when the answer is.
pub(crate) struct Watch {
    first: u64,
    readings: Mutex<Vec<std::time::Duration>>,
}

impl Watch {
    fn read(&self) {
        let mut readings = self.readings.lock().unwrap_or_else(PoisonError::into_inner);
        readings.push(CpuTime::now());
    }

    /// CPU time between the two readings.
    pub(crate) fn elapsed(&self) -> std::time::Duration {
        let readings = self.readings.lock().unwrap_or_else(PoisonError::into_inner);
        readings[1] - readings[0]
    }
}

impl Scripted {
    /// Nobody watches its turns.
    pub(crate) const fn new(calls: u64) -> Self {
        Self { calls, watch: None }
    }

    /// Its one turn is watched from call number `window.first` to its answer.
    pub(crate) fn watched(window: Window) -> (Self, Arc<Watch>) {
        let readings = Mutex::new(Vec::with_capacity(2));
        let watch = Arc::new(Watch { first: window.first, readings });
        (Self { calls: window.last, watch: Some(Arc::clone(&watch)) }, watch)
    }
}

#[async_trait]
impl Intelligence for Scripted {
    async fn resolve_agent_model(&self, name: &str) -> Result<ResolvedAgentModel, PortFailure> {
        Ok(ResolvedAgentModel {
            requested_model: name.to_owned(),
            provider_model: name.to_owned(),
            provider: AgentProvider::new("scripted"),
            context_window_tokens: u64::MAX,
            max_input_tokens: u64::MAX,
        })
    }

    async fn start_agent_turn(&self, start: TurnStart) -> Result<Box<dyn AgentTurn>, TurnFailure> {
        let receipt = receipt(&start);
        let (calls, watch) = (self.calls, self.watch.clone());
        Ok(Box::new(ScriptedTurn { calls, made: 0, reported: false, receipt, watch }))
    }

    async fn cancel(&self, _operation_id: Uuid) -> Result<bool, PortFailure> {
        Ok(false)
    }
}

struct ScriptedTurn {
    calls: u64,
    made: u64,
    reported: bool,
    receipt: UsageReceipt,
    watch: Option<Arc<Watch>>,
}

impl ScriptedTurn {
    fn next(&mut self) -> AgentTurnEvent {
        if self.made < self.calls {
            return self.call();
        }
        if !std::mem::replace(&mut self.reported, true) {
            return AgentTurnEvent::UsageUpdated(TokenUsage::default());
        }
        if let Some(watch) = &self.watch {
            watch.read();
        }
        let (usage, thread_id, turn_id) = (None, None, None);
        AgentTurnEvent::Completed { answer: "done".to_owned(), usage, thread_id, turn_id }
    }

    fn call(&mut self) -> AgentTurnEvent {
        self.made += 1;
        if let Some(watch) = self.watch.as_ref().filter(|watch| watch.first == self.made) {
            watch.read();
        }
        let arguments = json!({ "name": "look", "arguments": { "path": "notes/today.md" } });
        let (call_id, tool) = ("call-1".to_owned(), "call_ktool".to_owned());
        AgentTurnEvent::ToolCall { call_id, tool, arguments }
    }
}

#[async_trait]
impl AgentTurn for ScriptedTurn {
    async fn next_event(&mut self) -> Result<Option<AgentTurnEvent>, TurnFailure> {
        Ok(Some(self.next()))
    }

    async fn respond(&mut self, _call_id: &str, _result: ToolResult) -> Result<(), PortFailure> {
        Ok(())
    }

    async fn finish_unavailable(&mut self) -> Result<UsageReceipt, PortFailure> {
        Ok(self.receipt.clone())
    }

    fn receipt(&self) -> Option<&UsageReceipt> {
        Some(&self.receipt)
    }

    fn continuation(&self) -> Option<&AgentContinuation> {
        None
    }
}

fn receipt(start: &TurnStart) -> UsageReceipt {
    UsageReceipt {
        version: UsageReceipt::VERSION,
        operation_id: start.operation_id,
        parent_operation_id: start.parent_operation_id,
        user_id: start.user_id.clone(),
        requested_model: start.request.model.clone(),
        provider: AgentProvider::new("scripted"),
        provider_model: start.request.model.clone(),
        thread_id: None,
        started_at_ms: 0,
        ended_at_ms: 0,
        end: TurnEnd::Completed,
        requests: Vec::new(),
        metering: Metering::Unavailable,
        is_lower_bound: false,
        cost_nano_usd: None,
        losses: Vec::new(),
    }
}

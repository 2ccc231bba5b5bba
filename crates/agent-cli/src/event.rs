//! Decides everything that the command can tell: one closed list for people and for programs.
//!
//! Knows no terminal and no format beside the names of the JSON events. The names and fields are a
//! promise (`docs/json-events.md`); a golden test fails when they change.

use runtime_ports::{TokenUsage, UsageReceipt};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::totals::RunTotals;

/// Version of the JSON events.
pub(crate) const EVENT_VERSION: u16 = 1;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Event {
    /// First of all.
    RunStarted {
        run_id: Uuid,
        model: String,
        provider: String,
        offline: bool,
        folder: String,
        task: String,
    },
    /// A round was sent to the model.
    RoundStarted { round: u64 },
    /// A piece of model text; no result.
    TextDelta { text: String },
    /// A piece of reasoning; no result.
    ReasoningDelta { text: String },
    /// The model called a tool.
    ToolCalled { number: u64, tool: String, arguments: Value },
    /// The model called a tool in a way that breaks the rules.
    ToolCallRefused { number: u64, reason: String },
    /// A person is asked.
    ApprovalRequested { number: u64, tool: String, digest: String },
    /// It was decided.
    ApprovalResolved { number: u64, tool: String, approved: bool, reason: Option<String> },
    /// A tool came back.
    ToolReturned { number: u64, tool: String, ok: bool, text: String },
    /// Tokens of the turn so far.
    UsageUpdated { round: u64, usage: TokenUsage },
    /// A turn was settled.
    ReceiptRecorded { round: u64, receipt: Box<UsageReceipt> },
    /// Last: the task is done.
    RunCompleted { answer: Option<String>, totals: RunTotals, exit_code: u8 },
    /// Last: it failed.
    RunFailed {
        code: String,
        message: String,
        hint: Option<String>,
        totals: RunTotals,
        exit_code: u8,
    },
    /// Last: it was cancelled.
    RunCancelled { totals: RunTotals, exit_code: u8 },
}

/// An event in its envelope, as it is printed.
#[derive(Debug, Serialize)]
pub(crate) struct Envelope<'a> {
    /// [`EVENT_VERSION`].
    pub(crate) version: u16,
    /// From 1, without gaps.
    pub(crate) sequence: u64,
    /// Unix milliseconds.
    pub(crate) at_ms: u64,
    /// What happened.
    #[serde(flatten)]
    pub(crate) event: &'a Event,
}

#[cfg(test)]
mod tests;

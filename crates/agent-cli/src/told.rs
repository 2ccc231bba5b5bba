//! Decides everything that the command can tell: one closed list for people and for programs.
//!
//! Knows no terminal and no format beside the names of JSON fields, which are a promise
//! (`docs/json-events.md`); golden tests fail when they change.

use router_adapter::Detour;
use runtime_kernel::engine::{CancelReport, Event, RunEvent};
use runtime_ports::{PortFailure, UsageReceipt};
use serde::Serialize;
use uuid::Uuid;

use crate::{budget_left::BudgetLeft, diagnosis::Diagnosis, exit::Exit, totals::RunTotals};

/// Something to be told.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Told<'a> {
    /// With what the work is done; before the first event.
    Setting(&'a Setting),
    /// Something happened in a run.
    Happened(&'a RunEvent),
    /// So many events came too fast to be shown.
    Missed(u64),
    /// A request to the model has its receipt.
    Receipt(&'a UsageReceipt),
    /// A model call is sent again, or goes elsewhere.
    Detour(&'a Detour),
    /// A line that was typed was taken in by the run.
    Noted,
    /// The last event of all.
    Last(&'a RunEvent, &'a Closing),
}

/// With what the work is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) model: String,
    pub(crate) provider: String,
    pub(crate) is_offline: bool,
    pub(crate) folder: String,
    /// Who may serve in the place of the model.
    pub(crate) fallbacks: Vec<String>,
}

/// What is known at the end beside the last event.
#[derive(Debug, Clone)]
pub(crate) struct Closing {
    pub(crate) exit: Exit,
    pub(crate) diagnosis: Option<Diagnosis>,
    pub(crate) failure: Option<PortFailure>,
    pub(crate) cancelled: Option<CancelReport>,
    /// The answer as JSON, where it has a schema.
    pub(crate) answer: Option<String>,
    /// What the agent asks, when the next message answers it.
    pub(crate) asked: Option<String>,
    /// Lines that were typed and never reached the model.
    pub(crate) returned: Vec<String>,
    pub(crate) totals: RunTotals,
    pub(crate) receipts: Vec<Uuid>,
    /// What the receipts say was lost, and which requests went elsewhere.
    pub(crate) losses: Vec<String>,
    /// Of a job that ran, what is left of its limits.
    pub(crate) left: Option<BudgetLeft>,
}

/// What the first line of a run has beside its event.
#[derive(Debug, Serialize)]
struct Opening<'a> {
    #[serde(flatten)]
    event: &'a RunEvent,
    provider: &'a str,
    offline: bool,
}

/// What the last line has beside its event.
#[derive(Debug, Serialize)]
struct Ending<'a> {
    #[serde(flatten)]
    event: &'a RunEvent,
    exit_code: u8,
    hint: Option<&'a str>,
    failure: Option<&'a PortFailure>,
    cancel: Option<Found<'a>>,
    returned_steering: &'a [String],
    receipts: &'a [Uuid],
    totals: RunTotals,
    losses: &'a [String],
    left: Option<&'a BudgetLeft>,
}

/// What a cancellation found at work.
#[derive(Debug, Serialize)]
struct Found<'a> {
    settled: &'a [String],
    unknown: &'a [String],
    still_running: &'a [String],
}

/// An event as a line of JSON.
pub(crate) fn event_line(
    event: &RunEvent,
    setting: Option<&Setting>,
) -> serde_json::Result<String> {
    match (&event.event, setting) {
        (Event::RunStarted { .. }, Some(setting)) if event.identity.parent_run_id.is_none() => {
            serde_json::to_string(&Opening {
                event,
                provider: &setting.provider,
                offline: setting.is_offline,
            })
        }
        _ => serde_json::to_string(event),
    }
}

/// The last event as a line of JSON.
pub(crate) fn last_line(event: &RunEvent, closing: &Closing) -> serde_json::Result<String> {
    let diagnosis = closing.diagnosis.as_ref();
    serde_json::to_string(&Ending {
        event,
        exit_code: closing.exit.code(),
        hint: diagnosis.and_then(|diagnosis| diagnosis.hint.as_deref()),
        failure: closing.failure.as_ref(),
        cancel: closing.cancelled.as_ref().map(Found::of),
        returned_steering: &closing.returned,
        receipts: &closing.receipts,
        totals: closing.totals,
        losses: &closing.losses,
        left: closing.left.as_ref(),
    })
}

impl<'a> Found<'a> {
    fn of(report: &'a CancelReport) -> Self {
        Self {
            settled: &report.settled,
            unknown: &report.unknown,
            still_running: &report.still_running,
        }
    }
}

#[cfg(test)]
mod tests;

//! Decides what is told last of a job, and the exit code that it comes to.
//!
//! Knows ends. Refuses to know what led to them. Invariant: exactly one event is told last.

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use runtime_kernel::engine::{EVENT_VERSION, Event, RunEvent, RunIdentity, RunResult, RunStatus};
use uuid::Uuid;

use crate::{
    budget_left::BudgetLeft,
    diagnosis::Diagnosis,
    exit::Exit,
    job::{Job, Questions, asked},
    live::Lived,
    told::Closing,
    totals::RunTotals,
};

/// The last event, and what belongs to it.
pub(crate) type Ending = (Arc<RunEvent>, Closing);

/// That of a job that ran.
pub(crate) fn ended(lived: &Lived, job: &Job<'_>) -> Ending {
    let (totals, receipts) = job.bench.receipts.sum();
    let (exit, diagnosis) = match &lived.result {
        Some(result) => judge(result, lived, job),
        None => (Exit::Failed, Some(lost())),
    };
    let result = lived.result.as_deref();
    let error = result.and_then(|result| result.error.clone());
    let waits = result.filter(|result| result.status == RunStatus::WaitUser);
    let closing = Closing {
        exit,
        diagnosis,
        failure: error.and_then(|error| error.failure).map(|failure| *failure),
        cancelled: lived.cancelled.clone(),
        answer: result.and_then(|result| Some(result.answer.as_ref()?.to_string())),
        asked: waits.filter(|_| job.questions == Questions::WithTheNextMessage).map(asked),
        returned: lived.returned.clone(),
        totals,
        receipts,
        losses: job.bench.receipts.losses(),
        left: Some(BudgetLeft::of(&job.left, result)),
    };
    let event = lived.last.clone().unwrap_or_else(|| Arc::new(failed(&lost())));
    (event, closing)
}

/// That of a job that never began: cancelled, or failed.
pub(crate) fn never_ran(diagnosis: Option<Diagnosis>) -> Ending {
    let event = match &diagnosis {
        Some(diagnosis) => failed(diagnosis),
        None => only(Event::RunCancelled { error: "cancelled before a run began".into() }),
    };
    let closing = Closing {
        exit: diagnosis.as_ref().map_or(Exit::Cancelled, |diagnosis| diagnosis.exit),
        diagnosis,
        failure: None,
        cancelled: None,
        answer: None,
        asked: None,
        returned: Vec::new(),
        totals: RunTotals::default(),
        receipts: Vec::new(),
        losses: Vec::new(),
        left: None,
    };
    (Arc::new(event), closing)
}

fn judge(result: &RunResult, lived: &Lived, job: &Job<'_>) -> (Exit, Option<Diagnosis>) {
    let early = |exit: Exit, hint: &str| {
        let diagnosis = result.error.as_ref().map(|error| Diagnosis::of(exit, error));
        (exit, diagnosis.map(|diagnosis| diagnosis.with_hint(hint)))
    };
    let found_nobody = job.bench.ground.terminal.found_nobody();
    match result.status {
        RunStatus::Completed if found_nobody => (Exit::NobodyToAsk, None),
        RunStatus::Completed => (Exit::Done, None),
        // The person stopped the job in the place of an answer.
        RunStatus::WaitUser if job.operation.cancellation.is_cancelled() => (Exit::Cancelled, None),
        RunStatus::WaitUser if job.questions == Questions::WithTheNextMessage => {
            (Exit::Waiting, None)
        }
        RunStatus::WaitUser => (Exit::Waiting, Some(waiting(result))),
        RunStatus::MaxCycles => early(Exit::CyclesUsedUp, "--max-cycles allows more"),
        RunStatus::BudgetExhausted => early(Exit::BudgetUsedUp, more_of(lived)),
        RunStatus::Cancelled => (Exit::Cancelled, None),
        RunStatus::Failed => {
            let diagnosis = result.error.as_ref().map_or_else(lost, Diagnosis::run);
            (diagnosis.exit, Some(diagnosis))
        }
    }
}

/// What allows more of what was used up.
fn more_of(lived: &Lived) -> &'static str {
    match lived.last.as_deref().map(|last| &last.event) {
        Some(Event::BudgetExhausted { budget, .. }) if budget.contains("cost") => {
            "--budget-usd allows more"
        }
        Some(Event::BudgetExhausted { budget, .. }) if budget.contains("tokens") => {
            "--budget-tokens allows more"
        }
        _ => "--timeout allows more",
    }
}

fn waiting(result: &RunResult) -> Diagnosis {
    let asked = result.wait_reason.as_deref().unwrap_or_default();
    Diagnosis {
        exit: Exit::Waiting,
        code: "wait_user".to_owned(),
        message: format!("waits for an answer to: {asked}"),
        hint: Some("run again with the answer in the task".to_owned()),
    }
}

fn lost() -> Diagnosis {
    Diagnosis {
        exit: Exit::Failed,
        code: "run_lost".to_owned(),
        message: "the run broke down, which is a fault of this program".to_owned(),
        hint: None,
    }
}

fn failed(diagnosis: &Diagnosis) -> RunEvent {
    let (error, error_code) = (diagnosis.message.as_str(), diagnosis.code.as_str());
    only(Event::RunFailed { error: error.into(), error_code: error_code.into() })
}

/// An event of a run that has no other.
fn only(event: Event) -> RunEvent {
    let identity = RunIdentity::root(Uuid::new_v4().to_string(), "task", "agent");
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    RunEvent {
        version: EVENT_VERSION,
        identity: Arc::new(identity),
        sequence: 1,
        delta: None,
        at_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
        cycle: None,
        event,
    }
}

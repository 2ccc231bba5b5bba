//! Decides what a model is told of its sub-tasks.
//!
//! Knows how tasks stand; refuses to know who asks. Invariants: the fields of a report stand in one
//! order; no failure is told without a word on what may have taken effect.

use std::sync::Arc;

use runtime_ports::{CommitDisposition, ToolDirective};
use serde::Serialize;

use super::tasks::{ChildTask, TaskEnd, TaskStatus, task_id};
use crate::{
    Call, CallResult,
    wording::{bounded, cut_middle, sub_task_told},
};

/// Most bytes of one answer.
const ANSWER_LIMIT_BYTES: usize = 32 << 10;
/// Most bytes of the answers of one result together.
const ANSWERS_LIMIT_BYTES: usize = 256 << 10;
/// Each answer has room for so much, however many they are.
const LEAST_ANSWER_BYTES: usize = 1 << 10;
/// Longest name of an agent that is repeated to the model, which may have made it up.
const MAX_NAME_BYTES: usize = 100;

const WHERE_THE_WHOLE_IS: &str = "the whole is in the sub-task's own history";

/// Why a task was not started, or not reached: a code, and words.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refusal {
    pub(crate) code: Arc<str>,
    pub(crate) error: Arc<str>,
}

impl Refusal {
    pub(super) fn new(code: &str, error: impl Into<Arc<str>>) -> Self {
        Self { code: code.into(), error: error.into() }
    }

    /// The whole result of a call that came to nothing.
    pub(super) fn result(&self, call: &Call) -> CallResult {
        let result = CallResult::failed(call, &self.code, &self.error);
        result.with_commit(CommitDisposition::NotCommitted)
    }
}

/// What is told of one task; fields in this order.
#[derive(Debug, Serialize)]
pub(super) struct Report<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<Arc<str>>,
    agent_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<String>,
    /// Whether an earlier result or message told what it came to.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    told_before: bool,
}

/// What is told of several; fields in this order.
#[derive(Serialize)]
struct Reports<'a> {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_by: Option<&'a str>,
    tasks: Vec<Report<'a>>,
}

impl<'a> Report<'a> {
    fn empty(agent: &'a str) -> Self {
        Self {
            index: None,
            ok: true,
            error: None,
            error_code: None,
            tool_name: None,
            task_id: None,
            agent_name: bounded(agent, MAX_NAME_BYTES),
            status: None,
            answer: None,
            question: None,
            told_before: false,
        }
    }

    /// Of a task that was never one.
    pub(super) fn refused(agent: &'a str, refusal: &'a Refusal) -> Self {
        Self {
            ok: false,
            error: Some(refusal.error.to_string()),
            error_code: Some(&refusal.code),
            ..Self::empty(agent)
        }
    }

    /// Of a task as it stands; its answers have at most `limit` bytes.
    pub(super) fn of(place: usize, task: &'a ChildTask, limit: usize) -> Self {
        let report = Self { task_id: Some(task_id(place)), ..Self::empty(&task.agent) };
        let Some(end) = task.end() else { return Self { status: Some("running"), ..report } };
        let report = Self { status: Some(end.status.word()), ..report };
        match task.is_untold() {
            true => report.with_end(end, limit),
            false => {
                let ok = end.status == TaskStatus::Completed;
                Self { ok, error_code: code(end.status), told_before: true, ..report }
            }
        }
    }

    /// Of a task that has heard something.
    pub(super) fn heard(place: usize, task: &'a ChildTask) -> Self {
        let (task_id, status) = (Some(task_id(place)), Some("heard"));
        Self { task_id, status, ..Self::empty(&task.agent) }
    }

    fn with_end(mut self, end: &'a TaskEnd, limit: usize) -> Self {
        let said = end.said.as_ref().map(|said| cut_middle(said, limit, WHERE_THE_WHOLE_IS));
        match end.status {
            TaskStatus::WaitUser => self.question = said,
            _ => self.answer = said,
        }
        self.error_code = code(end.status);
        self.ok = self.error_code.is_none();
        self.error = (!self.ok).then(|| error(end));
        self
    }

    fn at(self, index: usize) -> Self {
        Self { index: Some(index), ..self }
    }

    const fn is_running(&self) -> bool {
        self.ok && self.answer.is_none() && !self.told_before
    }

    /// As the one result of a call.
    pub(super) fn result(
        mut self,
        call: &'a Call,
        commit: Option<CommitDisposition>,
    ) -> CallResult {
        self.tool_name = (!self.ok).then(|| call.short_name());
        told(call, &self, self.error_code, commit)
    }

    /// As a message of its own.
    pub(super) fn message(&self) -> String {
        let what = if self.is_running() { "is at work" } else { "has ended" };
        let id = self.task_id.as_deref().unwrap_or_default();
        format!("{}\n{}", sub_task_told(id, what), json(self))
    }
}

/// Most bytes of each of so many answers in one result.
pub(super) fn limit_of_each(count: usize) -> usize {
    let share = ANSWERS_LIMIT_BYTES / count.max(1);
    share.clamp(LEAST_ANSWER_BYTES, ANSWER_LIMIT_BYTES)
}

/// The result of a batch: one report for each of its tasks, in order.
pub(super) fn batch_result(
    call: &Call,
    reports: Vec<Report<'_>>,
    commit: Option<CommitDisposition>,
) -> CallResult {
    let failed = reports.iter().all(|report| !report.ok);
    let of_failure = |text| failed.then_some(text);
    let reports = Reports {
        ok: !failed,
        error: of_failure("none of the sub-tasks was completed; each says why"),
        error_code: of_failure("create_sub_task_batch_failed"),
        tool_name: of_failure(call.short_name()),
        ended_by: None,
        tasks: reports.into_iter().enumerate().map(|(at, report)| report.at(at)).collect(),
    };
    told(call, &reports, reports.error_code, commit)
}

/// The result of a call that asks how tasks stand.
pub(super) fn standing_result(
    call: &Call,
    reports: Vec<Report<'_>>,
    ended_by: Option<&str>,
) -> CallResult {
    let (error, error_code, tool_name) = (None, None, None);
    let reports = Reports { ok: true, error, error_code, tool_name, ended_by, tasks: reports };
    told(call, &reports, None, None)
}

fn told(
    call: &Call,
    said: &impl Serialize,
    error_code: Option<&str>,
    commit: Option<CommitDisposition>,
) -> CallResult {
    CallResult {
        tool_call_id: Arc::clone(&call.id),
        content: json(said).into(),
        error_code: error_code.map(Into::into),
        directive: ToolDirective::Continue,
        metadata: Arc::default(),
        commit,
        artifact: None,
        image: None,
    }
}

fn json(said: &impl Serialize) -> String {
    serde_json::to_string(said).expect("strings are valid JSON")
}

/// Code of an end that is a failure to whoever delegated.
const fn code(status: TaskStatus) -> Option<&'static str> {
    match status {
        TaskStatus::Completed => None,
        TaskStatus::WaitUser => Some("sub_task_wait_user"),
        TaskStatus::Unknown => Some("sub_task_outcome_unknown"),
        TaskStatus::MaxCycles
        | TaskStatus::Cancelled
        | TaskStatus::Failed
        | TaskStatus::BudgetExhausted
        | TaskStatus::NotStarted => Some("sub_task_failed"),
    }
}

fn error(end: &TaskEnd) -> String {
    let why = end.error.as_deref().unwrap_or("nothing is known of why");
    match end.status {
        TaskStatus::WaitUser => {
            "the sub-task asks something; answer it with continue_sub_task".to_owned()
        }
        TaskStatus::NotStarted => format!("the sub-task was not started: {why}"),
        TaskStatus::Unknown => format!(
            "what came of the sub-task is not known: {why}; what it was at may have taken effect, \
             verify before you repeat it"
        ),
        _ => format!(
            "the sub-task was not completed: {why}; what it did before that stands, verify before \
             you repeat it"
        ),
    }
}

/// What is known of whether a task took effect.
pub(super) fn commit_of(task: &ChildTask) -> Option<CommitDisposition> {
    match task.end()?.status {
        TaskStatus::NotStarted => Some(CommitDisposition::NotCommitted),
        TaskStatus::Unknown => Some(CommitDisposition::Unknown),
        _ => None,
    }
}

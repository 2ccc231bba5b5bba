//! Decides what the result of a call is, from what came of it.
//!
//! Knows nothing about what follows from it. Invariant: a result says whether its effect took place
//! wherever that is known, and never guesses.

use std::sync::Arc;

use runtime_ports::{CommitDisposition, ModelContent};
use serde_json::Value;

use crate::{
    Call, CallResult, Event, HookResult, ToolEnd, ToolOutput,
    call::UnusableArguments,
    storable::storable_map,
    wording::{MAX_CODE_BYTES, bounded, disposition, failure_text, tool_failure},
};

pub(crate) fn not_committed(result: CallResult) -> CallResult {
    result.with_commit(CommitDisposition::NotCommitted)
}

pub(crate) fn unusable_arguments(unusable: UnusableArguments) -> (&'static str, &'static str) {
    match unusable {
        UnusableArguments::NoJson => {
            ("invalid_arguments_json", "the arguments are no valid JSON, write them again")
        }
        UnusableArguments::NoObject => {
            ("invalid_arguments_payload", "the arguments must be a JSON object, write them as one")
        }
    }
}

/// What a tool replied, as the model is told it.
pub(crate) fn replied(call: &Call, output: ToolOutput) -> CallResult {
    let ToolOutput { reply, artifact } = output;
    let error_code = reply.error_code.map(|code| bounded(&code, MAX_CODE_BYTES).to_owned());
    CallResult {
        tool_call_id: Arc::clone(&call.id),
        content: told(reply.content, error_code.as_deref(), call),
        error_code: error_code.map(Into::into),
        directive: reply.directive,
        metadata: Arc::new(storable_map(reply.metadata)),
        commit: None,
        artifact,
        image: reply.image.filter(is_picture),
    }
}

/// Anything else would put words, or a call that nobody made, into the mouth of the user.
const fn is_picture(content: &ModelContent) -> bool {
    matches!(content, ModelContent::Image { .. })
}

/// What the model sees: of an error, JSON that says so, unless it is that already.
fn told(content: String, error_code: Option<&str>, call: &Call) -> Arc<str> {
    match error_code {
        Some(code) if !is_failure_text(&content) => {
            failure_text(&content, code, call.short_name()).into()
        }
        _ => content.into(),
    }
}

fn is_failure_text(content: &str) -> bool {
    let parsed = serde_json::from_str::<Value>(content).unwrap_or_default();
    parsed["ok"] == false && parsed["error_code"].is_string()
}

pub(crate) fn ended_without_reply(call: &Call, end: ToolEnd) -> CallResult {
    let unknown = disposition(CommitDisposition::Unknown);
    let (code, error) = match end {
        ToolEnd::Failed(failure) => {
            let (code, error) = tool_failure(&failure);
            return CallResult::failed(call, &code, &error).with_commit(failure.commit);
        }
        ToolEnd::TimedOut => ("tool_timeout", format!("the tool ran out of time; {unknown}")),
        ToolEnd::Cancelled => {
            ("tool_cancelled", format!("the tool was cancelled at work; {unknown}"))
        }
        ToolEnd::Panicked | ToolEnd::Replied(_) => {
            ("tool_panicked", format!("the tool broke down at work; {unknown}"))
        }
    };
    CallResult::failed(call, code, &error).with_commit(CommitDisposition::Unknown)
}

/// What is told of a call that was told to stop and did not say what it had done.
pub(crate) fn cancelled(call: &Call) -> CallResult {
    ended_without_reply(call, ToolEnd::Cancelled)
}

/// What is told of a call whose outcome was lost with its process.
pub(crate) fn outcome_lost(call: &Call) -> CallResult {
    let commit = CommitDisposition::Unknown;
    let error =
        format!("the run was interrupted while the tool was at work; {}", disposition(commit));
    CallResult::failed(call, "tool_outcome_unknown", &error).with_commit(commit)
}

/// A result that a hook gave, under the call's id where it names none.
pub(crate) fn given(given: HookResult, call: &Call, call_id: &Arc<str>) -> CallResult {
    let named = given.tool_call_id.trim();
    let tool_call_id = match named.is_empty() || named == "pending" {
        true => Arc::clone(call_id),
        false => named.into(),
    };
    let error_code = given.error_code.map(|code| bounded(&code, MAX_CODE_BYTES).to_owned());
    CallResult {
        tool_call_id,
        content: told(given.content, error_code.as_deref(), call),
        error_code: error_code.map(Into::into),
        directive: given.directive,
        metadata: Arc::new(storable_map(given.metadata)),
        commit: None,
        artifact: None,
        image: None,
    }
}

impl CallResult {
    /// What a hook cannot say anything about stays as it was.
    pub(crate) fn keep_facts_of(&mut self, before: Option<&Self>) {
        let Some(before) = before else { return };
        self.commit = before.commit;
        self.artifact.clone_from(&before.artifact);
        self.image.clone_from(&before.image);
    }
}

pub(crate) fn tool_result_event(call: &Call, result: &Arc<CallResult>) -> Event {
    Event::ToolResult {
        tool_name: Arc::clone(&call.name),
        tool_arguments: Arc::clone(&call.arguments),
        tool_call_id: Arc::clone(&result.tool_call_id),
        status: result.status(),
        directive: result.directive,
        error_code: result.error_code.clone(),
        content: Arc::clone(&result.content),
        metadata: Arc::clone(&result.metadata),
    }
}

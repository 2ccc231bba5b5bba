//! Decides the words in which a model or a host is told what became of a call.
//!
//! Knows codes and dispositions; refuses to know how they came about. All loops speak through it,
//! so that a model hears the same of the same end, whichever loop it is in.

use runtime_ports::{CommitDisposition, PortFailure, PortFailureKind};
use serde::Serialize;

/// Longest code of a failure that is passed on, in bytes.
pub const MAX_CODE_BYTES: usize = 100;
/// Longest words of a tool on its own failure that are passed on, in bytes.
const MAX_MESSAGE_BYTES: usize = 2_000;
/// Longest path that is repeated to the model, which may have made up its keys.
const MAX_PATH_BYTES: usize = 200;

pub(crate) const NUDGE: &str = "Go on with the task. When it is done, call the tool task_finish \
with the result; an answer without a tool call does not end the task.";

/// What is said before the picture of a tool.
pub(crate) fn picture_caption(tool: &str) -> String {
    [PICTURE_OF, tool, PICTURE_GAVE].concat()
}

/// Whether it is that.
pub(crate) fn is_picture_caption(text: &str) -> bool {
    text.starts_with(PICTURE_OF) && text.ends_with(PICTURE_GAVE)
}

/// What the message says that tells the model of a sub-task in the background.
pub(crate) fn sub_task_told(id: &str, what: &str) -> String {
    format!("{SUB_TASK}{id}{IN_BACKGROUND}{what}:]")
}

/// Whether a text is such a message.
pub(crate) fn tells_of_sub_task(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    line.starts_with(SUB_TASK) && line.contains(IN_BACKGROUND) && line.ends_with(":]")
}

const SUB_TASK: &str = "[The sub-task ";
const IN_BACKGROUND: &str = " in the background ";

const PICTURE_OF: &str = "The picture that ";
const PICTURE_GAVE: &str = " gave:";

/// What a model sees of a failed call; keys in this order.
#[derive(Serialize)]
struct FailedCall<'a> {
    ok: bool,
    error: &'a str,
    error_code: &'a str,
    tool_name: &'a str,
}

/// What a model is told of a failed call: JSON with `ok`, `error`, `error_code` and `tool_name`.
#[must_use]
pub fn failure_text(error: &str, error_code: &str, tool_name: &str) -> String {
    let failed = FailedCall { ok: false, error, error_code, tool_name };
    serde_json::to_string(&failed).expect("strings are valid JSON")
}

/// The beginning of `text`, at most `bytes` long, on a character boundary.
#[must_use]
pub fn bounded(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// The two ends of `text` with a note between them that states the original size, on character
/// boundaries; `text` itself when it has at most `limit` bytes. The result is at most `limit` bytes
/// long, or as long as the note. `place` says where the whole is, or that it is lost.
#[must_use]
pub fn cut_middle(text: &str, limit: usize, place: &str) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let note = format!("\n[cut in the middle: the output had {} bytes; {place}]\n", text.len());
    let room = limit.saturating_sub(note.len());
    let head = text.floor_char_boundary(room.div_ceil(2));
    let tail = text.ceil_char_boundary(text.len() - room / 2);
    [&text[..head], &note, &text[tail..]].concat()
}

/// A clause on whether an effect took place. No failure reaches a model without one, so that
/// nothing is repeated for want of it.
#[must_use]
pub const fn disposition(commit: CommitDisposition) -> &'static str {
    match commit {
        CommitDisposition::NotCommitted => "nothing was changed",
        CommitDisposition::Committed => "it took effect, do not repeat it",
        CommitDisposition::Unknown => "it may have taken effect, verify before you repeat it",
    }
}

/// Code and words of a tool's failure, whether it may be repeated included.
#[must_use]
pub fn tool_failure(failure: &PortFailure) -> (String, String) {
    let code = match failure.kind {
        PortFailureKind::Timeout => "tool_timeout".to_owned(),
        PortFailureKind::Canceled => "tool_cancelled".to_owned(),
        _ => bounded(&failure.code, MAX_CODE_BYTES).to_owned(),
    };
    let repeat = failure.retryable && failure.commit == CommitDisposition::NotCommitted;
    let hint = if repeat { "; it may be tried again" } else { "" };
    let message = bounded(&failure.message, MAX_MESSAGE_BYTES);
    (code, format!("{message}{hint}; {}", disposition(failure.commit)))
}

/// What is said of arguments that do not follow the schema; `path` is empty for all of them.
#[must_use]
pub fn argument_fault(path: &str, reason: &str) -> String {
    match path {
        "" => format!("the arguments {reason}"),
        path => format!("argument {} {reason}", bounded(path, MAX_PATH_BYTES)),
    }
}

/// What is said of an answer that does not follow its schema; `path` is empty for all of it.
pub(crate) fn answer_fault(path: &str, reason: &str) -> String {
    match path {
        "" => format!("the answer {reason}"),
        path => format!("{} of the answer {reason}", bounded(path, MAX_PATH_BYTES)),
    }
}

/// What a model is told whose answer has a fault.
pub(crate) fn correct_answer(fault: &str) -> String {
    format!(
        "Your answer cannot be used: {fault}. Answer again with one JSON value that follows the \
         schema, whole and with nothing else."
    )
}

/// What is said of a call that was not reached.
pub(crate) fn skipped(code: &str) -> &'static str {
    match code {
        "skipped_due_to_wait_user" => "not run: a call before it asked the user",
        "skipped_due_to_finish" => "not run: a call before it finished the task",
        "skipped_due_to_steering" => "not run: the user said something first",
        "skipped_due_to_cancel" => "not run: the run was cancelled",
        "skipped_due_to_budget" => "not run: a budget of the run is used up",
        "skipped_due_to_incomplete_answer" => "not run: the answer that held the call was cut",
        _ => "not run: the run failed",
    }
}

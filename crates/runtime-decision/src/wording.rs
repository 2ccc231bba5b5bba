//! Decides the words in which a model or a host is told what became of a call.
//!
//! Knows codes and dispositions; refuses to know how they came about.

use runtime_ports::{CommitDisposition, PortFailure, PortFailureKind};

/// Longest code of a failure that is passed on, in bytes.
pub(crate) const MAX_CODE_BYTES: usize = 100;
/// Longest words of a tool on its own failure that are passed on, in bytes.
const MAX_MESSAGE_BYTES: usize = 2_000;
/// Longest path that is repeated to the model, which may have made up its keys.
const MAX_PATH_BYTES: usize = 200;

pub(crate) const NUDGE: &str = "Go on with the task. When it is done, call the tool task_finish \
with the result; an answer without a tool call does not end the task.";

/// The beginning of `text`, at most `bytes` long, on a character boundary.
pub(crate) fn bounded(text: &str, bytes: usize) -> &str {
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

/// A sentence on whether an effect took place.
pub(crate) const fn disposition(commit: CommitDisposition) -> &'static str {
    match commit {
        CommitDisposition::NotCommitted => "nothing was changed",
        CommitDisposition::Committed => "the effect took place, do not repeat it",
        CommitDisposition::Unknown => {
            "it is unknown whether the effect took place, check before you repeat it"
        }
    }
}

/// Code and words of a tool's failure.
pub(crate) fn tool_failure(failure: &PortFailure) -> (String, String) {
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

/// What is said of arguments that do not follow the schema.
pub(crate) fn argument_fault(path: &str, reason: &str) -> String {
    match path {
        "" => format!("the arguments {reason}"),
        path => format!("argument {} {reason}", bounded(path, MAX_PATH_BYTES)),
    }
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

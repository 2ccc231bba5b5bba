//! Decides what a failed run means for the person who started it: the exit code, and what to do.
//!
//! Knows failure kinds. Refuses to guess from message texts.

use runtime_kernel::engine::RunError;
use runtime_ports::{CommitDisposition, PortFailure, PortFailureKind};

use crate::exit::Exit;

/// What to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Diagnosis {
    pub(crate) exit: Exit,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Diagnosis {
    /// A wrong configuration, or a missing folder.
    pub(crate) fn configuration(error: &anyhow::Error) -> Self {
        let (exit, code) = (Exit::Configuration, "configuration".to_owned());
        Self { exit, code, message: message_of(error), hint: None }
    }

    /// The same with what to do about it.
    pub(crate) fn with_hint(self, hint: &str) -> Self {
        Self { hint: Some(hint.to_owned()), ..self }
    }

    /// A failure of a port.
    pub(crate) fn port(failure: &PortFailure) -> Self {
        if let Some(hint) = about_tapes(&failure.code) {
            let (code, message) = (failure.code.clone(), failure.message.clone());
            return Self { exit: Exit::Failed, code, message, hint: Some(hint.to_owned()) };
        }
        let (exit, hint) = match failure.commit {
            // The provider did its work: neither the key nor the address is at fault.
            CommitDisposition::Committed => (Exit::Failed, None),
            // It was reached, and broke off.
            CommitDisposition::Unknown if failure.kind == PortFailureKind::Unavailable => {
                (Exit::Unreachable, Some(TRY_AGAIN))
            }
            CommitDisposition::NotCommitted | CommitDisposition::Unknown => advice(failure.kind),
        };
        let (code, message) = (failure.code.clone(), failure.message.clone());
        Self { exit, code, message, hint: hint.map(str::to_owned) }
    }

    /// Why a run failed: the port failure in it, if there is one.
    pub(crate) fn run(error: &RunError) -> Self {
        match &error.failure {
            Some(failure) => Self::port(failure),
            None => Self::of_code(error),
        }
    }

    fn of_code(error: &RunError) -> Self {
        match &*error.code {
            "answer_invalid" => Self::of(Exit::AnswerInvalid, error)
                .with_hint("try again, loosen the schema, or take a stronger model"),
            "budget_unpriced_model" => Self::of(Exit::Configuration, error)
                .with_hint("limit the tokens with --budget-tokens instead"),
            _ => Self::of(Exit::Failed, error),
        }
    }

    /// Why a run ended before it had an answer.
    pub(crate) fn of(exit: Exit, error: &RunError) -> Self {
        let (code, message) = (error.code.to_string(), error.message.to_string());
        Self { exit, code, message, hint: None }
    }
}

/// The whole chain, the codes of port failures left out: the code stands apart.
fn message_of(error: &anyhow::Error) -> String {
    let words = |cause: &(dyn std::error::Error + 'static)| {
        let failure = cause.downcast_ref::<PortFailure>();
        failure.map_or_else(|| cause.to_string(), |failure| failure.message.clone())
    };
    let mut parts: Vec<String> = error.chain().map(words).collect();
    parts.dedup();
    parts.join(": ")
}

/// What to do about a tape that stands in the way of a request.
fn about_tapes(code: &str) -> Option<&'static str> {
    match code {
        "REPLAY_MISMATCH" => {
            Some("give the same task and options in the same folder, or record again")
        }
        "TAPE_FAILED" => Some("make room on the disk, and record to another file"),
        _ => None,
    }
}

const TRY_AGAIN: &str = "check OPENAI_BASE_URL, or base_url in the configuration file; if it is \
                         right, try again: the receipt says what the provider reported so far";

fn advice(kind: PortFailureKind) -> (Exit, Option<&'static str>) {
    match kind {
        PortFailureKind::Canceled => (Exit::Cancelled, None),
        PortFailureKind::Forbidden => (
            Exit::Refused,
            Some(
                "set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY (or the variable that \
                 api_key_env names) to a key of this server; another server is named with \
                 OPENAI_BASE_URL",
            ),
        ),
        PortFailureKind::NotFound => (
            Exit::Refused,
            Some("check the name in --model or AGENT_MODEL against the models of the server"),
        ),
        PortFailureKind::RateLimited => {
            (Exit::Refused, Some("wait a while, or check the quota of the account"))
        }
        PortFailureKind::Unavailable => (
            Exit::Unreachable,
            Some(
                "check OPENAI_BASE_URL, or base_url in the configuration file, and that the server \
                 runs; --model offline needs none",
            ),
        ),
        PortFailureKind::Timeout | PortFailureKind::Protocol => {
            (Exit::Unreachable, Some(TRY_AGAIN))
        }
        PortFailureKind::ContextOverflow => {
            (Exit::Refused, Some("give a smaller task, or a model with a larger window"))
        }
        PortFailureKind::Invalid => (
            Exit::Refused,
            Some("check that the model takes tools and streaming; the server's log says more"),
        ),
        PortFailureKind::OutputLimit => (Exit::Refused, None),
        PortFailureKind::Conflict | PortFailureKind::Internal => (Exit::Failed, None),
    }
}

#[cfg(test)]
mod tests;

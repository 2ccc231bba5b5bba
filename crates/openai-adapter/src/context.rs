//! Decides whether a prompt fits, and was taken whole by, a server that cuts long ones in silence.
//!
//! Knows nothing about how long a context should be. Estimates are rough: what they prove is that a
//! prompt is far too long, or that most of it was not read.

use runtime_ports::{ModelProfile, ModelRequest, ModelResponse, PortFailure, PortFailureKind};

use crate::server_profile::ServerProfile;

/// Shorter prompts prove nothing: they are mostly frame.
const LEAST_TOKENS: u64 = 2_048;

/// A server that counted less than this part of what was sent did not read all of it.
const PART_READ: u64 = 4;

/// The profile of a model, as far as the server's context goes.
pub(crate) fn within(server: &ServerProfile, model: &ModelProfile) -> ModelProfile {
    let most = server.context_tokens.unwrap_or(u64::MAX);
    ModelProfile {
        context_window_tokens: model.context_window_tokens.min(most),
        max_input_tokens: model.max_input_tokens.min(most),
        max_output_tokens: model.max_output_tokens.map(|tokens| tokens.min(most)),
        ..model.clone()
    }
}

/// Refuses a prompt that a silent server would cut.
pub(crate) fn fits(server: &ServerProfile, request: &ModelRequest) -> Result<(), PortFailure> {
    let context = server.context_tokens.filter(|_| server.cuts_silently);
    if context.is_none_or(|context| request.messages.estimated_tokens() <= context) {
        return Ok(());
    }
    Err(PortFailure::not_sent(
        PortFailureKind::ContextOverflow,
        "CONTEXT_OVERFLOW",
        "the prompt does not fit the context that the server was set up with, and the server would \
         cut it without a word; make it smaller, or raise the server's context",
    ))
}

/// Refuses an answer to a prompt that a silent server plainly did not read to its end. The answer
/// was given and may have been paid for, so that its requests are listed.
pub(crate) fn was_taken_whole(
    server: &ServerProfile,
    request: &ModelRequest,
    response: &ModelResponse,
) -> Result<(), PortFailure> {
    let sent = request.messages.estimated_tokens();
    let counted = response.usage.input_tokens.filter(|_| server.cuts_silently);
    let is_cut = |counted: u64| sent >= LEAST_TOKENS && counted < sent / PART_READ;
    if !counted.is_some_and(is_cut) {
        return Ok(());
    }
    let message = "the server read only a part of the prompt, so that its answer is none to what \
                   was asked; make the prompt smaller, or raise the server's context";
    let failure = PortFailure::committed(PortFailureKind::ContextOverflow, "CONTEXT_CUT", message);
    Err(failure.with_attempts(response.attempts.clone()))
}

#[cfg(test)]
mod tests;

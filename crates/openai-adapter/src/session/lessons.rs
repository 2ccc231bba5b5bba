//! Decides what a session learns from a request that failed, and whether it is sent once more.
//!
//! Knows nothing about how requests are written. Invariant: only what was refused is sent again, or
//! a part of a conversation that was answered as if it were the whole, before anything of that
//! answer was shown; at most twice, and every request that reached the server is listed.

use model_wire::{Failed, Refusal, may_send_again};
use runtime_ports::{CommitDisposition, PortFailure, RequestMeter};

use super::{OpenAiSession, requests::Sent};
use crate::{
    features::Feature,
    responses::{IGNORED, IGNORED_AMID},
};

impl OpenAiSession {
    /// Remembers what the server refuses, so that the request can be sent without it; any other
    /// failure ends the call.
    pub(super) fn learn(
        &self,
        failed: Failed,
        sent: &Sent<'_>,
        attempts: &mut Vec<RequestMeter>,
    ) -> Result<(), PortFailure> {
        let code = &failed.failure.code;
        if code == IGNORED || code == IGNORED_AMID {
            self.refused.remember(Feature::PreviousResponse);
        }
        let is_mended = code == IGNORED || self.is_mended(&failed, sent);
        attempts.extend(failed.meter);
        if is_mended && may_send_again(attempts.len()) {
            return Ok(());
        }
        Err(failed.failure.with_attempts(std::mem::take(attempts)))
    }

    /// Whether the next request will be without what this one was refused for.
    fn is_mended(&self, failed: &Failed, sent: &Sent<'_>) -> bool {
        let refusal = failed.refusal.as_ref();
        let refused = refusal.and_then(|refusal| sent.written.features.refused_by(refusal));
        match (refused, &sent.continuation) {
            (Some(Feature::PreviousResponse), Some(continuation))
                if !is_about_the_field(failed) =>
            {
                self.continued.forget(continuation);
                true
            }
            (Some(feature), _) => {
                self.refused.remember(feature);
                true
            }
            (None, Some(continuation)) if is_about_the_previous_response(failed) => {
                self.continued.forget(continuation);
                true
            }
            (None, _) => false,
        }
    }
}

/// How servers say that they do not know the field, and not the response that it names.
const ABOUT_THE_FIELD: &[&str] = &[
    "parameter",
    "field",
    "argument",
    "propert",
    "extra input",
    "extra_forbidden",
    "support",
    "not permitted",
    "not allowed",
    "cannot be used",
];

/// Whether a refusal of what was to be continued is about all such requests. "Unknown
/// `previous_response_id` resp_1" is about one.
fn is_about_the_field(failed: &Failed) -> bool {
    let is_gone = failed.failure.code == "PREVIOUS_RESPONSE_NOT_FOUND";
    let says_so = |refusal: &Refusal| {
        refusal.is_any(&["unknown_parameter", "unsupported_parameter"])
            || refusal.mentions(ABOUT_THE_FIELD)
    };
    !is_gone && failed.refusal.as_ref().is_some_and(says_so)
}

/// Whether the server says that it does not have the response that was to be continued. A `404`
/// without another reason is taken for that: the same path served before.
fn is_about_the_previous_response(failed: &Failed) -> bool {
    let failure = &failed.failure;
    let is_named = failure.code == "PREVIOUS_RESPONSE_NOT_FOUND"
        || failed.refusal.as_ref().is_some_and(|refusal| {
            refusal.param.as_deref() == Some("previous_response_id")
                || refusal.mentions(&["previous_response", "previous response"])
        });
    let is_nowhere = failure.code == "ENDPOINT_NOT_FOUND" && failed.refusal.is_some();
    failure.commit == CommitDisposition::NotCommitted && (is_named || is_nowhere)
}

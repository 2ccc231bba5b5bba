//! Decides what a session learns from a request that failed, and whether it is sent once more.
//!
//! Knows nothing about how requests are written. Invariant: only what was refused is sent again, at
//! most twice, and every request that reached the server is listed.

use model_wire::Failed;
use runtime_ports::{CommitDisposition, PortFailure, RequestMeter};

use super::{OpenAiSession, requests::Sent};
use crate::{features::Feature, responses::IGNORED};

/// Most requests of one call: the first, and two more for two parts that a server refuses.
const MOST_REQUESTS: usize = 3;

impl OpenAiSession {
    /// Remembers what the server refuses, so that the request can be sent without it; any other
    /// failure ends the call.
    pub(super) fn learn(
        &self,
        failed: Failed,
        sent: &Sent<'_>,
        attempts: &mut Vec<RequestMeter>,
    ) -> Result<(), PortFailure> {
        if failed.failure.code == IGNORED {
            self.refused.remember(Feature::PreviousResponse);
        }
        let is_mended = self.is_mended(&failed, sent);
        attempts.extend(failed.meter);
        if is_mended && attempts.len() < MOST_REQUESTS {
            return Ok(());
        }
        Err(self.redacted(failed.failure.with_attempts(std::mem::take(attempts))))
    }

    /// Whether the next request will be without what this one was refused for.
    fn is_mended(&self, failed: &Failed, sent: &Sent<'_>) -> bool {
        let refusal = failed.refusal.as_ref();
        let refused = refusal.and_then(|refusal| sent.written.features.refused_by(refusal));
        if let Some(feature) = refused {
            self.refused.remember(feature);
            return true;
        }
        match &sent.continuation {
            Some(continuation) if is_about_the_previous_response(failed) => {
                self.continued.forget(continuation);
                true
            }
            _ => false,
        }
    }
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

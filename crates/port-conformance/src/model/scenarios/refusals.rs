//! How a provider that does not serve must be told to the caller.
//!
//! Knows nothing about what the caller does next; repeating is its decision alone.

use std::time::Duration;

use runtime_ports::{CommitDisposition, PortFailure, PortFailureKind as Kind};

use crate::{
    Broken, Proof,
    claim::{claim, equal, failed, failure, refused},
    model::{ModelHarness, ProviderReply, ProviderScript, Refusal, StagedModel},
};

const WAIT: Duration = Duration::from_secs(7);

async fn staged(harness: &dyn ModelHarness, refusal: Refusal) -> Result<StagedModel, Broken> {
    Ok(harness.stage(ProviderScript::one(ProviderReply::Refuse(refusal))).await?)
}

/// The request arrived once, and the failure lists it.
fn one_request(staged: &StagedModel, failure: &PortFailure) -> Proof {
    equal("the requests at the provider", &staged.provider.requests_seen(), &1)?;
    equal("the number of listed attempts", &failure.attempts.len(), &1)
}

async fn rejection(
    harness: &dyn ModelHarness,
    refusal: Refusal,
    kind: Kind,
) -> Result<PortFailure, Broken> {
    let staged = staged(harness, refusal).await?;
    let answered = staged.ask("question").await;
    let failure = failure("a refused call", answered, kind, CommitDisposition::NotCommitted)?;
    one_request(&staged, &failure)?;
    Ok(failure)
}

async fn outage(harness: &dyn ModelHarness, refusal: Refusal) -> Result<PortFailure, Broken> {
    let staged = staged(harness, refusal).await?;
    let answered = staged.ask("question").await;
    let unknown = CommitDisposition::Unknown;
    let failure = failure("a call in an outage", answered, Kind::Unavailable, unknown)?;
    one_request(&staged, &failure)?;
    claim(failure.retryable, || "the outage is not retryable".into())?;
    Ok(failure)
}

fn not_retryable(failure: &PortFailure) -> Proof {
    claim(!failure.retryable, || format!("{:?} is called retryable", failure.kind))
}

pub(crate) async fn an_invalid_request_is_invalid(harness: &dyn ModelHarness) -> Proof {
    not_retryable(&rejection(harness, Refusal::Invalid, Kind::Invalid).await?)
}

pub(crate) async fn a_wrong_credential_is_forbidden(harness: &dyn ModelHarness) -> Proof {
    not_retryable(&rejection(harness, Refusal::Unauthorized, Kind::Forbidden).await?)
}

pub(crate) async fn a_forbidden_request_is_forbidden(harness: &dyn ModelHarness) -> Proof {
    not_retryable(&rejection(harness, Refusal::Forbidden, Kind::Forbidden).await?)
}

pub(crate) async fn an_unknown_model_is_not_found(harness: &dyn ModelHarness) -> Proof {
    not_retryable(&rejection(harness, Refusal::UnknownModel, Kind::NotFound).await?)
}

pub(crate) async fn a_rate_limit_is_typed(harness: &dyn ModelHarness) -> Proof {
    let failure = rejection(harness, Refusal::RateLimited(None), Kind::RateLimited).await?;
    claim(failure.retryable, || "a rate limit is not retryable".into())?;
    equal("the time to wait that nobody asked for", &failure.retry_after, &None)
}

pub(crate) async fn retry_after_is_carried(harness: &dyn ModelHarness) -> Proof {
    let limit = rejection(harness, Refusal::RateLimited(Some(WAIT)), Kind::RateLimited).await?;
    equal("the time to wait of a rate limit", &limit.retry_after, &Some(WAIT))?;
    let overload = outage(harness, Refusal::Overloaded(Some(WAIT))).await?;
    equal("the time to wait of an overload", &overload.retry_after, &Some(WAIT))
}

pub(crate) async fn context_overflow_is_told_apart(harness: &dyn ModelHarness) -> Proof {
    not_retryable(&rejection(harness, Refusal::ContextOverflow, Kind::ContextOverflow).await?)
}

pub(crate) async fn an_output_limit_is_told_apart(harness: &dyn ModelHarness) -> Proof {
    not_retryable(&rejection(harness, Refusal::OutputLimit, Kind::OutputLimit).await?)
}

pub(crate) async fn an_overloaded_provider_is_unavailable(harness: &dyn ModelHarness) -> Proof {
    outage(harness, Refusal::Overloaded(None)).await.map(drop)
}

pub(crate) async fn a_broken_provider_is_unavailable(harness: &dyn ModelHarness) -> Proof {
    outage(harness, Refusal::Broken).await.map(drop)
}

pub(crate) async fn a_malformed_answer_is_protocol(harness: &dyn ModelHarness) -> Proof {
    let staged = harness.stage(ProviderScript::one(ProviderReply::Malformed)).await?;
    let failure = refused("a malformed answer", staged.ask("question").await, Kind::Protocol)?;
    claim(failure.commit != CommitDisposition::NotCommitted, || {
        "an answer that arrived is called not committed".into()
    })?;
    one_request(&staged, &failure)
}

pub(crate) async fn refusals_echo_no_payload(harness: &dyn ModelHarness) -> Proof {
    for refusal in [Refusal::Invalid, Refusal::Unauthorized, Refusal::Broken] {
        let staged = staged(harness, refusal).await?;
        let failure = failed("a refused call", staged.ask("payload-canary-5e").await)?;
        let shown = format!("{failure} {failure:?}");
        claim(!shown.contains("payload-canary"), || "the failure repeats the request".into())?;
        claim(!failure.message.is_empty(), || "the failure has no message".into())?;
    }
    Ok(())
}

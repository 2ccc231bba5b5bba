//! What must hold when a call does not come to its end: no connection, a cut, a deadline, a
//! cancellation, a dropped future.
//!
//! Knows nothing about why it happens.

use runtime_ports::{
    CommitDisposition, Interruption, ModelResponse, OperationContext, PortFailure,
    PortFailureKind as Kind, TurnEnd,
};
use tokio::time::Instant;

use crate::{
    Broken, Proof,
    claim::{
        BRIEFLY, SOON, claim, equal, eventually, failed, failure, interrupted_operation, operation,
        operation_within, within,
    },
    model::{Answer, ModelHarness, Piece, ProviderReply, ProviderScript, StagedModel},
};

fn answer() -> Answer {
    Answer::of(vec![Piece::fragments(&["half ", "of it"])])
}

async fn staged(harness: &dyn ModelHarness, reply: ProviderReply) -> Result<StagedModel, Broken> {
    Ok(harness.stage(ProviderScript::one(reply)).await?)
}

pub(crate) async fn an_unreachable_provider_is_not_committed(harness: &dyn ModelHarness) -> Proof {
    let staged = harness.stage(ProviderScript::Unreachable).await?;
    let answered = staged.ask("question").await;
    let not_committed = CommitDisposition::NotCommitted;
    let failure = failure("an unreachable call", answered, Kind::Unavailable, not_committed)?;
    claim(failure.retryable, || "an unreachable provider is not retryable".into())?;
    equal("the listed attempts", &failure.attempts, &Vec::new())
}

async fn sends_nothing(harness: &dyn ModelHarness, why: Interruption, kind: Kind) -> Proof {
    let staged = harness.stage(ProviderScript::nothing()).await?;
    let answered = staged.ask_within(&interrupted_operation(why)).await;
    nothing_sent(&staged, answered, kind)
}

pub(crate) async fn a_cancelled_call_sends_nothing(harness: &dyn ModelHarness) -> Proof {
    sends_nothing(harness, Interruption::Canceled, Kind::Canceled).await
}

pub(crate) async fn a_late_call_sends_nothing(harness: &dyn ModelHarness) -> Proof {
    sends_nothing(harness, Interruption::DeadlineExceeded, Kind::Timeout).await
}

/// Nothing reached the provider, and nothing is listed as if it had.
fn nothing_sent(
    staged: &StagedModel,
    answered: Result<ModelResponse, PortFailure>,
    kind: Kind,
) -> Proof {
    let failure = failure("the call", answered, kind, CommitDisposition::NotCommitted)?;
    equal("the requests at the provider", &staged.provider.requests_seen(), &0)?;
    equal("the listed attempts", &failure.attempts, &Vec::new())
}

pub(crate) async fn cancelling_while_connecting_sends_nothing(harness: &dyn ModelHarness) -> Proof {
    let staged = harness.stage(ProviderScript::NeverConnects).await?;
    let operation = operation();
    let cancelling = async {
        tokio::time::sleep(BRIEFLY / 2).await;
        operation.cancellation.cancel();
    };
    let call = async { tokio::join!(staged.ask_within(&operation), cancelling) };
    let (answered, ()) = within("a call cancelled amid connecting", BRIEFLY + SOON, call).await?;
    nothing_sent(&staged, answered, Kind::Canceled)
}

pub(crate) async fn a_deadline_while_connecting_sends_nothing(harness: &dyn ModelHarness) -> Proof {
    let staged = harness.stage(ProviderScript::NeverConnects).await?;
    let operation = operation_within(BRIEFLY);
    let call = staged.ask_within(&operation);
    let answered = within("a call that connects past its deadline", BRIEFLY + SOON, call).await?;
    nothing_sent(&staged, answered, Kind::Timeout)
}

/// Cancels the operation once the request arrived, and gives what came of the call.
async fn cancelled_in_flight(
    staged: &StagedModel,
) -> Result<Result<ModelResponse, PortFailure>, Broken> {
    let operation = operation();
    let call = staged.ask_within(&operation);
    let cancelling = async {
        let arrived = arrived(staged).await;
        tokio::time::sleep(BRIEFLY / 8).await;
        operation.cancellation.cancel();
        let cancelled = Instant::now();
        (arrived, cancelled)
    };
    let (answered, (arrived, cancelled)) = tokio::join!(ended_at(call), cancelling);
    arrived?;
    let late = answered.1.saturating_duration_since(cancelled);
    claim(late <= SOON, || format!("the call ended {late:?} after its cancellation"))?;
    Ok(answered.0)
}

async fn ended_at<T>(work: impl Future<Output = T>) -> (T, Instant) {
    let output = work.await;
    (output, Instant::now())
}

async fn arrived(staged: &StagedModel) -> Proof {
    eventually("the arrival of the request", || staged.provider.requests_seen() == 1).await
}

/// One request, which ended like this, and whose effect nobody knows.
fn one_unknown(failure: &PortFailure, staged: &StagedModel, end: TurnEnd) -> Proof {
    equal("the requests at the provider", &staged.provider.requests_seen(), &1)?;
    let ends: Vec<_> = failure.attempts.iter().map(|attempt| attempt.end).collect();
    equal("the ends of the listed attempts", &ends, &vec![end])
}

async fn ends_when_cancelled(harness: &dyn ModelHarness, reply: ProviderReply) -> Proof {
    let staged = staged(harness, reply).await?;
    let answered = cancelled_in_flight(&staged).await?;
    let unknown = CommitDisposition::Unknown;
    let failure = failure("a cancelled call", answered, Kind::Canceled, unknown)?;
    one_unknown(&failure, &staged, TurnEnd::Cancelled)
}

pub(crate) async fn cancelling_a_silent_call_ends_it(harness: &dyn ModelHarness) -> Proof {
    ends_when_cancelled(harness, ProviderReply::StallBeforeAnswer).await
}

pub(crate) async fn cancelling_amid_the_answer_ends_it(harness: &dyn ModelHarness) -> Proof {
    ends_when_cancelled(harness, ProviderReply::StallMidAnswer(answer())).await
}

async fn ends_at_its_deadline(harness: &dyn ModelHarness, reply: ProviderReply) -> Proof {
    let staged = staged(harness, reply).await?;
    let operation: OperationContext = operation_within(BRIEFLY);
    let call = staged.ask_within(&operation);
    let answered = within("a call past its deadline", BRIEFLY + SOON, call).await?;
    let unknown = CommitDisposition::Unknown;
    let failure = failure("a call past its deadline", answered, Kind::Timeout, unknown)?;
    one_unknown(&failure, &staged, TurnEnd::TimedOut)
}

pub(crate) async fn a_deadline_ends_a_silent_call(harness: &dyn ModelHarness) -> Proof {
    ends_at_its_deadline(harness, ProviderReply::StallBeforeAnswer).await
}

pub(crate) async fn a_deadline_ends_a_stalled_answer(harness: &dyn ModelHarness) -> Proof {
    ends_at_its_deadline(harness, ProviderReply::StallMidAnswer(answer())).await
}

async fn is_unknown_when_cut(harness: &dyn ModelHarness, reply: ProviderReply) -> Proof {
    let staged = staged(harness, reply).await?;
    let operation = operation();
    let call = staged.ask_within(&operation);
    let answered = within("a cut call", 5 * SOON, call).await?;
    // Never `Unavailable`: that is an answer, and a caller may repeat it once.
    let unknown = CommitDisposition::Unknown;
    let failure = failure("a cut call", answered, Kind::Protocol, unknown)?;
    one_unknown(&failure, &staged, TurnEnd::Failed)
}

pub(crate) async fn a_cut_before_the_answer_is_unknown(harness: &dyn ModelHarness) -> Proof {
    is_unknown_when_cut(harness, ProviderReply::CutBeforeAnswer).await
}

pub(crate) async fn a_cut_amid_the_answer_is_unknown(harness: &dyn ModelHarness) -> Proof {
    is_unknown_when_cut(harness, ProviderReply::CutMidAnswer(answer())).await?;
    let call = Answer::of(vec![Piece::call("call-1", "write", r#"{"path":"a"}"#)]);
    is_unknown_when_cut(harness, ProviderReply::CutMidAnswer(call)).await
}

pub(crate) async fn a_dropped_call_closes_its_request(harness: &dyn ModelHarness) -> Proof {
    let staged = staged(harness, ProviderReply::StallBeforeAnswer).await?;
    let operation = operation();
    tokio::select! {
        answered = staged.ask_within(&operation) => {
            return failed("a call without an answer", answered).map(drop);
        }
        arrived = arrived(&staged) => arrived?,
    }
    eventually("the end of the dropped request", || staged.provider.abandoned() == 1).await
}

pub(crate) async fn a_cancelled_call_closes_its_request(harness: &dyn ModelHarness) -> Proof {
    let staged = staged(harness, ProviderReply::StallMidAnswer(answer())).await?;
    failed("a cancelled call", cancelled_in_flight(&staged).await?)?;
    eventually("the end of the cancelled request", || staged.provider.abandoned() == 1).await
}

pub(crate) async fn one_cancelled_call_leaves_the_others(harness: &dyn ModelHarness) -> Proof {
    let silence = vec![ProviderReply::StallBeforeAnswer; 2];
    let staged = harness.stage(ProviderScript::Replies(silence)).await?;
    let (first, second) = (operation(), operation());
    let cancelling = async {
        eventually("both requests", || staged.provider.requests_seen() == 2).await?;
        first.cancellation.cancel();
        tokio::time::sleep(BRIEFLY / 2).await;
        let abandoned = staged.provider.abandoned();
        second.cancellation.cancel();
        equal("the requests that ended when one was cancelled", &abandoned, &1)
    };
    let all =
        async { tokio::join!(staged.ask_within(&first), staged.ask_within(&second), cancelling) };
    let (cancelled, other, alone) = within("two calls", 10 * SOON, all).await?;
    failed("the cancelled call", cancelled)?;
    failed("the other call, cancelled later", other)?;
    alone
}

//! The saboteur of the model port.
//!
//! Does one thing wrong in every call: with the request, with the call, with the deltas, or with
//! the outcome. Knows the honest session below it as `ModelSession` only.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use port_conformance::{
    Unstageable,
    model::{ModelCapabilities, ModelHarness, ProviderScript, SCENARIOS, StagedModel},
};
use runtime_ports::{
    DeltaSink, DiscardDeltas, ModelProfile, ModelRequest, ModelResponse, ModelSession,
    OperationContext, PortFailure, PortFailureKind,
};
use tokio_util::sync::CancellationToken;

use crate::{
    harness::FakeModelHarness,
    matrix::{faults, prove},
};

mod asking;
mod calling;
mod outcome;
mod streaming;

faults! {
    /// What the saboteur does wrong.
    ModelFault {
        /// Sends the last message only.
        DropsHistory,
        /// Sends tools in the order of their names.
        SortsTools,
        /// Does not send `max_output_tokens`.
        DropsOutputLimit,
        /// Does not send options.
        DropsOptions,
        /// Does not send images.
        DropsImages,
        /// Sends something else each time.
        AddsANonce,
        /// Sends reasoning of others as its own.
        AdoptsForeignReasoning,
        /// Does not send its own reasoning back.
        ForgetsReasoning,

        /// Does not look at the cancellation.
        IgnoresCancel,
        /// Does not look at the deadline.
        IgnoresDeadline,
        /// Sends again after a failure.
        RetriesInside,
        /// Leaves the request running when its caller goes away.
        LeaksRequests,
        /// Gives every call the first answer.
        MixesAnswers,
        /// Fails for ever after a failure.
        StaysBroken,
        /// Ends every call of the session when one is cancelled.
        CancelsAll,
        /// Ends two seconds after it was cancelled or late.
        Dawdles,

        /// Gives the deltas when the answer is complete.
        HoldsDeltasBack,
        /// Loses the second text delta.
        LosesADelta,
        /// Gives no arguments of calls.
        LosesArgumentDeltas,
        /// Reports other usage when it streams.
        StreamsOtherUsage,

        /// Loses the end of every text.
        LosesText,
        /// Loses what is not ASCII.
        MangledText,
        /// Loses what is beyond 64 KiB.
        CutsLongText,
        /// Takes an empty answer for a failure.
        FailsOnEmpty,
        /// Loses reasoning.
        LosesReasoning,
        /// Turns the calls around.
        ReversesCalls,
        /// Gives calls identities of its own.
        RenamesCalls,
        /// Gives calls no identity.
        BlanksCallIds,
        /// Leaves empty arguments as an empty text.
        KeepsEmptyArguments,
        /// Takes arguments that do not parse for none.
        GuessesArguments,
        /// Parses arguments that are a JSON string.
        UnquotesArguments,
        /// Calls a tool from a cut answer.
        RunsCutAnswers,
        /// Puts the text behind the calls.
        PutsTextLast,
        /// Says that an answer with calls stopped.
        BelievesStop,
        /// Says that every answer without calls stopped.
        AlwaysStops,
        /// Reports zero for what was not reported.
        ZeroesUsage,
        /// Reports nothing.
        LosesUsage,
        /// Takes a reported zero for no report.
        DistrustsZero,
        /// States a cost of zero when none is stated.
        ZeroesCost,
        /// States no cost.
        LosesCost,
        /// Does not say how the provider names its requests.
        LosesRequestNames,

        /// Says `Internal` for everything.
        FlattensKinds,
        /// Says `Unavailable` when the connection was lost.
        TakesCutsForAnswers,
        /// Says "not committed" for everything.
        LiesNotCommitted,
        /// Says "unknown" for everything.
        LiesUnknown,
        /// Forgets how long to wait.
        LosesRetryAfter,
        /// Calls nothing retryable.
        NeverRetryable,
        /// Calls everything retryable.
        AlwaysRetryable,
        /// Repeats the request in its failures.
        EchoesRequests,
        /// Lists no attempts in a failure.
        ForgetsAttempts,
        /// Takes a cut answer for a whole one.
        AnswersWhenCut,

        /// Says the opposite about images.
        LiesAboutImages,
        /// Claims more prompt than window.
        OverstatesWindows,
        /// Has a profile for every model.
        GuessesModels,
    }
}

#[test]
fn every_scenario_falls_to_a_fault_and_every_fault_breaks_one() {
    prove(SCENARIOS, ModelFault::ALL, |fault| Box::new(SabotagedHarness(fault)));
}

struct SabotagedHarness(Option<ModelFault>);

#[async_trait]
impl ModelHarness for SabotagedHarness {
    fn capabilities(&self) -> ModelCapabilities {
        FakeModelHarness.capabilities()
    }

    async fn stage(&self, script: ProviderScript) -> Result<StagedModel, Unstageable> {
        let staged = FakeModelHarness.stage(script).await?;
        let Some(fault) = self.0 else { return Ok(staged) };
        let honest = Arc::clone(&staged.session);
        let memory = Mutex::default();
        let everybody = CancellationToken::new();
        let session = Arc::new(SabotagedModel { honest, fault, memory, everybody });
        Ok(StagedModel { session, ..staged })
    }
}

/// A session that does one thing wrong.
struct SabotagedModel {
    honest: Arc<dyn ModelSession>,
    fault: ModelFault,
    memory: Mutex<Memory>,
    everybody: CancellationToken,
}

/// What the saboteur remembers of earlier calls.
#[derive(Default)]
struct Memory {
    calls: u64,
    answer: Option<ModelResponse>,
    failure: Option<PortFailure>,
}

impl SabotagedModel {
    fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn call(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
        sink: &dyn DeltaSink,
        streamed: bool,
    ) -> Result<ModelResponse, PortFailure> {
        self.memory().calls += 1;
        let sent = asking::spoiled(self.fault, self.memory().calls, request.clone());
        let outcome = self.call_badly(operation, sent, sink).await;
        let outcome = outcome::spoiled(self.fault, outcome, &request);
        self.remembered(streaming::spoiled_outcome(self.fault, streamed, outcome))
    }

    fn remembered(
        &self,
        outcome: Result<ModelResponse, PortFailure>,
    ) -> Result<ModelResponse, PortFailure> {
        let mut memory = self.memory();
        match (self.fault, outcome) {
            (ModelFault::MixesAnswers, Ok(answer)) => {
                Ok(memory.answer.get_or_insert(answer).clone())
            }
            (ModelFault::StaysBroken, Err(failure)) => {
                memory.failure = Some(failure.clone());
                Err(failure)
            }
            (ModelFault::StaysBroken, Ok(answer)) => memory.failure.clone().map_or(Ok(answer), Err),
            (_, outcome) => outcome,
        }
    }
}

#[async_trait]
impl ModelSession for SabotagedModel {
    async fn invoke(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
    ) -> Result<ModelResponse, PortFailure> {
        self.call(operation, request, &DiscardDeltas, false).await
    }

    async fn invoke_streaming(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
        sink: &dyn DeltaSink,
    ) -> Result<ModelResponse, PortFailure> {
        let kept = streaming::SpoiledDeltas::new(self.fault, sink);
        let outcome = self.call(operation, request, &kept, true).await;
        kept.finish();
        outcome
    }

    async fn profile(
        &self,
        operation: &OperationContext,
        model: &str,
    ) -> Result<ModelProfile, PortFailure> {
        let profile = self.honest.profile(operation, model).await;
        match (self.fault, profile) {
            (ModelFault::LiesAboutImages, Ok(profile)) => {
                Ok(ModelProfile { images: !profile.images, ..profile })
            }
            (ModelFault::OverstatesWindows, Ok(profile)) => {
                let max_input_tokens = profile.context_window_tokens + 1;
                Ok(ModelProfile { max_input_tokens, ..profile })
            }
            (ModelFault::GuessesModels, Err(failure))
                if failure.kind == PortFailureKind::NotFound =>
            {
                Ok(in_memory_fakes::FakeModel::default_profile())
            }
            (_, profile) => profile,
        }
    }
}

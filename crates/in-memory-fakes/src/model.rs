//! Decides how a scripted model answers.
//!
//! Knows nothing about any provider. Invariant: a request that was sent consumed exactly one step,
//! and one that was not sent consumed none.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use runtime_ports::{
    DeltaSink, DiscardDeltas, ModelContent, ModelProfile, ModelRequest, ModelResponse,
    ModelSession, OperationContext, PortFailure, PortFailureKind,
};

use crate::{
    FaultPlan, ModelCall, ModelStep, Recorder, model_call::OpenCall, model_step::StepEnd,
    script::Script,
};

/// A [`ModelSession`] that plays a script. Clones share everything.
///
/// It serves the model [`FakeModel::MODEL`] and those added with
/// [`with_profile`](Self::with_profile); any other is `NotFound`. Names for a [`FaultPlan`]:
/// `model.invoke` (streamed or not) and `model.profile`.
///
/// When the last clone is dropped, a step that was never asked for, or a call without a step,
/// panics. Where the last clone lives in a spawned task, whose panic nobody sees, call
/// [`assert_script_done`](Self::assert_script_done).
#[derive(Clone)]
pub struct FakeModel {
    script: Arc<Script<ModelStep>>,
    state: Arc<Mutex<State>>,
    calls: Recorder<ModelCall>,
    faults: FaultPlan,
    issuer: Option<Arc<str>>,
}

#[derive(Default)]
struct State {
    profiles: BTreeMap<String, ModelProfile>,
    last_calls: Vec<ModelContent>,
    sent: u64,
}

impl FakeModel {
    /// The model that every fake serves.
    pub const MODEL: &'static str = "fake-model";

    /// A model that plays these steps, one for each call.
    #[must_use]
    pub fn new(steps: impl IntoIterator<Item = ModelStep>) -> Self {
        let profiles = BTreeMap::from([(Self::MODEL.to_owned(), Self::default_profile())]);
        Self {
            script: Arc::new(Script::new("FakeModel", steps)),
            state: Arc::new(Mutex::new(State { profiles, ..State::default() })),
            calls: Recorder::new(),
            faults: FaultPlan::new(),
            issuer: None,
        }
    }

    /// 128,000 tokens of context, 120,000 of them for the prompt, 8,000 of answer, images, no
    /// price.
    #[must_use]
    pub const fn default_profile() -> ModelProfile {
        ModelProfile {
            context_window_tokens: 128_000,
            max_input_tokens: 120_000,
            max_output_tokens: Some(8_000),
            images: true,
            price: None,
        }
    }

    /// Also serves `model`, with this profile; replaces the profile of one that is served.
    #[must_use]
    pub fn with_profile(self, model: impl Into<String>, profile: ModelProfile) -> Self {
        self.state().profiles.insert(model.into(), profile);
        self
    }

    /// Also serves `model`, with [`Self::default_profile`].
    #[must_use]
    pub fn with_model(self, model: impl Into<String>) -> Self {
        self.with_profile(model, Self::default_profile())
    }

    /// Says that it takes back the reasoning of this issuer. Without it, it does not say.
    #[must_use]
    pub fn with_issuer(mut self, issuer: &str) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// Fails where the plan says so.
    #[must_use]
    pub fn with_faults(mut self, plan: &FaultPlan) -> Self {
        self.faults = plan.clone();
        self
    }

    /// Adds a step at the end of the script.
    pub fn then(&self, step: ModelStep) {
        self.script.push(step);
    }

    /// Every call, with how it ended; also those that were not sent.
    #[must_use]
    pub fn calls(&self) -> Vec<ModelCall> {
        self.calls.all()
    }

    /// The requests that were sent, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.calls().into_iter().filter(|call| call.sent).map(|call| call.request).collect()
    }

    /// Leaves out the check of the script.
    pub fn unchecked(&self) {
        self.script.uncheck();
    }

    /// Checks now that the script was played to its end, and not beyond.
    ///
    /// # Panics
    /// When it was not; the message shows script and reality side by side.
    #[track_caller]
    pub fn assert_script_done(&self) {
        self.script.assert_done();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_profile(&self, model: &str) -> Result<ModelProfile, PortFailure> {
        self.state().profiles.get(model).cloned().ok_or_else(|| {
            let message = "the fake does not serve this model; add it with `with_model`";
            PortFailure::rejected(PortFailureKind::NotFound, "MODEL_NOT_FOUND", message)
        })
    }

    async fn call(
        &self,
        operation: &OperationContext,
        request: &ModelRequest,
        sink: Option<&dyn DeltaSink>,
    ) -> Result<ModelResponse, PortFailure> {
        let call = OpenCall::record(&self.calls, operation, request, sink.is_some());
        let sink = sink.unwrap_or(&DiscardDeltas);
        let effect = self.serve(operation, request, &call, sink);
        let outcome = self.faults.call(operation, "model.invoke", effect).await;
        call.ended(&outcome);
        outcome
    }

    async fn serve(
        &self,
        operation: &OperationContext,
        request: &ModelRequest,
        call: &OpenCall,
        sink: &dyn DeltaSink,
    ) -> Result<ModelResponse, PortFailure> {
        self.known_profile(&request.model)?;
        let step = self.script.next(described(request))?.repeating(&self.state().last_calls);
        if let Some(failure) = before_sending(operation, &step).await {
            return Err(failure);
        }
        call.sent();
        let request_id = self.next_request_id();
        let lost = |interruption: runtime_ports::Interruption| {
            step.failed(interruption.in_flight(), request_id.clone())
        };
        operation.bounded(tokio::time::sleep(step.waits())).await.map_err(lost)?;
        step.streamed_deltas().iter().for_each(|delta| sink.delta(delta.as_delta()));
        match step.end() {
            StepEnd::Answer => Ok(self.remember(step.answer(request_id))),
            StepEnd::Stall | StepEnd::StallBeforeSending => {
                Err(lost(operation.interrupted().await))
            }
            StepEnd::Fail(failure) | StepEnd::FailBeforeSending(failure) => {
                Err(step.failed(failure.clone(), request_id))
            }
        }
    }

    fn next_request_id(&self) -> String {
        let mut state = self.state();
        state.sent += 1;
        format!("fake-request-{}", state.sent)
    }

    fn remember(&self, response: ModelResponse) -> ModelResponse {
        let is_call = |content: &&ModelContent| matches!(content, ModelContent::ToolUse { .. });
        self.state().last_calls = response.output.iter().filter(is_call).cloned().collect();
        response
    }
}

/// The failure of a step that ends before anything is sent.
async fn before_sending(operation: &OperationContext, step: &ModelStep) -> Option<PortFailure> {
    match step.end() {
        StepEnd::FailBeforeSending(failure) => Some(failure.clone()),
        StepEnd::StallBeforeSending => Some(operation.interrupted().await.before_sending()),
        StepEnd::Answer | StepEnd::Fail(_) | StepEnd::Stall => None,
    }
}

fn described(request: &ModelRequest) -> String {
    let messages = request.messages.len();
    format!("invocation {} of {} with {messages} messages", request.invocation_id, request.model)
}

#[async_trait]
impl ModelSession for FakeModel {
    async fn invoke(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
    ) -> Result<ModelResponse, PortFailure> {
        self.call(operation, &request, None).await
    }

    async fn invoke_streaming(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
        sink: &dyn DeltaSink,
    ) -> Result<ModelResponse, PortFailure> {
        self.call(operation, &request, Some(sink)).await
    }

    async fn profile(
        &self,
        operation: &OperationContext,
        model: &str,
    ) -> Result<ModelProfile, PortFailure> {
        let effect = async { self.known_profile(model) };
        self.faults.call(operation, "model.profile", effect).await
    }

    fn issuer(&self) -> Option<&str> {
        self.issuer.as_deref()
    }
}

impl fmt::Debug for FakeModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FakeModel").field("calls", &self.calls.len()).finish()
    }
}

//! Decides how a delegated task becomes one provider turn, and what is recorded around it.
//!
//! Knows nothing about prompts, tools or what the answer is for. Invariant: nothing is recorded and
//! nothing is sent for an input that does not fit.

use anyhow::ensure;
use runtime_ports::{
    AgentTurnRequest, DEFAULT_MAX_REQUESTS, Digest, ResolvedAgentModel, TurnFailure, TurnStart,
};
use tracing::{Instrument as _, debug, info_span};
use uuid::Uuid;

use crate::{
    AgentRuntime, AuditEvent, Host, RunRequest, RunResult, SubagentError, bridge,
    projection::Projection,
    subagent_turn::{Identity, SubagentTurn, record_broken_start},
};

/// What the model is told about the one provider tool, the same for every run.
const BRIDGE_DESCRIPTION: &str = "\
Calls one tool of the application. The context says which tools there are, what each does and which \
arguments it takes; give its exact name and its arguments as an object. One tool a call; wait for \
the result before you go on. When a call fails, read what the result says about its effect before \
you call again. Give your final answer as plain text, not through this tool.";

impl AgentRuntime {
    /// Runs a delegated task to its answer, in one fresh turn that nobody can go on with.
    ///
    /// The turn's input is the context sections and the task, joined by blank lines. Tool calls go
    /// to `host` one by one; what they bring is counted against the model's input, and a result
    /// that does not fit is withheld from the model, which is told so.
    ///
    /// # Cancellation
    /// Cancel `request.parent_operation_id` on the intelligence: the turn then fails, its receipt
    /// is recorded, and the failure is returned. Dropping the future drops the turn, whose receipt
    /// the intelligence settles as interrupted; the host is not told any more.
    ///
    /// # Errors
    /// - The intelligence's [`PortFailure`](runtime_ports::PortFailure).
    /// - [`SubagentError`]: an input that does not fit, or a turn without a usable answer.
    /// - An error of the host's `record`, `render_tool_call` or `complete_capture`, as it gave it.
    ///
    /// The receipt of a turn that started has then been recorded. When it cannot be settled or
    /// recorded: why not, with the error before it as its source; see
    /// [`AccountingError`](crate::AccountingError).
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    ///
    /// use in_memory_fakes::{FakeIntelligence, TurnScript};
    /// use runtime_kernel::*;
    /// use serde_json::{Value, json};
    /// use uuid::Uuid;
    ///
    /// /// Lets the subagent keep one page of notes.
    /// struct Notes;
    ///
    /// impl Host for Notes {
    ///     fn render_tool_call(&mut self, call: &ToolCall) -> anyhow::Result<String> {
    ///         Ok(format!("You called {} with {}.", call.name, call.arguments))
    ///     }
    ///
    ///     fn execute_tool<'a>(
    ///         &'a mut self,
    ///         call: ToolCall,
    ///         _operation_id: Uuid,
    ///         budget: ContextBudget,
    ///     ) -> HostFuture<'a, ToolOutcome> {
    ///         Box::pin(async move {
    ///             let page = call.arguments["page"].as_str().unwrap_or_default();
    ///             if !budget.fits_state("notes", page) {
    ///                 return Ok(ToolOutcome::failure("that page is too long"));
    ///             }
    ///             let update = StateUpdate { key: "notes".into(), text: Some(page.into()) };
    ///             Ok(ToolOutcome { state_updates: vec![update], ..ToolOutcome::success("kept") })
    ///         })
    ///     }
    ///
    ///     fn complete_capture<'a>(
    ///         &'a mut self,
    ///         _capture: Value,
    ///         contents: String,
    ///         _budget: ContextBudget,
    ///     ) -> HostFuture<'a, ToolOutcome> {
    ///         Box::pin(async move { Ok(ToolOutcome::success(contents)) })
    ///     }
    ///
    ///     fn record(&mut self, event: AuditEvent) -> anyhow::Result<()> {
    ///         println!("{event:?}");
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> anyhow::Result<()> {
    /// let script = TurnScript::new()
    ///     .ktool("keep", json!({ "page": "Water the plants." }), "call-1")
    ///     .answered(true, "kept")
    ///     .complete("  Noted.\n");
    /// let runtime = AgentRuntime::new(Arc::new(FakeIntelligence::new([script])));
    /// let request = RunRequest {
    ///     user_id: "ada".into(),
    ///     parent_operation_id: Uuid::new_v4(),
    ///     model: "fake-model".into(),
    ///     reasoning_effort: String::new(),
    ///     context: vec!["Tools: keep(page) replaces the page of notes.".into()],
    ///     task: "Note that the plants want water.".into(),
    ///     timeout: None,
    ///     start_metadata: json!({ "reason": "example" }),
    /// };
    /// let result = runtime.run(request, &mut Notes).await?;
    /// assert_eq!(result.answer, "Noted.");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run<H: Host>(
        &self,
        request: RunRequest,
        host: &mut H,
    ) -> anyhow::Result<RunResult> {
        self.run_within(request, DEFAULT_MAX_REQUESTS, host).await
    }

    /// Like [`Self::run`], in a turn of at most `max_requests` requests.
    pub(crate) async fn run_within<H: Host>(
        &self,
        request: RunRequest,
        max_requests: u32,
        host: &mut H,
    ) -> anyhow::Result<RunResult> {
        let turn_id = Uuid::new_v4();
        let span = info_span!("subagent", parent = %request.parent_operation_id, turn = %turn_id);
        self.run_once(request, max_requests, turn_id, host).instrument(span).await
    }

    async fn run_once<H: Host>(
        &self,
        request: RunRequest,
        max_requests: u32,
        turn_id: Uuid,
        host: &mut H,
    ) -> anyhow::Result<RunResult> {
        let model = self.resolve_model(&request.model).await?;
        let projection = Projection::new(&request.context, &request.task, model.max_input_tokens);
        ensure!(projection.fits(), too_large(&projection, &model));
        let input = projection.render();
        let parent = request.parent_operation_id;
        let manifest_hash = Digest::of(input.as_bytes()).to_string();
        let identity = Identity { parent, turn_id, manifest_hash };
        let mut start = turn_start(&request, turn_id, input);
        start.request.max_requests = max_requests;
        host.record(started(request, &model))?;
        host.record(submitted(&identity, projection.estimated_tokens()))?;
        let answer = match self.intelligence.start_agent_turn(start).await {
            Ok(turn) => SubagentTurn::new(turn, identity, projection, host).play().await?,
            Err(failed) => return Err(broken_start(host, &identity, failed)),
        };
        host.record(completed(parent, &model, &answer))?;
        debug!("subagent completed");
        Ok(RunResult { answer, model })
    }
}

fn too_large(projection: &Projection, model: &ResolvedAgentModel) -> SubagentError {
    let estimated_tokens = projection.estimated_tokens();
    SubagentError::InputTooLarge { estimated_tokens, max_input_tokens: model.max_input_tokens }
}

/// A refused start owes no receipt; one that may have reached the provider brings its own.
fn broken_start<H: Host>(host: &mut H, identity: &Identity, failed: TurnFailure) -> anyhow::Error {
    match failed.receipt {
        Some(receipt) => record_broken_start(host, identity, receipt, failed.failure.into()),
        None => failed.failure.into(),
    }
}

fn turn_start(request: &RunRequest, turn_id: Uuid, input: String) -> TurnStart {
    TurnStart {
        user_id: request.user_id.clone(),
        operation_id: turn_id,
        parent_operation_id: Some(request.parent_operation_id),
        continuation: None,
        request: AgentTurnRequest {
            model: request.model.clone(),
            reasoning_effort: request.reasoning_effort.clone(),
            input,
            tools: vec![bridge::definition(BRIDGE_DESCRIPTION.to_owned())],
            timeout: request.timeout,
            ephemeral: true,
            max_requests: DEFAULT_MAX_REQUESTS,
        },
    }
}

fn started(request: RunRequest, model: &ResolvedAgentModel) -> AuditEvent {
    AuditEvent::Started {
        parent_operation_id: request.parent_operation_id,
        model: model.requested_model.clone(),
        provider_model: model.provider_model.clone(),
        provider: model.provider.clone(),
        context_window_tokens: model.context_window_tokens,
        max_input_tokens: model.max_input_tokens,
        context: request.context,
        task: request.task,
        host: request.start_metadata,
    }
}

fn submitted(identity: &Identity, estimated_input_tokens: u64) -> AuditEvent {
    AuditEvent::InferenceSubmitted {
        parent_operation_id: identity.parent,
        round: 1,
        manifest_hash: identity.manifest_hash.clone(),
        estimated_input_tokens,
    }
}

fn completed(parent: Uuid, model: &ResolvedAgentModel, answer: &str) -> AuditEvent {
    AuditEvent::Completed {
        parent_operation_id: parent,
        model: model.requested_model.clone(),
        response: answer.to_owned(),
    }
}

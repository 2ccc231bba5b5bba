//! Decides whether the two host-driven loops have their names, fields and argument orders.
//!
//! The hosts below have the required methods and no others: a loop that asks for more does not
//! compile.

use std::{pin::Pin, sync::Arc, time::Duration};

use in_memory_fakes::{FakeIntelligence, TurnScript};
use runtime_kernel::{
    AgentRuntime, AuditEvent, ContextBudget, DEFAULT_ROUND_LIMIT, Host, HostFuture, PreparedRound,
    ProviderResume, RoundCompletion, RoundPreparation, RunRequest, RunResult, SessionControl,
    SessionEvent, SessionHost, SessionRoundLimitError, SessionRunRequest, SessionToolOutcome,
    StateUpdate, ToolCall, ToolOutcome, is_session_round_limit,
};
use runtime_ports::{
    AgentContinuation, AgentProvider, Intelligence, ModelContext, ResolvedAgentModel, TokenUsage,
    UsageReceipt,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{fields, variants};

/// What a callback of a host gives.
type Given<'a, T> = Pin<Box<dyn Future<Output = anyhow::Result<T>> + Send + 'a>>;

const _: for<'a> fn(HostFuture<'a, u8>) -> Given<'a, u8> = |future| future;

fields!(ToolCall { name: String, arguments: Value });
variants!(AuditEvent {
    Started {
        parent_operation_id: Uuid,
        model: String,
        provider_model: String,
        provider: AgentProvider,
        context_window_tokens: u64,
        max_input_tokens: u64,
        context: Vec<String>,
        task: String,
        host: Value,
    },
    InferenceSubmitted {
        parent_operation_id: Uuid,
        round: u64,
        manifest_hash: String,
        estimated_input_tokens: u64,
    },
    ToolCall { parent_operation_id: Uuid, name: String, arguments: Value },
    ToolResult {
        parent_operation_id: Uuid,
        name: String,
        ok: bool,
        projection_accepted: bool,
        result: String,
    },
    ProviderReceipt {
        parent_operation_id: Uuid,
        round: u64,
        manifest_hash: String,
        usage: Option<TokenUsage>,
        receipt: Box<UsageReceipt>,
    },
    Completed { parent_operation_id: Uuid, model: String, response: String },
});
fields!(StateUpdate { key: String, text: Option<String> });
fields!(ToolOutcome {
    text: String,
    ok: bool,
    state_updates: Vec<StateUpdate>,
    displayed_state_keys: Vec<String>,
    capture: Option<Value>,
});
const _: [fn(String) -> ToolOutcome; 2] = [ToolOutcome::success, ToolOutcome::failure];
const _: [fn(&ContextBudget) -> u64; 2] =
    [ContextBudget::estimated_tokens, ContextBudget::max_input_tokens];
const _: fn(&ContextBudget, &'static str, String) -> bool = ContextBudget::fits_state;

fields!(SessionRunRequest {
    user_id: String,
    operation_id: Uuid,
    rounds_used: u64,
    round_limit: u64,
});
fields!(PreparedRound {
    input: String,
    provider_input: String,
    continuation: Option<AgentContinuation>,
    model: String,
    reasoning_effort: String,
    tool_description: String,
    timeout: Option<Duration>,
});
variants!(RoundPreparation { Run(PreparedRound), Complete(Option<String>) });
variants!(SessionEvent {
    InferenceSubmitted { round: u64, manifest_hash: String, model: String },
    ProviderInput { round: u64, context: ModelContext },
    UsageUpdated { round: u64, usage: TokenUsage },
    ProviderReceipt {
        round: u64,
        usage: Option<TokenUsage>,
        receipt: Box<UsageReceipt>,
        continuation: Option<AgentContinuation>,
    },
});
fields!(SessionToolOutcome {
    text: String,
    ok: bool,
    capture: Option<Value>,
    stop: bool,
    finish_after_round: bool,
    emitted_response: bool,
});
const _: [fn(String) -> SessionToolOutcome; 2] =
    [SessionToolOutcome::success, SessionToolOutcome::failure];
variants!(ProviderResume {
    Continue(SessionToolOutcome),
    Complete(Option<String>),
    RestartFresh,
});
fields!(RoundCompletion {
    answer: String,
    used_tool: bool,
    finish_requested: bool,
    emitted_response: bool,
});
variants!(SessionControl { Continue, Complete(Option<String>) });
const _: fn(&anyhow::Error) -> bool = is_session_round_limit;
const _: fn(SessionRoundLimitError) -> anyhow::Error = anyhow::Error::new;
const _: u64 = DEFAULT_ROUND_LIMIT;
const _: fn(Arc<dyn Intelligence>) -> AgentRuntime = AgentRuntime::new;
const _: fn(&AgentRuntime) -> AgentRuntime = AgentRuntime::clone;

fields!(RunRequest {
    user_id: String,
    parent_operation_id: Uuid,
    model: String,
    reasoning_effort: String,
    context: Vec<String>,
    task: String,
    timeout: Option<Duration>,
    start_metadata: Value,
});
fields!(RunResult { answer: String, model: ResolvedAgentModel });

/// Takes what comes.
struct Plain;

impl Host for Plain {
    fn render_tool_call(&mut self, call: &ToolCall) -> anyhow::Result<String> {
        Ok(call.name.clone())
    }

    fn execute_tool<'a>(
        &'a mut self,
        call: ToolCall,
        _operation_id: Uuid,
        budget: ContextBudget,
    ) -> HostFuture<'a, ToolOutcome> {
        assert!(budget.estimated_tokens() < budget.max_input_tokens());
        Box::pin(async move { Ok(ToolOutcome::success(call.arguments.to_string())) })
    }

    fn complete_capture<'a>(
        &'a mut self,
        _capture: Value,
        contents: String,
        _budget: ContextBudget,
    ) -> HostFuture<'a, ToolOutcome> {
        Box::pin(async move { Ok(ToolOutcome::success(contents)) })
    }

    fn record(&mut self, _event: AuditEvent) -> anyhow::Result<()> {
        Ok(())
    }
}

impl SessionHost for Plain {
    fn prepare_round<'a>(&'a mut self, round: u64) -> HostFuture<'a, RoundPreparation> {
        let prepared = PreparedRound {
            input: format!("round {round}"),
            provider_input: format!("round {round}"),
            continuation: None,
            model: "fake".to_owned(),
            reasoning_effort: String::new(),
            tool_description: String::new(),
            timeout: None,
        };
        Box::pin(async move { Ok(RoundPreparation::Run(prepared)) })
    }

    fn record<'a>(&'a mut self, _event: SessionEvent) -> HostFuture<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn execute_tool<'a>(
        &'a mut self,
        call: anyhow::Result<ToolCall>,
        _provider_operation_id: Uuid,
    ) -> HostFuture<'a, SessionToolOutcome> {
        Box::pin(async move { Ok(SessionToolOutcome::success(call?.arguments.to_string())) })
    }

    fn complete_capture<'a>(
        &'a mut self,
        _capture: Value,
        contents: String,
    ) -> HostFuture<'a, SessionControl> {
        Box::pin(async move { Ok(SessionControl::Complete(Some(contents))) })
    }

    fn complete_round<'a>(
        &'a mut self,
        completion: RoundCompletion,
    ) -> HostFuture<'a, SessionControl> {
        Box::pin(async move { Ok(SessionControl::Complete(Some(completion.answer))) })
    }
}

fn runtime() -> AgentRuntime {
    let script = TurnScript::new()
        .ktool("look", json!({ "at": "it" }), "c1")
        .answered(true, r#"{"at":"it"}"#)
        .complete("done");
    AgentRuntime::new(Arc::new(FakeIntelligence::new([script])))
}

#[tokio::test]
async fn a_host_with_the_required_methods_drives_a_session() {
    let request = SessionRunRequest {
        user_id: "ada".to_owned(),
        operation_id: Uuid::from_u128(1),
        rounds_used: 0,
        round_limit: DEFAULT_ROUND_LIMIT,
    };
    let answer: Option<String> = runtime().run_session(request, &mut Plain).await.unwrap();
    assert_eq!(answer.as_deref(), Some("done"));
}

#[tokio::test]
async fn a_host_with_the_required_methods_drives_a_run() {
    let request = RunRequest {
        user_id: "ada".to_owned(),
        parent_operation_id: Uuid::from_u128(1),
        model: "fake".to_owned(),
        reasoning_effort: String::new(),
        context: Vec::new(),
        task: "look at it".to_owned(),
        timeout: None,
        start_metadata: Value::Null,
    };
    let runtime = runtime();
    let model: ResolvedAgentModel = runtime.resolve_model("fake").await.unwrap();
    let result: RunResult = runtime.run(request, &mut Plain).await.unwrap();
    assert_eq!((result.answer.as_str(), result.model), ("done", model));
}

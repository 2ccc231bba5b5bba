//! Decides how a rule is put on stage: a scripted provider, a scripted host, and what they saw.

use std::{collections::VecDeque, sync::Arc};

use in_memory_fakes::{FakeAgentModel, FakeIntelligence, TurnScript};
use runtime_kernel::{
    AgentRuntime, AuditEvent, ContextBudget, Host, HostFuture, RunRequest, RunResult, StateUpdate,
    ToolCall, ToolOutcome,
};
use serde_json::{Value, json};
use uuid::Uuid;

pub(crate) const CONTEXT: &str = "You keep notes.";
pub(crate) const TASK: &str = "Write a note.";
pub(crate) const REPLACED: &str = "[Tool output was displayed here, but has since been updated and now appears elsewhere in the context]";

/// The estimate of a projection, from the rule alone.
pub(crate) fn estimate(sections: &[&str]) -> u64 {
    let text = sections.iter().filter(|text| !text.is_empty()).copied().collect::<Vec<_>>();
    (text.join("\n\n").chars().count() as u64).div_ceil(4) + 4_096
}

/// A host that gives what it was told to give, and keeps what it was asked.
#[derive(Default)]
pub(crate) struct ScriptedHost {
    outcomes: VecDeque<anyhow::Result<ToolOutcome>>,
    capture: Option<anyhow::Result<ToolOutcome>>,
    fails_to_record: Vec<&'static str>,
    fails_to_render: bool,
    pub(crate) events: Vec<AuditEvent>,
    /// Every call of the host, in order; a record by the name of its event.
    pub(crate) asked: Vec<String>,
    pub(crate) turn_ids: Vec<Uuid>,
    pub(crate) budgets: Vec<ContextBudget>,
    pub(crate) contents: Option<String>,
    pub(crate) capture_token: Option<Value>,
}

impl Host for ScriptedHost {
    fn render_tool_call(&mut self, call: &ToolCall) -> anyhow::Result<String> {
        self.asked.push("render".to_owned());
        anyhow::ensure!(!self.fails_to_render, "render failed");
        Ok(format!("call of {}", call.name))
    }

    fn execute_tool<'a>(
        &'a mut self,
        call: ToolCall,
        operation_id: Uuid,
        budget: ContextBudget,
    ) -> HostFuture<'a, ToolOutcome> {
        Box::pin(async move {
            self.asked.push(format!("execute {}", call.name));
            self.turn_ids.push(operation_id);
            self.budgets.push(budget);
            tokio::task::yield_now().await;
            self.outcomes.pop_front().expect("an outcome for every call that reaches the host")
        })
    }

    fn complete_capture<'a>(
        &'a mut self,
        capture: Value,
        contents: String,
        budget: ContextBudget,
    ) -> HostFuture<'a, ToolOutcome> {
        Box::pin(async move {
            self.asked.push("capture".to_owned());
            self.capture_token = Some(capture);
            self.contents = Some(contents);
            self.budgets.push(budget);
            tokio::task::yield_now().await;
            self.capture.take().expect("an outcome for the capture")
        })
    }

    fn record(&mut self, event: AuditEvent) -> anyhow::Result<()> {
        let name = name_of(&event);
        self.asked.push(name.to_owned());
        anyhow::ensure!(!self.fails_to_record.contains(&name), "record of {name} failed");
        self.events.push(event);
        Ok(())
    }
}

pub(crate) fn name_of(event: &AuditEvent) -> &'static str {
    match event {
        AuditEvent::Started { .. } => "Started",
        AuditEvent::InferenceSubmitted { .. } => "InferenceSubmitted",
        AuditEvent::ToolCall { .. } => "ToolCall",
        AuditEvent::ToolResult { .. } => "ToolResult",
        AuditEvent::ProviderReceipt { .. } => "ProviderReceipt",
        AuditEvent::Completed { .. } => "Completed",
    }
}

/// One run to make.
pub(crate) struct Stage {
    pub(crate) request: RunRequest,
    max_input_tokens: u64,
    script: Option<TurnScript>,
    host: ScriptedHost,
}

/// A run that was made.
pub(crate) struct Played {
    pub(crate) result: anyhow::Result<RunResult>,
    pub(crate) host: ScriptedHost,
    pub(crate) intelligence: FakeIntelligence,
}

impl Stage {
    pub(crate) fn new(script: TurnScript) -> Self {
        Self { script: Some(script), ..Self::without_turn() }
    }

    /// A run that must not start a turn.
    pub(crate) fn without_turn() -> Self {
        let request = RunRequest {
            user_id: "ada".to_owned(),
            parent_operation_id: Uuid::from_u128(7),
            model: "alias".to_owned(),
            reasoning_effort: "low".to_owned(),
            context: vec![CONTEXT.to_owned()],
            task: TASK.to_owned(),
            timeout: None,
            start_metadata: json!({ "depth": 1 }),
        };
        let host = ScriptedHost::default();
        Self { request, max_input_tokens: 100_000, script: None, host }
    }

    pub(crate) fn max_input_tokens(mut self, tokens: u64) -> Self {
        self.max_input_tokens = tokens;
        self
    }

    /// What the host gives for the next tool call.
    pub(crate) fn outcome(mut self, outcome: ToolOutcome) -> Self {
        self.host.outcomes.push_back(Ok(outcome));
        self
    }

    /// The next tool call fails in the host.
    pub(crate) fn host_error(mut self, error: anyhow::Error) -> Self {
        self.host.outcomes.push_back(Err(error));
        self
    }

    pub(crate) fn captures_to(mut self, outcome: anyhow::Result<ToolOutcome>) -> Self {
        self.host.capture = Some(outcome);
        self
    }

    pub(crate) fn fails_to_record(mut self, event: &'static str) -> Self {
        self.host.fails_to_record.push(event);
        self
    }

    pub(crate) fn fails_to_render(mut self) -> Self {
        self.host.fails_to_render = true;
        self
    }

    /// The runtime, the provider and the host, not yet started.
    pub(crate) fn set(self) -> (FakeIntelligence, AgentRuntime, RunRequest, ScriptedHost) {
        let model = FakeAgentModel::new("exact")
            .alias("alias")
            .windows(self.max_input_tokens * 2, self.max_input_tokens);
        let intelligence = FakeIntelligence::serving([model], self.script);
        let runtime = AgentRuntime::new(Arc::new(intelligence.clone()));
        (intelligence, runtime, self.request, self.host)
    }

    pub(crate) async fn play(self) -> Played {
        let (intelligence, runtime, request, mut host) = self.set();
        let result = runtime.run(request, &mut host).await;
        intelligence.assert_script_done();
        intelligence.assert_one_receipt_per_turn();
        Played { result, host, intelligence }
    }
}

impl Played {
    pub(crate) fn answer(&self) -> &str {
        &self.result.as_ref().expect("an answer").answer
    }

    pub(crate) fn error(&self) -> &anyhow::Error {
        self.result.as_ref().expect_err("an error")
    }

    pub(crate) fn event_names(&self) -> Vec<&'static str> {
        self.host.events.iter().map(name_of).collect()
    }

    /// What the model was answered: success and text of each call.
    pub(crate) fn answers(&self) -> Vec<(bool, String)> {
        let answers = self.intelligence.answers().into_iter();
        answers.map(|answer| (answer.result.success, answer.result.text)).collect()
    }

    /// The estimate that each call of the host was given.
    pub(crate) fn estimates(&self) -> Vec<u64> {
        self.host.budgets.iter().map(ContextBudget::estimated_tokens).collect()
    }

    /// The audited results: success, acceptance and text.
    pub(crate) fn results(&self) -> Vec<(bool, bool, &str)> {
        let result_of = |event| match event {
            &AuditEvent::ToolResult { ok, projection_accepted, ref result, .. } => {
                Some((ok, projection_accepted, result.as_str()))
            }
            _ => None,
        };
        self.host.events.iter().filter_map(result_of).collect()
    }
}

/// A script that calls `tools` one after the other.
pub(crate) fn calling(tools: &[&str]) -> TurnScript {
    let numbered = tools.iter().enumerate();
    numbered.fold(TurnScript::new(), |script, (index, tool)| {
        script.ktool(tool, json!({}), format!("call-{index}"))
    })
}

pub(crate) fn set(key: &str, text: &str) -> StateUpdate {
    StateUpdate { key: key.to_owned(), text: Some(text.to_owned()) }
}

pub(crate) fn removed(key: &str) -> StateUpdate {
    StateUpdate { key: key.to_owned(), text: None }
}

/// A success that updates and shows.
pub(crate) fn success(text: &str, state_updates: Vec<StateUpdate>, shows: &[&str]) -> ToolOutcome {
    let displayed_state_keys = shows.iter().map(|key| (*key).to_owned()).collect();
    ToolOutcome { state_updates, displayed_state_keys, ..ToolOutcome::success(text) }
}

/// A success that asks for the final answer.
pub(crate) fn capturing(text: &str) -> ToolOutcome {
    ToolOutcome { capture: Some(json!({ "page": 3 })), ..ToolOutcome::success(text) }
}

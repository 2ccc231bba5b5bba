//! Pages of tools, questions and workspaces.

use std::time::Duration;

use runtime_ports::{
    ApprovalDecision, CommandOutput, CommandRequest, EffectClass, InteractionRequest,
    InteractionResponse, ModelContent, SubagentOutcome, SubagentRequest, ToolDescriptor,
    ToolDirective, ToolKind, ToolReply, WorkspaceEntry,
};
use serde_json::json;

use crate::{Page, model::definition};

pub(crate) fn pages() -> Vec<Page> {
    vec![
        Page::of("tool_definition", vec![definition()]),
        Page::of("tool_descriptor", descriptors()),
        Page::of("tool_reply", replies()),
        Page::of("interaction_request", questions()),
        Page::of("interaction_response", answers()),
        Page::of("workspace_entry", entries()),
        Page::of("command_request", commands()),
        Page::of("command_output", vec![output()]),
        Page::of("subagent_request", vec![task()]),
        Page::of("subagent_outcome", vec![SubagentOutcome { answer: "4".into() }]),
    ]
}

fn descriptors() -> Vec<ToolDescriptor> {
    let cases = [
        (ToolKind::Function, EffectClass::ReadOnly),
        (ToolKind::Function, EffectClass::WorkspaceWrite),
        (ToolKind::Agent, EffectClass::Process),
        (ToolKind::BackgroundAgent, EffectClass::External),
    ];
    let describe = |(kind, effect)| ToolDescriptor {
        definition: definition(),
        kind,
        effect,
        idempotent: effect == EffectClass::ReadOnly,
        parallel: effect == EffectClass::ReadOnly,
        timeout: Duration::from_millis(1_500),
        output_limit_bytes: 65_536,
        version: "1".into(),
    };
    cases.map(describe).into()
}

fn replies() -> Vec<ToolReply> {
    let metadata = json!({ "lines": 2 }).as_object().cloned().unwrap_or_default();
    let writes = vec![("seen".into(), Some(json!(true))), ("old".into(), None)];
    vec![
        ToolReply::text("milk"),
        ToolReply { directive: ToolDirective::WaitUser, ..ToolReply::error("denied", "not now") },
        ToolReply {
            directive: ToolDirective::Finish,
            metadata,
            state_writes: writes,
            image: Some(ModelContent::text("in the place of a picture")),
            ..ToolReply::text("done")
        },
    ]
}

fn questions() -> Vec<InteractionRequest> {
    let approval = InteractionRequest::approval("a1", "run ls?", "digest");
    let lapsing = InteractionRequest { expires_at: Some(1_795_996_800_000), ..approval };
    vec![InteractionRequest::question("q1", "which colour?"), lapsing]
}

fn answers() -> Vec<InteractionResponse> {
    let denied = ApprovalDecision::Denied { reason: "too risky".into() };
    let decisions = [ApprovalDecision::Approved, ApprovalDecision::ApprovedForRun, denied];
    let decided = decisions.into_iter().map(InteractionResponse::decision);
    [InteractionResponse::text("blue")].into_iter().chain(decided).collect()
}

fn entries() -> Vec<WorkspaceEntry> {
    let entry = |path: &str, is_dir, size| WorkspaceEntry { path: path.into(), is_dir, size };
    vec![entry("a", true, None), entry("a/b.md", false, Some(11))]
}

fn commands() -> Vec<CommandRequest> {
    let command = |cwd| CommandRequest { command: "ls -l".into(), cwd };
    vec![command(None), command(Some("a".into()))]
}

fn output() -> CommandOutput {
    let (stdout, stderr) = ("b.md\n".into(), String::new());
    CommandOutput { exit_code: 137, stdout, stderr, truncated: true }
}

fn task() -> SubagentRequest {
    SubagentRequest { request_id: "t1".into(), prompt: "2*2".into(), max_model_turns: 5 }
}

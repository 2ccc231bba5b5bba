//! Decides whether the ports of an execution have their names, fields and argument orders.

use std::{collections::BTreeMap, fmt::Debug, sync::Arc, time::Duration};

use in_memory_fakes::FakeWorkspace;
use runtime_ports::{
    ApprovalDecision, CommandOutput, CommandRequest, CommitDisposition, ContextAuditDerivation,
    ContextAuditSession, ContextAuditSnapshot, ContextAuditStage, ContextDerivationKind,
    ContextSegment, ConversationMessage, ConversationSession, ExecutionDelegationLease,
    ExecutionSessionFactory, ExecutionSessions, GenerationOptions, ImageSource, InteractionKind,
    InteractionRequest, InteractionResponse, InteractionSession, ModelContent, ModelFinish,
    ModelInvocationAudit, ModelInvocationAuditState, ModelMessage, ModelRequest, ModelResponse,
    ModelRole, ModelSession, ModelToolDefinition, OperationContext, PortFailure, PortFailureKind,
    RequestMeter, ResolvedExecutionContext, ResourceSession, ResourceSnapshot,
    RuntimeInstanceResolver, SessionScope, SubagentOutcome, SubagentRequest, SubagentSession,
    TokenUsage, ToolSet, TraceSession, Transcript, WorkspaceEntry, WorkspaceSession,
};
use runtime_types::{
    CallerScope, ConversationId, CredentialHandle, DelegationLeaseRef, ExecutionId, OperationId,
    ProjectId, RequestAuthority, RuntimeInstanceId, SubjectId, TenantId, WorkspaceId,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{calls, fields, variants};

fields!(OperationContext {
    id: OperationId,
    execution_id: ExecutionId,
    parent: Option<OperationId>,
    deadline: Instant,
    cancellation: CancellationToken,
});
const _: fn(&OperationContext) -> Result<Duration, PortFailure> = OperationContext::remaining;

variants!(CommitDisposition { NotCommitted, Committed, Unknown });
variants!(PortFailureKind {
    Invalid,
    NotFound,
    Forbidden,
    Conflict,
    RateLimited,
    Timeout,
    Canceled,
    Unavailable,
    Protocol,
    Internal,
    ContextOverflow,
    OutputLimit,
});
fields!(PortFailure {
    kind: PortFailureKind,
    code: String,
    message: String,
    retryable: bool,
    commit: CommitDisposition,
    retry_after: Option<Duration>,
    attempts: Vec<RequestMeter>,
});
const _: [fn(PortFailureKind, &'static str, String) -> PortFailure; 5] = [
    PortFailure::new,
    PortFailure::not_sent,
    PortFailure::rejected,
    PortFailure::in_flight_unknown,
    PortFailure::committed,
];
const _: [fn() -> PortFailure; 2] = [PortFailure::timeout, PortFailure::canceled];

variants!(ModelContent {
    Text { text: String },
    ToolUse { id: String, name: String, arguments: Value },
    ToolResult { tool_use_id: String, name: String, content: String, failed: bool },
    Image { source: ImageSource },
    Reasoning { issuer: String, text: String, opaque: Value },
});
variants!(ModelRole { System, User, Assistant, Tool });
fields!(ModelMessage { role: ModelRole, content: Vec<ModelContent> });
const _: fn(ModelRole, &'static str) -> ModelMessage = ModelMessage::text;
fields!(ModelToolDefinition { name: String, description: String, input_schema: Value });
fields!(ModelRequest {
    invocation_id: Arc<str>,
    model: Arc<str>,
    messages: Transcript,
    tools: ToolSet,
    max_output_tokens: Option<u32>,
    options: Arc<GenerationOptions>,
});
variants!(ModelFinish { Stop, ToolCalls, Length, ContentFilter, Other });
const _: fn(ModelFinish) -> bool = ModelFinish::is_complete;
fields!(TokenUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cached_input_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
});
const NOTHING: TokenUsage = TokenUsage::zero();
const _: fn(&mut TokenUsage, &TokenUsage) = TokenUsage::add_assign;
fields!(ModelResponse {
    output: Vec<ModelContent>,
    finish: ModelFinish,
    usage: TokenUsage,
    cost_nano_usd: Option<u64>,
    attempts: Vec<RequestMeter>,
});
calls!(ModelSession.invoke(operation: &'a OperationContext, request: ModelRequest) -> ModelResponse);

fields!(ConversationMessage { role: ModelRole, text: String });
calls!(ConversationSession.load_recent(
    operation: &'a OperationContext,
    limit: usize,
) -> Vec<ConversationMessage>);
calls!(ConversationSession.append(
    operation: &'a OperationContext,
    messages: &'a [ConversationMessage],
) -> ());

variants!(ContextAuditStage { Original, Assembled, Compressed });
fields!(ContextAuditSnapshot {
    id: String,
    stage: ContextAuditStage,
    purpose: String,
    messages: Transcript,
    tools: ToolSet,
    protocol_overhead_tokens: u64,
    reserved_output_tokens: u64,
    estimated_tokens: u64,
    request_digest: String,
    segments: Vec<ContextSegment>,
    compared_with: Option<String>,
});
variants!(ContextDerivationKind { Assemble, Compress, Trim, Reorder });
fields!(ContextAuditDerivation {
    id: String,
    source_snapshot_id: String,
    target_snapshot_id: String,
    kind: ContextDerivationKind,
    input_tokens: u64,
    output_tokens: u64,
    input_items: usize,
    output_items: usize,
});
variants!(ModelInvocationAuditState { Prepared, Succeeded, Failed });
fields!(ModelInvocationAudit {
    id: String,
    request_snapshot_id: String,
    model: String,
    state: ModelInvocationAuditState,
    usage: TokenUsage,
    error_code: Option<String>,
});
calls!(ContextAuditSession.snapshot(
    operation: &'a OperationContext,
    snapshot: ContextAuditSnapshot,
) -> ());
calls!(ContextAuditSession.derivation(
    operation: &'a OperationContext,
    derivation: ContextAuditDerivation,
) -> ());
calls!(ContextAuditSession.model_invocation(
    operation: &'a OperationContext,
    invocation: ModelInvocationAudit,
) -> ());

fields!(WorkspaceEntry { path: String, is_dir: bool, size: Option<u64> });
fields!(CommandRequest { command: String, cwd: Option<String> });
fields!(CommandOutput { exit_code: i32, stdout: String, stderr: String, truncated: bool });
calls!(WorkspaceSession.describe(operation: &'a OperationContext) -> String);
calls!(WorkspaceSession.read(operation: &'a OperationContext, path: &'a str) -> Vec<u8>);
calls!(WorkspaceSession.write(
    operation: &'a OperationContext,
    path: &'a str,
    content: &'a [u8],
) -> ());
calls!(WorkspaceSession.list(
    operation: &'a OperationContext,
    path: &'a str,
) -> Vec<WorkspaceEntry>);
calls!(WorkspaceSession.search(
    operation: &'a OperationContext,
    path: &'a str,
    query: &'a str,
    limit: usize,
) -> Vec<String>);
calls!(WorkspaceSession.execute(
    operation: &'a OperationContext,
    request: CommandRequest,
) -> CommandOutput);

fields!(ResolvedExecutionContext {
    runtime_instance_id: RuntimeInstanceId,
    agent_id: String,
    runtime_type: String,
    model: String,
    workspace_id: WorkspaceId,
    package_id: String,
    package_version: String,
    package_digest: Option<String>,
    metadata: BTreeMap<String, String>,
});
calls!(RuntimeInstanceResolver.resolve(
    operation: &'a OperationContext,
    caller: &'a CallerScope,
    id: &'a RuntimeInstanceId,
) -> ResolvedExecutionContext);

calls!(TraceSession.append(
    operation: &'a OperationContext,
    event_type: &'a str,
    payload: Value,
) -> ());

fields!(InteractionRequest {
    request_id: String,
    prompt: String,
    kind: InteractionKind,
    digest: Option<String>,
    expires_at: Option<u64>,
});
fields!(InteractionResponse { text: String, decision: Option<ApprovalDecision> });
calls!(InteractionSession.prepare(
    operation: &'a OperationContext,
    request: InteractionRequest,
) -> ());
calls!(InteractionSession.wait(
    operation: &'a OperationContext,
    request_id: &'a str,
) -> InteractionResponse);
calls!(InteractionSession.request(
    operation: &'a OperationContext,
    request: InteractionRequest,
) -> InteractionResponse);

fields!(SubagentRequest { request_id: String, prompt: String, max_model_turns: usize });
fields!(SubagentOutcome { answer: String });
calls!(SubagentSession.execute(
    operation: &'a OperationContext,
    request: SubagentRequest,
) -> SubagentOutcome);

fields!(ResourceSnapshot {
    instructions: Vec<String>,
    skills: BTreeMap<String, String>,
    digest: String,
});
calls!(ResourceSession.load(operation: &'a OperationContext) -> ResourceSnapshot);

fields!(SessionScope {
    execution_id: ExecutionId,
    conversation_id: Option<ConversationId>,
    resolved: ResolvedExecutionContext,
});
fields!(ExecutionDelegationLease {
    lease_ref: DelegationLeaseRef,
    expires_at_seconds: u64,
    revision: u64,
});
fields!(ExecutionSessions {
    model: Arc<dyn ModelSession>,
    conversation: Arc<dyn ConversationSession>,
    context_audit: Arc<dyn ContextAuditSession>,
    workspace: Arc<dyn WorkspaceSession>,
    trace: Arc<dyn TraceSession>,
    interaction: Arc<dyn InteractionSession>,
    subagent: Arc<dyn SubagentSession>,
    resources: Arc<dyn ResourceSession>,
});
calls!(ExecutionSessionFactory.establish_delegation(
    operation: &'a OperationContext,
    authority: &'a RequestAuthority,
    scope: &'a SessionScope,
) -> ExecutionDelegationLease);
calls!(ExecutionSessionFactory.create(
    operation: &'a OperationContext,
    caller: &'a CallerScope,
    delegation: &'a ExecutionDelegationLease,
    scope: &'a SessionScope,
) -> ExecutionSessions);
calls!(ExecutionSessionFactory.renew_delegation(
    operation: &'a OperationContext,
    caller: &'a CallerScope,
    delegation: &'a ExecutionDelegationLease,
) -> ExecutionDelegationLease);
calls!(ExecutionSessionFactory.revoke_delegation(
    operation: &'a OperationContext,
    caller: &'a CallerScope,
    delegation: &'a ExecutionDelegationLease,
) -> ());
calls!(ExecutionSessionFactory.submit_input(
    operation: &'a OperationContext,
    caller: &'a CallerScope,
    execution_id: &'a ExecutionId,
    operation_id: &'a OperationId,
    request_id: &'a str,
    response: InteractionResponse,
) -> ());

fields!(RequestAuthority { caller: CallerScope, credential: CredentialHandle });
const _: fn(CallerScope) = |CallerScope { subject, tenant_id, project_id, capabilities }| {
    let _: SubjectId = subject;
    let _: (Option<TenantId>, Option<ProjectId>) = (tenant_id, project_id);
    drop(capabilities);
};
const _: fn(&CredentialHandle) -> &str = CredentialHandle::expose;
const _: fn(&DelegationLeaseRef) -> &str = DelegationLeaseRef::expose;

const fn shown<T: Debug + Clone>() {}
const fn compared<T: Debug + Clone + PartialEq>() {}
const fn small<T: Debug + Copy + Eq>() {}
const fn stored<T: Debug + Clone + PartialEq + Serialize + DeserializeOwned>() {}
const fn port<T: ?Sized + Send + Sync>() {}

const _: () = {
    shown::<OperationContext>();
    shown::<PortFailure>();
    small::<CommitDisposition>();
    small::<PortFailureKind>();
    stored::<ModelContent>();
    small::<ModelRole>();
    stored::<ModelRole>();
    stored::<ModelMessage>();
    stored::<ModelToolDefinition>();
    stored::<ModelRequest>();
    small::<ModelFinish>();
    stored::<ModelFinish>();
    stored::<TokenUsage>();
    stored::<ModelResponse>();
    compared::<ConversationMessage>();
    small::<ContextAuditStage>();
    shown::<ContextAuditSnapshot>();
    small::<ContextDerivationKind>();
    shown::<ContextAuditDerivation>();
    small::<ModelInvocationAuditState>();
    shown::<ModelInvocationAudit>();
    compared::<WorkspaceEntry>();
    compared::<CommandRequest>();
    compared::<CommandOutput>();
    shown::<ResolvedExecutionContext>();
    compared::<InteractionRequest>();
    compared::<InteractionResponse>();
    shown::<SubagentRequest>();
    shown::<SubagentOutcome>();
    shown::<ResourceSnapshot>();
    shown::<SessionScope>();
    compared::<ExecutionDelegationLease>();
    port::<dyn ModelSession>();
    port::<dyn ConversationSession>();
    port::<dyn ContextAuditSession>();
    port::<dyn WorkspaceSession>();
    port::<dyn RuntimeInstanceResolver>();
    port::<dyn TraceSession>();
    port::<dyn InteractionSession>();
    port::<dyn SubagentSession>();
    port::<dyn ResourceSession>();
    port::<dyn ExecutionSessionFactory>();
};

fn told(failure: &impl std::error::Error) -> String {
    failure.to_string()
}

#[test]
fn the_two_failures_without_a_request_keep_their_words() {
    assert_eq!(told(&PortFailure::timeout()), "DEADLINE_EXCEEDED: operation deadline exceeded");
    assert_eq!(told(&PortFailure::canceled()), "CANCELED: operation canceled");
    assert_eq!(NOTHING.input_tokens.zip(NOTHING.output_tokens), Some((0, 0)));
}

/// Two arguments of one type: only a call shows which is which.
#[tokio::test]
async fn a_search_names_the_place_before_the_text() {
    let workspace =
        FakeWorkspace::new([]).with_file("notes/a.md", "red").with_file("other/red.md", "red");
    let workspace: &dyn WorkspaceSession = &workspace;
    let (id, run) = (OperationId::new("search").unwrap(), ExecutionId::new("run").unwrap());
    let operation = OperationContext::root(id, run, Duration::from_secs(1));
    let found = workspace.search(&operation, "notes", "red", 9).await.unwrap();
    assert_eq!(found, ["notes/a.md:1:red"]);
}

//! Decides whether models, turns, tools and stores have their names, fields and argument orders.

use std::{ops::Range, pin::Pin, sync::Arc, time::Duration};

use runtime_ports::{
    AgentContinuation, AgentProvider, AgentTurn, AgentTurnEvent, AgentTurnRequest, ArtifactDigest,
    ArtifactStore, DeltaSink, EffectClass, ExecutionJournal, FencingToken, Intelligence,
    InteractionSession, JournalRecord, JournalRecordKind, Metering, ModelContent, ModelContext,
    ModelDelta, ModelProfile, ModelRequest, ModelResponse, ModelSession, ModelToolDefinition,
    OperationContext, PortFailure, Price, ReceiptStore, ReceiptTotals, RequestMeter,
    ResolvedAgentModel, ResourceSession, TokenUsage, Tool, ToolDescriptor, ToolDirective,
    ToolInvocation, ToolKind, ToolReply, ToolResult, ToolWorld, TraceReader, TraceRecord, TurnEnd,
    TurnFailure, TurnStart, UsageReceipt, UtcDay, WorkspaceSession,
};
use runtime_types::ExecutionId;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{Answer, calls, fields, variants};

const _: fn(ModelDelta<'_>) = |delta| match delta {
    ModelDelta::Text(text) | ModelDelta::Reasoning(text) => _ = text.len(),
    ModelDelta::ToolCall { index, id, name } => _ = (index, id.len(), name.len()),
    ModelDelta::ToolArguments { index, fragment } => _ = (index, fragment.len()),
    ModelDelta::Restarted => {}
};
const _: fn(&dyn DeltaSink, ModelDelta<'_>) = |sink, delta| sink.delta(delta);
calls!(ModelSession.invoke_streaming(
    operation: &'a OperationContext,
    request: ModelRequest,
    sink: &'a dyn DeltaSink,
) -> ModelResponse);
calls!(ModelSession.profile(operation: &'a OperationContext, model: &'a str) -> ModelProfile);
fields!(ModelProfile {
    context_window_tokens: u64,
    max_input_tokens: u64,
    max_output_tokens: Option<u64>,
    images: bool,
    price: Option<Price>,
});
fields!(Price {
    input: u64,
    cached_input: Option<u64>,
    cache_write: Option<u64>,
    output: u64,
});

fields!(AgentContinuation { provider: AgentProvider, provider_model: String, thread_id: String });
fields!(TurnStart {
    user_id: String,
    operation_id: Uuid,
    parent_operation_id: Option<Uuid>,
    continuation: Option<AgentContinuation>,
    request: AgentTurnRequest,
});
fields!(AgentTurnRequest {
    model: String,
    reasoning_effort: String,
    input: String,
    tools: Vec<ModelToolDefinition>,
    timeout: Option<Duration>,
    ephemeral: bool,
    max_requests: u32,
});
fields!(ResolvedAgentModel {
    requested_model: String,
    provider_model: String,
    provider: AgentProvider,
    context_window_tokens: u64,
    max_input_tokens: u64,
});
fields!(ModelContext {
    input: String,
    provider: AgentProvider,
    model: String,
    reasoning_effort: String,
    instructions: Option<String>,
    tools: Vec<ModelToolDefinition>,
});
fields!(ToolResult { success: bool, text: String });
fields!(TurnFailure { failure: PortFailure, receipt: Option<Box<UsageReceipt>> });
variants!(AgentTurnEvent {
    TransportInput(Value),
    ModelContextSubmitted(ModelContext),
    TextDelta(String),
    ReasoningDelta(String),
    UsageUpdated(TokenUsage),
    ToolCall { call_id: String, tool: String, arguments: Value },
    Completed {
        answer: String,
        usage: Option<TokenUsage>,
        thread_id: Option<String>,
        turn_id: Option<String>,
    },
});

/// What a call of a turn gives.
type Told<'a, T> = Pin<Box<dyn Future<Output = Result<T, TurnFailure>> + Send + 'a>>;

calls!(Intelligence.resolve_agent_model(requested: &'a str) -> ResolvedAgentModel);
calls!(Intelligence.cancel(operation_id: Uuid) -> bool);
const _: for<'a> fn(&'a dyn Intelligence, TurnStart) -> Told<'a, Box<dyn AgentTurn>> =
    |port, start| port.start_agent_turn(start);
const _: for<'a> fn(&'a mut dyn AgentTurn) -> Told<'a, Option<AgentTurnEvent>> =
    |turn| turn.next_event();
const _: for<'a> fn(&'a mut dyn AgentTurn, &'a str, ToolResult) -> Answer<'a, ()> =
    |turn, call_id, result| turn.respond(call_id, result);
const _: for<'a> fn(&'a mut dyn AgentTurn) -> Answer<'a, UsageReceipt> =
    |turn| turn.finish_unavailable();
const _: fn(&dyn AgentTurn) -> Option<&UsageReceipt> = |turn| turn.receipt();
const _: fn(&dyn AgentTurn) -> Option<&AgentContinuation> = |turn| turn.continuation();

variants!(Metering { Tokens(TokenUsage), DurationSeconds(f64), Unavailable });
variants!(TurnEnd { Completed, Failed, TimedOut, Cancelled, Interrupted });
fields!(RequestMeter {
    provider_request_id: Option<String>,
    metering: Metering,
    end: TurnEnd,
    cost_nano_usd: Option<u64>,
});
fields!(UsageReceipt {
    version: u16,
    operation_id: Uuid,
    parent_operation_id: Option<Uuid>,
    user_id: String,
    requested_model: String,
    provider: AgentProvider,
    provider_model: String,
    thread_id: Option<String>,
    started_at_ms: u64,
    ended_at_ms: u64,
    end: TurnEnd,
    requests: Vec<RequestMeter>,
    metering: Metering,
    is_lower_bound: bool,
    cost_nano_usd: Option<u64>,
    losses: Vec<String>,
});

variants!(ToolKind { Function, Agent, BackgroundAgent });
variants!(EffectClass { ReadOnly, WorkspaceWrite, Process, External });
fields!(ToolDescriptor {
    definition: ModelToolDefinition,
    kind: ToolKind,
    effect: EffectClass,
    idempotent: bool,
    parallel: bool,
    timeout: Duration,
    output_limit_bytes: usize,
    version: String,
});
fields!(ToolInvocation {
    call_id: Arc<str>,
    idempotency_key: Arc<str>,
    arguments: Value,
    shared_state: Arc<Map<String, Value>>,
    metadata: Arc<Map<String, Value>>,
    cycle: u32,
});
fields!(ToolReply {
    content: String,
    error_code: Option<String>,
    directive: ToolDirective,
    metadata: Map<String, Value>,
    state_writes: Vec<(String, Option<Value>)>,
    image: Option<ModelContent>,
});
fields!(ToolWorld {
    workspace: Arc<dyn WorkspaceSession>,
    interaction: Arc<dyn InteractionSession>,
    resources: Arc<dyn ResourceSession>,
    artifacts: Arc<dyn ArtifactStore>,
});
const _: fn(&dyn Tool) -> &ToolDescriptor = |tool| tool.descriptor();
calls!(Tool.invoke(
    operation: &'a OperationContext,
    world: &'a ToolWorld,
    call: ToolInvocation,
) -> ToolReply);

calls!(ReceiptStore.open(operation: &'a OperationContext, opened: UsageReceipt) -> ());
calls!(ReceiptStore.note_request(
    operation: &'a OperationContext,
    turn: Uuid,
    ordinal: u32,
    meter: RequestMeter,
) -> ());
calls!(ReceiptStore.settle(operation: &'a OperationContext, receipt: UsageReceipt) -> ());
calls!(ReceiptStore.unsettled(operation: &'a OperationContext) -> Vec<UsageReceipt>);
calls!(ReceiptStore.list(
    operation: &'a OperationContext,
    after: Option<Uuid>,
    limit: usize,
) -> Vec<UsageReceipt>);
calls!(ReceiptStore.totals(
    operation: &'a OperationContext,
    utc_day: UtcDay,
) -> Vec<ReceiptTotals>);

variants!(JournalRecordKind { Input, Intent, Outcome, Terminal });
calls!(ExecutionJournal.acquire(
    operation: &'a OperationContext,
    run: &'a ExecutionId,
    holder: &'a str,
    ttl: Duration,
) -> FencingToken);
calls!(ExecutionJournal.append(
    operation: &'a OperationContext,
    run: &'a ExecutionId,
    fence: FencingToken,
    expected: u64,
    records: &'a [JournalRecord],
) -> ());
calls!(ExecutionJournal.read(
    operation: &'a OperationContext,
    run: &'a ExecutionId,
    from: u64,
    limit: usize,
) -> Vec<JournalRecord>);
calls!(ArtifactStore.put(operation: &'a OperationContext, bytes: &'a [u8]) -> ArtifactDigest);
calls!(ArtifactStore.read(
    operation: &'a OperationContext,
    digest: &'a ArtifactDigest,
    range: Range<u64>,
) -> Vec<u8>);
calls!(TraceReader.read(
    operation: &'a OperationContext,
    run: &'a ExecutionId,
    after_sequence: u64,
    limit: usize,
) -> Vec<TraceRecord>);

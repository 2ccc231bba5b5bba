//! The provider-neutral traits that an agent needs of the world, and the values that cross them.
//!
//! Knows the contract of each port: its signature, its failures, what a cancelled call leaves
//! behind. Refuses to know any provider, wire format, database, file system or user interface, and
//! takes no decision that belongs to the kernel.
//!
//! | port | what it is |
//! |---|---|
//! | [`ModelSession`] | one model call, streamed or not |
//! | [`Intelligence`], [`AgentTurn`] | an interactive provider turn with tool calls |
//! | [`ConversationSession`] | recent messages of a conversation |
//! | [`ContextAuditSession`] | what was sent to a model, and how it was derived |
//! | [`WorkspaceSession`] | files and commands of one workspace |
//! | [`TraceSession`], [`TraceReader`] | events of a run |
//! | [`InteractionSession`] | questions to a human, and the answers |
//! | [`SubagentSession`] | one delegated task |
//! | [`ResourceSession`] | instructions and skills |
//! | [`RuntimeInstanceResolver`], [`ExecutionSessionFactory`] | who runs, with what authority |
//! | [`Tool`] | something that a model may ask for |
//! | [`ReceiptStore`] | what every turn cost, whatever became of it |
//! | [`ExecutionJournal`] | intents and outcomes, to resume from |
//! | [`ArtifactStore`] | large results by digest |
//!
//! # Contract of every port
//! - Every call takes an [`OperationContext`] and returns before its deadline, or soon after its
//!   cancellation, with a failure. ([`Intelligence`] and [`AgentTurn`] name operations by UUID.)
//! - Every [`PortFailure`] says truthfully whether the effect was committed.
//! - Dropping a future is allowed at any await and leaks nothing; what it leaves behind is stated
//!   in the `# Cancellation` section of the port.

mod artifact;
mod audit;
mod content;
mod conversation;
mod delegation;
mod digest;
mod estimate;
mod execution;
mod failure;
mod intelligence;
mod interaction;
mod journal;
mod kept_message;
mod model;
mod operation;
mod options;
mod receipt;
mod receipt_store;
mod request_limit;
mod resource;
pub mod state_writes;
mod subagent;
mod tool;
mod tool_set;
mod trace;
mod transcript;
mod transcript_entry;
mod turn;
mod usage;
mod workspace;

pub use artifact::{ArtifactDigest, ArtifactStore};
pub use audit::{
    ContextAuditDerivation, ContextAuditSession, ContextAuditSnapshot, ContextAuditStage,
    ContextDerivationKind, ContextSegment, ContextSegmentKind, ModelInvocationAudit,
    ModelInvocationAuditState, SegmentChange,
};
pub use content::{ImageSource, ModelContent, ModelMessage, ModelRole};
pub use conversation::{ConversationMessage, ConversationSession};
pub use delegation::{ExecutionDelegationLease, ExecutionSessionFactory};
pub use digest::{Digest, InvalidDigest};
pub use estimate::{IMAGE_TOKENS, MESSAGE_OVERHEAD_TOKENS, estimate_text_tokens};
pub use execution::{
    ExecutionSessions, ResolvedExecutionContext, RuntimeInstanceResolver, SessionScope,
};
pub use failure::{CommitDisposition, PortFailure, PortFailureKind};
pub use intelligence::{
    AgentContinuation, AgentProvider, AgentTurnRequest, DEFAULT_MAX_REQUESTS, Intelligence,
    ResolvedAgentModel, TurnStart,
};
pub use interaction::{
    ApprovalDecision, InteractionKind, InteractionRequest, InteractionResponse, InteractionSession,
};
pub use journal::{ExecutionJournal, FencingToken, JournalRecord, JournalRecordKind};
pub use model::{
    DeltaSink, DiscardDeltas, ModelDelta, ModelFinish, ModelProfile, ModelRequest, ModelResponse,
    ModelSession, Price,
};
pub use operation::{Interruption, OperationContext};
pub use options::{GenerationOptions, ResponseFormat, ToolChoice};
pub use receipt::{Metering, RequestMeter, TurnEnd, UsageReceipt};
pub use receipt_store::{InvalidUtcDay, ReceiptStore, ReceiptTotals, UtcDay};
pub use request_limit::{limit_requests, most_requests};
pub use resource::{ResourceSession, ResourceSnapshot};
pub use subagent::{SubagentOutcome, SubagentRequest, SubagentSession};
pub use tool::{
    EffectClass, Tool, ToolDescriptor, ToolDirective, ToolInvocation, ToolKind, ToolReply,
    ToolWorld,
};
pub use tool_set::{ModelToolDefinition, ToolSet};
pub use trace::{TraceReader, TraceRecord, TraceSession};
pub use transcript::Transcript;
pub use transcript_entry::{EncodingKey, TranscriptEntry};
pub use turn::{AgentTurn, AgentTurnEvent, ModelContext, ToolResult, TurnFailure};
pub use usage::{CumulativeUsage, TokenUsage, UsageTotal};
pub use workspace::{CommandOutput, CommandRequest, WorkspaceEntry, WorkspaceSession};

#[cfg(test)]
mod tests;

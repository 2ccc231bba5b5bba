//! Decides what a subagent run tells its host for the audit.
//!
//! Knows nothing about where events are kept. Invariant: results are recorded exactly as the tool
//! gave them, and never rewritten.

use runtime_ports::{AgentProvider, TokenUsage, UsageReceipt};
use serde_json::Value;
use uuid::Uuid;

/// One event of a subagent run, in the order in which it happened: `Started`,
/// `InferenceSubmitted`, each `ToolCall` with its `ToolResult`, `ProviderReceipt`, `Completed`.
#[derive(Debug, Clone, PartialEq)]
pub enum AuditEvent {
    /// The run begins; nothing has reached a provider.
    Started {
        /// The operation that asked for the run.
        parent_operation_id: Uuid,
        /// The model as it was asked for.
        model: String,
        /// The model in the provider's words.
        provider_model: String,
        /// Who serves it.
        provider: AgentProvider,
        /// Tokens of prompt and answer together.
        context_window_tokens: u64,
        /// Most tokens of prompt.
        max_input_tokens: u64,
        /// The context sections, as given.
        context: Vec<String>,
        /// The task, as given.
        task: String,
        /// [`RunRequest::start_metadata`](crate::RunRequest::start_metadata), as given.
        host: Value,
    },
    /// The input is about to be sent.
    InferenceSubmitted {
        /// The operation that asked for the run.
        parent_operation_id: Uuid,
        /// Always 1: a run is one turn.
        round: u64,
        /// SHA-256 of the input's UTF-8, in lowercase hex.
        manifest_hash: String,
        /// Tokens that the input is taken for, the protocol's reserve included.
        estimated_input_tokens: u64,
    },
    /// A valid tool call, before it reaches the host.
    ToolCall {
        /// The operation that asked for the run.
        parent_operation_id: Uuid,
        /// Name of the tool.
        name: String,
        /// Its arguments.
        arguments: Value,
    },
    /// What the call came to.
    ToolResult {
        /// The operation that asked for the run.
        parent_operation_id: Uuid,
        /// Name of the tool.
        name: String,
        /// Whether the tool succeeded.
        ok: bool,
        /// Whether the result entered the context; when not, the model was told of a failure.
        projection_accepted: bool,
        /// The result, exactly.
        result: String,
    },
    /// The turn is over, and this is its receipt. Once for every turn that started.
    ProviderReceipt {
        /// The operation that asked for the run.
        parent_operation_id: Uuid,
        /// Always 1.
        round: u64,
        /// As in `InferenceSubmitted`.
        manifest_hash: String,
        /// The last usage that the turn reported; `None` when it reported none.
        usage: Option<TokenUsage>,
        /// The receipt.
        receipt: Box<UsageReceipt>,
    },
    /// The run succeeded. The last event, and only then.
    Completed {
        /// The operation that asked for the run.
        parent_operation_id: Uuid,
        /// The model as it was asked for.
        model: String,
        /// The answer that the run returns.
        response: String,
    },
}

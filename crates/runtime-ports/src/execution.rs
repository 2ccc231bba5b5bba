//! Decides what one execution is made of: who runs, where, and over which ports.
//!
//! Knows nothing about how instances are configured or ports are made.

use std::{collections::BTreeMap, fmt, sync::Arc};

use async_trait::async_trait;
use runtime_types::{CallerScope, ConversationId, ExecutionId, RuntimeInstanceId, WorkspaceId};
use serde::{Deserialize, Serialize};

use crate::{
    ContextAuditSession, ConversationSession, InteractionSession, ModelSession, OperationContext,
    PortFailure, ResourceSession, SubagentSession, TraceSession, WorkspaceSession,
};

/// What a runtime instance stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedExecutionContext {
    /// The instance that was resolved.
    pub runtime_instance_id: RuntimeInstanceId,
    /// The agent that it runs.
    pub agent_id: String,
    /// The kind of runtime that it asks for.
    pub runtime_type: String,
    /// The model to use.
    pub model: String,
    /// The workspace to use.
    pub workspace_id: WorkspaceId,
    /// The package that defines the agent.
    pub package_id: String,
    /// Its version.
    pub package_version: String,
    /// Its digest, if it was published with one.
    pub package_digest: Option<String>,
    /// What the service keeps with it; never read as configuration.
    pub metadata: BTreeMap<String, String>,
}

/// Finds out what a runtime instance stands for.
///
/// # Contract
/// An instance that the caller may not see is `NotFound`, like one that does not exist.
///
/// # Cancellation
/// Reads only; nothing is left behind.
#[async_trait]
pub trait RuntimeInstanceResolver: Send + Sync {
    /// Resolves `id` for `caller`.
    async fn resolve(
        &self,
        operation: &OperationContext,
        caller: &CallerScope,
        id: &RuntimeInstanceId,
    ) -> Result<ResolvedExecutionContext, PortFailure>;
}

/// What the sessions of an execution are made for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionScope {
    /// The execution.
    pub execution_id: ExecutionId,
    /// The conversation that it belongs to, if any.
    pub conversation_id: Option<ConversationId>,
    /// What it runs.
    pub resolved: ResolvedExecutionContext,
}

/// The ports of one execution.
#[derive(Clone)]
pub struct ExecutionSessions {
    /// The model.
    pub model: Arc<dyn ModelSession>,
    /// The conversation.
    pub conversation: Arc<dyn ConversationSession>,
    /// The audit of contexts.
    pub context_audit: Arc<dyn ContextAuditSession>,
    /// Files and commands.
    pub workspace: Arc<dyn WorkspaceSession>,
    /// The trace of events.
    pub trace: Arc<dyn TraceSession>,
    /// Questions to a human.
    pub interaction: Arc<dyn InteractionSession>,
    /// Delegated tasks.
    pub subagent: Arc<dyn SubagentSession>,
    /// Instructions and skills.
    pub resources: Arc<dyn ResourceSession>,
}

impl fmt::Debug for ExecutionSessions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ExecutionSessions").finish_non_exhaustive()
    }
}

//! Decides what an agent is made of when it runs.
//!
//! Knows the ports and callbacks; refuses to know what they are for.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use runtime_decision::{ApprovalRequest, Plan};
use runtime_ports::{
    ContextAuditSession, InteractionSession, ModelSession, ResourceSession, Tool, ToolWorld,
    TraceSession,
};

use super::{
    ApprovalProvider, Clock, CycleInputProvider, Hook, InterruptionProvider, MemoryProvider,
    sub_agent::SubAgentParts,
};
use crate::argument_schema::ArgumentSchema;

/// What words a human is asked in.
pub(super) type ApprovalPrompt = Arc<dyn Fn(&ApprovalRequest) -> String + Send + Sync>;

/// What an agent is made of.
pub(super) struct Parts {
    pub(super) plan: Arc<Plan>,
    pub(super) model: Arc<dyn ModelSession>,
    pub(super) tools: BTreeMap<String, Registered>,
    /// Of the tools of the engine's own that delegate.
    pub(super) delegation_schemas: BTreeMap<String, ArgumentSchema>,
    pub(super) sub_agents: SubAgentParts,
    pub(super) world: ToolWorld,
    /// The same, if it was given; else it is closed.
    pub(super) own_world: Option<ToolWorld>,
    pub(super) resources: Option<Arc<dyn ResourceSession>>,
    /// What answers are held against.
    pub(super) answer: Option<ArgumentSchema>,
    pub(super) hooks: Vec<Arc<dyn Hook>>,
    pub(super) approvals: Option<Arc<dyn ApprovalProvider>>,
    pub(super) cycle_inputs: Option<Arc<dyn CycleInputProvider>>,
    pub(super) interruptions: Option<Arc<dyn InterruptionProvider>>,
    pub(super) interaction: Option<Arc<dyn InteractionSession>>,
    pub(super) approval_prompt: Option<ApprovalPrompt>,
    pub(super) memory: Vec<Arc<dyn MemoryProvider>>,
    /// What sums up, when it is not the model itself.
    pub(super) summarizer: Option<Arc<dyn ModelSession>>,
    pub(super) trace: Option<Arc<dyn TraceSession>>,
    pub(super) context_audit: Option<Arc<dyn ContextAuditSession>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) patience: Patience,
}

impl Parts {
    /// Name of the tool with which the model reads what was kept of a long output, if there is one.
    pub(super) fn artifact_reader(&self) -> Option<&str> {
        let reader = self.plan.definition().context.artifact_reader.as_deref();
        reader.filter(|reader| self.tools.contains_key(*reader))
    }
}

/// A tool with its compiled schema.
#[derive(Clone)]
pub(super) struct Registered {
    pub(super) tool: Arc<dyn Tool>,
    pub(super) schema: ArgumentSchema,
}

/// How long the driver waits for others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// For what was told to stop.
    pub(super) grace: Duration,
    /// For one model call.
    pub(super) model: Duration,
    /// For one hook or provider of messages.
    pub(super) callback: Duration,
}

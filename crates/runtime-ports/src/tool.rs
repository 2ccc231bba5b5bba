//! Decides what a tool declares, gets and gives back.
//!
//! Knows nothing about loops, policies or prompts. Invariant: what a tool can do to the world is
//! declared before it is called.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    ArtifactStore, InteractionSession, ModelContent, ModelToolDefinition, OperationContext,
    PortFailure, ResourceSession, WorkspaceSession,
};

/// What serves a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Code.
    Function,
    /// A sub-agent; the caller waits.
    Agent,
    /// A sub-agent; the caller goes on.
    BackgroundAgent,
}

/// What a call may do to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectClass {
    /// Nothing.
    ReadOnly,
    /// Change files of the workspace.
    WorkspaceWrite,
    /// Run a process.
    Process,
    /// Reach anything else.
    External,
}

/// What a tool declares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDescriptor {
    /// What a model is told.
    pub definition: ModelToolDefinition,
    /// What serves a call.
    pub kind: ToolKind,
    /// What a call may do to the world.
    pub effect: EffectClass,
    /// Whether two calls under one idempotency key have the effect of one.
    pub idempotent: bool,
    /// Whether it may run beside other parallel tools; never true for one that writes state or
    /// gives directives.
    pub parallel: bool,
    /// Most time that a call may take.
    pub timeout: Duration,
    /// Most bytes of `content` that a model is shown.
    pub output_limit_bytes: usize,
    /// Changes whenever the behaviour does.
    pub version: String,
}

/// One call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolInvocation {
    /// Identity of the call within its run.
    pub call_id: Arc<str>,
    /// The same when the same call is made again.
    pub idempotency_key: Arc<str>,
    /// Arguments; they follow the declared schema.
    pub arguments: Value,
    /// The run's shared state as it was when the call's group began.
    pub shared_state: Arc<Map<String, Value>>,
    /// What the host said about the run and the task; never configuration of the tool.
    pub metadata: Arc<Map<String, Value>>,
    /// The cycle or round that the call belongs to, from 1.
    pub cycle: u32,
}

/// What the run shall do after a result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolDirective {
    /// Go on.
    #[default]
    Continue,
    /// Stop and wait for a human.
    WaitUser,
    /// Stop: the task is done.
    Finish,
}

/// What a tool gives back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolReply {
    /// What the model is told.
    pub content: String,
    /// Code of the error when the call failed in a way that the model should know.
    pub error_code: Option<String>,
    /// What the run shall do next.
    pub directive: ToolDirective,
    /// Facts for the host, not for the model.
    pub metadata: Map<String, Value>,
    /// Changes of the shared state, in order; `None` removes a key. As JSON, `[key, value]`;
    /// `[key, null]` removes, and `[key, null, null]` sets to null.
    #[serde(with = "crate::state_writes")]
    pub state_writes: Vec<(String, Option<Value>)>,
    /// A picture for models that take pictures; any other content is left out.
    pub image: Option<ModelContent>,
}

impl ToolReply {
    /// A success.
    pub fn text(content: impl Into<String>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }

    /// A failure that the model is told about.
    pub fn error(code: impl Into<String>, content: impl Into<String>) -> Self {
        Self { error_code: Some(code.into()), ..Self::text(content) }
    }
}

/// The ports that tools may use.
#[derive(Clone)]
pub struct ToolWorld {
    /// Files and commands.
    pub workspace: Arc<dyn WorkspaceSession>,
    /// Questions to a human.
    pub interaction: Arc<dyn InteractionSession>,
    /// Instructions and skills.
    pub resources: Arc<dyn ResourceSession>,
    /// Large results.
    pub artifacts: Arc<dyn ArtifactStore>,
}

impl fmt::Debug for ToolWorld {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ToolWorld").finish_non_exhaustive()
    }
}

/// Something that a model may ask for.
///
/// # Contract
/// - The descriptor never changes.
/// - A tool that may write shared state or give a directive does not declare itself parallel.
/// - What the model did wrong is a [`ToolReply::error`]; what the world did wrong is a failure with
///   a truthful commit disposition.
///
/// # Cancellation
/// Returns soon after cancellation. What a dropped call has done is unknown.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the tool declares.
    fn descriptor(&self) -> &ToolDescriptor;

    /// Serves one call.
    async fn invoke(
        &self,
        operation: &OperationContext,
        world: &ToolWorld,
        call: ToolInvocation,
    ) -> Result<ToolReply, PortFailure>;
}

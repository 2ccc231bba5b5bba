//! Decides how a hook is called.
//!
//! Knows nothing about what hooks are for. Invariant: a hook sees values and gives edits of the
//! same place; it can neither keep the run nor change it in any other way.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use runtime_decision::{
    Call, CallEdits, CallResult, Edit, HookCall, HookDeclaration, HookSubject, HookVerdict,
    RequestEdits, ResultEdits, RunIdentity,
};
use runtime_ports::{
    ModelContent, ModelMessage, ModelResponse, OperationContext, ToolSet, Transcript,
};
use serde_json::{Map, Value};

use super::callback::{CallbackError, RunContext, Unanswered, answered};

/// Where a hook is called.
#[derive(Debug, Clone)]
pub struct HookContext {
    /// Deadline and cancellation of this call; to be passed on to every port.
    pub operation: OperationContext,
    /// The names of the run.
    pub identity: Arc<RunIdentity>,
    /// The cycle, from 1.
    pub cycle: u32,
    /// What the tools share.
    pub shared_state: Arc<Map<String, Value>>,
    /// What the host said about the agent and the task.
    pub metadata: Arc<Map<String, Value>>,
}

/// Code of the embedder that looks at what a cycle sends and gets, and may edit it. The methods
/// are called at the points that the declaration names, and do nothing unless they are written.
///
/// # Contract
/// - The declaration never changes.
/// - A hook that fails or panics fails the run; what it must not stop, it must not fail on.
/// - Hooks run one after the other, in the order of their registration; each sees what the hooks
///   before it left.
///
/// # Cancellation
/// The future is dropped when the run needs its answer no more, or when the hook goes on after it
/// was told to stop. A hook that is not `repeatable` then fails the run if the run goes on later:
/// nobody knows what it did. One that stops by itself returns [`CallbackError::Interrupted`].
///
/// # Examples
/// A hook that puts a note behind the messages of each request:
/// ```
/// # use async_trait::async_trait;
/// # use runtime_decision::{Edit, HookDeclaration, HookPoint, RequestEdits};
/// # use runtime_kernel::engine::{CallbackError, Hook, HookContext};
/// # use runtime_ports::{ModelMessage, ModelRole, ToolSet, Transcript};
/// struct Note(String);
///
/// #[async_trait]
/// impl Hook for Note {
///     fn declaration(&self) -> HookDeclaration {
///         let points = vec![HookPoint::BeforeLlm];
///         HookDeclaration { name: "note".into(), points, repeatable: true }
///     }
///
///     async fn before_llm(
///         &self,
///         _at: &HookContext,
///         messages: &Transcript,
///         _tools: &ToolSet,
///     ) -> Result<RequestEdits, CallbackError> {
///         let item = ModelMessage::text(ModelRole::User, &*self.0);
///         let messages = vec![Edit::Insert { at: messages.len(), item }];
///         Ok(RequestEdits { messages, hide_tools: Vec::new() })
///     }
/// }
/// ```
#[async_trait]
pub trait Hook: Send + Sync {
    /// Its name, where it wants to run, and whether it may run again.
    fn declaration(&self) -> HookDeclaration;

    /// Edits the messages that would be sent, before they are made fit.
    async fn before_memory_compact(
        &self,
        at: &HookContext,
        messages: &Transcript,
    ) -> Result<Vec<Edit<ModelMessage>>, CallbackError> {
        let _ = (at, messages);
        Ok(Vec::new())
    }

    /// Edits one request. The history stays as it is.
    async fn before_llm(
        &self,
        at: &HookContext,
        messages: &Transcript,
        tools: &ToolSet,
    ) -> Result<RequestEdits, CallbackError> {
        let _ = (at, messages, tools);
        Ok(RequestEdits::default())
    }

    /// Edits the content of an answer, before it enters the history.
    async fn after_llm(
        &self,
        at: &HookContext,
        response: &ModelResponse,
    ) -> Result<Vec<Edit<ModelContent>>, CallbackError> {
        let _ = (at, response);
        Ok(Vec::new())
    }

    /// Changes a call, or gives a result in its place, before it is checked.
    async fn before_tool_call(
        &self,
        at: &HookContext,
        call: &Call,
    ) -> Result<CallEdits, CallbackError> {
        let _ = (at, call);
        Ok(CallEdits::default())
    }

    /// Changes a result, before the model is told of it.
    async fn after_tool_call(
        &self,
        at: &HookContext,
        call: &Call,
        result: &CallResult,
    ) -> Result<ResultEdits, CallbackError> {
        let _ = (at, call, result);
        Ok(ResultEdits::default())
    }
}

/// Runs a hook at the point that `call` names. Never panics; dropping the future drops the hook's.
pub(crate) async fn run_hook(hook: Arc<dyn Hook>, call: HookCall, run: RunContext) -> HookVerdict {
    let RunContext { operation, identity, metadata } = run;
    let HookCall { cycle, shared_state, subject, .. } = call;
    let at = HookContext { operation, identity, cycle, shared_state, metadata };
    let verdict = answered(&at.operation, dispatched(&*hook, &at, &subject)).await;
    verdict.unwrap_or_else(|unanswered| match unanswered {
        Unanswered::Failed(reason) => HookVerdict::Failed(reason),
        Unanswered::Interrupted => HookVerdict::Interrupted,
    })
}

async fn dispatched(
    hook: &dyn Hook,
    at: &HookContext,
    subject: &HookSubject,
) -> Result<HookVerdict, CallbackError> {
    Ok(match subject {
        HookSubject::BeforeMemoryCompact { messages } => {
            HookVerdict::Messages(hook.before_memory_compact(at, messages).await?)
        }
        HookSubject::BeforeLlm { messages, tools } => {
            HookVerdict::Request(hook.before_llm(at, messages, tools).await?)
        }
        HookSubject::AfterLlm { response } => {
            HookVerdict::Response(hook.after_llm(at, response).await?)
        }
        HookSubject::BeforeToolCall { call } => {
            HookVerdict::Call(Box::new(hook.before_tool_call(at, call).await?))
        }
        HookSubject::AfterToolCall { call, result } => {
            HookVerdict::Result(Box::new(hook.after_tool_call(at, call, result).await?))
        }
    })
}

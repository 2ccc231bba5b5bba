//! Decides how a set of tools serves the two host-driven loops.
//!
//! Knows nothing about which tools there are or what a loop does with a result. Invariant: every
//! call comes to a result that the model can act on, and every failure says in words whether its
//! effect took place.

mod admission;
mod outcome;
mod refusal;
mod work;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use runtime_ports::{
    Digest, OperationContext, Tool, ToolDescriptor, ToolInvocation, ToolReply, ToolWorld,
};
use runtime_types::OperationId;
use serde_json::{Map, Value};

use self::admission::Registered;
pub use self::{admission::ToolHostError, outcome::ServedTool};
use self::{refusal::Refusal, work::Ended};
use crate::{ToolCall, tool_output::shown};

/// Serves the [`Tool`]s of one run to a host of [`run_session`](crate::AgentRuntime::run_session)
/// or [`run`](crate::AgentRuntime::run).
///
/// # Contract
/// - Tools stand in the order of their names, so that the description is the same bytes whatever
///   the order of registration.
/// - Arguments are held against the declared JSON Schema before a tool sees them. A schema that is
///   malformed, refers to anything outside of itself, or cannot be checked within bounds is refused
///   when the host is made.
/// - A call is bounded by the tool's own timeout and by the operation, whichever ends first. A tool
///   that was told to stop has [`ToolHost::GRACE`] to say what it did; then it is dropped, and the
///   effect is unknown.
/// - A tool runs as a task of its own: its panic is a result, and on a runtime with several threads
///   one that blocks its thread does not hold up the loop.
/// - State writes are merged in the order in which calls end.
///
/// One host serves one run: the shared state and the numbering of calls are the run's.
///
/// # Cancellation
/// A dropped call aborts the tool; what it has done is unknown.
///
/// # Examples
/// ```
/// # use std::{sync::Arc, time::Duration};
/// # use async_trait::async_trait;
/// # use runtime_kernel::{ToolCall, ToolHost};
/// # use runtime_ports::*;
/// # use serde_json::{Value, json};
/// struct Add(ToolDescriptor);
///
/// #[async_trait]
/// impl Tool for Add {
///     fn descriptor(&self) -> &ToolDescriptor {
///         &self.0
///     }
///
///     async fn invoke(
///         &self,
///         _: &OperationContext,
///         _: &ToolWorld,
///         call: ToolInvocation,
///     ) -> Result<ToolReply, PortFailure> {
///         let term = |name: &str| call.arguments[name].as_i64().unwrap_or(0);
///         Ok(ToolReply::text((term("left") + term("right")).to_string()))
///     }
/// }
///
/// # fn add() -> Add {
/// #     let input_schema = json!({
/// #         "type": "object",
/// #         "properties": { "left": { "type": "integer" }, "right": { "type": "integer" } },
/// #         "required": ["left", "right"],
/// #         "additionalProperties": false
/// #     });
/// #     Add(ToolDescriptor {
/// #         definition: ModelToolDefinition {
/// #             name: "add".into(),
/// #             description: "Adds two integers.".into(),
/// #             input_schema,
/// #         },
/// #         kind: ToolKind::Function,
/// #         effect: EffectClass::ReadOnly,
/// #         idempotent: true,
/// #         parallel: true,
/// #         timeout: Duration::from_secs(1),
/// #         output_limit_bytes: 1_000,
/// #         version: "1".into(),
/// #     })
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let ports = in_memory_fakes::FakeSessions::default().ports();
/// # let world = ToolWorld {
/// #     workspace: ports.workspace,
/// #     interaction: ports.interaction,
/// #     resources: ports.resources,
/// #     artifacts: Arc::new(in_memory_fakes::FakeArtifacts::new()),
/// # };
/// # let (id, execution) = ("turn".parse().unwrap(), "run".parse().unwrap());
/// # let operation = OperationContext::root(id, execution, Duration::from_secs(60));
/// let host = ToolHost::new(vec![Arc::new(add())], world).unwrap();
/// let call = ToolCall { name: "add".into(), arguments: json!({ "left": 2, "right": 3 }) };
/// assert_eq!(host.execute(&operation, call, 1).await.text, "5");
///
/// let wrong = ToolCall { name: "add".into(), arguments: json!({ "left": "two", "right": 3 }) };
/// let served = host.execute(&operation, wrong, 1).await;
/// assert_eq!(served.error_code.as_deref(), Some("invalid_arguments_type"));
/// # }
/// ```
pub struct ToolHost {
    tools: BTreeMap<String, Registered>,
    world: ToolWorld,
    description: String,
    artifact_reader: Option<String>,
    run: Mutex<RunState>,
}

#[derive(Default)]
struct RunState {
    shared: Arc<Map<String, Value>>,
    calls_by_round: BTreeMap<u32, u32>,
}

impl ToolHost {
    /// How long a tool may take to come to an end after it was told to.
    pub const GRACE: std::time::Duration = work::GRACE;

    /// Takes the tools in.
    ///
    /// # Errors
    /// A name that is empty, too long, reserved or there twice; a schema that is malformed or that
    /// cannot be checked.
    pub fn new(tools: Vec<Arc<dyn Tool>>, world: ToolWorld) -> Result<Self, ToolHostError> {
        let tools = admission::admit(tools)?;
        let description = admission::describe(&tools);
        Ok(Self { tools, world, description, artifact_reader: None, run: Mutex::default() })
    }

    /// The same host with a shared state to begin with.
    #[must_use]
    pub fn with_shared_state(self, state: Map<String, Value>) -> Self {
        self.run().shared = Arc::new(state);
        self
    }

    /// The same host, which names this tool where it shows a part of a long output: the model reads
    /// the rest with it, by the digest of the whole. Nothing is said where there is no such tool.
    #[must_use]
    pub fn with_artifact_reader(mut self, name: impl Into<String>) -> Self {
        self.artifact_reader = Some(name.into()).filter(|name| self.tools.contains_key(name));
        self
    }

    /// What a model is told: a preface, then one line of JSON for each tool, with the keys `name`,
    /// `description` and `input_schema`, in the order of the names.
    #[must_use]
    pub fn tool_description(&self) -> &str {
        &self.description
    }

    /// What a tool declares; `None` when there is no tool of this name.
    #[must_use]
    pub fn descriptor(&self, name: &str) -> Option<&ToolDescriptor> {
        self.tools.get(name).map(|registered| registered.tool.descriptor())
    }

    /// What a call would run, if it can run at all: for a host that asks somebody before it lets
    /// a call run, and should ask of no call that is refused anyway.
    ///
    /// # Errors
    /// What [`Self::execute`] would tell the model of an unknown tool or of arguments that do not
    /// follow the schema. Nothing was changed.
    pub fn check(&self, call: &ToolCall) -> Result<&ToolDescriptor, Box<ServedTool>> {
        let checked = self.registered(&call.name).and_then(|registered| {
            registered.check(&call.arguments).map(|()| registered.descriptor())
        });
        checked.map_err(|refusal| Box::new(refusal.into_served(&call.name)))
    }

    /// The run's shared state as it stands.
    #[must_use]
    pub fn shared_state(&self) -> Arc<Map<String, Value>> {
        Arc::clone(&self.run().shared)
    }

    /// Serves a call of round `round` (from 1) under `operation`. Never fails: what went wrong is a
    /// result for the model.
    ///
    /// The idempotency key of a call comes from `operation.id`, the round, its place in the round,
    /// and what is called: a host that makes a round again under the same operation makes the same
    /// call under the same key.
    pub async fn execute(
        &self,
        operation: &OperationContext,
        call: ToolCall,
        round: u32,
    ) -> ServedTool {
        let name = call.name.clone();
        match self.serve(operation, call, round).await {
            Ok(served) => served,
            Err(refusal) => refusal.into_served(&name),
        }
    }

    async fn serve(
        &self,
        operation: &OperationContext,
        call: ToolCall,
        round: u32,
    ) -> Result<ServedTool, Refusal> {
        let registered = self.registered(&call.name)?;
        let arguments = registered.arguments(call.arguments)?;
        operation.remaining().map_err(|_| Refusal::not_started(operation))?;
        let invocation = self.number(operation, &call.name, arguments, round);
        let own = own_operation(operation, &invocation).within(registered.descriptor().timeout);
        let tool = Arc::clone(&registered.tool);
        match work::run(tool, self.world.clone(), own, invocation).await {
            Ended::Replied(reply) => Ok(self.accept(operation, registered, reply).await),
            Ended::Failed(failure) => Err(Refusal::of_failure(failure)),
            Ended::Interrupted(interruption) => Err(Refusal::interrupted(interruption)),
            Ended::Panicked => Err(Refusal::panicked()),
        }
    }

    fn registered(&self, name: &str) -> Result<&Registered, Refusal> {
        self.tools.get(name).ok_or_else(Refusal::tool_not_found)
    }

    fn number(
        &self,
        operation: &OperationContext,
        name: &str,
        arguments: Value,
        round: u32,
    ) -> ToolInvocation {
        let mut run = self.run();
        let place = run.calls_by_round.entry(round).or_default();
        *place += 1;
        let place = *place;
        let key = Digest::of_json(&(operation.id.as_str(), round, place, name, &arguments));
        ToolInvocation {
            call_id: format!("{round}.{place}").into(),
            idempotency_key: key.to_string().into(),
            arguments,
            shared_state: Arc::clone(&run.shared),
            metadata: Arc::default(),
            cycle: round,
        }
    }

    async fn accept(
        &self,
        operation: &OperationContext,
        registered: &Registered,
        mut reply: ToolReply,
    ) -> ServedTool {
        self.merge(std::mem::take(&mut reply.state_writes));
        let limit = registered.descriptor().output_limit_bytes;
        let content = std::mem::take(&mut reply.content);
        let reader = self.artifact_reader.as_deref();
        let shown = shown(operation, &self.world, content, limit, reader).await;
        ServedTool::of_reply(registered.name(), reply, shown)
    }

    fn merge(&self, writes: Vec<(String, Option<Value>)>) {
        if writes.is_empty() {
            return;
        }
        let mut run = self.run();
        let shared = Arc::make_mut(&mut run.shared);
        for (key, value) in writes {
            match value {
                Some(value) => drop(shared.insert(key, value)),
                None => drop(shared.remove(&key)),
            }
        }
    }

    /// Nothing panics while this is held, so that a poisoned lock holds a whole state.
    fn run(&self) -> MutexGuard<'_, RunState> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ToolHost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<&String> = self.tools.keys().collect();
        formatter.debug_struct("ToolHost").field("tools", &tools).finish_non_exhaustive()
    }
}

/// The operation of one call: a child named by the call's key.
fn own_operation(operation: &OperationContext, invocation: &ToolInvocation) -> OperationContext {
    let id = OperationId::new(Arc::clone(&invocation.idempotency_key));
    operation.child(id.expect("64 hex digits are an identifier"))
}

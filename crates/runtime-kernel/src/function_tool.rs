//! Decides how a function with typed arguments is a [`Tool`].
//!
//! Knows nothing about hosts and loops, and nothing about what a function does. Invariant: what the
//! model is told of the arguments and what the function gets come from one type.

mod context;
mod derived_schema;
mod reply;

use std::{fmt, future::Future, pin::Pin, time::Duration};

use async_trait::async_trait;
use runtime_ports::{
    EffectClass, ModelToolDefinition, OperationContext, PortFailure, Tool, ToolDescriptor,
    ToolInvocation, ToolKind, ToolReply, ToolWorld,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

pub use self::{
    context::ToolContext,
    derived_schema::{NoArguments, input_schema},
    reply::{IntoToolReply, Json, ToolError},
};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
const DEFAULT_OUTPUT_LIMIT_BYTES: usize = 32 * 1_024;

type Reply = Pin<Box<dyn Future<Output = Result<ToolReply, PortFailure>> + Send>>;
type Call = dyn Fn(ToolInvocation, ToolContext) -> Reply + Send + Sync;

/// A tool made of an async function.
///
/// The schema of its arguments is derived from their type. What it may do to the world is declared
/// as widely as can be, until a method narrows it: [`EffectClass::External`], not idempotent, alone
/// in its group, 60 seconds, 32 KiB of output, version `1`.
///
/// # Contract
/// - `Arguments` is a struct with named fields, or [`NoArguments`]; a host refuses a tool whose
///   arguments are no object. Fields that are no `Option` and have no `#[serde(default)]` are
///   required.
/// - Keys that the struct does not have are ignored, as serde does; with
///   `#[serde(deny_unknown_fields)]` they are refused, so that a misspelt one is told to the model.
/// - Doc comments of the struct and of its fields are read by the model.
/// - What the model did wrong is a [`ToolError`] with a code; a [`PortFailure`] passes through `?`
///   with its commit disposition.
///
/// # Cancellation
/// As for every [`Tool`]: the function watches [`ToolContext::operation`], or hands it to the ports.
///
/// # Examples
/// ```
/// use std::sync::Arc;
///
/// use runtime_kernel::{FunctionTool, ToolContext, ToolError, schemars};
/// use runtime_ports::{EffectClass, Tool};
/// use serde::Deserialize;
///
/// #[derive(Deserialize, schemars::JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// struct Divide {
///     dividend: i64,
///     /// Not 0.
///     divisor: i64,
/// }
///
/// async fn divide(arguments: Divide, _context: ToolContext) -> Result<String, ToolError> {
///     match arguments.dividend.checked_div(arguments.divisor) {
///         Some(quotient) => Ok(quotient.to_string()),
///         None => Err(ToolError::new("no_quotient", "give another divisor")),
///     }
/// }
///
/// let divide = FunctionTool::new("divide", "Divides two integers.", divide)
///     .effect(EffectClass::ReadOnly)
///     .idempotent()
///     .parallel();
/// assert_eq!(divide.descriptor().definition.input_schema["required"][1], "divisor");
///
/// let tools: Vec<Arc<dyn Tool>> = vec![
///     Arc::new(divide),
///     Arc::new(FunctionTool::new(
///         "negate",
///         "Negates the dividend.",
///         |arguments: Divide, _| async move { Ok((-arguments.dividend).to_string()) },
///     )),
/// ];
/// # assert_eq!(tools.len(), 2);
/// ```
/// An agent that has one:
/// ```
/// # use std::sync::Arc;
/// # use in_memory_fakes::{FakeModel, ModelStep};
/// use runtime_kernel::{
///     FunctionTool, ToolContext, ToolError,
///     engine::{Agent, Task},
///     schemars,
/// };
/// use serde::Deserialize;
///
/// #[derive(Deserialize, schemars::JsonSchema)]
/// struct City {
///     /// In English.
///     name: String,
/// }
///
/// async fn weather(city: City, _context: ToolContext) -> Result<String, ToolError> {
///     Ok(format!("It rains in {}.", city.name))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let call = ModelStep::tool_call("c1", "weather", serde_json::json!({ "name": "Bergen" }));
/// # let model = Arc::new(FakeModel::new([call, ModelStep::text("Take an umbrella.")]));
/// # let model_name = FakeModel::MODEL;
/// let agent = Agent::builder("forecaster", model, model_name)
///     .tool(FunctionTool::new("weather", "Tells the weather of a city.", weather))
///     .build()?;
/// let result = agent.run(Task::new("What shall I take to Bergen?")).await;
/// assert_eq!(result.final_answer.as_deref(), Some("Take an umbrella."));
/// # Ok(())
/// # }
/// ```
pub struct FunctionTool {
    descriptor: ToolDescriptor,
    call: Box<Call>,
}

impl FunctionTool {
    /// A tool of this name, which a model reads this description of.
    pub fn new<Arguments, Answer, Function, Work>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: Function,
    ) -> Self
    where
        Arguments: DeserializeOwned + JsonSchema,
        Answer: IntoToolReply,
        Function: Fn(Arguments, ToolContext) -> Work + Send + Sync + 'static,
        Work: Future<Output = Result<Answer, ToolError>> + Send + 'static,
    {
        let definition = ModelToolDefinition {
            name: name.into(),
            description: description.into(),
            input_schema: input_schema::<Arguments>(),
        };
        let call = move |call: ToolInvocation, context| match reply::arguments(call.arguments) {
            Ok(arguments) => {
                let work = function(arguments, context);
                Box::pin(async move { reply::settled(work.await) }) as Reply
            }
            Err(refusal) => Box::pin(std::future::ready(Ok(*refusal))),
        };
        Self { descriptor: cautious(definition), call: Box::new(call) }
    }

    /// What a call may do to the world. A policy decides by it what a human is asked.
    #[must_use]
    pub fn effect(self, effect: EffectClass) -> Self {
        self.declaring(|descriptor| descriptor.effect = effect)
    }

    /// Two calls under one idempotency key have the effect of one: a call whose outcome is unknown
    /// may be made again.
    #[must_use]
    pub fn idempotent(self) -> Self {
        self.declaring(|descriptor| descriptor.idempotent = true)
    }

    /// It may run beside other parallel tools. Not for one that writes shared state or gives a
    /// directive.
    #[must_use]
    pub fn parallel(self) -> Self {
        self.declaring(|descriptor| descriptor.parallel = true)
    }

    /// Most time that a call may take.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        self.declaring(|descriptor| descriptor.timeout = timeout)
    }

    /// Most bytes of a reply that a model is shown.
    #[must_use]
    pub fn output_limit(self, bytes: usize) -> Self {
        self.declaring(|descriptor| descriptor.output_limit_bytes = bytes)
    }

    /// To be changed whenever the behaviour does.
    #[must_use]
    pub fn version(self, version: impl Into<String>) -> Self {
        let version = version.into();
        self.declaring(|descriptor| descriptor.version = version)
    }

    fn declaring(mut self, declare: impl FnOnce(&mut ToolDescriptor)) -> Self {
        declare(&mut self.descriptor);
        self
    }
}

fn cautious(definition: ModelToolDefinition) -> ToolDescriptor {
    ToolDescriptor {
        definition,
        kind: ToolKind::Function,
        effect: EffectClass::External,
        idempotent: false,
        parallel: false,
        timeout: DEFAULT_TIMEOUT,
        output_limit_bytes: DEFAULT_OUTPUT_LIMIT_BYTES,
        version: "1".to_owned(),
    }
}

#[async_trait]
impl Tool for FunctionTool {
    fn descriptor(&self) -> &ToolDescriptor {
        &self.descriptor
    }

    async fn invoke(
        &self,
        operation: &OperationContext,
        world: &ToolWorld,
        call: ToolInvocation,
    ) -> Result<ToolReply, PortFailure> {
        let context = ToolContext::of(operation, world, &call);
        (self.call)(call, context).await
    }
}

impl fmt::Debug for FunctionTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = formatter.debug_struct("FunctionTool");
        text.field("descriptor", &self.descriptor).finish_non_exhaustive()
    }
}

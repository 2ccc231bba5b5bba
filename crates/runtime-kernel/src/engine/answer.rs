//! Decides how the form of an agent's answer is said, and how an answer is held against it.
//!
//! Knows JSON Schema through the checks of arguments; refuses to know what follows from a fault.

use std::sync::Arc;

use runtime_decision::{AnswerSchema, ArgumentFault, Outcome};
use serde_json::Value;

use super::{AgentBuilder, AgentError, parts::Parts};
use crate::argument_schema::ArgumentSchema;

impl AgentBuilder {
    /// The run completes with a JSON value that follows this schema: `RunResult::answer`. The model is
    /// told of it behind the instructions. An answer that does not follow it is corrected by the
    /// model once, in a cycle of its own; then the run fails with `answer_invalid`.
    ///
    /// `name` is told to providers: `[A-Za-z0-9_-]{1,64}`.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use in_memory_fakes::{FakeModel, ModelStep};
    /// use runtime_kernel::engine::{Agent, Task};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let says = "Here you are:\n```json\n{\"celsius\": 9}\n```";
    /// # let model = Arc::new(FakeModel::new([ModelStep::text(says)]));
    /// # let model_name = FakeModel::MODEL;
    /// let schema = json!({
    ///     "type": "object",
    ///     "properties": { "celsius": { "type": "integer" } },
    ///     "required": ["celsius"],
    /// });
    /// let agent = Agent::builder("forecaster", model, model_name)
    ///     .answer_schema("weather", schema)
    ///     .build()?;
    /// let result = agent.run(Task::new("How warm is it in Bergen?")).await;
    /// assert_eq!(result.answer, Some(json!({ "celsius": 9 })));
    /// # Ok(())
    /// # }
    /// ```
    pub fn answer_schema(mut self, name: impl Into<Arc<str>>, schema: Value) -> Self {
        self.answer = Some(AnswerSchema { name: name.into(), schema: Arc::new(schema) });
        self
    }

    /// The run completes with a value of this type, which `RunResult::answer_as` gives. The schema is
    /// derived from it, as for the arguments of a `FunctionTool`: the model reads its doc comments.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use in_memory_fakes::{FakeModel, ModelStep};
    /// use runtime_kernel::{engine::{Agent, Task}, schemars};
    /// use serde::Deserialize;
    ///
    /// #[derive(Debug, PartialEq, Deserialize, schemars::JsonSchema)]
    /// struct Weather {
    ///     /// At noon.
    ///     celsius: i32,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let model = Arc::new(FakeModel::new([ModelStep::text("{\"celsius\": 9}")]));
    /// # let model_name = FakeModel::MODEL;
    /// let agent = Agent::builder("forecaster", model, model_name).answer::<Weather>().build()?;
    /// let result = agent.run(Task::new("How warm is it in Bergen?")).await;
    /// assert_eq!(result.answer_as::<Weather>()?, Weather { celsius: 9 });
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "schemars")]
    pub fn answer<T: schemars::JsonSchema>(self) -> Self {
        self.answer_schema(plain_name(&T::schema_name()), crate::input_schema::<T>())
    }
}

/// The name of a type without what providers refuse.
#[cfg(feature = "schemars")]
fn plain_name(name: &str) -> String {
    let plain = |letter: char| match letter.is_ascii_alphanumeric() || "_-".contains(letter) {
        true => letter,
        false => '_',
    };
    name.chars().take(runtime_decision::ANSWER_NAME_MAX_BYTES).map(plain).collect()
}

/// What answers are held against.
pub(super) fn compiled(
    answer: Option<&AnswerSchema>,
) -> Result<Option<ArgumentSchema>, AgentError> {
    let Some(answer) = answer else { return Ok(None) };
    match ArgumentSchema::of_any_value(&answer.schema) {
        Ok(schema) => Ok(Some(schema)),
        Err(fault) => {
            let (path, reason) = (fault.path, fault.reason);
            Err(AgentError::InvalidAnswerSchema { path, reason })
        }
    }
}

impl Parts {
    pub(super) fn check_answer(&self, answer: &Value) -> Outcome {
        let fault = |path: String, reason: String| ArgumentFault { path, reason };
        Outcome::AnswerChecked(match &self.answer {
            Some(schema) => schema.check(answer).map_err(|found| fault(found.path, found.reason)),
            None => Err(fault(String::new(), "cannot be held against a schema".to_owned())),
        })
    }
}

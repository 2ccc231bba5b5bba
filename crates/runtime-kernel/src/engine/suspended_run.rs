//! Decides in what form a run waits to be resumed.
//!
//! Refuses to know what is in it. Invariant: what is taken up is, byte for byte, what was given.

use std::{fmt, sync::Arc};

use runtime_decision::{ApprovalRequest, Effect, LoadError, Machine};
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::Error as _};

use super::{Agent, parts::Parts};

/// A run that waits to be resumed, as versioned JSON. Within other data it is a string.
///
/// It holds the whole history: keep it where the history may be kept.
///
/// # Examples
/// A run stops to ask, and goes on from its bytes, which may be in another process:
/// ```
/// # use std::sync::Arc;
/// # use in_memory_fakes::{FakeModel, FakeTool, ModelStep, ToolStep};
/// use runtime_kernel::engine::{Agent, Ruling, RunOptions, SuspendedRun, Task, ToolPolicy, Watched};
///
/// # fn agent(model: &FakeModel, tool: &FakeTool) -> Agent {
/// #     Agent::builder("editor", Arc::new(model.clone()), FakeModel::MODEL)
/// #         .tool(tool.clone())
/// #         .policy(ToolPolicy::default().with_rule("delete", Ruling::Ask))
/// #         .build()
/// #         .expect("an agent")
/// # }
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let call = ModelStep::tool_call("c1", "delete", serde_json::json!({}));
/// # let model = FakeModel::new([call, ModelStep::text("It is gone.")]);
/// # let tool = FakeTool::new("delete", [ToolStep::text("deleted")]);
/// let (run, mut events) = agent(&model, &tool).watch(Task::new("Delete it."), RunOptions::default());
/// while let Some(Watched::Event(event)) = events.next().await {
///     if event.event.name() == "approval_requested" {
///         break;
///     }
/// }
/// let suspended = run.suspend().await?.suspended().expect("it waits for an approval");
/// let stored: Vec<u8> = suspended.as_json().to_vec();
///
/// // Days later:
/// let agent = agent(&model, &tool);
/// let suspended = SuspendedRun::from_json(&stored);
/// let questions = suspended.pending_approvals(&agent)?;
/// let run = agent.resume(&suspended)?;
/// assert_eq!(&*questions[0].preview, "delete {}");
/// run.approve(&questions[0].request_id).await?;
/// let result = run.result().await?.finished()?;
/// assert_eq!(result.final_answer.as_deref(), Some("It is gone."));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SuspendedRun {
    json: Arc<[u8]>,
}

impl SuspendedRun {
    pub(super) fn of(json: Vec<u8>) -> Self {
        Self { json: json.into() }
    }

    /// Takes up what [`Self::as_json`] gave. It is checked when the run is resumed.
    #[must_use]
    pub fn from_json(json: &[u8]) -> Self {
        Self { json: json.into() }
    }

    /// The run, to be stored.
    #[must_use]
    pub fn as_json(&self) -> &[u8] {
        &self.json
    }

    /// The questions that wait for a decision, those of sub-tasks included, in full, under the agent that the run belongs to:
    /// what was asked is not told again when the run is resumed.
    ///
    /// # Errors
    /// It is damaged, of another version, or of another agent.
    pub fn pending_approvals(&self, agent: &Agent) -> Result<Vec<ApprovalRequest>, LoadError> {
        pending_approvals(&agent.parts, self.as_json())
    }
}

/// The questions of a stored run, and of those below it.
fn pending_approvals(parts: &Parts, stored: &[u8]) -> Result<Vec<ApprovalRequest>, LoadError> {
    let machine = Machine::from_json(Arc::clone(&parts.plan), stored)?;
    let mut asked = Vec::new();
    for pending in machine.pending() {
        match pending.effect {
            Effect::AwaitApproval(request) => asked.push(*request),
            Effect::RunChild(work) => {
                if let (Some(stored), Some(parts)) =
                    (&work.stored, parts.sub_agents.get(&work.agent))
                {
                    asked.extend(pending_approvals(parts, stored.as_bytes())?);
                }
            }
            _ => {}
        }
    }
    Ok(asked)
}

impl Serialize for SuspendedRun {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = std::str::from_utf8(&self.json).map_err(|_| S::Error::custom("no text"))?;
        serializer.serialize_str(text)
    }
}

impl<'de> Deserialize<'de> for SuspendedRun {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::of(text.into_bytes()))
    }
}

impl fmt::Debug for SuspendedRun {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SuspendedRun").field("bytes", &self.json.len()).finish()
    }
}

//! Decides what one run is asked to do, and how it is named.
//!
//! Knows nothing about the agent that does it.

use std::{collections::BTreeSet, sync::Arc};

use runtime_ports::ModelMessage;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::NoToolPolicy;

/// One task for an agent. JSON in it that is nested deeper than 64 levels is kept as its text, so
/// that a stored run can be read again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Names the task; the same for all of its runs.
    pub task_id: Arc<str>,
    /// What the user wants. Appended to `messages` when it is not empty.
    pub prompt: String,
    /// What was said before, if anything. Repaired where calls and results do not pair.
    pub messages: Vec<ModelMessage>,
    /// What stands for `messages` in requests, as an earlier run left it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<crate::CarriedContext>,
    /// Whether the context is compacted before the first request, however small it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compact_first: bool,
    /// Whether a budget of an ancestor applies.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub budgeted: bool,
    /// Whether one of those limits the cost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cost_budgeted: bool,
    /// Budgets of this run, beside those of the agent; the tighter one of two holds.
    #[serde(default, skip_serializing_if = "crate::BudgetLimits::is_empty")]
    pub budget: crate::BudgetLimits,
    /// How many runs are above this one.
    #[serde(default)]
    pub depth: u32,
    /// What the tools share to begin with.
    pub shared_state: Map<String, Value>,
    /// Most cycles, in the place of the agent's own limit.
    pub max_cycles: Option<u32>,
    /// What an answer without tool calls means, in the place of the agent's own policy.
    pub no_tool_policy: Option<NoToolPolicy>,
    /// Whether the model may ask the user, and steering may interrupt a batch of tools.
    pub allow_interruption: bool,
    /// Whether pictures from tools are shown to the model, if the model takes pictures.
    pub native_multimodal: bool,
    /// Names of tools that this run does not advertise.
    pub excluded_tools: BTreeSet<String>,
    /// Carried into tools and results, never read as configuration.
    pub metadata: Map<String, Value>,
}

impl Task {
    /// A task with everything else as it is by default.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self {
            task_id: "task".into(),
            prompt: prompt.into(),
            messages: Vec::new(),
            context: None,
            compact_first: false,
            budgeted: false,
            cost_budgeted: false,
            budget: crate::BudgetLimits::default(),
            depth: 0,
            shared_state: Map::new(),
            max_cycles: None,
            no_tool_policy: None,
            allow_interruption: true,
            native_multimodal: false,
            excluded_tools: BTreeSet::new(),
            metadata: Map::new(),
        }
    }

    /// The same task under a name of its own.
    #[must_use]
    pub fn named(mut self, task_id: impl Into<Arc<str>>) -> Self {
        self.task_id = task_id.into();
        self
    }

    /// The same task after these messages.
    #[must_use]
    pub fn after(mut self, messages: Vec<ModelMessage>) -> Self {
        self.messages = messages;
        self
    }
}

/// The names that every event of a run carries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunIdentity {
    /// Unique for each run; a resumed run keeps it.
    pub run_id: Arc<str>,
    /// Shared by a run and its sub-runs.
    pub trace_id: Arc<str>,
    /// The conversation that the run belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Arc<str>>,
    /// The run that started this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_run_id: Option<Arc<str>>,
    /// The call that started this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_tool_call_id: Option<Arc<str>>,
    /// Names the task.
    pub task_id: Arc<str>,
    /// Names the agent.
    pub agent_name: Arc<str>,
}

impl RunIdentity {
    /// The names of a root run.
    pub fn root(
        run_id: impl Into<Arc<str>>,
        task_id: impl Into<Arc<str>>,
        agent_name: impl Into<Arc<str>>,
    ) -> Self {
        let run_id = run_id.into();
        Self {
            trace_id: Arc::clone(&run_id),
            run_id,
            session_id: None,
            parent_run_id: None,
            parent_tool_call_id: None,
            task_id: task_id.into(),
            agent_name: agent_name.into(),
        }
    }

    /// One of the run's ids as text: that of the run, a hyphen, and the number.
    ///
    /// # Examples
    /// ```
    /// # use runtime_decision::RunIdentity;
    /// let identity = RunIdentity::root("run", "task", "agent");
    /// assert_eq!(&*identity.numbered(12), "run-12");
    /// ```
    #[must_use]
    pub fn numbered(&self, number: u64) -> Arc<str> {
        // Several for each cycle, and formatting would cost the most of them.
        let (mut digits, mut first, mut left) = ([0; 20], 20, number);
        while left > 0 || first == 20 {
            first -= 1;
            digits[first] = b"0123456789"[(left % 10) as usize];
            left /= 10;
        }
        let digits = std::str::from_utf8(&digits[first..]).unwrap_or_default();
        let mut text = String::with_capacity(self.run_id.len() + 21);
        text.push_str(&self.run_id);
        text.push('-');
        text.push_str(digits);
        text.into()
    }
}

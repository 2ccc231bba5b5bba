//! Decides what of the state of a run is written beside a summary, so that no summariser can lose it.
//!
//! Knows the state and its words; refuses to ask a model. Compaction happens between batches, when
//! no call waits for an approval: what is open then is told here.

use serde_json::Value;

use crate::{Machine, wording::cut_middle};

/// Under which key of the shared state the list of what is to be done is kept.
pub(crate) const TODO_KEY: &str = "todo";
/// Most of the list that is shown, in bytes.
const TODO_BYTES: usize = 4_000;

impl Machine {
    /// Where the run stands, in lines.
    pub(crate) fn live_state(&self) -> String {
        let mut lines = vec![format!(
            "[Where the run stood then: cycle {} of {}.]",
            self.state.cycle, self.state.terms.max_cycles
        )];
        lines.extend(self.time_left());
        lines.extend(self.budgets_left());
        lines.extend(self.live_children());
        lines.extend(self.to_do());
        lines.join("\n")
    }

    fn time_left(&self) -> Option<String> {
        let most = self.plan.definition().limits.wall_time?;
        let left = most.as_secs().saturating_sub(self.state.live_ms / 1_000);
        Some(format!("[Time left: {left} s.]"))
    }

    fn budgets_left(&self) -> Option<String> {
        let (limits, spent) = (self.budget(), self.spent().charged);
        let left = [
            ("tokens", limits.tokens, spent.tokens),
            ("model calls", limits.model_calls, spent.model_calls),
            ("tool calls", limits.tool_calls, spent.tool_calls),
            ("nano-dollars", limits.cost_nano_usd, spent.cost_nano_usd),
            ("sub-tasks", limits.sub_tasks, spent.sub_tasks),
        ];
        let left = left.into_iter().filter_map(|(what, most, used)| {
            most.map(|most| format!("{} {what}", most.saturating_sub(used)))
        });
        let left: Vec<_> = left.collect();
        (!left.is_empty()).then(|| format!("[Budget left: {}.]", left.join(", ")))
    }

    fn to_do(&self) -> Option<String> {
        let list = match self.state.shared.get(TODO_KEY)? {
            Value::Null => return None,
            Value::String(text) => text.clone(),
            list => serde_json::to_string_pretty(list).unwrap_or_default(),
        };
        let list = cut_middle(list.trim(), TODO_BYTES, "the rest is in the shared state");
        (!list.is_empty()).then(|| format!("[What is to be done:]\n{list}"))
    }
}

//! Decides how a history from elsewhere becomes one in which every call has its one result.
//!
//! Knows nothing about where it comes from. Invariant: nothing that was said is taken away; what is
//! missing is added where it belongs, and says that it was added.

use std::collections::{BTreeMap, VecDeque};

use runtime_ports::{ModelContent, ModelMessage, ModelRole};

use crate::wording::failure_text;

const BLANK: &str = "(blank)";
const LOST_ERROR: &str = "the run was interrupted before the result of this call was kept; \
                          it may have run, verify its effect before you repeat it";

/// The history with every call answered exactly once, adjacent and in call order; with results
/// that answer no call as text; and without blank messages.
#[must_use]
pub fn repaired(messages: Vec<ModelMessage>) -> Vec<ModelMessage> {
    let mut repaired = Vec::with_capacity(messages.len());
    let mut messages = messages.into_iter().peekable();
    while let Some(message) = messages.next() {
        if !has_calls(&message) {
            repaired.push(without_orphans(message));
            continue;
        }
        let mut following = Vec::new();
        while let Some(next) = messages.next_if(|next| !has_calls(next)) {
            following.push(next);
        }
        Exchange::of(message).close(following, &mut repaired);
    }
    repaired
}

/// The calls of one message, in order, and the results that were found for them.
struct Exchange {
    message: ModelMessage,
    calls: Vec<(String, String)>,
    /// By the id of the call: how many results it still wants, and those that it has.
    results: BTreeMap<String, (usize, VecDeque<ModelContent>)>,
}

impl Exchange {
    fn of(message: ModelMessage) -> Self {
        let calls: Vec<_> = message.content.iter().filter_map(call).collect();
        let mut results = BTreeMap::<_, (usize, VecDeque<_>)>::new();
        for (id, _) in &calls {
            results.entry(id.clone()).or_default().0 += 1;
        }
        Self { message, calls, results }
    }

    /// Puts the results right behind the calls, in call order, then all else that followed.
    fn close(mut self, following: Vec<ModelMessage>, repaired: &mut Vec<ModelMessage>) {
        let empty = ModelMessage { role: self.message.role, content: Vec::new() };
        let message = std::mem::replace(&mut self.message, empty);
        // The message holds its calls whatever is taken out of it.
        repaired.extend(self.take_results(message).map(without_orphans_kept));
        let rest: Vec<_> =
            following.into_iter().filter_map(|next| self.take_results(next)).collect();
        for (id, name) in &self.calls {
            let found = self.results.get_mut(id).and_then(|(_, found)| found.pop_front());
            let result = found.unwrap_or_else(|| lost_result(id, name));
            repaired.push(ModelMessage { role: ModelRole::Tool, content: vec![result] });
        }
        repaired.extend(rest.into_iter().map(without_orphans));
    }

    /// Takes the results that are wanted out of a message; gives what is left of it, if anything
    /// was said beside them.
    fn take_results(&mut self, message: ModelMessage) -> Option<ModelMessage> {
        let before = message.content.len();
        let mut content = Vec::with_capacity(before);
        for item in message.content {
            content.extend(self.take_result(item));
        }
        let was_taken = content.len() < before;
        let is_empty = was_taken && content.iter().all(is_blank);
        (!is_empty).then_some(ModelMessage { role: message.role, content })
    }

    fn take_result(&mut self, item: ModelContent) -> Option<ModelContent> {
        let wanted = result_id(&item).and_then(|id| self.results.get_mut(id));
        match wanted {
            Some((wanted, found)) if *wanted > 0 => {
                *wanted -= 1;
                found.push_back(item);
                None
            }
            _ => Some(item),
        }
    }
}

/// The message with results that answer nothing as text, and with a word in the place of blanks.
fn without_orphans(message: ModelMessage) -> ModelMessage {
    let had_results = message.content.iter().any(|item| result_id(item).is_some());
    let role = match had_results || message.role == ModelRole::Tool {
        true => ModelRole::User,
        false => message.role,
    };
    without_orphans_kept(ModelMessage { role, ..message })
}

/// The same, said by who said it.
fn without_orphans_kept(message: ModelMessage) -> ModelMessage {
    let mut content: Vec<_> = message.content.into_iter().filter_map(as_said).collect();
    if content.is_empty() {
        content.push(ModelContent::text(BLANK));
    }
    ModelMessage { role: message.role, content }
}

fn as_said(item: ModelContent) -> Option<ModelContent> {
    match item {
        item if is_blank(&item) => None,
        ModelContent::ToolResult { tool_use_id, name, content, .. } => {
            let said = format!(
                "[The result of a call of {name} ({tool_use_id}) that is not in this history:]\n\
                 {content}"
            );
            Some(ModelContent::text(said))
        }
        item => Some(item),
    }
}

fn is_blank(item: &ModelContent) -> bool {
    matches!(item, ModelContent::Text { text } if text.trim().is_empty())
}

fn has_calls(message: &ModelMessage) -> bool {
    message.content.iter().any(|item| matches!(item, ModelContent::ToolUse { .. }))
}

fn call(item: &ModelContent) -> Option<(String, String)> {
    match item {
        ModelContent::ToolUse { id, name, .. } => Some((id.clone(), name.clone())),
        _ => None,
    }
}

fn result_id(item: &ModelContent) -> Option<&str> {
    match item {
        ModelContent::ToolResult { tool_use_id, .. } => Some(tool_use_id),
        _ => None,
    }
}

fn lost_result(id: &str, name: &str) -> ModelContent {
    ModelContent::ToolResult {
        tool_use_id: id.to_owned(),
        name: name.to_owned(),
        content: failure_text(LOST_ERROR, "tool_outcome_unknown", name),
        failed: true,
    }
}

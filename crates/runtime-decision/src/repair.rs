//! Decides how a history from elsewhere becomes one in which every call has its one result.
//!
//! Knows nothing about where it comes from. Invariant: nothing that was said is taken away; what is
//! missing is added where it belongs, and says that it was added.

use std::collections::BTreeMap;

use runtime_ports::{ModelContent, ModelMessage, ModelRole};

use crate::call::failure_text;

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
        let calls = calls_of(&message);
        if calls.is_empty() {
            repaired.extend(without_orphans(message));
            continue;
        }
        repaired.push(message);
        let mut following = Vec::new();
        while let Some(next) = messages.next_if(|next| calls_of(next).is_empty()) {
            following.push(next);
        }
        pair(&calls, following, &mut repaired);
    }
    repaired
}

/// Puts the results of `calls` first, in call order, then all else that followed.
fn pair(
    calls: &[(String, String)],
    following: Vec<ModelMessage>,
    repaired: &mut Vec<ModelMessage>,
) {
    let mut results = BTreeMap::new();
    let mut rest = Vec::new();
    for message in following {
        rest.extend(take_results(message, calls, &mut results));
    }
    for (id, name) in calls {
        let result = results.remove(id).unwrap_or_else(|| lost_result(id, name));
        repaired.push(ModelMessage { role: ModelRole::Tool, content: vec![result] });
    }
    repaired.extend(rest.into_iter().flat_map(without_orphans));
}

/// Takes the first result of each call out of a message; gives what is left of it.
fn take_results(
    message: ModelMessage,
    calls: &[(String, String)],
    results: &mut BTreeMap<String, ModelContent>,
) -> Option<ModelMessage> {
    let mut content = Vec::new();
    let had_content = !message.content.is_empty();
    for item in message.content {
        match result_id(&item) {
            Some(id) if calls.iter().any(|(call, _)| call == id) && !results.contains_key(id) => {
                results.insert(id.to_owned(), item);
            }
            _ => content.push(item),
        }
    }
    let emptied = had_content && content.is_empty();
    (!emptied).then_some(ModelMessage { role: message.role, content })
}

/// The message with results that answer nothing as text, and with a word in the place of blanks.
fn without_orphans(message: ModelMessage) -> Option<ModelMessage> {
    let had_results = message.content.iter().any(|item| result_id(item).is_some());
    let role = match had_results || message.role == ModelRole::Tool {
        true => ModelRole::User,
        false => message.role,
    };
    let mut content: Vec<_> = message.content.into_iter().filter_map(as_said).collect();
    if content.is_empty() {
        content.push(ModelContent::text(BLANK));
    }
    Some(ModelMessage { role, content })
}

fn as_said(item: ModelContent) -> Option<ModelContent> {
    match item {
        ModelContent::Text { text } if text.trim().is_empty() => None,
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

fn calls_of(message: &ModelMessage) -> Vec<(String, String)> {
    let calls = message.content.iter().filter_map(|item| match item {
        ModelContent::ToolUse { id, name, .. } => Some((id.clone(), name.clone())),
        _ => None,
    });
    calls.collect()
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

//! Decides how a call and what came of it are told to a person.
//!
//! Knows the number of a call. Refuses to know what its tool does.

use anstyle::Style;
use runtime_kernel::engine::{Event, RunEvent};
use unicode_width::UnicodeWidthStr;

use super::{BAD, DIM, GOOD, NAME, NARROWEST, Person};
use crate::{safe_text::safe_columns, show::outcome::outcome_line};

/// What a line is about.
struct Subject<'a> {
    event: &'a RunEvent,
    number: u64,
}

impl Person {
    /// Tells of it if it is about a call; says whether it is.
    pub(super) fn about_a_call(&self, event: &RunEvent) -> bool {
        let run = &event.identity.run_id;
        match &event.event {
            Event::ToolCallPlanned { tool_name, tool_arguments, tool_call_id } => {
                let call = self.calls().begin(run, tool_call_id, tool_name, tool_arguments);
                let subject = Subject { event, number: call.number };
                self.numbered(&subject, NAME, &call.tool, &call.arguments);
            }
            Event::ApprovalRequested { .. } => self.screen.end_line(),
            Event::ApprovalResolved { tool_call_id, approved: true, .. } => {
                if let Some(call) = self.calls().mention(run, tool_call_id) {
                    let subject = Subject { event, number: call.number };
                    self.numbered(&subject, GOOD, "approved", &call.again.unwrap_or_default());
                }
            }
            Event::ToolResult { .. } => self.result(event),
            // The result of a call that was denied says the same, with the reason.
            Event::ApprovalResolved { .. } => {}
            _ => return false,
        }
        true
    }

    /// A line about a call, cut to the width of the screen.
    fn numbered(&self, subject: &Subject<'_>, style: Style, word: &str, rest: &str) {
        let (indent, number) = (self.indent(subject.event), subject.number);
        let head = format!("{indent}[{number}] {word}").width();
        let room = self.screen.columns().max(NARROWEST).saturating_sub(head + 2);
        let rest = safe_columns(rest, room);
        let rest = if rest.is_empty() { rest } else { format!(" {rest}") };
        let word = self.screen.styled(style, word);
        self.screen.line(&format!("{indent}[{number}] {word}{rest}"));
    }

    fn result(&self, event: &RunEvent) {
        let Event::ToolResult {
            tool_name, tool_arguments, tool_call_id, error_code, content, ..
        } = &event.event
        else {
            return;
        };
        let run = &event.identity.run_id;
        let outcome = outcome_line(tool_name, error_code.is_none(), content);
        let (style, word) = match error_code.as_deref() {
            None => (GOOD, "ok"),
            Some(code) if code.starts_with("skipped_") => (DIM, "skipped:"),
            Some(_) => (BAD, "failed:"),
        };
        let mut calls = self.calls();
        let (number, again) = match calls.mention(run, tool_call_id) {
            Some(call) => (call.number, call.again),
            None => {
                let call = calls.begin(run, tool_call_id, tool_name, tool_arguments);
                (call.number, Some(format!("{} {}", call.tool, call.arguments)))
            }
        };
        let again = again.map(|call| format!("{}: ", call.trim_end())).unwrap_or_default();
        let subject = Subject { event, number };
        self.numbered(&subject, style, word, &format!("{again}{outcome}"));
    }
}

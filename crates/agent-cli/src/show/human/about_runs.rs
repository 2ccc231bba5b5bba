//! Decides how a person is told of what a run does beside calls: sub-agents, and its memory.
//!
//! Knows which run is below which. Refuses to show the words of a sub-agent as they come: several may
//! speak at once, and what they say is for the agent that asked. Invariant: what a sub-agent does is
//! indented under its parent.

use std::{collections::HashMap, sync::Arc};

use runtime_kernel::engine::{Event, RunEvent, RunStatus};

use super::{BAD, DIM, GOOD, NARROWEST, Person};
use crate::{
    amounts::counted,
    safe_text::{safe_columns, safe_line},
};

const NAME_SHOWN: usize = 40;
/// Further down nothing is indented any more.
const DEEPEST: usize = 8;

/// How deep each run is below the one that a person started.
#[derive(Debug, Default)]
pub(super) struct Depths(HashMap<Arc<str>, usize>);

impl Depths {
    fn of(&mut self, event: &RunEvent) -> usize {
        let Some(parent) = &event.identity.parent_run_id else { return 0 };
        let depth = self.0.get(parent).map_or(1, |above| above + 1);
        self.0.insert(Arc::clone(&event.identity.run_id), depth);
        depth
    }

    fn forget(&mut self, run: &str) {
        self.0.remove(run);
    }
}

impl Person {
    /// The room before a line about this event.
    pub(super) fn indent(&self, event: &RunEvent) -> String {
        "  ".repeat(self.depths().of(event).min(DEEPEST))
    }

    /// Tells of what a sub-agent does.
    pub(super) fn below(&self, event: &RunEvent) {
        let run = &event.identity.run_id;
        match &event.event {
            Event::CycleStarted { .. } => self.calls().forget(run),
            last if last.is_last() => {
                self.calls().forget(run);
                self.depths().forget(run);
            }
            _ => {
                let _ = self.about_a_call(event) || self.about_a_run(event);
            }
        }
    }

    /// Tells of it if it is about the run as a whole; says whether it is.
    pub(super) fn about_a_run(&self, event: &RunEvent) -> bool {
        match &event.event {
            Event::SubRunStarted { sub_agent_name, task_id_hint, background, .. } => {
                let place = if *background { " in the background" } else { "" };
                let name = safe_line(sub_agent_name, NAME_SHOWN);
                self.beneath(event, &format!("{name} begins{place}: {task_id_hint}"));
            }
            Event::SubRunCompleted { .. } => self.sub_run_ended(event),
            Event::MemoryCompactStarted { message_count, prompt_tokens, budget_tokens } => {
                let messages = counted(*message_count as u64, "message", "messages");
                let most = budget_tokens.map(|most| format!(" of {most}")).unwrap_or_default();
                let tokens = format!("about {prompt_tokens}{most} tokens");
                self.of_run(event, &format!("compacting {messages}, {tokens}"));
            }
            Event::MemoryCompactCompleted { .. } => self.compacted(event),
            Event::ResourcesLoaded { instructions, skills, .. } => {
                let instructions = counted(*instructions as u64, "instruction", "instructions");
                let skills = counted(*skills as u64, "skill", "skills");
                self.of_run(event, &format!("{instructions} and {skills} loaded"));
            }
            _ => return false,
        }
        true
    }

    fn compacted(&self, event: &RunEvent) {
        if let Event::MemoryCompactCompleted {
            messages_before,
            messages_after,
            prompt_tokens,
            levels,
        } = &event.event
        {
            let messages = format!("{messages_before} messages became {messages_after}");
            let tokens = format!("about {prompt_tokens} tokens are left");
            self.of_run(
                event,
                &format!("compacted by {}: {messages}, {tokens}", levels.join(", ")),
            );
        }
    }

    fn sub_run_ended(&self, event: &RunEvent) {
        let Event::SubRunCompleted { sub_agent_name, status, final_output, .. } = &event.event
        else {
            return;
        };
        let (style, word) = match status {
            Some(RunStatus::Completed) => (GOOD, "is done"),
            Some(RunStatus::WaitUser) => (DIM, "asks"),
            Some(RunStatus::MaxCycles) => (BAD, "has used up its cycles"),
            Some(RunStatus::Cancelled) => (BAD, "was cancelled"),
            Some(RunStatus::Failed) => (BAD, "failed"),
            Some(RunStatus::BudgetExhausted) => (BAD, "has used up its budget"),
            None => (BAD, "was lost"),
        };
        let name = self.screen.styled(style, &safe_line(sub_agent_name, NAME_SHOWN));
        self.beneath_styled(event, &name, &format!("{word}: {final_output}"));
    }

    /// A line about a sub-run of the run of this event.
    fn beneath(&self, event: &RunEvent, text: &str) {
        let indent = self.indent(event);
        self.line(DIM, &format!("{indent}  {}", self.fitting(text, indent.len() + 2)));
    }

    fn beneath_styled(&self, event: &RunEvent, name: &str, rest: &str) {
        let indent = self.indent(event);
        let rest = self.fitting(rest, indent.len() + NAME_SHOWN);
        self.screen.line(&format!("{indent}  {name} {rest}"));
    }

    fn of_run(&self, event: &RunEvent, text: &str) {
        let indent = self.indent(event);
        self.line(DIM, &format!("{indent}{}", self.fitting(text, indent.len())));
    }

    fn fitting(&self, text: &str, taken: usize) -> String {
        safe_columns(text, self.screen.columns().max(NARROWEST).saturating_sub(taken + 1))
    }
}

#[cfg(test)]
mod tests;

//! Decides in which order the calls of an answer run, and when the answer is dealt with.
//!
//! Knows nothing about what a single call goes through. Invariants: a group is a run of consecutive
//! calls that may run side by side, and groups follow each other; results enter the history once,
//! together, in call order.

use std::sync::Arc;

use runtime_ports::{ModelContent, ModelMessage, ModelRole, ToolDirective};
use serde_json::Map;

use crate::{
    Event, Machine, Out, ToolRecord,
    batch::{Batch, CallState, Stage, Steered},
    repair::repaired,
    state::{Ask, Phase, Standing, Stop},
    wording::picture_caption,
};

impl Machine {
    /// Works through the groups until something must be waited for.
    pub(crate) fn run_batch(&mut self, mut batch: Box<Batch>, out: &mut Out) -> Phase {
        if !self.is_admitted(&batch) {
            return Phase::RunningTools(batch);
        }
        loop {
            self.skip_after_directive(&mut batch, out);
            self.start_deferred(&mut batch, out);
            if !self.group_is_done(&batch) {
                return Phase::RunningTools(batch);
            }
            self.merge_state(&mut batch);
            let next = batch.group.1;
            if let Some(code) = self.why_to_end(&batch) {
                self.skip_from(&mut batch, next, code, out);
            } else if next < batch.calls.len() {
                if self.state.stop.is_some() {
                    return Phase::RunningTools(batch);
                }
                self.open_group(&mut batch, out);
                continue;
            }
            return self.close_batch(*batch, out);
        }
    }

    /// Whether all calls of the present group have their results and nothing is asked about them.
    fn group_is_done(&self, batch: &Batch) -> bool {
        let asked = |open: &crate::state::Open| matches!(open.ask, Ask::Interruptions { .. });
        batch.in_group().iter().all(|call| call.stage == Stage::Done)
            && !self.state.open.iter().any(asked)
    }

    /// The code under which what was not reached is skipped, if the batch ends here.
    fn why_to_end(&self, batch: &Batch) -> Option<&'static str> {
        if let Some(code) = self.stop_code() {
            return Some(code);
        }
        if batch.steered.is_some() {
            return Some("skipped_due_to_steering");
        }
        directive(batch).and_then(|(directive, _)| skip_code(directive))
    }

    /// The code under which calls are skipped because the run ends.
    pub(crate) fn stop_code(&self) -> Option<&'static str> {
        match &self.state.stop {
            None | Some(Stop::Suspend) => None,
            Some(Stop::Cancel) => Some("skipped_due_to_cancel"),
            Some(Stop::Budget(_)) => Some("skipped_due_to_budget"),
            Some(Stop::Fail(error)) => Some(match &*error.code {
                "model_output_limit" | "content_filtered" | "model_incomplete" => {
                    "skipped_due_to_incomplete_answer"
                }
                _ => "skipped_due_to_failure",
            }),
        }
    }

    fn open_group(&mut self, batch: &mut Batch, out: &mut Out) {
        let first = batch.group.1;
        let mut end = first + 1;
        if self.may_run_beside(&batch.calls[first]) {
            let rest = &batch.calls[end..];
            end += rest.iter().take_while(|call| self.may_run_beside(call)).count();
        }
        batch.group = (first, end);
        for call in first..end {
            // What an earlier one of the group brought about may have ended it.
            if batch.calls[call].stage == Stage::Waiting {
                self.reach(batch, call, out);
            }
        }
    }

    fn may_run_beside(&self, call: &CallState) -> bool {
        self.plan.tool(&call.original.name).is_some_and(|tool| tool.parallel)
    }

    /// A result that ends the run also ends the waiting of its siblings.
    fn skip_after_directive(&mut self, batch: &mut Batch, out: &mut Out) {
        if batch.steered.is_some() || self.is_checking() {
            return;
        }
        let code = directive(batch).and_then(|(directive, _)| skip_code(directive));
        if let Some(code) = code {
            let (first, end) = batch.group;
            (first..end).for_each(|call| self.skip(batch, call, code, out));
        }
    }

    fn is_checking(&self) -> bool {
        self.state.open.iter().any(|open| matches!(open.ask, Ask::Interruptions { .. }))
    }

    /// A call that must run alone starts when nothing else of its group is on its way.
    fn start_deferred(&mut self, batch: &mut Batch, out: &mut Out) {
        let on_its_way = |call: &CallState| !matches!(call.stage, Stage::Done | Stage::Deferred);
        if self.is_checking()
            || self.state.stop.is_some()
            || batch.in_group().iter().any(on_its_way)
        {
            return;
        }
        let (first, end) = batch.group;
        if let Some(call) = (first..end).find(|call| batch.calls[*call].stage == Stage::Deferred) {
            self.invoke(batch, call, out);
        }
    }

    /// What the group wrote becomes visible, in call order.
    fn merge_state(&mut self, batch: &mut Batch) {
        let (first, end) = batch.group;
        for call in &mut batch.calls[first..end] {
            let writes = std::mem::take(&mut call.state_writes);
            if writes.is_empty() {
                continue;
            }
            let shared: &mut Map<_, _> = Arc::make_mut(&mut self.state.shared);
            for (key, value) in writes {
                match value {
                    Some(value) => drop(shared.insert(key, value)),
                    None => drop(shared.remove(&key)),
                }
            }
        }
    }

    pub(crate) fn skip_from(
        &mut self,
        batch: &mut Batch,
        first: usize,
        code: &'static str,
        out: &mut Out,
    ) {
        (first..batch.calls.len()).for_each(|call| self.skip(batch, call, code, out));
    }

    /// Results, then pictures, then what was said meanwhile; then the directive, or the next cycle.
    fn close_batch(&mut self, batch: Batch, out: &mut Out) -> Phase {
        for call in &batch.calls {
            self.append(result_message(call));
        }
        let pictures: Vec<_> = batch.calls.iter().filter_map(|call| self.picture(call)).collect();
        self.append_all(pictures);
        let end = directive(&batch).filter(|_| batch.steered.is_none());
        let end = end.map(|(directive, call)| (directive, result_of(&batch.calls[call])));
        self.charge_batch(&batch, out);
        self.close_record(&batch);
        if let Some(steered) = batch.steered.clone() {
            self.apply_steering(&batch, steered, out);
        }
        self.extend_record();
        if self.is_ending() {
            return self.end_stopped(out);
        }
        match end {
            Some((ToolDirective::Finish, result)) => self.complete_with(final_text(&result), out),
            Some((ToolDirective::WaitUser, result)) => self.end_waiting(question(&result), out),
            _ => self.go_on(out),
        }
    }

    fn close_record(&mut self, batch: &Batch) {
        if let Some(record) = self.state.records.last_mut() {
            // At first with room for all, so that none is moved.
            let mut kept = Vec::with_capacity(batch.calls.len());
            let results = batch.calls.iter().filter_map(|call| call.result.as_deref());
            kept.extend(results.map(ToolRecord::of));
            record.tool_results = kept.into_boxed_slice();
        }
    }

    fn apply_steering(&mut self, batch: &Batch, steered: Steered, out: &mut Out) {
        let after = batch.calls[steered.after].effective().clone();
        let prompt_count = steered.prompts.len();
        let steering_count = prompt_count + steered.interruptions.len();
        for said in &steered.prompts {
            self.append(ModelMessage::text(ModelRole::User, &*said.prompt));
        }
        self.append_all(repaired(steered.interruptions));
        let event = Event::RunSteered {
            after_tool_call_id: after.id,
            after_tool_name: after.name,
            prompt_count,
            steering_count,
        };
        self.tell(event, out);
    }

    /// The message with the picture of a result, for a model that takes pictures.
    fn picture(&self, call: &CallState) -> Option<ModelMessage> {
        let image = call.result.as_ref()?.image.clone()?;
        let shown = self.state.terms.native_multimodal
            && self.state.profile.as_ref().is_some_and(|profile| profile.images);
        let caption = picture_caption(call.original.short_name());
        let content = vec![ModelContent::text(caption), image];
        shown.then_some(ModelMessage { role: ModelRole::User, content })
    }

    /// Takes out of the open effects what is asked about a call, its tool at work excepted.
    pub(crate) fn withdraw(&mut self, call: usize, out: &mut Out) {
        self.state.open.retain(|open| {
            let goes = open.ask.call() == Some(call) && !matches!(open.ask, Ask::Tool { .. });
            if goes && open.standing == Standing::Asked {
                out.halts.push((crate::EffectId(open.id), crate::Halt::Withdraw));
            }
            !goes
        });
    }
}

/// The first directive in call order that is no `Continue`, and whose it is. Only the present group
/// can have one: the batch ends with the first group that does.
pub(crate) fn directive(batch: &Batch) -> Option<(ToolDirective, usize)> {
    let directives = batch.in_group().iter().map(|call| {
        call.result.as_ref().filter(|_| call.stage == Stage::Done).map(|result| result.directive)
    });
    let mut numbered = (batch.group.0..).zip(directives);
    numbered.find_map(|(call, directive)| match directive {
        None | Some(ToolDirective::Continue) => None,
        Some(directive) => Some((directive, call)),
    })
}

const fn skip_code(directive: ToolDirective) -> Option<&'static str> {
    match directive {
        ToolDirective::Continue => None,
        ToolDirective::WaitUser => Some("skipped_due_to_wait_user"),
        ToolDirective::Finish => Some("skipped_due_to_finish"),
    }
}

fn result_of(call: &CallState) -> Arc<crate::CallResult> {
    Arc::clone(call.result.as_ref().expect("a call of a closed batch has a result"))
}

/// The one result of a call, under the id that the model knows.
fn result_message(call: &CallState) -> ModelMessage {
    let result = result_of(call);
    let content = vec![ModelContent::ToolResult {
        tool_use_id: (*call.original.id).to_owned(),
        name: (*call.original.name).to_owned(),
        content: (*result.content).to_owned(),
        failed: result.error_code.is_some(),
    }];
    ModelMessage { role: ModelRole::Tool, content }
}

/// The answer of a run that a tool finished.
fn final_text(result: &crate::CallResult) -> Arc<str> {
    if let Some(message) = result.metadata.get("final_message").and_then(|it| it.as_str()) {
        return message.into();
    }
    let parsed = serde_json::from_str::<serde_json::Value>(&result.content).ok();
    let message = parsed.as_ref().and_then(|content| content.get("message")?.as_str());
    message.map_or_else(|| Arc::clone(&result.content), Into::into)
}

/// What a tool asks the user.
fn question(result: &crate::CallResult) -> Arc<str> {
    let question = result.metadata.get("question").and_then(|it| it.as_str());
    question.map_or_else(|| Arc::clone(&result.content), Into::into)
}

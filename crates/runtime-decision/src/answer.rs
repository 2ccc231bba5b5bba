//! Decides what becomes of a model's answer.
//!
//! Knows nothing about running tools. Invariants: an answer that came enters the history whatever
//! follows; nothing runs from an answer that is not complete.

use std::{collections::BTreeSet, sync::Arc};

use runtime_ports::{
    ModelContent, ModelFinish, ModelMessage, ModelResponse, ModelRole, PortFailure, PortFailureKind,
};

use crate::{
    Call, Event, HookPoint, HookVerdict, Machine, NoToolPolicy, Out, RunError,
    batch::{Batch, CallState, Stage},
    hook::apply,
    kept_record::KeptRecord,
    spending::Spending,
    state::{Ask, Phase, RequestView, Review, Stop},
    storable::make_content_storable,
    unaudited::code_of,
    wording::NUDGE,
};

impl Machine {
    pub(crate) fn take_reply(
        &mut self,
        view: RequestView,
        reply: Result<ModelResponse, PortFailure>,
        out: &mut Out,
    ) -> Phase {
        let cycle = self.state.cycle;
        match reply {
            Ok(mut response) => {
                make_content_storable(&mut response.output);
                let (usage, cost) = (response.usage, response.cost_nano_usd);
                self.state.ledger.answered(cycle, &response.attempts, usage, cost);
                self.charge_answer(Spending::Model, &response, out);
                self.measure(usage.input_tokens, view.sent_tokens);
                match self.next_hook(HookPoint::AfterLlm, 0) {
                    // Only hooks make it a thing to be shared.
                    None => self.accept(view, response, out),
                    Some(_) => self.review(Review { view, response: Arc::new(response) }, 0, out),
                }
            }
            Err(failure) => {
                self.state.ledger.failed(cycle, &failure);
                self.charge_call(Spending::Model, |bill| bill.failed(&failure), out);
                if self.was_halted(&failure) {
                    self.ask_paid(Spending::Model);
                    return Phase::AwaitingModel(view);
                }
                if self.is_ending() {
                    return self.end_stopped(out);
                }
                let compacts = self.plan.definition().context.compacts;
                if compacts && failure.kind == PortFailureKind::ContextOverflow {
                    return self.take_overlong(view, failure, out);
                }
                self.fail(RunError::of_port(code_of(&failure), failure), out)
            }
        }
    }

    /// The hooks from `first` on, one by one; then the answer enters the history.
    fn review(&mut self, at: Review, first: usize, out: &mut Out) -> Phase {
        match self.next_hook(HookPoint::AfterLlm, first) {
            Some(hook) if !self.is_ending() => {
                self.ask(Ask::Hook { hook, call: None });
                Phase::Reviewing(Box::new(at))
            }
            _ => self.accept_reviewed(at, out),
        }
    }

    pub(crate) fn take_review(
        &mut self,
        mut at: Box<Review>,
        ask: Ask,
        verdict: HookVerdict,
        out: &mut Out,
    ) -> Phase {
        let Ask::Hook { hook, .. } = ask else { return Phase::Reviewing(at) };
        match verdict {
            HookVerdict::Response(edits) => {
                let output = &mut Arc::make_mut(&mut at.response).output;
                apply(output, &edits);
                make_content_storable(output);
                self.review(*at, hook + 1, out)
            }
            HookVerdict::Interrupted if !self.is_ending() && self.is_repeatable(hook) => {
                self.ask(ask);
                Phase::Reviewing(at)
            }
            verdict => {
                let error = self.hook_error(hook, &verdict);
                self.set_stop(Stop::Fail(Box::new(error)));
                self.accept_reviewed(*at, out)
            }
        }
    }

    pub(crate) fn accept_reviewed(&mut self, at: Review, out: &mut Out) -> Phase {
        self.accept(at.view, Arc::unwrap_or_clone(at.response), out)
    }

    /// Takes the answer into the history and opens the record of the cycle.
    fn accept(&mut self, view: RequestView, response: ModelResponse, out: &mut Out) -> Phase {
        let (content, calls) = self.numbered(response.output);
        let first_message = self.state.history.len();
        let text = text_of(&content);
        if !content.is_empty() {
            self.append(ModelMessage { role: ModelRole::Assistant, content });
        }
        let messages = (first_message, self.state.history.len());
        let record =
            KeptRecord::opened(self.state.cycle, messages, view.compacted, &response.usage);
        self.state.records.push(record);
        self.tell_answer(&text, &calls, (response.usage, view.compacted), out);
        let batch = Batch { calls, hidden: view.hidden, group: (0, 0), ..Batch::default() };
        if !response.finish.is_complete() {
            self.set_stop(Stop::Fail(Box::new(incomplete(response.finish))));
        }
        match batch.calls.is_empty() {
            true => self.take_silence(&text, out),
            false => self.run_batch(Box::new(batch), out),
        }
    }

    fn tell_answer(
        &mut self,
        text: &Arc<str>,
        calls: &[CallState],
        (token_usage, memory_compacted): (runtime_ports::TokenUsage, bool),
        out: &mut Out,
    ) {
        let event = Event::CycleLlmResponse {
            assistant_message: Arc::clone(text),
            tool_calls: calls.iter().map(|call| call.original.clone()).collect(),
            tool_call_names: calls.iter().map(|call| Arc::clone(&call.original.name)).collect(),
            tool_call_count: calls.len(),
            memory_compacted,
            token_usage,
        };
        self.tell(event, out);
    }

    /// The content without blank text, and its calls, each under an id of its own: the first call
    /// of an id keeps it.
    fn numbered(&mut self, output: Vec<ModelContent>) -> (Vec<ModelContent>, Vec<CallState>) {
        let calls = output.iter().filter_map(id_of).count();
        let (mut content, mut calls) =
            (Vec::with_capacity(output.len()), Vec::<CallState>::with_capacity(calls));
        let (mut ids, mut given) = (BTreeSet::new(), None);
        let mut rest = output.into_iter();
        while let Some(item) = rest.next() {
            match item {
                ModelContent::Text { text } if text.trim().is_empty() => {}
                // A hook may leave one; no answer says what its own calls came to.
                ModelContent::ToolResult { .. } => {}
                ModelContent::ToolUse { id, name, arguments } => {
                    let duplicate = !id.is_empty() && ids.contains(&*id);
                    let mut id = id;
                    if duplicate || id.trim().is_empty() {
                        let all = || ids_of(&content, rest.as_slice());
                        id = self.fresh_call_id(given.get_or_insert_with(all));
                    }
                    let call = CallState::made(&id, &name, &arguments, duplicate);
                    ids.insert(Arc::clone(&call.original.id));
                    calls.push(call);
                    content.push(ModelContent::ToolUse { id, name, arguments });
                }
                item => content.push(item),
            }
        }
        (content, calls)
    }

    fn fresh_call_id(&mut self, taken: &BTreeSet<String>) -> String {
        loop {
            let number = self.next_id();
            let id = format!("call-{number}");
            if !taken.contains(&id) {
                return id;
            }
        }
    }

    /// An answer without calls.
    fn take_silence(&mut self, text: &Arc<str>, out: &mut Out) -> Phase {
        if self.is_ending() {
            return self.end_stopped(out);
        }
        if let Some(phase) = self.await_children(out) {
            return phase;
        }
        let policy = self.state.terms.no_tool_policy;
        let more = !self.is_at_limit();
        if policy == NoToolPolicy::Continue {
            if more {
                self.append(ModelMessage::text(ModelRole::User, NUDGE));
                self.extend_record();
            }
            return self.go_on(out);
        }
        // Somebody said something meanwhile: that is answered before the run ends.
        if more && !self.state.steering.is_empty() {
            return self.go_on(out);
        }
        if text.trim().is_empty() {
            let message =
                "the model gave neither an answer nor a tool call; ask again or differently";
            return self.fail(RunError::new("model_empty", message), out);
        }
        match policy {
            NoToolPolicy::WaitUser => self.end_waiting(Arc::clone(text), out),
            _ => self.complete_with(Arc::clone(text), out),
        }
    }

    /// The record of the present cycle reaches to the end of the history.
    pub(crate) fn extend_record(&mut self) {
        let end = self.state.history.len();
        if let Some(record) = self.state.records.last_mut() {
            record.messages.1 = end;
        }
    }

    /// What the model said last; empty when it said nothing.
    pub(crate) fn last_text(&self) -> Arc<str> {
        let start = self.state.records.last().map_or(0, |record| record.messages.0);
        let mut newest = self.state.history.entries_from(start);
        let answer = newest.find(|entry| entry.role() == ModelRole::Assistant);
        answer.map(|entry| entry.show(|message| text_of(&message.content))).unwrap_or_default()
    }
}

impl CallState {
    fn made(id: &str, name: &str, arguments: &serde_json::Value, duplicate: bool) -> Self {
        let arguments = Arc::new(arguments.clone());
        Self {
            original: Call { id: id.into(), name: name.into(), arguments },
            patched: None,
            duplicate,
            stage: Stage::Waiting,
            key: None,
            approval: None,
            delegation: None,
            result: None,
            state_writes: Vec::new(),
        }
    }
}

fn id_of(item: &ModelContent) -> Option<&str> {
    match item {
        ModelContent::ToolUse { id, .. } => Some(id),
        _ => None,
    }
}

/// The ids of all calls in these.
fn ids_of(content: &[ModelContent], rest: &[ModelContent]) -> BTreeSet<String> {
    content.iter().chain(rest).filter_map(id_of).map(str::to_owned).collect()
}

fn text_of(content: &[ModelContent]) -> Arc<str> {
    let mut texts = content.iter().filter_map(|item| match item {
        ModelContent::Text { text } => Some(&**text),
        _ => None,
    });
    let first = texts.next().unwrap_or_default();
    match texts.next() {
        None => first.into(),
        Some(second) => [first, second].into_iter().chain(texts).collect::<String>().into(),
    }
}

fn incomplete(finish: ModelFinish) -> RunError {
    match finish {
        ModelFinish::Length => RunError::new(
            "model_output_limit",
            "the answer was cut at its length limit; allow more output tokens",
        ),
        ModelFinish::ContentFilter => {
            RunError::new("content_filtered", "the answer was filtered or refused; ask differently")
        }
        _ => RunError::new("model_incomplete", "the answer ended for a reason that is not known"),
    }
}

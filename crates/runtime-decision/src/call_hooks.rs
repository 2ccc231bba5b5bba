//! Decides what hooks make of a call and of its result.
//!
//! Knows nothing about what hooks are for. Invariant: hooks run one by one, in the order in which
//! they were declared, each on what the one before it left.

use std::sync::Arc;

use crate::{
    Call, CallEdits, CallResult, HookPoint, HookResult, HookVerdict, Machine, Out, ResultEdits,
    batch::{Batch, CallState, Stage},
    state::{Ask, Stop},
    storable::storable,
    wording::cut_middle,
};

impl Machine {
    pub(crate) fn before_hooks(
        &mut self,
        batch: &mut Batch,
        call: usize,
        first: usize,
        out: &mut Out,
    ) {
        match self.next_hook(HookPoint::BeforeToolCall, first) {
            Some(hook) => {
                batch.calls[call].stage = Stage::BeforeHook;
                self.ask(Ask::Hook { hook, call: Some(call) });
            }
            None => self.examine(batch, call, out),
        }
    }

    pub(crate) fn take_hook(
        &mut self,
        batch: &mut Batch,
        ask: Ask,
        verdict: HookVerdict,
        out: &mut Out,
    ) {
        let Ask::Hook { hook, call: Some(call) } = ask else { return };
        match (batch.calls[call].stage, verdict) {
            (Stage::BeforeHook, HookVerdict::Call(edits)) => {
                self.take_call_edits(batch, call, hook, *edits, out);
            }
            (Stage::AfterHook, HookVerdict::Result(edits)) => {
                self.take_result_edits(&mut batch.calls[call], *edits);
                self.after_hooks(batch, call, hook + 1, out);
            }
            (stage, HookVerdict::Interrupted) if !self.is_ending() && self.is_repeatable(hook) => {
                batch.calls[call].stage = stage;
                self.ask(ask);
            }
            (Stage::AfterHook, _) if self.is_ending() => self.settle(batch, call, out),
            (_, verdict) => {
                let error = self.hook_error(hook, &verdict);
                self.stop_batch(batch, Stop::Fail(Box::new(error)), out);
            }
        }
    }

    fn take_result_edits(&self, state: &mut CallState, edits: ResultEdits) {
        let Some(given) = edits.result else { return };
        let before = state.result.as_deref();
        let call_id = before.map_or(&state.original.id, |it| &it.tool_call_id);
        let mut result = self.fitted(given, state.effective(), call_id);
        result.keep_facts_of(before);
        state.result = Some(Arc::new(result));
    }

    fn take_call_edits(
        &mut self,
        batch: &mut Batch,
        call: usize,
        hook: usize,
        edits: CallEdits,
        out: &mut Out,
    ) {
        let state = &mut batch.calls[call];
        if let Some(mut patched) = edits.call {
            patched.arguments = Arc::new(storable(Arc::unwrap_or_clone(patched.arguments)));
            state.patched = Some(patched);
        }
        match edits.result {
            Some(given) => {
                let result = self.fitted(given, state.effective(), &state.original.id);
                self.after(batch, call, result, out);
            }
            None => self.before_hooks(batch, call, hook + 1, out),
        }
    }

    pub(crate) fn after_hooks(
        &mut self,
        batch: &mut Batch,
        call: usize,
        first: usize,
        out: &mut Out,
    ) {
        match self.next_hook(HookPoint::AfterToolCall, first) {
            Some(hook) if !self.is_ending() => {
                batch.calls[call].stage = Stage::AfterHook;
                self.ask(Ask::Hook { hook, call: Some(call) });
            }
            _ => self.settle(batch, call, out),
        }
    }

    /// The result that a hook gave for a call, as long as the tool allows.
    fn fitted(&self, mut given: HookResult, call: &Call, call_id: &Arc<str>) -> CallResult {
        let limit = self.plan.tool(&call.name).map_or(usize::MAX, |tool| tool.output_limit_bytes);
        given.content = cut_middle(&given.content, limit, "a hook gave it, the whole is not kept");
        crate::reply::given(given, call, call_id)
    }
}

//! Decides what one call goes through, from the model's wish to its result.
//!
//! Knows nothing about the order of calls. Invariants: a call comes to exactly one result; nothing
//! is asked about a call that could not run; what was approved is what runs.

use std::sync::Arc;

use runtime_ports::EffectClass;

use crate::{
    ArgumentFault, Call, CallResult, Event, Machine, Out, Outcome, TASK_FINISH, ToolEnd,
    batch::{Batch, Stage},
    reply::{ended_without_reply, not_committed, replied, tool_result_event, unusable_arguments},
    state::{Ask, Phase, Stop},
    storable::storable,
    wording::{argument_fault, skipped},
};

impl Machine {
    /// One step of one call.
    pub(crate) fn take_step(
        &mut self,
        mut batch: Box<Batch>,
        ask: Ask,
        outcome: Outcome,
        out: &mut Out,
    ) -> Phase {
        let call = ask.call().unwrap_or(0);
        match outcome {
            Outcome::HookReturned(verdict) => self.take_hook(&mut batch, ask, verdict, out),
            Outcome::ArgumentsChecked(verdict) => self.checked(&mut batch, call, verdict, out),
            Outcome::ApprovalConsulted(word) => self.consulted(&mut batch, call, word, out),
            Outcome::ApprovalAnswered(answer) => self.answered(&mut batch, call, answer, out),
            Outcome::ToolReturned(end) => self.returned(&mut batch, call, end, out),
            Outcome::InterruptionsCollected(collected) => {
                self.take_interruptions(&mut batch, call, collected, out);
            }
            Outcome::Reserved(granted) => {
                if let Ask::Reserve { spending } = ask {
                    self.take_batch_grant(&mut batch, spending, granted, out);
                }
            }
            Outcome::ChildSteered(heard) => self.task_steered(&mut batch, call, heard, out),
            Outcome::WaitOver => self.wait_over(&mut batch, call, out),
            // None of these is about a call; whoever adds an outcome says here whether it is.
            Outcome::ProfileResolved(_)
            | Outcome::ResourcesLoaded(_)
            | Outcome::InputsCollected(_)
            | Outcome::MemoryConsulted(_)
            | Outcome::ArtifactStored(_)
            | Outcome::Summarized(_)
            | Outcome::ModelReplied(_)
            | Outcome::ModelRepliedUnaudited { .. }
            | Outcome::AnswerChecked(_)
            | Outcome::ChildEnded(_) => {}
        }
        self.run_batch(batch, out)
    }

    /// The call's group begins.
    pub(crate) fn reach(&mut self, batch: &mut Batch, call: usize, out: &mut Out) {
        let state = &batch.calls[call];
        if state.duplicate {
            let error = "an earlier call of this answer has the same id; \
                         it alone was run, make this call again under an id of its own";
            let result = CallResult::failed(&state.original, "duplicate_tool_call_id", error);
            return self.finish(batch, call, Arc::new(not_committed(result)), out);
        }
        let event = Event::ToolCallPlanned {
            tool_name: Arc::clone(&state.original.name),
            tool_arguments: Arc::clone(&state.original.arguments),
            tool_call_id: Arc::clone(&state.original.id),
        };
        self.tell(event, out);
        self.before_hooks(batch, call, 0, out);
    }

    /// Whether the call could run at all.
    pub(crate) fn examine(&mut self, batch: &mut Batch, call: usize, out: &mut Out) {
        let asked = batch.calls[call].effective().clone();
        if let Err((code, error)) = self.advertised(batch, &asked) {
            let result = not_committed(CallResult::failed(&asked, code, error));
            return self.after(batch, call, result, out);
        }
        match asked.object() {
            Ok(arguments) => {
                batch.calls[call].patched = Some(Call { arguments, ..asked });
                batch.calls[call].stage = Stage::Checking;
                self.ask(Ask::Check { call });
            }
            Err(unusable) => {
                let (code, error) = unusable_arguments(unusable);
                let result = not_committed(CallResult::failed(&asked, code, error));
                self.after(batch, call, result, out);
            }
        }
    }

    fn advertised(&self, batch: &Batch, call: &Call) -> Result<(), (&'static str, &'static str)> {
        if self.plan.tool(&call.name).is_none() {
            let error = "there is no tool of this name, call one of the listed tools";
            return Err(("tool_not_found", error));
        }
        let listed = self.state.tools.iter().any(|tool| tool.name == *call.name);
        if !listed || batch.hidden.contains(&*call.name) {
            let error = "this tool is not among those that were listed, call one of them";
            return Err(("tool_not_allowed", error));
        }
        Ok(())
    }

    fn checked(
        &mut self,
        batch: &mut Batch,
        call: usize,
        verdict: Result<(), ArgumentFault>,
        out: &mut Out,
    ) {
        match verdict {
            Ok(()) => self.rule(batch, call, out),
            Err(fault) => {
                let error = argument_fault(&fault.path, &fault.reason);
                let asked = batch.calls[call].effective();
                let result = CallResult::failed(asked, "invalid_arguments_type", &error);
                self.after(batch, call, not_committed(result), out);
            }
        }
    }

    /// Starts the tool, unless something must happen first.
    pub(crate) fn clear(&mut self, batch: &mut Batch, call: usize, out: &mut Out) {
        batch.calls[call].stage = Stage::Cleared;
        if self.state.stop.is_some() {
            return;
        }
        let alone = batch.group.1 - batch.group.0 == 1;
        let tool = self.plan.tool(&batch.calls[call].effective().name);
        match alone || tool.is_some_and(|tool| tool.parallel) {
            true => self.invoke(batch, call, out),
            false => batch.calls[call].stage = Stage::Deferred,
        }
    }

    pub(crate) fn invoke(&mut self, batch: &mut Batch, call: usize, out: &mut Out) {
        if !self.approval_holds(batch, call) {
            let error = "the call is another than the one that was approved";
            let asked = batch.calls[call].effective();
            let result = CallResult::failed(asked, "approval_denied", error);
            return self.after(batch, call, not_committed(result), out);
        }
        if !self.is_paid(batch, call) {
            return;
        }
        let key = self.next_id();
        let state = &mut batch.calls[call];
        state.key = Some(key);
        state.stage = Stage::Running;
        let started = state.effective();
        let event = Event::ToolCallStarted {
            tool_name: Arc::clone(&started.name),
            tool_arguments: Arc::clone(&started.arguments),
            tool_call_id: Arc::clone(&started.id),
        };
        self.tell(event, out);
        match self.delegation_tool(&batch.calls[call].effective().name) {
            Some(tool) => self.delegate(batch, call, tool, out),
            None => self.ask(Ask::Tool { call }),
        }
    }

    fn returned(&mut self, batch: &mut Batch, call: usize, end: ToolEnd, out: &mut Out) {
        let state = &mut batch.calls[call];
        let ran = state.effective().clone();
        let was_halted = end == ToolEnd::Cancelled && self.state.stop == Some(Stop::Suspend);
        if was_halted && self.may_run_again(&ran) {
            return self.ask(Ask::Tool { call });
        }
        let result = match end {
            ToolEnd::Replied(output) => {
                let mut output = *output;
                let writes = std::mem::take(&mut output.reply.state_writes);
                let writes = writes.into_iter().map(|(key, value)| (key, value.map(storable)));
                state.state_writes = writes.collect();
                replied(&ran, output)
            }
            end => ended_without_reply(&ran, end),
        };
        self.after(batch, call, result, out);
    }

    /// A result is there; the after hooks look at it.
    pub(crate) fn after(
        &mut self,
        batch: &mut Batch,
        call: usize,
        result: CallResult,
        out: &mut Out,
    ) {
        batch.calls[call].result = Some(Arc::new(result));
        self.after_hooks(batch, call, 0, out);
    }

    /// The result stands; what interrupts the batch is looked for.
    pub(crate) fn settle(&mut self, batch: &mut Batch, call: usize, out: &mut Out) {
        let Some(result) = batch.calls[call].result.take() else { return };
        self.finish(batch, call, result, out);
        self.check_interruptions(batch, call, out);
    }

    /// Gives a call its result and tells it.
    fn finish(&mut self, batch: &mut Batch, call: usize, result: Arc<CallResult>, out: &mut Out) {
        let state = &mut batch.calls[call];
        let event = tool_result_event(state.effective(), &result);
        state.stage = Stage::Done;
        state.result = Some(result);
        self.tell(event, out);
    }

    /// Gives a call that was not started a result that says so. One that was is left alone.
    pub(crate) fn skip(
        &mut self,
        batch: &mut Batch,
        call: usize,
        code: &'static str,
        out: &mut Out,
    ) {
        if !batch.calls[call].is_unstarted() {
            return;
        }
        self.withdraw(call, out);
        self.lapse_approval(batch, call, code, out);
        let state = &mut batch.calls[call];
        state.patched = None;
        let result = not_committed(CallResult::failed(&state.original, code, skipped(code)));
        self.finish(batch, call, Arc::new(result), out);
    }

    /// Whether the call is exempt from approval.
    pub(crate) fn is_exempt(call: &Call) -> bool {
        *call.name == *TASK_FINISH
    }

    pub(crate) fn may_run_again(&self, call: &Call) -> bool {
        if self.delegation_tool(&call.name).is_some() {
            return false;
        }
        let tool = self.plan.tool(&call.name);
        tool.is_some_and(|tool| tool.idempotent || tool.effect == EffectClass::ReadOnly)
    }
}

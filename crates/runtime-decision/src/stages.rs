//! Decides what one call goes through, from the model's wish to its result.
//!
//! Knows nothing about the order of calls. Invariants: a call comes to exactly one result; nothing
//! is asked about a call that could not run; what was approved is what runs.

use std::sync::Arc;

use runtime_ports::{CommitDisposition, EffectClass};

use crate::{
    ArgumentFault, Call, CallEdits, CallResult, Event, HookPoint, HookResult, HookVerdict, Machine,
    Out, Outcome, TASK_FINISH, ToolEnd, ToolOutput,
    batch::{Batch, Stage},
    call::UnusableArguments,
    state::{Ask, Phase, Stop},
    wording::MAX_CODE_BYTES,
    wording::{argument_fault, bounded, cut_middle, disposition, skipped, tool_failure},
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
            Outcome::ProfileResolved(_)
            | Outcome::InputsCollected(_)
            | Outcome::ModelReplied(_) => {}
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
            return self.finish(batch, call, not_committed(result), out);
        }
        let event = Event::ToolCallPlanned {
            tool_name: Arc::clone(&state.original.name),
            tool_arguments: Arc::clone(&state.original.arguments),
            tool_call_id: Arc::clone(&state.original.id),
        };
        self.tell(event, out);
        self.before_hooks(batch, call, 0, out);
    }

    fn before_hooks(&mut self, batch: &mut Batch, call: usize, first: usize, out: &mut Out) {
        match self.next_hook(HookPoint::BeforeToolCall, first) {
            Some(hook) => {
                batch.calls[call].stage = Stage::BeforeHook;
                self.ask(Ask::Hook { hook, call: Some(call) });
            }
            None => self.examine(batch, call, out),
        }
    }

    fn take_hook(&mut self, batch: &mut Batch, ask: Ask, verdict: HookVerdict, out: &mut Out) {
        let Ask::Hook { hook, call: Some(call) } = ask else { return };
        match (batch.calls[call].stage, verdict) {
            (Stage::BeforeHook, HookVerdict::Call(edits)) => {
                self.take_call_edits(batch, call, hook, *edits, out);
            }
            (Stage::AfterHook, HookVerdict::Result(edits)) => {
                if let Some(given) = edits.result {
                    let state = &mut batch.calls[call];
                    let mut result = given_result(given, &state.effective().id);
                    result.keep_facts_of(state.result.as_deref());
                    result.content = self.fitted(result.content, &state.effective().name);
                    state.result = Some(Arc::new(result));
                }
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

    fn take_call_edits(
        &mut self,
        batch: &mut Batch,
        call: usize,
        hook: usize,
        edits: CallEdits,
        out: &mut Out,
    ) {
        let state = &mut batch.calls[call];
        if let Some(patched) = edits.call {
            state.patched = Some(patched);
        }
        match edits.result {
            Some(given) => {
                let mut result = given_result(given, &state.original.id);
                result.content = self.fitted(result.content, &state.effective().name);
                self.after(batch, call, result, out);
            }
            None => self.before_hooks(batch, call, hook + 1, out),
        }
    }

    /// Whether the call could run at all.
    fn examine(&mut self, batch: &mut Batch, call: usize, out: &mut Out) {
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
        self.ask(Ask::Tool { call });
    }

    fn returned(&mut self, batch: &mut Batch, call: usize, end: ToolEnd, out: &mut Out) {
        let state = &mut batch.calls[call];
        let ran = state.effective().clone();
        let result = match end {
            ToolEnd::Replied(output) => {
                let mut output = *output;
                state.state_writes = std::mem::take(&mut output.reply.state_writes);
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

    fn after_hooks(&mut self, batch: &mut Batch, call: usize, first: usize, out: &mut Out) {
        match self.next_hook(HookPoint::AfterToolCall, first) {
            Some(hook) if !self.is_ending() => {
                batch.calls[call].stage = Stage::AfterHook;
                self.ask(Ask::Hook { hook, call: Some(call) });
            }
            _ => self.settle(batch, call, out),
        }
    }

    /// The result stands; what interrupts the batch is looked for.
    pub(crate) fn settle(&mut self, batch: &mut Batch, call: usize, out: &mut Out) {
        let Some(result) = batch.calls[call].result.clone() else { return };
        self.finish(batch, call, Arc::unwrap_or_clone(result), out);
        self.check_interruptions(batch, call, out);
    }

    /// Gives a call its result and tells it.
    fn finish(&mut self, batch: &mut Batch, call: usize, result: CallResult, out: &mut Out) {
        let state = &mut batch.calls[call];
        let result = Arc::new(result);
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
        self.finish(batch, call, result, out);
    }

    /// The content that a hook gave, as long as the tool allows.
    fn fitted(&self, content: Arc<str>, tool: &str) -> Arc<str> {
        let limit = self.plan.tool(tool).map_or(usize::MAX, |tool| tool.output_limit_bytes);
        if content.len() <= limit {
            return content;
        }
        cut_middle(&content, limit, "a hook gave it, the whole is not kept").into()
    }

    /// Whether the call is exempt from approval.
    pub(crate) fn is_exempt(call: &Call) -> bool {
        *call.name == *TASK_FINISH
    }

    pub(crate) fn may_run_again(&self, call: &Call) -> bool {
        let tool = self.plan.tool(&call.name);
        tool.is_some_and(|tool| tool.idempotent || tool.effect == EffectClass::ReadOnly)
    }
}

fn not_committed(result: CallResult) -> CallResult {
    result.with_commit(CommitDisposition::NotCommitted)
}

fn unusable_arguments(unusable: UnusableArguments) -> (&'static str, &'static str) {
    match unusable {
        UnusableArguments::NoJson => {
            ("invalid_arguments_json", "the arguments are no valid JSON, write them again")
        }
        UnusableArguments::NoObject => {
            ("invalid_arguments_payload", "the arguments must be a JSON object, write them as one")
        }
    }
}

/// What a tool replied, as the model is told it.
fn replied(call: &Call, output: ToolOutput) -> CallResult {
    let ToolOutput { reply, artifact } = output;
    let error_code = reply.error_code.map(|code| bounded(&code, MAX_CODE_BYTES).to_owned());
    let content = match &error_code {
        Some(code) => crate::failure_text(&reply.content, code, call.short_name()),
        None => reply.content,
    };
    CallResult {
        tool_call_id: Arc::clone(&call.id),
        content: content.into(),
        error_code: error_code.map(Into::into),
        directive: reply.directive,
        metadata: Arc::new(reply.metadata),
        commit: None,
        artifact,
        image: reply.image,
    }
}

fn ended_without_reply(call: &Call, end: ToolEnd) -> CallResult {
    let unknown = disposition(CommitDisposition::Unknown);
    let (code, error) = match end {
        ToolEnd::Failed(failure) => {
            let (code, error) = tool_failure(&failure);
            return CallResult::failed(call, &code, &error).with_commit(failure.commit);
        }
        ToolEnd::TimedOut => ("tool_timeout", format!("the tool ran out of time; {unknown}")),
        ToolEnd::Cancelled => {
            ("tool_cancelled", format!("the tool was cancelled at work; {unknown}"))
        }
        ToolEnd::Panicked | ToolEnd::Replied(_) => {
            ("tool_panicked", format!("the tool broke down at work; {unknown}"))
        }
    };
    CallResult::failed(call, code, &error).with_commit(CommitDisposition::Unknown)
}

/// What is told of a call whose outcome was lost with its process.
pub(crate) fn lost(call: &Call) -> CallResult {
    let error = "the run was interrupted while the tool was at work; \
                 it is unknown whether the effect took place, verify before you repeat it";
    let commit = CommitDisposition::Unknown;
    CallResult::failed(call, "tool_outcome_unknown", error).with_commit(commit)
}

/// A result that a hook gave, under the call's id where it names none.
fn given_result(given: HookResult, call_id: &Arc<str>) -> CallResult {
    let named = given.tool_call_id.trim();
    let tool_call_id = match named.is_empty() || named == "pending" {
        true => Arc::clone(call_id),
        false => named.into(),
    };
    CallResult {
        tool_call_id,
        content: given.content.into(),
        error_code: given.error_code.map(|code| bounded(&code, MAX_CODE_BYTES).into()),
        directive: given.directive,
        metadata: Arc::new(given.metadata),
        commit: None,
        artifact: None,
        image: None,
    }
}

impl CallResult {
    /// What a hook cannot say anything about stays as it was.
    fn keep_facts_of(&mut self, before: Option<&Self>) {
        let Some(before) = before else { return };
        self.commit = before.commit;
        self.artifact.clone_from(&before.artifact);
        self.image.clone_from(&before.image);
    }
}

fn tool_result_event(call: &Call, result: &Arc<CallResult>) -> Event {
    Event::ToolResult {
        tool_name: Arc::clone(&call.name),
        tool_arguments: Arc::clone(&call.arguments),
        tool_call_id: Arc::clone(&result.tool_call_id),
        status: result.status(),
        directive: result.directive,
        error_code: result.error_code.clone(),
        content: Arc::clone(&result.content),
        metadata: Arc::clone(&result.metadata),
    }
}

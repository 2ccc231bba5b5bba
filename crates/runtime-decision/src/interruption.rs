//! Decides when what was said meanwhile interrupts a batch of tools.
//!
//! Knows nothing about who said it. Invariants: what was found is applied once; a result that is
//! there stays; what has not started does not start.

use crate::{
    Collected, Event, Machine, Out, RunError,
    batch::{Batch, CallState, Stage, Steered},
    group::directive,
    state::{Ask, Stop},
    storable::storable_messages,
};

impl Machine {
    /// Looks for something that interrupts, after a result or an approval of `call`.
    pub(crate) fn check_interruptions(&mut self, batch: &mut Batch, call: usize, out: &mut Out) {
        if self.is_ending() {
            return;
        }
        if !self.state.terms.allow_interruption || self.has_nothing_to_interrupt(batch) {
            return self.start_cleared(batch, call, out);
        }
        match self.plan.definition().callbacks.interruptions {
            true => self.ask(Ask::Interruptions { call }),
            false => self.take_found(batch, call, Vec::new(), out),
        }
    }

    /// On the last cycle no model call would hear of it: what is said then is returned, unless it
    /// keeps a call from being started.
    fn has_nothing_to_interrupt(&self, batch: &Batch) -> bool {
        self.is_at_limit()
            && (directive(batch).is_some()
                || !batch.calls[batch.group.0..].iter().any(CallState::is_unstarted))
    }

    pub(crate) fn take_interruptions(
        &mut self,
        batch: &mut Batch,
        call: usize,
        collected: Collected,
        out: &mut Out,
    ) {
        match collected {
            Collected::Messages(messages) => self.take_found(batch, call, messages, out),
            Collected::Interrupted if self.is_ending() => {}
            Collected::Interrupted => self.ask(Ask::Interruptions { call }),
            Collected::Failed(message) => {
                let error = RunError::new("interruption_provider_failed", message);
                self.stop_batch(batch, Stop::Fail(Box::new(error)), out);
            }
        }
    }

    fn take_found(
        &mut self,
        batch: &mut Batch,
        call: usize,
        messages: Vec<runtime_ports::ModelMessage>,
        out: &mut Out,
    ) {
        let prompts: Vec<_> = self.state.steering.drain(..).collect();
        if !prompts.is_empty() || !messages.is_empty() {
            self.tell_found(batch, call, &prompts, out);
            let nothing =
                || Steered { after: call, prompts: Vec::new(), interruptions: Vec::new() };
            let steered = batch.steered.get_or_insert_with(nothing);
            steered.prompts.extend(prompts);
            steered.interruptions.extend(storable_messages(messages));
        }
        match batch.steered.is_some() {
            true => self.skip_unstarted(batch, out),
            false => self.start_cleared(batch, call, out),
        }
    }

    fn tell_found(
        &mut self,
        batch: &Batch,
        call: usize,
        prompts: &[crate::ReturnedSteering],
        out: &mut Out,
    ) {
        let after = batch.calls[call].effective().clone();
        for said in prompts {
            let event = Event::SessionSteerInterrupt {
                steering_id: said.steering_id,
                after_tool_call_id: std::sync::Arc::clone(&after.id),
                after_tool_name: std::sync::Arc::clone(&after.name),
                prompt: std::sync::Arc::clone(&said.prompt),
            };
            self.tell(event, out);
        }
    }

    /// Calls of the group that wait for something; those after it are skipped when it has ended.
    fn skip_unstarted(&mut self, batch: &mut Batch, out: &mut Out) {
        let (first, end) = batch.group;
        (first..end).for_each(|call| self.skip(batch, call, "skipped_due_to_steering", out));
    }

    fn start_cleared(&mut self, batch: &mut Batch, call: usize, out: &mut Out) {
        if batch.calls[call].stage == Stage::Cleared {
            self.clear(batch, call, out);
        }
    }
}

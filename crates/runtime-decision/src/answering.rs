//! Decides what becomes of a text with which a run would end, where the agent's answer has a schema.
//!
//! Knows that schemas are checked elsewhere; refuses to know what they say. Invariants: such a run
//! completes with an answer that was found good, or not at all; it is asked to correct it once.

use std::sync::Arc;

use runtime_ports::{ModelMessage, ModelRole};

use crate::{
    ArgumentFault, Event, Machine, Out, RunError,
    answer_text::value_in,
    state::{Ask, Candidate, Phase},
    wording::{answer_fault, correct_answer},
};

impl Machine {
    /// Completes with a text, once it was found to be an answer.
    pub(crate) fn complete_with(&mut self, text: Arc<str>, out: &mut Out) -> Phase {
        if self.plan.definition().answer.is_none() {
            return self.end_completed(text, None, out);
        }
        match value_in(&text) {
            Ok(value) => {
                self.ask(Ask::Answer);
                Phase::CheckingAnswer(Box::new(Candidate { text, value: Arc::new(value) }))
            }
            Err(reason) => self.refuse_answer(&ArgumentFault { path: String::new(), reason }, out),
        }
    }

    pub(crate) fn take_verdict(
        &mut self,
        candidate: Candidate,
        verdict: Result<(), ArgumentFault>,
        out: &mut Out,
    ) -> Phase {
        match verdict {
            Err(fault) => self.refuse_answer(&fault, out),
            // Somebody said something meanwhile: that is answered before the run ends.
            Ok(()) if !self.state.steering.is_empty() && !self.is_at_limit() => self.go_on(out),
            Ok(()) => self.end_completed(candidate.text, Some(candidate.value), out),
        }
    }

    /// Asks for another answer, in a cycle like any other; the second time the run fails.
    fn refuse_answer(&mut self, fault: &ArgumentFault, out: &mut Out) -> Phase {
        let wrong = answer_fault(&fault.path, &fault.reason);
        if self.state.answer_refused {
            let message = format!("{wrong}, and did so after the model was asked to correct it");
            return self.fail(RunError::new("answer_invalid", message), out);
        }
        if self.is_at_limit() {
            let message =
                format!("{wrong}, and no cycle was left to correct it in; allow more cycles");
            return self.fail(RunError::new("answer_invalid", message), out);
        }
        self.state.answer_refused = true;
        self.append(ModelMessage::text(ModelRole::User, correct_answer(&wrong)));
        self.extend_record();
        let asked = Event::CycleInjectedMessages { reason: "answer".into(), message_count: 1 };
        self.tell(asked, out);
        self.go_on(out)
    }
}

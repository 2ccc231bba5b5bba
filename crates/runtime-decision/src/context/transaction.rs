//! Decides when a context is compacted, in which order, and what follows.
//!
//! Knows nothing about how a level works. Invariants: levels are tried mildest first, until the
//! request is small enough; those who watch hear of an end only when something changed; a request
//! that is not expected to fit is not sent.

use runtime_ports::{ModelResponse, PortFailure, PortFailureKind};

use super::{
    Compaction, MemoryCall, MemoryDeclaration, MemoryMoment,
    compaction::{Cause, Level, Step},
    levels::MOST_HALVINGS,
    room::part,
};
use crate::{
    Collected, Edit, Event, HookPoint, Machine, Out, Outcome, RunError,
    repair::repaired,
    spending::Spending,
    state::{Ask, Phase, Preparation, RequestView},
    storable::storable_messages,
    unaudited::{code_of, is_of_audit},
};

/// Most answers of a provider that a prompt is too long, in one cycle.
pub(crate) const MOST_OVERLONG: u32 = 4;
/// To which part of what was too long, in percent, a prompt is brought by milder means before more is
/// left out.
const ENOUGH_PERCENT: u8 = 75;
/// By which part of the budget, in percent, a request grows before compaction that did not get far
/// is tried again.
const RESTS_PERCENT: u8 = 5;

impl Machine {
    /// Asks the memory providers from `first` on for what shapes the requests of this cycle; then
    /// looks at the size.
    pub(crate) fn recall(&mut self, view: RequestView, first: usize, out: &mut Out) -> Phase {
        match self.next_memory(first, |memory| memory.recalls) {
            Some(provider) => {
                self.ask(Ask::Memory { provider });
                Phase::Recalling(view)
            }
            None => self.weigh(view, out),
        }
    }

    fn next_memory(&self, first: usize, is: impl Fn(&MemoryDeclaration) -> bool) -> Option<usize> {
        let mut memory = self.plan.definition().memory.iter().enumerate().skip(first);
        memory.find(|(_, memory)| is(memory)).map(|(place, _)| place)
    }

    pub(crate) fn take_recall(
        &mut self,
        mut view: RequestView,
        ask: Ask,
        answer: Collected,
        out: &mut Out,
    ) -> Phase {
        let Ask::Memory { provider } = ask else { return Phase::Recalling(view) };
        match answer {
            Collected::Interrupted => {
                self.ask(ask);
                return Phase::Recalling(view);
            }
            Collected::Messages(messages) => {
                let front = self.front() + view.recalled;
                let messages = repaired(storable_messages(messages));
                view.recalled += messages.len();
                let numbered = (front..).zip(messages);
                view.edits.extend(numbered.map(|(at, item)| Edit::Insert { at, item }));
            }
            Collected::Failed(message) => self.warn_of_memory(provider, &message),
        }
        self.recall(view, provider + 1, out)
    }

    fn warn_of_memory(&mut self, provider: usize, message: &str) {
        let name = self.plan.definition().memory.get(provider).map(|memory| &*memory.name);
        let warning = format!("memory {} failed: {message}", name.unwrap_or("unknown"));
        self.warn(&warning);
    }

    /// Compacts when the request is over the threshold, or when the host asked for it.
    fn weigh(&mut self, mut view: RequestView, out: &mut Out) -> Phase {
        view.lasting = view.edits.len();
        match self.why_compact(&view) {
            Some(cause) => self.begin_compaction(view, cause, out),
            None => self.prepare_request(view, out),
        }
    }

    fn why_compact(&self, view: &RequestView) -> Option<Cause> {
        if self.state.cycle == 1 && self.state.terms.compact_first {
            return Some(Cause::Asked);
        }
        let policy = &self.plan.definition().context;
        let most = self.most_prompt_tokens().filter(|_| policy.compacts)?;
        let tokens = self.expected_tokens(self.plain_tokens(view));
        let is_over = tokens > part(most, policy.threshold_percent);
        let rests = tokens <= most && tokens <= self.state.rests_up_to;
        (is_over && !rests).then_some(Cause::Threshold)
    }

    /// Hooks before the model call, then the call.
    fn prepare_request(&mut self, view: RequestView, out: &mut Out) -> Phase {
        self.prepare(Preparation { view, point: HookPoint::BeforeLlm }, 0, out)
    }

    /// A provider said that the prompt is too long: it is made smaller, at most three times.
    pub(crate) fn take_overlong(
        &mut self,
        mut view: RequestView,
        failure: PortFailure,
        out: &mut Out,
    ) -> Phase {
        view.overlong += 1;
        if view.overlong >= MOST_OVERLONG {
            let mut error = RunError::of_port("compaction_exhausted", failure);
            error.message = exhausted(view.overlong);
            return self.fail(error, out);
        }
        self.measure_overlong(view.sent_tokens);
        view.edits.truncate(view.lasting);
        view.hidden.clear();
        self.begin_compaction(view, Cause::Overlong, out)
    }

    fn begin_compaction(&mut self, view: RequestView, cause: Cause, out: &mut Out) -> Phase {
        let messages_before = self.context().len();
        let started = Event::MemoryCompactStarted {
            message_count: messages_before,
            prompt_tokens: self.expected_tokens(self.plain_tokens(&view)),
            budget_tokens: self.most_prompt_tokens(),
        };
        self.tell(started, out);
        let at = Compaction {
            target: self.target(cause, &view),
            view,
            cause,
            step: Step::Before,
            messages_before,
            levels: Vec::new(),
            stored: Vec::new(),
            cut: None,
            halvings: 0,
        };
        self.tell_memory(Box::new(at), 0, out)
    }

    /// Tells the memory providers from `first` on, one by one; then goes on.
    fn tell_memory(&mut self, at: Box<Compaction>, first: usize, out: &mut Out) -> Phase {
        match (self.next_memory(first, |memory| memory.observes), at.step) {
            (Some(provider), _) => {
                self.ask(Ask::Memory { provider });
                Phase::Compacting(at)
            }
            (None, Step::After) => self.leave_compaction(at.view, at.cause, out),
            (None, _) => self.compact_from(at, Some(Level::Micro), out),
        }
    }

    /// Tries the levels from `level` on, until the request is small enough or something must be
    /// waited for.
    fn compact_from(
        &mut self,
        mut at: Box<Compaction>,
        mut level: Option<Level>,
        out: &mut Out,
    ) -> Phase {
        while let Some(now) = level.filter(|_| self.plain_tokens(&at.view) > at.target) {
            if self.enter(&mut at, now) {
                return Phase::Compacting(at);
            }
            level = now.next();
        }
        self.close_compaction(at, out)
    }

    /// Enters a level; whether something must be waited for.
    fn enter(&mut self, at: &mut Compaction, level: Level) -> bool {
        match level {
            Level::Micro => self.leave_out_results(at),
            Level::Offload => return self.offload(at),
            Level::Summary => return self.ask_for_summary(at),
            Level::Trim if self.is_last_resort(at) => self.trim(at),
            Level::Trim => {}
        }
        false
    }

    /// Whether a prompt that was called too long is not even a quarter smaller: nothing is left out
    /// that nobody summed up while milder means got that far.
    fn is_last_resort(&self, at: &Compaction) -> bool {
        let enough = part(at.view.sent_tokens, ENOUGH_PERCENT);
        at.cause == Cause::Overlong && self.plain_tokens(&at.view) > enough
    }

    fn offload(&mut self, at: &mut Compaction) -> bool {
        let places = self.results_to_offload(at);
        at.step = Step::Offloading;
        places.iter().for_each(|message| self.ask(Ask::Offload { message: *message }));
        !places.is_empty()
    }

    fn ask_for_summary(&mut self, at: &mut Compaction) -> bool {
        at.step = Step::Summarizing;
        at.cut = self.cut_for_summary(at);
        if at.cut.is_none() {
            return false;
        }
        let fits = self.may_sum_up(at);
        match fits {
            true => self.ask_paid(Spending::Summary),
            false => {
                at.cut = None;
                self.warn("no summary was asked for: what it must hold leaves no room for more");
            }
        }
        fits
    }

    pub(crate) fn take_compaction(
        &mut self,
        mut at: Box<Compaction>,
        ask: Ask,
        outcome: Outcome,
        out: &mut Out,
    ) -> Phase {
        match (ask, outcome) {
            (Ask::Memory { provider }, Outcome::MemoryConsulted(answer)) => {
                self.take_told(at, provider, answer, out)
            }
            (Ask::Offload { message }, Outcome::ArtifactStored(stored)) => {
                match stored {
                    Ok(digest) => self.note_artifact(&mut at, message, digest),
                    Err(failure) if self.was_halted(&failure) => self.ask(ask),
                    Err(failure) => self.warn(&format!("a result was not kept: {failure}")),
                }
                match self.is_offloading() {
                    true => Phase::Compacting(at),
                    false => {
                        self.put_excerpts(&mut at);
                        self.compact_from(at, Some(Level::Summary), out)
                    }
                }
            }
            (Ask::Reserve { .. }, Outcome::Reserved(Ok(_))) => {
                self.ask(Ask::Summary);
                Phase::Compacting(at)
            }
            (Ask::Reserve { .. }, Outcome::Reserved(Err(shortage))) => self.exhaust(shortage, out),
            (Ask::Summary, Outcome::Summarized(reply)) => self.take_summarized(at, reply, out),
            _ => Phase::Compacting(at),
        }
    }

    fn is_offloading(&self) -> bool {
        self.state.open.iter().any(|open| matches!(open.ask, Ask::Offload { .. }))
    }

    fn take_told(
        &mut self,
        at: Box<Compaction>,
        provider: usize,
        answer: Collected,
        out: &mut Out,
    ) -> Phase {
        match answer {
            Collected::Interrupted => {
                self.ask(Ask::Memory { provider });
                return Phase::Compacting(at);
            }
            Collected::Failed(message) => self.warn_of_memory(provider, &message),
            Collected::Messages(_) => {}
        }
        self.tell_memory(at, provider + 1, out)
    }

    fn take_summarized(
        &mut self,
        mut at: Box<Compaction>,
        reply: Result<ModelResponse, PortFailure>,
        out: &mut Out,
    ) -> Phase {
        let cycle = self.state.cycle;
        match reply {
            Ok(response) => {
                let (usage, cost) = (response.usage, response.cost_nano_usd);
                self.state.ledger.answered(cycle, &response.attempts, usage, cost);
                self.charge_call(Spending::Summary, |bill| bill.answered(&response), out);
                if self.is_ending() {
                    return self.end_stopped(out);
                }
                if let Err(reason) = self.take_summary(&mut at, &response) {
                    self.warn(&format!("a summary was not taken: {reason}"));
                }
            }
            Err(failure) => {
                self.state.ledger.failed(cycle, &failure);
                self.charge_call(Spending::Summary, |bill| bill.failed(&failure), out);
                if self.is_ending() {
                    return self.end_stopped(out);
                }
                if self.asks_again(&mut at, &failure) {
                    self.ask_paid(Spending::Summary);
                    return Phase::Compacting(at);
                }
                if is_of_audit(&failure) {
                    return self.fail(RunError::of_port(code_of(&failure), failure), out);
                }
                at.cut = None;
                self.warn(&format!("no summary was made: {failure}"));
            }
        }
        self.compact_from(at, Some(Level::Trim), out)
    }

    /// Whether a summary is asked for again: as it was when it was only stopped, and a shorter
    /// stretch of text when the summariser found it too long.
    fn asks_again(&self, at: &mut Compaction, failure: &PortFailure) -> bool {
        if self.was_halted(failure) {
            return true;
        }
        let may = failure.kind == PortFailureKind::ContextOverflow && at.halvings < MOST_HALVINGS;
        at.halvings += u32::from(may);
        may && self.may_sum_up(at)
    }

    fn close_compaction(&mut self, mut at: Box<Compaction>, out: &mut Out) -> Phase {
        let plain = self.plain_tokens(&at.view);
        let prompt_tokens = self.expected_tokens(plain);
        let rest = self.most_prompt_tokens().filter(|_| plain > at.target);
        self.state.rests_up_to =
            rest.map_or(0, |most| prompt_tokens.saturating_add(part(most, RESTS_PERCENT)));
        if at.levels.is_empty() {
            return self.leave_compaction(at.view, at.cause, out);
        }
        at.view.compacted = true;
        // All edits are those from before it; there may be more of them now.
        at.view.lasting = at.view.edits.len();
        let completed = Event::MemoryCompactCompleted {
            messages_before: at.messages_before,
            messages_after: self.context().len(),
            prompt_tokens,
            levels: at.levels.iter().map(|level| level.name()).collect(),
        };
        self.tell(completed, out);
        at.step = Step::After;
        self.tell_memory(at, 0, out)
    }

    fn leave_compaction(&mut self, view: RequestView, cause: Cause, out: &mut Out) -> Phase {
        if cause == Cause::Overlong && self.plain_tokens(&view) >= view.sent_tokens {
            return self.fail(RunError::new("compaction_exhausted", exhausted(view.overlong)), out);
        }
        self.prepare_request(view, out)
    }

    /// Sends the request, unless it is not expected to fit.
    pub(crate) fn call_model(&mut self, mut view: RequestView, out: &mut Out) -> Phase {
        let plain = self.plain_tokens(&view);
        if view.overlong > 0 && plain >= view.sent_tokens {
            return self.fail(RunError::new("compaction_exhausted", exhausted(view.overlong)), out);
        }
        let tokens = self.expected_tokens(plain);
        if let Some(most) = self.most_prompt_tokens().filter(|most| tokens > *most) {
            let message = too_large(tokens, most);
            return self.fail(RunError::new("context_too_large", message), out);
        }
        view.sent_tokens = plain;
        self.ask_paid(Spending::Model);
        Phase::AwaitingModel(view)
    }

    pub(crate) fn memory_call(&self, provider: usize) -> MemoryCall {
        let (moment, view) = match self.present() {
            Phase::Compacting(at) if at.step == Step::After => {
                (MemoryMoment::AfterCompact, &at.view)
            }
            Phase::Compacting(at) => (MemoryMoment::BeforeCompact, &at.view),
            Phase::Recalling(view) => (MemoryMoment::Recall, view),
            _ => panic!("a memory provider is called in a phase of its own"),
        };
        MemoryCall {
            provider,
            moment,
            cycle: self.state.cycle,
            history: self.state.history.clone(),
            context: self.context().clone(),
            prompt_tokens: self.expected_tokens(self.plain_tokens(view)),
        }
    }
}

fn exhausted(attempts: u32) -> std::sync::Arc<str> {
    format!(
        "the prompt stayed too long for the model (attempts: {attempts}); make the task smaller, or \
         take a model with a larger window"
    )
    .into()
}

fn too_large(tokens: u64, most: u64) -> String {
    let over = tokens - most;
    format!(
        "the request has about {tokens} tokens, {over} more than fit, and could not be made \
         smaller; shorten what was said, advertise fewer tools, or take a model with a larger window"
    )
}

//! Decides how a run starts and how a cycle comes to its model call.
//!
//! Knows nothing about answers. Invariant: what hooks change shapes this one request and never
//! enters the history.

use std::sync::Arc;

use runtime_ports::{ModelMessage, ModelProfile, ModelRole, PortFailure, PortFailureKind};

use crate::{
    Collected, Event, HookPoint, HookVerdict, Machine, Out, RunError,
    repair::repaired,
    state::{Ask, Phase, Preparation, RequestView, Stop},
    storable::{storable_edits, storable_messages},
};

impl Machine {
    pub(crate) fn start(&mut self, out: &mut Out) -> Phase {
        let definition = self.plan.definition();
        let loads = definition.callbacks.resources;
        let started = Event::RunStarted {
            model: definition.model.clone(),
            workspace: definition.workspace.clone(),
            max_cycles: self.state.terms.max_cycles,
        };
        self.tell(started, out);
        self.ask(Ask::Profile);
        if self.pays_for_summaries() {
            self.ask(Ask::SummaryProfile);
        }
        if loads {
            self.ask(Ask::Resources);
        }
        Phase::ResolvingModel
    }

    /// Whether the price of a model that only sums up matters to the run.
    fn pays_for_summaries(&self) -> bool {
        let context = &self.plan.definition().context;
        self.state.terms.cost_budgeted && context.compacts && context.summary_model.is_some()
    }

    /// The model that a profile is asked for.
    pub(crate) fn model_of(&self, ask: Ask) -> Arc<str> {
        let definition = self.plan.definition();
        let summarizer = definition.context.summary_model.as_ref();
        let summarizer = summarizer.filter(|_| ask == Ask::SummaryProfile);
        Arc::clone(summarizer.unwrap_or(&definition.model))
    }

    pub(crate) fn take_profile(
        &mut self,
        ask: Ask,
        profile: Result<ModelProfile, PortFailure>,
        out: &mut Out,
    ) -> Phase {
        match profile {
            Ok(profile) if self.state.terms.cost_budgeted && profile.price.is_none() => {
                self.fail(unpriced(&self.model_of(ask)), out)
            }
            Ok(profile) => {
                match ask {
                    Ask::SummaryProfile => self.state.summary_price = profile.price,
                    _ => self.state.profile = Some(profile),
                }
                self.begin(out)
            }
            Err(failure) if self.was_halted(&failure) => {
                self.ask(ask);
                Phase::ResolvingModel
            }
            Err(failure) => self.fail(RunError::of_port("model_profile_failed", failure), out),
        }
    }

    /// Whether a failure only says that a suspension stopped the call.
    pub(crate) fn was_halted(&self, failure: &PortFailure) -> bool {
        self.state.stop == Some(Stop::Suspend) && failure.kind == PortFailureKind::Canceled
    }

    /// The next cycle, unless the run stops or has none left.
    pub(crate) fn go_on(&mut self, out: &mut Out) -> Phase {
        match self.state.stop {
            None | Some(Stop::Suspend) if self.is_at_limit() => self.end_at_limit(out),
            None => self.open_cycle(out),
            Some(Stop::Suspend) => Phase::BetweenCycles,
            Some(_) => self.end_stopped(out),
        }
    }

    /// Whether the present cycle is the last one.
    pub(crate) const fn is_at_limit(&self) -> bool {
        self.state.cycle >= self.state.terms.max_cycles
    }

    fn open_cycle(&mut self, out: &mut Out) -> Phase {
        self.state.cycle += 1;
        if self.plan.definition().callbacks.before_cycle {
            self.ask(Ask::CycleInputs);
            return Phase::CollectingInputs;
        }
        self.enter_cycle(Vec::new(), out)
    }

    pub(crate) fn take_inputs(&mut self, inputs: Collected, out: &mut Out) -> Phase {
        match inputs {
            Collected::Messages(messages) => self.enter_cycle(messages, out),
            Collected::Interrupted => {
                self.ask(Ask::CycleInputs);
                Phase::CollectingInputs
            }
            Collected::Failed(message) => {
                self.fail(RunError::new("before_cycle_failed", message), out)
            }
        }
    }

    fn enter_cycle(&mut self, messages: Vec<ModelMessage>, out: &mut Out) -> Phase {
        self.inject("before_cycle", messages, out);
        let ends = self.untold_ends();
        self.inject("sub_tasks", ends, out);
        self.drain_at_cycle_start(out);
        let cycle_started = Event::CycleStarted {
            max_cycles: self.state.terms.max_cycles,
            message_count: self.state.history.len(),
        };
        self.tell(cycle_started, out);
        let view = RequestView::default();
        self.prepare(Preparation { view, point: HookPoint::BeforeMemoryCompact }, 0, out)
    }

    /// What a host gives is repaired: it must not leave a call of its own unanswered.
    fn inject(&mut self, reason: &str, messages: Vec<ModelMessage>, out: &mut Out) {
        let messages = repaired(storable_messages(messages));
        let message_count = messages.len();
        if message_count == 0 {
            return;
        }
        self.append_all(messages);
        self.tell(Event::CycleInjectedMessages { reason: reason.into(), message_count }, out);
    }

    fn drain_at_cycle_start(&mut self, out: &mut Out) {
        let mut messages = Vec::new();
        while let Some(said) = self.state.steering.pop_front() {
            messages.push(ModelMessage::text(ModelRole::User, &*said.prompt));
            let (steering_id, prompt) = (said.steering_id, said.prompt);
            self.tell(Event::SessionSteerDequeued { steering_id, prompt }, out);
        }
        self.inject("steering", messages, out);
    }

    /// The hooks from `first` on, one by one; then compaction, or the model.
    pub(crate) fn prepare(&mut self, at: Preparation, first: usize, out: &mut Out) -> Phase {
        match self.next_hook(at.point, first) {
            Some(hook) => {
                self.ask(Ask::Hook { hook, call: None });
                Phase::Preparing(at)
            }
            None if at.point == HookPoint::BeforeMemoryCompact => self.recall(at.view, 0, out),
            None => self.call_model(at.view, out),
        }
    }

    pub(crate) fn take_preparation(
        &mut self,
        mut at: Preparation,
        ask: Ask,
        verdict: HookVerdict,
        out: &mut Out,
    ) -> Phase {
        let Ask::Hook { hook, .. } = ask else { return Phase::Preparing(at) };
        match (at.point, verdict) {
            (HookPoint::BeforeMemoryCompact, HookVerdict::Messages(edits)) => {
                at.view.edits.extend(storable_edits(edits));
                self.prepare(at, hook + 1, out)
            }
            (HookPoint::BeforeLlm, HookVerdict::Request(edits)) => {
                at.view.edits.extend(storable_edits(edits.messages));
                at.view.hidden.extend(edits.hide_tools);
                self.prepare(at, hook + 1, out)
            }
            (_, HookVerdict::Interrupted) if self.is_repeatable(hook) => {
                self.ask(ask);
                Phase::Preparing(at)
            }
            (_, verdict) => {
                let error = self.hook_error(hook, &verdict);
                self.fail(error, out)
            }
        }
    }

    /// The next hook from `first` on that wants to run at `point`.
    pub(crate) fn next_hook(&self, point: HookPoint, first: usize) -> Option<usize> {
        let hooks = self.plan.definition().hooks.iter().enumerate().skip(first);
        let mut wanting = hooks.filter(|(_, hook)| hook.points.contains(&point));
        wanting.next().map(|(place, _)| place)
    }

    pub(crate) fn is_repeatable(&self, hook: usize) -> bool {
        self.plan.definition().hooks.get(hook).is_some_and(|hook| hook.repeatable)
    }

    /// Why a hook that gave no edits of its point ends the run.
    pub(crate) fn hook_error(&self, hook: usize, verdict: &HookVerdict) -> RunError {
        let hooks = &self.plan.definition().hooks;
        let name = hooks.get(hook).map_or("unknown", |hook| &*hook.name);
        match verdict {
            HookVerdict::Failed(message) => {
                RunError::new("hook_failed", format!("hook {name} failed: {message}"))
            }
            HookVerdict::Interrupted => RunError::new(
                "hook_outcome_unknown",
                format!("hook {name} was interrupted and may not run twice; declare it repeatable"),
            ),
            _ => RunError::new(
                "hook_failed",
                format!("hook {name} gave edits of another point than the one it ran at"),
            ),
        }
    }
}

fn unpriced(model: &str) -> RunError {
    let message = format!(
        "the cost is limited and nobody knows the price of {model}; \
         give the model a price, or limit tokens in the place of cost"
    );
    RunError::new("budget_unpriced_model", message)
}

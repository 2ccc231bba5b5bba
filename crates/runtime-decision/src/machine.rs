//! Decides what happens next: one table over (phase, what happened).
//!
//! Knows no clock, no randomness, no IO. Invariants: a refused input changes nothing; the same
//! inputs give the same effects, events and ids; nothing is told after a terminal event.

use std::sync::Arc;

use runtime_ports::Transcript;

use crate::{
    EVENT_VERSION, EffectId, Event, Happened, Input, Out, Outcome, Plan, Refused, Requested,
    RunEvent, RunIdentity, RunResult, RunStatus, Task,
    kept_record::KeptRecord,
    repair::repaired,
    state::{Ask, Open, Phase, Standing, State, Stop, Terms},
    storable::{storable_map, storable_messages},
    wording::bounded,
};

/// Most warnings of a run.
const MOST_WARNINGS: usize = 64;
/// Longest warning, in bytes.
const MAX_WARNING_BYTES: usize = 500;

/// One run of an agent.
///
/// # Contract
/// - Feed it [`Happened::Started`], perform what it asks for, and report exactly one outcome for
///   each effect that it does not withdraw. Outcomes may come in any order.
/// - It can be stored between any two inputs ([`Self::to_json`]) and loaded again
///   ([`Self::from_json`]); [`Self::pending`] then says what was open.
/// - A refused input changes nothing and asks for nothing.
#[derive(Debug, Clone)]
pub struct Machine {
    pub(crate) plan: Arc<Plan>,
    pub(crate) state: State,
}

/// What happened, with the effect that it is about.
enum Fact {
    Started,
    Settled(Ask, Outcome),
    Steered,
    Decided(usize, runtime_ports::ApprovalDecision),
    Cancelled,
    Suspended,
    Resumed,
    WallTimeElapsed,
    SpentBelow(Box<crate::Spent>),
}

impl Machine {
    /// A run that has not started. Calls and results of `task.messages` are paired where they are
    /// not.
    #[must_use]
    pub fn new(plan: Arc<Plan>, identity: RunIdentity, task: Task) -> Self {
        let terms = Terms::of(&plan, &task);
        let tools = terms.tools(&plan);
        let history = opening(&plan, &task);
        let context = task.context.as_ref().and_then(|carried| carried.over(&history));
        let context = context.map(Box::new);
        let state = State {
            identity: Arc::new(identity),
            history,
            context,
            spent: None,
            reservations: Vec::new(),
            resources: None,
            answer_refused: false,
            measured: None,
            rests_up_to: 0,
            warnings: Vec::new(),
            children: None,
            shared: Arc::new(storable_map(task.shared_state)),
            terms,
            tool_tokens: plan.tool_tokens(&tools),
            tools,
            last_id: 0,
            sequence: 0,
            at_ms: 0,
            live_ms: 0,
            cycle: 0,
            phase: Phase::New,
            stop: None,
            open: Vec::new(),
            profile: None,
            summary_price: None,
            steering: std::collections::VecDeque::new(),
            last_steering: 0,
            allowed: std::collections::BTreeSet::new(),
            decided: std::collections::BTreeSet::new(),
            records: crate::log::Log::default(),
            ledger: crate::Ledger::default(),
        };
        let mut run = Self { plan, state };
        if task.context.is_some() && run.state.context.is_none() {
            run.warn("the context that was carried over belongs to another history, and was left");
        }
        run
    }

    /// Takes one input and adds to `out` what follows from it.
    ///
    /// # Errors
    /// The input cannot come now; nothing was changed.
    pub fn handle(&mut self, input: Input, out: &mut Out) -> Result<(), Refused> {
        self.admit(&input)?;
        self.pass_time(&input);
        let fact = self.fact(input.happened);
        self.decide(fact, out);
        self.settle_suspension(out);
        self.send_due(out);
        Ok(())
    }

    /// A run is not live before its start, while it is suspended, and while it has no process.
    fn pass_time(&mut self, input: &Input) {
        let is_idle = matches!(self.state.phase, Phase::New | Phase::Suspended(_))
            || input.happened == Happened::Resumed;
        if !is_idle {
            let passed = input.at_ms.saturating_sub(self.state.at_ms);
            self.state.live_ms = self.state.live_ms.saturating_add(passed);
        }
        self.state.at_ms = input.at_ms;
    }

    /// The table. Whatever [`Self::admit`] lets through has an arm.
    fn decide(&mut self, fact: Fact, out: &mut Out) {
        let phase = std::mem::replace(&mut self.state.phase, Phase::New);
        self.state.phase = match (phase, fact) {
            (Phase::New, Fact::Started) => self.start(out),
            (phase, Fact::SpentBelow(spent)) => {
                self.spend(&spent);
                phase
            }
            (phase, Fact::Settled(ask, outcome)) => self.settle_effect(phase, ask, outcome, out),
            (Phase::RunningTools(batch), Fact::Decided(call, decision)) => {
                self.take_decision(batch, call, decision, out)
            }
            (Phase::Suspended(inner), Fact::Decided(call, decision)) => {
                self.keep_decision(inner, call, decision)
            }
            (Phase::Suspended(inner), Fact::Resumed) => self.resume(*inner, out),
            (Phase::Suspended(inner), Fact::Cancelled) => self.cancel_suspended(*inner, out),
            (Phase::Closing(ending), Fact::Cancelled) => self.cancel_closing(ending),
            (phase @ Phase::Suspended(_), Fact::Suspended)
            | (phase @ Phase::Closing(_), Fact::Suspended | Fact::WallTimeElapsed) => phase,
            (phase, Fact::Steered) => self.hear(phase, out),
            (phase, Fact::Cancelled) => self.stop(phase, Stop::Cancel, out),
            (phase, Fact::WallTimeElapsed) => {
                let shortage = self.time_shortage();
                self.stop(phase, Stop::Budget(Box::new(shortage)), out)
            }
            (phase, Fact::Suspended) => self.suspend(phase, out),
            (phase, Fact::Resumed) => self.reopen(phase, out),
            (phase, _) => phase,
        };
    }

    /// The rows of the table that are about an outcome.
    fn settle_effect(&mut self, phase: Phase, ask: Ask, outcome: Outcome, out: &mut Out) -> Phase {
        match (phase, ask, outcome) {
            // Whatever the run is at: a child may end at any time.
            (phase, Ask::Child { child }, Outcome::ChildEnded(end)) => {
                self.child_ended(phase, child, end, out)
            }
            (Phase::ResolvingModel, ask, Outcome::ProfileResolved(profile)) => {
                self.take_profile(ask, profile, out)
            }
            (Phase::ResolvingModel, _, Outcome::ResourcesLoaded(loaded)) => {
                self.take_resources(loaded, out)
            }
            (Phase::CollectingInputs, _, Outcome::InputsCollected(inputs)) => {
                self.take_inputs(inputs, out)
            }
            (Phase::Preparing(at), ask, Outcome::HookReturned(verdict)) => {
                self.take_preparation(at, ask, verdict, out)
            }
            (Phase::AwaitingModel(view), _, Outcome::Reserved(granted)) => {
                self.take_call_grant(view, granted, out)
            }
            (Phase::Recalling(view), ask, Outcome::MemoryConsulted(answer)) => {
                self.take_recall(view, ask, answer, out)
            }
            (Phase::Compacting(at), ask, outcome) => self.take_compaction(at, ask, outcome, out),
            (Phase::AwaitingModel(view), _, Outcome::ModelReplied(reply)) => {
                self.take_reply(view, reply, out)
            }
            (
                Phase::AwaitingModel(view),
                _,
                Outcome::ModelRepliedUnaudited { response, failure },
            ) => self.take_unaudited(view, *response, failure, out),
            (Phase::Reviewing(at), ask, Outcome::HookReturned(verdict)) => {
                self.take_review(at, ask, verdict, out)
            }
            (Phase::CheckingAnswer(at), _, Outcome::AnswerChecked(verdict)) => {
                self.take_verdict(*at, verdict, out)
            }
            (Phase::RunningTools(batch), ask, outcome) => self.take_step(batch, ask, outcome, out),
            (phase, ..) => phase,
        }
    }

    /// What [`Self::admit`] let through, without the entry of a settled effect.
    fn fact(&mut self, happened: Happened) -> Fact {
        match happened {
            Happened::Started => Fact::Started,
            Happened::Settled { effect, outcome } => {
                let place = self.state.open.iter().position(|open| open.id == effect.0);
                let open = self.state.open.remove(place.expect("the effect was found open"));
                if let (Ask::Reserve { spending }, Outcome::Reserved(Ok(grant))) =
                    (open.ask, &*outcome)
                {
                    self.keep_grant(open.id, spending, grant);
                }
                Fact::Settled(open.ask, *outcome)
            }
            Happened::Steered { steering_id, prompt } => {
                self.state.last_steering = steering_id;
                self.state.steering.push_back(crate::ReturnedSteering { steering_id, prompt });
                Fact::Steered
            }
            Happened::Decided { request_id, decision } => {
                let (call, _) = self.asking(&request_id).expect("the approval was found open");
                Fact::Decided(call, decision)
            }
            Happened::Cancelled => Fact::Cancelled,
            Happened::Suspended => Fact::Suspended,
            Happened::Resumed => Fact::Resumed,
            Happened::WallTimeElapsed => Fact::WallTimeElapsed,
            Happened::SpentBelow { spent } => Fact::SpentBelow(spent),
        }
    }

    /// The one place where effects leave: what is due is asked for, or held while the run is about
    /// to be suspended.
    fn send_due(&mut self, out: &mut Out) {
        let holds = self.state.stop == Some(Stop::Suspend) || self.is_suspended();
        for place in 0..self.state.open.len() {
            let open = &mut self.state.open[place];
            if open.standing != Standing::Due {
                continue;
            }
            open.standing = if holds { Standing::Held } else { Standing::Asked };
            if !holds {
                let (id, ask) = (open.id, open.ask);
                out.effects.push(Requested { id: EffectId(id), effect: self.effect(id, ask) });
            }
        }
    }

    /// Whether the run is on its way to an end.
    pub(crate) fn is_ending(&self) -> bool {
        !matches!(self.state.stop, None | Some(Stop::Suspend))
    }

    pub(crate) fn next_id(&mut self) -> u64 {
        self.state.last_id += 1;
        self.state.last_id
    }

    /// An id of the run as text.
    pub(crate) fn id_text(&self, number: u64) -> Arc<str> {
        self.state.identity.numbered(number)
    }

    /// Asks for something; it leaves at the end of the present input.
    pub(crate) fn ask(&mut self, ask: Ask) {
        let id = self.next_id();
        self.state.open.push(Open { id, ask, standing: Standing::Due });
    }

    /// Notes what went wrong without ending the run. Of many, the first are kept.
    pub(crate) fn warn(&mut self, warning: &str) {
        if self.state.warnings.len() < MOST_WARNINGS {
            self.state.warnings.push(bounded(warning, MAX_WARNING_BYTES).into());
        }
    }

    pub(crate) fn tell(&mut self, event: Event, out: &mut Out) {
        self.state.sequence += 1;
        out.events.push(RunEvent {
            version: EVENT_VERSION,
            identity: Arc::clone(&self.state.identity),
            sequence: self.state.sequence,
            delta: None,
            at_ms: self.state.at_ms,
            cycle: Some(self.state.cycle).filter(|cycle| *cycle > 0),
            event,
        });
    }

    /// The plan that the run follows.
    #[must_use]
    pub const fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The names of the run.
    #[must_use]
    pub const fn identity(&self) -> &Arc<RunIdentity> {
        &self.state.identity
    }

    /// The history so far. A clone costs two reference counts.
    #[must_use]
    pub const fn history(&self) -> &Transcript {
        &self.state.history
    }

    /// The present cycle, from 1; 0 before the first.
    #[must_use]
    pub const fn cycle(&self) -> u32 {
        self.state.cycle
    }

    /// Sequence number of the last event.
    #[must_use]
    pub const fn sequence(&self) -> u64 {
        self.state.sequence
    }

    /// How long the run was live up to its last input, suspensions excepted, in milliseconds.
    #[must_use]
    pub const fn live_ms(&self) -> u64 {
        self.state.live_ms
    }

    /// What tools are told beside their arguments: the agent's metadata, overlaid by the task's.
    #[must_use]
    pub const fn tool_metadata(&self) -> &Arc<serde_json::Map<String, serde_json::Value>> {
        &self.state.terms.tool_metadata
    }

    /// Whether the run has not started.
    #[must_use]
    pub const fn is_new(&self) -> bool {
        matches!(self.state.phase, Phase::New)
    }

    /// Id of the last steering message that was taken; 0 before the first.
    #[must_use]
    pub const fn last_steering(&self) -> u64 {
        self.state.last_steering
    }

    /// Name of the phase, for people.
    #[must_use]
    pub const fn phase(&self) -> &'static str {
        self.state.phase.name()
    }

    /// Whether the run is suspended and can be stored, resumed or cancelled.
    #[must_use]
    pub const fn is_suspended(&self) -> bool {
        matches!(self.state.phase, Phase::Suspended(_))
    }

    /// What is left of the run, once it has ended.
    #[must_use]
    pub fn result(&self) -> Option<RunResult> {
        let Phase::Ended(ending) = &self.state.phase else { return None };
        Some(RunResult {
            run_id: Arc::clone(&self.state.identity.run_id),
            status: ending.status,
            final_answer: ending.final_answer.clone(),
            wait_reason: ending.wait_reason.clone(),
            error: ending.error.clone(),
            history: self.state.history.clone(),
            context: self.state.context.as_ref().map(|context| context.carried()),
            spent: self.spent(),
            shortage: ending.shortage.as_deref().cloned(),
            answer: ending.answer.as_deref().cloned(),
            resources_digest: self.state.resources.as_ref().map(|it| Arc::clone(&it.digest)),
            warnings: self.state.warnings.clone(),
            cycles: self.state.records.iter().map(KeptRecord::record).collect(),
            usage: self.state.ledger.usage(),
            ledger: self.state.ledger.clone(),
            shared_state: Arc::clone(&self.state.shared),
            returned_steering: self.state.steering.iter().cloned().collect(),
            metadata: Arc::clone(&self.state.terms.metadata),
        })
    }

    /// How the run ended, once it has.
    #[must_use]
    pub fn status(&self) -> Option<RunStatus> {
        match &self.state.phase {
            Phase::Ended(ending) => Some(ending.status),
            _ => None,
        }
    }
}

/// What the history begins with.
fn opening(plan: &Plan, task: &Task) -> Transcript {
    use runtime_ports::{ModelMessage, ModelRole};

    let mut messages = repaired(storable_messages(task.messages.clone()));
    let has_system = messages.first().is_some_and(|first| first.role == ModelRole::System);
    let instructions = plan.definition().instructions.as_ref().filter(|it| !it.trim().is_empty());
    if let Some(instructions) = instructions.filter(|_| !has_system) {
        messages.insert(0, ModelMessage::text(ModelRole::System, &**instructions));
    }
    if let Some(answer) = &plan.definition().answer {
        answer.tell(&mut messages);
    }
    if !task.prompt.trim().is_empty() {
        messages.push(ModelMessage::text(ModelRole::User, &*task.prompt));
    }
    messages.into()
}

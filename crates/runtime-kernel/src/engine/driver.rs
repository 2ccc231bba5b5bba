//! Decides nothing: feeds what happened to the machine and performs what it asks for.
//!
//! Knows effects, halts and events; refuses to know the rules of a run. Invariants: each effect has
//! one outcome; every event is published and traced in order; nothing of the run outlives this
//! future but a tool that blocks its thread.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use futures_util::FutureExt as _;
use runtime_decision::{
    ChildEnd, Effect, EffectId, Halt, Happened, Input, Machine, Out, Outcome, Refused, Requested,
    RunEvent, Spent,
};
use runtime_ports::{DeltaSink, OperationContext};
use runtime_types::{ExecutionId, OperationId};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::Instant,
};
use tracing::Span;

use super::{
    RunEnd, RunHandle, RunOptions, SteeringReceipt, SuspendedRun,
    account::Account,
    audit::{CallAudit, Purpose, RunAudit},
    cancelling::Cancelling,
    ends::Ends,
    event_hub::{EventHub, EventPublisher, event_hub_below},
    in_flight::{Ended, InFlight},
    parts::Parts,
    perform::{Dispatched, Frame},
    run_budget::{RunBudget, Spender},
    run_handle::{Concluded, MAILBOX, Message},
    steering::Steering,
    sub_tasks::SubTasks,
    trace_writer::TraceWriter,
};

/// Longest run without a limit of its own. Every wait within has a shorter one.
const LONGEST: Duration = Duration::from_hours(365 * 24);

/// The part of the grace, as its inverse, that is kept for what follows the last effect.
const REST_OF_GRACE: u32 = 10;

/// What can come next.
enum Next {
    Message(Option<Box<Message>>),
    Ended(Ended),
    FromOutside,
    Traced,
}

/// What a run has from those above it; a run of its own has none.
#[derive(Default)]
pub(super) struct Above<'a> {
    /// The budgets that it shares.
    pub(super) budget: Option<&'a Arc<RunBudget>>,
    /// Where it is watched, too.
    pub(super) hubs: Vec<EventHub>,
    /// Where it is told what it uses.
    pub(super) account: Option<Arc<Account>>,
}

/// Drives one run.
pub(super) struct Driver {
    parts: Arc<Parts>,
    machine: Machine,
    out: Out,
    /// What was settled at once, and is fed next.
    settled: VecDeque<(EffectId, Box<Outcome>)>,
    operation: OperationContext,
    in_flight: InFlight,
    mailbox: mpsc::Receiver<Box<Message>>,
    /// Whether the last thing that came was a message: then others go first.
    has_heard: bool,
    events: EventPublisher,
    sub_tasks: SubTasks,
    trace: Option<TraceWriter>,
    audit: Option<Arc<RunAudit>>,
    end: watch::Sender<Option<Concluded>>,
    steering: Steering,
    cancelling: Option<Cancelling>,
    ends: Ends,
    spender: Spender,
    account: Arc<Account>,
    /// Whether somebody above looks at the account.
    is_below: bool,
    /// The last event, which is told when everything else is done.
    last: Option<Arc<RunEvent>>,
    /// When everything must be over, once something was told to stop.
    over_by: Option<Instant>,
    /// The span of the present cycle, by its number.
    cycle: (u32, Span),
}

impl Driver {
    pub(super) fn new(
        parts: Arc<Parts>,
        machine: Machine,
        options: RunOptions,
        above: Above<'_>,
    ) -> (RunHandle, Self) {
        let (messages, mailbox) = mpsc::channel(MAILBOX);
        let (end, ended) = watch::channel(None);
        let (events, hub) = event_hub_below(above.hubs);
        let run_id = Arc::clone(&machine.identity().run_id);
        let budget = RunBudget::of(&machine, above.budget);
        let sub_tasks = match parts.sub_agents.is_empty() {
            true => SubTasks::default(),
            false => SubTasks::some(),
        };
        let handle = RunHandle::new(Arc::clone(&run_id), messages, ended, hub);
        let handle = handle.within(budget.clone()).above(sub_tasks.clone());
        let operation = operation(&run_id, options.operation.as_ref());
        let trace = parts.trace.clone().map(|trace| TraceWriter::new(trace, operation.clone()));
        let audit = parts.context_audit.clone().map(|session| {
            let protocol = machine.plan().definition().context.protocol_reserve_tokens;
            Arc::new(RunAudit::new(session, parts.patience.callback, protocol))
        });
        let grace = parts.patience.grace;
        let driver = Self {
            in_flight: InFlight::new(grace - grace / REST_OF_GRACE),
            ends: Ends::of(&operation),
            spender: Spender(budget),
            is_below: above.account.is_some(),
            account: above.account.unwrap_or_default(),
            steering: Steering::after(machine.last_steering()),
            out: Out::default(),
            settled: VecDeque::new(),
            has_heard: false,
            cancelling: None,
            last: None,
            over_by: None,
            cycle: (0, Span::none()),
            parts,
            machine,
            operation,
            mailbox,
            events,
            sub_tasks,
            trace,
            audit,
            end,
        };
        (handle, driver)
    }

    /// Drives the run from `first` to the end of this life of it.
    pub(super) async fn run(mut self: Box<Self>, first: Happened) -> RunEnd {
        self.limit_time();
        self.must_feed(first);
        self.tell_ends();
        while !self.is_over() {
            let next = self.next().await;
            self.take(next);
            // Lets others run where everything is ready at once.
            tokio::task::consume_budget().await;
        }
        Box::pin((*self).conclude()).await
    }

    /// The live time that is left, on tokio's clock.
    fn limit_time(&mut self) {
        if let Some(limit) = self.machine.plan().definition().limits.wall_time {
            self.ends.within(limit.saturating_sub(Duration::from_millis(self.machine.live_ms())));
        }
    }

    fn is_over(&self) -> bool {
        self.machine.status().is_some() || self.machine.is_suspended()
    }

    /// What comes next. A message goes first, so that a run whose effects are always ready can be
    /// cancelled; after a message all else does, so that many messages do not hold up the run.
    /// Cancel-safe.
    async fn next(&mut self) -> Next {
        if std::mem::take(&mut self.has_heard)
            && let Some(next) = at_work(&mut self.in_flight, &mut self.trace).now_or_never()
        {
            return next;
        }
        // What was said before the last handle was dropped still counts.
        let may_hear = !self.mailbox.is_closed() || !self.mailbox.is_empty();
        tokio::select! {
            biased;
            message = self.mailbox.recv(), if may_hear => Next::Message(message),
            next = at_work(&mut self.in_flight, &mut self.trace) => next,
            () = self.ends.come() => Next::FromOutside,
        }
    }

    fn take(&mut self, next: Next) {
        self.tell_ends();
        match next {
            Next::Message(Some(message)) => self.take_message(*message),
            // Nobody holds the run's handle: nobody can say anything any more.
            Next::Message(None) => self.mailbox.close(),
            Next::Ended(ended) => self.take_ended(ended),
            Next::FromOutside | Next::Traced => {}
        }
    }

    /// The end of the run's operation is told before what followed from it.
    fn tell_ends(&mut self) {
        while let Some(told) = self.ends.take() {
            self.must_feed(told);
        }
    }

    fn take_message(&mut self, message: Message) {
        self.has_heard = true;
        match message {
            Message::Steer(prompt, reply) => self.steer(prompt, reply),
            Message::Decide(request_id, decision, reply) => {
                let decided = self.feed(Happened::Decided { request_id, decision });
                // Whoever asked may have gone.
                let _ = reply.send(decided);
            }
            Message::Cancel(reply) => {
                let in_flight = &self.in_flight;
                let cancelling =
                    self.cancelling.get_or_insert_with(|| Cancelling::found(in_flight));
                cancelling.reply_to(reply);
                self.must_feed(Happened::Cancelled);
            }
            Message::Suspend => self.must_feed(Happened::Suspended),
        }
    }

    fn steer(
        &mut self,
        prompt: Arc<str>,
        reply: oneshot::Sender<Result<SteeringReceipt, Refused>>,
    ) {
        let steering_id = self.steering.next_id();
        let taken = self.feed(Happened::Steered { steering_id, prompt });
        let _ = reply.send(taken.map(|()| self.steering.accepted(steering_id)));
    }

    fn take_ended(&mut self, ended: Ended) {
        if let Some(cancelling) = &mut self.cancelling {
            cancelling.note(&ended);
        }
        self.tell_spent(&ended);
        // One that was withdrawn at the same moment is not wanted any more.
        let settled = Happened::Settled { effect: ended.id, outcome: ended.outcome };
        let _ = self.feed(settled);
    }

    /// What the runs that an effect started used, before what came of it. A sub-agent tells it
    /// itself when it comes to an end.
    fn tell_spent(&mut self, ended: &Ended) {
        let spent = self.account.take(ended.id);
        let is_told = match &*ended.outcome {
            Outcome::ChildEnded(end) => {
                !matches!(end, ChildEnd::BrokeDown { .. } | ChildEnd::Lost { .. })
            }
            _ => false,
        };
        if !is_told && spent != Spent::default() {
            self.must_feed(Happened::SpentBelow { spent: Box::new(spent) });
        }
    }

    /// Feeds what cannot be refused; a refusal would change nothing.
    fn must_feed(&mut self, happened: Happened) {
        let _ = self.feed(happened);
    }

    /// One input, and all that follows from it at once.
    fn feed(&mut self, happened: Happened) -> Result<(), Refused> {
        self.feed_one(happened)?;
        while let Some((effect, outcome)) = self.settled.pop_front() {
            // Withdrawn by what came before it.
            let _ = self.feed_one(Happened::Settled { effect, outcome });
        }
        Ok(())
    }

    fn feed_one(&mut self, happened: Happened) -> Result<(), Refused> {
        let at_ms = self.parts.clock.unix_ms();
        let mut out = std::mem::take(&mut self.out);
        out.clear();
        let handled = self.machine.handle(Input { at_ms, happened }, &mut out);
        for charge in out.charges.drain(..) {
            self.spender.charge(charge.reservation, &charge.used);
        }
        if self.is_below {
            self.account.note(self.machine.spent_if_lost());
        }
        for event in out.events.drain(..) {
            self.tell(event);
        }
        for (id, halt) in out.halts.drain(..) {
            self.halt(id, halt);
        }
        let will_wait = out.effects.iter().any(|requested| is_question(&requested.effect));
        for requested in out.effects.drain(..) {
            self.dispatch(requested);
        }
        // Who waits for an answer may wait for long: then the room is given back.
        if !will_wait {
            self.out = out;
        }
        handled
    }

    fn halt(&mut self, id: EffectId, halt: Halt) {
        if halt != Halt::Withdraw {
            let over_by = Instant::now().checked_add(self.parts.patience.grace);
            self.over_by = self.over_by.into_iter().chain(over_by).min();
        }
        if halt == Halt::Withdraw {
            self.spender.cancel(id);
        }
        let withdrawn = self.in_flight.halt(id, halt);
        if let (Some(name), Some(cancelling)) = (withdrawn, &mut self.cancelling) {
            cancelling.note_withdrawn(id, &name);
        }
    }

    fn dispatch(&mut self, requested: Requested) {
        let Requested { id, effect } = requested;
        let cycle = self.machine.cycle();
        if self.cycle.0 != cycle {
            self.cycle = (cycle, tracing::info_span!("cycle", cycle));
        }
        let _within = self.cycle.1.enter();
        let mut frame = Frame {
            operation: &self.operation,
            identity: self.machine.identity(),
            metadata: self.machine.tool_metadata(),
            events: &self.events,
            sub_tasks: &self.sub_tasks,
            spender: &self.spender,
            account: &self.account,
            deltas: match effect {
                Effect::CallModel(_) => self.deltas(),
                _ => None,
            },
            audit: match effect {
                Effect::CallModel(_) => self.audit_of(Purpose::Cycle),
                Effect::Summarize(_) => self.audit_of(Purpose::Summary),
                _ => None,
            },
        };
        match self.parts.perform(id, effect, &mut frame) {
            Dispatched::Settled(outcome) => self.settled.push_back((id, outcome)),
            Dispatched::Performed(performed) => self.in_flight.start(id, performed),
        }
    }

    /// The audit of a model call, if an audit is attached.
    fn audit_of(&self, purpose: Purpose) -> Option<CallAudit> {
        let run = Arc::clone(self.audit.as_ref()?);
        Some(CallAudit { run, origin: self.machine.request_origin(), purpose })
    }

    /// Takes the deltas of a model call, if anybody wants them.
    fn deltas(&self) -> Option<Arc<dyn DeltaSink>> {
        if !self.events.is_watched_with_deltas() {
            return None;
        }
        let (identity, clock) = (self.machine.identity(), &self.parts.clock);
        let (identity, clock) = (Arc::clone(identity), Arc::clone(clock));
        Some(Arc::new(self.events.delta_events(identity, self.machine.cycle(), clock)))
    }

    fn tell(&mut self, event: RunEvent) {
        self.steering.follow(&event);
        let is_last = event.event.is_last();
        let Some(trace) = &mut self.trace else {
            match is_last {
                true => self.last = Some(Arc::new(event)),
                false => self.events.publish_owned(event),
            }
            return;
        };
        let event = Arc::new(event);
        trace.push(&event);
        match is_last {
            true => self.last = Some(event),
            false => self.events.publish(&event),
        }
    }

    /// Keeps what is not kept yet; then gives the end to everybody at once, so that who leaves at
    /// the last event cuts nothing short.
    async fn conclude(self) -> RunEnd {
        let Self { mut mailbox, mut trace, mut cancelling, mut steering, machine, .. } = self;
        // What comes from now on is not accepted, and what was withdrawn ends before the run does.
        mailbox.close();
        drop(self.in_flight);
        let grace = self.parts.patience.grace;
        let latest = self.over_by.or_else(|| Instant::now().checked_add(grace));
        let latest = latest.unwrap_or(self.operation.deadline);
        if let Some(trace) = &mut trace {
            trace.flush(latest.saturating_duration_since(Instant::now())).await;
        }
        if let Some(cancelling) = &mut cancelling {
            cancelling.look_after_aborted(latest).await;
        }
        let end = match machine.result() {
            Some(result) => RunEnd::Finished(Arc::new(result)),
            None => RunEnd::Suspended(SuspendedRun::of(machine.to_json())),
        };
        steering.conclude(&end);
        self.last.iter().for_each(|last| self.events.publish(last));
        cancelling.into_iter().for_each(|cancelling| cancelling.answer(&end));
        let losses = trace.map(|trace| trace.losses().clone()).unwrap_or_default();
        let (asking, spent) = (machine.pending_approvals(), machine.spent());
        self.end.send_replace(Some(Concluded { end: end.clone(), losses, asking, spent }));
        end
    }
}

const fn is_question(effect: &Effect) -> bool {
    matches!(effect, Effect::AwaitApproval(_) | Effect::RunChild(_))
}

/// The frame of the whole run.
fn operation(run_id: &str, parent: Option<&OperationContext>) -> OperationContext {
    let id = OperationId::new(run_id);
    match (parent, id) {
        (Some(parent), Ok(id)) => parent.child(id),
        (Some(parent), Err(_)) => parent.child(parent.id.clone()),
        (None, id) => {
            let id = id.unwrap_or_else(|_| OperationId::from(uuid::Uuid::new_v4()));
            let execution = ExecutionId::new(run_id);
            let execution = execution.unwrap_or_else(|_| ExecutionId::from(uuid::Uuid::new_v4()));
            OperationContext::root(id, execution, LONGEST)
        }
    }
}

/// What comes of the run's own work. The trace goes first: it never has more to do than the run
/// gave it. Cancel-safe.
async fn at_work(in_flight: &mut InFlight, trace: &mut Option<TraceWriter>) -> Next {
    tokio::select! {
        biased;
        () = traced(trace) => Next::Traced,
        ended = in_flight.next() => Next::Ended(ended),
    }
}

/// Ready when one more event was kept; never without a trace, or with nothing to keep.
async fn traced(trace: &mut Option<TraceWriter>) {
    match trace {
        Some(trace) => trace.written().await,
        None => std::future::pending().await,
    }
}

//! Decides nothing: feeds what happened to the machine and performs what it asks for.
//!
//! Knows effects, halts and events; refuses to know the rules of a run. Invariants: each effect has
//! one outcome; every event is published and traced in order; nothing of the run outlives this
//! future but a tool that blocks its thread.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use runtime_decision::{
    Effect, EffectId, Event, Happened, Input, Machine, Out, Outcome, Refused, Requested, ToolEnd,
};
use runtime_ports::{CommitDisposition, DeltaSink, OperationContext};
use runtime_types::{ExecutionId, OperationId};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::Instant,
};

use super::{
    CancelReport, RunEnd, RunHandle, RunOptions, SteeringOutcome, SteeringReceipt, SuspendedRun,
    agent::Parts,
    event_hub::{EventPublisher, event_hub},
    in_flight::{Ended, InFlight},
    perform::{Dispatched, Frame},
    run_handle::{Concluded, MAILBOX, Message},
    trace_writer::TraceWriter,
};

/// Longest run without a limit of its own. Every wait within has a shorter one.
const LONGEST: Duration = Duration::from_hours(365 * 24);

/// How often it is looked whether what was given up has ended.
const LOOKS: usize = 64;

/// What can come next.
enum Next {
    Message(Option<Message>),
    Ended(Box<Ended>),
    ParentCancelled,
    TimeIsUp,
    Traced,
}

/// Drives one run.
pub(super) struct Driver {
    parts: Arc<Parts>,
    machine: Machine,
    out: Out,
    operation: OperationContext,
    in_flight: InFlight,
    mailbox: mpsc::Receiver<Message>,
    events: EventPublisher,
    trace: Option<TraceWriter>,
    end: watch::Sender<Option<Concluded>>,
    steering: Steering,
    cancelling: Option<Cancelling>,
    ends_at: Instant,
    is_time_told: bool,
    is_cancel_told: bool,
}

/// The steering messages whose end is not known.
#[derive(Default)]
struct Steering {
    last_id: u64,
    waiting: BTreeMap<u64, oneshot::Sender<SteeringOutcome>>,
}

/// What a cancellation found in flight.
struct Cancelling {
    replies: Vec<oneshot::Sender<CancelReport>>,
    found: Vec<EffectId>,
    report: CancelReport,
    /// What was given up, with the task that may still run.
    still: Vec<(String, tokio::task::AbortHandle)>,
}

impl Driver {
    pub(super) fn new(
        parts: Arc<Parts>,
        machine: Machine,
        options: RunOptions,
    ) -> (RunHandle, Self) {
        let (messages, mailbox) = mpsc::channel(MAILBOX);
        let (end, ended) = watch::channel(None);
        let (events, hub) = event_hub();
        let run_id = Arc::clone(&machine.identity().run_id);
        let handle = RunHandle::new(Arc::clone(&run_id), messages, ended, hub);
        let operation = operation(&run_id, options.operation.as_ref());
        let trace = parts.trace.clone().map(|trace| TraceWriter::new(trace, operation.clone()));
        let driver = Self {
            in_flight: InFlight::new(parts.patience.grace),
            ends_at: operation.deadline,
            steering: Steering { last_id: machine.last_steering(), ..Steering::default() },
            out: Out::default(),
            cancelling: None,
            is_time_told: false,
            is_cancel_told: false,
            parts,
            machine,
            operation,
            mailbox,
            events,
            trace,
            end,
        };
        (handle, driver)
    }

    /// Drives the run to the end of this life of it.
    pub(super) async fn run(mut self) -> RunEnd {
        self.limit_time();
        let first = match self.machine.is_new() {
            true => Happened::Started,
            false => Happened::Resumed,
        };
        self.must_feed(first);
        while !self.is_over() {
            let next = self.next().await;
            self.take(next);
            // Lets others run where everything is ready at once.
            tokio::task::consume_budget().await;
        }
        self.conclude().await
    }

    /// The live time that is left, on tokio's clock.
    fn limit_time(&mut self) {
        let Some(limit) = self.machine.plan().definition().limits.wall_time else { return };
        let left = limit.saturating_sub(Duration::from_millis(self.machine.live_ms()));
        if let Some(end) = Instant::now().checked_add(left) {
            self.ends_at = self.ends_at.min(end);
        }
    }

    fn is_over(&self) -> bool {
        self.machine.status().is_some() || self.machine.suspended()
    }

    /// What comes next. Messages go first, so that a run whose effects are always ready can be
    /// cancelled. Cancel-safe.
    async fn next(&mut self) -> Next {
        let (parent, told) = (&self.operation.cancellation, self.is_cancel_told);
        let (ends_at, time_told) = (self.ends_at, self.is_time_told);
        tokio::select! {
            biased;
            message = self.mailbox.recv(), if !self.mailbox.is_closed() => Next::Message(message),
            () = parent.cancelled(), if !told => Next::ParentCancelled,
            ended = self.in_flight.next() => Next::Ended(Box::new(ended)),
            () = tokio::time::sleep_until(ends_at), if !time_told => Next::TimeIsUp,
            () = traced(&mut self.trace) => Next::Traced,
        }
    }

    fn take(&mut self, next: Next) {
        match next {
            Next::Message(Some(message)) => self.take_message(message),
            // Nobody holds the run's handle: nobody can say anything any more.
            Next::Message(None) => self.mailbox.close(),
            Next::Ended(ended) => self.take_ended(*ended),
            Next::ParentCancelled => {
                self.is_cancel_told = true;
                self.must_feed(Happened::Cancelled);
            }
            Next::TimeIsUp => {
                self.is_time_told = true;
                self.must_feed(Happened::WallTimeElapsed);
            }
            Next::Traced => {}
        }
    }

    fn take_message(&mut self, message: Message) {
        match message {
            Message::Steer(prompt, reply) => self.steer(prompt, reply),
            Message::Decide(request_id, decision, reply) => {
                let decided = self.feed(Happened::Decided { request_id, decision });
                // Whoever asked may have gone.
                let _ = reply.send(decided);
            }
            Message::Cancel(reply) => {
                self.find_in_flight(reply);
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
        let steering_id = self.steering.last_id + 1;
        let taken = self.feed(Happened::Steered { steering_id, prompt });
        let receipt = taken.map(|()| {
            self.steering.last_id = steering_id;
            let (outcome, told) = oneshot::channel();
            self.steering.waiting.insert(steering_id, outcome);
            SteeringReceipt { steering_id, outcome: told }
        });
        let _ = reply.send(receipt);
    }

    fn find_in_flight(&mut self, reply: oneshot::Sender<CancelReport>) {
        let in_flight = &self.in_flight;
        let cancelling = self.cancelling.get_or_insert_with(|| Cancelling {
            replies: Vec::new(),
            found: in_flight.names().map(|(id, _)| id).collect(),
            report: CancelReport::nothing(runtime_decision::RunStatus::Cancelled),
            still: Vec::new(),
        });
        cancelling.replies.push(reply);
    }

    fn take_ended(&mut self, ended: Ended) {
        if let Some(cancelling) = &mut self.cancelling {
            cancelling.note(&ended);
        }
        // One that was withdrawn at the same moment is not wanted any more.
        let settled = Happened::Settled { effect: ended.id, outcome: Box::new(ended.outcome) };
        let _ = self.feed(settled);
    }

    /// Feeds what cannot be refused; a refusal would change nothing.
    fn must_feed(&mut self, happened: Happened) {
        let _ = self.feed(happened);
    }

    /// One input, and all that follows from it at once.
    fn feed(&mut self, happened: Happened) -> Result<(), Refused> {
        let mut settled = VecDeque::new();
        self.feed_one(happened, &mut settled)?;
        while let Some((effect, outcome)) = settled.pop_front() {
            let happened = Happened::Settled { effect, outcome: Box::new(outcome) };
            // Withdrawn by what came before it.
            let _ = self.feed_one(happened, &mut settled);
        }
        Ok(())
    }

    fn feed_one(
        &mut self,
        happened: Happened,
        settled: &mut VecDeque<(EffectId, Outcome)>,
    ) -> Result<(), Refused> {
        let at_ms = self.parts.clock.unix_ms();
        let mut out = std::mem::take(&mut self.out);
        out.clear();
        let handled = self.machine.handle(Input { at_ms, happened }, &mut out);
        for event in out.events.drain(..) {
            self.tell(event);
        }
        for (id, halt) in out.halts.drain(..) {
            self.in_flight.halt(id, halt);
        }
        for requested in out.effects.drain(..) {
            self.dispatch(requested, settled);
        }
        self.out = out;
        handled
    }

    fn dispatch(&mut self, requested: Requested, settled: &mut VecDeque<(EffectId, Outcome)>) {
        let Requested { id, effect } = requested;
        let frame = Frame {
            operation: &self.operation,
            identity: self.machine.identity(),
            metadata: self.machine.tool_metadata(),
            deltas: match effect {
                Effect::CallModel(_) => self.deltas(),
                _ => None,
            },
        };
        match self.parts.perform(id, effect, &frame) {
            Dispatched::Settled(outcome) => settled.push_back((id, outcome)),
            Dispatched::Performed(performed) => self.in_flight.start(id, performed),
        }
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

    fn tell(&mut self, event: runtime_decision::RunEvent) {
        self.steering.follow(&event);
        let Some(trace) = &mut self.trace else { return self.events.publish_owned(event) };
        let event = Arc::new(event);
        trace.push(&event);
        self.events.publish(&event);
    }

    /// Keeps what is not kept yet, answers whoever waits, and gives the end.
    async fn conclude(mut self) -> RunEnd {
        // What comes from now on is not accepted.
        self.mailbox.close();
        if let Some(trace) = &mut self.trace {
            trace.flush(self.parts.patience.grace).await;
        }
        let end = match self.machine.result() {
            Some(result) => RunEnd::Finished(Arc::new(result)),
            None => RunEnd::Suspended(SuspendedRun::of(self.machine.to_json())),
        };
        self.steering.conclude(&end);
        if let Some(cancelling) = self.cancelling.take() {
            cancelling.answer(&end).await;
        }
        let losses = self.trace.map(|trace| trace.losses().clone()).unwrap_or_default();
        self.end.send_replace(Some(Concluded { end: end.clone(), losses }));
        end
    }
}

impl Steering {
    /// Tells those whose message was put into the history.
    fn follow(&mut self, event: &runtime_decision::RunEvent) {
        let applied = match &event.event {
            Event::SessionSteerDequeued { steering_id, .. }
            | Event::SessionSteerInterrupt { steering_id, .. } => *steering_id,
            _ => return,
        };
        if let Some(told) = self.waiting.remove(&applied) {
            let _ = told.send(SteeringOutcome::Applied { cycle: event.cycle.unwrap_or(0) });
        }
    }

    fn conclude(&mut self, end: &RunEnd) {
        let outcome = match end {
            RunEnd::Finished(_) => SteeringOutcome::Returned,
            RunEnd::Suspended(_) => SteeringOutcome::Kept,
        };
        for told in std::mem::take(&mut self.waiting).into_values() {
            let _ = told.send(outcome);
        }
    }
}

impl Cancelling {
    fn note(&mut self, ended: &Ended) {
        if !self.found.contains(&ended.id) {
            return;
        }
        let name = ended.name.to_string();
        match &ended.given_up {
            Some(given_up) => {
                self.report.unknown.push(name.clone());
                if let Some(task) = &given_up.task {
                    self.still.push((name, task.clone()));
                }
            }
            None if is_known(&ended.outcome) => self.report.settled.push(name),
            None => self.report.unknown.push(name),
        }
    }

    async fn answer(mut self, end: &RunEnd) {
        if let RunEnd::Finished(result) = end {
            self.report.status = result.status;
        }
        // A task that was aborted ends as soon as it gives its thread back.
        for _ in 0..LOOKS {
            self.still.retain(|(_, task)| !task.is_finished());
            if self.still.is_empty() {
                break;
            }
            tokio::task::yield_now().await;
        }
        self.report.still_running = self.still.into_iter().map(|(name, _)| name).collect();
        for reply in self.replies {
            let _ = reply.send(self.report.clone());
        }
    }
}

/// Whether an outcome says what took effect.
const fn is_known(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::ToolReturned(ToolEnd::Cancelled | ToolEnd::TimedOut | ToolEnd::Panicked) => false,
        Outcome::ToolReturned(ToolEnd::Failed(failure)) | Outcome::ModelReplied(Err(failure)) => {
            !matches!(failure.commit, CommitDisposition::Unknown)
        }
        _ => true,
    }
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

/// Ready when one more event was kept; never without a trace, or with nothing to keep.
async fn traced(trace: &mut Option<TraceWriter>) {
    match trace {
        Some(trace) => trace.written().await,
        None => std::future::pending().await,
    }
}

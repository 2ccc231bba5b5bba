//! Decides how a run is polled a number of times and then left alone, and what is looked at while it
//! goes.
//!
//! Knows scenarios; refuses to know what must hold afterwards. Invariant: the one who watches acts
//! in the same task, so that no task but those of tools is ever alive.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use futures_util::future::{BoxFuture, FutureExt as _};
use runtime_kernel::engine::{
    Agent, EventStream, Run, RunEnd, RunEvent, RunHandle, RunOptions, SteeringReceipt,
    SuspendedRun, Task, WatchOptions, Watched,
};

use crate::scenario::{Act, Staged};

/// A scenario whose run is under way.
pub(crate) struct Play {
    pub(crate) agent: Agent,
    pub(crate) staged: Parts,
    pub(crate) handle: RunHandle,
    run: Option<Run>,
    /// `None` when it has seen everything.
    watcher: Option<BoxFuture<'static, ()>>,
    noted: Notes,
    acts: Vec<(&'static str, Act)>,
    pub(crate) events: Vec<Arc<RunEvent>>,
    pub(crate) receipts: Vec<(&'static str, SteeringReceipt)>,
    options: WatchOptions,
}

/// What stays of a stage when its agent is built.
pub(crate) struct Parts {
    pub(crate) model: in_memory_fakes::FakeModel,
    pub(crate) world: Arc<crate::probe::World>,
    pub(crate) trace: Option<in_memory_fakes::FakeTrace>,
}

#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<Noted>>>);

impl Notes {
    fn record(&self, noted: Noted) {
        self.0.lock().expect("no panic holds it").push(noted);
    }

    fn take(&self) -> Vec<Noted> {
        std::mem::take(&mut *self.0.lock().expect("no panic holds it"))
    }
}

enum Noted {
    Event(Arc<RunEvent>),
    Acted(&'static str),
    Receipt(&'static str, SteeringReceipt),
}

impl Play {
    pub(crate) fn of(staged: Staged) -> Self {
        let Staged { builder, model, world, trace, acts, deltas } = staged;
        let agent = builder.build().expect("an agent");
        let (handle, run) = agent.drive(Task::new("do it"), RunOptions::default().run_id("run"));
        let options = WatchOptions { deltas, ..WatchOptions::default() };
        let mut play = Self {
            agent,
            staged: Parts { model, world, trace },
            handle,
            run: Some(run),
            watcher: None,
            noted: Notes::default(),
            acts,
            events: Vec::new(),
            receipts: Vec::new(),
            options,
        };
        play.watch();
        play
    }

    fn watch(&mut self) {
        let events = self.handle.events(self.options);
        let watched = watch(self.handle.clone(), events, self.acts.clone(), self.noted.clone());
        self.watcher = Some(watched.boxed());
    }

    /// Polls the run at most so many times, whenever it or its watcher wakes; counts down. `None`
    /// when that was not enough.
    pub(crate) async fn poll_times(&mut self, left: &mut usize) -> Option<RunEnd> {
        poll_fn(|context| self.poll_counted(left, context)).await
    }

    fn poll_counted(
        &mut self,
        left: &mut usize,
        context: &mut Context<'_>,
    ) -> Poll<Option<RunEnd>> {
        if *left == 0 {
            return Poll::Ready(None);
        }
        *left -= 1;
        match self.poll(context) {
            Poll::Ready(end) => Poll::Ready(Some(end)),
            Poll::Pending if *left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<RunEnd> {
        if self.watcher.as_mut().is_some_and(|it| it.as_mut().poll(context).is_ready()) {
            self.watcher = None;
        }
        let run = self.run.as_mut().expect("a run that has not ended");
        let polled = Pin::new(run).poll(context);
        if polled.is_ready() {
            self.run = None;
        }
        polled
    }

    /// Polls the run to its end while `meanwhile`, which goes first, does something to it.
    pub(crate) async fn poll_with<T>(&mut self, meanwhile: impl Future<Output = T>) -> (T, RunEnd) {
        tokio::join!(biased; meanwhile, poll_fn(|context| self.poll(context)))
    }

    /// Drops the run where it is.
    pub(crate) fn drop_run(&mut self) {
        self.run = None;
    }

    /// Goes on with a suspended run, and approves what it waits for.
    pub(crate) fn resume(&mut self, suspended: &SuspendedRun) {
        let (handle, run) =
            self.agent.drive_resumed(suspended, RunOptions::default()).expect("the same agent");
        (self.handle, self.run) = (handle.clone(), Some(run));
        self.watch();
        let questions = suspended.pending_approvals(&self.agent).expect("a stored run");
        let watcher = self.watcher.take().expect("it was just made");
        let deciding = async move {
            for question in questions {
                // A run that is cancelled meanwhile refuses it.
                let _ = handle.approve(&question.request_id).await;
            }
        };
        let both = futures_util::future::join(watcher, deciding);
        self.watcher = Some(both.map(|_| ()).boxed());
    }

    /// Lets the watcher see the rest, and takes over what was noted.
    pub(crate) async fn catch_up(&mut self) {
        if let Some(watcher) = self.watcher.take() {
            watcher.await;
        }
        for noted in self.noted.take() {
            match noted {
                Noted::Event(event) => self.events.push(event),
                Noted::Acted(name) => {
                    let place = self.acts.iter().position(|(at, _)| *at == name);
                    self.acts.remove(place.expect("an act that was planned"));
                }
                Noted::Receipt(said, receipt) => self.receipts.push((said, receipt)),
            }
        }
    }
}

/// Follows the events of one segment and does what was planned. The last act of a name is done each
/// time, if it answers a question.
async fn watch(
    run: RunHandle,
    mut events: EventStream,
    mut acts: Vec<(&'static str, Act)>,
    note: Notes,
) {
    while let Some(watched) = events.next().await {
        let Watched::Event(event) = watched else { panic!("the watcher is never slow") };
        let name = event.event.name();
        let place = acts.iter().position(|(at, _)| *at == name);
        if !event.event.is_delta() {
            note.record(Noted::Event(Arc::clone(&event)));
        }
        let Some(place) = place else { continue };
        let (_, act) = acts[place];
        if !matches!(act, Act::Approve | Act::Deny) {
            note.record(Noted::Acted(acts.remove(place).0));
        }
        do_act(&run, act, &event, &note).await;
    }
}

async fn do_act(run: &RunHandle, act: Act, event: &RunEvent, note: &Notes) {
    use runtime_kernel::engine::Event::ApprovalRequested;

    // What comes too late is refused, and that is well.
    match (act, &event.event) {
        (Act::Approve, ApprovalRequested { request_id, .. }) => {
            let _ = run.approve(request_id).await;
        }
        (Act::Deny, ApprovalRequested { request_id, .. }) => {
            let _ = run.deny(request_id, "no").await;
        }
        (Act::Steer(said), _) => {
            if let Ok(receipt) = run.steer(said).await {
                note.record(Noted::Receipt(said, receipt));
            }
        }
        (Act::Suspend, _) => {
            let _ = run.suspend().await;
        }
        (Act::Approve | Act::Deny, _) => panic!("nothing to decide about"),
    }
}

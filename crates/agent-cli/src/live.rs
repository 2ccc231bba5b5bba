//! Decides what is done with a run while it is live: its events are shown, what a person types
//! steers it, and a request to stop cancels it.
//!
//! Knows the handle of a run. Refuses to know what the run is about. Invariants: the last event is
//! kept and not shown, since more may belong to it; no line that was typed is lost.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use runtime_kernel::engine::{
    Agent, CancelReport, Event, EventStream, RunEnd, RunEvent, RunHandle, RunOptions, RunResult,
    Task, WatchOptions, Watched,
};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::{approval::Announced, composition::Receipts, show::Show, told::Told};

/// Events that wait while the screen or a pipe is slow.
const EVENTS_KEPT: usize = 100_000;

/// A run that was started.
pub(crate) struct Live {
    handle: RunHandle,
    run: JoinHandle<RunEnd>,
    events: EventStream,
    audience: Audience,
    lived: Lived,
}

/// What a person says while a run is live.
pub(crate) struct Said {
    lines: mpsc::Receiver<String>,
    /// Takes what is meant for the command, and says so.
    is_taken: Box<dyn Fn(&str) -> bool + Send + Sync>,
}

impl Said {
    /// Everything is meant for the run.
    pub(crate) fn all(lines: mpsc::Receiver<String>) -> Self {
        Self::but(lines, |_| false)
    }

    /// Everything is meant for the run but what `is_taken` takes.
    pub(crate) fn but(
        lines: mpsc::Receiver<String>,
        is_taken: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self { lines, is_taken: Box::new(is_taken) }
    }

    /// What is said next, whatever it is meant for; `None` when nothing ever will be.
    pub(crate) async fn line(&mut self) -> Option<String> {
        self.lines.recv().await
    }

    /// What was said and nobody has taken.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.lines.try_recv().ok()).collect()
    }

    async fn next_for_the_run(&mut self) -> Option<String> {
        loop {
            let line = self.lines.recv().await?;
            if !(self.is_taken)(&line) {
                return Some(line);
            }
        }
    }
}

/// Who is told of a run.
pub(crate) struct Audience {
    pub(crate) show: Arc<dyn Show>,
    /// Tells of the receipts of its requests.
    pub(crate) receipts: Arc<Receipts>,
    /// Waits for the screen before it asks.
    pub(crate) announced: Announced,
}

/// What is left of a run.
#[derive(Debug, Default)]
pub(crate) struct Lived {
    /// `None` when the run was lost.
    pub(crate) last: Option<Arc<RunEvent>>,
    pub(crate) result: Option<Arc<RunResult>>,
    pub(crate) cancelled: Option<CancelReport>,
    /// Lines that never reached the model.
    pub(crate) returned: Vec<String>,
    pub(crate) took: Duration,
}

enum Next {
    Watched(Option<Watched>),
    Said(String),
    Stop,
}

impl Live {
    /// Starts the run.
    pub(crate) fn start(
        agent: &Agent,
        task: Task,
        options: RunOptions,
        audience: Audience,
    ) -> Self {
        let (handle, run) = agent.drive(task, options);
        let events = handle.events(WatchOptions { deltas: true, capacity: EVENTS_KEPT });
        let run = tokio::spawn(run);
        Self { handle, run, events, audience, lived: Lived::default() }
    }

    /// Follows the run to its end. `stop` cancels it.
    pub(crate) async fn follow(mut self, said: &mut Said, stop: &CancellationToken) -> Lived {
        let began = Instant::now();
        let mut cancelling: Option<JoinHandle<_>> = None;
        while self.lived.last.is_none() {
            let next = tokio::select! {
                biased;
                () = stop.cancelled(), if cancelling.is_none() => Next::Stop,
                watched = self.events.next() => Next::Watched(watched),
                Some(line) = said.next_for_the_run() => Next::Said(line),
            };
            match next {
                Next::Stop => {
                    let handle = self.handle.clone();
                    cancelling = Some(tokio::spawn(async move { handle.cancel().await }));
                }
                Next::Watched(None) => break,
                Next::Watched(Some(watched)) => self.tell(watched),
                Next::Said(line) => self.steer(line).await,
            }
        }
        if let Some(report) = cancelling {
            self.lived.cancelled = report.await.ok().and_then(Result::ok);
        }
        self.lived.took = began.elapsed();
        self.end().await
    }

    fn tell(&mut self, watched: Watched) {
        match watched {
            // A sub-run ends, too, and is not the whole.
            Watched::Event(event) if event.event.is_last() && self.is_own(&event) => {
                self.lived.last = Some(event);
            }
            Watched::Event(event) => self.audience.tell(&event),
            Watched::Missed(count) => {
                self.audience.show.show(Told::Missed(count));
                self.audience.announced.note_a_gap();
            }
        }
    }

    fn is_own(&self, event: &RunEvent) -> bool {
        event.identity.run_id == *self.handle.run_id()
    }

    async fn steer(&mut self, line: String) {
        match self.handle.steer(line.as_str()).await {
            Ok(_) => self.audience.show.show(Told::Noted),
            Err(_) => self.lived.returned.push(line),
        }
    }

    async fn end(mut self) -> Lived {
        let result = self.run.await.ok().and_then(|end| end.finished().ok());
        if let Some(result) = &result {
            let returned = result.returned_steering.iter().map(|said| said.prompt.to_string());
            self.lived.returned.splice(0..0, returned);
        }
        self.lived.result = result;
        self.lived
    }
}

impl Audience {
    fn tell(&self, event: &RunEvent) {
        self.show.show(Told::Happened(event));
        // A receipt is written before its request is answered: it is told behind the pieces of the
        // answer, with the whole.
        if !event.event.is_delta() {
            self.receipts.tell_fresh(&*self.show);
        }
        if let Event::ApprovalRequested { request_id, .. } = &event.event {
            self.announced.note(request_id);
        }
    }
}

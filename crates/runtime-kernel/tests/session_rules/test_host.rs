//! A host that follows decisions given beforehand and logs each callback in words.

use std::collections::VecDeque;

use anyhow::bail;
use in_memory_fakes::FakeIntelligence;
use runtime_kernel::{
    HostFuture, PreparedRound, ProviderResume, RoundCompletion, RoundPreparation, SessionControl,
    SessionEvent, SessionHost, SessionToolOutcome, ToolCall,
};
use runtime_ports::Intelligence as _;
use serde_json::Value;
use uuid::Uuid;

use crate::scenario::OPERATION;

/// A callback of the host, to plan faults for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Callback {
    Prepare,
    Record,
    Execute,
    Resume,
    Capture,
    Complete,
}

/// What a callback does instead of its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Error,
    Panic,
    Hang,
    /// Cancels the session's operation, then does its work.
    Cancel,
}

/// The host's decisions. A queue that has run out gives the plainest decision there is.
#[derive(Default)]
pub(crate) struct Decisions {
    pub(crate) preparations: VecDeque<RoundPreparation>,
    pub(crate) outcomes: VecDeque<SessionToolOutcome>,
    pub(crate) resumes: VecDeque<ProviderResume>,
    pub(crate) controls: VecDeque<SessionControl>,
    /// (callback, which of its calls from 1, what happens)
    pub(crate) faults: Vec<(Callback, usize, Fault)>,
}

pub(crate) struct TestHost {
    pub(crate) decisions: Decisions,
    pub(crate) intelligence: FakeIntelligence,
    /// One line a callback.
    pub(crate) log: Vec<String>,
    pub(crate) events: Vec<SessionEvent>,
    pub(crate) completions: Vec<RoundCompletion>,
    pub(crate) captures: Vec<(Value, String)>,
    /// Calls as they came, invalid ones by their text, and the turn that they came from.
    pub(crate) calls: Vec<(Result<ToolCall, String>, Uuid)>,
    met: Vec<Callback>,
}

/// A round that asks for nothing special.
pub(crate) fn plain_round() -> PreparedRound {
    PreparedRound {
        input: "everything".into(),
        provider_input: "what is new".into(),
        continuation: None,
        model: "fake".into(),
        reasoning_effort: "low".into(),
        tool_description: "the tools".into(),
        timeout: None,
    }
}

impl TestHost {
    pub(crate) fn new(intelligence: FakeIntelligence, decisions: Decisions) -> Self {
        Self {
            decisions,
            intelligence,
            log: Vec::new(),
            events: Vec::new(),
            completions: Vec::new(),
            captures: Vec::new(),
            calls: Vec::new(),
            met: Vec::new(),
        }
    }

    /// Logs the callback, lets others run, and does what was planned.
    async fn meet(&mut self, callback: Callback, line: String) -> anyhow::Result<()> {
        self.log.push(line);
        self.met.push(callback);
        let ordinal = self.met.iter().filter(|met| **met == callback).count();
        let planned =
            self.decisions.faults.iter().find(|(at, nth, _)| (*at, *nth) == (callback, ordinal));
        let fault = planned.map(|(_, _, fault)| *fault);
        tokio::task::yield_now().await;
        match fault {
            None => Ok(()),
            Some(Fault::Error) => bail!("host failed at {callback:?} {ordinal}"),
            Some(Fault::Panic) => panic!("host panicked at {callback:?} {ordinal}"),
            Some(Fault::Hang) => std::future::pending().await,
            Some(Fault::Cancel) => {
                self.intelligence.cancel(OPERATION).await?;
                Ok(())
            }
        }
    }

    fn next_control(&mut self, answer: String) -> SessionControl {
        self.decisions.controls.pop_front().unwrap_or(SessionControl::Complete(Some(answer)))
    }
}

fn line_of(event: &SessionEvent) -> String {
    match event {
        SessionEvent::InferenceSubmitted { round, .. } => format!("submitted {round}"),
        SessionEvent::ProviderInput { round, .. } => format!("input {round}"),
        SessionEvent::UsageUpdated { round, .. } => format!("usage {round}"),
        SessionEvent::ProviderReceipt { round, receipt, .. } => {
            format!("receipt {round} {:?}", receipt.end).to_lowercase()
        }
    }
}

impl SessionHost for TestHost {
    fn prepare_round<'a>(&'a mut self, round: u64) -> HostFuture<'a, RoundPreparation> {
        Box::pin(async move {
            self.meet(Callback::Prepare, format!("prepare {round}")).await?;
            let planned = self.decisions.preparations.pop_front();
            Ok(planned.unwrap_or_else(|| RoundPreparation::Run(plain_round())))
        })
    }

    fn record<'a>(&'a mut self, event: SessionEvent) -> HostFuture<'a, ()> {
        Box::pin(async move {
            self.events.push(event.clone());
            self.meet(Callback::Record, line_of(&event)).await
        })
    }

    fn execute_tool<'a>(
        &'a mut self,
        call: anyhow::Result<ToolCall>,
        provider_operation_id: Uuid,
    ) -> HostFuture<'a, SessionToolOutcome> {
        Box::pin(async move {
            let name = call.as_ref().map_or("an invalid call", |call| &call.name);
            let line = format!("execute {name}");
            self.calls.push((call.map_err(|error| error.to_string()), provider_operation_id));
            self.meet(Callback::Execute, line).await?;
            let planned = self.decisions.outcomes.pop_front();
            Ok(planned.unwrap_or_else(|| SessionToolOutcome::success("ok")))
        })
    }

    fn prepare_provider_resume<'a>(
        &'a mut self,
        outcome: SessionToolOutcome,
    ) -> HostFuture<'a, ProviderResume> {
        Box::pin(async move {
            let sent = self.intelligence.answers().len();
            self.meet(Callback::Resume, format!("resume, {sent} sent")).await?;
            let planned = self.decisions.resumes.pop_front();
            Ok(planned.unwrap_or(ProviderResume::Continue(outcome)))
        })
    }

    fn complete_capture<'a>(
        &'a mut self,
        capture: Value,
        contents: String,
    ) -> HostFuture<'a, SessionControl> {
        Box::pin(async move {
            self.captures.push((capture, contents.clone()));
            self.meet(Callback::Capture, format!("capture {contents}")).await?;
            Ok(self.next_control(contents))
        })
    }

    fn complete_round<'a>(
        &'a mut self,
        completion: RoundCompletion,
    ) -> HostFuture<'a, SessionControl> {
        Box::pin(async move {
            self.completions.push(completion.clone());
            self.meet(Callback::Complete, format!("complete {}", completion.answer)).await?;
            Ok(self.next_control(completion.answer))
        })
    }
}

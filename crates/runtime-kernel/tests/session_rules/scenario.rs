//! A session written down as data: turns, decisions, and what is to be seen afterwards.

use std::sync::Arc;

use in_memory_fakes::{FakeIntelligence, TurnScript};
use runtime_kernel::{
    AgentRuntime, ProviderResume, RoundPreparation, SessionControl, SessionEvent,
    SessionRunRequest, SessionToolOutcome,
};
use runtime_ports::{PortFailure, PortFailureKind, TokenUsage, UsageReceipt};
use uuid::Uuid;

use crate::{
    test_host::{Callback, Decisions, Fault, TestHost},
    yielding::Yielding,
};

pub(crate) const OPERATION: Uuid = Uuid::from_u128(7);

/// What goes in.
#[derive(Default)]
pub(crate) struct Scenario {
    turns: Vec<TurnScript>,
    decisions: Decisions,
    rounds_used: u64,
    round_limit: Option<u64>,
}

/// What came out.
pub(crate) struct Outcome {
    pub(crate) result: anyhow::Result<Option<String>>,
    pub(crate) host: TestHost,
    pub(crate) intelligence: FakeIntelligence,
}

pub(crate) fn scenario() -> Scenario {
    Scenario::default()
}

pub(crate) fn provider_failure() -> PortFailure {
    PortFailure::in_flight_unknown(PortFailureKind::Protocol, "CUT", "the provider went away")
}

pub(crate) fn usage(input: u64) -> TokenUsage {
    TokenUsage { input_tokens: Some(input), ..TokenUsage::default() }
}

impl Scenario {
    /// Rounds taken before, and the limit.
    pub(crate) fn rounds(mut self, used: u64, limit: u64) -> Self {
        (self.rounds_used, self.round_limit) = (used, Some(limit));
        self
    }

    pub(crate) fn turn(mut self, script: TurnScript) -> Self {
        self.turns.push(script);
        self
    }

    /// What the host prepares for its next round.
    pub(crate) fn prepares(mut self, preparation: RoundPreparation) -> Self {
        self.decisions.preparations.push_back(preparation);
        self
    }

    /// What the host's next tool call comes to.
    pub(crate) fn outcome(mut self, outcome: SessionToolOutcome) -> Self {
        self.decisions.outcomes.push_back(outcome);
        self
    }

    /// What the host decides before its next answer is sent.
    pub(crate) fn resume(mut self, resume: ProviderResume) -> Self {
        self.decisions.resumes.push_back(resume);
        self
    }

    /// What the host decides after its next answer of the model.
    pub(crate) fn control(mut self, control: SessionControl) -> Self {
        self.decisions.controls.push_back(control);
        self
    }

    pub(crate) fn fault(mut self, callback: Callback, nth: usize, fault: Fault) -> Self {
        self.decisions.faults.push((callback, nth, fault));
        self
    }

    /// Everything that is needed to run it by hand.
    pub(crate) fn parts(self) -> (AgentRuntime, SessionRunRequest, TestHost) {
        let intelligence = FakeIntelligence::new(self.turns);
        let host = TestHost::new(intelligence.clone(), self.decisions);
        let request = SessionRunRequest {
            user_id: "ada".into(),
            operation_id: OPERATION,
            rounds_used: self.rounds_used,
            round_limit: self.round_limit.unwrap_or(250),
        };
        (AgentRuntime::new(Arc::new(Yielding(intelligence))), request, host)
    }

    pub(crate) async fn run(self) -> Outcome {
        let (runtime, request, mut host) = self.parts();
        let result = runtime.run_session(request, &mut host).await;
        let intelligence = host.intelligence.clone();
        intelligence.assert_one_receipt_per_turn();
        Outcome { result, host, intelligence }
    }
}

impl Outcome {
    /// Asserts the answer and the host's log, one word list a line.
    pub(crate) fn is(&self, answer: Option<&str>, log: &[&str]) -> &Self {
        assert_eq!(self.host.log, log);
        let returned = self.result.as_ref().map(|answer| answer.as_deref());
        assert_eq!(returned.unwrap(), answer);
        self
    }

    /// Asserts the chain of the returned error and the host's log.
    pub(crate) fn fails(&self, chain: &[&str], log: &[&str]) -> &Self {
        assert_eq!(self.host.log, log);
        let error = self.result.as_ref().unwrap_err();
        assert_eq!(error.chain().map(ToString::to_string).collect::<Vec<_>>(), chain);
        self
    }

    /// What was sent to the model, as (success, text).
    pub(crate) fn sent(&self) -> Vec<(bool, String)> {
        let answers = self.intelligence.answers().into_iter();
        answers.map(|answer| (answer.result.success, answer.result.text)).collect()
    }

    /// The receipts that the host was given.
    pub(crate) fn recorded_receipts(&self) -> Vec<UsageReceipt> {
        recorded_receipts(&self.host.events)
    }
}

pub(crate) fn recorded_receipts(events: &[SessionEvent]) -> Vec<UsageReceipt> {
    let receipts = events.iter().filter_map(|event| match event {
        SessionEvent::ProviderReceipt { receipt, .. } => Some((**receipt).clone()),
        _ => None,
    });
    receipts.collect()
}

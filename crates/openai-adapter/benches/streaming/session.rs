//! Decides what the adapter's side does in each comparison.
//!
//! Knows nothing about what it is compared with.

use std::{
    collections::HashMap,
    sync::Mutex,
    time::{Duration, Instant},
};

use openai_adapter::OpenAiSession;
use runtime_ports::{
    DeltaSink, DiscardDeltas, ModelContent, ModelDelta, ModelMessage, ModelRole, ModelSession,
    OperationContext, Transcript,
};
use runtime_types::{ExecutionId, OperationId};
use tokio::runtime::{Builder, Runtime};

use crate::{
    DELTAS,
    conversation::{self, Conversation},
    cpu_time::CpuTime,
    provider::{Mode, Provider},
};

/// What is asked for; each has a connection of its own.
const ANSWERS: [(Mode, usize); 7] = [
    (Mode::Burst, 1),
    (Mode::Burst, DELTAS),
    (Mode::Burst, DELTAS * 10),
    (Mode::Chunks, DELTAS),
    (Mode::OneByOne, DELTAS),
    (Mode::Line, 0),
    (Mode::First, 1),
];

/// One thread, which also drives the connections.
pub(crate) struct Session {
    executor: Runtime,
    sessions: HashMap<(Mode, usize), OpenAiSession>,
}

/// A conversation that came as far as a round.
pub(crate) struct Round<'a> {
    side: &'a Session,
    conversation: Conversation,
}

impl Session {
    pub(crate) fn new(provider: &Provider) -> Self {
        let executor = Builder::new_current_thread().enable_all().build().expect("an executor");
        let session = |(mode, deltas)| {
            let session = OpenAiSession::builder(provider.base_url(mode, deltas)).build();
            ((mode, deltas), session.expect("a plain address"))
        };
        Self { executor, sessions: ANSWERS.map(session).into() }
    }

    /// Reads an answer of `deltas` deltas.
    pub(crate) fn reads(&self, mode: Mode, deltas: usize) -> Duration {
        self.asks((mode, deltas), opening())
    }

    pub(crate) fn before_round(&self, round: usize) -> Round<'_> {
        Round { side: self, conversation: Conversation::before_round(round) }
    }

    /// Reads an answer that breaks the protocol.
    pub(crate) fn breaks_on(&self, mode: Mode) -> Duration {
        let (request, operation) = (conversation::request(opening()), operation());
        let before = CpuTime::now();
        let asked = self.sessions[&(mode, 0)].invoke(&operation, request);
        let failure = self.executor.block_on(asked).expect_err("no answer");
        let cost = CpuTime::now() - before;
        assert_eq!(failure.code, "EVENT_TOO_LARGE");
        cost
    }

    /// Time on the clock from the write of the first delta until it is told.
    pub(crate) fn until_first(&self, provider: &Provider) -> Duration {
        let (first, operation) = (First::default(), operation());
        let (session, request) =
            (&self.sessions[&(Mode::First, 1)], conversation::request(opening()));
        let asked = session.invoke_streaming(&operation, request, &first);
        self.executor.block_on(asked).expect("an answer");
        let told = first.0.into_inner().expect("no panic").expect("a delta");
        told.saturating_duration_since(provider.first_written())
    }

    fn asks(&self, answer: (Mode, usize), messages: Transcript) -> Duration {
        let before = CpuTime::now();
        let request = conversation::request(messages);
        let (session, operation) = (&self.sessions[&answer], operation());
        let asked = session.invoke_streaming(&operation, request, &DiscardDeltas);
        let response = self.executor.block_on(asked).expect("an answer");
        let cost = CpuTime::now() - before;
        let [ModelContent::Text { text }] = &response.output[..] else { panic!("no text") };
        assert_eq!(text.len(), 4 * answer.1);
        cost
    }
}

impl Round<'_> {
    /// The round's call: what is new is made, digested and encoded each time; the rest is shared.
    pub(crate) fn call(&self) -> Duration {
        self.side.asks((Mode::Burst, 1), self.conversation.with_what_is_new())
    }
}

fn opening() -> Transcript {
    Transcript::from_iter([ModelMessage::text(ModelRole::User, "Go on.")])
}

#[derive(Default)]
struct First(Mutex<Option<Instant>>);

impl DeltaSink for First {
    fn delta(&self, _delta: ModelDelta<'_>) {
        self.0.lock().expect("no panic").get_or_insert_with(Instant::now);
    }
}

fn operation() -> OperationContext {
    let (id, execution_id) = (OperationId::new("call"), ExecutionId::new("bench"));
    OperationContext::root(
        id.expect("a valid identifier"),
        execution_id.expect("a valid identifier"),
        Duration::from_secs(60),
    )
}

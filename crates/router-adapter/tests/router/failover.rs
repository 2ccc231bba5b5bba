//! Where a call goes when its model cannot serve, what its receipt says, and what it costs.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use in_memory_fakes::{FakeModel, FakeReceiptStore, ModelStep, RecordedDelta};
use router_adapter::{Catalogue, Detour, RetryPolicy, Router, RouterError, UnknownOutcomes};
use runtime_ports::{
    AgentTurnEvent, CommitDisposition, Intelligence as _, PortFailure, PortFailureKind, TurnEnd,
    UsageReceipt,
};
use tokio::time::Instant;
use uuid::Uuid;

use crate::stage::{Course, call, follow, overloaded, rate_limited, start, within};

/// Three models of three providers: the first with a price, the second with another, the third with
/// none and a small window.
const CATALOGUE: &str = r#"
    [[models]]
    id = "writer"
    provider = "house"
    provider_model = "fake-model"
    context_window_tokens = 128_000
    max_input_tokens = 120_000
    price = { input = 1_000_000_000, output = 2_000_000_000 }
    fallbacks = ["second", "third"]

    [[models]]
    id = "second"
    provider = "abroad"
    provider_model = "fake-model"
    context_window_tokens = 200_000
    max_input_tokens = 190_000
    price = { input = 10_000_000_000, output = 20_000_000_000 }

    [[models]]
    id = "third"
    provider = "attic"
    provider_model = "fake-model"
    context_window_tokens = 1_000
    max_input_tokens = 1_000
"#;

/// A router over three scripted providers.
pub(crate) struct Troupe {
    pub(crate) models: [FakeModel; 3],
    pub(crate) store: FakeReceiptStore,
    pub(crate) router: Router,
    detours: Arc<Mutex<Vec<String>>>,
}

pub(crate) type Script = Vec<ModelStep>;

impl Troupe {
    pub(crate) async fn playing(scripts: [Script; 3], policy: RetryPolicy) -> Self {
        let models = scripts.map(FakeModel::new);
        let store = FakeReceiptStore::new();
        let detours = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&detours);
        let [first, second, third] = models.clone();
        let router = Router::builder()
            .catalogue(Catalogue::parse(CATALOGUE).unwrap())
            .provider("house", Arc::new(first.with_issuer("house")))
            .provider("abroad", Arc::new(second.with_issuer("abroad")))
            .provider("attic", Arc::new(third))
            .receipts(Arc::new(store.clone()))
            .policy(policy)
            .observer(move |_: Uuid, detour: &Detour| {
                seen.lock().unwrap().push(shown(detour));
            })
            .start()
            .await
            .unwrap();
        Self { models, store, router, detours }
    }

    pub(crate) async fn of(scripts: [Script; 3]) -> Self {
        Self::playing(scripts, RetryPolicy::default()).await
    }

    pub(crate) async fn play(&self) -> Course {
        let mut turn = self.router.start_agent_turn(start("hello")).await.unwrap();
        let course = follow(turn.as_mut()).await;
        drop(turn);
        self.router.settled().await;
        course
    }

    /// Requests that each provider got.
    pub(crate) fn requests(&self) -> [usize; 3] {
        [0, 1, 2].map(|place| self.models[place].requests().len())
    }

    fn detours(&self) -> Vec<String> {
        self.detours.lock().unwrap().clone()
    }

    #[track_caller]
    pub(crate) fn receipt(&self) -> UsageReceipt {
        assert!(self.store.open_turns().is_empty(), "a turn is open");
        let mut settled = self.store.settled();
        assert_eq!(settled.len(), 1, "{settled:?}");
        settled.remove(0)
    }
}

fn shown(detour: &Detour) -> String {
    match detour {
        Detour::SentAgain { served, code, .. } => format!("{code}: {} again", served.provider),
        Detour::Moved { from, to, code } => format!("{code}: {} to {}", from.provider, to.provider),
        Detour::LeftOut { from, to } => format!("left out: {} for {}", from.provider, to.provider),
        Detour::Hedged { from, to } => format!("hedged: {} by {}", from.provider, to.provider),
        other => format!("{other:?}"),
    }
}

fn fails(failure: PortFailure) -> ModelStep {
    ModelStep::fail(failure)
}

fn no_key() -> PortFailure {
    PortFailure::rejected(PortFailureKind::Forbidden, "NO_KEY", "the key is wrong")
}

fn down() -> ModelStep {
    let down = PortFailure::not_sent(PortFailureKind::Unavailable, "DOWN", "nobody there");
    ModelStep::fail_before_sending(down.retryable())
}

fn done() -> ModelStep {
    ModelStep::text("done").usage(3, 1)
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_cannot_serve_is_replaced_at_once_and_the_receipt_says_who_served() {
    let troupe = Troupe::of([vec![fails(no_key())], vec![done()], vec![]]).await;
    let began = Instant::now();
    assert_eq!(troupe.play().await.answer(), "done");
    assert_eq!(began.elapsed(), Duration::ZERO, "nothing is waited for");
    let receipt = troupe.receipt();
    assert_eq!(receipt.requested_model, "writer");
    assert_eq!((receipt.provider.as_str(), receipt.end), ("abroad", TurnEnd::Completed));
    let ends: Vec<_> = receipt.requests.iter().map(|request| request.end).collect();
    assert_eq!(ends, [TurnEnd::Failed, TurnEnd::Completed]);
    assert_eq!(
        receipt.losses,
        [
            "fake-model at house failed (NO_KEY), fake-model at abroad was asked instead",
            "request 1 went to fake-model at abroad, in the place of fake-model at house",
        ]
    );
    assert_eq!(troupe.detours(), ["NO_KEY: house to abroad"]);
}

#[tokio::test(start_paused = true)]
async fn each_request_costs_what_the_model_that_it_went_to_costs() {
    let metered = fails(no_key()).usage(1, 0);
    let troupe = Troupe::of([vec![metered], vec![done()], vec![]]).await;
    troupe.play().await.answer();
    let costs: Vec<_> = troupe.receipt().requests.iter().map(|meter| meter.cost_nano_usd).collect();
    assert_eq!(costs, [Some(1_000), Some(50_000)]);
    let unpriced = [vec![fails(no_key())], vec![fails(no_key())], vec![done()]];
    let troupe = Troupe::of(unpriced).await;
    troupe.play().await.answer();
    let receipt = troupe.receipt();
    assert_eq!(receipt.requests[2].cost_nano_usd, None, "without a price nothing is free");
    assert_eq!((receipt.provider.as_str(), receipt.cost_nano_usd), ("attic", None));
}

#[tokio::test(start_paused = true)]
async fn a_passing_failure_is_tried_once_more_and_then_elsewhere() {
    let troupe =
        Troupe::of([vec![fails(rate_limited()), fails(rate_limited())], vec![done()], vec![]])
            .await;
    assert_eq!(troupe.play().await.answer(), "done");
    assert_eq!((troupe.requests(), troupe.receipt().requests.len()), ([2, 1, 0], 3));
    assert_eq!(troupe.detours(), ["RATE_LIMITED: house again", "RATE_LIMITED: house to abroad"]);
}

#[tokio::test(start_paused = true)]
async fn a_long_wait_is_not_sat_out_where_another_can_serve() {
    let wait = rate_limited().retry_after(Duration::from_secs(45));
    let troupe = Troupe::of([vec![fails(wait)], vec![done()], vec![]]).await;
    let began = Instant::now();
    assert_eq!(troupe.play().await.answer(), "done");
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn complaint_16_an_outcome_that_is_unknown_is_repeated_once_at_most_wherever() {
    let troupe = Troupe::of([vec![fails(overloaded())], vec![], vec![]]).await;
    troupe.models[0].then(fails(overloaded()));
    let course = troupe.play().await;
    assert_eq!(course.failure().commit, CommitDisposition::Unknown);
    assert_eq!(troupe.requests(), [2, 0, 0], "not a third time, and not elsewhere");
    let cut = PortFailure::in_flight_unknown(PortFailureKind::Protocol, "CUT", "cut").retryable();
    let late = PortFailure::in_flight_unknown(PortFailureKind::Timeout, "LATE", "late").retryable();
    for failure in [cut, late] {
        let troupe = Troupe::of([vec![fails(failure)], vec![], vec![]]).await;
        assert_eq!(troupe.play().await.failure().commit, CommitDisposition::Unknown);
        assert_eq!(troupe.requests(), [1, 0, 0]);
    }
    let paid = PortFailure::committed(PortFailureKind::Unavailable, "LOST", "lost").retryable();
    let troupe = Troupe::of([vec![fails(paid)], vec![], vec![]]).await;
    assert_eq!(troupe.play().await.failure().commit, CommitDisposition::Committed);
    assert_eq!(troupe.requests(), [1, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn complaint_17_what_was_shown_is_shown_again_only_after_a_word_about_it() {
    let half = || ModelStep::text("half").in_pieces(2).then_fail(overloaded());
    let troupe = Troupe::of([vec![half()], vec![], vec![]]).await;
    troupe.play().await.failure();
    assert_eq!(troupe.requests(), [1, 0, 0], "nothing goes on by itself");
    let bold = RetryPolicy {
        after_deltas: true,
        unknown_outcomes: UnknownOutcomes::Any,
        ..RetryPolicy::default()
    };
    let cut = PortFailure::in_flight_unknown(PortFailureKind::Protocol, "CUT", "cut").retryable();
    let broken = ModelStep::text("half")
        .in_pieces(2)
        .then_fail(PortFailure { retry_after: Some(Duration::from_secs(9)), ..cut });
    let troupe = Troupe::playing([vec![broken], vec![done()], vec![]], bold).await;
    let course = troupe.play().await;
    assert_eq!((course.answer(), troupe.requests()), ("done", [1, 1, 0]));
    let mark = |event: &&AgentTurnEvent| matches!(event, AgentTurnEvent::TransportInput(_));
    assert_eq!(course.events.iter().filter(mark).count(), 1, "{:?}", course.events);
    let after = course.events.iter().skip_while(|event| !mark(event));
    let shown: Vec<_> = after
        .filter_map(|event| match event {
            AgentTurnEvent::TextDelta(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(shown.concat(), "done");
}

#[tokio::test(start_paused = true)]
async fn what_a_request_is_refused_for_follows_it_nowhere() {
    let too_long = PortFailure::rejected(PortFailureKind::ContextOverflow, "LONG", "too long");
    let malformed = PortFailure::rejected(PortFailureKind::Invalid, "BAD", "malformed");
    for failure in [too_long.clone(), malformed] {
        let kind = failure.kind;
        let troupe = Troupe::of([vec![fails(failure)], vec![], vec![]]).await;
        assert_eq!(troupe.play().await.failure().kind, kind);
        assert_eq!(troupe.requests(), [1, 0, 0]);
    }
    let grows = RetryPolicy { overflow_to_larger: true, ..RetryPolicy::default() };
    let troupe = Troupe::playing([vec![fails(too_long)], vec![done()], vec![]], grows).await;
    assert_eq!(troupe.play().await.answer(), "done");
}

/// Otherwise a history that fits its own model would be made shorter.
#[tokio::test(start_paused = true)]
async fn a_fallback_that_is_too_small_is_not_what_the_call_fails_with() {
    let too_long = PortFailure::rejected(PortFailureKind::ContextOverflow, "LONG", "too long");
    let troupe =
        Troupe::of([vec![fails(no_key())], vec![fails(too_long.clone())], vec![fails(too_long)]])
            .await;
    let course = troupe.play().await;
    assert_eq!((course.failure().code.as_str(), troupe.requests()), ("NO_KEY", [1, 1, 1]));
    assert_eq!(course.failure().attempts.len(), 3);
    let troupe = Troupe::of([vec![fails(no_key())], vec![fails(no_key())], vec![]]).await;
    let mut long = start(&"word ".repeat(2_000));
    long.request.tools.clear();
    let mut turn = troupe.router.start_agent_turn(long).await.unwrap();
    assert_eq!(follow(turn.as_mut()).await.failure().code, "NO_KEY");
    assert_eq!(troupe.requests(), [1, 1, 0], "one that cannot hold it is not asked");
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_is_down_is_left_alone_and_found_again() {
    let troupe = Troupe::of([vec![], vec![], vec![]]).await;
    let [first, second, _] = &troupe.models;
    // Two attempts a call: the third call meets the fifth failure in a row.
    for _ in 0..3 {
        first.then(down());
        second.then(done());
    }
    (0..2).for_each(|_| first.then(down()));
    for _ in 0..3 {
        troupe.play_quietly().await;
    }
    assert_eq!(first.calls().len(), 5);
    second.then(done());
    troupe.play_quietly().await;
    assert_eq!(first.calls().len(), 5, "it is not asked");
    let told = troupe.detours();
    assert_eq!(told.last().unwrap(), "left out: house for abroad");
    let receipt = troupe.store.settled().pop().unwrap();
    assert_eq!(receipt.requests.len(), 1, "no attempt was spent on it");
    assert!(receipt.losses[0].contains("fake-model at house was left out"), "{receipt:?}");
    tokio::time::sleep(Duration::from_secs(31)).await;
    first.then(done());
    troupe.play_quietly().await;
    first.then(done());
    troupe.play_quietly().await;
    assert_eq!((first.calls().len(), troupe.requests()[1]), (7, 4), "it serves again");
}

impl Troupe {
    /// Plays a turn that completes; its receipt is one of several.
    async fn play_quietly(&self) {
        self.play().await.answer();
    }
}

#[tokio::test(start_paused = true)]
async fn with_one_provider_a_call_is_never_kept_from_it_by_a_clock() {
    let store = FakeReceiptStore::new();
    let model = FakeModel::new((0..5).map(|_| down()));
    let router = Router::single(Arc::new(model.clone()), FakeModel::MODEL);
    let router = router.with_receipts(Arc::new(store.clone()));
    let play = async || {
        let mut start = start("hello");
        start.request.model = FakeModel::MODEL.into();
        let mut turn = router.start_agent_turn(start).await.unwrap();
        follow(turn.as_mut()).await
    };
    for _ in 0..2 {
        assert_eq!(play().await.failure().code, "DOWN");
    }
    assert_eq!(model.calls().len(), 5, "the endpoint is left alone within the second call");
    model.then(ModelStep::text("back").delay(Duration::from_secs(5)));
    let (back, meanwhile) = tokio::join!(play(), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        play().await
    });
    assert_eq!(back.answer(), "back");
    let refused = meanwhile.failure();
    assert_eq!(
        (refused.code.as_str(), refused.commit),
        ("provider_left_alone", CommitDisposition::NotCommitted)
    );
    assert!(refused.retryable && refused.attempts.is_empty());
}

#[tokio::test(start_paused = true)]
async fn waiting_and_moving_end_with_the_time_of_the_turn() {
    let slow = ModelStep::stall();
    let troupe = Troupe::of([vec![fails(no_key())], vec![slow], vec![]]).await;
    let turn = troupe.router.start_agent_turn(within(5, start("hello"))).await;
    let began = Instant::now();
    let course = follow(turn.unwrap().as_mut()).await;
    assert_eq!(course.failure().kind, PortFailureKind::Timeout);
    assert_eq!(began.elapsed(), Duration::from_secs(5));
    assert_eq!(troupe.requests(), [1, 1, 0], "what timed out after sending moves nowhere");
}

#[tokio::test(start_paused = true)]
async fn a_thread_goes_on_at_its_own_model_after_another_has_served() {
    let troupe = Troupe::of([
        vec![call("c"), fails(no_key()), ModelStep::text("third").usage(1, 1)],
        vec![ModelStep::text("second").usage(1, 1)],
        vec![],
    ])
    .await;
    let mut turn = troupe.router.start_agent_turn(start("hello")).await.unwrap();
    assert_eq!(follow(turn.as_mut()).await.answer(), "second");
    let continuation = turn.continuation().cloned().unwrap();
    assert_eq!(continuation.provider.as_str(), "house", "the thread stays with its model");
    let mut next = start("go on");
    next.continuation = Some(continuation);
    let mut turn = troupe.router.start_agent_turn(next).await.unwrap();
    assert_eq!(follow(turn.as_mut()).await.answer(), "third");
    let last = troupe.models[0].requests().pop().unwrap();
    assert_eq!(last.messages.len(), 5, "what the other said is part of it");
}

#[tokio::test]
async fn fallbacks_can_be_named_for_a_router_and_are_checked() {
    let begin = |fallbacks: [&'static str; 1]| {
        let model = FakeModel::new([]);
        Router::builder()
            .catalogue(Catalogue::parse(CATALOGUE).unwrap())
            .provider("house", Arc::new(model))
            .fallbacks("writer", fallbacks)
            .start()
    };
    assert!(begin(["second"]).await.is_ok(), "one without a session is passed over");
    for wrong in ["nobody", "writer"] {
        let error = begin([wrong]).await.unwrap_err();
        assert!(matches!(error, RouterError::Fallbacks(_)), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_fallback_is_another_invocation_and_gets_no_more_answer_tokens_than_it_gives() {
    use in_memory_fakes::DeltaLog;
    use runtime_ports::{
        ModelMessage, ModelRequest, ModelRole, OperationContext, ToolSet, Transcript,
    };
    let troupe = Troupe::of([vec![fails(no_key())], vec![done()], vec![]]).await;
    let session = troupe.router.session("ada", None);
    let id = Uuid::new_v4();
    let operation = OperationContext::root(id.into(), id.into(), Duration::from_secs(60));
    let request = ModelRequest {
        invocation_id: "run-1".into(),
        model: "writer".into(),
        messages: Transcript::from(vec![ModelMessage::text(ModelRole::User, "hello")]),
        tools: ToolSet::default(),
        max_output_tokens: Some(100),
        options: Arc::default(),
    };
    let log = DeltaLog::default();
    let answer = session.invoke_streaming(&operation, request, &log).await.unwrap();
    assert_eq!(answer.attempts.len(), 2, "every attempt is listed");
    assert_eq!(log.all(), [RecordedDelta::Text("done".into())]);
    let sent = &troupe.models[1].requests()[0];
    assert_eq!((&*sent.invocation_id, sent.max_output_tokens), ("run-1-1", Some(100)));
    assert_eq!(session.profile(&operation, "writer").await.unwrap().max_input_tokens, 120_000);
}

fn hedging() -> RetryPolicy {
    RetryPolicy { hedge_after: Some(Duration::from_secs(2)), ..RetryPolicy::default() }
}

fn after(seconds: u64, step: ModelStep) -> ModelStep {
    step.delay(Duration::from_secs(seconds))
}

#[tokio::test(start_paused = true)]
async fn whoever_is_first_of_two_is_heard_and_both_are_in_the_receipt() {
    let text = |text: &str| ModelStep::text(text).usage(3, 1);
    let late = PortFailure::in_flight_unknown(PortFailureKind::Timeout, "LATE", "late").retryable();
    let refused = || fails(no_key());
    for (first, second, takes, heard, ends) in [
        // The second begins to answer while the first is silent.
        (
            after(9, text("a")),
            after(1, text("b")),
            3,
            Some("b"),
            [TurnEnd::Interrupted, TurnEnd::Completed],
        ),
        (
            after(4, text("a")),
            after(9, text("b")),
            4,
            Some("a"),
            [TurnEnd::Interrupted, TurnEnd::Completed],
        ),
        // A failure leaves the word to the other.
        (
            after(9, text("a")),
            after(1, refused()),
            9,
            Some("a"),
            [TurnEnd::Failed, TurnEnd::Completed],
        ),
        (
            after(3, refused()),
            after(5, text("b")),
            7,
            Some("b"),
            [TurnEnd::Failed, TurnEnd::Completed],
        ),
        (after(3, fails(late)), after(5, refused()), 7, None, [TurnEnd::TimedOut, TurnEnd::Failed]),
    ] {
        let troupe = Troupe::playing([vec![first], vec![second], vec![]], hedging()).await;
        let began = Instant::now();
        let course = troupe.play().await;
        assert_eq!(began.elapsed(), Duration::from_secs(takes), "{course:?}");
        match heard {
            Some(text) => assert_eq!((course.answer(), course.text().as_str()), (text, text)),
            None => assert_eq!(course.failure().code, "NO_KEY"),
        }
        let receipt = troupe.receipt();
        assert_eq!(receipt.requests.iter().map(|it| it.end).collect::<Vec<_>>(), ends);
        assert!(receipt.losses[0].contains("was asked as well; both may be billed"), "{receipt:?}");
        assert_eq!(troupe.requests(), [1, 1, 0], "nothing more is sent");
        if heard.is_some() {
            let served = if heard == Some("a") { "house" } else { "abroad" };
            assert_eq!(receipt.provider.as_str(), served);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_begins_in_time_or_has_nobody_beside_it_is_asked_alone() {
    let slow_end = ModelStep::text("begun").usage(1, 1);
    let troupe = Troupe::playing([vec![after(1, slow_end)], vec![], vec![]], hedging()).await;
    assert_eq!(troupe.play().await.answer(), "begun");
    assert_eq!(troupe.requests(), [1, 0, 0]);
    let model = FakeModel::new([after(9, ModelStep::text("alone"))]);
    let router = Router::single(Arc::new(model), FakeModel::MODEL).with_policy(hedging());
    let mut start = start("hello");
    start.request.model = FakeModel::MODEL.into();
    let mut turn = router.start_agent_turn(start).await.unwrap();
    assert_eq!(follow(turn.as_mut()).await.answer(), "alone");
}

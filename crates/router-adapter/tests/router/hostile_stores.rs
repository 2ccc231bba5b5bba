//! Receipt stores that panic or hang, and profiles that never come.
//!
//! One property: whoever waits is answered in bounded time, and the answer says what was paid for.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures_util::future::join_all;
use in_memory_fakes::{FakeReceiptStore, Fault, FaultPlan};
use router_adapter::{Catalogue, Router};
use runtime_ports::{
    CommitDisposition, Intelligence as _, ModelProfile, ModelRequest, ModelSession,
    OperationContext, PortFailure, ReceiptStore, ReceiptTotals, RequestMeter, TurnEnd,
    UsageReceipt, UtcDay,
};
use tokio::time::Instant;
use uuid::Uuid;

use crate::{
    rogue::{Answer, answering, calling, rogue, saying},
    stage::{CATALOGUE, follow, start},
};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Misdeed {
    Panic,
    PanicWhenDropped,
    Hang,
}

/// A store that misbehaves in one of its calls, from the nth on, before the effect.
struct BadStore {
    inner: FakeReceiptStore,
    method: &'static str,
    from: u32,
    misdeed: Misdeed,
    calls: AtomicU32,
}

struct Trap;

impl Drop for Trap {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("a store panics when it is dropped");
        }
    }
}

impl BadStore {
    async fn pass(&self, method: &str) {
        let counted = method == self.method;
        if !counted || self.calls.fetch_add(1, Ordering::SeqCst) + 1 < self.from {
            return;
        }
        match self.misdeed {
            Misdeed::Panic => panic!("a store panics"),
            Misdeed::Hang => std::future::pending().await,
            Misdeed::PanicWhenDropped => {
                let _trap = Trap;
                std::future::pending::<()>().await;
            }
        }
    }
}

#[async_trait]
impl ReceiptStore for BadStore {
    async fn open(&self, op: &OperationContext, opened: UsageReceipt) -> Result<(), PortFailure> {
        self.pass("open").await;
        self.inner.open(op, opened).await
    }

    async fn note_request(
        &self,
        op: &OperationContext,
        turn: Uuid,
        ordinal: u32,
        meter: RequestMeter,
    ) -> Result<(), PortFailure> {
        self.pass("note").await;
        self.inner.note_request(op, turn, ordinal, meter).await
    }

    async fn settle(
        &self,
        op: &OperationContext,
        receipt: UsageReceipt,
    ) -> Result<(), PortFailure> {
        self.pass("settle").await;
        self.inner.settle(op, receipt).await
    }

    async fn unsettled(&self, op: &OperationContext) -> Result<Vec<UsageReceipt>, PortFailure> {
        self.pass("unsettled").await;
        self.inner.unsettled(op).await
    }

    async fn list(
        &self,
        op: &OperationContext,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<Vec<UsageReceipt>, PortFailure> {
        self.inner.list(op, after, limit).await
    }

    async fn totals(
        &self,
        op: &OperationContext,
        utc_day: UtcDay,
    ) -> Result<Vec<ReceiptTotals>, PortFailure> {
        self.inner.totals(op, utc_day).await
    }
}

fn two_requests() -> Arc<dyn ModelSession> {
    rogue(|nth, _, _| {
        let call = || answering(vec![calling("c", serde_json::json!({}))]);
        Box::pin(async move { Ok(if nth % 2 == 1 { call() } else { saying("done") }) })
    })
}

fn single(session: Arc<dyn ModelSession>, bad: BadStore) -> Router {
    Router::single(session, "writer").with_receipts(Arc::new(bad))
}

fn bad(method: &'static str, from: u32, misdeed: Misdeed) -> (FakeReceiptStore, BadStore) {
    let inner = FakeReceiptStore::new();
    let calls = AtomicU32::new(0);
    (inner.clone(), BadStore { inner, method, from, misdeed, calls })
}

#[tokio::test(start_paused = true)]
async fn a_store_that_breaks_down_in_any_call_ends_the_turn_in_bounded_time() {
    let methods = [("open", 1), ("note", 1), ("note", 2), ("settle", 1), ("unsettled", 1)];
    for misdeed in [Misdeed::Panic, Misdeed::PanicWhenDropped, Misdeed::Hang] {
        for (method, from) in methods {
            let case = format!("{method} {from} {misdeed:?}");
            let (inner, bad) = bad(method, from, misdeed);
            let router = single(two_requests(), bad);
            let began = Instant::now();
            let failure = match router.start_agent_turn(start("hello")).await {
                Err(refused) => refused.failure,
                Ok(mut turn) => follow(turn.as_mut()).await.failure.expect(&case).failure,
            };
            router.settled().await;
            assert!(began.elapsed() < Duration::from_secs(70), "{case}: {:?}", began.elapsed());
            let paid = matches!(method, "note" | "settle");
            assert_eq!(failure.commit == CommitDisposition::Committed, paid, "{case}: {failure:?}");
            let settled: Vec<_> = inner.settled().iter().map(|receipt| receipt.end).collect();
            match method {
                "note" => assert!(settled.len() == 1 && settled[0] != TurnEnd::Completed, "{case}"),
                _ => assert!(settled.is_empty(), "{case}"),
            }
        }
    }
}

/// A session that never says what its model holds.
struct Mute;

#[async_trait]
impl ModelSession for Mute {
    async fn invoke(&self, _: &OperationContext, _: ModelRequest) -> Answer {
        Ok(saying("done"))
    }

    async fn profile(&self, _: &OperationContext, _: &str) -> Result<ModelProfile, PortFailure> {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_hundred_starts_wait_no_longer_than_one() {
    let hanging = [
        Router::single(Arc::new(Mute), "writer"),
        single(two_requests(), bad("unsettled", 1, Misdeed::Hang).1),
    ];
    for router in hanging {
        let began = Instant::now();
        let starts = join_all((0..100).map(|_| router.start_agent_turn(start("hello")))).await;
        assert!(starts.iter().all(Result::is_err));
        assert!(began.elapsed() <= Duration::from_secs(61), "{:?}", began.elapsed());
    }
}

fn request() -> ModelRequest {
    ModelRequest {
        invocation_id: "1".into(),
        model: "writer".into(),
        messages: runtime_ports::Transcript::new(),
        tools: runtime_ports::ToolSet::default(),
        max_output_tokens: None,
        options: Arc::default(),
    }
}

fn within(seconds: u64) -> OperationContext {
    let (id, run) = ("call".parse().unwrap(), "run".parse().unwrap());
    OperationContext::root(id, run, Duration::from_secs(seconds))
}

#[tokio::test(start_paused = true)]
async fn a_call_ends_soon_after_its_deadline_whatever_hangs() {
    let stores = ["unsettled", "open"].map(|method| bad(method, 1, Misdeed::Hang).1);
    let [unsettled, open] = stores.map(|store| single(two_requests(), store));
    for router in [Router::single(Arc::new(Mute), "writer"), unsettled, open] {
        let began = Instant::now();
        let session = router.session("ada", None);
        assert!(session.invoke(&within(2), request()).await.is_err());
        assert!(began.elapsed() <= Duration::from_secs(3), "{:?}", began.elapsed());
        let operation = within(600);
        operation.cancellation.cancel();
        assert!(session.invoke(&operation, request()).await.is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_timed_out_while_it_was_recorded_is_settled_when_the_store_recovers() {
    let store = FakeReceiptStore::new();
    let faults = FaultPlan::new().after("receipts.open", 1, Fault::Stall);
    let router = Router::single(two_requests(), "writer")
        .with_receipts(Arc::new(store.clone().with_faults(&faults)));
    let session = router.session("ada", None);
    let failure = session.invoke(&within(2), request()).await.unwrap_err();
    assert_eq!(failure.commit, CommitDisposition::NotCommitted);
    router.settled().await;
    assert!(store.open_turns().is_empty());
    let settled = store.settled();
    assert_eq!((settled.len(), settled[0].end), (1, TurnEnd::TimedOut));
    assert!(settled[0].requests.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_catalogue_that_is_hostile_is_refused_with_reason() {
    let deep = format!("models = {}{}", "[".repeat(100_000), "]".repeat(100_000));
    let dotted = format!("{}x = 1", "a.".repeat(50_000));
    for text in [deep.as_str(), dotted.as_str(), "models = 1", "\u{0}", "[[models]]\nid = 1"] {
        assert!(Catalogue::parse(text).is_err());
    }
    for (from, to) in [
        ("128_000", "99999999999999999999"),
        ("128_000", "-1"),
        ("128_000", "1e5"),
        ("120_000", "9223372036854775807"),
        ("\"best\"", "\"writer\""),
        ("\"best\"", "\"be\\u0000st\""),
        ("1_000_000_000", "nan"),
    ] {
        assert!(Catalogue::parse(&CATALOGUE.replacen(from, to, 1)).is_err(), "{to}");
    }
}

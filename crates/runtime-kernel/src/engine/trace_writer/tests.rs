//! Traces that are fast, slow, full, broken and stuck; awaits that are dropped.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use futures_util::FutureExt as _;
use runtime_decision::{Event, RunEvent};
use runtime_ports::{
    CommitDisposition, OperationContext, PortFailure, PortFailureKind, TraceSession,
};
use serde_json::Value;
use tokio::time::Instant;

use super::{APPEND_TIMEOUT, MAX_BACKLOG, TraceWriter};
use crate::engine::event_hub::tests::{last, told};

/// What the trace does with an append.
#[derive(Debug, Clone, Copy)]
enum Does {
    Keep,
    KeepAfter(Duration),
    Fail(CommitDisposition),
    Hang,
    Panic,
}

/// A trace that follows a script, then keeps.
#[derive(Default)]
struct Trace {
    script: Mutex<Vec<Does>>,
    calls: Mutex<Vec<u64>>,
    kept: Mutex<Vec<u64>>,
}

impl Trace {
    fn new(script: &[Does]) -> Arc<Self> {
        let script = Mutex::new(script.iter().rev().copied().collect());
        Arc::new(Self { script, ..Self::default() })
    }

    fn kept(&self) -> Vec<u64> {
        self.kept.lock().unwrap().clone()
    }

    fn calls(&self) -> Vec<u64> {
        self.calls.lock().unwrap().clone()
    }
}

#[async_trait]
impl TraceSession for Trace {
    async fn append(
        &self,
        operation: &OperationContext,
        event_type: &str,
        payload: Value,
    ) -> Result<(), PortFailure> {
        assert_eq!(
            (operation.execution_id.as_str(), &payload["event"]),
            ("run", &event_type.into())
        );
        let sequence = payload["sequence"].as_u64().unwrap();
        self.calls.lock().unwrap().push(sequence);
        let does = self.script.lock().unwrap().pop().unwrap_or(Does::Keep);
        match does {
            Does::Keep => {}
            Does::KeepAfter(time) => tokio::time::sleep(time).await,
            Does::Fail(commit) => return Err(failure(commit)),
            Does::Hang => std::future::pending().await,
            Does::Panic => panic!("SECRET"),
        }
        self.kept.lock().unwrap().push(sequence);
        Ok(())
    }
}

fn failure(commit: CommitDisposition) -> PortFailure {
    PortFailure { commit, ..PortFailure::rejected(PortFailureKind::Unavailable, "FULL", "full") }
}

fn operation() -> OperationContext {
    let (id, execution) = ("run".parse().unwrap(), "run".parse().unwrap());
    OperationContext::root(id, execution, Duration::from_mins(5))
}

fn event(sequence: u64) -> Arc<RunEvent> {
    Arc::new(told(sequence, Event::RunResumed))
}

fn writer(trace: &Arc<Trace>, events: u64) -> TraceWriter {
    let mut writer = TraceWriter::new(trace.clone(), operation());
    (1..=events).for_each(|sequence| writer.push(&event(sequence)));
    writer
}

/// Codes of the first and the latest loss, and how many there are.
fn lost(writer: &TraceWriter) -> (u64, Option<&str>, Option<&str>) {
    let losses = writer.losses();
    let first = losses.first.as_ref().map(|failure| &*failure.code);
    (losses.events, first, losses.latest.as_ref().map(|failure| &*failure.code))
}

const GRACE: Duration = Duration::from_secs(5);

#[tokio::test(start_paused = true)]
async fn events_are_kept_in_order_and_deltas_are_not() {
    let trace = Trace::new(&[]);
    let mut writer = writer(&trace, 3);
    let text = Event::AssistantDelta { text: "x".into() };
    writer.push(&Arc::new(RunEvent { delta: Some(1), ..told(3, text) }));
    writer.push(&Arc::new(last(4)));
    assert!(writer.needs_flush() && trace.calls().is_empty());
    writer.flush(GRACE).await;
    assert_eq!((trace.kept(), writer.needs_flush()), (vec![1, 2, 3, 4], false));
    assert_eq!(lost(&writer), (0, None, None));
}

#[tokio::test(start_paused = true)]
async fn one_append_runs_at_a_time_and_an_idle_writer_waits() {
    let second = Duration::from_secs(1);
    let trace = Trace::new(&[Does::KeepAfter(second); 2]);
    let mut writer = writer(&trace, 2);
    assert!(writer.written().now_or_never().is_none());
    assert_eq!(trace.calls(), [1]);
    writer.written().await;
    assert_eq!((trace.calls(), trace.kept()), (vec![1], vec![1]));
    writer.written().await;
    assert!(writer.written().now_or_never().is_none() && !writer.needs_flush());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_await_neither_loses_nor_doubles() {
    let slow = Does::KeepAfter(Duration::from_millis(200));
    for polls in 0..8 {
        let trace = Trace::new(&[slow, slow, slow]);
        let mut writer = writer(&trace, 3);
        for _ in 0..polls {
            let _ = tokio::time::timeout(Duration::from_millis(70), writer.written()).await;
            let _ = writer.flush(GRACE).now_or_never();
        }
        writer.flush(GRACE).await;
        assert_eq!((trace.calls(), trace.kept()), (vec![1, 2, 3], vec![1, 2, 3]), "{polls}");
        assert_eq!(lost(&writer), (0, None, None));
    }
}

/// Keeps three events, of which the second meets `does`.
async fn check(does: Does, kept: &[u64], lost_events: u64, code: Option<&str>, took: Duration) {
    let trace = Trace::new(&[Does::Keep, does]);
    let mut writer = writer(&trace, 3);
    let start = Instant::now();
    writer.flush(Duration::from_mins(1)).await;
    assert_eq!((trace.calls(), trace.kept()), (vec![1, 2, 3], kept.to_vec()), "{does:?}");
    assert_eq!(lost(&writer), (lost_events, code, code), "{does:?}");
    assert_eq!(start.elapsed(), took, "{does:?}");
}

#[tokio::test(start_paused = true)]
async fn a_failed_append_is_counted_and_the_next_one_goes_on() {
    let no_time = Duration::ZERO;
    check(Does::Fail(CommitDisposition::NotCommitted), &[1, 3], 1, Some("FULL"), no_time).await;
    check(Does::Fail(CommitDisposition::Unknown), &[1, 3], 1, Some("FULL"), no_time).await;
    check(Does::Fail(CommitDisposition::Committed), &[1, 3], 0, None, no_time).await;
    check(Does::Panic, &[1, 3], 1, Some("trace_panicked"), no_time).await;
    check(Does::Hang, &[1, 3], 1, Some("DEADLINE_EXCEEDED"), APPEND_TIMEOUT).await;
    let late = Duration::from_millis(9_999);
    check(Does::KeepAfter(late), &[1, 2, 3], 0, None, late).await;
}

#[tokio::test(start_paused = true)]
async fn a_stuck_trace_ends_with_the_grace_and_says_what_is_unknown() {
    let trace = Trace::new(&[Does::Keep, Does::Hang]);
    let mut writer = writer(&trace, 4);
    let start = Instant::now();
    writer.flush(GRACE).await;
    assert_eq!((start.elapsed(), trace.kept(), writer.needs_flush()), (GRACE, vec![1], false));
    assert_eq!(lost(&writer), (3, Some("DEADLINE_EXCEEDED"), Some("trace_out_of_time")));
    let commits = [&writer.losses().first, &writer.losses().latest];
    let commits = commits.map(|failure| failure.as_ref().unwrap().commit);
    assert_eq!(commits, [CommitDisposition::Unknown, CommitDisposition::NotCommitted]);
}

#[tokio::test(start_paused = true)]
async fn a_full_backlog_loses_its_oldest_and_never_the_end() {
    let trace = Trace::new(&[]);
    let mut writer = writer(&trace, MAX_BACKLOG as u64 + 2);
    writer.push(&Arc::new(last(MAX_BACKLOG as u64 + 3)));
    assert_eq!(lost(&writer), (3, Some("trace_backlog_full"), Some("trace_backlog_full")));
    writer.flush(GRACE).await;
    let kept: Vec<u64> = (4..=MAX_BACKLOG as u64 + 3).collect();
    assert_eq!((trace.kept(), writer.losses().events), (kept, 3));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_cancelled_run_is_kept_too() {
    let trace = Trace::new(&[Does::KeepAfter(Duration::from_millis(200))]);
    let operation = operation();
    let mut writer = TraceWriter::new(trace.clone(), operation.clone());
    writer.push(&event(1));
    assert!(writer.written().now_or_never().is_none());
    operation.cancellation.cancel();
    writer.push(&Arc::new(last(2)));
    writer.flush(GRACE).await;
    assert_eq!((trace.kept(), writer.losses().events), (vec![1, 2], 0));
}

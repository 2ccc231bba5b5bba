//! The session's future, dropped after every number of polls; and sessions at random.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use in_memory_fakes::TurnScript;
use proptest::prelude::*;
use runtime_kernel::{ProviderResume, SessionControl, SessionToolOutcome};
use runtime_ports::TurnEnd;
use serde_json::json;
use tokio::time::Duration;

use crate::{
    scenario::{Scenario, provider_failure, recorded_receipts, scenario, usage},
    test_host::{Callback, Fault, TestHost},
};

/// Polls a future so many times, then gives up on it.
struct DropAfter<F> {
    future: Pin<Box<F>>,
    polls_left: usize,
}

impl<F: Future> Future for DropAfter<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.polls_left == 0 {
            return Poll::Ready(None);
        }
        self.polls_left -= 1;
        self.future.as_mut().poll(context).map(Some)
    }
}

/// Runs the session until it was polled so often; whether it came to its end.
async fn dropped_after(polls: usize, session: Scenario) -> (bool, TestHost) {
    let (runtime, request, mut host) = session.parts();
    let future = Box::pin(runtime.run_session(request, &mut host));
    let finished = DropAfter { future, polls_left: polls }.await.is_some();
    (finished, host)
}

/// Exactly one receipt for each turn in the ledger, and none twice at the host.
fn check_receipts(host: &TestHost, case: &str) {
    host.intelligence.assert_one_receipt_per_turn();
    let settled = host.intelligence.receipts();
    let recorded = recorded_receipts(&host.events);
    let known = recorded.iter().filter(|receipt| settled.contains(receipt)).count();
    assert_eq!(known, recorded.len(), "{case}: recorded what was not settled");
    let mut ids: Vec<_> = recorded.iter().map(|receipt| receipt.operation_id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), recorded.len(), "{case}: a receipt was recorded twice");
}

fn long_session() -> Scenario {
    let first = TurnScript::new()
        .usage(usage(1))
        .delay(Duration::from_millis(3))
        .ktool("look", json!({}), "c1")
        .call("wrong", json!({}), "c2")
        .delay(Duration::from_millis(3))
        .complete("one");
    let restarted = TurnScript::new().ktool("look", json!({}), "c1");
    scenario()
        .turn(first.optional())
        .turn(restarted.optional())
        .turn(TurnScript::new().fail(provider_failure()).optional())
        .resume(ProviderResume::Continue(SessionToolOutcome::success("t")))
        .resume(ProviderResume::Continue(SessionToolOutcome::failure("t")))
        .resume(ProviderResume::RestartFresh)
        .control(SessionControl::Continue)
}

#[tokio::test(start_paused = true)]
async fn rule_10_a_session_dropped_at_any_await_leaves_one_receipt_per_turn() {
    let mut interrupted = 0;
    for polls in 0.. {
        let (finished, host) = dropped_after(polls, long_session()).await;
        check_receipts(&host, &format!("dropped after {polls} polls"));
        let receipts = host.intelligence.receipts();
        if finished {
            let ends: Vec<_> = receipts.iter().map(|receipt| receipt.end).collect();
            assert_eq!(ends, [TurnEnd::Completed, TurnEnd::Interrupted, TurnEnd::Failed]);
            assert_eq!(recorded_receipts(&host.events), receipts);
            assert!(polls > 40, "there were only {polls} places to drop it at");
            assert!(interrupted > 20, "only {interrupted} drops met an open turn");
            return;
        }
        interrupted +=
            usize::from(receipts.last().is_some_and(|last| last.end == TurnEnd::Interrupted));
    }
}

#[derive(Debug, Clone)]
enum Step {
    Usage(u64),
    Call { valid: bool, ok: bool, stop: bool, resume: u8 },
    Delay,
}

#[derive(Debug, Clone)]
enum End {
    Complete,
    Fail,
    Ends,
    Refused,
    FailsAtStart,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..9u64).prop_map(Step::Usage),
        (any::<bool>(), any::<bool>(), prop::bool::weighted(0.1), 0..8u8)
            .prop_map(|(valid, ok, stop, resume)| Step::Call { valid, ok, stop, resume }),
        Just(Step::Delay),
    ]
}

fn any_turn() -> impl Strategy<Value = (Vec<Step>, End)> {
    let end = prop_oneof![
        6 => Just(End::Complete),
        1 => Just(End::Fail),
        1 => Just(End::Ends),
        1 => Just(End::Refused),
        1 => Just(End::FailsAtStart),
    ];
    (prop::collection::vec(any_step(), 0..6), end)
}

fn any_fault() -> impl Strategy<Value = Option<(Callback, usize)>> {
    let callback = prop_oneof![
        Just(Callback::Prepare),
        Just(Callback::Record),
        Just(Callback::Execute),
        Just(Callback::Resume),
        Just(Callback::Capture),
        Just(Callback::Complete),
    ];
    prop::option::weighted(0.5, (callback, 1..8usize))
}

fn script_of(steps: &[Step], end: &End) -> TurnScript {
    let script = match end {
        End::Refused => return TurnScript::refuse_start(provider_failure()).optional(),
        End::FailsAtStart => return TurnScript::fail_start(provider_failure()).optional(),
        _ => TurnScript::new(),
    };
    let played = steps.iter().enumerate().fold(script, |script, (n, step)| match step {
        Step::Usage(tokens) => script.usage(usage(*tokens)),
        Step::Delay => script.delay(Duration::from_millis(1)),
        Step::Call { valid: true, .. } => script.ktool("look", json!({}), format!("c{n}")),
        Step::Call { valid: false, .. } => script.call("wrong", json!(n), format!("c{n}")),
    });
    let ended = match end {
        End::Fail => played.fail(provider_failure()),
        End::Ends => played.end(),
        _ => played.complete("x"),
    };
    ended.optional()
}

fn session_of(turns: &[(Vec<Step>, End)], fault: Option<(Callback, usize)>) -> Scenario {
    let mut session = scenario().rounds(0, turns.len() as u64);
    for (steps, end) in turns {
        session = session.turn(script_of(steps, end)).control(SessionControl::Continue);
        for step in steps {
            let Step::Call { ok, stop, resume, .. } = step else { continue };
            let plain = SessionToolOutcome::failure("t");
            let outcome = SessionToolOutcome { ok: *ok, stop: *stop, ..plain };
            session = session.resume(match resume {
                0 => ProviderResume::RestartFresh,
                1 => ProviderResume::Complete(None),
                _ => ProviderResume::Continue(outcome),
            });
        }
    }
    fault.into_iter().fold(session, |session, (at, nth)| session.fault(at, nth, Fault::Error))
}

proptest! {
    /// Whatever the provider and the host do, and wherever the session is dropped.
    #[test]
    fn any_session_leaves_one_receipt_per_turn(
        turns in prop::collection::vec(any_turn(), 1..5),
        fault in any_fault(),
        polls in prop_oneof![Just(usize::MAX), 0..120usize],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let (finished, host) = runtime.block_on(dropped_after(polls, session_of(&turns, fault)));
        check_receipts(&host, "at random");
        if finished {
            prop_assert_eq!(recorded_receipts(&host.events), host.intelligence.receipts());
        }
    }
}

//! Rules 5 to 7: how tool calls are served, answered, or left unanswered.

use in_memory_fakes::TurnScript;
use runtime_kernel::{
    HostFuture, ProviderResume, RoundCompletion, RoundPreparation, SessionControl, SessionEvent,
    SessionHost, SessionToolOutcome, ToolCall,
};
use runtime_ports::TurnEnd;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    scenario::{Outcome, scenario},
    test_host::{Callback, Fault, TestHost},
};

fn one_call() -> TurnScript {
    TurnScript::new().ktool("look", json!({}), "c1")
}

fn ok(text: &str) -> SessionToolOutcome {
    SessionToolOutcome::success(text)
}

fn failed(text: &str) -> SessionToolOutcome {
    SessionToolOutcome::failure(text)
}

#[tokio::test]
async fn rule_05_calls_are_served_one_by_one_in_order_invalid_ones_too() {
    let script = TurnScript::new()
        .ktool("first", json!({ "n": 1 }), "c1")
        .answered(true, "one")
        .call("other_tool", json!({}), "c2")
        .answered(false, "two")
        .call("call_ktool", Value::String("{\"name\":".into()), "c3")
        .answered(true, "three")
        .ktool("second", json!({}), "c4")
        .answered(true, "four")
        .complete("x");
    let outcomes = [ok("one"), failed("two"), ok("three"), ok("four")];
    let session = outcomes
        .into_iter()
        .fold(scenario().turn(script), |session, outcome| session.outcome(outcome));
    let outcome = session.run().await;
    outcome.is(
        Some("x"),
        &[
            "prepare 1",
            "submitted 1",
            "input 1",
            "execute first",
            "resume, 0 sent",
            "execute an invalid call",
            "resume, 1 sent",
            "execute an invalid call",
            "resume, 2 sent",
            "execute second",
            "resume, 3 sent",
            "receipt 1 completed",
            "complete x",
        ],
    );
    let calls: Vec<_> = outcome.host.calls.iter().map(|(call, _)| call.clone()).collect();
    let call = |name: &str, arguments| Ok(ToolCall { name: name.into(), arguments });
    let not_an_object = "the arguments of call_ktool are not an object; give it name and arguments";
    let expected = [
        call("first", json!({ "n": 1 })),
        Err("unknown provider tool; call call_ktool".to_owned()),
        Err(not_an_object.to_owned()),
        call("second", json!({})),
    ];
    assert_eq!(calls, expected);
    assert!(outcome.host.completions[0].used_tool);
}

#[tokio::test]
async fn rule_05_used_tool_is_true_for_valid_and_invalid_calls_only() {
    let invalid = TurnScript::new().call("call_ktool", json!([]), "c1").complete("x");
    let cases = [
        (TurnScript::new().complete("x"), false),
        (one_call().complete("x"), true),
        (invalid, true),
    ];
    for (script, used_tool) in cases {
        let outcome = scenario().turn(script).outcome(failed("no")).run().await;
        assert_eq!(outcome.host.completions[0].used_tool, used_tool);
    }
}

#[tokio::test]
async fn rule_06_continue_sends_the_amended_outcome() {
    for (amended, success) in [(ok("amended"), true), (failed("amended"), false)] {
        let outcome = scenario()
            .turn(one_call().complete("x"))
            .outcome(ok("raw"))
            .resume(ProviderResume::Continue(amended))
            .run()
            .await;
        assert_eq!(outcome.sent(), [(success, "amended".to_owned())]);
    }
}

/// A host that leaves `prepare_provider_resume` to the trait.
struct DefaultResume(TestHost);

impl SessionHost for DefaultResume {
    fn prepare_round<'a>(&'a mut self, round: u64) -> HostFuture<'a, RoundPreparation> {
        self.0.prepare_round(round)
    }

    fn record<'a>(&'a mut self, event: SessionEvent) -> HostFuture<'a, ()> {
        self.0.record(event)
    }

    fn execute_tool<'a>(
        &'a mut self,
        call: anyhow::Result<ToolCall>,
        provider_operation_id: Uuid,
    ) -> HostFuture<'a, SessionToolOutcome> {
        self.0.execute_tool(call, provider_operation_id)
    }

    fn complete_capture<'a>(
        &'a mut self,
        capture: Value,
        contents: String,
    ) -> HostFuture<'a, SessionControl> {
        self.0.complete_capture(capture, contents)
    }

    fn complete_round<'a>(&'a mut self, round: RoundCompletion) -> HostFuture<'a, SessionControl> {
        self.0.complete_round(round)
    }
}

#[tokio::test]
async fn rule_06_by_default_the_outcome_is_sent_unchanged() {
    let script = one_call().answered(false, "raw").complete("x");
    let finishing = SessionToolOutcome { finish_after_round: true, ..failed("raw") };
    let (runtime, request, host) = scenario().turn(script).outcome(finishing).parts();
    let mut host = DefaultResume(host);
    let answer = runtime.run_session(request, &mut host).await.unwrap();
    assert_eq!(answer.as_deref(), Some("x"));
}

/// One turn with a call for each outcome; gives its completion, or its captures.
async fn after(outcomes: &[SessionToolOutcome]) -> Outcome {
    let calls = (0..outcomes.len())
        .fold(TurnScript::new(), |script, n| script.ktool("look", json!({}), format!("c{n}")));
    let session = scenario().turn(calls.complete("x"));
    outcomes.iter().cloned().fold(session, |session, outcome| session.outcome(outcome)).run().await
}

#[tokio::test]
async fn rule_06_facts_count_only_when_ok_and_stay() {
    let finish = |ok| SessionToolOutcome { ok, finish_after_round: true, ..failed("t") };
    let emit = |ok| SessionToolOutcome { ok, emitted_response: true, ..failed("t") };
    let cases: [(&[SessionToolOutcome], bool, bool); 7] = [
        (&[ok("t")], false, false),
        (&[finish(true)], true, false),
        (&[finish(false)], false, false),
        (&[emit(true)], false, true),
        (&[emit(false)], false, false),
        (&[finish(true), emit(true), ok("t"), failed("t")], true, true),
        (&[finish(false), emit(true)], false, true),
    ];
    for (outcomes, finish_requested, emitted_response) in cases {
        let outcome = after(outcomes).await;
        let (answer, used_tool) = ("x".to_owned(), true);
        let expected = RoundCompletion { answer, used_tool, finish_requested, emitted_response };
        assert_eq!(outcome.host.completions, [expected], "{outcomes:?}");
    }
}

#[tokio::test]
async fn rule_06_the_latest_outcome_decides_whether_a_capture_is_pending() {
    let capture =
        |ok, token: u64| SessionToolOutcome { ok, capture: Some(json!(token)), ..failed("t") };
    let cases: [(&[SessionToolOutcome], Option<u64>); 6] = [
        (&[capture(true, 1)], Some(1)),
        (&[capture(false, 1)], None),
        (&[capture(true, 1), capture(true, 2)], Some(2)),
        (&[capture(true, 1), ok("t")], None),
        (&[capture(true, 1), capture(false, 2)], None),
        (&[ok("t"), capture(true, 3)], Some(3)),
    ];
    for (outcomes, pending) in cases {
        let outcome = after(outcomes).await;
        let expected: Vec<_> =
            pending.map(|token| (json!(token), "x".into())).into_iter().collect();
        assert_eq!(outcome.host.captures, expected, "{outcomes:?}");
        assert_eq!(outcome.host.completions.len(), usize::from(pending.is_none()));
    }
}

const LEFT: [&str; 6] = [
    "prepare 1",
    "submitted 1",
    "input 1",
    "execute look",
    "resume, 0 sent",
    "receipt 1 interrupted",
];

#[tokio::test]
async fn rule_06_complete_settles_the_turn_and_sends_nothing() {
    for answer in [None, Some("early")] {
        let complete = ProviderResume::Complete(answer.map(str::to_owned));
        let outcome = scenario().turn(one_call()).resume(complete).run().await;
        outcome.is(answer, &LEFT);
        assert_eq!(outcome.sent(), []);
        assert_eq!(outcome.recorded_receipts(), outcome.intelligence.receipts());
    }
}

#[tokio::test]
async fn rule_06_restart_fresh_takes_the_next_round_whatever_ok_is() {
    let again = ["prepare 2", "submitted 2", "input 2", "receipt 2 completed", "complete x"];
    let lossy = |ok| SessionToolOutcome {
        ok,
        capture: Some(json!(1)),
        stop: true,
        finish_after_round: true,
        emitted_response: true,
        text: "t".into(),
    };
    for dropped in [lossy(true), lossy(false)] {
        let outcome = scenario()
            .turn(one_call())
            .turn(TurnScript::new().complete("x"))
            .outcome(dropped)
            .resume(ProviderResume::RestartFresh)
            .run()
            .await;
        outcome.is(Some("x"), &[&LEFT[..], &again[..]].concat());
        assert_eq!(outcome.sent(), []);
        let ends: Vec<_> = outcome.recorded_receipts().iter().map(|receipt| receipt.end).collect();
        assert_eq!(ends, [TurnEnd::Interrupted, TurnEnd::Completed]);
        let fact = &outcome.host.completions[0];
        assert!(!fact.used_tool && !fact.finish_requested && !fact.emitted_response);
    }
}

#[tokio::test]
async fn rule_06_restart_fresh_counts_as_a_round() {
    let session = scenario().rounds(0, 1).turn(one_call());
    let outcome = session.resume(ProviderResume::RestartFresh).run().await;
    let limit = "the session used all of its 1 rounds; resume it with a higher round limit";
    outcome.fails(&[limit], &LEFT);
}

#[tokio::test]
async fn rule_06_a_restart_that_cannot_be_accounted_never_starts_the_next_round() {
    let restart = || scenario().turn(one_call()).resume(ProviderResume::RestartFresh);
    let unrecorded = restart().fault(Callback::Record, 3, Fault::Error).run().await;
    unrecorded.fails(&["host failed at Record 3"], &LEFT);

    let refusal = crate::scenario::provider_failure();
    let unsettled = scenario().turn(one_call().fail_finish(refusal));
    let (runtime, request, mut host) = unsettled.resume(ProviderResume::RestartFresh).parts();
    let error = runtime.run_session(request, &mut host).await.unwrap_err();
    assert_eq!(error.to_string(), "CUT: the provider went away");
    assert_eq!(host.log, LEFT[..5]);
    assert_eq!(host.intelligence.started().len(), 1);
}

#[tokio::test]
async fn rule_07_stop_returns_after_the_answer_was_sent_and_the_receipt_recorded() {
    for ok in [true, false] {
        let stop = SessionToolOutcome { ok, stop: true, ..failed("bye") };
        let outcome = scenario().turn(one_call().answered(ok, "bye")).outcome(stop).run().await;
        outcome.is(None, &LEFT);
        assert_eq!(outcome.sent(), [(ok, "bye".to_owned())]);
        assert_eq!(outcome.recorded_receipts(), outcome.intelligence.receipts());
    }
}

#[tokio::test]
async fn rule_07_the_boundary_decides_before_stop_does() {
    let stop = || SessionToolOutcome { stop: true, ..ok("bye") };
    let complete = ProviderResume::Complete(Some("early".into()));
    let outcome = scenario().turn(one_call()).outcome(stop()).resume(complete).run().await;
    outcome.is(Some("early"), &LEFT);
    let amended = ProviderResume::Continue(ok("go on"));
    let script = one_call().answered(true, "go on").complete("x");
    let outcome = scenario().turn(script).outcome(stop()).resume(amended).run().await;
    assert_eq!(outcome.result.unwrap().as_deref(), Some("x"));
}

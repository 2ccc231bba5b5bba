//! Plays scripts on the fake intelligence by hand and looks at what it gave and kept.

use std::time::Duration;

use runtime_ports::{
    AgentContinuation, AgentProvider, AgentTurn, AgentTurnEvent, AgentTurnRequest, Intelligence,
    Metering, PortFailure, PortFailureKind, Price, TokenUsage, ToolResult, TurnEnd, TurnStart,
};
use serde_json::json;
use uuid::Uuid;

use crate::{FakeAgentModel, FakeIntelligence, TurnScript};

fn start() -> TurnStart {
    TurnStart {
        user_id: "ada".into(),
        operation_id: Uuid::new_v4(),
        parent_operation_id: None,
        continuation: None,
        request: AgentTurnRequest {
            model: "fake".into(),
            reasoning_effort: "high".into(),
            input: "hello".into(),
            tools: Vec::new(),
            timeout: None,
            ephemeral: false,
            max_requests: 250,
        },
    }
}

fn failure(kind: PortFailureKind) -> PortFailure {
    PortFailure::in_flight_unknown(kind, "SCRIPTED", "as the script says")
}

fn usage(input: u64, output: u64) -> TokenUsage {
    TokenUsage { input_tokens: Some(input), output_tokens: Some(output), ..TokenUsage::default() }
}

fn answer(success: bool, text: &str) -> ToolResult {
    ToolResult { success, text: text.into() }
}

/// Everything a turn gives until it is over, one word an event; calls are answered with `ok`.
async fn play(turn: &mut dyn AgentTurn) -> Vec<String> {
    let mut seen = Vec::new();
    loop {
        match turn.next_event().await {
            Ok(None) => return seen,
            Ok(Some(event)) => seen.push(word(&event)),
            Err(failed) => seen.push(format!("failed {}", failed.failure.code)),
        }
        if let Some(call_id) = seen.last().and_then(|last| last.strip_prefix("call ")) {
            turn.respond(call_id, answer(true, "ok")).await.unwrap();
        }
    }
}

fn word(event: &AgentTurnEvent) -> String {
    match event {
        AgentTurnEvent::TransportInput(_) => "transport".into(),
        AgentTurnEvent::ModelContextSubmitted(context) => format!("context {}", context.input),
        AgentTurnEvent::TextDelta(text) => format!("text {text}"),
        AgentTurnEvent::ReasoningDelta(text) => format!("reasoning {text}"),
        AgentTurnEvent::UsageUpdated(_) => "usage".into(),
        AgentTurnEvent::ToolCall { call_id, .. } => format!("call {call_id}"),
        AgentTurnEvent::Completed { answer, .. } => format!("completed {answer}"),
    }
}

/// Plays one script to its end; gives the words, the end on the receipt and its metering.
async fn check(script: TurnScript, words: &[&str], end: TurnEnd, metering: Metering) {
    let fake = FakeIntelligence::new([script]);
    let mut turn = fake.start_agent_turn(start()).await.unwrap();
    assert_eq!(play(&mut *turn).await, words);
    drop(turn);
    let receipts = fake.receipts();
    assert_eq!((receipts[0].end, receipts[0].metering), (end, metering), "{words:?}");
    fake.assert_one_receipt_per_turn();
}

#[tokio::test(start_paused = true)]
async fn a_script_is_played_step_by_step() {
    let known = Metering::Tokens;
    check(
        TurnScript::new()
            .event(AgentTurnEvent::TransportInput(json!({})))
            .reasoning("hm")
            .text("so")
            .usage(usage(1, 2))
            .ktool("read", json!({}), "c1")
            .answered(true, "ok")
            .delay(Duration::from_secs(5))
            .complete("done"),
        &[
            "context hello",
            "transport",
            "reasoning hm",
            "text so",
            "usage",
            "call c1",
            "completed done",
        ],
        TurnEnd::Completed,
        known(usage(1, 2)),
    )
    .await;
    let complete = TurnScript::new().complete("x");
    check(
        complete,
        &["context hello", "completed x"],
        TurnEnd::Completed,
        known(TurnScript::USAGE),
    )
    .await;
    let withheld = TurnScript::new().complete_unmetered("x");
    check(withheld, &["context hello", "completed x"], TurnEnd::Completed, Metering::Unavailable)
        .await;
    let exact = TurnScript::new().usage(usage(9, 9)).complete_with_usage("x", usage(10, 11));
    let words = ["context hello", "usage", "completed x"];
    check(exact, &words, TurnEnd::Completed, known(usage(10, 11))).await;
    let fails = TurnScript::new().fail(failure(PortFailureKind::Unavailable));
    let words = ["context hello", "failed SCRIPTED"];
    check(fails, &words, TurnEnd::Failed, Metering::Unavailable).await;
    let slow = TurnScript::new().fail(failure(PortFailureKind::Timeout));
    check(slow, &words, TurnEnd::TimedOut, Metering::Unavailable).await;
    let ends = TurnScript::new().usage(usage(3, 4)).end();
    check(ends, &["context hello", "usage"], TurnEnd::Interrupted, known(usage(3, 4))).await;
    let stalls = TurnScript::new().stall();
    let words = ["context hello", "failed DEADLINE_EXCEEDED"];
    check(stalls, &words, TurnEnd::TimedOut, Metering::Unavailable).await;
}

#[tokio::test]
async fn answers_are_taken_once_and_only_for_the_open_call() {
    let script = TurnScript::new().call("t", json!(null), "c1").complete("done");
    let fake = FakeIntelligence::new([script]);
    let mut turn = fake.start_agent_turn(start()).await.unwrap();
    turn.next_event().await.unwrap();
    turn.next_event().await.unwrap();
    let early = turn.next_event().await.unwrap_err();
    assert_eq!((early.failure.kind, early.receipt), (PortFailureKind::Conflict, None));
    for (call_id, outcome) in [("c2", false), ("c1", true), ("c1", false)] {
        let taken = turn.respond(call_id, answer(true, "ok")).await;
        let conflict = taken.as_ref().is_err_and(|e| e.kind == PortFailureKind::Conflict);
        assert_eq!((taken.is_ok(), conflict), (outcome, !outcome), "{call_id}");
    }
    assert_eq!(play(&mut *turn).await, ["completed done"]);
    assert_eq!(fake.answers().len(), 1);
}

#[tokio::test]
async fn a_refused_answer_leaves_the_call_open() {
    let refusal = failure(PortFailureKind::Unavailable);
    let script = TurnScript::new().call("t", json!(null), "c1").answer_refused(refusal.clone());
    let fake = FakeIntelligence::new([script]);
    let mut turn = fake.start_agent_turn(start()).await.unwrap();
    turn.next_event().await.unwrap();
    turn.next_event().await.unwrap();
    assert_eq!(turn.respond("c1", answer(true, "ok")).await, Err(refusal));
    assert_eq!(fake.answers(), []);
    assert_eq!(turn.finish_unavailable().await.unwrap().end, TurnEnd::Interrupted);
}

#[tokio::test]
async fn finish_unavailable_settles_once_and_again_gives_the_same() {
    let fake = FakeIntelligence::new([TurnScript::new().usage(usage(1, 1))]);
    let mut turn = fake.start_agent_turn(start()).await.unwrap();
    turn.next_event().await.unwrap();
    turn.next_event().await.unwrap();
    let first = turn.finish_unavailable().await.unwrap();
    assert_eq!(turn.finish_unavailable().await.unwrap(), first);
    assert_eq!((turn.receipt(), turn.continuation()), (Some(&first), None));
    assert!(first.is_lower_bound);
    assert!(turn.next_event().await.unwrap().is_none());
    drop(turn);
    assert_eq!(fake.receipts(), [first]);
}

#[tokio::test]
async fn a_failing_finish_leaves_the_receipt_to_the_drop() {
    let refusal = failure(PortFailureKind::Unavailable);
    let fake = FakeIntelligence::new([TurnScript::new().fail_finish(refusal.clone())]);
    let mut turn = fake.start_agent_turn(start()).await.unwrap();
    assert_eq!(turn.finish_unavailable().await, Err(refusal));
    assert_eq!(fake.receipts(), []);
    drop(turn);
    let receipts = fake.receipts();
    let receipt = &receipts[0];
    assert_eq!((receipt.end, receipt.requests.len()), (TurnEnd::Interrupted, 0));
    assert_eq!((receipt.metering, receipt.is_lower_bound), (Metering::Unavailable, false));
}

#[tokio::test]
async fn starts_are_refused_before_a_script_is_used() {
    let fake = FakeIntelligence::new([TurnScript::new()]).with_thread("t");
    let known = start();
    let turn = fake.start_agent_turn(known.clone()).await.unwrap();
    let thread = |provider: &str, model: &str, id: &str| AgentContinuation {
        provider: AgentProvider::new(provider),
        provider_model: model.into(),
        thread_id: id.into(),
    };
    let with = |continuation| TurnStart { continuation: Some(continuation), ..start() };
    let mut unknown_model = start();
    unknown_model.request.model = "faux".into();
    let canceled = start();
    assert!(!fake.cancel(canceled.operation_id).await.unwrap());
    let cases = [
        (known, PortFailureKind::Conflict),
        (unknown_model, PortFailureKind::NotFound),
        (canceled, PortFailureKind::Canceled),
        (with(thread("other", "fake-model", "t")), PortFailureKind::Invalid),
        (with(thread("fake", "other", "t")), PortFailureKind::Invalid),
        (with(thread("fake", "fake-model", "u")), PortFailureKind::NotFound),
    ];
    for (refused, kind) in cases {
        let refusal = fake.start_agent_turn(refused).await.err().unwrap();
        assert_eq!((refusal.failure.kind, refusal.receipt), (kind, None));
    }
    drop(turn);
    assert_eq!((fake.asked().len(), fake.started().len(), fake.receipts().len()), (7, 1, 1));
}

#[tokio::test]
async fn scripted_starts_fail_with_and_without_a_receipt() {
    let refusal = failure(PortFailureKind::RateLimited);
    let scripts = [TurnScript::refuse_start(refusal.clone()), TurnScript::fail_start(refusal)];
    let fake = FakeIntelligence::new(scripts);
    assert_eq!(fake.start_agent_turn(start()).await.err().unwrap().receipt, None);
    let failed = fake.start_agent_turn(start()).await.err().unwrap();
    assert_eq!(failed.receipt.map(|receipt| receipt.end), Some(TurnEnd::Failed));
    fake.assert_one_receipt_per_turn();
    assert_eq!(fake.receipts().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn cancelling_an_ancestor_ends_the_turn_and_sticks() {
    let fake =
        FakeIntelligence::new([TurnScript::new().stall().optional(), TurnScript::new().stall()]);
    let (root, parent) = (Uuid::new_v4(), start());
    let parent = TurnStart { parent_operation_id: Some(root), ..parent };
    let child = TurnStart { parent_operation_id: Some(parent.operation_id), ..start() };
    let late = TurnStart { parent_operation_id: Some(parent.operation_id), ..start() };
    let _parent = fake.start_agent_turn(parent).await.unwrap();
    let mut turn = fake.start_agent_turn(child).await.unwrap();
    turn.next_event().await.unwrap();
    let canceller = fake.clone();
    let cancel = async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        [canceller.cancel(root).await, canceller.cancel(root).await]
    };
    let (ended, cancelled) = tokio::join!(turn.next_event(), cancel);
    assert_eq!(cancelled, [Ok(true), Ok(false)]);
    let ended = ended.unwrap_err();
    assert_eq!(ended.failure.kind, PortFailureKind::Canceled);
    assert_eq!(ended.receipt.unwrap().end, TurnEnd::Cancelled);
    assert!(turn.next_event().await.unwrap().is_none());
    let refused = fake.start_agent_turn(late).await.err().unwrap();
    assert_eq!((refused.failure.kind, refused.receipt), (PortFailureKind::Canceled, None));
    fake.assert_one_receipt_per_turn();
}

#[tokio::test(start_paused = true)]
async fn the_timeout_counts_provider_waits_only_and_survives_a_dropped_wait() {
    let second = Duration::from_secs(1);
    let script = TurnScript::new()
        .delay(6 * second)
        .call("t", json!(null), "c1")
        .delay(6 * second)
        .complete("x");
    let fake = FakeIntelligence::new([script.clone(), script.optional()]);
    let mut patient = start();
    patient.request.timeout = Some(12 * second);
    let mut turn = fake.start_agent_turn(patient).await.unwrap();
    turn.next_event().await.unwrap();
    assert!(tokio::time::timeout(4 * second, turn.next_event()).await.is_err());
    assert_eq!(word(&turn.next_event().await.unwrap().unwrap()), "call c1");
    tokio::time::sleep(100 * second).await;
    turn.respond("c1", answer(true, "ok")).await.unwrap();
    assert_eq!(play(&mut *turn).await, ["completed x"]);
    let mut hasty = start();
    hasty.request.timeout = Some(11 * second);
    let mut turn = fake.start_agent_turn(hasty).await.unwrap();
    assert_eq!(play(&mut *turn).await, ["context hello", "call c1", "failed DEADLINE_EXCEEDED"]);
    assert_eq!(fake.receipts()[1].end, TurnEnd::TimedOut);
}

#[tokio::test]
async fn threads_are_named_once_and_can_be_continued() {
    let done = || TurnScript::new().complete("x");
    let fake = FakeIntelligence::new([done(), done(), done(), done().without_thread()]);
    let mut turn = fake.start_agent_turn(start()).await.unwrap();
    assert_eq!(turn.continuation(), None);
    play(&mut *turn).await;
    let thread = turn.continuation().cloned();
    assert_eq!(thread.as_ref().unwrap().thread_id, "fake-thread-1");
    let again = TurnStart { continuation: thread.clone(), ..start() };
    let mut turn = fake.start_agent_turn(again).await.unwrap();
    play(&mut *turn).await;
    assert_eq!(turn.continuation().cloned(), thread);
    let mut ephemeral = start();
    ephemeral.request.ephemeral = true;
    for without in [ephemeral, start()] {
        let mut turn = fake.start_agent_turn(without).await.unwrap();
        play(&mut *turn).await;
        assert_eq!(turn.continuation(), None);
    }
}

#[tokio::test]
async fn a_price_gives_whole_turns_a_cost() {
    let billion = 1_000_000_000;
    let price = Price { input: billion, cached_input: None, cache_write: None, output: billion };
    let model = FakeAgentModel { price: Some(price), ..FakeAgentModel::new("fake") };
    let scripts = [TurnScript::new().complete("x"), TurnScript::new().usage(usage(1, 1))];
    let fake = FakeIntelligence::serving([model.windows(10, 5)], scripts);
    assert_eq!(fake.resolve_agent_model("fake").await.unwrap().max_input_tokens, 5);
    play(&mut *fake.start_agent_turn(start()).await.unwrap()).await;
    let mut cut = fake.start_agent_turn(start()).await.unwrap();
    cut.next_event().await.unwrap();
    cut.next_event().await.unwrap();
    drop(cut);
    let costs: Vec<_> = fake.receipts().iter().map(|receipt| receipt.cost_nano_usd).collect();
    assert_eq!(costs, [Some(15_000), None]);
}

#[tokio::test]
#[should_panic(expected = "turn 1 of FakeIntelligence was not played to its end (0 of 1 steps")]
async fn an_unused_step_fails_the_test() {
    let fake = FakeIntelligence::new([TurnScript::new().complete("x")]);
    drop(fake.start_agent_turn(start()).await.unwrap());
}

#[test]
#[should_panic(
    expected = "a turn of FakeIntelligence was never started\nscript:\n  complete \"x\""
)]
fn an_unused_script_fails_the_test() {
    drop(FakeIntelligence::new([TurnScript::new().complete("x")]));
}

#[tokio::test]
#[should_panic(expected = "was asked for more than its script has (1 of 1 steps played)")]
async fn a_missing_step_fails_the_test() {
    let fake = FakeIntelligence::new([TurnScript::new().text("x")]);
    play(&mut *fake.start_agent_turn(start()).await.unwrap()).await;
}

#[tokio::test]
#[should_panic(expected = "has no script for another turn")]
async fn a_missing_script_fails_the_test() {
    let fake = FakeIntelligence::new([]);
    let _turn = fake.start_agent_turn(start()).await;
}

#[tokio::test]
#[should_panic(expected = "got the answer ToolResult { success: true, text: \"ok\" } where")]
async fn another_answer_than_expected_fails_the_test() {
    let script = TurnScript::new().call("t", json!(null), "c1").answered(false, "ok");
    let fake = FakeIntelligence::new([script]);
    play(&mut *fake.start_agent_turn(start()).await.unwrap()).await;
}

#[tokio::test]
#[should_panic(expected = "has no script for another turn")]
async fn a_breach_that_was_caught_fails_the_test_later() {
    let fake = FakeIntelligence::new([]);
    let second = fake.clone();
    let caught = tokio::spawn(async move { second.start_agent_turn(start()).await.is_ok() }).await;
    assert!(caught.unwrap_err().is_panic());
    fake.assert_script_done();
}

//! Rules 1 to 3 and 9: which rounds are taken, how each begins, and when the session is over.

use std::time::Duration;

use in_memory_fakes::TurnScript;
use runtime_kernel::{
    PreparedRound, RoundPreparation, SessionControl, SessionEvent, is_session_round_limit,
};
use runtime_ports::{AgentContinuation, AgentProvider, AgentTurnRequest, TurnStart};
use serde_json::json;
use uuid::Version;

use crate::{
    scenario::{OPERATION, scenario},
    test_host::plain_round,
};

fn answers(text: &str) -> TurnScript {
    TurnScript::new().complete(text)
}

#[tokio::test]
async fn rule_01_impossible_round_counts_are_refused_without_calling_the_host() {
    let used_up = "the session used all of its 3 rounds; resume it with a higher round limit";
    let above = "4 rounds were used of 3; restore the session with a count within its limit";
    let zero = "the round limit is zero; allow at least one round";
    let cases = [
        ((0, 0), zero, false),
        ((1, 0), zero, false),
        ((4, 3), above, false),
        ((3, 3), used_up, true),
    ];
    for ((used, limit), message, is_limit) in cases {
        let outcome = scenario().rounds(used, limit).run().await;
        outcome.fails(&[message], &[]);
        assert_eq!(is_session_round_limit(&outcome.result.unwrap_err()), is_limit, "{message}");
        assert_eq!(outcome.intelligence.asked(), []);
    }
    let last = scenario().rounds(u64::MAX - 1, u64::MAX).turn(answers("x")).run().await;
    assert_eq!(last.result.unwrap().as_deref(), Some("x"));
    assert_eq!(last.host.log[0], format!("prepare {}", u64::MAX));
}

#[tokio::test]
async fn rule_02_rounds_go_on_counting_and_each_turn_has_a_fresh_id_under_the_session() {
    let calls = || TurnScript::new().ktool("look", json!({}), "c").complete("x");
    let outcome = scenario()
        .rounds(3, 9)
        .turn(calls())
        .turn(calls())
        .control(SessionControl::Continue)
        .run()
        .await;
    let round = |n: u64| {
        let (first, sent) = (format!("prepare {n}"), n - 4);
        let resume = format!("resume, {sent} sent");
        [first, format!("submitted {n}"), format!("input {n}"), "execute look".into(), resume]
            .into_iter()
            .chain([format!("receipt {n} completed"), "complete x".into()])
    };
    assert_eq!(outcome.host.log, round(4).chain(round(5)).collect::<Vec<_>>());
    let turns = outcome.intelligence.started();
    let ids: Vec<_> = turns.iter().map(|turn| turn.operation_id).collect();
    assert!(ids[0] != ids[1] && ids.iter().all(|id| id.get_version() == Some(Version::Random)));
    assert!(turns.iter().all(|turn| turn.parent_operation_id == Some(OPERATION)));
    assert_eq!(outcome.host.calls.iter().map(|(_, turn)| *turn).collect::<Vec<_>>(), ids);
}

#[tokio::test]
async fn rule_03_a_round_is_announced_by_its_hash_and_started_as_prepared() {
    let thread = AgentContinuation {
        provider: AgentProvider::new("fake"),
        provider_model: "fake-model".into(),
        thread_id: "fake-thread-1".into(),
    };
    let second = PreparedRound {
        input: "abc".into(),
        provider_input: "only c".into(),
        continuation: Some(thread.clone()),
        model: "fake".into(),
        reasoning_effort: "high".into(),
        tool_description: "read: reads".into(),
        timeout: Some(Duration::from_secs(9)),
    };
    let outcome = scenario()
        .turn(answers("x"))
        .turn(answers("y"))
        .control(SessionControl::Continue)
        .prepares(RoundPreparation::Run(plain_round()))
        .prepares(RoundPreparation::Run(second))
        .run()
        .await;
    let announced = outcome
        .host
        .events
        .iter()
        .rfind(|event| matches!(event, SessionEvent::InferenceSubmitted { .. }));
    let sha256_of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let (manifest_hash, model) = (sha256_of_abc.into(), "fake".into());
    assert_eq!(
        announced,
        Some(&SessionEvent::InferenceSubmitted { round: 2, manifest_hash, model })
    );
    let start = outcome.intelligence.started().remove(1);
    let tools = start.request.tools.clone();
    let (operation_id, parent_operation_id) = (start.operation_id, Some(OPERATION));
    let request = AgentTurnRequest {
        model: "fake".into(),
        reasoning_effort: "high".into(),
        input: "only c".into(),
        tools: tools.clone(),
        timeout: Some(Duration::from_secs(9)),
        ephemeral: false,
        max_requests: 250,
    };
    let (user_id, continuation) = ("ada".into(), Some(thread));
    let expected = TurnStart { user_id, operation_id, parent_operation_id, continuation, request };
    assert_eq!(start, expected);
    let described: Vec<_> = tools.iter().map(|tool| (&*tool.name, &*tool.description)).collect();
    assert_eq!(described, [("call_ktool", "read: reads")]);
    assert_eq!(tools[0].input_schema["properties"]["name"]["maxLength"], 256);
}

#[tokio::test]
async fn rule_03_a_round_that_is_complete_calls_no_model() {
    for answer in [None, Some("done")] {
        let complete = RoundPreparation::Complete(answer.map(str::to_owned));
        let outcome = scenario().prepares(complete).run().await;
        outcome.is(answer, &["prepare 1"]);
        assert_eq!(outcome.intelligence.asked(), []);
    }
}

#[tokio::test]
async fn rule_09_continue_takes_the_next_round_and_complete_returns() {
    let session = || scenario().turn(answers("x")).turn(answers("y"));
    let log = [
        "prepare 1",
        "submitted 1",
        "input 1",
        "receipt 1 completed",
        "complete x",
        "prepare 2",
        "submitted 2",
        "input 2",
        "receipt 2 completed",
        "complete y",
    ];
    for answer in [None, Some(""), Some("z")] {
        let last = SessionControl::Complete(answer.map(str::to_owned));
        let outcome = session().control(SessionControl::Continue).control(last).run().await;
        outcome.is(answer, &log);
    }
    let limit = "the session used all of its 2 rounds; resume it with a higher round limit";
    let go_on = SessionControl::Continue;
    let outcome = session().rounds(0, 2).control(go_on.clone()).control(go_on).run().await;
    outcome.fails(&[limit], &log);
    let wrapped = outcome.result.unwrap_err().context("session 7").context("nightly");
    assert!(is_session_round_limit(&wrapped));
}

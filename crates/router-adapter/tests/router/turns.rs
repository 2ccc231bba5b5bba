//! The course of a turn: its events, its requests, its calls, its thread.

use std::sync::{Arc, Mutex};

use in_memory_fakes::{FakeModel, ModelStep, RecordedDelta};
use router_adapter::{Router, TappedIntelligence};
use runtime_ports::{
    AgentTurnEvent, Intelligence as _, Metering, ModelContent, ModelFinish, ModelRole,
    PortFailureKind, TurnEnd, TurnStart,
};
use serde_json::json;
use uuid::Uuid;

use crate::stage::{Stage, call, done, follow, follow_to_call, start, usage};

#[tokio::test(start_paused = true)]
async fn a_turn_runs_from_its_input_to_its_receipt() {
    let stage =
        Stage::new([call("c1").usage(10, 2), ModelStep::text("two files").usage(20, 3)]).await;
    let start = start("what is there?");
    let mut turn = stage.begin(&start).await;
    let course = follow(turn.as_mut()).await;
    let events = &course.events;
    assert!(matches!(events[0], AgentTurnEvent::ModelContextSubmitted(_)), "{events:?}");
    assert_eq!(events[1], AgentTurnEvent::UsageUpdated(usage(10, 2)));
    assert!(matches!(events[2], AgentTurnEvent::ToolCall { .. }));
    assert_eq!(events[3], AgentTurnEvent::TextDelta("two files".into()));
    assert_eq!(events[4], AgentTurnEvent::UsageUpdated(usage(30, 5)));
    let thread_id = turn.continuation().map(|thread| thread.thread_id.clone());
    assert!(thread_id.is_some());
    let (answer, turn_id) = ("two files".into(), None);
    let completed =
        AgentTurnEvent::Completed { answer, usage: Some(usage(30, 5)), thread_id, turn_id };
    assert_eq!(events[5..], [completed]);
    let receipt = stage.receipt();
    assert_eq!(turn.receipt(), Some(&receipt));
    assert_eq!(
        (receipt.end, receipt.metering),
        (TurnEnd::Completed, Metering::Tokens(usage(30, 5)))
    );
    assert_eq!((receipt.cost_nano_usd, receipt.is_lower_bound), (Some(40_000), false));
    assert_eq!((&*receipt.requested_model, &*receipt.provider_model), ("writer", "fake-model"));
    assert!(receipt.losses.is_empty());
}

#[tokio::test(start_paused = true)]
async fn each_request_is_the_one_before_and_what_is_new() {
    let stage = Stage::new([
        ModelStep::reasoning("house", "hm", json!({ "sealed": 1 })).and_call(
            "c1",
            "read",
            json!({}),
        ),
        ModelStep::text("done"),
    ])
    .await;
    let mut start = start("hello");
    start.request.reasoning_effort = "high".into();
    follow(stage.begin(&start).await.as_mut()).await;
    let [first, second] = &stage.model.requests()[..] else { panic!("two requests") };
    assert_eq!(second.messages.prefix(1), first.messages);
    let roles: Vec<_> = second.messages.messages().map(|message| message.role).collect();
    assert_eq!(roles, [ModelRole::User, ModelRole::Assistant, ModelRole::Tool]);
    let said: Vec<_> = second.messages.messages().skip(1).map(|message| &message.content).collect();
    assert!(matches!(&said[0][..], [ModelContent::Reasoning { .. }, ModelContent::ToolUse { .. }]));
    assert_eq!(
        said[1][..],
        [ModelContent::ToolResult {
            tool_use_id: "c1".into(),
            name: "read".into(),
            content: "result of c1".into(),
            failed: false,
        }]
    );
    assert!(first.tools.is_same(&second.tools), "the tools are planned once");
    assert_eq!(first.options.reasoning_effort.as_deref(), Some("high"));
    assert_ne!(first.invocation_id, second.invocation_id);
    assert_eq!(&*first.model, "fake-model");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_before_the_host_asks_for_what_follows_the_context() {
    let stage = Stage::new([]).await;
    let mut turn = stage.begin(&start("hello")).await;
    let event = turn.next_event().await.unwrap();
    assert!(matches!(event, Some(AgentTurnEvent::ModelContextSubmitted(_))));
    tokio::time::sleep(std::time::Duration::from_secs(3600)).await;
    let receipt = turn.finish_unavailable().await.unwrap();
    assert_eq!((receipt.end, receipt.requests.len()), (TurnEnd::Interrupted, 0));
    assert_eq!((receipt.metering, receipt.is_lower_bound), (Metering::Unavailable, false));
    assert!(stage.model.calls().is_empty());
    assert_eq!(stage.receipt(), receipt);
}

#[tokio::test(start_paused = true)]
async fn the_next_request_waits_for_all_answers() {
    let stage =
        Stage::new([call("a").and_call("b", "write", json!({})), ModelStep::text("done")]).await;
    let mut turn = stage.begin(&start("hello")).await;
    for id in ["a", "b"] {
        assert_eq!(follow_to_call(turn.as_mut()).await, id);
        assert_eq!(stage.model.requests().len(), 1);
        let early = turn.next_event().await.unwrap_err();
        assert_eq!(early.failure.kind, PortFailureKind::Conflict);
        turn.respond(id, done(id)).await.unwrap();
        let again = turn.respond(id, done(id)).await.unwrap_err();
        assert_eq!(again.kind, PortFailureKind::Conflict);
    }
    assert_eq!(follow(turn.as_mut()).await.answer(), "done");
}

#[tokio::test(start_paused = true)]
async fn a_repeated_call_id_is_a_new_call_in_the_turn() {
    let stage = Stage::new([call("a"), ModelStep::repeat_calls(), ModelStep::text("done")]).await;
    let course = stage.play().await;
    assert_eq!((course.calls(), course.answer()), (vec!["a", "a-2"], "done"));
}

#[tokio::test(start_paused = true)]
async fn of_two_calls_with_one_id_the_second_does_not_run() {
    let twice = call("a").and_call("a", "write", json!({}));
    let stage = Stage::new([twice, ModelStep::text("done")]).await;
    let course = stage.play().await;
    assert_eq!((course.calls(), course.answer()), (vec!["a"], "done"));
    let results = stage.model.requests()[1].messages.last().unwrap().message().content.clone();
    let failed = results
        .iter()
        .map(|result| matches!(result, ModelContent::ToolResult { failed: true, .. }));
    assert_eq!(failed.collect::<Vec<_>>(), [false, true]);
}

#[tokio::test(start_paused = true)]
async fn deltas_that_a_slow_host_leaves_unread_are_merged_and_none_is_lost() {
    let text = "abcdefghij".repeat(50);
    let stage = Stage::new([ModelStep::text(&text).in_pieces(1)]).await;
    let course = stage.play().await;
    assert_eq!((course.text(), course.answer()), (text.clone(), text.as_str()));
    assert!(course.events.len() < 70, "{} events", course.events.len());
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_starts_again_voids_the_deltas_before() {
    let deltas = [
        RecordedDelta::Text("wrong".into()),
        RecordedDelta::Restarted,
        RecordedDelta::Text("right".into()),
    ];
    let stage = Stage::new([ModelStep::text("right").deltas(deltas)]).await;
    let course = stage.play().await;
    assert_eq!(course.text(), "right");
    let restarted = |event: &AgentTurnEvent| matches!(event, AgentTurnEvent::TransportInput(_));
    assert!(course.events.iter().any(restarted));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_not_whole_fails_the_turn_and_runs_nothing() {
    let cases = [
        (ModelStep::text("half").cut(), "model_output_limit"),
        (call("c").finish(ModelFinish::ContentFilter), "content_filtered"),
        (call("c").finish(ModelFinish::Other), "model_incomplete"),
    ];
    for (step, code) in cases {
        let stage = Stage::new([step.usage(5, 1)]).await;
        let course = stage.play().await;
        assert_eq!(course.failure().code, code);
        assert!(course.calls().is_empty());
        let receipt = stage.receipt();
        assert_eq!((course.failed_receipt(), receipt.end), (&receipt, TurnEnd::Failed));
        assert_eq!(receipt.metering, Metering::Tokens(usage(5, 1)), "what it cost is known");
    }
}

#[tokio::test(start_paused = true)]
async fn usage_that_is_not_the_whole_any_more_is_told_as_unknown() {
    let stage = Stage::new([call("c").usage(10, 2), ModelStep::text("done")]).await;
    let course = stage.play().await;
    let told: Vec<_> = course
        .events
        .iter()
        .filter_map(|event| match event {
            AgentTurnEvent::UsageUpdated(usage) => Some(usage.input_tokens),
            AgentTurnEvent::Completed { usage, .. } => {
                Some(usage.and_then(|usage| usage.input_tokens))
            }
            _ => None,
        })
        .collect();
    assert_eq!(told, [Some(10), None, None]);
    let receipt = stage.receipt();
    assert_eq!((receipt.metering, receipt.is_lower_bound), (Metering::Tokens(usage(10, 2)), true));
    assert_eq!(receipt.cost_nano_usd, None);
}

#[tokio::test(start_paused = true)]
async fn a_thread_goes_on_with_all_it_had_and_its_instructions_once() {
    let model = FakeModel::new([call("c"), ModelStep::text("one"), ModelStep::text("two")]);
    let router =
        Router::single(Arc::new(model.clone()), FakeModel::MODEL).with_instructions("be brief");
    let single = |input: &str| {
        let mut start = start(input);
        start.request.model = FakeModel::MODEL.into();
        start
    };
    let mut turn = router.start_agent_turn(single("first")).await.unwrap();
    follow(turn.as_mut()).await;
    let continuation = turn.continuation().cloned();
    let next = TurnStart { continuation, ..single("second") };
    let mut turn = router.start_agent_turn(next).await.unwrap();
    assert_eq!(follow(turn.as_mut()).await.answer(), "two");
    let roles: Vec<_> =
        model.requests()[2].messages.messages().map(|message| message.role).collect();
    use ModelRole::{Assistant, System, Tool, User};
    assert_eq!(roles, [System, User, Assistant, Tool, Assistant, User]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_did_not_complete_leaves_its_thread_as_it_was() {
    let stage = Stage::new([ModelStep::text("one"), call("c"), ModelStep::text("two")]).await;
    let mut turn = stage.begin(&start("first")).await;
    follow(turn.as_mut()).await;
    let continuation = turn.continuation().cloned();
    let again = |input: &str| TurnStart { continuation: continuation.clone(), ..start(input) };
    let mut broken_off = stage.begin(&again("lost")).await;
    follow_to_call(broken_off.as_mut()).await;
    let busy = stage.router.start_agent_turn(again("at once")).await.err().unwrap();
    assert_eq!((busy.failure.kind, busy.receipt), (PortFailureKind::Conflict, None));
    broken_off.finish_unavailable().await.unwrap();
    assert_eq!(broken_off.continuation(), None);
    follow(stage.begin(&again("second")).await.as_mut()).await;
    let texts = json!(stage.model.requests()[2].messages).to_string();
    assert!(texts.contains("first") && texts.contains("second") && !texts.contains("lost"));
}

#[tokio::test(start_paused = true)]
async fn cancelling_is_one_end_for_all_below_and_is_in_the_receipt() {
    let stage = Stage::new([ModelStep::stall(), call("c")]).await;
    let parent = start("parent");
    let child = TurnStart { parent_operation_id: Some(parent.operation_id), ..start("child") };
    let (mut waiting, mut answering) = (stage.begin(&parent).await, stage.begin(&child).await);
    let wait = tokio::spawn(async move { follow(waiting.as_mut()).await });
    tokio::task::yield_now().await;
    let call_id = follow_to_call(answering.as_mut()).await;
    assert_eq!(stage.router.cancel(Uuid::from_u128(7)).await, Ok(true));
    assert_eq!(stage.router.cancel(Uuid::from_u128(7)).await, Ok(false));
    let late = answering.respond(&call_id, done("c")).await.unwrap_err();
    assert_eq!(late.kind, PortFailureKind::Canceled);
    let courses = [wait.await.unwrap(), follow(answering.as_mut()).await];
    for course in &courses {
        assert_eq!(course.failure().kind, PortFailureKind::Canceled);
        assert_eq!(course.failed_receipt().end, TurnEnd::Cancelled);
    }
    assert_eq!(stage.store.settled().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_the_host_has_not_read_is_taken_back_when_the_turn_is_cancelled() {
    let stage =
        Stage::new([ModelStep::text("I look").and_call("c", "write", json!({})).usage(3, 1)]).await;
    let start = start("hello");
    let mut turn = stage.begin(&start).await;
    for _ in 0..2 {
        turn.next_event().await.unwrap();
    }
    assert_eq!(stage.router.cancel(start.operation_id).await, Ok(true));
    stage.router.settled().await;
    let course = follow(turn.as_mut()).await;
    assert_eq!(course.events, [AgentTurnEvent::UsageUpdated(usage(3, 1))]);
    assert_eq!(course.failure().kind, PortFailureKind::Canceled);
}

#[tokio::test(start_paused = true)]
async fn an_id_that_has_a_receipt_is_not_started_again() {
    let stage = Stage::new([ModelStep::text("done")]).await;
    let once = start("hello");
    follow(stage.begin(&once).await.as_mut()).await;
    let mut again = once;
    again.request.input = "again".into();
    let refused = stage.router.start_agent_turn(again).await.err().unwrap();
    assert_eq!((refused.failure.kind, refused.receipt), (PortFailureKind::Conflict, None));
    assert_eq!(stage.store.settled().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_observer_sees_every_event_in_order() {
    let stage = Stage::new([call("c"), ModelStep::text("done").in_pieces(2)]).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let observe = move |turn: Uuid, event: &AgentTurnEvent| {
        log.lock().unwrap().push((turn, event.clone()));
    };
    let tapped = TappedIntelligence::new(Arc::new(stage.router.clone()), observe);
    let start = start("hello");
    let id = start.operation_id;
    let mut turn = tapped.start_agent_turn(start).await.unwrap();
    let course = follow(turn.as_mut()).await;
    let expected: Vec<_> = course.events.into_iter().map(|event| (id, event)).collect();
    assert_eq!(*seen.lock().unwrap(), expected);
    assert!(turn.receipt().is_some() && turn.continuation().is_some());
    assert_eq!(tapped.cancel(id).await, Ok(false));
    assert!(tapped.resolve_agent_model("best").await.is_ok());
}

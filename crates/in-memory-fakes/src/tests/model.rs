//! Decides whether the scripted model does what its script says, and nothing else.

use std::{sync::Arc, time::Duration};

use runtime_ports::{
    CommitDisposition, Metering, ModelContent, ModelFinish, ModelRequest, ModelResponse,
    ModelSession, PortFailure, PortFailureKind, RequestMeter, TokenUsage, ToolSet, TurnEnd,
};
use serde_json::json;
use tokio::time::Instant;

use super::{cancelled, late, operation, outage, panic_of, transcript, verdict};
use crate::{
    DeltaLog, FakeModel, FaultPlan, ModelCallEnd, ModelStep,
    RecordedDelta::{self, Reasoning, Restarted, Text, ToolArguments, ToolCall},
};

fn request(invocation: &str) -> ModelRequest {
    ModelRequest {
        invocation_id: invocation.into(),
        model: FakeModel::MODEL.into(),
        messages: transcript("hello"),
        tools: ToolSet::default(),
        max_output_tokens: None,
        options: Arc::default(),
    }
}

async fn ask(model: &FakeModel) -> Result<ModelResponse, PortFailure> {
    model.invoke(&operation("op"), request("inv")).await
}

fn meter(number: u32, metering: Metering, end: TurnEnd) -> RequestMeter {
    let provider_request_id = Some(format!("fake-request-{number}"));
    RequestMeter { provider_request_id, metering, end, cost_nano_usd: None }
}

#[tokio::test]
async fn steps_answer_in_order_and_state_nothing_that_they_were_not_told() {
    let model = FakeModel::new([
        ModelStep::text("one"),
        ModelStep::tool_call("c1", "read", json!({"path": "a"})).usage(7, 2).cost(30),
        ModelStep::reasoning("issuer", "hm", json!(1)).and_text("two"),
        ModelStep::empty(),
    ]);
    let first = ask(&model).await.unwrap();
    assert_eq!(first.output, [ModelContent::text("one")]);
    assert_eq!((first.finish, first.usage), (ModelFinish::Stop, TokenUsage::default()));
    assert_eq!(first.cost_nano_usd, None);
    assert_eq!(first.attempts, [meter(1, Metering::Unavailable, TurnEnd::Completed)]);

    let second = ask(&model).await.unwrap();
    assert_eq!(second.finish, ModelFinish::ToolCalls);
    let usage = TokenUsage { input_tokens: Some(7), output_tokens: Some(2), ..<_>::default() };
    assert_eq!((second.usage, second.cost_nano_usd), (usage, Some(30)));
    assert_eq!(second.attempts[0].metering, Metering::Tokens(usage));
    assert_eq!(second.attempts[0].cost_nano_usd, Some(30));

    let third = ask(&model).await.unwrap();
    assert_eq!(third.output.len(), 2);
    assert_eq!(ask(&model).await.unwrap().output, []);
    model.assert_script_done();
}

#[tokio::test]
async fn a_cut_answer_has_no_calls_although_they_were_streamed() {
    let step = ModelStep::text("so").and_call("c1", "read", json!({})).cut();
    let model = FakeModel::new([step]);
    let log = DeltaLog::new();
    let answer = model.invoke_streaming(&operation("op"), request("inv"), &log).await.unwrap();
    assert_eq!(
        (answer.finish, answer.output),
        (ModelFinish::Length, vec![ModelContent::text("so")])
    );
    assert_eq!(answer.attempts[0].end, TurnEnd::Failed);
    let call = ToolCall { index: 0, id: "c1".into(), name: "read".into() };
    assert!(log.all().contains(&call));
}

#[tokio::test]
async fn a_raw_response_comes_back_as_it_is() {
    let raw = ModelResponse {
        output: vec![ModelContent::ToolUse {
            id: "".into(),
            name: "x".into(),
            arguments: json!(0),
        }],
        finish: ModelFinish::Length,
        usage: TokenUsage::zero(),
        cost_nano_usd: Some(0),
        attempts: Vec::new(),
    };
    let model = FakeModel::new([ModelStep::response(raw.clone())]);
    assert_eq!(ask(&model).await, Ok(raw));
}

#[tokio::test]
async fn repeated_calls_have_the_ids_of_the_last_answer() {
    let calls = ModelStep::tool_call("c1", "read", json!({})).and_call("c2", "write", json!([1]));
    let model = FakeModel::new([calls, ModelStep::repeat_calls(), ModelStep::repeat_calls()]);
    let first = ask(&model).await.unwrap().output;
    assert_eq!(ask(&model).await.unwrap().output, first);
    assert_eq!(ask(&model).await.unwrap().output, first);
}

#[tokio::test]
async fn deltas_are_streamed_whole_in_pieces_or_as_scripted() {
    async fn streamed(step: ModelStep) -> Vec<RecordedDelta> {
        let (model, log) = (FakeModel::new([step]), DeltaLog::new());
        model.invoke_streaming(&operation("op"), request("inv"), &log).await.unwrap();
        log.all()
    }
    let step = ModelStep::reasoning("i", "hmm", json!(null))
        .and_text("größe")
        .and_call("c1", "read", json!({"a": 1}))
        .and_call("c2", "read", json!({}));
    let call = |index, id: &str| ToolCall { index, id: id.into(), name: "read".into() };
    let part = |index, fragment: &str| ToolArguments { index, fragment: fragment.into() };
    let whole = [
        Reasoning("hmm".into()),
        Text("größe".into()),
        call(0, "c1"),
        part(0, r#"{"a":1}"#),
        call(1, "c2"),
        part(1, "{}"),
    ];
    assert_eq!(streamed(step.clone()).await, whole);
    let pieces = [
        Reasoning("hmm".into()),
        Text("grö".into()),
        Text("ße".into()),
        call(0, "c1"),
        part(0, r#"{"a"#),
        part(0, r#"":1"#),
        part(0, "}"),
        call(1, "c2"),
        part(1, "{}"),
    ];
    assert_eq!(streamed(step.in_pieces(3)).await, pieces);
    let scripted = [Text("wro".into()), Restarted, Text("right".into())];
    let step = ModelStep::text("right").deltas(scripted.clone());
    assert_eq!(streamed(step).await, scripted);
}

#[tokio::test]
async fn a_watcher_shows_what_followed_the_last_restart() {
    let deltas = [RecordedDelta::text("wro"), Restarted, RecordedDelta::text("ri")];
    let step = ModelStep::text("right").deltas(deltas).then_fail(outage());
    let (model, log) = (FakeModel::new([step]), DeltaLog::new());
    let outcome = model.invoke_streaming(&operation("op"), request("inv"), &log).await;
    assert_eq!(verdict(outcome).0, "OUTAGE");
    assert_eq!(log.shown_text(), "ri");
}

#[tokio::test]
async fn an_ended_operation_sends_nothing_and_consumes_no_step() {
    let model = FakeModel::new([ModelStep::text("one")]);
    for (ended, code) in [(cancelled(), "CANCELED"), (late(), "DEADLINE_EXCEEDED")] {
        let outcome = model.invoke(&ended, request("inv")).await;
        assert_eq!(verdict(outcome), (code.to_owned(), CommitDisposition::NotCommitted));
    }
    assert_eq!(model.requests(), []);
    assert_eq!(model.calls().len(), 2);
    ask(&model).await.unwrap();
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_interrupted_in_flight_is_unknown_and_lists_its_attempt() {
    let slow = ModelStep::text("late").delay(Duration::from_secs(60));
    let model = FakeModel::new([ModelStep::stall(), slow, ModelStep::text("x").then_stall()]);
    let brief = operation("op").within(Duration::from_secs(5));
    let failure = model.invoke(&brief, request("inv")).await.unwrap_err();
    assert_eq!(
        (failure.kind, failure.commit),
        (PortFailureKind::Timeout, CommitDisposition::Unknown)
    );
    assert_eq!(failure.attempts, [meter(1, Metering::Unavailable, TurnEnd::TimedOut)]);

    for number in [2, 3] {
        let operation = operation("op");
        let began = Instant::now();
        let cancel = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            operation.cancellation.cancel();
        };
        let (outcome, ()) = tokio::join!(model.invoke(&operation, request("inv")), cancel);
        let failure = outcome.unwrap_err();
        assert_eq!(
            (failure.kind, failure.commit),
            (PortFailureKind::Canceled, CommitDisposition::Unknown)
        );
        assert_eq!(failure.attempts, [meter(number, Metering::Unavailable, TurnEnd::Cancelled)]);
        assert_eq!(began.elapsed(), Duration::from_secs(1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_delay_passes_before_the_answer() {
    let model = FakeModel::new([ModelStep::text("late").delay(Duration::from_secs(60))]);
    let began = Instant::now();
    ask(&model).await.unwrap();
    assert_eq!(began.elapsed(), Duration::from_secs(60));
}

#[tokio::test]
async fn failures_before_sending_have_no_attempt_and_later_ones_have_one() {
    let refused = PortFailure::not_sent(PortFailureKind::Invalid, "BAD", "the request is bad");
    let listed = outage().with_attempts(vec![meter(9, Metering::Unavailable, TurnEnd::Failed)]);
    let model = FakeModel::new([
        ModelStep::fail_before_sending(refused.clone()),
        ModelStep::fail(outage()),
        ModelStep::fail(outage()).usage(3, 0),
        ModelStep::fail(listed.clone()),
    ]);
    assert_eq!(ask(&model).await, Err(refused));
    let attempts = ask(&model).await.unwrap_err().attempts;
    assert_eq!(attempts, [meter(1, Metering::Unavailable, TurnEnd::Failed)]);
    let attempts = ask(&model).await.unwrap_err().attempts;
    assert!(matches!(attempts[0].metering, Metering::Tokens(_)));
    assert_eq!(ask(&model).await, Err(listed));
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test]
async fn calls_are_recorded_with_their_ends() {
    let model =
        FakeModel::new([ModelStep::text("one"), ModelStep::fail(outage()), ModelStep::stall()]);
    ask(&model).await.unwrap();
    let failure = ask(&model).await.unwrap_err();
    let dropped = tokio::time::timeout(Duration::from_millis(5), ask(&model)).await;
    assert!(dropped.is_err());
    let ends: Vec<_> = model.calls().into_iter().map(|call| (call.sent, call.end)).collect();
    let expected = [
        (true, ModelCallEnd::Answered),
        (true, ModelCallEnd::Failed(failure)),
        (true, ModelCallEnd::Dropped),
    ];
    assert_eq!(ends, expected);
    assert_eq!(&*model.requests()[0].invocation_id, "inv");
}

#[tokio::test]
async fn only_the_models_that_it_serves_are_found() {
    let mut small = FakeModel::default_profile();
    small.context_window_tokens = 4_096;
    let model = FakeModel::new([]).with_profile("small", small.clone()).with_model("other");
    let operation = operation("op");
    assert_eq!(model.profile(&operation, "small").await, Ok(small));
    assert_eq!(model.profile(&operation, "other").await, Ok(FakeModel::default_profile()));
    assert_eq!(
        model.profile(&operation, "OTHER").await.unwrap_err().kind,
        PortFailureKind::NotFound
    );
    let unknown = ModelRequest { model: "OTHER".into(), ..request("inv") };
    let failure = model.invoke(&operation, unknown).await.unwrap_err();
    assert_eq!((failure.kind, failure.attempts), (PortFailureKind::NotFound, vec![]));
    assert_eq!(verdict(model.profile(&cancelled(), "small").await).0, "CANCELED");
}

#[tokio::test]
async fn the_check_shows_requests_beside_steps() {
    let model =
        FakeModel::new([ModelStep::text("one"), ModelStep::tool_call("c1", "read", json!({}))]);
    ask(&model).await.unwrap();
    let message = panic_of(|| model.assert_script_done());
    assert!(
        message.contains(r#"1 | text "one"      | invocation inv of fake-model with 1 messages"#),
        "{message}"
    );
    assert!(message.contains("2 | call read as c1 | (never asked)"), "{message}");
    ask(&model).await.unwrap();
    let beyond = ask(&model).await.unwrap_err();
    assert_eq!(
        (beyond.kind, beyond.code.as_str()),
        (PortFailureKind::Internal, "SCRIPT_EXHAUSTED")
    );
    let message = panic_of(|| drop(model));
    assert!(message.contains("3 | (no step left)"), "{message}");
}

#[tokio::test]
async fn planned_faults_hit_before_or_after_the_request_is_sent() {
    let plan = FaultPlan::new().before("model.invoke", 1, outage()).after("model", 3, outage());
    let model = FakeModel::new([ModelStep::text("one"), ModelStep::text("two")]).with_faults(&plan);
    assert_eq!(verdict(ask(&model).await).0, "OUTAGE");
    assert_eq!(model.requests().len(), 0);
    ask(&model).await.unwrap();
    assert_eq!(verdict(ask(&model).await).0, "OUTAGE");
    assert_eq!(model.requests().len(), 2);
}

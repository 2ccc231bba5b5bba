//! Decides whether the JSON events keep the form that `docs/json-events.md` promises.

use runtime_ports::{AgentProvider, Metering, TokenUsage, TurnEnd, UsageReceipt, UsageTotal};
use serde_json::json;
use uuid::Uuid;

use super::{EVENT_VERSION, Envelope, Event};
use crate::totals::RunTotals;

fn check(event: Event, expected: &str) {
    let envelope = Envelope { version: EVENT_VERSION, sequence: 7, at_ms: 1_000, event: &event };
    let head = r#"{"version":1,"sequence":7,"at_ms":1000,"event":"#;
    assert_eq!(serde_json::to_string(&envelope).unwrap(), format!("{head}{expected}"));
}

fn totals() -> RunTotals {
    let mut totals = RunTotals { turns: 1, requests: 2, ..RunTotals::default() };
    totals.input_tokens = UsageTotal { at_least: 10, complete: false };
    totals
}

const TOTALS: &str = r#"{"turns":1,"requests":2,"input_tokens":{"atLeast":10,"complete":false},"output_tokens":{"atLeast":0,"complete":true},"cost_nano_usd":{"atLeast":0,"complete":true}}"#;

#[test]
fn events_of_a_run_have_their_promised_form() {
    let tool = || "read_file".to_owned();
    check(
        Event::RunStarted {
            run_id: Uuid::nil(),
            model: "m".into(),
            provider: "p".into(),
            offline: false,
            folder: "/f".into(),
            task: "t".into(),
        },
        r#""run_started","run_id":"00000000-0000-0000-0000-000000000000","model":"m","provider":"p","offline":false,"folder":"/f","task":"t"}"#,
    );
    check(Event::RoundStarted { round: 1 }, r#""round_started","round":1}"#);
    check(Event::TextDelta { text: "a\u{1b}".into() }, r#""text_delta","text":"a\u001b"}"#);
    check(Event::ReasoningDelta { text: "b".into() }, r#""reasoning_delta","text":"b"}"#);
    check(
        Event::ToolCalled { number: 1, tool: tool(), arguments: json!({ "path": "a" }) },
        r#""tool_called","number":1,"tool":"read_file","arguments":{"path":"a"}}"#,
    );
    check(
        Event::ToolCallRefused { number: 1, reason: "r".into() },
        r#""tool_call_refused","number":1,"reason":"r"}"#,
    );
    check(
        Event::ApprovalRequested { number: 1, tool: tool(), digest: "d".into() },
        r#""approval_requested","number":1,"tool":"read_file","digest":"d"}"#,
    );
    check(
        Event::ApprovalResolved { number: 1, tool: tool(), approved: true, reason: None },
        r#""approval_resolved","number":1,"tool":"read_file","approved":true,"reason":null}"#,
    );
    check(
        Event::ToolReturned { number: 1, tool: tool(), ok: true, text: "x".into() },
        r#""tool_returned","number":1,"tool":"read_file","ok":true,"text":"x"}"#,
    );
}

#[test]
fn unknown_counts_are_null_never_zero() {
    let usage = TokenUsage { input_tokens: Some(0), ..TokenUsage::default() };
    check(
        Event::UsageUpdated { round: 1, usage },
        r#""usage_updated","round":1,"usage":{"inputTokens":0,"outputTokens":null,"cachedInputTokens":null,"cacheWriteTokens":null,"reasoningTokens":null}}"#,
    );
    let receipt = Box::new(UsageReceipt {
        version: UsageReceipt::VERSION,
        operation_id: Uuid::nil(),
        parent_operation_id: None,
        user_id: "u".into(),
        requested_model: "m".into(),
        provider: AgentProvider::new("p"),
        provider_model: "m".into(),
        thread_id: None,
        started_at_ms: 1,
        ended_at_ms: 2,
        end: TurnEnd::Completed,
        requests: Vec::new(),
        metering: Metering::Unavailable,
        is_lower_bound: true,
        cost_nano_usd: None,
        losses: Vec::new(),
    });
    check(
        Event::ReceiptRecorded { round: 1, receipt },
        r#""receipt_recorded","round":1,"receipt":{"version":1,"operationId":"00000000-0000-0000-0000-000000000000","parentOperationId":null,"userId":"u","requestedModel":"m","provider":"p","providerModel":"m","threadId":null,"startedAtMs":1,"endedAtMs":2,"end":"completed","requests":[],"metering":{"type":"unavailable"},"isLowerBound":true,"costNanoUsd":null,"losses":[]}}"#,
    );
}

#[test]
fn the_last_event_carries_totals_and_the_exit_code() {
    check(
        Event::RunCompleted { answer: Some("a".into()), totals: totals(), exit_code: 0 },
        &format!(r#""run_completed","answer":"a","totals":{TOTALS},"exit_code":0}}"#),
    );
    check(
        Event::RunFailed {
            code: "C".into(),
            message: "m".into(),
            hint: None,
            totals: totals(),
            exit_code: 4,
        },
        &format!(
            r#""run_failed","code":"C","message":"m","hint":null,"totals":{TOTALS},"exit_code":4}}"#
        ),
    );
    check(
        Event::RunCancelled { totals: totals(), exit_code: 130 },
        &format!(r#""run_cancelled","totals":{TOTALS},"exit_code":130}}"#),
    );
}

//! Rule 4: what the host is told, in which order, and what its receipts say.

use in_memory_fakes::TurnScript;
use runtime_kernel::{ProviderResume, SessionEvent};
use runtime_ports::{AgentTurnEvent, Metering, ModelContext, PortFailureKind, TokenUsage, TurnEnd};
use serde_json::json;

use crate::scenario::{provider_failure, scenario, usage};

#[tokio::test]
async fn rule_04_events_come_in_order_and_the_receipt_before_the_answer() {
    let script = TurnScript::new()
        .event(AgentTurnEvent::TransportInput(json!({ "raw": true })))
        .reasoning("hm")
        .text("so")
        .usage(usage(1))
        .ktool("look", json!({}), "c")
        .usage(usage(2))
        .complete("x");
    let outcome = scenario().turn(script).run().await;
    outcome.is(
        Some("x"),
        &[
            "prepare 1",
            "submitted 1",
            "input 1",
            "usage 1",
            "execute look",
            "resume, 0 sent",
            "usage 1",
            "receipt 1 completed",
            "complete x",
        ],
    );
    let start = outcome.intelligence.started().remove(0);
    let SessionEvent::ProviderInput { context, .. } = &outcome.host.events[1] else { panic!() };
    assert_eq!(
        context,
        &ModelContext {
            input: "what is new".into(),
            provider: runtime_ports::AgentProvider::new("fake"),
            model: "fake-model".into(),
            reasoning_effort: "low".into(),
            instructions: None,
            tools: start.request.tools,
        }
    );
    let reported = outcome.host.events.iter().filter_map(|event| match event {
        SessionEvent::UsageUpdated { usage, .. } => Some(*usage),
        _ => None,
    });
    assert_eq!(reported.collect::<Vec<_>>(), [usage(1), usage(2)]);
}

/// Plays one turn and looks at its receipt as the host got it.
async fn check_usage(script: TurnScript, expected: Option<TokenUsage>, has_thread: bool) {
    let outcome = scenario().turn(script).run().await;
    let last = outcome
        .host
        .events
        .iter()
        .rfind(|event| matches!(event, SessionEvent::ProviderReceipt { .. }));
    let Some(SessionEvent::ProviderReceipt { round: 1, usage, receipt, continuation }) = last
    else {
        panic!("no receipt: {:?}", outcome.host.log)
    };
    assert_eq!((*usage, continuation.is_some()), (expected, has_thread));
    assert_eq!([(**receipt).clone()], *outcome.intelligence.receipts());
    let turn = outcome.intelligence.started().remove(0);
    let ids = (receipt.operation_id, receipt.parent_operation_id, &*receipt.user_id);
    assert_eq!(ids, (turn.operation_id, turn.parent_operation_id, "ada"));
}

#[tokio::test]
async fn rule_04_the_usage_is_the_last_that_the_turn_reported_itself() {
    let new = TurnScript::new;
    check_usage(new().usage(usage(1)).complete_with_usage("x", usage(2)), Some(usage(2)), true)
        .await;
    check_usage(new().usage(usage(1)).complete_unmetered("x"), Some(usage(1)), true).await;
    check_usage(new().complete_unmetered("x"), None, true).await;
    check_usage(new().complete_unmetered("x").without_thread(), None, false).await;
    check_usage(new().usage(usage(3)).fail(provider_failure()), Some(usage(3)), false).await;
    check_usage(new().fail(provider_failure()), None, false).await;
}

#[tokio::test]
async fn rule_04_the_usage_is_never_rebuilt_from_the_receipt() {
    let scripts = [
        TurnScript::new().complete_unmetered("x"),
        TurnScript::new().fail(provider_failure()),
        TurnScript::new().end(),
    ];
    for script in scripts {
        let outcome = scenario().turn(script.metered_in_receipt_only(usage(9))).run().await;
        let Some(SessionEvent::ProviderReceipt { usage: None, receipt, .. }) =
            outcome.host.events.last()
        else {
            panic!("{:?}", outcome.host.events)
        };
        assert_eq!(receipt.metering, Metering::Tokens(usage(9)));
    }
}

#[tokio::test]
async fn rule_04_an_interrupted_receipt_has_no_continuation_and_keeps_what_was_reported() {
    let script = TurnScript::new().usage(usage(4)).ktool("look", json!({}), "c");
    let outcome = scenario().turn(script).resume(ProviderResume::Complete(None)).run().await;
    let Some(SessionEvent::ProviderReceipt { usage: reported, receipt, continuation, .. }) =
        outcome.host.events.last()
    else {
        panic!("{:?}", outcome.host.events)
    };
    assert_eq!((reported, continuation), (&Some(usage(4)), &None));
    assert_eq!((receipt.end, receipt.is_lower_bound), (TurnEnd::Interrupted, true));
}

#[tokio::test]
async fn rule_04_a_refused_start_leaves_only_its_announcement_and_the_error() {
    let refused = TurnScript::refuse_start(provider_failure());
    let outcome = scenario().turn(refused).run().await;
    outcome.fails(&["CUT: the provider went away"], &["prepare 1", "submitted 1"]);
    assert_eq!(outcome.intelligence.receipts(), []);
    let failure: &runtime_ports::PortFailure =
        outcome.result.as_ref().unwrap_err().downcast_ref().unwrap();
    assert_eq!(failure.kind, PortFailureKind::Protocol);
}

#[tokio::test]
async fn rule_04_a_start_that_failed_on_the_way_leaves_its_receipt_too() {
    let failed = TurnScript::fail_start(provider_failure());
    let outcome = scenario().turn(failed).run().await;
    let log = ["prepare 1", "submitted 1", "receipt 1 failed"];
    outcome.fails(&["CUT: the provider went away"], &log);
    assert_eq!(outcome.recorded_receipts(), outcome.intelligence.receipts());
}

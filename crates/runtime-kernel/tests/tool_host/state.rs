//! Shared state, identity of calls, and what a reply asks of a loop.

use std::sync::Arc;

use runtime_kernel::{SessionToolOutcome, ToolOutcome};
use runtime_ports::{ImageSource, ModelContent, ToolDirective, ToolInvocation, ToolReply};
use serde_json::{Map, Value, json};

use crate::stage::{Acting, call, host, operation, serve};

fn writing(writes: &[(&str, Option<Value>)]) -> ToolReply {
    let writes = writes.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
    ToolReply { state_writes: writes.collect(), ..ToolReply::text("ok") }
}

#[tokio::test]
async fn writes_are_merged_in_order_and_seen_by_the_next_call() {
    let first = writing(&[("a", Some(json!(1))), ("b", Some(json!(1))), ("a", Some(json!(2)))]);
    let second = writing(&[("b", None), ("c", Some(json!(3)))]);
    let tools = [Acting::giving("one", Ok(first)), Acting::giving("two", Ok(second))];
    let seen = Arc::clone(&tools[1].calls);
    let begin: Map<String, Value> = [("z".to_owned(), json!(0))].into_iter().collect();
    let host = host(tools).with_shared_state(begin);
    serve(&host, "one").await;
    assert_eq!(*host.shared_state(), *json!({ "a": 2, "b": 1, "z": 0 }).as_object().unwrap());
    serve(&host, "two").await;
    assert_eq!(*host.shared_state(), *json!({ "a": 2, "c": 3, "z": 0 }).as_object().unwrap());
    let seen = &seen.lock().expect("calls")[0];
    assert_eq!(seen.shared_state["b"], 1, "the second call saw what the first wrote");
}

async fn invocations(operation_id: &str, calls: &[(u32, Value)]) -> Vec<ToolInvocation> {
    let tool = Acting::giving("a", Ok(ToolReply::text("ok")));
    let seen = Arc::clone(&tool.calls);
    let host = host([tool]);
    let mut operation = operation();
    operation.id = operation_id.parse().expect("an id");
    for (round, arguments) in calls {
        host.execute(&operation, call("a", arguments.clone()), *round).await;
    }
    let seen = seen.lock().expect("calls");
    seen.clone()
}

#[tokio::test]
async fn calls_are_numbered_within_their_round() {
    let calls = invocations("turn", &[(1, json!({})), (1, json!({})), (2, json!({}))]).await;
    let ids: Vec<&str> = calls.iter().map(|call| &*call.call_id).collect();
    assert_eq!(ids, ["1.1", "1.2", "2.1"]);
    assert_eq!(calls.iter().map(|call| call.cycle).collect::<Vec<_>>(), [1, 1, 2]);
}

#[tokio::test]
async fn the_key_is_the_same_for_the_same_call_made_again_and_for_no_other() {
    let key = |calls: Vec<ToolInvocation>| calls.last().expect("a call").idempotency_key.clone();
    let once = key(invocations("turn", &[(1, json!({ "x": 1 }))]).await);
    let again = key(invocations("turn", &[(1, json!({ "x": 1 }))]).await);
    assert_eq!(once, again, "a round that is made again");
    let others = [
        invocations("other", &[(1, json!({ "x": 1 }))]).await,
        invocations("turn", &[(2, json!({ "x": 1 }))]).await,
        invocations("turn", &[(1, json!({ "x": 2 }))]).await,
        invocations("turn", &[(1, json!({ "x": 1 })), (1, json!({ "x": 1 }))]).await,
    ];
    for other in others {
        assert_ne!(once, key(other));
    }
}

#[tokio::test]
async fn directives_become_what_a_session_knows() {
    let cases = [
        (ToolDirective::Continue, false, false),
        (ToolDirective::Finish, false, true),
        (ToolDirective::WaitUser, true, false),
    ];
    for (directive, stop, finish_after_round) in cases {
        let reply = ToolReply { directive, ..ToolReply::text("ok") };
        let served = serve(&host([Acting::giving("a", Ok(reply))]), "a").await;
        let expected =
            SessionToolOutcome { stop, finish_after_round, ..SessionToolOutcome::success("ok") };
        assert_eq!(SessionToolOutcome::from(served.clone()), expected);
        assert_eq!(ToolOutcome::from(served), ToolOutcome::success("ok"));
    }
}

#[tokio::test]
async fn a_picture_is_kept_for_the_host_and_named_to_the_model() {
    let source = ImageSource::Inline { media_type: "image/png".into(), base64: "AA==".into() };
    let image = Some(ModelContent::Image { source });
    let reply = ToolReply { image: image.clone(), ..ToolReply::text("ok") };
    let served = serve(&host([Acting::giving("a", Ok(reply))]), "a").await;
    assert_eq!((served.text.as_str(), &served.image), ("ok", &image));
    let outcome = ToolOutcome::from(served);
    assert_eq!(outcome.text, "ok\n[The tool also gave a picture, which cannot be shown here.]");
}

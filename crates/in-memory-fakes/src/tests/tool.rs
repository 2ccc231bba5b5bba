//! Decides whether a scripted tool replies, fails, hangs and panics as it is told.

use std::{sync::Arc, time::Duration};

use runtime_ports::{
    CommitDisposition, PortFailureKind, Tool, ToolInvocation, ToolReply, ToolWorld,
};
use serde_json::json;

use super::{operation, outage, panic_of, verdict};
use crate::{FakeArtifacts, FakeInteraction, FakeResources, FakeTool, FakeWorkspace, ToolStep};

fn world() -> ToolWorld {
    ToolWorld {
        workspace: Arc::new(FakeWorkspace::default()),
        interaction: Arc::new(FakeInteraction::unavailable()),
        resources: Arc::new(FakeResources::default()),
        artifacts: Arc::new(FakeArtifacts::new()),
    }
}

fn call(id: &str) -> ToolInvocation {
    ToolInvocation {
        call_id: id.into(),
        idempotency_key: id.into(),
        arguments: json!({ "n": 1 }),
        shared_state: Arc::default(),
        metadata: Arc::default(),
        cycle: 1,
    }
}

#[tokio::test]
async fn steps_reply_in_order_and_calls_are_recorded() {
    let tool = FakeTool::new(
        "sum",
        [
            ToolStep::text("3"),
            ToolStep::error("no_number", "not a number"),
            ToolStep::fail(outage()),
        ],
    );
    assert_eq!(tool.descriptor(), &FakeTool::default_descriptor("sum"));
    let op = operation("op");
    assert_eq!(tool.invoke(&op, &world(), call("c1")).await, Ok(ToolReply::text("3")));
    let error = ToolReply::error("no_number", "not a number");
    assert_eq!(tool.invoke(&op, &world(), call("c2")).await, Ok(error));
    assert_eq!(tool.invoke(&op, &world(), call("c3")).await, Err(outage()));
    assert_eq!(tool.calls(), [call("c1"), call("c2"), call("c3")]);
    assert_eq!(verdict(tool.invoke(&op, &world(), call("c4")).await).0, "SCRIPT_EXHAUSTED");
    let message = panic_of(|| drop(tool));
    assert!(message.contains("(no step left)"), "{message}");
    assert!(message.contains(r#"call c4 of sum with {"n":1}"#), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_stall_is_unknown() {
    let tool = FakeTool::new("sum", [ToolStep::stall()]);
    let brief = operation("op").within(Duration::from_secs(5));
    let failure = tool.invoke(&brief, &world(), call("c1")).await.unwrap_err();
    assert_eq!(
        (failure.kind, failure.commit),
        (PortFailureKind::Timeout, CommitDisposition::Unknown)
    );
}

#[tokio::test]
async fn a_panic_reaches_whoever_polls_and_leaves_the_fake_usable() {
    let tool = FakeTool::new("sum", [ToolStep::panic("boom"), ToolStep::text("3")]);
    let task = tokio::spawn({
        let tool = tool.clone();
        async move { tool.invoke(&operation("op"), &world(), call("c1")).await }
    });
    assert!(task.await.unwrap_err().is_panic());
    let reply = tool.invoke(&operation("op"), &world(), call("c2")).await;
    assert_eq!(reply, Ok(ToolReply::text("3")));
}

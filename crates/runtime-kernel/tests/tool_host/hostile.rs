//! Tools that break every promise: what the host makes of them stays bounded and in order.

use std::{panic::panic_any, thread, time::Duration};

use in_memory_fakes::FakeArtifacts;
use runtime_kernel::ServedTool;
use runtime_ports::{CommitDisposition, PortFailure, PortFailureKind, ToolReply};
use serde_json::json;

use crate::stage::{Acting, call, error_of, host, host_over, operation, serve};

/// Panics when it is dropped.
struct Trap;

impl Drop for Trap {
    fn drop(&mut self) {
        if !thread::panicking() {
            panic!("a trap was dropped");
        }
    }
}

fn is_bounded(served: &ServedTool) {
    let code = served.error_code.as_deref().unwrap_or_default();
    assert!(served.text.len() <= 8_192, "{} bytes of text", served.text.len());
    assert!(code.len() <= 256, "{} bytes of code", code.len());
}

#[tokio::test]
async fn endless_words_of_a_failure_are_cut() {
    let endless = || "ä".repeat(1 << 20);
    let failure = PortFailure::committed(PortFailureKind::Internal, endless(), endless());
    let served = serve(&host([Acting::giving("a", Err(failure))]), "a").await;
    is_bounded(&served);
    assert!(error_of(&served).ends_with("it took effect, do not repeat it"));
    let served =
        serve(&host([Acting::giving("a", Ok(ToolReply::error(endless(), "x")))]), "a").await;
    is_bounded(&served);
    assert_eq!(error_of(&served), "x");
}

#[tokio::test]
async fn eight_mebibytes_of_output_are_cut() {
    let tool = Acting::new("a", |_, _| async { Ok(ToolReply::text("x".repeat(8 << 20))) });
    let served = serve(&host_over([tool], &FakeArtifacts::new()), "a").await;
    assert!(served.ok && served.artifact.is_some() && served.text.len() <= 1_000);
}

#[tokio::test]
async fn a_panic_whose_payload_panics_is_a_result() {
    let host = host([Acting::new("a", |_, _| async { panic_any(Trap) })]);
    let served = serve(&host, "a").await;
    assert_eq!(served.error_code.as_deref(), Some("tool_panicked"));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_never_returns_and_panics_when_it_is_dropped_is_unknown() {
    let tool = Acting::new("a", |_, _| {
        let trap = Trap;
        async move {
            std::future::pending::<()>().await;
            drop(trap);
            Ok(ToolReply::text("never"))
        }
    });
    let host = host([tool]);
    let served = serve(&host, "a").await;
    assert_eq!(served.error_code.as_deref(), Some("tool_timeout"));
    assert_eq!(served.commit, Some(CommitDisposition::Unknown));
    let operation = operation();
    let given_up = host.execute(&operation, call("a", json!({})), 1);
    assert!(tokio::time::timeout(Duration::from_secs(1), given_up).await.is_err());
    tokio::task::yield_now().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_blocks_its_thread_holds_nobody_up() {
    let tool = Acting::new("a", |_, _| async {
        thread::sleep(Duration::from_millis(1_500));
        Ok(ToolReply::text("late"))
    });
    let host = host([tool.declaring(|it| it.timeout = Duration::from_millis(50))]);
    let began = std::time::Instant::now();
    let served = tokio::spawn(async move { serve(&host, "a").await }).await.unwrap();
    assert_eq!(served.error_code.as_deref(), Some("tool_timeout"));
    assert!(began.elapsed() < Duration::from_millis(1_300), "{:?}", began.elapsed());
}

#[tokio::test]
async fn whole_numbers_are_compared_to_the_last_digit() {
    let schema = json!({
        "type": "object",
        "properties": {
            "most": { "maximum": 9_007_199_254_740_992_u64 },
            "least": { "minimum": 9_007_199_254_740_993_u64 },
            "one": { "enum": [9_007_199_254_740_992.0] },
        },
    });
    let host = host([Acting::giving("a", Ok(ToolReply::text("ok"))).schema(schema)]);
    let cases = [
        (json!({ "most": 9_007_199_254_740_992_u64 }), true),
        (json!({ "most": 9_007_199_254_740_993_u64 }), false),
        (json!({ "least": 9_007_199_254_740_992_u64 }), false),
        (json!({ "least": u64::MAX, "most": i64::MIN }), true),
        (json!({ "least": 1e300, "most": -1e300 }), true),
        (json!({ "one": 9_007_199_254_740_993_u64 }), false),
        (json!({ "one": 9_007_199_254_740_992_u64 }), true),
    ];
    for (arguments, fits) in cases {
        let served = host.execute(&operation(), call("a", arguments.clone()), 1).await;
        assert_eq!(served.ok, fits, "{arguments}");
    }
}

#[tokio::test]
async fn ten_mebibytes_of_arguments_are_served() {
    let tool = Acting::new("a", |_, call| async move {
        Ok(ToolReply::text(call.arguments["x"].as_str().map_or(0, str::len).to_string()))
    });
    let arguments = json!({ "x": "x".repeat(10 << 20) });
    assert_eq!(host([tool]).execute(&operation(), call("a", arguments), 1).await.text, "10485760");
}

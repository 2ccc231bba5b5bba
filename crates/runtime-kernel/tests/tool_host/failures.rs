//! What a model is told when a call fails: the words come from the disposition.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use runtime_kernel::{SessionToolOutcome, ToolHost, ToolOutcome};
use runtime_ports::{CommitDisposition, PortFailure, PortFailureKind, ToolReply};

use crate::stage::{Acting, error_of, host, operation, serve};

#[tokio::test]
async fn a_tool_that_does_not_exist_is_not_found() {
    let served = serve(&host([]), "no_such_tool").await;
    assert_eq!(served.error_code.as_deref(), Some("tool_not_found"));
    assert!(error_of(&served).contains("there is no tool of this name"));
    let served = serve(&host([]), &"n".repeat(100_000)).await;
    assert!(served.text.len() < 500, "an endless name is not repeated");
}

#[tokio::test]
async fn the_failure_is_json_with_its_keys_in_order() {
    let host = host([Acting::giving("a", Ok(ToolReply::error("no_file", "none")))]);
    let expected = r#"{"ok":false,"error":"none","error_code":"no_file","tool_name":"a"}"#;
    assert_eq!(serve(&host, "a").await.text, expected);
}

/// A disposition lost while one error type is mapped to another, so that the model repeats a
/// committed write.
#[tokio::test]
async fn regression_the_disposition_of_a_port_failure_reaches_the_model_in_words() {
    use CommitDisposition::{Committed, NotCommitted, Unknown};
    let kind = PortFailureKind::Unavailable;
    let cases = [
        (
            PortFailure::committed(kind, "C", "reply lost"),
            Committed,
            "it took effect, do not repeat it",
        ),
        (
            PortFailure::in_flight_unknown(kind, "C", "reply lost"),
            Unknown,
            "it may have taken effect, verify before you repeat it",
        ),
        (PortFailure::rejected(kind, "C", "reply lost"), NotCommitted, "nothing was changed"),
    ];
    for (failure, commit, words) in cases {
        let served = serve(&host([Acting::giving("write", Err(failure))]), "write").await;
        assert_eq!(served.commit, Some(commit));
        assert_eq!(served.error_code.as_deref(), Some("C"));
        assert_eq!(error_of(&served), format!("reply lost; {words}"));
        let text = served.text.clone();
        assert_eq!(ToolOutcome::from(served.clone()), ToolOutcome::failure(text.clone()));
        assert_eq!(SessionToolOutcome::from(served), SessionToolOutcome::failure(text));
    }
}

#[tokio::test]
async fn a_hint_to_try_again_is_given_only_when_nothing_was_committed() {
    let kind = PortFailureKind::Unavailable;
    let harmless = PortFailure::rejected(kind, "C", "busy").retryable();
    let served = serve(&host([Acting::giving("a", Err(harmless))]), "a").await;
    assert_eq!(error_of(&served), "busy; it may be tried again; nothing was changed");
    let unknown = PortFailure::in_flight_unknown(kind, "C", "busy").retryable();
    let served = serve(&host([Acting::giving("a", Err(unknown))]), "a").await;
    assert!(!error_of(&served).contains("tried again"), "never after an unknown effect");
}

/// Field complaint 16: the effect landed, the reply was lost.
#[tokio::test(start_paused = true)]
async fn a_timeout_after_the_effect_is_unknown_and_not_run_again() {
    let counter = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&counter);
    let tool = Acting::new("send", move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        std::future::pending()
    });
    let served = serve(&host([tool]), "send").await;
    assert_eq!(counter.load(Ordering::SeqCst), 1, "no automatic second run");
    assert_eq!(served.commit, Some(CommitDisposition::Unknown));
    assert!(error_of(&served).contains("verify before you repeat it"));
}

/// A tool timeout reported as not committed.
#[tokio::test(start_paused = true)]
async fn regression_a_timeout_is_never_reported_as_not_committed() {
    let began = tokio::time::Instant::now();
    let served = serve(&host([Acting::new("slow", |_, _| std::future::pending())]), "slow").await;
    assert_eq!(served.error_code.as_deref(), Some("tool_timeout"));
    assert_eq!(served.commit, Some(CommitDisposition::Unknown));
    assert!(!error_of(&served).contains("nothing was changed"));
    assert_eq!(began.elapsed(), Duration::from_secs(10) + ToolHost::GRACE, "then it is dropped");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_was_told_to_stop_has_the_last_word_on_its_effect() {
    let tool = Acting::new("write", |operation, _| async move {
        operation.cancellation.cancelled().await;
        let kind = PortFailureKind::Timeout;
        Err(PortFailure::committed(kind, "LATE", "the file is written, its check is not done"))
    });
    let served = serve(&host([tool]), "write").await;
    assert_eq!(served.error_code.as_deref(), Some("tool_timeout"));
    assert_eq!(served.commit, Some(CommitDisposition::Committed));
    assert!(error_of(&served).contains("do not repeat it"));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_is_cancelled_at_work_is_unknown() {
    let operation = operation();
    let token = operation.cancellation.clone();
    let host = host([Acting::new("slow", |_, _| std::future::pending())]);
    let call = crate::stage::call("slow", serde_json::json!({}));
    let cancel = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    };
    let (served, ()) = tokio::join!(host.execute(&operation, call, 1), cancel);
    assert_eq!(served.error_code.as_deref(), Some("tool_cancelled"));
    assert_eq!(served.commit, Some(CommitDisposition::Unknown));
}

#[tokio::test]
async fn a_tool_that_was_never_started_changed_nothing() {
    let tool = Acting::giving("write", Ok(ToolReply::text("ok")));
    let calls = Arc::clone(&tool.calls);
    let host = host([tool]);
    let cancelled = operation();
    cancelled.cancellation.cancel();
    let late = operation().within(Duration::ZERO);
    for (operation, code) in [(cancelled, "tool_cancelled"), (late, "tool_timeout")] {
        let call = crate::stage::call("write", serde_json::json!({}));
        let served = host.execute(&operation, call, 1).await;
        assert_eq!(served.error_code.as_deref(), Some(code));
        assert_eq!(served.commit, Some(CommitDisposition::NotCommitted));
        assert!(error_of(&served).ends_with("nothing was changed"));
    }
    assert!(calls.lock().expect("calls").is_empty());
}

#[tokio::test]
async fn a_panic_is_a_result_and_the_host_serves_on() {
    let tools = [
        Acting::new("bad", |_, _| async { panic!("a secret of the tool") }),
        Acting::new("worse", |_, _| -> std::future::Ready<_> { panic!("before the first await") }),
        Acting::giving("good", Ok(ToolReply::text("ok"))),
    ];
    let host = host(tools);
    for name in ["bad", "worse"] {
        let served = serve(&host, name).await;
        assert_eq!(served.error_code.as_deref(), Some("tool_panicked"));
        assert_eq!(served.commit, Some(CommitDisposition::Unknown));
        assert!(!served.text.contains("secret"), "{}", served.text);
    }
    assert_eq!(serve(&host, "good").await.text, "ok");
}

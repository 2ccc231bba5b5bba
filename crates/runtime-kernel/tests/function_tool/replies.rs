//! What comes of what a function gives back, and of how it ends.

use std::{collections::BTreeMap, future::Future, time::Duration};

use runtime_kernel::{
    FunctionTool, IntoToolReply, Json, NoArguments, ServedTool, ToolContext, ToolError,
};
use runtime_ports::{
    CommitDisposition, Interruption, PortFailure, PortFailureKind, ToolDirective, ToolReply,
};
use serde_json::json;

use crate::stage::{call, host, operation, refusal, serve};

fn doing<A, W>(function: impl Fn(ToolContext) -> W + Send + Sync + 'static) -> FunctionTool
where
    A: IntoToolReply,
    W: Future<Output = Result<A, ToolError>> + Send + 'static,
{
    FunctionTool::new("tool", "Acts.", move |_: NoArguments, context| function(context))
}

async fn served(tool: FunctionTool) -> ServedTool {
    serve(tool, json!({})).await
}

#[tokio::test]
async fn text_json_nothing_and_whole_replies_are_replies() {
    assert_eq!(served(doing(|_| async { Ok("größer") })).await.text, "größer");
    assert_eq!(served(doing(|_| async { Ok("a".to_owned()) })).await.text, "a");
    assert_eq!(served(doing(|_| async { Ok(()) })).await.text, "done");
    assert_eq!(served(doing(|_| async { Ok(Json(vec!["ä"])) })).await.text, r#"["ä"]"#);
    let finish = doing(|_| async {
        Ok(ToolReply { directive: ToolDirective::Finish, ..ToolReply::text("whole") })
    });
    let served = served(finish).await;
    assert_eq!((served.text.as_str(), served.directive), ("whole", ToolDirective::Finish));
}

#[tokio::test]
async fn a_reply_that_is_no_json_may_have_had_its_effect() {
    let odd = || BTreeMap::from([(vec![1], 1)]);
    let served = served(doing(move |_| async move { Ok(Json(odd())) })).await;
    assert_eq!(served.error_code.as_deref(), Some("reply_not_json"));
    assert_eq!(served.commit, Some(CommitDisposition::Unknown));
}

#[tokio::test]
async fn an_error_is_told_with_its_code() {
    let tool = doing::<(), _>(|_| async { Err(ToolError::new("no_such_note", "name another")) });
    let served = served(tool).await;
    let expected = ("no_such_note".to_owned(), "name another".to_owned());
    assert_eq!((refusal(&served), served.commit), (expected, None));
}

#[tokio::test]
async fn a_failure_of_a_port_keeps_its_disposition() {
    async fn sent() -> Result<(), PortFailure> {
        Err(PortFailure::committed(PortFailureKind::Unavailable, "REPLY_LOST", "the reply is lost"))
    }
    let tool = doing(|_| async {
        sent().await?;
        Ok("never")
    });
    let served = served(tool).await;
    assert_eq!(served.commit, Some(CommitDisposition::Committed));
    assert_eq!(refusal(&served).0, "REPLY_LOST");
}

#[tokio::test]
async fn a_function_knows_its_call() {
    let tool = doing(|context| async move {
        let stored = context.world.artifacts.put(&context.operation, b"x").await?;
        assert!(!stored.to_string().is_empty() && context.metadata.is_empty());
        assert!(context.operation.remaining()? <= Duration::from_secs(60));
        let count = context.shared_state.get("count").and_then(|it| it.as_u64()).unwrap_or(0) + 1;
        let writes = vec![("count".to_owned(), Some(json!(count)))];
        let text = format!("{} {} {count}", context.cycle, context.call_id);
        assert_eq!(context.operation.id.as_str(), &*context.idempotency_key);
        Ok(ToolReply { state_writes: writes, ..ToolReply::text(text) })
    });
    let (host, operation) = (host(tool), operation());
    assert_eq!(host.execute(&operation, call(json!({})), 1).await.text, "1 1.1 1");
    assert_eq!(host.execute(&operation, call(json!({})), 2).await.text, "2 2.1 2");
}

#[tokio::test]
async fn a_panic_before_or_amid_the_work_is_a_result() {
    let amid = doing::<(), _>(|_| async { panic!("a secret") });
    let before = doing::<(), std::future::Ready<_>>(|_| panic!("a secret"));
    for tool in [amid, before] {
        let served = served(tool).await;
        assert_eq!(served.error_code.as_deref(), Some("tool_panicked"));
        assert_eq!(served.commit, Some(CommitDisposition::Unknown));
        assert!(!served.text.contains("secret"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_function_that_watches_its_operation_has_the_last_word() {
    let watching = || {
        doing::<(), _>(|context| async move {
            let interruption = context.operation.interrupted().await;
            assert_eq!(interruption, Interruption::Canceled);
            let kind = PortFailureKind::Canceled;
            Err(PortFailure::rejected(kind, "STOPPED", "stopped in time").into())
        })
    };
    let operation = operation();
    let token = operation.cancellation.clone();
    let host = host(watching());
    let cancel = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    };
    let (cancelled, ()) = tokio::join!(host.execute(&operation, call(json!({})), 1), cancel);
    assert_eq!(cancelled.error_code.as_deref(), Some("tool_cancelled"));
    assert_eq!(cancelled.commit, Some(CommitDisposition::NotCommitted));
}

#[tokio::test(start_paused = true)]
async fn a_function_that_never_ends_runs_into_its_own_timeout() {
    let began = tokio::time::Instant::now();
    let tool = doing::<(), _>(|_| std::future::pending()).timeout(Duration::from_secs(5));
    let served = served(tool).await;
    assert_eq!(served.error_code.as_deref(), Some("tool_timeout"));
    assert_eq!(served.commit, Some(CommitDisposition::Unknown));
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
}

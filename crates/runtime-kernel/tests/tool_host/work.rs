//! What a tool can do to the loop that waits for it: nothing.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use runtime_ports::ToolReply;
use serde_json::json;

use crate::stage::{Acting, call, host, operation, serve};

/// Real time and threads: a tool that blocks its thread must not block the loop.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_blocks_its_thread_does_not_hold_up_the_loop() {
    let tool = Acting::new("block", |_, _| async {
        std::thread::sleep(Duration::from_secs(2));
        Ok(ToolReply::text("late"))
    });
    let tool = tool.declaring(|descriptor| descriptor.timeout = Duration::from_millis(50));
    let began = Instant::now();
    let served = serve(&host([tool]), "block").await;
    assert_eq!(served.error_code.as_deref(), Some("tool_timeout"));
    assert!(began.elapsed() < Duration::from_millis(1_800), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn the_operation_bounds_a_tool_that_would_take_longer() {
    let tool = Acting::new("slow", |operation, _| async move {
        let left = operation.deadline - tokio::time::Instant::now();
        Ok(ToolReply::text(left.as_secs().to_string()))
    });
    let host = host([tool.declaring(|descriptor| descriptor.timeout = Duration::from_secs(10))]);
    for (operation_secs, expected) in [(60, "10"), (3, "3")] {
        let operation = operation().within(Duration::from_secs(operation_secs));
        let served = host.execute(&operation, call("slow", json!({})), 1).await;
        assert_eq!(served.text, expected);
    }
}

/// Says when it is dropped.
struct Watched(Arc<AtomicBool>);

impl Drop for Watched {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn watched(gone: &Arc<AtomicBool>) -> Acting {
    let gone = Arc::clone(gone);
    Acting::new("wait", move |_, _| {
        let watched = Watched(Arc::clone(&gone));
        async move {
            let _watched = watched;
            std::future::pending().await
        }
    })
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_gone_soon_after_its_time_is_over() {
    let gone = Arc::new(AtomicBool::new(false));
    serve(&host([watched(&gone)]), "wait").await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert!(gone.load(Ordering::SeqCst), "no task is left behind");
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_takes_its_tool_with_it() {
    let gone = Arc::new(AtomicBool::new(false));
    let host = host([watched(&gone)]);
    let wait = Duration::from_secs(1);
    let (operation, call) = (operation(), call("wait", json!({})));
    assert!(tokio::time::timeout(wait, host.execute(&operation, call, 1)).await.is_err());
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert!(gone.load(Ordering::SeqCst), "no task is left behind");
}

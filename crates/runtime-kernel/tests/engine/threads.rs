//! A tool that blocks its thread costs that thread, and nothing else. In real time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use async_trait::async_trait;
use in_memory_fakes::{FakeModel, FakeTool, ModelStep};
use runtime_kernel::engine::{RunHandle, RunStatus, Task};
use runtime_ports::{
    OperationContext, PortFailure, Tool, ToolDescriptor, ToolInvocation, ToolReply, ToolWorld,
};

use crate::{
    oracle,
    stage::{agent, call, finish, ms},
};

/// Longest that a tool blocks when a test forgets it.
const WATCHDOG: Duration = Duration::from_secs(30);

/// Blocks its thread until it is let go.
struct Blocking {
    descriptor: ToolDescriptor,
    began: Arc<AtomicBool>,
    is_free: Arc<AtomicBool>,
}

#[async_trait]
impl Tool for Blocking {
    fn descriptor(&self) -> &ToolDescriptor {
        &self.descriptor
    }

    async fn invoke(
        &self,
        _: &OperationContext,
        _: &ToolWorld,
        _: ToolInvocation,
    ) -> Result<ToolReply, PortFailure> {
        self.began.store(true, Ordering::SeqCst);
        let began = Instant::now();
        while !self.is_free.load(Ordering::SeqCst) && began.elapsed() < WATCHDOG {
            std::thread::sleep(ms(1));
        }
        Ok(ToolReply::text("at last"))
    }
}

/// A run whose tool blocks.
struct Blocked {
    run: RunHandle,
    is_free: Arc<AtomicBool>,
    lag: Arc<AtomicU64>,
}

/// Starts it, waits until the tool blocks, and measures from then on how late timers are.
async fn block(timeout: Duration, grace: Duration) -> Blocked {
    let (began, is_free) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let descriptor = ToolDescriptor { timeout, ..FakeTool::default_descriptor("block") };
    let tool = Blocking { descriptor, began: Arc::clone(&began), is_free: Arc::clone(&is_free) };
    let model = FakeModel::new([call("c1", "block"), ModelStep::text("well")]);
    model.unchecked();
    let agent = agent(&model).tool(tool).grace(grace).build().expect("an agent");
    let run = agent.start(Task::new("do it"));
    while !began.load(Ordering::SeqCst) {
        tokio::time::sleep(ms(1)).await;
    }
    let lag = Arc::new(AtomicU64::new(0));
    let (longest, done) = (Arc::clone(&lag), Arc::clone(&is_free));
    // ends with the block
    tokio::spawn(async move {
        while !done.load(Ordering::SeqCst) {
            let began = Instant::now();
            tokio::time::sleep(ms(5)).await;
            let late = began.elapsed().saturating_sub(ms(5)).as_millis();
            longest.fetch_max(u64::try_from(late).unwrap_or(u64::MAX), Ordering::SeqCst);
        }
    });
    Blocked { run, is_free, lag }
}

impl Blocked {
    /// Lets the tool go; nothing of the run is alive then.
    async fn let_go(self) {
        // A loaded machine is late by itself: what must not be is a timer that waits for the tool.
        let lag = self.lag.load(Ordering::SeqCst);
        assert!(lag < 1_000, "timers were up to {lag} ms late");
        self.is_free.store(true, Ordering::SeqCst);
        drop(self.run);
        let began = Instant::now();
        while tokio::runtime::Handle::current().metrics().num_alive_tasks() > 0 {
            assert!(began.elapsed() < WATCHDOG, "a task is still alive");
            tokio::time::sleep(ms(5)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_cancelled_run_names_the_tool_that_blocks_its_thread() {
    let blocked = block(Duration::from_mins(10), ms(300)).await;
    let began = Instant::now();
    let report = blocked.run.cancel().await.expect("the run lives");
    assert!(began.elapsed() >= ms(250), "the tool had no grace");
    assert!(began.elapsed() < WATCHDOG / 2, "the end took {:?}", began.elapsed());
    assert_eq!(report.still_running, ["tool block (c1)"]);
    assert_eq!((report.unknown, report.settled), (report.still_running, Vec::new()));
    let result = finish(&blocked.run).await;
    assert_eq!(result.status, RunStatus::Cancelled);
    oracle::assert_paired(&result);
    blocked.let_go().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_run_goes_on_without_a_tool_that_blocks_its_thread() {
    let blocked = block(ms(200), ms(300)).await;
    let result = finish(&blocked.run).await;
    assert_eq!(result.status, RunStatus::Completed);
    let record = &oracle::records(&result)["c1"];
    assert_eq!(record.error_code.as_deref(), Some("tool_timeout"));
    blocked.let_go().await;
}

//! Checks that a command that never stops talking costs neither memory nor the other tasks.
//!
//! A process of its own, so that memory is measured alone.

use std::time::{Duration, Instant};

use runtime_ports::{CommandRequest, OperationContext, PortFailureKind, WorkspaceSession};
use runtime_types::{ExecutionId, OperationId};
use workspace_adapter::FolderWorkspace;

const LASTS: Duration = Duration::from_millis(1_500);

fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = pages.split(' ').nth(1).unwrap().parse().unwrap();
    pages * rustix::param::page_size() as u64
}

#[tokio::test]
async fn endless_output_is_drained_within_bounds() {
    let temp = tempfile::tempdir().unwrap();
    let workspace = FolderWorkspace::open(temp.path()).unwrap();
    let operation = OperationContext::root(
        OperationId::new("operation").unwrap(),
        ExecutionId::new("execution").unwrap(),
        LASTS,
    );
    let request = CommandRequest { command: "yes & yes >&2 & wait".into(), cwd: None };
    let before = resident_bytes();
    let (mut ticks, mut most) = (0_u32, 0);
    let begun = Instant::now();
    let flood = workspace.execute(&operation, request);
    tokio::pin!(flood);
    let mut timer = tokio::time::interval(Duration::from_millis(10));
    let failure = loop {
        tokio::select! {
            result = &mut flood => break result.unwrap_err(),
            _ = timer.tick() => {
                ticks += 1;
                most = most.max(resident_bytes());
            }
        }
    };
    assert_eq!(failure.kind, PortFailureKind::Timeout);
    assert!(begun.elapsed() < LASTS + Duration::from_millis(500), "{:?}", begun.elapsed());
    assert!(ticks > 50, "timers starved: {ticks} ticks");
    assert!(most.saturating_sub(before) < 8 << 20, "{} bytes more", most - before);
}

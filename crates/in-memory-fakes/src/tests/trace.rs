//! Decides whether events are numbered per run and read in pages.

use runtime_ports::{OperationContext, TraceReader, TraceRecord, TraceSession};
use serde_json::json;

use super::{operation, run};
use crate::FakeTrace;

#[tokio::test]
async fn events_are_numbered_from_one_in_each_run() {
    let trace = FakeTrace::new();
    let other = OperationContext { execution_id: run("run-2"), ..operation("op") };
    trace.append(&operation("op"), "began", json!(1)).await.unwrap();
    trace.append(&other, "began", json!(2)).await.unwrap();
    trace.append(&operation("op"), "ended", json!(3)).await.unwrap();
    let event = |sequence, event_type: &str, payload| TraceRecord {
        sequence,
        event_type: event_type.to_owned(),
        payload,
    };
    let (began, ended) = (event(1, "began", json!(1)), event(2, "ended", json!(3)));
    assert_eq!(trace.records(&run("run-1")), [began.clone(), ended.clone()]);
    assert_eq!(trace.records(&run("run-2")), [event(1, "began", json!(2))]);
    for (run_id, after, limit, expected) in [
        ("run-1", 0, 9, vec![began.clone(), ended.clone()]),
        ("run-1", 0, 1, vec![began]),
        ("run-1", 1, 9, vec![ended]),
        ("run-1", u64::MAX, 9, vec![]),
        ("run-3", 0, 9, vec![]),
    ] {
        let page = trace.read(&operation("op"), &run(run_id), after, limit).await;
        assert_eq!(page, Ok(expected), "{run_id} after {after}, at most {limit}");
    }
}

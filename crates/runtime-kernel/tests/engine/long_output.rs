//! How much of a tool's output the model of a run is shown, and where the rest is.

use std::sync::Arc;

use in_memory_fakes::{FakeArtifacts, FakeModel, FaultPlan, ModelStep, ToolStep};
use runtime_kernel::engine::{RunResult, closed_world};
use runtime_ports::{
    ArtifactStore as _, Digest, OperationContext, PortFailure, PortFailureKind, ToolWorld,
};
use runtime_types::{ExecutionId, OperationId};

use crate::stage::{agent, call, finish, ms, start, told, tool_like};

/// A run whose tool says `content` and may say at most 200 bytes.
async fn run_of(content: &str, artifacts: &FakeArtifacts) -> Arc<RunResult> {
    let model = FakeModel::new([call("1", "read"), ModelStep::text("done")]);
    let read = tool_like("read", |it| it.output_limit_bytes = 200, [ToolStep::text(content)]);
    let world = ToolWorld { artifacts: Arc::new(artifacts.clone()), ..closed_world() };
    let agent = agent(&model).tool(read).world(world).build().expect("an agent");
    finish(&start(&agent).0).await
}

fn operation() -> OperationContext {
    let (id, execution) = (OperationId::new("reader"), ExecutionId::new("outer"));
    OperationContext::root(id.expect("an id"), execution.expect("an id"), ms(60_000))
}

/// The whole message that the model was shown.
fn shown(result: &RunResult) -> String {
    let shown =
        told(result).into_iter().find_map(|it| Some(it.strip_prefix("result ")?.to_owned()));
    shown.expect("a result")
}

#[tokio::test(start_paused = true)]
async fn what_does_not_fit_is_cut_in_the_middle_and_kept_whole() {
    let artifacts = FakeArtifacts::new();
    let content = format!("BEGIN{}END", "é".repeat(2_000));
    let result = run_of(&content, &artifacts).await;
    let (shown, digest) = (shown(&result), Digest::of(content.as_bytes()));
    assert!(
        shown.len() <= 200 && shown.starts_with("BEGINé") && shown.ends_with("éEND"),
        "{shown}"
    );
    assert!(shown.contains("the output had 4008 bytes"), "{shown}");
    assert!(shown.contains(&digest.to_string()), "{shown}");
    assert_eq!(result.cycles[0].tool_results[0].artifact, Some(digest));
    let operation = operation();
    let kept = artifacts.read(&operation, &digest, 0..u64::MAX).await.expect("kept");
    assert_eq!(kept, content.as_bytes());
}

#[tokio::test(start_paused = true)]
async fn what_fits_is_shown_as_it_is_and_kept_nowhere() {
    let artifacts = FakeArtifacts::new();
    let result = run_of(&"x".repeat(200), &artifacts).await;
    assert_eq!(shown(&result), "x".repeat(200));
    assert!(artifacts.is_empty() && result.cycles[0].tool_results[0].artifact.is_none());
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_kept_is_shown_nevertheless_and_says_so() {
    let kind = PortFailureKind::Unavailable;
    let full = PortFailure::rejected(kind, "DISK_FULL", "no space is left; free some");
    let plan = FaultPlan::new().before("artifacts.put", 1, full);
    let artifacts = FakeArtifacts::new().with_faults(&plan);
    let result = run_of(&"x".repeat(2_000), &artifacts).await;
    assert!(shown(&result).contains("the whole could not be kept (DISK_FULL)"));
    assert_eq!(result.cycles[0].tool_results[0].artifact, None);
}

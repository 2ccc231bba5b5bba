//! Decides whether a run that one process suspended goes on in another.
//!
//! This test starts itself three times: each life of the run is a process of its own, and all that
//! passes between them is a file. The ungated call leaves a line in a second file each time it runs.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use in_memory_fakes::{FakeModel, ModelStep};
use runtime_kernel::{
    FunctionTool, NoArguments, ToolContext, ToolError,
    engine::{
        Agent, ControlError, Event, Refused, RunEnd, RunOptions, RunStatus, SuspendedRun, Task,
        ToolPolicy, WatchOptions, Watched,
    },
};
use runtime_ports::EffectClass;
use serde_json::json;

const LIFE: &str = "RESUMED_ELSEWHERE_LIFE";
const FOLDER: &str = "RESUMED_ELSEWHERE_FOLDER";

/// The same agent in every life; only the model's script differs.
fn agent(folder: &Path, model: FakeModel) -> Agent {
    let note = |name: &'static str| {
        let file = folder.join("effects");
        move |_: NoArguments, _: ToolContext| {
            let file = file.clone();
            async move {
                append(&file, name).map_err(|error| ToolError::new("io", error.to_string()))?;
                Ok(format!("{name} is done"))
            }
        }
    };
    let wipe = FunctionTool::new("wipe", "Wipes the disk.", note("wipe"));
    let count = FunctionTool::new("count", "Counts.", note("count")).effect(EffectClass::ReadOnly);
    Agent::builder("keeper", Arc::new(model), FakeModel::MODEL)
        .tool(wipe.parallel())
        .tool(count.parallel())
        .policy(ToolPolicy::ask_for_effects())
        .build()
        .expect("an agent")
}

fn append(file: &Path, line: &str) -> std::io::Result<()> {
    let mut file = fs::OpenOptions::new().create(true).append(true).open(file)?;
    writeln!(file, "{line}")
}

fn stored(folder: &Path) -> PathBuf {
    folder.join("run.json")
}

fn read(folder: &Path) -> SuspendedRun {
    SuspendedRun::from_json(&fs::read(stored(folder)).expect("the stored run"))
}

/// Two gated calls and an ungated one; suspended once the ungated one has its result.
async fn first_life(folder: &Path) {
    let calls = ModelStep::tool_call("c1", "wipe", json!({}))
        .and_call("c2", "count", json!({}))
        .and_call("c3", "wipe", json!({}));
    let agent = agent(folder, FakeModel::new([calls]));
    let (run, mut events) = agent.watch(Task::new("Clean up."), RunOptions::default());
    while let Some(Watched::Event(event)) = events.next().await {
        if matches!(event.event, Event::ToolResult { .. }) {
            break;
        }
    }
    let suspended = run.suspend().await.expect("the run lives").suspended().expect("it waits");
    fs::write(stored(folder), suspended.as_json()).expect("a file");
}

/// Denies one call, suspends again before the other is decided.
async fn second_life(folder: &Path) {
    let agent = agent(folder, FakeModel::new([]));
    let run = read(folder);
    let pending = run.pending_approvals(&agent).expect("the same agent");
    assert_eq!(pending.len(), 2, "each gated call keeps its question");
    let resumed = agent.resume(&run).expect("the same agent");
    let mut events = resumed.events(WatchOptions::default());
    resumed.deny(&pending[1].request_id, "one is enough").await.expect("the first decision counts");
    let again = resumed.approve(&pending[1].request_id).await;
    assert!(matches!(again, Err(ControlError::Refused(Refused::AlreadyDecided { .. }))));
    while let Some(Watched::Event(event)) = events.next().await {
        if matches!(event.event, Event::ToolResult { .. }) {
            break;
        }
    }
    let suspended = resumed.suspend().await.expect("the run lives").suspended().expect("it waits");
    fs::write(stored(folder), suspended.as_json()).expect("a file");
}

/// Approves the other, and the run goes on to its end.
async fn third_life(folder: &Path) {
    let model = FakeModel::new([ModelStep::text("Wiped once.")]);
    let agent = agent(folder, model.clone());
    let run = read(folder);
    let pending = run.pending_approvals(&agent).expect("the same agent");
    assert_eq!(pending.len(), 1, "what was decided is not asked again");
    let resumed = agent.resume(&run).expect("the same agent");
    resumed.approve(&pending[0].request_id).await.expect("a decision");
    let RunEnd::Finished(result) = resumed.result().await.expect("the run lives") else {
        panic!("the run is suspended")
    };
    assert_eq!(result.status, RunStatus::Completed);
    let codes: Vec<_> =
        result.cycles[0].tool_results.iter().map(|it| it.error_code.as_deref()).collect();
    assert_eq!(codes, [None, None, Some("approval_denied")]);
    // One result for each call, next to the calls, in their order.
    let request = serde_json::to_value(&model.requests()[0].messages).expect("JSON");
    let ids: Vec<_> = (2..5).map(|at| request[at]["content"][0]["tool_use_id"].clone()).collect();
    assert_eq!(ids, ["c1", "c2", "c3"]);
}

#[test]
fn a_suspended_run_goes_on_in_another_process() {
    if let Ok(life) = std::env::var(LIFE) {
        let folder = PathBuf::from(std::env::var_os(FOLDER).expect("a folder"));
        return live(&life, &folder);
    }
    let folder = tempfile::tempdir().expect("a folder");
    for life in ["first", "second", "third"] {
        let name = "resumed_elsewhere::a_suspended_run_goes_on_in_another_process";
        let child = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", name, "--nocapture"])
            .env(LIFE, life)
            .env(FOLDER, folder.path())
            .output()
            .expect("a child process");
        let told = String::from_utf8_lossy(&child.stderr);
        assert!(child.status.success(), "the {life} life failed:\n{told}");
    }
    let effects = fs::read_to_string(folder.path().join("effects")).expect("the effects");
    assert_eq!(effects, "count\nwipe\n", "each effect took place once");
}

fn live(life: &str, folder: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        match life {
            "first" => first_life(folder).await,
            "second" => second_life(folder).await,
            _ => third_life(folder).await,
        }
    });
}

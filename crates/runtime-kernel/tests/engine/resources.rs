//! What becomes of instructions and skills that are loaded when a run starts.

use std::{collections::BTreeMap, sync::Arc};

use in_memory_fakes::{FakeModel, FakeResources, FaultPlan, ModelStep, ToolStep};
use runtime_kernel::engine::{Event, RunStatus, Task, ToolPolicy};
use runtime_ports::{
    ModelProfile, ModelRequest, ModelRole, PortFailure, PortFailureKind, ResourceSnapshot,
};

use crate::stage::{agent, call, finish, names, start, told, tool, tool_like, until, writing};

fn snapshot() -> ResourceSnapshot {
    let skills = [("baking", "Use butter."), ("art", "Use ink.")];
    let skills = skills.map(|(name, text)| (name.to_owned(), text.to_owned()));
    ResourceSnapshot::new(vec!["Be brief.".to_owned(), " ".to_owned()], BTreeMap::from(skills))
}

const PLACED: &str = "Be brief.\n\n# Skill: art\n\nUse ink.\n\n# Skill: baking\n\nUse butter.";

fn texts(request: &ModelRequest) -> Vec<String> {
    request.messages.messages().map(|it| format!("{:?} {:?}", it.role, it.content[0])).collect()
}

#[tokio::test(start_paused = true)]
async fn resources_stand_behind_the_instructions_and_never_in_the_history() {
    let model = FakeModel::new([call("c1", "look"), ModelStep::text("done")]);
    let look = tool("look", [ToolStep::text("a")]);
    let resources = FakeResources::of(snapshot());
    let builder = agent(&model).instructions("You are kind.").tool(look);
    let agent = builder.resources(Arc::new(resources.clone())).build().expect("an agent");
    let (run, mut events) = start(&agent);
    let Event::ResourcesLoaded { digest, instructions, skills } =
        until(&mut events, "resources_loaded").await
    else {
        panic!("another event")
    };
    assert_eq!((&*digest, instructions, skills), (&*snapshot().digest, 2, 2));
    let result = finish(&run).await;
    let history =
        ["system: You are kind.", "user: do it", "call look", "result a", "assistant: done"];
    assert_eq!(told(&result), history);
    assert_eq!(result.resources_digest.as_deref(), Some(&*snapshot().digest));
    for request in model.requests() {
        let placed = request.messages.messages().nth(1).expect("a message");
        assert_eq!(placed, &runtime_ports::ModelMessage::text(ModelRole::System, PLACED));
    }
    let (first, second) = (texts(&model.requests()[0]), texts(&model.requests()[1]));
    assert_eq!(second[..first.len()], first);
    assert_eq!(resources.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn without_instructions_they_come_first_and_empty_ones_cost_nothing() {
    let model = FakeModel::new([ModelStep::text("done"), ModelStep::text("done")]);
    let resources = FakeResources::new(["Be brief."]);
    let built = agent(&model).resources(Arc::new(resources.clone())).build().expect("an agent");
    built.run(Task::new("go")).await;
    resources.replace(ResourceSnapshot::new(vec!["\n".to_owned()], BTreeMap::new()));
    let result = built.run(Task::new("go")).await;
    let lengths: Vec<_> = model.requests().iter().map(|it| it.messages.len()).collect();
    assert_eq!((lengths, result.context.is_none()), (vec![2, 1], true));
    assert!(result.resources_digest.is_some());
}

#[tokio::test(start_paused = true)]
async fn resources_that_cannot_be_loaded_end_the_run_before_any_request() {
    let model = FakeModel::new([]);
    let failure = PortFailure::not_sent(PortFailureKind::Unavailable, "DISK", "it is gone");
    let plan = FaultPlan::new().before("resources.load", 1, failure);
    let resources = FakeResources::of(snapshot()).with_faults(&plan);
    let agent = agent(&model).resources(Arc::new(resources)).build().expect("an agent");
    let (run, mut events) = start(&agent);
    let result = finish(&run).await;
    let error = result.error.as_ref().expect("an error");
    assert_eq!((&*error.code, result.status), ("resources_failed", RunStatus::Failed));
    let failure = error.failure.as_ref().expect("the failure of the port");
    assert_eq!(failure.kind, PortFailureKind::Unavailable);
    assert_eq!(names(&mut events).await, ["run_started", "run_failed"]);
    assert_eq!(model.requests().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn resources_that_would_fill_the_window_are_refused_with_both_numbers() {
    let profile = ModelProfile {
        context_window_tokens: 4_000,
        max_input_tokens: 3_000,
        max_output_tokens: None,
        images: false,
        price: None,
    };
    let model = FakeModel::new([]).with_profile(FakeModel::MODEL, profile);
    let resources = FakeResources::new(["word ".repeat(2_000)]);
    let agent = agent(&model).resources(Arc::new(resources)).build().expect("an agent");
    let result = finish(&start(&agent).0).await;
    let error = result.error.as_ref().expect("an error");
    assert_eq!(&*error.code, "resources_too_large");
    assert!(error.message.contains("at most 750"), "{}", error.message);
    assert_eq!(model.requests().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_run_goes_on_under_the_resources_that_it_began_with() {
    let model = FakeModel::new([call("c1", "write"), ModelStep::text("written")]);
    let write = tool_like("write", writing, [ToolStep::text("ok")]);
    let resources = FakeResources::of(snapshot());
    let builder = agent(&model).tool(write).policy(ToolPolicy::ask_for_effects());
    let agent = builder.resources(Arc::new(resources.clone())).build().expect("an agent");
    let (run, mut events) = start(&agent);
    until(&mut events, "approval_requested").await;
    let suspended = run.suspend().await.expect("an end").suspended().expect("it waits");
    resources.replace(ResourceSnapshot::new(vec!["Be long.".to_owned()], BTreeMap::new()));
    let pending = suspended.pending_approvals(&agent).expect("a stored run");
    let resumed = agent.resume(&suspended).expect("the same agent");
    resumed.approve(&pending[0].request_id).await.expect("a decision");
    let result = finish(&resumed).await;
    assert_eq!(result.resources_digest.as_deref(), Some(&*snapshot().digest));
    let (first, second) = (texts(&model.requests()[0]), texts(&model.requests()[1]));
    assert_eq!(second[..first.len()], first);
    assert_eq!(resources.calls().len(), 1);
}

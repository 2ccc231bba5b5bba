//! A run gives tasks to sub-agents, waits for them, goes on without them, and ends with them.
//!
//! Length: one place for all that a family of runs may be put through.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use in_memory_fakes::{FakeModel, ModelStep};
use runtime_kernel::engine::{
    Agent, AgentBuilder, ControlError, DelegationLimits, Event, Refused, Ruling, RunEvent,
    RunOptions, RunResult, RunStatus, SubAgent, SubTaskState, SuspendedRun, Task, ToolPolicy,
    WatchOptions, Watched,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    crew::{Always, CountingModel, Foreman, OneTaskClock},
    oracle,
    probe::{Deed, Probe, World},
    stage::{agent, agent_of, call, finish, ms, start, told, until},
};

/// A call that gives a task to `agent`.
fn order(id: &str, agent: &str, background: bool) -> ModelStep {
    let arguments =
        json!({ "agent_name": agent, "task_description": "do it", "background": background });
    ModelStep::tool_call(id, "create_sub_task", arguments)
}

fn batch(id: &str, agents: &[&str], background: bool) -> ModelStep {
    let order = |agent: &&str| json!({ "agent_name": agent, "task_description": "do it" });
    let tasks: Vec<Value> = agents.iter().map(order).collect();
    let arguments = json!({ "tasks": tasks, "background": background });
    ModelStep::tool_call(id, "create_sub_task_batch", arguments)
}

fn sub_agent(name: &str, model: &FakeModel) -> SubAgent {
    SubAgent::new(name, "works").model(Arc::new(model.clone()), FakeModel::MODEL)
}

fn limited(builder: AgentBuilder, max_depth: u32) -> AgentBuilder {
    builder.sub_task_limits(DelegationLimits { max_depth, ..DelegationLimits::default() })
}

/// All that is told from now on, by the run that tells it.
async fn all(events: &mut runtime_kernel::engine::EventStream) -> Vec<Arc<RunEvent>> {
    let mut all = Vec::new();
    while let Some(watched) = events.next().await {
        match watched {
            Watched::Event(event) => all.push(event),
            Watched::Missed(count) => panic!("{count} were missed"),
        }
    }
    all
}

/// Each run tells in order, without a gap, one end; those below end before the one that is watched.
fn assert_told_whole(events: &[Arc<RunEvent>], result: &RunResult) {
    let mut by_run = BTreeMap::<_, Vec<Arc<RunEvent>>>::new();
    for event in events {
        by_run.entry(Arc::clone(&event.identity.run_id)).or_default().push(Arc::clone(event));
    }
    for (run, events) in &by_run {
        let sequences: Vec<u64> = events.iter().map(|event| event.sequence).collect();
        let expected: Vec<u64> = (1..=events.len() as u64).collect();
        assert_eq!(sequences, expected, "{run}");
    }
    let own = &by_run[&result.run_id];
    oracle::assert_told_whole(own, result.status);
    assert_eq!(events.last().expect("an event").identity.run_id, result.run_id);
    let count = |name: &str| own.iter().filter(|event| event.event.name() == name).count();
    assert_eq!(count("sub_run_started"), count("sub_run_completed"));
}

/// No task of tokio but this one lives.
async fn assert_nothing_lives(what: &str) {
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
    let alive = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    assert_eq!(alive, 0, "{what}");
}

#[tokio::test(start_paused = true)]
async fn the_answer_of_a_child_is_the_result_of_its_call() {
    let child = FakeModel::new([ModelStep::text("It is about tea.")]);
    let model = FakeModel::new([order("c1", "reader", false), ModelStep::text("Tea.")]);
    let agent = agent(&model).sub_agent(sub_agent("reader", &child)).build().expect("an agent");
    let (run, mut events) = start(&agent);
    let events = all(&mut events).await;
    let result = finish(&run).await;
    assert_told_whole(&events, &result);
    let answer = r#"result {"ok":true,"task_id":"task-1","agent_name":"reader","status":"completed","answer":"It is about tea."}"#;
    assert_eq!(told(&result), ["user: do it", "call create_sub_task", answer, "assistant: Tea."]);
    let names: Vec<_> = events
        .iter()
        .map(|event| format!("{} {}", event.identity.agent_name, event.event.name()))
        .collect();
    let expected = [
        "tester run_started",
        "tester cycle_started",
        "tester cycle_llm_response",
        "tester tool_call_planned",
        "tester tool_call_started",
        "tester sub_run_started",
        "reader run_started",
        "reader cycle_started",
        "reader cycle_llm_response",
        "reader run_completed",
        "tester sub_run_completed",
        "tester tool_result",
        "tester cycle_started",
        "tester cycle_llm_response",
        "tester run_completed",
    ];
    assert_eq!(names, expected);
    let identity = &events[6].identity;
    assert_eq!(identity.parent_run_id.as_deref(), Some("run"));
    assert_eq!(identity.parent_tool_call_id.as_deref(), Some("c1"));
    assert_eq!((&*identity.trace_id, &*identity.task_id), ("run", "task-1"));
    let state = run.sub_tasks()[0].state;
    assert_eq!(state, SubTaskState::Ended(RunStatus::Completed));
    assert_nothing_lives("after the end").await;
}

#[tokio::test(start_paused = true)]
async fn children_work_side_by_side() {
    let child = || FakeModel::new([ModelStep::text("done").delay(ms(100))]);
    let model = FakeModel::new([batch("c1", &["a", "b", "c"], false), ModelStep::text("all")]);
    let agent = agent(&model)
        .sub_agent(sub_agent("a", &child()))
        .sub_agent(sub_agent("b", &child()))
        .sub_agent(sub_agent("c", &child()))
        .build()
        .expect("an agent");
    let began = Instant::now();
    let result = agent.run(Task::new("do it")).await;
    assert_eq!(result.final_answer.as_deref(), Some("all"));
    assert_eq!(began.elapsed(), ms(100));
}

#[tokio::test(start_paused = true)]
async fn a_child_in_the_background_is_heard_in_the_next_cycle() {
    let child = FakeModel::new([ModelStep::text("done").delay(ms(100))]);
    let model = FakeModel::new([
        order("c1", "slow", true),
        ModelStep::text("I wait."),
        ModelStep::text("It is done."),
    ]);
    let agent = agent(&model).sub_agent(sub_agent("slow", &child)).build().expect("an agent");
    let result = agent.run(Task::new("do it")).await;
    assert_eq!(result.final_answer.as_deref(), Some("It is done."));
    let told = told(&result);
    assert_eq!(
        told.iter().filter(|said| said.contains(r#""answer":"done""#)).count(),
        1,
        "{told:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_at_its_time_and_not_with_the_child() {
    let child = FakeModel::new([ModelStep::text("done").delay(Duration::from_secs(27_017))]);
    let wait = json!({ "timeout_seconds": 300 });
    let model = FakeModel::new([
        order("c1", "slow", true),
        ModelStep::tool_call("c2", "wait_sub_tasks", wait),
    ]);
    let agent = agent(&model).sub_agent(sub_agent("slow", &child)).max_cycles(2).build();
    let agent = agent.expect("an agent");
    let began = Instant::now();
    let result = agent.run(Task::new("do it")).await;
    assert_eq!(result.status, RunStatus::MaxCycles);
    let took = began.elapsed();
    assert!(took >= ms(300_000) && took < ms(306_000), "it took {took:?}");
    assert!(told(&result)[4].contains(r#""ended_by":"timeout""#), "{:?}", told(&result));
}

#[tokio::test(start_paused = true)]
async fn the_limits_of_a_child_end_the_child_alone() {
    let world = Arc::default();
    for (steps, code) in [
        (vec![ModelStep::stall()], "wall_time"),
        (vec![call("c1", "work"), call("c2", "work"), call("c3", "work")], "max_cycles"),
    ] {
        let child = FakeModel::new(steps);
        let model = FakeModel::new([order("c1", "child", false), ModelStep::text("done")]);
        let child = sub_agent("child", &child).max_cycles(3).wall_time(ms(500));
        let work = Probe::new(&world, "work", Deed::Works(ms(10)));
        let agent = agent(&model).tool(work).sub_agent(child).build().expect("an agent");
        let result = agent.run(Task::new("do it")).await;
        assert_eq!(result.final_answer.as_deref(), Some("done"));
        let said = &told(&result)[2];
        assert!(said.contains("sub_task_failed") && said.contains(code), "{said}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_child_that_breaks_down_is_a_failed_outcome() {
    let child = FakeModel::new([]);
    let model = FakeModel::new([order("c1", "child", false), ModelStep::text("so be it")]);
    let agent = agent(&model)
        .clock(OneTaskClock::default())
        .sub_agent(sub_agent("child", &child))
        .build()
        .expect("an agent");
    let (run, mut events) = start(&agent);
    until(&mut events, "run_completed").await;
    let result = finish(&run).await;
    assert_eq!(result.final_answer.as_deref(), Some("so be it"));
    let said = &told(&result)[2];
    assert!(said.contains("sub_task_failed") && said.contains("broke down"), "{said}");
    assert_eq!(run.sub_tasks()[0].state, SubTaskState::Lost);
    assert_nothing_lives("after a child broke down").await;
}

#[tokio::test(start_paused = true)]
async fn what_hangs_in_a_child_does_not_hold_up_the_end_of_its_parent() {
    for deed in [Deed::Hangs, Deed::DropsBadly, Deed::Deaf(ms(60_000)), Deed::RepliesWhenTold] {
        let world = Arc::<World>::default();
        let child = FakeModel::new([call("h", "hang")]);
        let model = FakeModel::new([order("c1", "child", false)]);
        let hang = Probe::new(&world, "hang", deed);
        let agent = agent(&model).tool(hang).sub_agent(sub_agent("child", &child)).build();
        let agent = agent.expect("an agent");
        let (run, mut events) = start(&agent);
        while until(&mut events, "tool_call_started").await != started("h", "hang") {}
        let began = Instant::now();
        let report = run.cancel().await.expect("the run lives");
        assert!(began.elapsed() <= ms(5_000), "{deed:?}: it took {:?}", began.elapsed());
        assert_eq!(report.status, RunStatus::Cancelled);
        assert_eq!(report.settled, ["sub-agent child (run-5)"], "{deed:?}");
        assert_nothing_lives(&format!("{deed:?}")).await;
    }
}

fn started(id: &str, name: &str) -> Event {
    Event::ToolCallStarted {
        tool_name: name.into(),
        tool_arguments: Arc::new(json!({})),
        tool_call_id: id.into(),
    }
}

/// A parent with a child that is waited for and two in the background, all of which use a tool.
fn family(world: &Arc<World>) -> Agent {
    let child = |delay: u64| {
        let steps = [call("w", "work"), ModelStep::text("done").delay(ms(delay))];
        FakeModel::new(steps)
    };
    let work = Probe::new(world, "work", Deed::Works(ms(20)));
    agent_of(Arc::new(Foreman))
        .tool(work)
        .sub_agent(sub_agent("a", &child(40)))
        .sub_agent(sub_agent("b", &child(90)))
        .sub_agent(sub_agent("c", &child(10)))
        .build()
        .expect("an agent")
}

/// Lets others run so often, with time going on in between.
async fn pass(turns: usize) {
    for turn in 0..turns {
        tokio::task::yield_now().await;
        if turn % 8 == 7 {
            tokio::time::sleep(ms(3)).await;
        }
    }
}

/// More turns than the family takes.
const TURNS: usize = 600;

#[tokio::test(start_paused = true)]
async fn a_family_that_is_cancelled_anywhere_ends_whole() {
    let mut ends = BTreeMap::<_, usize>::new();
    for turns in (0..TURNS).step_by(3) {
        let world = Arc::default();
        let (run, mut events) = start(&family(&world));
        pass(turns).await;
        let began = Instant::now();
        let report = run.cancel().await.expect("the run lives");
        assert!(began.elapsed() <= ms(5_000), "after {turns} it took {:?}", began.elapsed());
        let result = finish(&run).await;
        assert_eq!(report.status, result.status);
        let events = all(&mut events).await;
        assert_told_whole(&events, &result);
        oracle::assert_paired(&result);
        *ends.entry(format!("{:?}", result.status)).or_default() += 1;
        assert_eq!(world.at_work(), 0);
        drop(run);
        assert_nothing_lives(&format!("cancelled after {turns}")).await;
    }
    assert!(ends["Cancelled"] > 40 && ends["Completed"] > 10, "{ends:?}");
}

#[tokio::test(start_paused = true)]
async fn a_family_that_is_dropped_anywhere_leaves_nothing() {
    for turns in (0..TURNS).step_by(3) {
        let world = Arc::default();
        let (run, mut events) = start(&family(&world));
        let child = run.sub_task("task-1");
        pass(turns).await;
        let below = run.sub_task("task-1").or(child);
        drop(run);
        assert_nothing_lives(&format!("dropped after {turns}")).await;
        assert_eq!(world.at_work(), 0);
        if let Some(below) = below {
            // Whoever holds it learns that it is over, or lost.
            let _ = below.result().await;
        }
        while events.next().await.is_some() {}
    }
}

#[tokio::test(start_paused = true)]
async fn a_family_that_is_suspended_anywhere_goes_on_in_another_agent() {
    let mut suspended = 0;
    for turns in (0..TURNS).step_by(3) {
        let world = Arc::default();
        let agent = family(&world);
        let run = agent.start_with(Task::new("do it"), RunOptions::default().run_id("run"));
        pass(turns).await;
        let mut end = run.suspend().await.expect("the run lives");
        let result = loop {
            drop(run.clone());
            match end {
                runtime_kernel::engine::RunEnd::Finished(result) => break result,
                runtime_kernel::engine::RunEnd::Suspended(stored) => {
                    suspended += 1;
                    let stored = SuspendedRun::from_json(stored.as_json());
                    end = agent.resume(&stored).expect("its own").result().await.expect("it lives");
                }
            }
        };
        assert_eq!(result.final_answer.as_deref(), Some("all done"), "after {turns}");
        let said = told(&result).join("\n");
        assert_eq!(said.matches(r#""answer":"done""#).count(), 3, "after {turns}: {said}");
        oracle::assert_paired(&result);
        drop(run);
        assert_nothing_lives(&format!("suspended after {turns}")).await;
    }
    assert!(suspended > 40, "only {suspended} were suspended");
}

/// A parent whose two children use a tool, one of which asks first.
fn asking() -> (FakeModel, FakeModel, FakeModel) {
    let careful = FakeModel::new([call("d", "delete"), ModelStep::text("deleted")]);
    let quick = FakeModel::new([ModelStep::text("quick").delay(ms(50))]);
    let model =
        FakeModel::new([batch("c1", &["careful", "quick"], false), ModelStep::text("done")]);
    (model, careful, quick)
}

fn asking_agent(models: &(FakeModel, FakeModel, FakeModel), world: &Arc<World>) -> Agent {
    let delete = Probe::new(world, "delete", Deed::Works(ms(5)));
    agent(&models.0)
        .tool(delete)
        .policy(ToolPolicy::ask_for_effects())
        .sub_agent(sub_agent("careful", &models.1))
        .sub_agent(sub_agent("quick", &models.2))
        .build()
        .expect("an agent")
}

#[tokio::test(start_paused = true)]
async fn the_question_of_a_child_is_answered_through_its_parent() {
    let world = Arc::default();
    let (run, mut events) = start(&asking_agent(&asking(), &world));
    let Event::ApprovalRequested { request_id, .. } =
        until(&mut events, "approval_requested").await
    else {
        panic!("a question")
    };
    assert!(request_id.starts_with("run-"), "{request_id}");
    run.approve(&request_id).await.expect("it is asked");
    let again = run.approve(&request_id).await;
    assert!(matches!(again, Err(ControlError::Refused(Refused::AlreadyDecided { .. }))));
    let unknown = run.approve("run-5-999").await;
    assert!(matches!(unknown, Err(ControlError::Refused(Refused::UnknownApproval { .. }))));
    assert_eq!(finish(&run).await.status, RunStatus::Completed);
    assert_eq!(world.applied("d"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_suspended_parent_goes_on_in_a_fresh_agent_with_its_children() {
    let (world, models) = (Arc::default(), asking());
    let (run, mut events) = start(&asking_agent(&models, &world));
    until(&mut events, "approval_requested").await;
    let stored = run.suspend().await.expect("it lives").suspended().expect("it waits");
    let stored = SuspendedRun::from_json(stored.as_json());
    assert_eq!(world.applied("d"), 0);
    drop(run);
    assert_nothing_lives("while it is suspended").await;

    let fresh = asking_agent(&models, &world);
    let questions = stored.pending_approvals(&fresh).expect("its own");
    assert_eq!(questions.len(), 1);
    assert_eq!(&*questions[0].preview, "delete {}");
    let run = fresh.resume(&stored).expect("its own");
    run.approve(&questions[0].request_id).await.expect("it is asked");
    let result = finish(&run).await;
    assert_eq!(result.final_answer.as_deref(), Some("done"));
    assert_eq!(world.applied("d"), 1);
    let said = told(&result).join("\n");
    assert!(said.contains("deleted") && said.contains("quick"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn a_suspended_parent_that_is_cancelled_takes_its_children_along() {
    let careful = FakeModel::new([call("d", "delete")]);
    let model = FakeModel::new([batch("c1", &["careful"], false)]);
    let agent = asking_agent(&(model, careful, FakeModel::new([])), &Arc::default());
    let (run, mut events) = start(&agent);
    until(&mut events, "approval_requested").await;
    let stored = run.suspend().await.expect("it lives").suspended().expect("it waits");
    let result = agent.cancel_suspended(&stored).await.expect("its own");
    assert_eq!(result.status, RunStatus::Cancelled);
    oracle::assert_paired(&result);
}

#[tokio::test(start_paused = true)]
async fn a_child_may_do_nothing_that_its_parent_may_not() {
    let world = Arc::default();
    let child = FakeModel::new([call("d", "delete"), ModelStep::text("it was denied")]);
    let lax = ToolPolicy::default().with_rule("delete", Ruling::Allow);
    let delete = Probe::new(&world, "delete", Deed::Works(ms(5)));
    let free = agent(&child).tool(delete).policy(lax).build().expect("an agent");
    let model = FakeModel::new([order("c1", "free", false), ModelStep::text("done")]);
    let strict = ToolPolicy {
        workspace_write: Ruling::Deny { reason: "not here".to_owned() },
        ..ToolPolicy::default()
    };
    let agent = agent(&model)
        .policy(strict)
        .sub_agent(SubAgent::from_agent("free", "does what it likes", free))
        .build()
        .expect("an agent");
    let result = agent.run(Task::new("do it")).await;
    assert_eq!(result.status, RunStatus::Completed);
    assert_eq!(world.applied("d"), 0);
}

#[tokio::test(start_paused = true)]
async fn cancelling_a_child_leaves_its_parent_as_it_is() {
    let child = FakeModel::new([ModelStep::stall()]);
    let model = FakeModel::new([order("c1", "child", false), ModelStep::text("so be it")]);
    let agent = agent(&model).sub_agent(sub_agent("child", &child)).build().expect("an agent");
    let (run, mut events) = start(&agent);
    until(&mut events, "sub_run_started").await;
    until(&mut events, "cycle_started").await;
    let child = run.sub_task("task-1").expect("it is at work");
    assert_eq!(run.sub_tasks()[0].state, SubTaskState::AtWork);
    assert!(run.sub_task("task-2").is_none());
    child.cancel().await.expect("it lives");
    let result = finish(&run).await;
    assert_eq!(result.final_answer.as_deref(), Some("so be it"));
    assert_eq!(run.sub_tasks()[0].state, SubTaskState::Ended(RunStatus::Cancelled));
}

#[tokio::test(start_paused = true)]
async fn a_child_is_steered_by_its_parents_model_and_by_its_handle() {
    let child = FakeModel::new([
        ModelStep::text("first").delay(ms(100)),
        ModelStep::text("second").delay(ms(100)),
    ]);
    let steering = json!({ "task_id": "task-1", "message": "faster" });
    let model = FakeModel::new([
        order("c1", "child", true),
        ModelStep::tool_call("c2", "steer_sub_task", steering),
        ModelStep::text("I wait."),
        ModelStep::text("done"),
    ]);
    let agent = agent(&model).sub_agent(sub_agent("child", &child)).build().expect("an agent");
    let (run, mut events) = start(&agent);
    until(&mut events, "sub_run_started").await;
    tokio::time::sleep(ms(20)).await;
    let below = run.sub_task("task-1").expect("it is at work");
    let receipt = below.steer("and better").await.expect("it is heard");
    let result = finish(&run).await;
    assert!(told(&result).join("\n").contains(r#""answer":"second""#));
    receipt.outcome().await.expect("it was applied");
    let below = finish(&below).await;
    let said = told(&below);
    assert_eq!((&*said[1], &*said[3]), ("user: faster", "user: and better"));
}

#[tokio::test(start_paused = true)]
async fn a_child_goes_on_with_what_it_knows() {
    let question = ModelStep::tool_call("q", "ask_user", json!({ "question": "which one?" }));
    let child = FakeModel::new([question, ModelStep::text("the red one")]);
    let more = json!({ "task_id": "task-1", "message": "red" });
    let model = FakeModel::new([
        order("c1", "child", false),
        ModelStep::tool_call("c2", "continue_sub_task", more),
        ModelStep::text("done"),
    ]);
    let agent = agent(&model).sub_agent(sub_agent("child", &child)).build();
    let (run, _events) = start(&agent.expect("an agent"));
    let result = finish(&run).await;
    let said = told(&result);
    assert!(said[2].contains("sub_task_wait_user"), "{said:?}");
    assert!(said[2].contains("which one?"), "{said:?}");
    assert!(said[4].contains("the red one"), "{said:?}");
    let below = finish(&run.sub_task("task-1").expect("it is known")).await;
    let below = told(&below);
    assert_eq!((&*below[0], &*below[1], &*below[3]), ("user: do it", "call ask_user", "user: red"));
}

/// An agent that has another below it, and so on, each of which gives its task on.
fn tower(depth: u32) -> SubAgent {
    let steps = match depth {
        1 => vec![ModelStep::text("from the bottom")],
        depth if depth % 2 == 1 => vec![order("c", "below", false), ModelStep::text("ok")],
        _ => {
            vec![order("c", "below", true), ModelStep::text("ok"), ModelStep::text("ok")]
        }
    };
    let floor = sub_agent("below", &FakeModel::new(steps));
    if depth > 1 { floor.sub_agent(tower(depth - 1)) } else { floor }
}

#[tokio::test(start_paused = true)]
async fn a_deep_tree_comes_to_its_end() {
    let model = FakeModel::new([order("c", "below", false), ModelStep::text("from the top")]);
    let agent = limited(agent(&model).sub_agent(tower(5)), 5).build().expect("an agent");
    let (run, mut events) = start(&agent);
    let events = all(&mut events).await;
    let result = finish(&run).await;
    assert_eq!(result.final_answer.as_deref(), Some("from the top"));
    assert_told_whole(&events, &result);
    let runs: std::collections::BTreeSet<_> =
        events.iter().map(|event| &event.identity.run_id).collect();
    assert_eq!(runs.len(), 6);
    assert_nothing_lives("after a deep tree").await;
}

#[tokio::test(start_paused = true)]
async fn a_deep_tree_is_suspended_and_goes_on() {
    let model = FakeModel::new([order("c", "below", false), ModelStep::text("from the top")]);
    let agent = limited(agent(&model).sub_agent(deep_stall(5)), 5).build().expect("an agent");
    let (run, mut events) = start(&agent);
    while until(&mut events, "approval_requested").await.name() != "approval_requested" {}
    let began = Instant::now();
    let stored = run.suspend().await.expect("it lives").suspended().expect("it waits");
    assert!(began.elapsed() <= ms(5_000), "it took {:?}", began.elapsed());
    let questions = stored.pending_approvals(&agent).expect("its own");
    let run = agent.resume(&stored).expect("its own");
    run.approve(&questions[0].request_id).await.expect("it is asked");
    assert_eq!(finish(&run).await.final_answer.as_deref(), Some("from the top"));
}

/// A tower at whose bottom something is asked.
fn deep_stall(depth: u32) -> SubAgent {
    if depth == 1 {
        let model = FakeModel::new([call("d", "delete"), ModelStep::text("deleted")]);
        let delete = Probe::new(&Arc::default(), "delete", Deed::Works(ms(5)));
        let policy = ToolPolicy::ask_for_effects();
        return sub_agent("below", &model).tool(delete).policy(policy);
    }
    let model = FakeModel::new([order("c", "below", false), ModelStep::text("ok")]);
    sub_agent("below", &model).sub_agent(deep_stall(depth - 1))
}

/// Most children that a run has here.
const CROWD: usize = 256;

async fn a_crowd(cycles: u32) -> (Arc<RunResult>, Vec<Arc<RunEvent>>) {
    let child = Arc::new(CountingModel::new(cycles));
    let model = FakeModel::new([
        batch("c1", &["child"; CROWD], true),
        ModelStep::text("I wait."),
        ModelStep::text("all done"),
    ]);
    let work = Always::new("work");
    let limits = DelegationLimits { max_depth: 1, max_running: CROWD, max_total: CROWD };
    let agent = agent_of(Arc::new(model))
        .tool(work)
        .sub_agent(SubAgent::new("child", "works").model(child, FakeModel::MODEL))
        .sub_task_limits(limits)
        .build()
        .expect("an agent");
    let (run, _) = start(&agent);
    let mut events = run.events(WatchOptions { deltas: false, capacity: 1 << 16 });
    let watched = all(&mut events).await;
    (finish(&run).await, watched)
}

#[tokio::test(start_paused = true)]
async fn many_children_in_the_background_starve_nobody() {
    let (result, events) = a_crowd(5).await;
    assert_eq!(result.final_answer.as_deref(), Some("all done"));
    let mut first = BTreeMap::new();
    let mut sequences = BTreeMap::<_, u64>::new();
    for (place, event) in events.iter().enumerate() {
        let sequence = sequences.entry(&event.identity.run_id).or_default();
        if event.identity.parent_run_id.is_some() {
            assert_eq!(event.sequence, *sequence + 1, "out of order");
        }
        *sequence = event.sequence;
        if event.event.name() == "run_completed" {
            first.entry(&event.identity.run_id).or_insert(place);
        }
    }
    assert_eq!(first.len(), CROWD + 1);
    // No child ends before all have begun their second cycle: none is left behind.
    let ended = *first.values().min().expect("an end");
    let begun: std::collections::BTreeSet<_> = events[..ended]
        .iter()
        .filter(|event| event.event.name() == "cycle_started" && event.cycle >= Some(2))
        .map(|event| &event.identity.run_id)
        .collect();
    assert!(begun.len() >= CROWD * 9 / 10, "only {} were under way", begun.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_children_on_threads_come_to_their_end() {
    let ended = tokio::time::timeout(Duration::from_secs(60), a_crowd(5)).await;
    let (result, _) = ended.expect("they are held up");
    assert_eq!(result.status, RunStatus::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_slow_watcher_of_a_parent_learns_how_much_it_missed() {
    let child = FakeModel::new([ModelStep::text("done")]);
    let model = FakeModel::new([order("c1", "child", false), ModelStep::text("done")]);
    let agent = agent(&model).sub_agent(sub_agent("child", &child)).build().expect("an agent");
    let (run, _) = start(&agent);
    let mut events = run.events(WatchOptions { deltas: false, capacity: 2 });
    let result = finish(&run).await;
    assert_eq!(result.status, RunStatus::Completed);
    let (mut told, mut missed) = (Vec::new(), 0);
    while let Some(watched) = events.next().await {
        match watched {
            Watched::Event(event) => told.push(event.event.name()),
            Watched::Missed(count) => missed += count,
        }
    }
    assert_eq!(told, ["cycle_llm_response", "run_completed"]);
    assert_eq!(missed, 13);
}

#[tokio::test(start_paused = true)]
async fn the_pieces_of_a_childs_answer_reach_those_who_want_them() {
    let child = FakeModel::new([ModelStep::text("done").in_pieces(2)]);
    let model = FakeModel::new([order("c1", "child", false), ModelStep::text("over")]);
    let agent = agent(&model).sub_agent(sub_agent("child", &child)).build().expect("an agent");
    let (_run, mut events) =
        agent.watch(Task::new("do it"), RunOptions::default().run_id("run").with_deltas());
    let events = all(&mut events).await;
    let pieces = events.iter().filter(|event| event.event.is_delta());
    let of_child = pieces.filter(|event| &*event.identity.agent_name == "child");
    assert_eq!(of_child.count(), 2);
}

/// What an agent refuses to be built with.
#[test]
fn sub_agents_need_names_of_their_own() {
    let model = FakeModel::new([]);
    let named = |name: &str| SubAgent::new(name, "works");
    let twice = agent(&model).sub_agent(named("a")).sub_agent(named("a")).build();
    assert!(twice.expect_err("two of one name").to_string().contains("two sub-agents"));
    let blank = agent(&model).sub_agent(named(" ")).build();
    assert!(blank.is_err());
    let taken = Always::new("wait_sub_tasks");
    let taken = agent(&model).tool(taken).sub_agent(named("a").tools([])).build();
    assert!(taken.expect_err("a name that is taken").to_string().contains("wait_sub_tasks"));
}

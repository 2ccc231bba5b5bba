//! An approval releases the call that was shown, once, in its time, and nothing else.

use std::sync::Arc;

use async_trait::async_trait;
use in_memory_fakes::{FakeModel, FakeTool, ModelStep, ToolStep};
use runtime_kernel::engine::{
    Agent, AgentBuilder, Call, CallEdits, CallbackError, ControlError, Event, EventStream, Hook,
    HookContext, HookDeclaration, HookPoint, Refused, RunHandle, RunOptions, SuspendedRun, Task,
    ToolPolicy,
};
use serde_json::{Value, json};

use crate::{
    oracle,
    stage::{agent, finish, ms, start, tool_like, until, writing},
};

/// An agent whose one tool asks, and a model that calls it with these arguments.
fn asking(arguments: &[Value]) -> (AgentBuilder, FakeTool) {
    let calls = arguments.iter().enumerate().fold(ModelStep::empty(), |step, (at, arguments)| {
        step.and_call(format!("c{at}"), "write", arguments.clone())
    });
    let model = FakeModel::new([calls, ModelStep::text("well")]);
    let steps = arguments.iter().map(|_| ToolStep::text("ok"));
    let write = tool_like("write", |it| (it.parallel = true, writing(it)).1, steps);
    write.unchecked();
    (agent(&model).tool(write.clone()).policy(ToolPolicy::ask_for_effects()), write)
}

/// What the tool was called with.
fn ran(write: &FakeTool) -> Vec<Value> {
    write.calls().into_iter().map(|call| call.arguments).collect()
}

/// The next question: its id and what is shown.
async fn asked(events: &mut EventStream) -> (Arc<str>, Arc<str>) {
    match until(events, "approval_requested").await {
        Event::ApprovalRequested { request_id, preview, .. } => (request_id, preview),
        other => panic!("{other:?}"),
    }
}

fn code(result: &runtime_kernel::engine::RunResult, call: &str) -> Option<String> {
    oracle::records(result)[call].error_code.as_deref().map(str::to_owned)
}

async fn refused(run: &RunHandle, request_id: &str) -> Refused {
    match run.approve(request_id).await {
        Err(ControlError::Refused(refused)) => refused,
        other => panic!("{request_id}: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn an_approval_of_one_call_does_not_run_another() {
    let (builder, write) = asking(&[json!({ "path": "a" }), json!({ "path": "b" })]);
    let (run, mut events) = start(&builder.build().expect("an agent"));
    let (first, _) = asked(&mut events).await;
    let (second, _) = asked(&mut events).await;
    run.approve(&first).await.expect("it is open");
    run.deny(&second, "not this").await.expect("it is open");
    let result = finish(&run).await;
    assert_eq!(ran(&write), [json!({ "path": "a" })]);
    assert_eq!(code(&result, "c1").as_deref(), Some("approval_denied"));
}

#[tokio::test(start_paused = true)]
async fn an_approval_counts_once() {
    let (builder, write) = asking(&[json!({ "path": "a" }), json!({ "path": "a" })]);
    let (run, mut events) = start(&builder.build().expect("an agent"));
    let (first, _) = asked(&mut events).await;
    run.approve(&first).await.expect("it is open");
    assert!(matches!(refused(&run, &first).await, Refused::AlreadyDecided { .. }));
    let (second, _) = asked(&mut events).await;
    assert_ne!(first, second);
    run.deny(&second, "once is enough").await.expect("it is open");
    finish(&run).await;
    assert_eq!(ran(&write).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_approval_of_another_run_is_unknown() {
    let (builder, write) = asking(&[json!({ "path": "a" })]);
    let (run, mut events) = start(&builder.build().expect("an agent"));
    let (mine, _) = asked(&mut events).await;
    let number = mine.strip_prefix("run-").expect("the run's own");
    for prefix in ["other-", "run-1-", "run-0", "run-+", "RUN-", "run", ""] {
        let bait = format!("{prefix}{number}");
        let refused = refused(&run, &bait).await;
        assert!(matches!(refused, Refused::UnknownApproval { .. }), "{bait}: {refused:?}");
    }
    assert_eq!(ran(&write).len(), 0);
    run.deny(&mine, "no").await.expect("it is still open");
    finish(&run).await;
}

async fn suspended(agent: &Agent) -> SuspendedRun {
    let (run, mut events) = start(agent);
    asked(&mut events).await;
    run.suspend().await.expect("an end").suspended().expect("it waits")
}

#[tokio::test(start_paused = true)]
async fn an_approval_that_comes_too_late_runs_nothing() {
    let (builder, write) = asking(&[json!({ "path": "a" })]);
    let builder = builder.approval_lifetime(ms(5_000)).approval_timeout(ms(60_000));
    let agent = builder.build().expect("an agent");
    let stored = suspended(&agent).await;
    tokio::time::sleep(ms(5_000)).await;
    let question = stored.pending_approvals(&agent).expect("a stored run")[0].clone();
    let run = agent.resume(&stored).expect("the same agent");
    run.approve(&question.request_id).await.expect_err("it lapsed");
    let result = finish(&run).await;
    assert_eq!(code(&result, "c0").as_deref(), Some("approval_timeout"));
    assert_eq!(ran(&write).len(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_approval_does_not_run_arguments_that_were_put_in_its_place() {
    let (builder, write) = asking(&[json!({ "path": "notes.md" })]);
    let agent = builder.build().expect("an agent");
    let stored = suspended(&agent).await;
    let text = String::from_utf8(stored.as_json().to_vec()).expect("JSON is text");
    let tampered = text.replace("notes.md", "passwd");
    assert_ne!(text, tampered);
    let tampered = SuspendedRun::from_json(tampered.as_bytes());
    // Refused when it is loaded, or when the call would run.
    if let Ok(run) = agent.resume(&tampered) {
        let question = tampered.pending_approvals(&agent).expect("a stored run")[0].clone();
        run.approve(&question.request_id).await.expect("it is open");
        let result = finish(&run).await;
        assert_eq!(code(&result, "c0").as_deref(), Some("approval_denied"));
    }
    assert_eq!(ran(&write).len(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_is_shown_is_the_whole_call_without_anything_that_hides_it() {
    let hidden = format!("a{}\u{1b}[2J\u{1b}[8m\r\n; rm -rf /", " ".repeat(10_000));
    let (builder, write) = asking(&[json!({ "path": hidden })]);
    let (run, mut events) = start(&builder.build().expect("an agent"));
    let (question, shown) = asked(&mut events).await;
    assert!(shown.contains("; rm -rf /"), "the tail is not shown");
    assert!(!shown.chars().any(char::is_control), "something hides a part");
    run.approve(&question).await.expect("it is open");
    finish(&run).await;
    assert_eq!(ran(&write), [json!({ "path": hidden })]);
}

/// Puts another path into each call before it is looked at.
struct Swap;

#[async_trait]
impl Hook for Swap {
    fn declaration(&self) -> HookDeclaration {
        let points = vec![HookPoint::BeforeToolCall];
        HookDeclaration { name: "swap".into(), points, repeatable: true }
    }

    async fn before_tool_call(
        &self,
        _: &HookContext,
        call: &Call,
    ) -> Result<CallEdits, CallbackError> {
        let call = Call { arguments: Arc::new(json!({ "path": "b" })), ..call.clone() };
        Ok(CallEdits { call: Some(call), result: None })
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_shown_is_what_hooks_left_and_what_runs() {
    let (builder, write) = asking(&[json!({ "path": "a" })]);
    let agent = builder.hook(Swap).build().expect("an agent");
    let (run, mut events) = agent.watch(Task::new("do it"), RunOptions::default());
    let (question, shown) = asked(&mut events).await;
    assert_eq!(&*shown, r#"write {"path":"b"}"#);
    run.approve(&question).await.expect("it is open");
    finish(&run).await;
    assert_eq!(ran(&write), [json!({ "path": "b" })]);
}

//! What is kept of the model calls of a run, before they are sent and when they have ended.

use std::{
    fmt::Write as _,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use in_memory_fakes::{
    AuditCall, FakeArtifacts, FakeContextAudit, FakeModel, FakeSessions, Fault, FaultPlan,
    ModelStep, ToolStep,
};
use runtime_kernel::engine::{
    AgentBuilder, CallbackError, Edit, Hook, HookContext, HookDeclaration, HookPoint, RequestEdits,
    RunResult, RunStatus,
};
use runtime_ports::{
    CommitDisposition, ContextAuditDerivation, ContextAuditSession, ContextAuditSnapshot,
    ContextAuditStage, ContextSegmentKind, ModelInvocationAudit,
    ModelInvocationAuditState as State, ModelMessage, ModelRole, OperationContext, PortFailure,
    PortFailureKind, SegmentChange, ToolSet, Transcript,
};
use tokio::time::Instant;

use crate::stage::{agent, agent_of, call, finish, ms, start, told, tool, until};

/// Whispers something into the middle of every request.
struct Whisper;

#[async_trait]
impl Hook for Whisper {
    fn declaration(&self) -> HookDeclaration {
        let points = vec![HookPoint::BeforeLlm];
        HookDeclaration { name: "whisper".into(), points, repeatable: true }
    }

    async fn before_llm(
        &self,
        _: &HookContext,
        _: &Transcript,
        _: &ToolSet,
    ) -> Result<RequestEdits, CallbackError> {
        let item = ModelMessage::text(ModelRole::User, "be brief");
        Ok(RequestEdits { messages: vec![Edit::Insert { at: 1, item }], ..RequestEdits::default() })
    }
}

/// What was kept, in order, one line each.
fn trail(audit: &FakeContextAudit) -> String {
    let mut lines = String::new();
    for call in audit.calls() {
        let line = match call {
            AuditCall::Snapshot(it) => snapshot_line(&it),
            AuditCall::Derivation(it) => format!(
                "{} {:?} {} {} -> {} {}",
                it.id,
                it.kind,
                it.source_snapshot_id,
                it.input_items,
                it.target_snapshot_id,
                it.output_items
            ),
            AuditCall::Invocation(it) => {
                let error = it.error_code.map(|code| format!(" {code}")).unwrap_or_default();
                let tokens = it.usage.input_tokens;
                format!("{} {:?} {} {tokens:?}{error}", it.id, it.state, it.request_snapshot_id)
            }
        };
        lines.push_str(&line);
        lines.push('\n');
    }
    lines
}

fn snapshot_line(it: &ContextAuditSnapshot) -> String {
    let mut line = format!("{} {} {} messages", it.id, it.purpose, it.messages.len());
    for segment in &it.segments {
        let _ = write!(line, " | {:?} {} {:?}", segment.kind, segment.items, segment.change);
    }
    it.compared_with.iter().for_each(|before| {
        let _ = write!(line, " | after {before}");
    });
    line
}

fn audited(model: &FakeModel, audit: &FakeContextAudit) -> AgentBuilder {
    agent(model).context_audit(Arc::new(audit.clone()))
}

#[tokio::test(start_paused = true)]
async fn the_trail_of_a_run_with_a_tool_and_a_hook() {
    let steps = [call("c1", "look").usage(20, 1), ModelStep::text("Two.").usage(30, 1)];
    let (model, audit) = (FakeModel::new(steps), FakeContextAudit::new());
    let builder = audited(&model, &audit).instructions("Help.").without_ask_user();
    let look = tool("look", [ToolStep::text("a, b")]);
    let agent = builder.tool(look).hook(Whisper).build().expect("an agent");
    assert_eq!(finish(&start(&agent).0).await.status, RunStatus::Completed);
    let expected = "\
run-3.original cycle 2 messages
run-3.assembled Assemble run-3.original 2 -> run-3.assembled 3
run-3.assembled cycle 3 messages | Tools 1 First | Options 1 First | Instructions 1 First | New 2 First
run-3 Prepared run-3.assembled None
run-3 Succeeded run-3.assembled Some(20)
run-8.original cycle 4 messages
run-8.assembled Assemble run-8.original 4 -> run-8.assembled 5
run-8.assembled cycle 5 messages | Tools 1 Unchanged | Options 1 Unchanged | Instructions 1 Unchanged | History 2 Unchanged | New 2 Appended | after run-3.assembled
run-8 Prepared run-8.assembled None
run-8 Succeeded run-8.assembled Some(30)
";
    let told = trail(&audit);
    assert!(told == expected, "{told}");
}

#[tokio::test(start_paused = true)]
async fn what_is_kept_is_what_was_sent() {
    let steps = (0..20).map(|at| call(&format!("c{at}"), "look")).chain([ModelStep::text("Two.")]);
    let (model, audit) = (FakeModel::new(steps), FakeContextAudit::new());
    let look = tool("look", (0..20).map(|at| ToolStep::text(format!("{at} files"))));
    let builder = audited(&model, &audit).instructions("Help.").max_output_tokens(77).tool(look);
    let agent = builder.hook(Whisper).max_cycles(30).build().expect("an agent");
    let result = finish(&start(&agent).0).await;
    assert_eq!(result.status, RunStatus::Completed);
    let (snapshots, requests) = (audit.snapshots(), model.requests());
    assert_eq!((requests.len(), audit.invocations().len()), (21, 21));
    for request in &requests {
        let kept = &audit.invocations()[&*request.invocation_id];
        assert_eq!((kept.state, &*kept.model), (State::Succeeded, &*request.model));
        let sent = &snapshots[&kept.request_snapshot_id];
        assert_eq!(sent.request_digest, request.digest().to_string());
        assert_eq!((&sent.messages, &sent.tools), (&request.messages, &request.tools));
        assert_eq!((sent.stage, sent.reserved_output_tokens), (ContextAuditStage::Assembled, 77));
        let original = &snapshots[&format!("{}.original", request.invocation_id)];
        assert_eq!(original.messages, result.history.prefix(original.messages.len()));
        assert_ne!(original.request_digest, sent.request_digest);
    }
    // Every message once: the history but the last answer, and what was whispered.
    assert_eq!(audit.message_count(), result.history.len() - 1 + 1);
}

/// Runs two cycles with an audit of such faults.
async fn with_faults(plan: FaultPlan) -> (FakeModel, FakeContextAudit, Arc<RunResult>) {
    let model = FakeModel::new([call("c1", "look"), ModelStep::text("Two.")]);
    model.unchecked();
    let audit = FakeContextAudit::new().with_faults(&plan);
    let look = tool("look", [ToolStep::text("a, b")]);
    look.unchecked();
    let agent = audited(&model, &audit).tool(look).build().expect("an agent");
    let result = finish(&start(&agent).0).await;
    (model, audit, result)
}

fn full() -> PortFailure {
    PortFailure::rejected(PortFailureKind::Unavailable, "DISK_FULL", "no space is left")
}

fn failure_of(result: &RunResult) -> (&str, CommitDisposition) {
    let error = result.error.as_ref().expect("it failed");
    (&error.code, error.failure.as_ref().expect("of a port").commit)
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_kept_is_not_sent() {
    for (call, nth, sent) in [
        ("context_audit.snapshot", 1, 0),
        ("context_audit.snapshot", 2, 0),
        ("context_audit.derivation", 1, 0),
        ("context_audit.model_invocation", 1, 0),
        ("context_audit.snapshot", 4, 1),
        ("context_audit.model_invocation", 3, 1),
    ] {
        for fault in [Fault::from(full()), Fault::Stall] {
            let start = Instant::now();
            let (model, audit, result) =
                with_faults(FaultPlan::new().before(call, nth, fault)).await;
            assert_eq!(result.status, RunStatus::Failed, "{call} {nth}");
            let expected = ("context_audit_failed", CommitDisposition::NotCommitted);
            assert_eq!(failure_of(&result), expected, "{call} {nth}");
            assert_eq!(model.requests().len(), sent, "{call} {nth}");
            assert_eq!(result.ledger.attempts().count(), sent, "{call} {nth}");
            let ended = audit.invocations().into_values();
            assert_eq!(ended.filter(|it| it.state != State::Prepared).count(), sent);
            assert!(start.elapsed() <= ms(5 * 60_000), "the time of a callback");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_whose_audit_failed_counts_and_the_run_fails_as_committed() {
    let plan = FaultPlan::new().before("context_audit.model_invocation", 2, full());
    let (model, audit, result) = with_faults(plan).await;
    assert_eq!(failure_of(&result), ("context_audit_failed", CommitDisposition::Committed));
    assert_eq!(model.requests().len(), 1);
    assert_eq!(result.ledger.attempts().count(), 1);
    let told = told(&result);
    assert_eq!(told[..2], ["user: do it", "call look"]);
    assert!(told[2].starts_with("result "), "the call is told that it was not run: {told:?}");
    let states: Vec<_> = audit.invocations().into_values().map(|it| it.state).collect();
    assert_eq!(states, [State::Prepared], "what became of it is told by nobody");
}

#[tokio::test(start_paused = true)]
async fn a_failed_model_call_has_an_end_and_its_audit_changes_nothing_of_what_it_did() {
    let broke = || {
        let kind = PortFailureKind::Unavailable;
        PortFailure::in_flight_unknown(kind, "SERVER_ERROR", "it broke")
    };
    for (plan, code) in [
        (FaultPlan::new(), "model_failed"),
        (
            FaultPlan::new().before("context_audit.model_invocation", 2, full()),
            "context_audit_failed",
        ),
    ] {
        let model = FakeModel::new([ModelStep::fail(broke())]);
        let audit = FakeContextAudit::new().with_faults(&plan);
        let agent = audited(&model, &audit).build().expect("an agent");
        let result = finish(&start(&agent).0).await;
        assert_eq!(failure_of(&result), (code, CommitDisposition::Unknown));
        assert_eq!(result.ledger.attempts().count(), 1);
        let kept = audit.invocations().into_values().next().expect("one");
        match code {
            "model_failed" => assert_eq!(kept.error_code.as_deref(), Some("SERVER_ERROR")),
            _ => assert_eq!(kept.state, State::Prepared),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_has_an_end() {
    let model = FakeModel::new([ModelStep::stall()]);
    let audit = FakeContextAudit::new();
    let agent = audited(&model, &audit).build().expect("an agent");
    let (run, mut events) = start(&agent);
    until(&mut events, "cycle_started").await;
    tokio::time::sleep(ms(50)).await;
    run.cancel().await.expect("it lives");
    assert_eq!(finish(&run).await.status, RunStatus::Cancelled);
    let kept = audit.invocations().into_values().next().expect("one");
    assert_eq!((kept.state, kept.error_code.as_deref()), (State::Failed, Some("CANCELED")));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_made_again_after_a_suspension_is_another_invocation() {
    let model = FakeModel::new([ModelStep::stall(), ModelStep::text("Two.")]);
    let audit = FakeContextAudit::new();
    let agent = audited(&model, &audit).build().expect("an agent");
    let (run, mut events) = start(&agent);
    until(&mut events, "cycle_started").await;
    tokio::time::sleep(ms(50)).await;
    let stored = run.suspend().await.expect("it lives").suspended().expect("it rests");
    let result = finish(&agent.resume(&stored).expect("it is whole")).await;
    assert_eq!(result.status, RunStatus::Completed);
    let states: Vec<_> = audit.invocations().into_values().map(|it| it.state).collect();
    assert_eq!(states, [State::Failed, State::Succeeded]);
    let last = audit.snapshots().into_values().rfind(|it| !it.segments.is_empty());
    let last = last.expect("the second request");
    assert_eq!(last.compared_with, None, "what was sent before is not in the stored run");
    assert!(last.segments.iter().all(|it| it.change == SegmentChange::First));
}

/// An audit that panics at its first word, and one that is slow.
struct Odd {
    panics: bool,
    seen: Mutex<usize>,
}

#[async_trait]
impl ContextAuditSession for Odd {
    async fn snapshot(
        &self,
        _: &OperationContext,
        _: ContextAuditSnapshot,
    ) -> Result<(), PortFailure> {
        assert!(!self.panics, "an audit that breaks down");
        tokio::time::sleep(ms(100)).await;
        *self.seen.lock().expect("one at a time") += 1;
        Ok(())
    }

    async fn derivation(
        &self,
        _: &OperationContext,
        _: ContextAuditDerivation,
    ) -> Result<(), PortFailure> {
        Ok(())
    }

    async fn model_invocation(
        &self,
        _: &OperationContext,
        _: ModelInvocationAudit,
    ) -> Result<(), PortFailure> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn an_audit_that_breaks_down_is_one_that_failed() {
    let model = FakeModel::new([]);
    let odd = Arc::new(Odd { panics: true, seen: Mutex::default() });
    let agent = agent_of(Arc::new(model.clone())).context_audit(odd).build().expect("an agent");
    let result = finish(&start(&agent).0).await;
    let expected = ("context_audit_failed", CommitDisposition::NotCommitted);
    assert_eq!(failure_of(&result), expected);
}

#[tokio::test(start_paused = true)]
async fn a_slow_audit_is_waited_for() {
    let model = FakeModel::new([ModelStep::text("Two.")]);
    let odd = Arc::new(Odd { panics: false, seen: Mutex::default() });
    let builder = agent_of(Arc::new(model.clone())).context_audit(odd.clone());
    let begun = Instant::now();
    let result = finish(&start(&builder.build().expect("an agent")).0).await;
    assert_eq!(result.status, RunStatus::Completed);
    assert_eq!((*odd.seen.lock().expect("free"), begun.elapsed()), (2, ms(200)));
}

#[tokio::test(start_paused = true)]
async fn contexts_share_their_messages_and_only_what_is_new_is_told_as_new() {
    const CYCLES: usize = 60;
    let steps = (0..CYCLES).map(|at| call(&format!("c{at}"), "look"));
    let model = FakeModel::new(steps.chain([ModelStep::text("Two.")]));
    let audit = FakeContextAudit::new();
    let look = tool("look", (0..CYCLES).map(|at| ToolStep::text(format!("{at} files"))));
    let builder = audited(&model, &audit).instructions("Help.").tool(look).max_cycles(99);
    finish(&start(&builder.build().expect("an agent")).0).await;
    let mut before: Option<ContextAuditSnapshot> = None;
    for call in audit.calls() {
        let AuditCall::Snapshot(now) = call else { continue };
        if let Some(before) = before.replace(now.clone()) {
            let mut pairs = before.messages.entries().zip(now.messages.entries());
            assert!(pairs.all(|(one, other)| Arc::ptr_eq(one, other)));
        }
        let mut new = now.segments.iter().filter(|it| it.kind == ContextSegmentKind::New);
        assert!(new.all(|it| it.items <= 2), "{:?}", now.segments);
    }
}

#[tokio::test(start_paused = true)]
async fn the_sessions_of_an_execution_bring_their_audit() {
    let model = FakeModel::new([ModelStep::text("Two.")]);
    let sessions = FakeSessions::default();
    let builder = agent(&model).sessions(&sessions.ports(), Arc::new(FakeArtifacts::new()));
    finish(&start(&builder.build().expect("an agent")).0).await;
    assert_eq!(sessions.context_audit.invocations().len(), 1);
}

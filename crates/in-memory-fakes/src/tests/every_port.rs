//! Decides whether every call of every fake refuses an ended operation before doing anything, and
//! meets the faults that are planned for it before and after its effect.

use std::{pin::Pin, sync::Arc, time::Duration};

use runtime_ports::*;
use runtime_types::{CallerScope, CredentialHandle, OperationId, RequestAuthority, SubjectId};
use serde_json::json;
use uuid::Uuid;

use super::{cancelled, context, late, opened, operation, outage, run, transcript};
use crate::*;

type Outcome = Result<(), PortFailure>;
type Call = Box<dyn Fn(OperationContext) -> Pin<Box<dyn Future<Output = Outcome>>>>;

/// One call of one fake: its name for the plan, the call, and how often the fake was asked.
struct Case {
    name: &'static str,
    call: Call,
    asked: Box<dyn Fn() -> usize>,
}

/// A case for `$fake`, which joins the plan here: what was called before does not count.
macro_rules! case {
    ($plan:expr, $name:literal, $fake:expr, |$it:ident, $op:ident| $call:expr) => {{
        let fake = $fake.with_faults($plan);
        let watched = fake.clone();
        Case {
            name: $name,
            call: Box::new(move |$op| {
                let $it = fake.clone();
                Box::pin(async move { $call.map(|_| ()) })
            }),
            asked: Box::new(move || watched.calls().len()),
        }
    }};
}

fn model_request() -> ModelRequest {
    ModelRequest {
        invocation_id: "inv".into(),
        model: FakeModel::MODEL.into(),
        messages: transcript("hello"),
        tools: ToolSet::default(),
        max_output_tokens: None,
        options: Arc::default(),
    }
}

fn ada() -> CallerScope {
    CallerScope::of(SubjectId::new("ada").unwrap())
}

fn scope() -> SessionScope {
    let (execution_id, resolved) = (run("run-1"), context("instance"));
    SessionScope { execution_id, conversation_id: None, resolved }
}

fn authority() -> RequestAuthority {
    RequestAuthority { caller: ada(), credential: CredentialHandle::new("key") }
}

fn world() -> ToolWorld {
    ToolWorld {
        workspace: Arc::new(FakeWorkspace::default()),
        interaction: Arc::new(FakeInteraction::unavailable()),
        resources: Arc::new(FakeResources::default()),
        artifacts: Arc::new(FakeArtifacts::new()),
    }
}

fn tool_call() -> ToolInvocation {
    ToolInvocation {
        call_id: "c1".into(),
        idempotency_key: "c1".into(),
        arguments: json!({}),
        shared_state: Arc::default(),
        metadata: Arc::default(),
        cycle: 1,
    }
}

fn meter() -> RequestMeter {
    RequestMeter {
        provider_request_id: None,
        metering: Metering::Unavailable,
        end: TurnEnd::Completed,
        cost_nano_usd: None,
    }
}

fn snapshot() -> ContextAuditSnapshot {
    ContextAuditSnapshot {
        id: "s1".to_owned(),
        stage: ContextAuditStage::Original,
        purpose: "cycle".to_owned(),
        messages: transcript("hello"),
        tools: ToolSet::default(),
        protocol_overhead_tokens: 0,
        reserved_output_tokens: 0,
        estimated_tokens: 0,
        request_digest: "d".to_owned(),
        segments: Vec::new(),
        compared_with: None,
    }
}

fn derivation() -> ContextAuditDerivation {
    ContextAuditDerivation {
        id: "d1".to_owned(),
        source_snapshot_id: "s1".to_owned(),
        target_snapshot_id: "s2".to_owned(),
        kind: ContextDerivationKind::Trim,
        input_tokens: 0,
        output_tokens: 0,
        input_items: 0,
        output_items: 0,
    }
}

fn invocation() -> ModelInvocationAudit {
    ModelInvocationAudit {
        id: "i1".to_owned(),
        request_snapshot_id: "s1".to_owned(),
        model: "m".to_owned(),
        state: ModelInvocationAuditState::Prepared,
        usage: TokenUsage::default(),
        error_code: None,
    }
}

fn question() -> InteractionRequest {
    InteractionRequest::question("q1", "colour?")
}

async fn opened_store() -> FakeReceiptStore {
    let store = FakeReceiptStore::new();
    store.open(&operation("before"), opened(1, 0)).await.unwrap();
    store
}

async fn held_journal() -> FakeJournal {
    let journal = FakeJournal::new();
    let ttl = Duration::from_secs(9);
    journal.acquire(&operation("before"), &run("run-1"), "a", ttl).await.unwrap();
    journal
}

async fn waiting_sessions() -> (FakeSessionFactory, ExecutionDelegationLease) {
    let factory = FakeSessionFactory::new(FakeSessions::default());
    let op = operation("before");
    let lease = factory.establish_delegation(&op, &authority(), &scope()).await.unwrap();
    let ports = factory.create(&op, &ada(), &lease, &scope()).await.unwrap();
    ports.interaction.prepare(&op, question()).await.unwrap();
    (factory, lease)
}

fn agent_cases(plan: &FaultPlan) -> Vec<Case> {
    let subagent = FakeSubagent::new([SubagentStep::answer("4")]);
    let task =
        || SubagentRequest { request_id: "t".into(), prompt: "p".into(), max_model_turns: 1 };
    let instance = || context("instance").runtime_instance_id;
    vec![
        case!(plan, "subagent.execute", subagent, |it, op| { it.execute(&op, task()).await }),
        case!(plan, "tool.invoke", FakeTool::new("t", [ToolStep::text("3")]), |it, op| {
            it.invoke(&op, &world(), tool_call()).await
        }),
        case!(plan, "resources.load", FakeResources::default(), |it, op| { it.load(&op).await }),
        case!(plan, "resolver.resolve", FakeResolver::new([context("instance")]), |it, op| {
            it.resolve(&op, &ada(), &instance()).await
        }),
        case!(plan, "conversation.load_recent", FakeConversation::default(), |it, op| {
            it.load_recent(&op, 1).await
        }),
        case!(plan, "conversation.append", FakeConversation::default(), |it, op| {
            it.append(&op, &[]).await
        }),
    ]
}

fn audit_cases(plan: &FaultPlan) -> Vec<Case> {
    let audit = FakeContextAudit::new;
    vec![
        case!(plan, "context_audit.snapshot", audit(), |it, op| {
            it.snapshot(&op, snapshot()).await
        }),
        case!(plan, "context_audit.derivation", audit(), |it, op| {
            it.derivation(&op, derivation()).await
        }),
        case!(plan, "context_audit.model_invocation", audit(), |it, op| {
            it.model_invocation(&op, invocation()).await
        }),
        case!(plan, "trace.append", FakeTrace::new(), |it, op| {
            it.append(&op, "e", json!(1)).await
        }),
        case!(plan, "trace.read", FakeTrace::new(), |it, op| {
            it.read(&op, &run("run-1"), 0, 1).await
        }),
        case!(plan, "artifacts.put", FakeArtifacts::new(), |it, op| { it.put(&op, b"x").await }),
    ]
}

async fn receipt_cases(plan: &FaultPlan) -> Vec<Case> {
    let turn = Uuid::from_u128(1);
    vec![
        case!(plan, "receipts.open", FakeReceiptStore::new(), |it, op| {
            it.open(&op, opened(1, 0)).await
        }),
        case!(plan, "receipts.note_request", opened_store().await, |it, op| {
            it.note_request(&op, turn, 0, meter()).await
        }),
        case!(plan, "receipts.settle", opened_store().await, |it, op| {
            it.settle(&op, opened(1, 0)).await
        }),
        case!(plan, "receipts.unsettled", FakeReceiptStore::new(), |it, op| {
            it.unsettled(&op).await
        }),
        case!(plan, "receipts.list", FakeReceiptStore::new(), |it, op| {
            it.list(&op, None, 1).await
        }),
        case!(plan, "receipts.totals", FakeReceiptStore::new(), |it, op| {
            it.totals(&op, UtcDay::from_unix_ms(0)).await
        }),
    ]
}

async fn journal_cases(plan: &FaultPlan) -> Vec<Case> {
    let (fence, ttl) = (FencingToken(1), Duration::from_secs(9));
    vec![
        case!(plan, "journal.acquire", FakeJournal::new(), |it, op| {
            it.acquire(&op, &run("run-1"), "a", ttl).await
        }),
        case!(plan, "journal.renew", held_journal().await, |it, op| {
            it.renew(&op, &run("run-1"), fence, ttl).await
        }),
        case!(plan, "journal.release", held_journal().await, |it, op| {
            it.release(&op, &run("run-1"), fence).await
        }),
        case!(plan, "journal.append", held_journal().await, |it, op| {
            it.append(&op, &run("run-1"), fence, 0, &[]).await
        }),
        case!(plan, "journal.read", FakeJournal::new(), |it, op| {
            it.read(&op, &run("run-1"), 0, 1).await
        }),
    ]
}

fn workspace_cases(plan: &FaultPlan) -> Vec<Case> {
    let workspace = || FakeWorkspace::default().with_file("a", "milk");
    let commands = FakeWorkspace::new([CommandStep::exits(0, "")]);
    let command = || CommandRequest { command: "ls".into(), cwd: None };
    vec![
        case!(plan, "workspace.describe", workspace(), |it, op| { it.describe(&op).await }),
        case!(plan, "workspace.read", workspace(), |it, op| { it.read(&op, "a").await }),
        case!(plan, "workspace.write", workspace(), |it, op| { it.write(&op, "a", b"x").await }),
        case!(plan, "workspace.list", workspace(), |it, op| { it.list(&op, "").await }),
        case!(plan, "workspace.search", workspace(), |it, op| {
            it.search(&op, "", "milk", 1).await
        }),
        case!(plan, "workspace.execute", commands, |it, op| { it.execute(&op, command()).await }),
    ]
}

async fn human_cases(plan: &FaultPlan) -> Vec<Case> {
    let answered = FakeInteraction::new([HumanStep::text("blue")]);
    answered.prepare(&operation("before"), question()).await.unwrap();
    vec![
        case!(plan, "interaction.prepare", FakeInteraction::manual(), |it, op| {
            it.prepare(&op, question()).await
        }),
        case!(plan, "interaction.wait", answered, |it, op| { it.wait(&op, "q1").await }),
    ]
}

async fn session_cases(plan: &FaultPlan) -> Vec<Case> {
    let id = || OperationId::new("i1").unwrap();
    let blue = || InteractionResponse::text("blue");
    let (empty, _) = waiting_sessions().await;
    let ((creating, a), (renewing, b)) = (waiting_sessions().await, waiting_sessions().await);
    let ((revoking, c), (submitting, _)) = (waiting_sessions().await, waiting_sessions().await);
    let [a, b, c] = [a, b, c].map(|lease| &*Box::leak(Box::new(lease)));
    vec![
        case!(plan, "sessions.establish_delegation", empty, |it, op| {
            it.establish_delegation(&op, &authority(), &scope()).await
        }),
        case!(plan, "sessions.create", creating, |it, op| {
            it.create(&op, &ada(), a, &scope()).await
        }),
        case!(plan, "sessions.renew_delegation", renewing, |it, op| {
            it.renew_delegation(&op, &ada(), b).await
        }),
        case!(plan, "sessions.revoke_delegation", revoking, |it, op| {
            it.revoke_delegation(&op, &ada(), c).await
        }),
        case!(plan, "sessions.submit_input", submitting, |it, op| {
            it.submit_input(&op, &ada(), &run("run-1"), &id(), "q1", blue()).await
        }),
    ]
}

async fn cases(plan: &FaultPlan) -> Vec<Case> {
    let model = FakeModel::new([ModelStep::text("hello")]);
    let artifacts = FakeArtifacts::new();
    let digest = artifacts.put(&operation("before"), b"x").await.unwrap();
    let mut cases = vec![
        case!(plan, "model.invoke", model, |it, op| { it.invoke(&op, model_request()).await }),
        case!(plan, "model.profile", FakeModel::new([]), |it, op| {
            it.profile(&op, "fake-model").await
        }),
        case!(plan, "artifacts.read", artifacts, |it, op| { it.read(&op, &digest, 0..1).await }),
    ];
    cases.extend(agent_cases(plan));
    cases.extend(audit_cases(plan));
    cases.extend(receipt_cases(plan).await);
    cases.extend(journal_cases(plan).await);
    cases.extend(workspace_cases(plan));
    cases.extend(human_cases(plan).await);
    cases.extend(session_cases(plan).await);
    cases
}

/// Every call by name, in the order of [`cases`].
async fn names() -> Vec<&'static str> {
    let cases = cases(&FaultPlan::new()).await;
    for case in &cases {
        (case.call)(operation("op")).await.unwrap();
    }
    cases.into_iter().map(|case| case.name).collect()
}

#[tokio::test]
async fn an_ended_operation_is_refused_before_anything_is_done() {
    for case in cases(&FaultPlan::new()).await {
        let before = (case.asked)();
        assert_eq!((case.call)(cancelled()).await, Err(PortFailure::canceled()), "{}", case.name);
        assert_eq!((case.call)(late()).await, Err(PortFailure::timeout()), "{}", case.name);
        if !case.name.starts_with("model") {
            assert_eq!((case.asked)(), before, "{} recorded a refused call", case.name);
        }
        assert_eq!((case.call)(operation("op")).await, Ok(()), "{}", case.name);
    }
}

#[tokio::test]
async fn a_fault_before_the_effect_leaves_it_to_the_next_call() {
    let plan = FaultPlan::new();
    let plan = names().await.into_iter().fold(plan, |plan, name| plan.before(name, 1, outage()));
    for case in cases(&plan).await {
        assert_eq!((case.call)(operation("op")).await, Err(outage()), "{}", case.name);
        assert_eq!((case.call)(operation("op")).await, Ok(()), "{}", case.name);
    }
    plan.assert_all_happened();
}

#[tokio::test]
async fn a_fault_after_the_effect_hides_its_reply() {
    let plan = FaultPlan::new();
    let plan = names().await.into_iter().fold(plan, |plan, name| plan.after(name, 1, outage()));
    for case in cases(&plan).await {
        // The scripts check on drop that each effect took place.
        assert_eq!((case.call)(operation("op")).await, Err(outage()), "{}", case.name);
    }
    plan.assert_all_happened();
}

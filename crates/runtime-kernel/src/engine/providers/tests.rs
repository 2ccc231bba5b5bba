//! What a provider is asked, and what its answers, failures and silences become.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use runtime_decision::{ApprovalRequest, Collected, Consultation, CycleView, RunIdentity};
use runtime_ports::{EffectClass, ModelMessage, ModelRole, OperationContext, Transcript};
use serde_json::json;

use super::{
    ApprovalProvider, ProviderDecision, approvals_from, collect_cycle_inputs,
    collect_interruptions, consult, cycle_inputs_from, interruptions_from,
};
use crate::engine::{CallbackError, RunContext};

fn run() -> RunContext {
    let (id, execution) = ("call".parse().unwrap(), "run".parse().unwrap());
    RunContext {
        operation: OperationContext::root(id, execution, Duration::from_hours(1)),
        identity: Arc::new(RunIdentity::root("run", "task", "agent")),
        metadata: Arc::default(),
    }
}

fn request(required: bool) -> ApprovalRequest {
    ApprovalRequest {
        request_id: "run-1".into(),
        cycle: 1,
        tool_call_id: "c".into(),
        tool_name: "write".into(),
        effect: EffectClass::WorkspaceWrite,
        arguments: Arc::new(json!({})),
        digest: "d".into(),
        preview: "write {}".into(),
        required,
        timeout: Duration::from_mins(10),
        expires_at_ms: 1,
    }
}

fn view() -> CycleView {
    CycleView { cycle: 7, history: Transcript::default(), shared_state: Arc::default() }
}

/// Answers as it is told, and counts.
struct Scripted {
    wants: Result<bool, CallbackError>,
    decision: Result<ProviderDecision, CallbackError>,
    asked: AtomicUsize,
    decided: AtomicUsize,
}

#[async_trait]
impl ApprovalProvider for Scripted {
    async fn should_request(
        &self,
        _: &RunContext,
        _: &ApprovalRequest,
    ) -> Result<bool, CallbackError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.wants.clone()
    }

    async fn decide(
        &self,
        _: &RunContext,
        _: &ApprovalRequest,
    ) -> Result<ProviderDecision, CallbackError> {
        self.decided.fetch_add(1, Ordering::Relaxed);
        self.decision.clone()
    }
}

/// The consultation, and how often each method was called.
async fn check(
    required: bool,
    wants: Result<bool, CallbackError>,
    decision: Result<ProviderDecision, CallbackError>,
    expected: (Consultation, usize, usize),
) {
    let (asked, decided) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let provider = Arc::new(Scripted { wants, decision, asked, decided });
    let said = consult(provider.clone(), request(required), run()).await;
    let (asked, decided) = (&provider.asked, &provider.decided);
    let counts = (asked.load(Ordering::Relaxed), decided.load(Ordering::Relaxed));
    assert_eq!((said, counts.0, counts.1), expected);
}

#[tokio::test]
async fn what_the_policy_gates_is_decided_without_asking_whether() {
    let approved = || Ok(ProviderDecision::Approved);
    check(true, Ok(false), approved(), (Consultation::Approved, 0, 1)).await;
    check(true, Err(CallbackError::new("x")), approved(), (Consultation::Approved, 0, 1)).await;
    check(false, Ok(true), approved(), (Consultation::Approved, 1, 1)).await;
    check(false, Ok(false), approved(), (Consultation::NotNeeded, 1, 0)).await;
}

#[tokio::test]
async fn each_decision_and_each_failure_has_its_consultation() {
    let reason = || "r".to_owned();
    let failed = Consultation::Failed { message: "down".into() };
    let down = || CallbackError::new("down");
    let decisions = [
        (ProviderDecision::Denied { reason: reason() }, Consultation::Denied { reason: reason() }),
        (
            ProviderDecision::TimedOut { reason: reason() },
            Consultation::TimedOut { reason: reason() },
        ),
        (ProviderDecision::NeedsApproval, Consultation::NeedsApproval),
    ];
    for (decision, consultation) in decisions {
        check(true, Ok(true), Ok(decision), (consultation, 0, 1)).await;
    }
    check(true, Ok(true), Err(down()), (failed.clone(), 0, 1)).await;
    check(false, Err(down()), Ok(ProviderDecision::Approved), (failed, 1, 0)).await;
}

#[tokio::test]
async fn a_provider_that_panics_fails_and_one_that_stops_is_interrupted() {
    let panics = approvals_from(|_, _| async { panic!("SECRET") });
    let message = "it panicked".to_owned();
    let said = consult(Arc::new(panics), request(true), run()).await;
    assert_eq!(said, Consultation::Failed { message });

    let stops = approvals_from(|run: RunContext, _| async move {
        run.operation.cancellation.cancelled().await;
        Err(CallbackError::Interrupted)
    });
    let run = run();
    run.operation.cancellation.cancel();
    assert_eq!(consult(Arc::new(stops), request(true), run).await, Consultation::Interrupted);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_never_decides_times_out_with_the_request() {
    let start = tokio::time::Instant::now();
    let said = consult(Arc::new(approvals_from(|_, _| pending())), request(true), run()).await;
    let reason = "nobody decided in time".to_owned();
    assert_eq!(said, Consultation::TimedOut { reason });
    assert_eq!(start.elapsed(), Duration::from_mins(10));
}

#[tokio::test]
async fn a_closure_decides_about_gated_calls_only() {
    let provider = Arc::new(approvals_from(|_, request: ApprovalRequest| async move {
        assert_eq!(&*request.tool_name, "write");
        Ok(ProviderDecision::Approved)
    }));
    assert_eq!(consult(provider.clone(), request(true), run()).await, Consultation::Approved);
    assert_eq!(consult(provider, request(false), run()).await, Consultation::NotNeeded);
}

#[tokio::test]
async fn messages_failures_panics_and_interruptions_are_collected() {
    type End = fn(&CycleView, &RunContext) -> Result<Vec<ModelMessage>, CallbackError>;
    let cases: [(End, Collected); 4] = [
        (
            |view, _| Ok(vec![ModelMessage::text(ModelRole::User, format!("{}", view.cycle))]),
            Collected::Messages(vec![ModelMessage::text(ModelRole::User, "7")]),
        ),
        (|_, _| Err(CallbackError::new("down")), Collected::Failed("down".into())),
        (|_, _| panic!("SECRET"), Collected::Failed("it panicked".into())),
        (
            |_, run| {
                run.operation.cancellation.cancel();
                Err(CallbackError::Interrupted)
            },
            Collected::Interrupted,
        ),
    ];
    for (end, collected) in cases {
        let inputs = cycle_inputs_from(move |run, view| async move { end(&view, &run) });
        let interruptions = interruptions_from(move |run, view| async move { end(&view, &run) });
        assert_eq!(collect_cycle_inputs(Arc::new(inputs), view(), run()).await, collected);
        assert_eq!(collect_interruptions(Arc::new(interruptions), view(), run()).await, collected);
    }
}

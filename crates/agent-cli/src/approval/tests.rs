//! Decides whether the policy asks exactly where it promises to.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use runtime_kernel::ToolCall;
use runtime_ports::{
    ApprovalDecision, EffectClass, InteractionRequest, InteractionResponse, InteractionSession,
    ModelToolDefinition, OperationContext, PortFailure, PortFailureKind, ToolDescriptor, ToolKind,
};
use runtime_types::{ExecutionId, OperationId};
use serde_json::json;

use super::{Approvals, Verdict, call_digest};
use crate::{event::Event, show::Show, terminal::NOBODY_TO_ASK};

/// Answers every question alike and keeps the questions.
struct Person {
    answer: Result<ApprovalDecision, PortFailure>,
    asked: Mutex<Vec<InteractionRequest>>,
}

#[async_trait]
impl InteractionSession for Person {
    async fn prepare(
        &self,
        _operation: &OperationContext,
        request: InteractionRequest,
    ) -> Result<(), PortFailure> {
        self.asked.lock().unwrap().push(request);
        Ok(())
    }

    async fn wait(
        &self,
        _operation: &OperationContext,
        _request_id: &str,
    ) -> Result<InteractionResponse, PortFailure> {
        self.answer.clone().map(InteractionResponse::decision)
    }
}

#[derive(Default)]
struct Seen(Mutex<Vec<Event>>);

impl Show for Seen {
    fn show(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }

    fn note(&self, _text: &str) {}
}

fn operation() -> OperationContext {
    let (id, run) = (OperationId::new("op").unwrap(), ExecutionId::new("run").unwrap());
    OperationContext::root(id, run, Duration::from_secs(5))
}

fn descriptor(name: &str, effect: EffectClass) -> ToolDescriptor {
    let (name, description) = (name.to_owned(), String::new());
    let definition = ModelToolDefinition { name, description, input_schema: json!({}) };
    let (idempotent, parallel, output_limit_bytes) = (false, false, 1_000);
    let (kind, timeout, version) = (ToolKind::Function, Duration::from_secs(1), "1".to_owned());
    ToolDescriptor {
        definition,
        kind,
        effect,
        idempotent,
        parallel,
        timeout,
        output_limit_bytes,
        version,
    }
}

fn call(name: &str) -> ToolCall {
    ToolCall { name: name.to_owned(), arguments: json!({ "path": "a" }) }
}

struct Case {
    approvals: Approvals,
    person: Arc<Person>,
    seen: Arc<Seen>,
}

fn case(answer: Result<ApprovalDecision, PortFailure>, yes: bool) -> Case {
    let person = Arc::new(Person { answer, asked: Mutex::default() });
    let seen = Arc::new(Seen::default());
    let interaction = Arc::clone(&person) as Arc<dyn InteractionSession>;
    let approvals = Approvals::new(interaction, Arc::clone(&seen) as Arc<dyn Show>, yes);
    Case { approvals, person, seen }
}

impl Case {
    /// Decides on a call of `effect`; gives the verdict and how many questions were asked so far.
    async fn decide(&self, number: u64, effect: EffectClass) -> (Verdict, usize) {
        let (descriptor, call) = (descriptor("t", effect), call("t"));
        let verdict = self.approvals.admit(&operation(), number, &descriptor, &call).await.unwrap();
        (verdict, self.person.asked.lock().unwrap().len())
    }
}

#[tokio::test]
async fn reading_is_never_asked_and_a_command_always() {
    for yes in [false, true] {
        let case = case(Ok(ApprovalDecision::Approved), yes);
        assert_eq!(case.decide(1, EffectClass::ReadOnly).await, (Verdict::Run, 0));
        let asked = usize::from(!yes);
        assert_eq!(case.decide(2, EffectClass::WorkspaceWrite).await, (Verdict::Run, asked));
        assert_eq!(case.decide(3, EffectClass::Process).await, (Verdict::Run, asked + 1));
        assert_eq!(case.decide(4, EffectClass::External).await, (Verdict::Run, asked + 2));
    }
}

#[tokio::test]
async fn always_covers_writing_for_the_run_but_no_command() {
    let case = case(Ok(ApprovalDecision::ApprovedForRun), false);
    assert_eq!(case.decide(1, EffectClass::WorkspaceWrite).await, (Verdict::Run, 1));
    assert_eq!(case.decide(2, EffectClass::WorkspaceWrite).await, (Verdict::Run, 1));
    for (number, effect) in [(3, EffectClass::Process), (4, EffectClass::External)] {
        let (verdict, asked) = case.decide(number, effect).await;
        assert!(matches!(verdict, Verdict::Refused { code: "approval_denied", .. }), "{effect:?}");
        assert_eq!(asked as u64, number - 1);
    }
}

#[tokio::test]
async fn a_denial_is_told_with_its_reason_and_leaves_a_pair_of_events() {
    let denied = ApprovalDecision::Denied { reason: "not that file".into() };
    let case = case(Ok(denied), false);
    let (verdict, _) = case.decide(7, EffectClass::WorkspaceWrite).await;
    let reason = "the user said no: not that file".to_owned();
    assert_eq!(verdict, Verdict::Refused { code: "approval_denied", reason: reason.clone() });
    let events = case.seen.0.lock().unwrap();
    assert!(matches!(&events[0], Event::ApprovalRequested { number: 7, .. }));
    let resolved = Event::ApprovalResolved {
        number: 7,
        tool: "t".into(),
        approved: false,
        reason: Some(reason),
    };
    assert_eq!(events[1..], [resolved]);
}

#[tokio::test]
async fn with_nobody_to_ask_the_call_is_refused_with_what_to_do() {
    let kind = PortFailureKind::Unavailable;
    let nobody = || Err(PortFailure::not_sent(kind, NOBODY_TO_ASK, "no terminal"));
    let case = case(nobody(), true);
    assert!(!case.approvals.found_nobody());
    let (verdict, _) = case.decide(1, EffectClass::Process).await;
    let Verdict::Refused { code: "approval_unavailable", reason } = verdict else { panic!() };
    assert!(reason.contains("--yes does not cover commands"), "{reason}");
    assert!(case.approvals.found_nobody());
}

#[tokio::test]
async fn a_cancelled_question_ends_the_run_instead_of_denying() {
    let case = case(Err(PortFailure::canceled()), false);
    let (descriptor, call) = (descriptor("t", EffectClass::Process), call("t"));
    let failure = case.approvals.admit(&operation(), 1, &descriptor, &call).await.unwrap_err();
    assert_eq!(failure.kind, PortFailureKind::Canceled);
}

#[tokio::test]
async fn the_question_shows_the_whole_call_and_is_bound_to_its_digest() {
    let case = case(Ok(ApprovalDecision::Approved), false);
    let descriptor = descriptor("t", EffectClass::Process);
    let long = "x".repeat(5_000);
    let call =
        ToolCall { name: "t".into(), arguments: json!({ "command": format!("{long}; rm") }) };
    case.approvals.admit(&operation(), 1, &descriptor, &call).await.unwrap();
    let asked = case.person.asked.lock().unwrap();
    assert!(asked[0].prompt.contains("; rm\""), "the tail of the call must be visible");
    assert_eq!(asked[0].digest, Some(call_digest(&descriptor, &call)));
    let mut other = call.clone();
    other.arguments["command"] = json!("ls");
    assert_ne!(call_digest(&descriptor, &call), call_digest(&descriptor, &other));
}

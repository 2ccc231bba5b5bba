//! Each point calls its method and no other; failures, panics and interruptions become verdicts.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use futures_util::FutureExt as _;
use runtime_decision::{
    Call, CallEdits, CallResult, Edit, HookCall, HookDeclaration, HookPoint, HookResult,
    HookSubject, HookVerdict, RequestEdits, ResultEdits, RunIdentity,
};
use runtime_ports::{
    ModelContent, ModelFinish, ModelMessage, ModelResponse, ModelRole, OperationContext,
    TokenUsage, ToolDirective, ToolSet, Transcript,
};
use serde_json::{Map, json};

use super::{Hook, HookContext, run_hook};
use crate::engine::{CallbackError, RunContext};

fn declaration() -> HookDeclaration {
    HookDeclaration { name: "test".into(), points: Vec::new(), repeatable: false }
}

fn run() -> RunContext {
    let (id, execution) = ("call".parse().unwrap(), "run".parse().unwrap());
    RunContext {
        operation: OperationContext::root(id, execution, Duration::from_secs(60)),
        identity: Arc::new(RunIdentity::root("run", "task", "agent")),
        metadata: Arc::new(Map::from_iter([("host".to_owned(), json!("test"))])),
    }
}

fn call() -> Call {
    Call { id: "c".into(), name: "tool".into(), arguments: Arc::new(json!({})) }
}

fn result() -> CallResult {
    CallResult {
        tool_call_id: "c".into(),
        content: "done".into(),
        error_code: None,
        directive: ToolDirective::Continue,
        metadata: Arc::default(),
        commit: None,
        artifact: None,
        image: None,
    }
}

fn subjects() -> [HookSubject; 5] {
    let messages = Transcript::from(vec![ModelMessage::text(ModelRole::User, "hello")]);
    let response = ModelResponse {
        output: vec![ModelContent::text("hi")],
        finish: ModelFinish::Stop,
        usage: TokenUsage::default(),
        cost_nano_usd: None,
        attempts: Vec::new(),
    };
    [
        HookSubject::BeforeMemoryCompact { messages: messages.clone() },
        HookSubject::BeforeLlm { messages, tools: ToolSet::default() },
        HookSubject::AfterLlm { response: Arc::new(response) },
        HookSubject::BeforeToolCall { call: call() },
        HookSubject::AfterToolCall { call: call(), result: Arc::new(result()) },
    ]
}

fn asked(subject: HookSubject) -> HookCall {
    let shared_state = Arc::new(Map::from_iter([("key".to_owned(), json!(1))]));
    HookCall { hook: 0, cycle: 3, shared_state, subject }
}

/// Writes nothing, so that every point does nothing.
struct Silent;

#[async_trait]
impl Hook for Silent {
    fn declaration(&self) -> HookDeclaration {
        declaration()
    }
}

/// Changes something at every point, and notes where it was.
#[derive(Default)]
struct Busy {
    seen: Mutex<Vec<(HookPoint, u32, usize)>>,
}

impl Busy {
    fn note(&self, point: HookPoint, at: &HookContext) {
        assert_eq!((&*at.identity.run_id, at.shared_state.len()), ("run", 1));
        self.seen.lock().unwrap().push((point, at.cycle, at.metadata.len()));
    }
}

#[async_trait]
impl Hook for Busy {
    fn declaration(&self) -> HookDeclaration {
        declaration()
    }

    async fn before_memory_compact(
        &self,
        at: &HookContext,
        messages: &Transcript,
    ) -> Result<Vec<Edit<ModelMessage>>, CallbackError> {
        self.note(HookPoint::BeforeMemoryCompact, at);
        Ok(vec![Edit::Drop { at: messages.len() }])
    }

    async fn before_llm(
        &self,
        at: &HookContext,
        messages: &Transcript,
        tools: &ToolSet,
    ) -> Result<RequestEdits, CallbackError> {
        self.note(HookPoint::BeforeLlm, at);
        let messages = vec![Edit::Drop { at: messages.len() + tools.len() }];
        Ok(RequestEdits { messages, hide_tools: vec!["tool".into()] })
    }

    async fn after_llm(
        &self,
        at: &HookContext,
        response: &ModelResponse,
    ) -> Result<Vec<Edit<ModelContent>>, CallbackError> {
        self.note(HookPoint::AfterLlm, at);
        Ok(vec![Edit::Drop { at: response.output.len() }])
    }

    async fn before_tool_call(
        &self,
        at: &HookContext,
        call: &Call,
    ) -> Result<CallEdits, CallbackError> {
        self.note(HookPoint::BeforeToolCall, at);
        Ok(CallEdits { call: Some(call.clone()), result: None })
    }

    async fn after_tool_call(
        &self,
        at: &HookContext,
        call: &Call,
        result: &CallResult,
    ) -> Result<ResultEdits, CallbackError> {
        self.note(HookPoint::AfterToolCall, at);
        let content = format!("{} {}", call.name, result.content);
        Ok(ResultEdits { result: Some(HookResult { content, ..HookResult::default() }) })
    }
}

#[tokio::test]
async fn a_hook_that_writes_nothing_changes_nothing() {
    let expected = [
        HookVerdict::Messages(Vec::new()),
        HookVerdict::Request(RequestEdits::default()),
        HookVerdict::Response(Vec::new()),
        HookVerdict::Call(Box::default()),
        HookVerdict::Result(Box::default()),
    ];
    for (subject, verdict) in subjects().into_iter().zip(expected) {
        assert_eq!(run_hook(Arc::new(Silent), asked(subject), run()).await, verdict);
    }
}

#[tokio::test]
async fn each_point_calls_its_own_method_with_what_it_is_about() {
    let content = "tool done".to_owned();
    let changed = ResultEdits { result: Some(HookResult { content, ..HookResult::default() }) };
    let hidden = vec!["tool".into()];
    let expected = [
        HookVerdict::Messages(vec![Edit::Drop { at: 1 }]),
        HookVerdict::Request(RequestEdits {
            messages: vec![Edit::Drop { at: 1 }],
            hide_tools: hidden,
        }),
        HookVerdict::Response(vec![Edit::Drop { at: 1 }]),
        HookVerdict::Call(Box::new(CallEdits { call: Some(call()), result: None })),
        HookVerdict::Result(Box::new(changed)),
    ];
    let hook = Arc::new(Busy::default());
    for (subject, verdict) in subjects().into_iter().zip(expected) {
        assert_eq!(run_hook(hook.clone(), asked(subject), run()).await, verdict);
    }
    use HookPoint::*;
    let points = [BeforeMemoryCompact, BeforeLlm, AfterLlm, BeforeToolCall, AfterToolCall];
    assert_eq!(*hook.seen.lock().unwrap(), points.map(|point| (point, 3, 1)));
}

/// Ends a call in the way that is given.
struct Ending(fn(&HookContext) -> Result<CallEdits, CallbackError>);

#[async_trait]
impl Hook for Ending {
    fn declaration(&self) -> HookDeclaration {
        declaration()
    }

    async fn before_tool_call(
        &self,
        at: &HookContext,
        _: &Call,
    ) -> Result<CallEdits, CallbackError> {
        tokio::task::yield_now().await;
        (self.0)(at)
    }
}

#[tokio::test]
async fn a_hook_that_fails_panics_or_stops_has_a_verdict() {
    type End = fn(&HookContext) -> Result<CallEdits, CallbackError>;
    let failed = |reason: &str| HookVerdict::Failed(reason.to_owned());
    let cases: [(End, HookVerdict); 4] = [
        (|_| Err(CallbackError::new("no room")), failed("no room")),
        (|_| panic!("SECRET"), failed("it panicked")),
        (
            |at| {
                at.operation.cancellation.cancel();
                Err(CallbackError::Interrupted)
            },
            HookVerdict::Interrupted,
        ),
        (|_| Err(CallbackError::Interrupted), failed("it stopped before it came to a result")),
    ];
    for (end, verdict) in cases {
        let subject = HookSubject::BeforeToolCall { call: call() };
        assert_eq!(run_hook(Arc::new(Ending(end)), asked(subject), run()).await, verdict);
    }
}

/// Never answers, and holds something.
struct Stuck(Arc<()>);

#[async_trait]
impl Hook for Stuck {
    fn declaration(&self) -> HookDeclaration {
        declaration()
    }

    async fn before_tool_call(
        &self,
        _: &HookContext,
        _: &Call,
    ) -> Result<CallEdits, CallbackError> {
        let _held = Arc::clone(&self.0);
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_dropped_call_leaves_nothing_of_the_hook() {
    let held = Arc::new(());
    let hook = Arc::new(Stuck(Arc::clone(&held)));
    let subject = HookSubject::BeforeToolCall { call: call() };
    let mut running = Box::pin(run_hook(hook, asked(subject), run()));
    assert!((&mut running).now_or_never().is_none());
    assert_eq!(Arc::strong_count(&held), 3);
    drop(running);
    assert_eq!(Arc::strong_count(&held), 1);
}

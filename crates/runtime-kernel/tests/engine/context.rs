//! How a run keeps its requests within the window: summaries, artifacts, memory, conversations.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use in_memory_fakes::{FakeArtifacts, FakeModel, ModelStep, ToolStep};
use runtime_kernel::engine::{
    CallbackError, ContextPolicy, MemoryCall, MemoryDeclaration, MemoryMoment, MemoryProvider,
    RunContext, RunStatus, Task, closed_world,
};
use runtime_ports::{
    Digest, ModelMessage, ModelProfile, ModelRole, PortFailure, PortFailureKind, ToolWorld,
};

use crate::stage::{agent, call, finish, names, start, told, tool, tool_like};

/// A model with a window of 4,000 tokens.
fn small(steps: impl IntoIterator<Item = ModelStep>) -> FakeModel {
    let profile = ModelProfile {
        context_window_tokens: 4_000,
        max_input_tokens: 4_000,
        max_output_tokens: Some(500),
        images: false,
        price: None,
    };
    FakeModel::new(steps).with_profile(FakeModel::MODEL, profile)
}

fn long() -> ToolStep {
    ToolStep::text("é".repeat(7_000))
}

/// A memory that remembers at which moments it was called, and fails at one of them.
#[derive(Clone)]
struct Remembering {
    moments: Arc<Mutex<Vec<MemoryMoment>>>,
    fails_at: Option<MemoryMoment>,
}

impl Remembering {
    fn new(fails_at: Option<MemoryMoment>) -> Self {
        Self { moments: Arc::default(), fails_at }
    }

    fn at(&self, call: &MemoryCall) -> Result<(), CallbackError> {
        self.moments.lock().expect("moments").push(call.moment);
        match self.fails_at == Some(call.moment) {
            true => Err(CallbackError::new("the disk is gone")),
            false => Ok(()),
        }
    }

    fn moments(&self) -> Vec<MemoryMoment> {
        self.moments.lock().expect("moments").clone()
    }
}

#[async_trait]
impl MemoryProvider for Remembering {
    fn declaration(&self) -> MemoryDeclaration {
        MemoryDeclaration { name: "diary".into(), recalls: true, observes: true }
    }

    async fn recall(
        &self,
        _run: &RunContext,
        call: &MemoryCall,
    ) -> Result<Vec<ModelMessage>, CallbackError> {
        self.at(call)?;
        Ok(vec![ModelMessage::text(ModelRole::User, "remember the milk")])
    }

    async fn before_compact(
        &self,
        _run: &RunContext,
        call: &MemoryCall,
    ) -> Result<(), CallbackError> {
        self.at(call)
    }

    async fn after_compact(
        &self,
        _run: &RunContext,
        call: &MemoryCall,
    ) -> Result<(), CallbackError> {
        self.at(call)
    }
}

#[tokio::test(start_paused = true)]
async fn a_context_that_grows_too_large_is_summed_up_by_the_model_that_was_given() {
    let model = small([call("1", "pay"), call("2", "pay"), ModelStep::text("done")]);
    let summarizer = FakeModel::new([ModelStep::text("both were paid")]).with_model("small-model");
    let agent = agent(&model)
        .tool(tool("pay", [long(), long()]))
        .summarizer(Arc::new(summarizer.clone()), "small-model")
        .build()
        .expect("an agent");
    let (run, mut events) = start(&agent);
    let result = finish(&run).await;
    assert_eq!(result.status, RunStatus::Completed, "{:?}", result.error);
    let asked = summarizer.requests();
    assert_eq!((asked.len(), &*asked[0].model), (1, "small-model"));
    let requests = model.requests();
    let last = requests.last().expect("a request");
    assert!(last.messages.estimated_tokens() < 3_400, "{}", last.messages.estimated_tokens());
    let texts: String = last.messages.messages().map(|it| format!("{:?}", it.content)).collect();
    assert!(texts.contains("both were paid") && texts.contains("do it"), "{texts}");
    // The history is whole, and every model call is in the ledger.
    assert_eq!(result.history.len(), 6);
    assert_eq!(result.ledger.totals().attempts, 4);
    assert!(result.context.is_some() && result.cycles[2].memory_compacted);
    let names = names(&mut events).await;
    let of = |name: &str| names.iter().copied().filter(|it| *it == name).count();
    assert_eq!((of("memory_compact_started"), of("memory_compact_completed")), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn large_results_become_artifacts_that_a_tool_reads() {
    let model = small([call("1", "pay"), call("2", "pay"), ModelStep::text("done")]);
    let artifacts = FakeArtifacts::new();
    let reader = tool_like("look", |it| it.effect = runtime_ports::EffectClass::ReadOnly, []);
    let policy = ContextPolicy { artifact_reader: Some("look".into()), ..ContextPolicy::default() };
    let agent = agent(&model)
        .tool(tool("pay", [long(), long()]))
        .tool(reader)
        .context_policy(policy)
        .world(ToolWorld { artifacts: Arc::new(artifacts.clone()), ..closed_world() })
        .build()
        .expect("an agent");
    let result = finish(&start(&agent).0).await;
    assert_eq!(result.status, RunStatus::Completed, "{:?}", result.error);
    assert_eq!(artifacts.len(), 1, "the same text is kept once");
    let requests = model.requests();
    let last = requests.last().expect("a request");
    let texts: String = last.messages.messages().map(|it| format!("{:?}", it.content)).collect();
    let digest = Digest::of("é".repeat(7_000).as_bytes());
    assert!(texts.contains(&digest.to_string()), "{texts}");
    assert!(told(&result).iter().any(|line| line.contains(&"é".repeat(7_000))), "the history");
}

#[tokio::test(start_paused = true)]
async fn an_overlong_prompt_is_made_smaller_and_sent_again() {
    let overlong = || {
        let kind = PortFailureKind::ContextOverflow;
        ModelStep::fail(PortFailure::rejected(kind, "TOO_LONG", "the prompt is too long"))
    };
    let model = small([
        call("1", "pay"),
        overlong(),
        ModelStep::text("it was paid"),
        ModelStep::text("done"),
    ]);
    let agent = agent(&model).tool(tool("pay", [long()])).build().expect("an agent");
    let result = finish(&start(&agent).0).await;
    assert_eq!(result.status, RunStatus::Completed, "{:?}", result.error);
    let sizes: Vec<_> = model.requests().iter().map(|it| it.messages.estimated_tokens()).collect();
    assert_eq!(sizes.len(), 4);
    assert!(sizes[3] < sizes[1], "{sizes:?}");
}

#[tokio::test(start_paused = true)]
async fn memory_shapes_requests_and_its_failures_are_warnings() {
    use MemoryMoment::{AfterCompact, BeforeCompact, Recall};

    for fails_at in [None, Some(Recall), Some(BeforeCompact), Some(AfterCompact)] {
        let model = small([
            call("1", "pay"),
            call("2", "pay"),
            ModelStep::text("both were paid"),
            ModelStep::text("done"),
        ]);
        let memory = Remembering::new(fails_at);
        let agent = agent(&model)
            .tool(tool("pay", [long(), long()]))
            .memory(memory.clone())
            .build()
            .expect("an agent");
        let result = finish(&start(&agent).0).await;
        assert_eq!(result.status, RunStatus::Completed, "{:?}", result.error);
        assert_eq!(memory.moments(), [Recall, Recall, Recall, BeforeCompact, AfterCompact]);
        let failed = memory.moments().iter().filter(|it| Some(**it) == fails_at).count();
        assert_eq!(result.warnings.len(), failed, "{:?}", result.warnings);
        assert!(result.warnings.iter().all(|it| it.contains("diary failed: the disk is gone")));
        let said = told(&result);
        assert!(!said.iter().any(|line| line.contains("milk")), "it entered the history: {said:?}");
        let first = model.requests()[0].messages.messages().count();
        assert_eq!(first, if fails_at == Some(Recall) { 1 } else { 2 });
    }
}

#[tokio::test(start_paused = true)]
async fn the_next_run_of_a_conversation_goes_on_with_its_context() {
    let model = small([
        call("1", "pay"),
        call("2", "pay"),
        ModelStep::text("both were paid"),
        ModelStep::text("done"),
        ModelStep::text("you are welcome"),
    ]);
    let agent = agent(&model).tool(tool("pay", [long(), long()])).build().expect("an agent");
    let first = finish(&start(&agent).0).await;
    let messages = first.history.messages().cloned().collect();
    let mut task = Task::new("thank you").after(messages);
    task.context = first.context.clone();
    let second = agent.run(task).await;
    assert_eq!(second.status, RunStatus::Completed, "{:?}", second.error);
    assert_eq!(second.history.len(), first.history.len() + 2);
    let requests = model.requests();
    let (before, after) = (&requests[3].messages, &requests[4].messages);
    // What was sent before is the beginning of what is sent now.
    assert_eq!(after.prefix(before.len()), *before);
    assert_eq!(after.len(), before.len() + 2);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_fit_is_not_sent_and_says_by_how_much() {
    let model = small([]);
    let agent = agent(&model).build().expect("an agent");
    let result = agent.run(Task::new("é".repeat(20_000))).await;
    let error = result.error.as_ref().expect("an error");
    assert_eq!(&*error.code, "context_too_large");
    assert!(error.message.contains("more than fit"), "{}", error.message);
    assert!(model.requests().is_empty());
}

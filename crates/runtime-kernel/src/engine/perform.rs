//! Decides how each effect is performed: the one place from which a run reaches the world.
//!
//! Knows the ports and callbacks; refuses to know why an effect was asked for, and how long it is
//! waited for. Invariant: whatever is called has a frame of its own with a deadline and a
//! cancellation.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::{FutureExt as _, future::BoxFuture};
use runtime_decision::{
    ApprovalAnswer, ApprovalRequest, ArgumentFault, ChildEnd, ChildWork, Collected, Consultation,
    CycleView, Effect, EffectId, HookCall, HookVerdict, Outcome, RunIdentity,
};
use runtime_ports::{
    DeltaSink, InteractionRequest, ModelRequest, OperationContext, PortFailure, PortFailureKind,
    ResourceSnapshot,
};
use runtime_types::OperationId;
use serde_json::{Map, Value};
use tracing::Instrument as _;

use super::{
    RunHandle,
    account::Account,
    audit::CallAudit,
    audited_call::audited,
    callback::RunContext,
    caller::Caller,
    contained::{Panicked, contained},
    effect_name::{AT_ONCE, EffectName, broke_down},
    event_hub::EventPublisher,
    hook::run_hook,
    in_flight::Performed,
    parts::Parts,
    providers::{collect_cycle_inputs, collect_interruptions, consult},
    run_budget::Spender,
    sub_tasks::{Parent, Started, SubTasks, start},
    tool_task,
};

/// Longest run of a child; limits of its own, and those of its parent, are shorter.
const LONGEST_CHILD: Duration = Duration::from_hours(365 * 24);

/// Where the frames of effects come from, and who watches deltas.
pub(super) struct Frame<'a> {
    pub(super) operation: &'a OperationContext,
    pub(super) identity: &'a Arc<RunIdentity>,
    pub(super) metadata: &'a Arc<Map<String, Value>>,
    /// Where the run is watched.
    pub(super) events: &'a EventPublisher,
    pub(super) sub_tasks: &'a SubTasks,
    /// The budgets of the run.
    pub(super) spender: &'a Spender,
    /// What the runs below it used.
    pub(super) account: &'a Arc<Account>,
    /// Takes the deltas of a model call; `None` when nobody watches.
    pub(super) deltas: Option<Arc<dyn DeltaSink>>,
    /// The audit of a model call or summary; `None` when none is attached.
    pub(super) audit: Option<CallAudit>,
}

/// What becomes of an effect: it is settled at once, or it is being performed.
pub(super) enum Dispatched {
    Settled(Box<Outcome>),
    Performed(Performed),
}

impl Parts {
    /// Begins to perform an effect, within the span that the caller is in.
    pub(super) fn perform(
        self: &Arc<Self>,
        id: EffectId,
        effect: Effect,
        frame: &mut Frame<'_>,
    ) -> Dispatched {
        if let Some(outcome) = self.settled_at_once(id, &effect, frame) {
            return Dispatched::Settled(Box::new(outcome));
        }
        let name = EffectName::of(&effect);
        let mut settle = None;
        let operation = Arc::new(frame.child(id, self.longest(&effect)));
        let (parts, own) = (Arc::clone(self), Arc::clone(&operation));
        let audit = frame.audit.take();
        let run = || frame.context(OperationContext::clone(&operation));
        let (work, task): (BoxFuture<'static, Outcome>, _) = match effect {
            Effect::InvokeTool(work) => {
                let (task, work) = tool_task::start(parts, own, *work, frame.caller(id));
                (work.map(Outcome::ToolReturned).boxed(), Some(task))
            }
            Effect::CallModel(request) => {
                let deltas = frame.deltas.clone();
                let span =
                    tracing::info_span!("invocation", invocation_id = %request.invocation_id);
                (parts.call_model(own, request, deltas, audit).instrument(span).boxed(), None)
            }
            Effect::Summarize(request) => {
                let span = tracing::info_span!("summary", invocation_id = %request.invocation_id);
                (parts.summarize(own, request, audit).instrument(span).boxed(), None)
            }
            Effect::ResolveProfile { model, for_summaries } => {
                (parts.resolve_profile(own, model, for_summaries).boxed(), None)
            }
            Effect::LoadResources => (parts.load_resources(own).boxed(), None),
            Effect::RunHook(call) => (self.hook(*call, run()), None),
            Effect::CollectCycleInputs(view) => (self.cycle_inputs(view, run()), None),
            Effect::CollectInterruptions(view) => (self.interruptions(view, run()), None),
            Effect::ConsultApprovals(request) => (self.consult(*request, run()), None),
            Effect::AwaitApproval(request) => (parts.await_approval(own, request).boxed(), None),
            Effect::ConsultMemory(call) => (self.memory(*call, run()), None),
            Effect::StoreArtifact { content } => (parts.store_artifact(own, content).boxed(), None),
            Effect::RunChild(work) => match self.start_child(id, &operation, *work, frame) {
                Ok(started) => {
                    settle = Some(started.settle);
                    (started.work, Some(started.task))
                }
                Err(end) => return Dispatched::Settled(Box::new(Outcome::ChildEnded(end))),
            },
            Effect::SteerChild { task_id, prompt } => {
                (steer_child(frame.sub_tasks.handle(&task_id), own, prompt).boxed(), None)
            }
            Effect::WaitChildren { .. } => {
                (async move { own.interrupted().await }.map(|_| Outcome::WaitOver).boxed(), None)
            }
            Effect::CheckArguments { .. } | Effect::CheckAnswer { .. } | Effect::Reserve { .. } => {
                unreachable!("{AT_ONCE}")
            }
        };
        Dispatched::Performed(Performed { name, operation, work, task, settle })
    }

    /// The outcome of what takes neither time nor a frame.
    fn settled_at_once(&self, id: EffectId, effect: &Effect, frame: &Frame<'_>) -> Option<Outcome> {
        match effect {
            Effect::Reserve { wanted, least } => Some(frame.spender.reserve(id, wanted, least)),
            Effect::CheckArguments { tool, arguments } => Some(self.check(tool, arguments)),
            Effect::CheckAnswer { answer } => Some(self.check_answer(answer)),
            _ => None,
        }
    }

    fn longest(&self, effect: &Effect) -> Duration {
        match effect {
            Effect::CallModel(_) | Effect::Summarize(_) => self.patience.model,
            Effect::InvokeTool(work) => work.timeout,
            Effect::ConsultApprovals(request) | Effect::AwaitApproval(request) => request.timeout,
            Effect::WaitChildren { timeout } => *timeout,
            Effect::RunChild(_) => LONGEST_CHILD,
            _ => self.patience.callback,
        }
    }

    fn start_child(
        &self,
        id: EffectId,
        operation: &OperationContext,
        work: ChildWork,
        frame: &Frame<'_>,
    ) -> Result<Started, ChildEnd> {
        let parent = Parent {
            identity: frame.identity,
            metadata: frame.metadata,
            hubs: frame.events.hubs_for_below(),
            sub_tasks: frame.sub_tasks,
            caller: frame.caller(id),
        };
        start(self, operation, work, parent)
    }

    fn check(&self, tool: &str, arguments: &serde_json::Value) -> Outcome {
        let own = self.tools.get(tool).map(|registered| &registered.schema);
        let Some(schema) = own.or_else(|| self.delegation_schemas.get(tool)) else {
            return Outcome::ArgumentsChecked(Ok(()));
        };
        let verdict = schema.check(arguments);
        let fault = |fault: crate::argument_schema::Fault| ArgumentFault {
            path: fault.path,
            reason: fault.reason,
        };
        Outcome::ArgumentsChecked(verdict.map_err(fault))
    }

    async fn resolve_profile(
        self: Arc<Self>,
        operation: Arc<OperationContext>,
        model: Arc<str>,
        for_summaries: bool,
    ) -> Outcome {
        let session = self.summarizer.as_ref().filter(|_| for_summaries).unwrap_or(&self.model);
        Outcome::ProfileResolved(session.profile(&operation, &model).await)
    }

    async fn load_resources(self: Arc<Self>, operation: Arc<OperationContext>) -> Outcome {
        Outcome::ResourcesLoaded(match &self.resources {
            Some(resources) => resources.load(&operation).await,
            None => Ok(ResourceSnapshot::new(Vec::new(), BTreeMap::new())),
        })
    }

    async fn call_model(
        self: Arc<Self>,
        operation: Arc<OperationContext>,
        request: ModelRequest,
        deltas: Option<Arc<dyn DeltaSink>>,
        audit: Option<CallAudit>,
    ) -> Outcome {
        let (model, sink) = (&self.model, deltas.as_deref());
        let send = |operation: Arc<OperationContext>, request| async move {
            match sink {
                Some(sink) => model.invoke_streaming(&operation, request, sink).await,
                None => model.invoke(&operation, request).await,
            }
        };
        audited(audit, operation, request, send).await.of_cycle()
    }

    fn hook(&self, call: HookCall, run: RunContext) -> BoxFuture<'static, Outcome> {
        let Some(hook) = self.hooks.get(call.hook).cloned() else {
            let missing = HookVerdict::Failed("there is no such hook".to_owned());
            return std::future::ready(Outcome::HookReturned(missing)).boxed();
        };
        run_hook(hook, call, run).map(Outcome::HookReturned).boxed()
    }

    fn cycle_inputs(&self, view: CycleView, run: RunContext) -> BoxFuture<'static, Outcome> {
        let collected = match self.cycle_inputs.clone() {
            Some(provider) => collect_cycle_inputs(provider, view, run).boxed(),
            None => std::future::ready(Collected::Messages(Vec::new())).boxed(),
        };
        collected.map(Outcome::InputsCollected).boxed()
    }

    fn interruptions(&self, view: CycleView, run: RunContext) -> BoxFuture<'static, Outcome> {
        let collected = match self.interruptions.clone() {
            Some(provider) => collect_interruptions(provider, view, run).boxed(),
            None => std::future::ready(Collected::Messages(Vec::new())).boxed(),
        };
        collected.map(Outcome::InterruptionsCollected).boxed()
    }

    fn consult(&self, request: ApprovalRequest, run: RunContext) -> BoxFuture<'static, Outcome> {
        let word = match self.approvals.clone() {
            Some(provider) => consult(provider, request, run).boxed(),
            None => std::future::ready(Consultation::NeedsApproval).boxed(),
        };
        word.map(Outcome::ApprovalConsulted).boxed()
    }

    async fn await_approval(
        self: Arc<Self>,
        operation: Arc<OperationContext>,
        request: Box<ApprovalRequest>,
    ) -> Outcome {
        let Some(interaction) = &self.interaction else {
            // Only the handle of the run can decide.
            operation.interrupted().await;
            return Outcome::ApprovalAnswered(ApprovalAnswer::TimedOut);
        };
        let question = self.question(&request);
        let asked = async {
            interaction.prepare(&operation, question).await?;
            interaction.wait(&operation, &request.request_id).await
        };
        // Nothing comes of a question that nobody waits for.
        let answer = match operation.bounded(contained(asked)).await {
            Ok(Ok(Ok(response))) => {
                let decided = |decision| ApprovalAnswer::Decided { decision };
                response.decision.map_or(ApprovalAnswer::Unresolved, decided)
            }
            Ok(Ok(Err(failure))) => broker_failed(&failure),
            Ok(Err(Panicked)) => broker_failed(&broke_down()),
            Err(_interruption) => ApprovalAnswer::TimedOut,
        };
        Outcome::ApprovalAnswered(answer)
    }

    fn question(&self, request: &ApprovalRequest) -> InteractionRequest {
        let prompt = match &self.approval_prompt {
            Some(words) => words(request),
            None => request.preview.to_string(),
        };
        let (id, digest) = (request.request_id.to_string(), request.digest.to_string());
        let question = InteractionRequest::approval(id, prompt, digest);
        InteractionRequest { expires_at: Some(request.expires_at_ms), ..question }
    }
}

impl Frame<'_> {
    /// The frame of one effect: a token of its own, and a deadline at most `longest` away.
    fn child(&self, id: EffectId, longest: Duration) -> OperationContext {
        let name = OperationId::new(self.identity.numbered(id.0));
        // A run id that leaves no room for a number names its effects by itself.
        let name = name.unwrap_or_else(|_| self.operation.id.clone());
        self.operation.child(name).within(longest)
    }

    /// The run, as whoever an effect starts finds it.
    fn caller(&self, effect: EffectId) -> Caller {
        let (budget, account) = (self.spender.0.clone(), Arc::clone(self.account));
        Caller { budget, account, effect }
    }

    fn context(&self, operation: OperationContext) -> RunContext {
        let (identity, metadata) = (Arc::clone(self.identity), Arc::clone(self.metadata));
        RunContext { operation, identity, metadata }
    }
}

/// Says something to a child, if there is one, and hears whether it was taken.
async fn steer_child(
    child: Option<RunHandle>,
    operation: Arc<OperationContext>,
    prompt: Arc<str>,
) -> Outcome {
    let Some(child) = child else {
        return Outcome::ChildSteered(Err("it is not at work".to_owned()));
    };
    let heard = match operation.bounded(child.steer(prompt)).await {
        Ok(Ok(_receipt)) => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_interruption) => Err("nobody knows, for it did not answer in time".to_owned()),
    };
    Outcome::ChildSteered(heard)
}

fn broker_failed(failure: &PortFailure) -> ApprovalAnswer {
    match failure.kind {
        PortFailureKind::Timeout => ApprovalAnswer::TimedOut,
        _ => ApprovalAnswer::BrokerFailed { message: failure.to_string() },
    }
}

//! Decides how an effect is made from the state of the run, the first time and any other.
//!
//! Knows nothing about why it is asked for. Invariant: the state alone suffices.

use std::{collections::BTreeSet, sync::Arc};

use runtime_ports::{ModelRequest, ToolInvocation, ToolSet, Transcript};

use crate::{
    CycleView, Effect, HookCall, HookPoint, HookSubject, Machine, ToolWork,
    batch::{Batch, Stage},
    hook::edited,
    state::{Ask, Phase, RequestView},
};

/// Why a phase must hold what an open effect needs; a stored state is checked when it is loaded.
const KEPT: &str = "an open effect has its phase";

impl Machine {
    pub(crate) fn effect(&self, id: u64, ask: Ask) -> Effect {
        match ask {
            Ask::Profile | Ask::SummaryProfile => {
                let for_summaries = ask == Ask::SummaryProfile;
                Effect::ResolveProfile { model: self.model_of(ask), for_summaries }
            }
            Ask::Resources => Effect::LoadResources,
            Ask::Answer => {
                let Phase::CheckingAnswer(at) = self.present() else { panic!("{KEPT}") };
                Effect::CheckAnswer { answer: Arc::clone(&at.value) }
            }
            Ask::Memory { provider } => Effect::ConsultMemory(Box::new(self.memory_call(provider))),
            Ask::Offload { message } => {
                Effect::StoreArtifact { content: self.result_at(message).unwrap_or_default() }
            }
            Ask::Summary => Effect::Summarize(self.asked_summary(id)),
            Ask::Child { child } => Effect::RunChild(Box::new(self.child_work(child))),
            Ask::SteerChild { call } => {
                self.steering_of(self.kept().calls[call].delegation.as_deref())
            }
            Ask::WaitChildren { call } => {
                self.rest_of_wait(self.kept().calls[call].delegation.as_deref())
            }
            Ask::CycleInputs => Effect::CollectCycleInputs(self.cycle_view()),
            Ask::Interruptions { .. } => Effect::CollectInterruptions(self.cycle_view()),
            Ask::Hook { hook, call } => Effect::RunHook(Box::new(HookCall {
                hook,
                cycle: self.state.cycle,
                shared_state: Arc::clone(&self.state.shared),
                subject: self.subject(call),
            })),
            Ask::Reserve { spending } => self.reserve_effect(id, spending),
            Ask::Model => Effect::CallModel(self.request(id)),
            Ask::Check { call } => {
                let asked = self.kept().calls[call].effective();
                let (tool, arguments) = (Arc::clone(&asked.name), Arc::clone(&asked.arguments));
                Effect::CheckArguments { tool, arguments }
            }
            Ask::Consult { call } => {
                Effect::ConsultApprovals(Box::new(self.approval_request(self.kept(), call)))
            }
            Ask::Approve { call } => {
                Effect::AwaitApproval(Box::new(self.approval_request(self.kept(), call)))
            }
            Ask::Tool { call } => Effect::InvokeTool(Box::new(self.work(call))),
        }
    }

    /// What the run is at, or will go on with.
    pub(crate) fn present(&self) -> &Phase {
        match &self.state.phase {
            Phase::Suspended(inner) => inner,
            phase => phase,
        }
    }

    /// The calls that the run is at.
    pub(crate) fn batch(&self) -> Option<&Batch> {
        match self.present() {
            Phase::RunningTools(batch) => Some(batch),
            _ => None,
        }
    }

    fn kept(&self) -> &Batch {
        self.batch().expect(KEPT)
    }

    fn cycle_view(&self) -> CycleView {
        CycleView {
            cycle: self.state.cycle,
            history: self.state.history.clone(),
            shared_state: Arc::clone(&self.state.shared),
        }
    }

    fn subject(&self, call: Option<usize>) -> HookSubject {
        match (self.present(), call) {
            (Phase::Preparing(at), _) if at.point == HookPoint::BeforeMemoryCompact => {
                HookSubject::BeforeMemoryCompact { messages: self.messages(&at.view) }
            }
            (Phase::Preparing(at), _) => HookSubject::BeforeLlm {
                messages: self.messages(&at.view),
                tools: self.advertised_tools(&at.view.hidden),
            },
            (Phase::Reviewing(at), _) => {
                HookSubject::AfterLlm { response: Arc::clone(&at.response) }
            }
            (Phase::RunningTools(batch), Some(call)) => {
                let state = &batch.calls[call];
                let call = state.effective().clone();
                match (state.stage, &state.result) {
                    (Stage::AfterHook, Some(result)) => {
                        HookSubject::AfterToolCall { call, result: Arc::clone(result) }
                    }
                    _ => HookSubject::BeforeToolCall { call },
                }
            }
            _ => panic!("{KEPT}"),
        }
    }

    fn messages(&self, view: &RequestView) -> Transcript {
        edited(self.context(), &view.edits)
    }

    fn advertised_tools(&self, hidden: &BTreeSet<String>) -> ToolSet {
        let tools = &self.state.tools;
        if !tools.iter().any(|tool| hidden.contains(&tool.name)) {
            return tools.clone();
        }
        tools.iter().filter(|tool| !hidden.contains(&tool.name)).cloned().collect()
    }

    pub(crate) fn request(&self, id: u64) -> ModelRequest {
        let Phase::AwaitingModel(view) = self.present() else { panic!("{KEPT}") };
        let definition = self.plan.definition();
        let tools = self.advertised_tools(&view.hidden);
        ModelRequest {
            invocation_id: self.id_text(id),
            model: Arc::clone(&definition.model),
            messages: self.messages(view),
            max_output_tokens: self.max_output_tokens(),
            options: Arc::clone(self.plan.options(&tools)),
            tools,
        }
    }

    fn asked_summary(&self, id: u64) -> ModelRequest {
        let Phase::Compacting(at) = self.present() else { panic!("{KEPT}") };
        self.summary_request(at, id).expect(KEPT)
    }

    fn work(&self, call: usize) -> ToolWork {
        let state = &self.kept().calls[call];
        let asked = state.effective();
        let tool = self.plan.tool(&asked.name).expect("a call that runs has a tool");
        ToolWork {
            tool: Arc::clone(&asked.name),
            invocation: ToolInvocation {
                call_id: Arc::clone(&asked.id),
                idempotency_key: self.id_text(state.key.expect("a call that runs has a key")),
                arguments: (*asked.arguments).clone(),
                shared_state: Arc::clone(&self.state.shared),
                metadata: Arc::clone(&self.state.terms.tool_metadata),
                cycle: self.state.cycle,
            },
            timeout: tool.timeout,
            output_limit_bytes: tool.output_limit_bytes,
        }
    }
}

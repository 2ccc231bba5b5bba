//! Decides how an effect is named to people, and what stands for its outcome when it gives none.
//!
//! Knows the kinds of effects; refuses to know how they are performed.

use std::{fmt, sync::Arc};

use runtime_decision::{
    ApprovalAnswer, ChildEnd, Collected, Consultation, Effect, HookVerdict, Outcome, ToolEnd,
};
use runtime_ports::{PortFailure, PortFailureKind};

/// Why an effect that is settled at once is not performed.
pub(super) const AT_ONCE: &str = "what is settled at once is not performed";

/// The kind of an effect, with the call that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EffectName {
    Profile,
    CycleInputs,
    Hook,
    Model,
    Consultation { name: Arc<str>, call_id: Arc<str> },
    Approval { name: Arc<str>, call_id: Arc<str> },
    Tool { name: Arc<str>, call_id: Arc<str> },
    Interruptions,
    Resources,
    Memory,
    Artifact,
    Summary,
    Child { run_id: Arc<str>, agent: Arc<str> },
    SteerChild,
    WaitChildren,
}

impl EffectName {
    /// Of an effect that is performed. What is settled at once has no name.
    pub(super) fn of(effect: &Effect) -> Self {
        match effect {
            Effect::CheckArguments { .. } | Effect::CheckAnswer { .. } | Effect::Reserve { .. } => {
                unreachable!("{AT_ONCE}")
            }
            Effect::ResolveProfile { .. } => Self::Profile,
            Effect::CollectCycleInputs(_) => Self::CycleInputs,
            Effect::RunHook(_) => Self::Hook,
            Effect::CallModel(_) => Self::Model,
            Effect::ConsultApprovals(request) => Self::Consultation {
                name: Arc::clone(&request.tool_name),
                call_id: Arc::clone(&request.tool_call_id),
            },
            Effect::AwaitApproval(request) => Self::Approval {
                name: Arc::clone(&request.tool_name),
                call_id: Arc::clone(&request.tool_call_id),
            },
            Effect::InvokeTool(work) => Self::Tool {
                name: Arc::clone(&work.tool),
                call_id: Arc::clone(&work.invocation.call_id),
            },
            Effect::CollectInterruptions(_) => Self::Interruptions,
            Effect::LoadResources => Self::Resources,
            Effect::ConsultMemory(_) => Self::Memory,
            Effect::StoreArtifact { .. } => Self::Artifact,
            Effect::Summarize(_) => Self::Summary,
            Effect::RunChild(work) => {
                Self::Child { run_id: Arc::clone(&work.run_id), agent: Arc::clone(&work.agent) }
            }
            Effect::SteerChild { .. } => Self::SteerChild,
            Effect::WaitChildren { .. } => Self::WaitChildren,
        }
    }

    /// Whether dropping it leaves open what it did. Nothing comes of questions: whoever is asked
    /// changes nothing until the answer is there.
    pub(super) const fn may_have_acted(&self) -> bool {
        matches!(
            self,
            Self::Hook | Self::Model | Self::Summary | Self::Tool { .. } | Self::Child { .. }
        )
    }

    /// The outcome of an effect that panicked.
    pub(super) fn broken_down(&self) -> Outcome {
        let panicked = || "it panicked".to_owned();
        match self {
            Self::Profile => Outcome::ProfileResolved(Err(broke_down())),
            Self::Model => Outcome::ModelReplied(Err(broke_down())),
            Self::CycleInputs => Outcome::InputsCollected(Collected::Failed(panicked())),
            Self::Interruptions => Outcome::InterruptionsCollected(Collected::Failed(panicked())),
            Self::Hook => Outcome::HookReturned(HookVerdict::Failed(panicked())),
            Self::Consultation { .. } => {
                Outcome::ApprovalConsulted(Consultation::Failed { message: panicked() })
            }
            Self::Approval { .. } => {
                let message = broke_down().to_string();
                Outcome::ApprovalAnswered(ApprovalAnswer::BrokerFailed { message })
            }
            Self::Tool { .. } => Outcome::ToolReturned(ToolEnd::Panicked),
            Self::Resources => Outcome::ResourcesLoaded(Err(broke_down())),
            Self::Memory => Outcome::MemoryConsulted(Collected::Failed(panicked())),
            Self::Artifact => Outcome::ArtifactStored(Err(broke_down())),
            Self::Summary => Outcome::Summarized(Err(broke_down())),
            Self::Child { .. } => {
                Outcome::ChildEnded(ChildEnd::BrokeDown { message: panicked().into() })
            }
            Self::SteerChild => Outcome::ChildSteered(Err(panicked())),
            Self::WaitChildren => Outcome::WaitOver,
        }
    }

    /// The outcome of an effect that did not end in time.
    pub(super) fn given_up(&self, was_told: bool) -> Outcome {
        let late = || "it did not end in time".to_owned();
        match self {
            Self::Profile => Outcome::ProfileResolved(Err(lost(was_told))),
            Self::Model => Outcome::ModelReplied(Err(lost(was_told))),
            Self::CycleInputs if was_told => Outcome::InputsCollected(Collected::Interrupted),
            Self::CycleInputs => Outcome::InputsCollected(Collected::Failed(late())),
            Self::Interruptions if was_told => {
                Outcome::InterruptionsCollected(Collected::Interrupted)
            }
            Self::Interruptions => Outcome::InterruptionsCollected(Collected::Failed(late())),
            Self::Hook if was_told => Outcome::HookReturned(HookVerdict::Interrupted),
            Self::Hook => Outcome::HookReturned(HookVerdict::Failed(late())),
            Self::Consultation { .. } if was_told => {
                Outcome::ApprovalConsulted(Consultation::Interrupted)
            }
            Self::Consultation { .. } => {
                Outcome::ApprovalConsulted(Consultation::Failed { message: late() })
            }
            Self::Approval { .. } => Outcome::ApprovalAnswered(ApprovalAnswer::TimedOut),
            Self::Tool { .. } if was_told => Outcome::ToolReturned(ToolEnd::Cancelled),
            Self::Tool { .. } => Outcome::ToolReturned(ToolEnd::TimedOut),
            Self::Resources => Outcome::ResourcesLoaded(Err(lost(was_told))),
            Self::Memory if was_told => Outcome::MemoryConsulted(Collected::Interrupted),
            Self::Memory => Outcome::MemoryConsulted(Collected::Failed(late())),
            Self::Artifact => Outcome::ArtifactStored(Err(lost(was_told))),
            Self::Summary => Outcome::Summarized(Err(lost(was_told))),
            Self::Child { .. } => Outcome::ChildEnded(child_lost(&late())),
            Self::SteerChild => Outcome::ChildSteered(Err(late())),
            Self::WaitChildren => Outcome::WaitOver,
        }
    }
}

/// The failure of a port that panicked: whatever it had sent is on its way.
pub(super) fn broke_down() -> PortFailure {
    let message = "the adapter panicked, which is a fault of its own";
    PortFailure::in_flight_unknown(PortFailureKind::Internal, "ADAPTER_PANICKED", message)
}

fn child_lost(message: &str) -> ChildEnd {
    ChildEnd::Lost { message: message.into() }
}

/// What is said for a port that ended neither when it was told to nor at its deadline.
fn lost(was_told: bool) -> PortFailure {
    let (kind, code, message) = match was_told {
        true => (PortFailureKind::Canceled, "CANCELED", "the call was given up after cancellation"),
        false => (
            PortFailureKind::Timeout,
            "DEADLINE_EXCEEDED",
            "the call was given up after its deadline",
        ),
    };
    PortFailure::in_flight_unknown(kind, code, message)
}

impl fmt::Display for EffectName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Profile => formatter.write_str("model profile"),
            Self::CycleInputs => formatter.write_str("cycle inputs"),
            Self::Hook => formatter.write_str("hook"),
            Self::Model => formatter.write_str("model call"),
            Self::Consultation { name, call_id } => {
                write!(formatter, "approval provider about {name} ({call_id})")
            }
            Self::Approval { name, call_id } => write!(formatter, "approval of {name} ({call_id})"),
            Self::Tool { name, call_id } => write!(formatter, "tool {name} ({call_id})"),
            Self::Interruptions => formatter.write_str("interruption provider"),
            Self::Resources => formatter.write_str("resources"),
            Self::Memory => formatter.write_str("memory provider"),
            Self::Artifact => formatter.write_str("artifact"),
            Self::Summary => formatter.write_str("summary"),
            Self::Child { run_id, agent } => write!(formatter, "sub-agent {agent} ({run_id})"),
            Self::SteerChild => formatter.write_str("steering of a sub-run"),
            Self::WaitChildren => formatter.write_str("wait for sub-runs"),
        }
    }
}

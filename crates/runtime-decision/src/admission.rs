//! Decides which inputs are refused, before anything is changed.
//!
//! Knows what is open; refuses to know what would follow.

use runtime_ports::ToolSet;

use crate::{
    Happened, Input, Machine, Outcome, Plan, Refused, Task,
    batch::{Approval, Stage},
    definition::NoToolPolicy,
    state::{Ask, Phase, Standing, Terms},
    storable::storable_map,
};

/// Most steering messages that wait to be applied.
const MAX_WAITING_STEERING: usize = 1_024;

impl Machine {
    /// Refuses what cannot come now.
    pub(crate) fn admit(&self, input: &Input) -> Result<(), Refused> {
        let happened = &input.happened;
        match (&self.state.phase, happened) {
            (_, Happened::Settled { effect, outcome }) => self.admit_outcome(*effect, outcome),
            (Phase::Ended(_), _) => Err(Refused::Ended),
            (Phase::New, Happened::Started | Happened::Cancelled) => Ok(()),
            (_, Happened::Steered { steering_id, prompt }) => {
                self.admit_steering(*steering_id, prompt)
            }
            (Phase::New, _) | (_, Happened::Started) => Err(self.out_of_turn(happened)),
            (_, Happened::Decided { request_id, .. }) => {
                self.admit_decision(request_id, input.at_ms)
            }
            (Phase::Suspended(_), Happened::WallTimeElapsed) => Err(self.out_of_turn(happened)),
            (
                _,
                Happened::Cancelled
                | Happened::Suspended
                | Happened::Resumed
                | Happened::WallTimeElapsed
                | Happened::SpentBelow { .. },
            ) => Ok(()),
        }
    }

    fn out_of_turn(&self, happened: &Happened) -> Refused {
        Refused::OutOfTurn { phase: self.state.phase.name(), input: happened.name() }
    }

    fn admit_outcome(&self, effect: crate::EffectId, outcome: &Outcome) -> Result<(), Refused> {
        let open = self.state.open.iter().find(|open| open.id == effect.0);
        let open = open.filter(|open| open.standing == Standing::Asked);
        match open {
            None => Err(Refused::NotOpen { effect }),
            Some(open) if !belongs(open.ask, outcome) => Err(Refused::WrongOutcome { effect }),
            Some(_) => Ok(()),
        }
    }

    fn admit_steering(&self, steering_id: u64, prompt: &str) -> Result<(), Refused> {
        if prompt.trim().is_empty() {
            return Err(Refused::SteeringBlank { steering_id });
        }
        if steering_id <= self.state.last_steering {
            return Err(Refused::SteeringRepeated { steering_id });
        }
        if self.state.steering.len() >= MAX_WAITING_STEERING {
            return Err(Refused::SteeringFull { waiting: MAX_WAITING_STEERING });
        }
        Ok(())
    }

    fn admit_decision(&self, request_id: &str, at_ms: u64) -> Result<(), Refused> {
        let request_id = request_id.to_owned();
        if let Some((_, approval)) = self.asking(&request_id) {
            return match at_ms >= approval.expires_at_ms {
                true => Err(Refused::ApprovalLapsed { request_id }),
                false => Ok(()),
            };
        }
        let number = self.number_of(&request_id);
        match number.is_some_and(|number| self.state.decided.contains(&number)) {
            true => Err(Refused::AlreadyDecided { request_id }),
            false => Err(Refused::UnknownApproval { request_id }),
        }
    }

    /// The call that waits for this approval, and what is known of it.
    pub(crate) fn asking(&self, request_id: &str) -> Option<(usize, &Approval)> {
        let number = self.number_of(request_id)?;
        let calls = self.batch()?.calls.iter().enumerate();
        let asked = calls.filter(|(_, call)| call.stage == Stage::Asking);
        let mut approvals =
            asked.filter_map(|(place, call)| Some((place, call.approval.as_ref()?)));
        approvals.find(|(_, approval)| approval.number == number && approval.decision.is_none())
    }

    /// The counter in the id of a question of this run; none for any other spelling of it.
    fn number_of(&self, request_id: &str) -> Option<u64> {
        let number = request_id.strip_prefix(&*self.state.identity.run_id)?.strip_prefix('-')?;
        let number = number.parse().ok()?;
        Some(number).filter(|number| *self.id_text(*number) == *request_id)
    }
}

const fn belongs(ask: Ask, outcome: &Outcome) -> bool {
    matches!(
        (ask, outcome),
        (Ask::Profile | Ask::SummaryProfile, Outcome::ProfileResolved(_))
            | (Ask::Resources, Outcome::ResourcesLoaded(_))
            | (Ask::Memory { .. }, Outcome::MemoryConsulted(_))
            | (Ask::Offload { .. }, Outcome::ArtifactStored(_))
            | (Ask::Summary, Outcome::Summarized(_))
            | (Ask::Reserve { .. }, Outcome::Reserved(_))
            | (Ask::Model, Outcome::ModelRepliedUnaudited { .. })
            | (Ask::Answer, Outcome::AnswerChecked(_))
            | (Ask::Child { .. }, Outcome::ChildEnded(_))
            | (Ask::SteerChild { .. }, Outcome::ChildSteered(_))
            | (Ask::WaitChildren { .. }, Outcome::WaitOver)
            | (Ask::CycleInputs, Outcome::InputsCollected(_))
            | (Ask::Hook { .. }, Outcome::HookReturned(_))
            | (Ask::Model, Outcome::ModelReplied(_))
            | (Ask::Check { .. }, Outcome::ArgumentsChecked(_))
            | (Ask::Consult { .. }, Outcome::ApprovalConsulted(_))
            | (Ask::Approve { .. }, Outcome::ApprovalAnswered(_))
            | (Ask::Tool { .. }, Outcome::ToolReturned(_))
            | (Ask::Interruptions { .. }, Outcome::InterruptionsCollected(_))
    )
}

impl Happened {
    /// Name of the input, for messages.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Settled { .. } => "settled",
            Self::Steered { .. } => "steered",
            Self::Decided { .. } => "decided",
            Self::Cancelled => "cancelled",
            Self::Suspended => "suspended",
            Self::Resumed => "resumed",
            Self::WallTimeElapsed => "wall_time_elapsed",
            Self::SpentBelow { .. } => "spent_below",
        }
    }
}

impl Terms {
    /// What a task says, with the agent's own words where it says nothing.
    pub(crate) fn of(plan: &Plan, task: &Task) -> Self {
        let definition = plan.definition();
        let metadata = storable_map(task.metadata.clone());
        let mut tool_metadata = storable_map(definition.metadata.clone());
        tool_metadata.extend(metadata.clone());
        let budget = definition.budget.clone().tightened_by(&task.budget);
        Self {
            max_cycles: task.max_cycles.unwrap_or(definition.limits.max_cycles).max(1),
            no_tool_policy: task.no_tool_policy.unwrap_or(definition.no_tool_policy),
            allow_interruption: task.allow_interruption,
            native_multimodal: task.native_multimodal,
            excluded_tools: task.excluded_tools.clone(),
            budgeted: task.budgeted || !budget.is_empty(),
            cost_budgeted: task.cost_budgeted || budget.cost_nano_usd.is_some(),
            budget,
            depth: task.depth,
            compact_first: task.compact_first,
            metadata: std::sync::Arc::new(metadata),
            tool_metadata: std::sync::Arc::new(tool_metadata),
        }
    }

    /// The tools that the run advertises. A user who cannot be asked is not advertised, nor is an
    /// end that the policy does not need, nor are sub-agents to a run that is too deep for them.
    pub(crate) fn tools(&self, plan: &Plan) -> ToolSet {
        let finishes = self.no_tool_policy == NoToolPolicy::Continue;
        let delegates = self.depth < plan.definition().delegation.max_depth;
        let tools = plan.advertised(self.allow_interruption, finishes, delegates);
        if self.excluded_tools.is_empty() {
            return tools.clone();
        }
        let kept = tools.iter().filter(|tool| !self.excluded_tools.contains(&tool.name));
        kept.cloned().collect()
    }
}

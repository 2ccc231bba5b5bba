//! Decides what comes of an effect where nothing may hang on what came first.
//!
//! The answer is rolled from the effect itself: the same question gets the same answer, whenever it
//! is asked.

use std::hash::{DefaultHasher, Hash, Hasher};

use runtime_decision::{
    ApprovalAnswer, Collected, Consultation, Effect, HookSubject, HookVerdict, Outcome, ToolEnd,
};
use runtime_ports::{ApprovalDecision, PortFailureKind, ToolDirective};

use super::{Dice, Scene, World, answer_of};

/// Runs to the end; before the steps that `suspends` names the run is suspended, and resumed once
/// it has settled.
pub(crate) fn steady_run(scene: &Scene, seed: u16, suspends: &[usize]) -> World {
    use runtime_decision::Happened;

    let mut world = World::new(scene);
    world.give(Happened::Started).expect("a start");
    for step in 0..2_000 {
        if world.machine.status().is_some() {
            return world;
        }
        if suspends.contains(&step) && !world.machine.is_suspended() {
            world.give(Happened::Suspended).expect("a live run is suspended");
        }
        if world.machine.is_suspended() {
            world.store();
            world.give(Happened::Resumed).expect("a suspended run is resumed");
        } else {
            let outcome = steady_answer(&world.open[0].effect, seed);
            world.settle(0, outcome);
        }
    }
    panic!("the run comes to no end");
}

fn steady_answer(effect: &Effect, seed: u16) -> Outcome {
    let answers = (0_u16..).map(|salt| {
        let rolls = rolls(&(seed, salt, key(effect)));
        answer_of(effect, &mut Dice::new(&rolls))
    });
    let mut steady = answers.filter(|outcome| is_steady(effect, outcome));
    steady.next().expect("an answer")
}

fn key(effect: &Effect) -> String {
    match effect {
        Effect::ResolveProfile { .. } => String::new(),
        Effect::CollectCycleInputs(view) | Effect::CollectInterruptions(view) => {
            view.history.digest().to_string()
        }
        Effect::RunHook(call) => serde_json::to_string(&**call).expect("JSON"),
        Effect::CallModel(request) => request.messages.digest().to_string(),
        Effect::CheckArguments { tool, arguments } => format!("{tool} {arguments}"),
        Effect::ConsultApprovals(request) => format!("provider {}", request.digest),
        Effect::AwaitApproval(request) => format!("human {}", request.digest),
        Effect::InvokeTool(work) => {
            format!("{} {}", work.invocation.cycle, work.invocation.call_id)
        }
        Effect::LoadResources => "resources".to_owned(),
        Effect::ConsultMemory(call) => {
            format!("{} {:?} {}", call.provider, call.moment, call.context.digest())
        }
        Effect::StoreArtifact { content } => content.to_string(),
        Effect::Summarize(request) => format!("summary {}", request.messages.digest()),
        Effect::Reserve { wanted, least } => format!("{wanted:?} {least:?}"),
        Effect::CheckAnswer { answer } => answer.to_string(),
        Effect::RunChild(work) => format!("{} {}", work.task_id, work.prompt),
        Effect::SteerChild { prompt, .. } => prompt.to_string(),
        Effect::WaitChildren { timeout } => format!("{timeout:?}"),
    }
}

fn rolls(key: &impl Hash) -> Vec<u16> {
    let roll = |place: u16| {
        let mut hasher = DefaultHasher::new();
        (place, key).hash(&mut hasher);
        u16::try_from(hasher.finish() >> 48).expect("sixteen bits")
    };
    (0..40).map(roll).collect()
}

/// Whether the answer does to the siblings of a call what it would do at any other time.
fn is_steady(effect: &Effect, outcome: &Outcome) -> bool {
    let of_call = match effect {
        Effect::RunHook(call) => matches!(
            call.subject,
            HookSubject::BeforeToolCall { .. } | HookSubject::AfterToolCall { .. }
        ),
        _ => false,
    };
    match outcome {
        Outcome::InputsCollected(Collected::Interrupted)
        | Outcome::MemoryConsulted(Collected::Interrupted)
        | Outcome::HookReturned(HookVerdict::Interrupted)
        | Outcome::ApprovalConsulted(Consultation::Interrupted | Consultation::Failed { .. })
        | Outcome::ToolReturned(ToolEnd::Cancelled) => false,
        Outcome::ApprovalAnswered(ApprovalAnswer::Decided { decision }) => {
            *decision != ApprovalDecision::ApprovedForRun
        }
        Outcome::ProfileResolved(Err(failure))
        | Outcome::ResourcesLoaded(Err(failure))
        | Outcome::ModelReplied(Err(failure))
        | Outcome::Summarized(Err(failure))
        | Outcome::ArtifactStored(Err(failure)) => failure.kind != PortFailureKind::Canceled,
        Outcome::HookReturned(verdict) if of_call => ends_nothing(verdict),
        _ => true,
    }
}

fn ends_nothing(verdict: &HookVerdict) -> bool {
    let goes_on = |given: Option<&runtime_decision::HookResult>| {
        given.is_none_or(|given| given.directive == ToolDirective::Continue)
    };
    match verdict {
        HookVerdict::Call(edits) => goes_on(edits.result.as_ref()),
        HookVerdict::Result(edits) => goes_on(edits.result.as_ref()),
        _ => false,
    }
}

//! Decides whether a stored state is one that a run can be in.
//!
//! Knows what each phase and each stage needs; refuses to know how a run got there. Invariant:
//! whatever passes here never makes the machine panic, and never waits for what nobody is asked for.

use runtime_ports::ToolDescriptor;

use crate::{
    HookPoint, LoadError, Plan,
    batch::{Batch, CallState, Stage},
    children::{check_children, check_delegation},
    context::{MOST_OVERLONG, Measured},
    spending::{Reservation, Spending},
    state::{Ask, Open, Phase, RequestView, Standing, State, Stop},
};

/// Counters above this are damaged: no run gets there, and counting on must not overflow.
const MAX_COUNT: u64 = 1 << 62;

pub(crate) fn check(plan: &Plan, state: &State) -> Result<(), LoadError> {
    check_counters(state)?;
    check_open(state)?;
    check_reservations(state)?;
    check_children(state).or_else(damaged)?;
    let phase = match &state.phase {
        Phase::Suspended(inner) => check_suspended(state, inner)?,
        Phase::BetweenCycles if !rests(state) => {
            return damaged("it is between cycles and not suspended");
        }
        phase => phase,
    };
    check_cycle(state, phase)?;
    require(view_of(phase).is_none_or(is_sound), "a request was shaped by what never happened")?;
    match phase {
        Phase::RunningTools(batch) => check_batch(plan, state, batch),
        phase => check_single(plan, state, phase),
    }
}

/// The request that a run is at.
fn view_of(phase: &Phase) -> Option<&RequestView> {
    match phase {
        Phase::Recalling(view) | Phase::AwaitingModel(view) => Some(view),
        Phase::Preparing(at) => Some(&at.view),
        Phase::Compacting(at) => Some(&at.view),
        Phase::Reviewing(at) => Some(&at.view),
        _ => None,
    }
}

/// What memory providers put in is among its edits, and a run ends with the last overlong answer.
fn is_sound(view: &RequestView) -> bool {
    view.recalled <= view.edits.len() && view.overlong < MOST_OVERLONG
}

/// Whether it is suspended, or will be once its children have come to a rest.
fn rests(state: &State) -> bool {
    let at_work = |open: &Open| open.ask.is_child() && open.standing == Standing::Asked;
    matches!(state.phase, Phase::Suspended(_))
        || state.stop == Some(Stop::Suspend) && state.open.iter().any(at_work)
}

fn damaged<T>(reason: &str) -> Result<T, LoadError> {
    Err(LoadError::malformed(reason))
}

fn require(holds: bool, reason: &str) -> Result<(), LoadError> {
    match holds {
        true => Ok(()),
        false => damaged(reason),
    }
}

fn check_counters(state: &State) -> Result<(), LoadError> {
    require(state.last_id < MAX_COUNT && state.sequence < MAX_COUNT, "a counter is out of range")?;
    let limit = state.terms.max_cycles;
    require(limit > 0 && state.cycle <= limit, "the cycle is beyond the limit")?;
    let steering: Vec<_> = state.steering.iter().map(|said| said.steering_id).collect();
    let rises = steering.is_sorted_by(|left, right| left < right);
    let newest = steering.last().is_none_or(|last| *last <= state.last_steering);
    require(rises && newest, "steering messages are out of order")?;
    require(state.measured.is_none_or(Measured::is_sound), "a measure is of nothing")?;
    let length = state.history.len();
    let inside = |&(first, end): &(usize, usize)| first <= end && end <= length;
    require(
        state.records.iter().all(|record| inside(&record.messages)),
        "a record lies outside of the history",
    )
}

fn check_open(state: &State) -> Result<(), LoadError> {
    let mut ids: Vec<_> = state.open.iter().map(|open| open.id).collect();
    ids.sort_unstable();
    let unique = ids.windows(2).all(|pair| pair[0] < pair[1]);
    let given = ids.iter().all(|id| (1..=state.last_id).contains(id));
    require(unique && given, "the ids of open effects were never given out")?;
    let holds = matches!(state.phase, Phase::Suspended(_)) || state.stop == Some(Stop::Suspend);
    let stands = |open: &Open| match open.standing {
        Standing::Due => false,
        Standing::Held => holds,
        Standing::Asked => !matches!(state.phase, Phase::Suspended(_)),
    };
    require(state.open.iter().all(stands), "an open effect is neither asked for nor held")
}

/// What is reserved pays for what the run is at.
fn check_reservations(state: &State) -> Result<(), LoadError> {
    let held = &state.reservations;
    let phase = match &state.phase {
        Phase::Suspended(inner) => inner,
        phase => phase,
    };
    let fits = |held: &Reservation| match (phase, held.spending) {
        (Phase::AwaitingModel(_), Spending::Model) => true,
        (Phase::Compacting(at), Spending::Summary) => at.cut.is_some(),
        (Phase::RunningTools(batch), Spending::Batch) => batch.is_admitted,
        (Phase::RunningTools(batch), Spending::Call { call }) => call < batch.calls.len(),
        _ => false,
    };
    let given = |held: &Reservation| (1..=state.last_id).contains(&held.id);
    let mut all = held.iter();
    let is_sound = all.all(|it| state.terms.budgeted && given(it) && fits(it));
    let mut ids: Vec<_> = held.iter().map(|held| held.id).collect();
    ids.sort_unstable();
    let is_unique = ids.windows(2).all(|pair| pair[0] < pair[1]);
    require(is_sound && is_unique, "what is reserved does not fit the phase")
}

fn check_suspended<'a>(state: &State, inner: &'a Phase) -> Result<&'a Phase, LoadError> {
    require(state.stop.is_none(), "a suspended run is about to stop")?;
    match inner {
        Phase::New | Phase::Suspended(_) | Phase::Ended(_) | Phase::Closing(_) => {
            damaged("a run is suspended at what cannot be resumed")
        }
        inner => Ok(inner),
    }
}

fn check_cycle(state: &State, phase: &Phase) -> Result<(), LoadError> {
    let fits = match phase {
        Phase::New | Phase::ResolvingModel => state.cycle == 0,
        Phase::BetweenCycles | Phase::AwaitingChildren => state.cycle < state.terms.max_cycles,
        Phase::Ended(_) | Phase::Closing(_) => true,
        _ => state.cycle > 0,
    };
    require(fits, "the cycle does not fit the phase")?;
    let may_stop = match phase {
        Phase::New | Phase::Ended(_) | Phase::Closing(_) => false,
        Phase::AwaitingModel(_) | Phase::Compacting(_) | Phase::RunningTools(_) => true,
        _ => matches!(state.stop, None | Some(Stop::Suspend)),
    };
    require(state.stop.is_none() || may_stop, "a run that stops waits for nothing")
}

/// A phase outside of a batch waits for one thing, or for none.
fn check_single(plan: &Plan, state: &State, phase: &Phase) -> Result<(), LoadError> {
    let asks: Vec<_> =
        state.open.iter().map(|open| open.ask).filter(|ask| !ask.is_child()).collect();
    let has_children = state.open.iter().any(|open| open.ask.is_child());
    if matches!(phase, Phase::New | Phase::ResolvingModel | Phase::Ended(_)) && has_children {
        return damaged("children are at work before the first answer, or after the end");
    }
    let fits = match (phase, &asks[..]) {
        (Phase::AwaitingChildren | Phase::Closing(_), []) => has_children,
        (Phase::New | Phase::BetweenCycles | Phase::Ended(_), [])
        | (Phase::CollectingInputs, [Ask::CycleInputs])
        | (Phase::AwaitingModel(_), [Ask::Model | Ask::Reserve { spending: Spending::Model }]) => {
            true
        }
        (Phase::ResolvingModel, asks) => opens(plan, state, asks),
        (Phase::CheckingAnswer(_), [Ask::Answer]) => plan.definition().answer.is_some(),
        (Phase::Recalling(_), [Ask::Memory { provider }]) => {
            plan.definition().memory.get(*provider).is_some_and(|memory| memory.recalls)
        }
        // What else it needs is looked at when the whole of the run is there.
        (Phase::Compacting(at), asks) => at.fits(plan, asks),
        (Phase::Preparing(at), [Ask::Hook { hook, call: None }]) => {
            let before = matches!(at.point, HookPoint::BeforeMemoryCompact | HookPoint::BeforeLlm);
            before && runs_at(plan, *hook, at.point)
        }
        (Phase::Reviewing(_), [Ask::Hook { hook, call: None }]) => {
            runs_at(plan, *hook, HookPoint::AfterLlm)
        }
        _ => false,
    };
    require(fits, "the open effects do not fit the phase")
}

/// What a run waits for before its first cycle was asked for, and is not there yet.
fn opens(plan: &Plan, state: &State, asks: &[Ask]) -> bool {
    let waits = |ask| asks.iter().filter(|open| **open == ask).count();
    let resources = plan.definition().callbacks.resources && state.resources.is_none();
    let summaries = plan.definition().context.summary_model.is_some()
        && state.terms.cost_budgeted
        && state.summary_price.is_none();
    waits(Ask::Profile) == usize::from(state.profile.is_none())
        && waits(Ask::SummaryProfile) <= usize::from(summaries)
        && waits(Ask::Resources) == usize::from(resources)
        && (1..=3).contains(&asks.len())
        && asks.iter().all(|ask| matches!(ask, Ask::Profile | Ask::SummaryProfile | Ask::Resources))
}

fn runs_at(plan: &Plan, hook: usize, point: HookPoint) -> bool {
    plan.definition().hooks.get(hook).is_some_and(|hook| hook.points.contains(&point))
}

fn check_batch(plan: &Plan, state: &State, batch: &Batch) -> Result<(), LoadError> {
    let (first, end) = batch.group;
    let is_reserving = state.open.iter().any(|open| matches!(open.ask, Ask::Reserve { .. }));
    let is_held = rests(state) || is_reserving;
    let is_unopened = batch.group == (0, 0) && is_held;
    let within = (first < end || is_unopened) && end <= batch.calls.len();
    require(within, "the group of a batch lies outside of it")?;
    let steered = batch.steered.as_ref().is_none_or(|it| it.after < batch.calls.len());
    require(steered, "a batch was interrupted after a call that it has not")?;
    let reserves = Ask::Reserve { spending: Spending::Batch };
    let is_unpaid = batch.group == (0, 0) && !batch.is_admitted;
    let of_call = |open: &&Open| match open.ask.call() {
        Some(call) => call < batch.calls.len(),
        None => open.ask == reserves && is_unpaid,
    };
    let asked = state.open.iter().filter(|open| !open.ask.is_child()).collect::<Vec<_>>();
    require(asked.iter().all(of_call), "an open effect is about a call that is not there")?;
    for (place, call) in batch.calls.iter().enumerate() {
        let reached = match place {
            place if place < first => call.stage == Stage::Done,
            place if place < end => call.stage != Stage::Waiting,
            _ => call.stage == Stage::Waiting,
        };
        require(reached, "a call is at a stage that its group has not reached")?;
        check_call(plan, state, call, place)?;
    }
    let is_over = batch.in_group().iter().all(|call| call.stage == Stage::Done);
    let waits = !asked.is_empty()
        || rests(state)
        || batch.in_group().iter().any(|call| call.delegation.is_some());
    // A group whose calls are done waits for what interrupts it, or for being resumed.
    let may_be_over = rests(state) || !asked.is_empty();
    require(waits && (!is_over || may_be_over), "a batch waits for nothing")
}

fn check_call(plan: &Plan, state: &State, call: &CallState, place: usize) -> Result<(), LoadError> {
    let about = state.open.iter().map(|open| open.ask).filter(|ask| ask.call() == Some(place));
    let asks: Vec<_> = about.collect();
    let hook_at = |hook, point| runs_at(plan, hook, point);
    let fits = match (call.stage, &asks[..]) {
        (Stage::Waiting | Stage::Deferred | Stage::Cleared | Stage::Done, [])
        | (Stage::Cleared | Stage::Done, [Ask::Interruptions { .. }])
        | (Stage::Checking, [Ask::Check { .. }])
        | (Stage::Consulting, [Ask::Consult { .. }])
        | (Stage::Asking, [Ask::Approve { .. }])
        | (Stage::Admitting, [Ask::Reserve { spending: Spending::Call { .. } }]) => true,
        (Stage::Running, [Ask::Tool { .. }]) => call.delegation.is_none(),
        (Stage::Running, _) => call.delegation.is_some(),
        (Stage::BeforeHook, [Ask::Hook { hook, .. }]) => hook_at(*hook, HookPoint::BeforeToolCall),
        (Stage::AfterHook, [Ask::Hook { hook, .. }]) => hook_at(*hook, HookPoint::AfterToolCall),
        _ => false,
    };
    require(fits, "the open effects do not fit the stage of their call")?;
    check_delegation(plan, state, call, &asks).or_else(damaged)?;
    require(has_what_it_needs(plan, state, call), "a call lacks what its stage needs")
}

fn has_what_it_needs(plan: &Plan, state: &State, call: &CallState) -> bool {
    let number = |number: u64| (1..=state.last_id).contains(&number);
    let approval = call.approval.as_ref();
    let is_numbered = approval.is_none_or(|it| number(it.number)) && call.key.is_none_or(number);
    let needs = match call.stage {
        Stage::Waiting | Stage::BeforeHook => true,
        Stage::Checking | Stage::Cleared | Stage::Deferred | Stage::Admitting => {
            tool_of(plan, call).is_some()
        }
        Stage::Consulting | Stage::Asking => tool_of(plan, call).is_some() && approval.is_some(),
        Stage::Running => tool_of(plan, call).is_some() && call.key.is_some(),
        Stage::AfterHook | Stage::Done => call.result.is_some(),
    };
    is_numbered && needs
}

/// The tool of a call that could run.
fn tool_of<'a>(plan: &'a Plan, call: &CallState) -> Option<&'a ToolDescriptor> {
    let asked = call.patched.as_ref().filter(|call| call.arguments.is_object())?;
    plan.tool(&asked.name)
}

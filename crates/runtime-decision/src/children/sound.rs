//! Decides whether the children of a stored run are such as a run can have.
//!
//! Knows what each task and each delegation needs. Invariant: whatever passes here never makes the
//! machine panic, and never waits for a child that nobody runs.

use super::delegating::{Delegation, Part};
use crate::{
    Plan,
    batch::{CallState, Stage},
    state::{Ask, State},
};

/// Whether each task at work is run by one open effect, and no other is.
pub(crate) fn check_children(state: &State) -> Result<(), &'static str> {
    let tasks = state.children.as_deref().map_or(&[][..], |children| &children.tasks);
    let started = state.children.as_deref().map_or(0, |children| children.started);
    let mut open = vec![0_usize; tasks.len()];
    for ask in state.open.iter().map(|open| open.ask) {
        let Ask::Child { child } = ask else { continue };
        *open.get_mut(child).ok_or("a child is run that is none")? += 1;
    }
    let mut runs: Vec<_> = tasks.iter().map(|task| task.run).collect();
    runs.sort_unstable();
    let is_given = |run: &u64| (1..=state.last_id).contains(run);
    if !runs.iter().all(is_given) || runs.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err("the id of a child's run was never given out");
    }
    if started < tasks.len() {
        return Err("more children are there than were started");
    }
    let fits = tasks.iter().zip(&open).all(|(task, open)| *open == usize::from(task.is_at_work()));
    let rests = tasks.iter().all(|task| task.is_at_work() || task.stored.is_none());
    match fits && rests {
        true => Ok(()),
        false => Err("a child is at work that nobody runs, or is run that is over"),
    }
}

/// Whether what a call waits for is there, and what is asked about it fits.
pub(crate) fn check_delegation(
    plan: &Plan,
    state: &State,
    call: &CallState,
    asks: &[Ask],
) -> Result<(), &'static str> {
    let tasks = state.children.as_deref().map_or(&[][..], |children| &children.tasks);
    let is_task = |place: &usize| *place < tasks.len();
    let name = &call.effective().name;
    let delegates = plan.delegation_tools().iter().any(|tool| *tool.definition.name == **name);
    let Some(delegation) = call.delegation.as_deref() else {
        let is_lost =
            call.stage == Stage::Running && matches!(asks, [Ask::Tool { .. }]) && delegates;
        return if is_lost { Err("a tool of the engine's own is run as another") } else { Ok(()) };
    };
    let fits = call.stage == Stage::Running
        && delegates
        && match (delegation, asks) {
            (Delegation::Started { parts, .. }, []) => {
                let places = || {
                    parts.iter().filter_map(|part| match part {
                        Part::Started { task } => Some(*task),
                        Part::Refused { .. } => None,
                    })
                };
                let mut all = places();
                all.all(|place| is_task(&place))
                    && places().any(|place| tasks[place].is_at_work() && !tasks[place].background)
            }
            (Delegation::Waiting { tasks: waited, .. }, [Ask::WaitChildren { .. }]) => {
                waited.iter().all(is_task) && waited.iter().any(|place| tasks[*place].is_at_work())
            }
            (Delegation::Steering { task, .. }, [Ask::SteerChild { .. }]) => is_task(task),
            _ => false,
        };
    match fits {
        true => Ok(()),
        false => Err("what a call waits for does not fit its stage"),
    }
}

//! Decides what must be true of the children of every run.
//!
//! Knows the record of a run and its result; each truth is counted here anew.

use std::collections::{BTreeMap, BTreeSet};

use runtime_decision::{
    ChildEnd, Effect, EffectId, Event, Happened, Outcome, RunResult, RunStatus,
};
use runtime_ports::{ModelContent, ModelRole};

use super::{Happening, Record};

/// Whether a tool of this name is the engine's own.
pub(super) fn delegates(name: &str) -> bool {
    name.contains("sub_task")
}

/// All truths about the children of a run that has ended.
pub(super) fn assert_children(record: &Record, result: &RunResult) {
    assert_started_and_ended(record);
    assert_run_once(record);
    assert_told_once(record, result);
    assert_spent_once(record, result);
}

/// Each run that was told to start is told to end, once, before its parent is.
fn assert_started_and_ended(record: &Record) {
    let mut at_work = BTreeSet::new();
    let mut over = BTreeSet::new();
    for event in record.events() {
        match &event.event {
            Event::SubRunStarted { sub_run_id, .. } => {
                assert!(at_work.insert(sub_run_id) && !over.contains(sub_run_id), "started twice");
            }
            Event::SubRunCompleted { sub_run_id, .. } => {
                assert!(at_work.remove(sub_run_id), "ended and not at work");
                assert!(over.insert(sub_run_id), "ended twice");
            }
            event if event.is_terminal() => assert!(at_work.is_empty(), "{at_work:?} live on"),
            _ => {}
        }
    }
}

/// A run begins once, goes on only from where it was suspended, and never after its process was
/// lost with it at work.
fn assert_run_once(record: &Record) {
    let (mut begun, mut open) = (BTreeSet::new(), BTreeMap::<EffectId, &str>::new());
    let (mut over, mut rests) = (BTreeSet::new(), BTreeMap::new());
    for happening in &record.happenings {
        match happening {
            Happening::Asked(asked) => {
                let Effect::RunChild(work) = &asked.effect else { continue };
                assert!(!over.contains(&*work.run_id), "{} is run when it is over", work.run_id);
                assert_eq!(work.stored.as_ref(), rests.get(&*work.run_id).copied());
                assert!(work.stored.is_some() || begun.insert(&*work.run_id), "begun twice");
                open.insert(asked.id, &work.run_id);
            }
            Happening::Taken(input) => {
                let Happened::Settled { effect, outcome } = &input.happened else { continue };
                let Outcome::ChildEnded(end) = &**outcome else { continue };
                let run = open.remove(effect).expect("it is open");
                match end {
                    ChildEnd::Suspended { stored, .. } => drop(rests.insert(run, stored)),
                    _ => drop(over.insert(run)),
                }
            }
            Happening::Crashed => over.extend(std::mem::take(&mut open).into_values()),
            _ => {}
        }
    }
}

/// The model hears of each answer once; of all of them, when it had the last word.
fn assert_told_once(record: &Record, result: &RunResult) {
    let told: Vec<String> = result
        .history
        .messages()
        .filter(|message| message.role != ModelRole::Assistant)
        .flat_map(|message| &message.content)
        .map(|item| match item {
            ModelContent::Text { text } => text.clone(),
            ModelContent::ToolResult { content, .. } => content.clone(),
            _ => String::new(),
        })
        .collect();
    let is_edited = record.asked().any(|asked| matches!(asked.effect, Effect::RunHook(_)));
    let last = result.history.last().map(|entry| entry.message().clone());
    let had_last_word = last.is_some_and(|last| last.role == ModelRole::Assistant)
        && result.status == RunStatus::Completed
        && result.cycles.len() < max_cycles(record)
        && !is_edited;
    for event in record.events() {
        let Event::SubRunCompleted { final_output, .. } = &event.event else { continue };
        if !final_output.starts_with("answer of") {
            continue;
        }
        let count = told.iter().map(|text| text.matches(&**final_output).count()).sum::<usize>();
        assert!(count <= 1, "{final_output} is told {count} times: {told:#?}");
        assert!(count == 1 || !had_last_word, "{final_output} is lost: {told:#?}");
    }
}

fn max_cycles(record: &Record) -> usize {
    let limits = record.events().filter_map(|event| match &event.event {
        Event::RunStarted { max_cycles, .. } => Some(*max_cycles as usize),
        _ => None,
    });
    limits.max().unwrap_or(0)
}

/// What children used is added once: all that an end says, or what was known before it was lost.
fn assert_spent_once(record: &Record, result: &RunResult) {
    let mut works = BTreeMap::new();
    let mut used = BTreeMap::<String, u64>::new();
    for happening in &record.happenings {
        match happening {
            Happening::Asked(asked) => {
                if let Effect::RunChild(work) = &asked.effect {
                    works.insert(asked.id, work.run_id.to_string());
                }
            }
            Happening::Taken(input) => {
                let Happened::Settled { effect, outcome } = &input.happened else { continue };
                match &**outcome {
                    Outcome::ChildEnded(ChildEnd::Ended(result)) => {
                        used.insert(works[effect].clone(), result.spent.cost_nano_usd.at_least);
                    }
                    Outcome::ChildEnded(ChildEnd::Suspended { used: so_far, .. }) => {
                        used.insert(works[effect].clone(), so_far.cost_nano_usd.at_least);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    let sum = used.values().sum::<u64>();
    // Where the model has a price, the run itself adds to it.
    let has_price = record.inputs().any(|input| match &input.happened {
        Happened::Settled { outcome, .. } => {
            matches!(&**outcome, Outcome::ProfileResolved(Ok(it)) if it.price.is_some())
        }
        _ => false,
    });
    let spent = result.spent.cost_nano_usd.at_least;
    assert!(
        if has_price { spent >= sum } else { spent == sum },
        "{spent} are spent, and {sum} by children"
    );
}

//! Decides what must be true of what a run begins with and of what it ends with.
//!
//! Knows the record of a run, its agent and its result.

use std::collections::BTreeMap;

use runtime_decision::{Effect, Event, Happened, Outcome, RunResult, RunStatus};
use runtime_ports::{ModelMessage, ModelRole};

use super::{Happening, Record, Scene};

/// Whatever a model said, an answer is one that was found good, and one was corrected at most; the
/// same resources stand in every request, and never in the history.
pub(crate) fn assert_beginning_and_end(scene: &Scene, record: &Record, result: &RunResult) {
    assert_answer(scene, record, result);
    assert_resources(scene, record, result);
}

fn assert_answer(scene: &Scene, record: &Record, result: &RunResult) {
    let again = record.events().filter(|told| {
        let Event::CycleInjectedMessages { reason, .. } = &told.event else { return false };
        &**reason == "answer"
    });
    let again = again.count();
    if scene.plan.definition().answer.is_none() {
        assert!(again == 0 && result.answer.is_none());
        return;
    }
    assert!(again <= 1, "an answer was asked for {again} times more");
    match result.status {
        RunStatus::Completed => assert_eq!(result.answer, found_good(record)),
        _ => assert_eq!(result.answer, None),
    }
    let code = result.error.as_ref().map_or("", |error| &*error.code);
    let was_last = result.cycles.len() >= scene.plan.definition().limits.max_cycles as usize;
    assert!(code != "answer_invalid" || again == 1 || was_last);
}

/// The last answer that was found good.
fn found_good(record: &Record) -> Option<serde_json::Value> {
    let (mut asked, mut good) = (BTreeMap::new(), None);
    for happening in &record.happenings {
        match happening {
            Happening::Asked(effect) => drop(asked.insert(effect.id, &effect.effect)),
            Happening::Taken(input) => {
                let Happened::Settled { effect, outcome } = &input.happened else { continue };
                if let (Outcome::AnswerChecked(Ok(())), Effect::CheckAnswer { answer }) =
                    (&**outcome, asked[effect])
                {
                    good = Some((**answer).clone());
                }
            }
            _ => {}
        }
    }
    good
}

fn assert_resources(scene: &Scene, record: &Record, result: &RunResult) {
    let loaded = record.inputs().filter_map(|input| match &input.happened {
        Happened::Settled { outcome, .. } => match &**outcome {
            Outcome::ResourcesLoaded(Ok(snapshot)) => Some(snapshot),
            _ => None,
        },
        _ => None,
    });
    let loaded: Vec<_> = loaded.collect();
    assert!(loaded.len() <= usize::from(scene.plan.definition().callbacks.resources));
    let digest = loaded.first().map(|snapshot| &*snapshot.digest);
    assert_eq!(result.resources_digest.as_deref(), digest);
    let is_placed = loaded.iter().any(|it| !(it.instructions.is_empty() && it.skills.is_empty()));
    let is_system = |message: &&ModelMessage| message.role == ModelRole::System;
    let own = usize::from(scene.plan.definition().answer.is_some());
    for asked in record.asked() {
        let Effect::CallModel(request) = &asked.effect else { continue };
        let systems = request.messages.messages().take_while(is_system).count();
        assert_eq!(systems, own + usize::from(is_placed));
    }
    assert_eq!(result.history.messages().filter(is_system).count(), own);
}

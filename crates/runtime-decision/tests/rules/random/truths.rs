//! Decides what must be true of every run, whatever happened to it.
//!
//! Knows the record of a run and its result; each truth is counted here anew.

use std::collections::{BTreeMap, BTreeSet};

use runtime_decision::{Effect, Event, Halt, Happened, Outcome, RunResult};
use runtime_ports::{
    CommitDisposition, ModelContent, ModelMessage, ModelRole, PortFailureKind, TokenUsage,
};

use super::{Happening, Record, children};

/// All truths about a run that has ended.
pub(crate) fn assert_truths(record: &Record, result: &RunResult) {
    assert_paired(result.history.messages());
    for asked in record.asked() {
        if let Effect::CallModel(request) = &asked.effect {
            assert_paired(request.messages.messages());
        }
    }
    assert_told_in_order(record);
    assert_settled_once(record);
    assert_approvals_in_pairs(record);
    assert_calls(record);
    assert_steering(record, result);
    assert_fits(record);
    assert_compactions(record);
    assert_usage(record, result);
    assert_charged_once(record);
    children::assert_children(record, result);
}

/// Every call has its one result, right behind it and in call order; there is no other result, and
/// no blank text.
pub(crate) fn assert_paired<'a>(messages: impl Iterator<Item = &'a ModelMessage>) {
    let mut wanted = std::collections::VecDeque::new();
    for message in messages {
        assert!(!message.content.is_empty(), "an empty message");
        for item in &message.content {
            match item {
                ModelContent::Text { text } => assert!(!text.trim().is_empty(), "blank text"),
                ModelContent::ToolResult { tool_use_id, .. } => {
                    assert_eq!(message.role, ModelRole::Tool);
                    assert_eq!(wanted.pop_front().as_ref(), Some(tool_use_id), "a result too much");
                }
                _ => assert!(wanted.is_empty(), "something between a call and its result"),
            }
        }
        wanted.extend(message.content.iter().filter_map(|item| match item {
            ModelContent::ToolUse { id, .. } => Some(id.clone()),
            _ => None,
        }));
    }
    assert!(wanted.is_empty(), "calls without results: {wanted:?}");
}

/// One terminal event, then silence; numbers without a gap; nothing between the segments.
fn assert_told_in_order(record: &Record) {
    let events: Vec<_> = record.events().collect();
    for (place, event) in events.iter().enumerate() {
        assert_eq!(event.sequence, place as u64 + 1);
        let is_last = place + 1 == events.len();
        assert_eq!(event.event.is_terminal(), is_last, "{event:?}");
        if matches!(event.event, Event::RunSuspended { .. }) {
            assert_eq!(events[place + 1].event, Event::RunResumed);
        }
    }
    let first = events.iter().position(|event| matches!(event.event, Event::RunStarted { .. }));
    assert_eq!(first, Some(0));
}

/// Every effect is settled once, withdrawn, or lost with its process.
fn assert_settled_once(record: &Record) {
    let (mut open, mut over) = (BTreeMap::new(), BTreeSet::new());
    for happening in &record.happenings {
        match happening {
            Happening::Asked(asked) => {
                assert!(!over.contains(&asked.id), "an effect that was over is asked for again");
                assert!(open.insert(asked.id, &asked.effect).is_none());
            }
            Happening::Halted(id, Halt::Withdraw) => {
                let effect = open.remove(id).expect("what is withdrawn is open");
                // A question that is withdrawn for a suspension is put again as it was.
                if !matches!(effect, Effect::AwaitApproval(_)) {
                    over.insert(*id);
                }
            }
            Happening::Taken(input) => {
                if let Happened::Settled { effect, .. } = &input.happened {
                    assert!(open.remove(effect).is_some(), "what is settled is open");
                    over.insert(*effect);
                }
            }
            Happening::Crashed => open.clear(),
            Happening::Halted(id, _) => assert!(open.contains_key(id)),
            Happening::Told(_) | Happening::Charged(_) => {}
        }
    }
    assert!(open.is_empty(), "the run ended with open effects: {open:?}");
}

fn assert_approvals_in_pairs(record: &Record) {
    let (mut asked, mut resolved) = (BTreeSet::new(), BTreeSet::new());
    for event in record.events() {
        match &event.event {
            Event::ApprovalRequested { request_id, .. } => {
                assert!(asked.insert(request_id), "asked twice");
            }
            Event::ApprovalResolved { request_id, .. } => {
                assert!(asked.contains(request_id), "resolved and not asked");
                assert!(resolved.insert(request_id), "resolved twice");
            }
            _ => {}
        }
    }
    assert_eq!(asked, resolved, "a question was left open");
}

/// Every call has one told result; only calls that ran were told to be started; what was denied or
/// skipped never ran; what may not run twice ran once.
fn assert_calls(record: &Record) {
    let mut calls = Vec::new();
    let (mut results, mut started) = (BTreeMap::new(), BTreeSet::new());
    for event in record.events() {
        let at = |id: &str| (event.cycle.unwrap_or(0), id.to_owned());
        match &event.event {
            Event::CycleLlmResponse { tool_calls, .. } => {
                calls.extend(tool_calls.iter().map(|call| at(&call.id)));
            }
            Event::ToolCallStarted { tool_call_id, tool_name, .. }
                if !children::delegates(tool_name) =>
            {
                assert!(started.insert(at(tool_call_id)), "started twice");
            }
            Event::ToolResult { tool_call_id, error_code, .. } => {
                let code = error_code.as_ref().map(|code| code.to_string());
                assert!(results.insert(at(tool_call_id), code).is_none(), "two results");
            }
            _ => {}
        }
    }
    calls.sort();
    assert_eq!(calls, results.keys().cloned().collect::<Vec<_>>());
    assert_runs(record, &started, &results);
}

type CallPlace = (u32, String);

fn assert_runs(
    record: &Record,
    started: &BTreeSet<CallPlace>,
    results: &BTreeMap<CallPlace, Option<String>>,
) {
    let mut runs = BTreeMap::<_, (usize, BTreeSet<_>, bool)>::new();
    for asked in record.asked() {
        let Effect::InvokeTool(work) = &asked.effect else { continue };
        let place = (work.invocation.cycle, work.invocation.call_id.to_string());
        let run = runs.entry(place).or_default();
        run.0 += 1;
        run.1.insert(work.invocation.idempotency_key.clone());
        run.2 = matches!(&*work.tool, "p" | "w" | "ask_user" | "task_finish");
    }
    assert_eq!(&runs.keys().cloned().collect::<BTreeSet<_>>(), started);
    for (place, (count, keys, may_repeat)) in &runs {
        assert!(*count == 1 || *may_repeat, "{place:?} ran {count} times");
        assert_eq!(keys.len(), 1, "one call, one key");
        let code = results[place].as_deref().unwrap_or_default();
        let never_ran = code.starts_with("skipped_")
            || code.starts_with("approval_")
            || code.starts_with("invalid_")
            || matches!(code, "policy_denied" | "tool_not_allowed" | "tool_not_found");
        assert!(!never_ran, "{place:?} ran and is told to be {code}");
    }
}

/// Each message is in the history once, or returned.
fn assert_steering(record: &Record, result: &RunResult) {
    for input in record.inputs() {
        let Happened::Steered { steering_id, prompt } = &input.happened else { continue };
        let said = ModelContent::text(&**prompt);
        let applied = result.history.messages().filter(|it| it.content.contains(&said)).count();
        let returned = result.returned_steering.iter();
        let returned = returned.filter(|it| it.steering_id == *steering_id).count();
        assert_eq!(applied + returned, 1, "{prompt}: {applied} applied, {returned} returned");
    }
}

/// What was granted is settled once, and nothing else is.
fn assert_charged_once(record: &Record) {
    let mut held = BTreeSet::new();
    for happening in &record.happenings {
        match happening {
            Happening::Taken(input) => {
                let Happened::Settled { effect, outcome } = &input.happened else { continue };
                if matches!(&**outcome, Outcome::Reserved(Ok(_))) {
                    held.insert(*effect);
                }
            }
            Happening::Charged(charge) => {
                assert!(held.remove(&charge.reservation), "charged twice, or never granted");
            }
            _ => {}
        }
    }
    assert!(held.is_empty(), "granted and never charged: {held:?}");
}

/// What is unknown in one attempt is unknown in the sum.
fn assert_usage(record: &Record, result: &RunResult) {
    let mut sums = [Some(0_u64); 5];
    let mut add = |usage: &TokenUsage| {
        for (sum, count) in sums.iter_mut().zip(usage.fields()) {
            *sum = match (*sum, count) {
                (Some(sum), Some(count)) => Some(sum.saturating_add(count)),
                _ => None,
            };
        }
    };
    let mut is_calling = false;
    for happening in &record.happenings {
        match happening {
            Happening::Asked(asked) => {
                is_calling |= matches!(asked.effect, Effect::CallModel(_) | Effect::Summarize(_));
            }
            Happening::Crashed if is_calling => add(&TokenUsage::default()),
            Happening::Taken(input) => {
                let Happened::Settled { outcome, .. } = &input.happened else { continue };
                let usage = match &**outcome {
                    Outcome::ModelReplied(Ok(response)) | Outcome::Summarized(Ok(response)) => {
                        Some(response.usage)
                    }
                    Outcome::ModelRepliedUnaudited { response, .. } => Some(response.usage),
                    Outcome::ModelReplied(Err(failure)) | Outcome::Summarized(Err(failure)) => {
                        let may_have_run = failure.commit != CommitDisposition::NotCommitted;
                        may_have_run.then(TokenUsage::default)
                    }
                    _ => continue,
                };
                is_calling = false;
                usage.iter().for_each(&mut add);
            }
            _ => {}
        }
    }
    assert_eq!(result.usage.fields(), sums);
    let input = result.ledger.totals().input_tokens;
    assert_eq!(sums[0].is_some(), input.complete);
}

/// A request is expected to fit: by the plain estimate, or by what was reported of the request
/// before and what was added or left out since. A prompt that was called too long is followed by a
/// smaller one.
fn assert_fits(record: &Record) {
    let (mut most, mut window, mut sent) = (None, 0, BTreeMap::new());
    let (mut measured, mut overlong) = (None, None);
    for happening in &record.happenings {
        match happening {
            Happening::Asked(asked) => {
                let Effect::CallModel(request) = &asked.effect else { continue };
                let tokens = request.messages.estimated_tokens();
                sent.insert(asked.id, tokens);
                if let Some(refused) = overlong {
                    assert!(tokens < refused, "a prompt that was too long did not get smaller");
                }
                let expected = match measured {
                    None => tokens,
                    Some((reported, then)) if tokens >= then => reported + (tokens - then),
                    // At least: with the tools, which are left out here, it is more.
                    Some((reported, then)) => tokens * reported / then.max(1),
                };
                if let Some(most) = most {
                    assert!(expected <= most, "{expected} tokens were sent, {most} fit");
                }
            }
            Happening::Taken(input) => {
                let Happened::Settled { effect, outcome } = &input.happened else { continue };
                match &**outcome {
                    Outcome::ProfileResolved(Ok(profile)) if profile.context_window_tokens > 0 => {
                        window = profile.context_window_tokens;
                        most = Some(window - window / 8);
                    }
                    Outcome::ModelReplied(Ok(response)) => {
                        overlong = None;
                        let reported = response.usage.input_tokens;
                        let reported = reported.filter(|it| *it > 0 && *it <= window);
                        let then = sent.get(effect).copied();
                        measured = reported.zip(then).or(measured);
                    }
                    Outcome::ModelReplied(Err(failure))
                        if failure.kind == PortFailureKind::ContextOverflow =>
                    {
                        // It has more than fits, whatever was estimated.
                        overlong = sent.get(effect).copied();
                        measured = overlong.map(|then| (most.unwrap_or(0), then));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

/// A compaction that ended began before, and made the request smaller.
fn assert_compactions(record: &Record) {
    let mut began = None;
    for event in record.events() {
        match &event.event {
            Event::MemoryCompactStarted { prompt_tokens, .. } => began = Some(*prompt_tokens),
            Event::MemoryCompactCompleted { prompt_tokens, levels, .. } => {
                let before = began.take().expect("it began");
                assert!(*prompt_tokens <= before && !levels.is_empty(), "nothing got smaller");
            }
            _ => {}
        }
    }
}

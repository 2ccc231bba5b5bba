//! Decides whether a context stays what it must be, whatever is done to it.

use std::sync::Arc;

use proptest::prelude::*;
use runtime_ports::{ModelContent, ModelMessage, ModelRole, Transcript, TranscriptEntry};

use super::{
    Context, Summary,
    exchange::Exchanges,
    said::is_said,
    stand_in::{notes, squeezed, stands_for},
    summary::message,
};
use crate::{repair::repaired, wording::NUDGE};

/// What is said in a random history.
#[derive(Debug, Clone)]
pub(crate) enum Said {
    User(String),
    Answer(String),
    Calls(Vec<(String, String)>),
    Nudge,
}

/// Random words, those of several bytes among them.
fn words() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,12}", "[éжü日本🙂]{1,40}", "[ -~]{200,700}"]
        .prop_map(|text| if text.trim().is_empty() { "x".to_owned() } else { text })
}

/// A random history.
pub(crate) fn history() -> impl Strategy<Value = Vec<Said>> {
    let said = prop_oneof![
        2 => words().prop_map(Said::User),
        2 => words().prop_map(Said::Answer),
        4 => proptest::collection::vec((words(), words()), 1..4).prop_map(Said::Calls),
        1 => Just(Said::Nudge),
    ];
    proptest::collection::vec(said, 0..24)
}

/// Its messages, each call with its result.
pub(crate) fn messages(said: &[Said]) -> Vec<ModelMessage> {
    let mut messages = vec![ModelMessage::text(ModelRole::System, "be kind")];
    for (number, said) in said.iter().enumerate() {
        match said {
            Said::User(text) => messages.push(ModelMessage::text(ModelRole::User, text)),
            Said::Answer(text) => messages.push(ModelMessage::text(ModelRole::Assistant, text)),
            Said::Nudge => messages.push(ModelMessage::text(ModelRole::User, NUDGE)),
            Said::Calls(calls) => messages.extend(exchange(number, calls)),
        }
    }
    messages
}

fn exchange(number: usize, calls: &[(String, String)]) -> Vec<ModelMessage> {
    let id = |place: usize| format!("{number}-{place}");
    let content = calls.iter().enumerate().map(|(place, (argument, _))| ModelContent::ToolUse {
        id: id(place),
        name: "read".to_owned(),
        arguments: serde_json::json!({ "path": argument }),
    });
    let mut messages =
        vec![ModelMessage { role: ModelRole::Assistant, content: content.collect() }];
    messages.extend(calls.iter().enumerate().map(|(place, (_, result))| ModelMessage {
        role: ModelRole::Tool,
        content: vec![ModelContent::ToolResult {
            tool_use_id: id(place),
            name: "read".to_owned(),
            content: result.clone(),
            failed: false,
        }],
    }));
    messages
}

/// Something that is done to a context.
#[derive(Debug, Clone)]
enum Step {
    Push(Said),
    Note,
    Squeeze(u64),
    Cover(usize, Option<String>),
    Frame(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => history().prop_filter_map("something is said", |said| said.into_iter().next()).prop_map(Step::Push),
        2 => Just(Step::Note),
        1 => (0..300_u64).prop_map(Step::Squeeze),
        3 => (0..4_usize, proptest::option::of(words())).prop_map(|(kept, text)| Step::Cover(kept, text)),
        1 => (0..3_usize).prop_map(Step::Frame),
    ];
    proptest::collection::vec(step, 0..12)
}

fn taken(context: Context, history: &mut Transcript, number: usize, step: Step) -> Context {
    match step {
        Step::Push(said) => {
            let mut grown = context;
            let said = messages(&[said]).into_iter().skip(1);
            for mut message in said {
                rename(&mut message, number);
                history.push(message);
                grown.push(history.last().expect("it was pushed"));
            }
            grown
        }
        Step::Note => {
            let end = context.messages().len();
            let found = notes(context.messages(), (context.head(), end), 20, |_| true);
            context.shortened(&found)
        }
        Step::Squeeze(room) => {
            let found = squeezed(context.messages(), context.head(), room);
            context.shortened(&found)
        }
        Step::Cover(kept, text) => {
            let exchanges = Exchanges::of(context.messages(), context.head());
            let Some(cut) = exchanges.keeping(kept) else { return context };
            let text: Option<Arc<str>> = text.map(Into::into);
            let message = message(text.as_deref(), context.covered_by(cut), "live");
            context.covering(cut, Summary { text }, message, history).0
        }
        Step::Frame(count) => {
            let fixed =
                (0..count).map(|it| ModelMessage::text(ModelRole::System, format!("skill {it}")));
            context.framed(history, fixed.collect())
        }
    }
}

fn rename(message: &mut ModelMessage, number: usize) {
    for item in &mut message.content {
        if let ModelContent::ToolUse { id, .. } | ModelContent::ToolResult { tool_use_id: id, .. } =
            item
        {
            *id = format!("{id}-{number}");
        }
    }
}

/// Each message behind the head stands for its own of the history, and is the same one unless it is
/// a shorter result.
fn assert_stands(context: &Context, history: &Transcript) {
    assert_eq!(context.messages.len() - context.head, history.len() - context.covered);
    let tail = context.messages.entries_from(context.head);
    for (place, (left, right)) in tail.zip(history.entries_from(context.covered)).enumerate() {
        let is_shortened = context.shortened.contains_key(&(context.covered + place));
        assert!(Arc::ptr_eq(left, right) != is_shortened, "an entry was copied");
        assert!(stands_for(left, right));
        assert!(left.estimated_tokens() <= right.estimated_tokens());
    }
}

/// What was said stands in the context, word for word and in order.
fn assert_said(context: &Context, history: &Transcript) {
    let mut messages = context.messages.entries();
    for said in history.entries().filter(|entry| is_said(entry)) {
        assert!(
            messages.any(|entry| entry.digest() == said.digest()),
            "a word of the user is lost"
        );
    }
}

/// Repairing changes nothing in what is whole.
fn assert_whole(context: &Context) {
    let messages: Vec<_> = context.messages.messages().cloned().collect();
    assert_eq!(repaired(messages.clone()), messages);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_context_stands_for_its_history_whatever_is_done_to_it(said in history(), steps in steps()) {
        let mut history: Transcript = messages(&said).into();
        let mut context = Context::of(&history);
        for (number, step) in steps.into_iter().enumerate() {
            let before = history.clone();
            context = taken(context, &mut history, number, step);
            prop_assert_eq!(history.prefix(before.len()), before, "the original was changed");
            assert_stands(&context, &history);
            assert_said(&context, &history);
            assert_whole(&context);
            let carried = context.carried();
            prop_assert_eq!(carried.over(&history), Some(context.clone()));
            let json = serde_json::to_string(&context).expect("JSON");
            let read: Context = serde_json::from_str(&json).expect("a context");
            prop_assert_eq!(read.joined(&history), Some(context.clone()));
        }
    }

    #[test]
    fn a_context_is_not_taken_up_with_another_history(said in history(), other in history()) {
        let (history, other): (Transcript, Transcript) =
            (messages(&said).into(), messages(&other).into());
        let exchanges = Exchanges::of(&history, 0);
        let Some(cut) = exchanges.keeping(0) else { return Ok(()) };
        let whole = Context::of(&history);
        let summary = Summary { text: None };
        let (context, _) = whole.covering(cut, summary, message(None, 1, "live"), &history);
        let taken = context.carried().over(&other).is_some();
        prop_assert_eq!(taken, other.prefix(history.len()) == history);
    }
}

#[test]
fn a_context_from_a_damaged_file_is_left() {
    let history: Transcript = messages(&[Said::Answer("yes".to_owned())]).into();
    let mut steps = Context::of(&history);
    let mut grown = history.clone();
    steps = taken(steps, &mut grown, 0, Step::Cover(0, None));
    let carried = steps.carried();
    assert!(carried.over(&history).is_some() && carried.summarized);
    for fixed in [carried.head.len(), usize::MAX] {
        assert_eq!(super::CarriedContext { fixed, ..carried.clone() }.over(&history), None);
    }
    let covered = usize::MAX;
    assert_eq!(super::CarriedContext { covered, ..carried }.over(&history), None);
}

#[test]
fn a_summary_is_carried_into_the_next_head_in_the_place_of_the_last() {
    let mut history: Transcript = messages(&[
        Said::User("do it".to_owned()),
        Said::Answer("first".to_owned()),
        Said::Answer("second".to_owned()),
    ])
    .into();
    let mut context = Context::of(&history);
    for (number, text) in ["one", "one and two"].into_iter().enumerate() {
        let step = Step::Cover(1, Some(text.to_owned()));
        context = taken(context, &mut history, number, step);
        context = taken(context, &mut history, 9, Step::Push(Said::Answer("next".to_owned())));
        assert_eq!(context.so_far().map(|text| &**text), Some(text));
    }
    let roles: Vec<_> = context.messages.entries().map(|entry| entry.role()).collect();
    use ModelRole::{Assistant, System, User};
    assert_eq!(roles, [System, User, User, Assistant, Assistant]);
}

#[test]
fn what_a_host_said_beside_a_call_stays_without_the_call() {
    let odd = ModelMessage {
        role: ModelRole::User,
        content: vec![
            ModelContent::text("mine"),
            ModelContent::ToolUse {
                id: "1".to_owned(),
                name: "a".to_owned(),
                arguments: serde_json::json!({"x": 1}),
            },
        ],
    };
    let entry = Arc::new(TranscriptEntry::new(odd));
    let kept = super::said::carried(&entry).expect("it was said");
    assert_eq!(kept.message(), &ModelMessage::text(ModelRole::User, "mine"));
}

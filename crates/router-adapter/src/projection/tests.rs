//! Holds projections to leaving out what belongs to others, to counting it, and to changing nothing.

use std::sync::atomic::Ordering;

use proptest::prelude::*;
use runtime_ports::{ImageSource, ModelContent, ModelMessage, ModelRole, Transcript};
use serde_json::json;

use super::{Losses, PICTURE, Projections, REMEMBERED, Target};
use crate::losses::LossList;

fn thought(issuer: &str) -> ModelContent {
    let (issuer, text) = (issuer.to_owned(), String::new());
    ModelContent::Reasoning { issuer, text, opaque: json!({ "sealed": "x" }) }
}

fn said(content: Vec<ModelContent>) -> ModelMessage {
    ModelMessage { role: ModelRole::Assistant, content }
}

fn picture() -> ModelMessage {
    let source = ImageSource::Inline { media_type: "image/png".into(), base64: "AA==".into() };
    let content = vec![ModelContent::text("look"), ModelContent::Image { source }];
    ModelMessage { role: ModelRole::User, content }
}

fn history() -> Transcript {
    Transcript::from(vec![
        ModelMessage::text(ModelRole::System, "be brief"),
        picture(),
        said(vec![thought("one"), ModelContent::text("first")]),
        said(vec![thought("two")]),
        said(vec![thought("one"), thought("two"), ModelContent::text("second")]),
    ])
}

fn texts(history: &Transcript) -> Vec<String> {
    let word = |content: &ModelContent| match content {
        ModelContent::Text { text } => text.clone(),
        ModelContent::Reasoning { issuer, .. } => format!("<{issuer}>"),
        ModelContent::Image { .. } => "<picture>".to_owned(),
        other => format!("{other:?}"),
    };
    let line =
        |message: &ModelMessage| message.content.iter().map(word).collect::<Vec<_>>().join(" ");
    history.messages().map(line).collect()
}

fn told(losses: &Losses) -> Vec<String> {
    let mut list = LossList::default();
    losses.omissions("m at p").into_iter().for_each(|(kind, count)| list.omit(kind, count));
    list.sentences()
}

fn check(issuer: Option<&str>, images: bool, expected: &[&str], losses: &[&str]) {
    let (history, target) = (history(), Target { issuer, images });
    let (seen, lost) = Projections::default().project(&history, target);
    assert_eq!(texts(&seen), expected, "{target:?}");
    assert_eq!(told(&lost), losses, "{target:?}");
    assert_eq!(history, self::history(), "the history stays");
}

#[test]
fn a_provider_is_given_its_own_reasoning_and_nobody_elses() {
    check(
        Some("one"),
        true,
        &["be brief", "look <picture>", "<one> first", "<one> second"],
        &["2 pieces of reasoning by two left out for m at p"],
    );
    let note = format!("look {PICTURE}");
    check(
        Some("three"),
        false,
        &["be brief", &note, "first", "second"],
        &[
            "2 pieces of reasoning by one left out for m at p",
            "2 pieces of reasoning by two left out for m at p",
            "1 picture replaced by a note for m at p",
        ],
    );
    check(
        None,
        true,
        &["be brief", "look <picture>", "<one> first", "<two>", "<one> <two> second"],
        &[],
    );
}

#[test]
fn what_nothing_is_left_out_of_is_given_as_it_is() {
    let history = Transcript::from(vec![
        ModelMessage::text(ModelRole::User, "hello"),
        said(vec![thought("one"), ModelContent::text("hi")]),
    ]);
    let projections = Projections::default();
    let own = Target { issuer: Some("one"), images: true };
    let (seen, losses) = projections.project(&history, own);
    assert_eq!(seen, history);
    assert!(losses.omissions("m").is_empty());
}

fn any_message() -> impl Strategy<Value = ModelMessage> {
    let content = prop_oneof![
        Just(ModelContent::text("text")),
        Just(thought("one")),
        Just(thought("two")),
        Just(picture().content.remove(1)),
    ];
    prop::collection::vec(content, 0..4).prop_map(said)
}

proptest! {
    /// What is remembered of shorter histories, and of others, makes no difference.
    #[test]
    fn a_history_looks_the_same_however_it_came_about(
        messages in prop::collection::vec(any_message(), 0..90),
        looks in prop::collection::vec((0usize..90, any::<bool>(), any::<bool>()), 1..12),
    ) {
        let (whole, kept) = (Transcript::from(messages.clone()), Projections::default());
        for (len, is_one, images) in looks {
            let target = Target { issuer: Some(if is_one { "one" } else { "three" }), images };
            let mut history = whole.prefix(len);
            if images {
                history.push(ModelMessage::text(ModelRole::User, "another end"));
            }
            let fresh = Projections::default().project(&history, target);
            prop_assert_eq!(kept.project(&history, target), fresh);
        }
    }
}

const OTHER: Target<'_> = Target { issuer: Some("other"), images: true };

fn looked_at(projections: &Projections) -> usize {
    projections.looked_at.load(Ordering::Relaxed)
}

/// A thread of its own: the first message tells it from others.
fn thread(name: usize, len: usize) -> Transcript {
    let first = ModelMessage::text(ModelRole::User, format!("thread {name}"));
    let rest = (1..len).map(|it| said(vec![thought("one"), ModelContent::text(it.to_string())]));
    std::iter::once(first).chain(rest).collect()
}

#[test]
fn a_request_costs_what_is_new_in_it_however_many_histories_there_are() {
    let projections = Projections::default();
    let mut threads: Vec<_> = (0..REMEMBERED).map(|name| thread(name, 100)).collect();
    for thread in &threads {
        projections.project(thread, OTHER);
    }
    let before = looked_at(&projections);
    assert_eq!(before, 100 * REMEMBERED, "each is looked through once");
    for _ in 0..20 {
        for thread in &mut threads {
            thread.push(said(vec![thought("one"), ModelContent::text("more")]));
            thread.push(ModelMessage::text(ModelRole::User, "go on"));
            let (seen, losses) = projections.project(thread, OTHER);
            assert_eq!(seen.len(), thread.len());
            assert!(!losses.omissions("m").is_empty());
        }
    }
    assert_eq!(looked_at(&projections) - before, 20 * 2 * REMEMBERED);
    assert_eq!(projections.lock().len(), REMEMBERED, "and no more are remembered");
}

/// Nothing is taken out while it is in use.
#[test]
fn histories_that_begin_alike_find_their_beginning_all() {
    let projections = Projections::default();
    let common = thread(0, 500);
    projections.project(&common, OTHER);
    let before = looked_at(&projections);
    let mut branches: Vec<_> = (0..8)
        .map(|it| {
            let mut branch = common.clone();
            branch.push(ModelMessage::text(ModelRole::User, format!("branch {it}")));
            branch
        })
        .collect();
    for _ in 0..10 {
        for branch in &mut branches {
            branch.push(ModelMessage::text(ModelRole::User, "go on"));
            projections.project(branch, OTHER);
        }
    }
    let seen = looked_at(&projections) - before;
    assert!(seen <= 8 * 10 * 2 + 8 * 8, "{seen} messages were looked at for 88 new ones");
}

/// A host may put words behind a history that are no part of it.
#[test]
fn words_at_the_end_that_come_and_go_do_not_cost_the_whole_history() {
    let projections = Projections::default();
    let mut history = thread(0, 500);
    let mut seen = Vec::new();
    for turn in 0..50 {
        let mut request = history.clone();
        request.push(ModelMessage::text(ModelRole::User, format!("it is {turn} o'clock")));
        let before = looked_at(&projections);
        projections.project(&request, OTHER);
        seen.push(looked_at(&projections) - before);
        history.push(said(vec![thought("one"), ModelContent::text("more")]));
    }
    assert!(seen[1..].iter().all(|count| *count <= 4), "{seen:?}");
}

//! Holds projections to leaving out what belongs to others, to counting it, and to changing nothing.

use proptest::prelude::*;
use runtime_ports::{ImageSource, ModelContent, ModelMessage, ModelRole, Transcript};
use serde_json::json;

use super::{PICTURE, Projections, Target};

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

fn check(issuer: Option<&str>, images: bool, expected: &[&str], losses: &[&str]) {
    let (history, target) = (history(), Target { issuer, images });
    let (seen, lost) = Projections::default().project(&history, target);
    assert_eq!(texts(&seen), expected, "{target:?}");
    assert_eq!(lost.sentences("m at p"), losses, "{target:?}");
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
    assert!(losses.sentences("m").is_empty());
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

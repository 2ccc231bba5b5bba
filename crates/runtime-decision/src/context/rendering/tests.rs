//! Decides whether a rendered stretch fits its room, and what is cut first.

use proptest::prelude::*;
use runtime_ports::{
    ModelContent, ModelMessage, ModelRole, Transcript, TranscriptEntry, estimate_text_tokens,
};

use super::rendered;
use crate::context::tests::{history, messages};

fn text(messages: &Transcript, room: u64) -> String {
    let entries: Vec<&TranscriptEntry> = messages.entries().map(|entry| &**entry).collect();
    rendered(&entries, room)
}

proptest! {
    #[test]
    fn it_fits_whatever_is_said(said in history(), room in 0..600_u64) {
        let messages: Transcript = messages(&said).into();
        prop_assert!(estimate_text_tokens(&text(&messages, room)) <= room);
    }

    #[test]
    fn what_fits_is_whole(said in history()) {
        let messages: Transcript = messages(&said).into();
        let text = text(&messages, 1_000_000);
        for item in messages.messages().flat_map(|message| &message.content) {
            if let ModelContent::Text { text: words } | ModelContent::ToolResult { content: words, .. } = item {
                prop_assert!(text.contains(words.as_str()));
            }
        }
    }
}

fn result(content: String) -> ModelMessage {
    let (tool_use_id, name) = ("1".to_owned(), "read".to_owned());
    let content = vec![ModelContent::ToolResult { tool_use_id, name, content, failed: false }];
    ModelMessage { role: ModelRole::Tool, content }
}

#[test]
fn results_are_cut_before_what_was_said() {
    let said = "ü".repeat(500);
    let messages: Transcript =
        vec![ModelMessage::text(ModelRole::Assistant, said.clone()), result("é".repeat(40_000))]
            .into();
    let text = text(&messages, 700);
    assert!(text.contains(&said), "{text}");
    assert!(text.contains("[cut in the middle: the output had 80000 bytes"), "{text}");
}

#[test]
fn of_more_messages_than_fit_the_middle_ones_go() {
    let said = |number: usize| {
        ModelMessage::text(ModelRole::Assistant, format!("{number} {}", "x".repeat(900)))
    };
    let messages: Transcript = (0..200).map(said).collect();
    let text = text(&messages, 2_000);
    assert!(text.contains("\n0 x") && text.contains("\n199 x"), "{text}");
    assert!(text.contains("messages were left out here]"), "{text}");
    assert!(!text.contains("\n100 x"), "{text}");
}

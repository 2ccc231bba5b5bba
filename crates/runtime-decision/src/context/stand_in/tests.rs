//! Decides whether shorter results answer the same calls.

use std::sync::Arc;

use runtime_ports::{
    ArtifactDigest, ModelContent, ModelMessage, ModelRole, Transcript, TranscriptEntry,
};

use super::{excerpt, notes, squeezed, stands_for, to_offload};

fn result(name: &str, content: &str, failed: bool) -> ModelMessage {
    let (tool_use_id, name, content) = ("1".to_owned(), name.to_owned(), content.to_owned());
    let content = vec![ModelContent::ToolResult { tool_use_id, name, content, failed }];
    ModelMessage { role: ModelRole::Tool, content }
}

fn content(entry: &TranscriptEntry) -> String {
    entry.show(|message| match &message.content[..] {
        [ModelContent::ToolResult { content, .. }] => content.clone(),
        other => panic!("no result: {other:?}"),
    })
}

#[test]
fn only_large_results_that_come_again_become_notes() {
    let long = "é".repeat(4_000);
    let messages: Transcript = vec![
        result("read", &long, false),
        result("read", "short", false),
        result("read", &long, true),
        result("pay", &long, false),
        result("read", &long, false),
    ]
    .into();
    let found = notes(&messages, (0, 4), 256, |name| name == "read");
    let places: Vec<_> = found.iter().map(|(place, _)| *place).collect();
    assert_eq!(places, [0]);
    let note = content(&found[0].1);
    assert_eq!(
        note,
        "[8000 bytes of read were left out here to save room; call it again if they are needed]"
    );
    // A note is small, so that it is not left out again.
    let again: Transcript = vec![result("read", &note, false)].into();
    assert!(notes(&again, (0, 1), 256, |_| true).is_empty());
}

#[test]
fn an_excerpt_names_the_artifact_and_its_reader() {
    let long = "日本語".repeat(3_000);
    let entry = TranscriptEntry::new(result("pay", &long, false));
    let digest = ArtifactDigest::of(long.as_bytes());
    let shorter = excerpt(&entry, digest, "read_artifact").expect("it is smaller");
    let text = content(&shorter);
    assert!(text.contains(&digest.to_string()) && text.contains("read_artifact"), "{text}");
    assert!(stands_for(&shorter, &entry));
    let messages: Transcript =
        vec![result("pay", &long, false), result("pay", &text, false)].into();
    assert_eq!(to_offload(&messages, (0, 2), 1_024), [0]);
}

#[test]
fn squeezed_results_fit_together() {
    let messages: Transcript =
        (0..5).map(|number| result("pay", &"ж".repeat(400 * (number + 1)), false)).collect();
    let found = squeezed(&messages, 0, 500);
    let mut all: Vec<_> = messages.entries().cloned().collect();
    for (place, entry) in found {
        assert!(stands_for(&entry, &all[place]));
        all[place] = entry;
    }
    let total: u64 = all.iter().map(|entry: &Arc<_>| entry.estimated_tokens()).sum();
    assert!(total <= 500, "{total}");
}

#[test]
fn another_call_is_not_stood_for() {
    let one = TranscriptEntry::new(result("pay", "x", false));
    let cases = [
        (result("pay", "y", false), true),
        (result("read", "x", false), false),
        (result("pay", "x", true), false),
        (ModelMessage::text(ModelRole::User, "x"), false),
    ];
    for (other, expected) in cases {
        assert_eq!(stands_for(&TranscriptEntry::new(other.clone()), &one), expected, "{other:?}");
    }
}

//! Decides whether a summariser is asked for what must not be lost, and how its answer is read.

use proptest::prelude::*;
use runtime_ports::{
    ModelContent, ModelFinish, ModelMessage, ModelResponse, ModelRole, TokenUsage, Transcript,
    TranscriptEntry,
};

use super::{message, request, text_of_answer};
use crate::context::tests::{history, messages};

proptest! {
    #[test]
    fn a_request_fits_and_holds_the_earlier_summary_whole(
        said in history(), so_far in proptest::option::of("[ -~éж日]{1,400}"), room in 0..1_500_u64,
    ) {
        let messages: Transcript = messages(&said).into();
        let covered: Vec<&TranscriptEntry> = messages.entries().map(|entry| &**entry).collect();
        if let Some(asked) = request(so_far.as_deref(), &covered, room) {
            prop_assert!(asked.estimated_tokens() <= room, "{} {room}", asked.estimated_tokens());
            let texts: String = asked.messages().map(|it| format!("{:?}", it.content)).collect();
            let so_far = format!("{:?}", so_far.unwrap_or_default());
            prop_assert!(texts.contains(so_far.trim_matches('"')));
        } else {
            let kept = so_far.map_or(0, |text| text.chars().count() as u64);
            prop_assert!(room < 450 + kept, "there was room");
        }
    }
}

fn answer(output: Vec<ModelContent>, finish: ModelFinish) -> ModelResponse {
    let usage = TokenUsage::default();
    ModelResponse { output, finish, usage, cost_nano_usd: None, attempts: Vec::new() }
}

#[test]
fn what_counts_of_an_answer_is_its_text() {
    let text = || vec![ModelContent::text(" what was done ")];
    let call = ModelContent::ToolUse {
        id: "1".to_owned(),
        name: "a".to_owned(),
        arguments: serde_json::json!({}),
    };
    let cases = [
        (answer(text(), ModelFinish::Stop), Some("what was done")),
        (answer(text(), ModelFinish::Length), Some("what was done\n[the summary was cut here]")),
        (answer(text(), ModelFinish::ContentFilter), None),
        (answer(text(), ModelFinish::Other), None),
        (answer(vec![call.clone()], ModelFinish::ToolCalls), None),
        (answer([text(), vec![call]].concat(), ModelFinish::ToolCalls), Some("what was done")),
        (answer(vec![ModelContent::text(" \n")], ModelFinish::Stop), None),
        (answer(Vec::new(), ModelFinish::Stop), None),
    ];
    for (response, expected) in cases {
        assert_eq!(text_of_answer(&response).as_deref(), expected, "{response:?}");
    }
}

#[test]
fn the_message_says_what_is_gone_and_where_the_run_stands() {
    let told = message(Some("the sum"), 12, "[cycle 3 of 8]");
    assert_eq!(
        told,
        ModelMessage::text(
            ModelRole::User,
            "[The context ran full. 12 earlier messages are no longer here; those that the user wrote are above, word for word. What else they held:]\n\nthe sum\n\n[cycle 3 of 8]"
        )
    );
    let ModelContent::Text { text } = &message(None, 1, "live").content[0] else {
        panic!("no text")
    };
    assert!(text.contains("lost to you") && text.ends_with("live"), "{text}");
}

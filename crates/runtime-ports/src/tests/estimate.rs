//! Decides whether estimates are a quarter of the scalar values, rounded up.

use serde_json::json;

use crate::{
    IMAGE_TOKENS, ImageSource, MESSAGE_OVERHEAD_TOKENS, ModelContent, ModelMessage, ModelRole,
    TranscriptEntry, estimate_text_tokens,
};

#[test]
fn a_text_costs_a_quarter_of_its_scalar_values() {
    for (text, expected) in
        [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("🦀🦀🦀🦀", 1), ("e\u{301}", 1)]
    {
        assert_eq!(estimate_text_tokens(text), expected, "{text:?}");
    }
}

#[test]
fn a_message_costs_its_content_and_an_overhead() {
    let call =
        ModelContent::ToolUse { id: "call".into(), name: "read".into(), arguments: json!({}) };
    let result = ModelContent::ToolResult {
        tool_use_id: "call".into(),
        name: "read".into(),
        content: "12345".into(),
        failed: false,
    };
    let image = ModelContent::Image { source: ImageSource::Url { url: "https://x".into() } };
    let (issuer, text) = (String::new(), "hmm".to_owned());
    let reasoning = ModelContent::Reasoning { issuer, text, opaque: json!(null) };
    let cases = [
        (vec![], 0),
        (vec![ModelContent::text("12345")], 2),
        (vec![call], 3),
        (vec![result], 4),
        (vec![image], IMAGE_TOKENS),
        (vec![reasoning], 2),
        (vec![ModelContent::text("1"), ModelContent::text("1")], 2),
    ];
    for (content, expected) in cases {
        let entry = TranscriptEntry::new(ModelMessage { role: ModelRole::User, content });
        let tokens = entry.estimated_tokens();
        assert_eq!(tokens, MESSAGE_OVERHEAD_TOKENS + expected, "{:?}", entry.message());
    }
}

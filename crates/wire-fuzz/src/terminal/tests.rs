//! What says that an answer is finished, and what only looks like it.

use super::*;

#[test]
fn a_field_says_it_with_a_value_and_a_word_by_itself() {
    let terminal = Terminal { fields: &["finish_reason"], words: &["[DONE]"] };
    let cases: [(&str, bool); 10] = [
        (r#"data: {"finish_reason":"stop"}"#, true),
        (r#"data: {"finish_reason" : "length"}"#, true),
        (r#"data: {"finish_reason":null}"#, false),
        (r#"data: {"finish_reason":""}"#, false),
        (r#"data: {"finish_reason":"#, false),
        (r#"data: {"finish_reason"#, false),
        (r#"data: {"finish_reason":null,"next":{"finish_reason":"stop"}}"#, true),
        ("data: [DONE]", true),
        ("data:[DoNE]", true),
        (r#"{"an":"document"}"#, true),
    ];
    for (text, said) in cases {
        assert_eq!(terminal.stands_in(text.as_bytes()), said, "{text}");
    }
}

//! Arguments are what the server wrote: a number that no value holds, and a name with two values,
//! make a call that says so, and never another one.

use anthropic_adapter::{PromptCache, decoder};
use wire_rehearsal::{check, events};

/// The arguments that a server sends, and what they come to.
const ROWS: [(&str, &str); 6] = [
    (r#"{"id":18446744073709551615}"#, r#"{"id":18446744073709551615}"#),
    (r#"{"id":18446744073709551616}"#, r#""{\"id\":18446744073709551616}""#),
    (r#"{"x": 1e400}"#, r#""{\"x\": 1e400}""#),
    (r#"{"p":1,"p":2}"#, r#""{\"p\":1,\"p\":2}""#),
    (r#"{"p":1,"p":1}"#, r#"{"p":1}"#),
    ("{ }", "{}"),
];

fn all(name: &str, bytes: &[u8], expected: &str) {
    let decoder = || decoder(PromptCache::Off, "issuer", "seed");
    check(decoder, name, bytes, &format!("ToolCalls: f#a{expected}"));
}

#[test]
fn arguments_that_a_value_cannot_hold_are_handed_on_as_they_came() {
    for (input, expected) in ROWS {
        let block =
            |input: &str| format!(r#"{{"type":"tool_use","id":"a","name":"f","input":{input}}}"#);
        let document = format!(
            r#"{{"type":"message","role":"assistant","content":[{}],"stop_reason":"tool_use"}}"#,
            block(input)
        );
        all(input, document.as_bytes(), expected);
        let begins = |input: &str| {
            let block = block(input);
            format!(r#"{{"type":"content_block_start","index":0,"content_block":{block}}}"#)
        };
        let ends = [
            r#"{"type":"content_block_stop","index":0}"#.to_owned(),
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#.to_owned(),
            r#"{"type":"message_stop"}"#.to_owned(),
        ];
        let stream = [vec![begins(input)], ends.to_vec()].concat();
        all("with the head", &events(&stream), expected);
        let piece = format!(
            r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":{input}}}}}"#
        );
        let stream = [vec![begins("{}"), piece], ends.to_vec()].concat();
        all("as one piece", &events(&stream), expected);
    }
}

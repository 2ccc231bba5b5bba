//! The streams that the shared set leaves out, made up from what is told about them.

use super::{AMID, CALLS, DONE, FAILED, HI, Row, STOP, call, finished, table};
use crate::{
    profile::Api,
    rehearsal::{check, events},
};

/// The streams of even numbers.
const OTHER_HALF: &[Row] = &[
    (
        "02 index 0 for two calls",
        &[
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\"p\":1}"}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"b","type":"function","function":{"name":"g","arguments":"{\"p\":2}"}}]}}]}"#,
            CALLS,
            DONE,
        ],
        r#"ToolCalls: f#a{"p":1} g#b{"p":2}"#,
    ),
    (
        "04 id null",
        &[
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":null,"function":{"arguments":"{\"p\":1}"}}]}}]}"#,
            CALLS,
            DONE,
        ],
        r#"ToolCalls: f#a{"p":1}"#,
    ),
    (
        "06 arguments as an object",
        &[
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"p":1}}}]}}]}"#,
            CALLS,
            DONE,
        ],
        r#"ToolCalls: f#a{"p":1}"#,
    ),
    (
        "08 whole call sent again at the end",
        &[
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":"}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\":1}"}}]},"finish_reason":"tool_calls"}]}"#,
            DONE,
        ],
        r#"ToolCalls: f#a{"p":1}"#,
    ),
    (
        "10 finish stop with a call",
        &[
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}}]}"#,
            STOP,
            DONE,
        ],
        "ToolCalls: f#a{}",
    ),
    ("12 done without a finish", &[HI, DONE], r#"Stop: "hi""#),
    ("14 a finish without done", &[HI, STOP], r#"Stop: "hi""#),
    ("16 an error alone", &[r#"{"error":{"message":"boom","code":500}}"#], FAILED),
    ("18 an error amid text, then done", &[HI, r#"{"error":{"message":"boom"}}"#, DONE], AMID),
    (
        "20 azure tail without a delta",
        &[
            HI,
            STOP,
            r#"{"choices":[{"index":0,"content_filter_offsets":{"check_offset":1}}]}"#,
            DONE,
        ],
        r#"Stop: "hi""#,
    ),
    (
        "22 delta null with a finish",
        &[HI, r#"{"choices":[{"index":0,"delta":null,"finish_reason":"stop"}]}"#, DONE],
        r#"Stop: "hi""#,
    ),
    (
        "24 counts with the finish",
        &[
            HI,
            r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#,
            DONE,
        ],
        r#"Stop: "hi" [in 3 out 1]"#,
    ),
    (
        "26 counts, then null",
        &[
            HI,
            STOP,
            r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#,
            r#"{"choices":[],"usage":null}"#,
            DONE,
        ],
        r#"Stop: "hi" [in 3 out 1]"#,
    ),
    (
        "28 content in parts",
        &[
            r#"{"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"hi"}]}}]}"#,
            STOP,
            DONE,
        ],
        r#"Stop: (hm | null) "hi""#,
    ),
    (
        "30 reasoning in two fields",
        &[
            r#"{"choices":[{"index":0,"delta":{"reasoning":"think","reasoning_content":"think"}}]}"#,
            HI,
            STOP,
            DONE,
        ],
        r#"Stop: (think | {"reasoning_content":"think"}) "hi""#,
    ),
    (
        "34 text after the finish",
        &[HI, STOP, r#"{"choices":[{"index":0,"delta":{"content":"!"}}]}"#, DONE],
        r#"Stop: "hi!""#,
    ),
    (
        "36 a refusal",
        &[r#"{"choices":[{"index":0,"delta":{"refusal":"no"}}]}"#, STOP, DONE],
        r#"ContentFilter: "no""#,
    ),
];

#[test]
fn the_other_half_of_the_set_has_the_right_outcome() {
    table(OTHER_HALF);
    let old = [
        r#"{"choices":[{"index":0,"delta":{"function_call":{"name":"f","arguments":""}}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"function_call":{"arguments":"{}"}},"finish_reason":"function_call"}]}"#,
        DONE,
    ];
    let made_up = format!("ToolCalls: f#{}{{}}", model_wire::minted("seed", 0));
    check(Api::Chat, "32 the old field of calls", &events(&old), &made_up);
    let name = "37 the name with every piece";
    let pieces = ["{\\\"p\\\"", ":", "1}"].map(|piece| {
        call(&format!(r#"{{"index":0,"id":"a","function":{{"name":"f","arguments":"{piece}"}}}}"#))
    });
    finished(name, &pieces, "tool_calls", r#"ToolCalls: f#a{"p":1}"#);
}

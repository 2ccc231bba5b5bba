//! Reasoning in every field (D1, D2, D4).

use super::{CALLS, HI, STOP, delta, finish, table};
use crate::{
    profile::Api,
    rehearsal::{check, events},
};

#[test]
fn d1_d2_d4_reasoning_in_every_field() {
    table(&[
        (
            "one field after the other",
            &[
                r#"{"choices":[{"delta":{"reasoning":"h"}}]}"#,
                r#"{"choices":[{"delta":{"reasoning":"m","reasoning_content":null,"content":"hi"}}]}"#,
                STOP,
            ],
            r#"Stop: (hm | {"reasoning":"hm"}) "hi""#,
        ),
        (
            "details beside their text",
            &[
                r#"{"choices":[{"delta":{"reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","format":"x"}]}}]}"#,
                HI,
                STOP,
            ],
            r#"Stop: (hm | {"reasoning":"hm","reasoning_details":[{"format":"x","text":"hm","type":"reasoning.text"}]}) "hi""#,
        ),
        (
            "summaries and ciphers",
            &[
                r#"{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.summary","summary":"hm"},{"type":"reasoning.encrypted","data":"z"}]}}]}"#,
                HI,
                STOP,
            ],
            r#"Stop: (hm | {"reasoning_details":[{"summary":"hm","type":"reasoning.summary"},{"data":"z","type":"reasoning.encrypted"}]}) "hi""#,
        ),
        (
            "no text",
            &[
                r#"{"choices":[{"delta":{"reasoning":{"x":1},"reasoning_content":7,"content":"hi"}}]}"#,
                STOP,
            ],
            r#"Stop: "hi""#,
        ),
        (
            "d2 null is no field",
            &[
                r#"{"choices":[{"delta":{"reasoning_content":null,"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}}]}"#,
                CALLS,
            ],
            "ToolCalls: f#a{}",
        ),
        (
            "in a document",
            &[
                r#"{"choices":[{"message":{"reasoning_content":"hm","content":"hi"},"finish_reason":"stop"}]}"#,
            ],
            r#"Stop: (hm | {"reasoning_content":"hm"}) "hi""#,
        ),
    ]);
    let late = [delta(r#"{"content":"hi"}"#), delta(r#"{"reasoning":"hm"}"#), finish("stop")];
    check(Api::Chat, "behind the text", &events(&late), r#"Stop: (hm | {"reasoning":"hm"}) "hi""#);
}

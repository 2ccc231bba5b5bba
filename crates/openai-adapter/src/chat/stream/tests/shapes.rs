//! Frames with odd fields, and choices that are not ours (B3, B4, B8, B12, B13).

use super::{DONE, HI, Row, STOP, TRUNCATED, table};

const ODD: &[Row] = &[
    (
        "everything null",
        &[
            r#"{"id":null,"object":null,"created":null,"model":null,"choices":[null],"usage":null,"error":null}"#,
            HI,
            STOP,
        ],
        r#"Stop: "hi""#,
    ),
    (
        "types of their own",
        &[r#"{"id":7,"created":"now","choices":{"0":1}}"#, HI, STOP, DONE],
        r#"Stop: "hi""#,
    ),
    (
        "one part, no list",
        &[r#"{"choices":[{"delta":{"content":{"type":"text","text":"hi"}}}]}"#, STOP],
        r#"Stop: "hi""#,
    ),
    (
        "a text beside no delta",
        &[r#"{"choices":[{"index":0,"text":"hi","finish_reason":"stop"}]}"#],
        r#"Stop: "hi""#,
    ),
    (
        "parts that are texts",
        &[r#"{"choices":[{"delta":{"content":["h",{"text":"i"},7,null]}}]}"#, STOP],
        r#"Stop: "hi""#,
    ),
    (
        "a refusal part",
        &[r#"{"choices":[{"delta":{"content":[{"type":"refusal","refusal":"no"}]}}]}"#, STOP],
        r#"ContentFilter: "no""#,
    ),
    (
        "an empty refusal",
        &[r#"{"choices":[{"delta":{"content":"hi","refusal":""}}]}"#, STOP],
        r#"Stop: "hi""#,
    ),
    (
        "no error in words",
        &[
            r#"{"error":false,"choices":[]}"#,
            r#"{"error":0,"choices":[]}"#,
            r#"{"error":[],"choices":[]}"#,
            HI,
            STOP,
        ],
        r#"Stop: "hi""#,
    ),
    (
        "a list of frames",
        &[
            r#"[{"choices":[{"delta":{"content":"h"}}]},{"choices":[{"delta":{"content":"i"},"finish_reason":"stop"}]}]"#,
            DONE,
        ],
        r#"Stop: "hi""#,
    ),
    ("a word about waiting", &[r#"{"type":"info","message":"queued"}"#, HI, STOP], r#"Stop: "hi""#),
    ("done in quotes", &[HI, r#""[DONE]""#, "{a"], r#"Stop: "hi""#),
];

#[test]
fn b3_b4_b8_b13_frames_with_odd_fields() {
    table(ODD);
}

#[test]
fn b12_other_choices_are_not_ours() {
    table(&[
        (
            "first",
            &[r#"{"choices":[{"index":1,"delta":{"content":"no"}}]}"#, HI, STOP, DONE],
            r#"Stop: "hi""#,
        ),
        (
            "as texts",
            &[
                r#"{"choices":[{"index":"1","delta":{"content":"no"}},{"index":"0","delta":{"content":"hi"}}]}"#,
                STOP,
            ],
            r#"Stop: "hi""#,
        ),
        (
            "two pieces of ours in one frame",
            &[
                r#"{"choices":[{"index":0,"delta":{"content":"h"}},{"index":0,"delta":{"content":"i"},"finish_reason":"stop"}]}"#,
            ],
            r#"Stop: "hi""#,
        ),
        (
            "a second one that says nothing of its place",
            &[r#"{"choices":[null,{"delta":{"content":"hi"}},{"delta":{"content":"no"}}]}"#, STOP],
            r#"Stop: "hi""#,
        ),
        (
            "a finish of another",
            &[HI, r#"{"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}"#],
            TRUNCATED,
        ),
    ]);
}

//! Words for the end, and errors wherever they stand (B5, B9).

use super::{AMID, DONE, FAILED, HI, STOP, TRUNCATED, delta, finished, table};
use crate::{profile::Api, rehearsal::check};

#[test]
fn b5_words_for_the_end() {
    let cases = [
        ("EOS", "Stop"),
        ("COMPLETE", "Stop"),
        ("stop_sequence", "Stop"),
        ("tool-calls", "Other"),
        ("content-filter", "ContentFilter"),
        ("FINISH_REASON_MAX_TOKENS", "Length"),
        ("model_context_window_exceeded", "Length"),
        ("insufficient_system_resource", "Other"),
        ("cancelled", "Other"),
        ("time_limit", "Other"),
    ];
    for (reason, expected) in cases {
        let expected = format!(r#"{expected}: "hi""#);
        finished(reason, &[delta(r#"{"content":"hi"}"#)], reason, &expected);
    }
    for reason in ["error", "network_error", "internal-error", "failed"] {
        finished(reason, &[delta(r#"{"content":"hi"}"#)], reason, AMID);
    }
    let open = r#"{"choices":[{"index":0,"delta":{"content":"h"},"finish_reason":"null"}]}"#;
    table(&[
        (
            "the word null goes on",
            &[open, r#"{"choices":[{"delta":{"content":"i"},"finish_reason":"stop"}]}"#],
            r#"Stop: "hi""#,
        ),
        ("the word null ends nothing", &[open], TRUNCATED),
        (
            "an error, then stop",
            &[HI, r#"{"choices":[{"delta":{},"finish_reason":"error"}]}"#, STOP, DONE],
            AMID,
        ),
    ]);
}

#[test]
fn b9_no_error_is_lost_wherever_it_stands() {
    let limit = "failed RateLimited RATE_LIMITED not committed";
    let late = "failed RateLimited RATE_LIMITED unknown";
    table(&[
        ("after the finish", &[HI, STOP, r#"{"error":{"message":"boom"}}"#, DONE], AMID),
        ("in a delta", &[r#"{"choices":[{"delta":{"error":{"message":"boom"}}}]}"#, DONE], FAILED),
        (
            "in a message",
            &[
                r#"{"choices":[{"message":{"content":"hi","error":"boom"},"finish_reason":"stop"}]}"#,
            ],
            FAILED,
        ),
        (
            "in another choice",
            &[HI, r#"{"choices":[{"index":1,"error":{"message":"boom"}}]}"#, STOP, DONE],
            AMID,
        ),
        (
            "in a list",
            &[r#"[{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED"}}]"#, DONE],
            limit,
        ),
        (
            "flat, with a code",
            &[HI, r#"{"code":"InternalError","message":"boom","request_id":"1"}"#, DONE],
            AMID,
        ),
        ("flat, a message alone", &[HI, r#"{"message":"boom"}"#, DONE], AMID),
        ("flat, with a type", &[HI, r#"{"type":"server_error","message":"boom"}"#, DONE], AMID),
        ("flat, with a status", &[HI, r#"{"status":429,"message":"slow"}"#, DONE], late),
        ("flat, of a framework", &[HI, r#"{"detail":"boom"}"#, DONE], AMID),
        ("a list of errors", &[HI, r#"{"errors":[{"message":"boom"}]}"#, DONE], AMID),
        ("a code as a text", &[r#"{"error":{"code":"429","message":"slow"}}"#], limit),
        ("a status for a code", &[r#"{"error":{"status":429,"message":"slow"}}"#], limit),
        (
            "a text and a finish",
            &[
                r#"{"error":"boom","choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}"#,
                DONE,
            ],
            FAILED,
        ),
        ("true", &[r#"{"error":true,"choices":[]}"#, DONE], FAILED),
        (
            "beside calls",
            &[
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls","error":{"code":502}}]}"#,
                DONE,
            ],
            FAILED,
        ),
    ]);
    let named = |data: &str| format!("event: error\ndata: {data}\n\n").into_bytes();
    check(Api::Chat, "named, with a type", &named(r#"{"type":"x","message":"boom"}"#), FAILED);
    check(Api::Chat, "named, in words", &named("upstream went away"), FAILED);
}

//! The streams that the shared set leaves out, made up from what is told about them; and frames,
//! ends, counts and errors in more places and shapes (B1 to D4).
//!
//! Length: rows of tables, one for each stream.

use super::{call, delta, finish, finished};
use crate::{
    profile::Api,
    rehearsal::{check, events},
};

/// What it is, the payloads, and what they come to.
type Row = (&'static str, &'static [&'static str], &'static str);

fn table(rows: &[(&str, &[&str], &str)]) {
    for (name, data, expected) in rows {
        check(Api::Chat, name, &events(data), expected);
    }
}

const HI: &str = r#"{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}"#;
const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const CALLS: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#;
const DONE: &str = "[DONE]";
const TRUNCATED: &str = "failed Protocol STREAM_TRUNCATED unknown";
const FAILED: &str = "failed Unavailable PROVIDER_ERROR unknown";
/// The same after parts of the answer.
const AMID: &str = "failed Protocol PROVIDER_ERROR unknown";

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
    let words = "failed Protocol MALFORMED_EVENT unknown";
    check(Api::Chat, "named, in words", &named("upstream went away"), words);
}

#[test]
fn b10_bytes_in_every_order() {
    let text = |frames: &str| frames.as_bytes().to_vec();
    let hi =
        |end: &str| format!("data: {HI}{end}{end}data: {STOP}{end}{end}data: [DONE]{end}{end}");
    let expected = r#"Stop: "hi""#;
    for end in ["\n", "\r", "\r\n"] {
        check(Api::Chat, end, &text(&hi(end)), expected);
    }
    let rows: &[(&str, String, &str)] = &[
        ("no space", hi("\n").replace("data: ", "data:"), expected),
        ("no empty lines", hi("\n").replace("\n\n", "\n"), expected),
        ("no empty lines, cut", format!("data: {HI}\ndata: {{\"choices\""), TRUNCATED),
        ("two spaces", hi("\n").replace("data: ", "data:  "), expected),
        ("zero bytes between", hi("\n").replace("data: ", "\0\0data: "), expected),
        ("only comments", ": a\n\n: b\n\n".to_owned(), TRUNCATED),
        ("other fields", hi("\n").replace("data: ", "id: 1\nretry: 5\nevent: x\ndata: "), expected),
        (
            "one event in lines",
            format!("data: {}\n\ndata: {STOP}\n\n", HI.replace("[{", "\ndata: [{")),
            expected,
        ),
        ("no end of the last line", format!("data: {HI}\n\ndata: {STOP}"), expected),
        ("done without an end", format!("data: {HI}\n\ndata: [DONE]"), expected),
        ("done cut", format!("data: {HI}\n\ndata: [DON"), TRUNCATED),
        ("cut after the finish", format!("data: {HI}\n\ndata: {STOP}\n\ndata: {{\"cho"), expected),
        ("cut amid an event", format!("data: {HI}\n\ndata: {{\"cho"), TRUNCATED),
        (
            "a page",
            "<html><body>502</body></html>".to_owned(),
            "failed Protocol NOT_AN_API unknown",
        ),
        (
            "a document with an error",
            r#"{"error":{"message":"boom","code":500}}"#.to_owned(),
            FAILED,
        ),
        (
            "a document that is cut",
            r#"{"choices":[{"message":{"content":"hi"#.to_owned(),
            TRUNCATED,
        ),
        ("nothing", String::new(), TRUNCATED),
        ("no json", "hello".to_owned(), TRUNCATED),
        ("a million empty events", "data:\n\n".repeat(20_000), TRUNCATED),
    ];
    for (name, bytes, expected) in rows {
        check(Api::Chat, name, bytes.as_bytes(), expected);
    }
    let deep = format!("data: {}\n\n", "[".repeat(10_000));
    check(Api::Chat, "depth", deep.as_bytes(), "failed Protocol MALFORMED_EVENT unknown");
    let mut half = text(&hi("\n").replace("hi", "h\u{fc}"));
    let at = half.iter().position(|byte| *byte == 0xc3).expect("a long character");
    half.remove(at + 1);
    check(Api::Chat, "half a character", &half, "Stop: \"h\u{fffd}\"");
    let lone = hi("\n").replace("hi", "\\ud83d");
    check(Api::Chat, "half a pair", lone.as_bytes(), "Stop: \"\u{fffd}\"");
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

#[test]
fn c_counts_in_every_place_and_shape() {
    let hi = |usage: &str| {
        format!(
            r#"{{"choices":[{{"delta":{{"content":"hi"}},"finish_reason":"stop"}}],"usage":{usage}}}"#
        )
    };
    let rows = [
        ("c6 empty", hi("{}"), ""),
        ("c6 a list", hi("[]"), ""),
        ("c7 nulls", hi(r#"{"prompt_tokens":3,"completion_tokens":null,"prompt_tokens_details":null}"#), " [in 3]"),
        ("c8 no total", hi(r#"{"prompt_tokens":3,"completion_tokens":1}"#), " [in 3 out 1]"),
        ("texts", hi(r#"{"prompt_tokens":"3","completion_tokens":1}"#), " [out 1]"),
        ("whole fractions", hi(r#"{"prompt_tokens":3.0,"completion_tokens":1.5}"#), " [in 3]"),
        ("below zero", hi(r#"{"prompt_tokens":-3,"completion_tokens":1}"#), " [out 1]"),
        ("above all", hi(r#"{"prompt_tokens":18446744073709551616,"completion_tokens":1}"#), " [out 1]"),
        ("zero", hi(r#"{"prompt_tokens":0,"completion_tokens":0}"#), " [in 0 out 0]"),
        ("c10 cached above the prompt", hi(r#"{"prompt_tokens":3,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":9}}"#), " [in 3 out 1]"),
        ("c10 cached beside the prompt", hi(r#"{"prompt_tokens":3,"completion_tokens":1,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":9}}"#), " [in 12 out 1 cached 9]"),
        ("c10 reasoning above the answer", hi(r#"{"prompt_tokens":3,"completion_tokens":1,"completion_tokens_details":{"reasoning_tokens":8}}"#), " [in 3 out 1]"),
        ("c10 reasoning beside the answer", hi(r#"{"prompt_tokens":3,"completion_tokens":1,"total_tokens":12,"completion_tokens_details":{"reasoning_tokens":8}}"#), " [in 3 out 9 reasoning 8]"),
        ("c11 a cost", hi(r#"{"prompt_tokens":3,"completion_tokens":1,"cost":0.00025}"#), " [in 3 out 1 cost 250000]"),
        ("c11 ticks", hi(r#"{"prompt_tokens":3,"completion_tokens":1,"cost_in_usd_ticks":25}"#), " [in 3 out 1 cost 3]"),
        ("c11 a cost below zero", hi(r#"{"prompt_tokens":3,"completion_tokens":1,"cost":-1}"#), " [in 3 out 1]"),
        ("c11 groq", r#"{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":3,"completion_tokens":1}}}"#.to_owned(), " [in 3 out 1]"),
        ("in the choice", r#"{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop","usage":{"prompt_tokens":3,"completion_tokens":1}}]}"#.to_owned(), " [in 3 out 1]"),
    ];
    for (name, frame, counts) in rows {
        check(Api::Chat, name, &events(&[frame]), &format!(r#"Stop: "hi"{counts}"#));
    }
    let usage = |prompt: u64| {
        format!(r#"{{"choices":[],"usage":{{"prompt_tokens":{prompt},"completion_tokens":1}}}}"#)
    };
    let frames = [HI.to_owned(), STOP.to_owned(), usage(9), usage(3), DONE.to_owned()];
    check(Api::Chat, "a lower one later", &events(&frames), r#"Stop: "hi" [out 1]"#);
    let frames = [HI.to_owned(), usage(3), usage(3), STOP.to_owned(), usage(3), DONE.to_owned()];
    check(Api::Chat, "c4 the same again and again", &events(&frames), r#"Stop: "hi" [in 3 out 1]"#);
}

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

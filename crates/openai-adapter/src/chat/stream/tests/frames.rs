//! Frames, ends, usage and reasoning (B1 to B13, C1 to C12, D1 to D4).

use super::{call, delta, finish, finished};
use crate::{
    profile::Api,
    rehearsal::{check, events, play},
};

/// A stream of these frames and nothing else.
fn plain(name: &str, frames: &[&str], expected: &str) {
    check(Api::Chat, name, &events(frames), expected);
}

#[test]
fn b1_b4_odd_frames_do_no_harm() {
    let azure = r#"{"choices":[],"prompt_filter_results":[{}],"id":"","model":""}"#;
    let tail = r#"{"choices":[{"index":0,"content_filter_offsets":{"start":1}}]}"#;
    let hi = delta(r#"{"content":"hi"}"#);
    let odd = r#"{"id":null,"created":null,"choices":null,"service_tier":"on_demand"}"#;
    let end = r#"{"choices":[{"index":0,"delta":null,"finish_reason":"stop"}]}"#;
    plain("all of them", &[azure, odd, &hi, "{}", "7", "[]", end, tail], r#"Stop: "hi""#);
}

#[test]
fn b5_vendors_have_their_own_reasons() {
    let hi = [delta(r#"{"content":"hi"}"#)];
    let cases = [
        ("eos", "Stop"),
        ("end_turn", "Stop"),
        ("STOP", "Stop"),
        ("model_length", "Length"),
        ("max_tokens", "Length"),
        ("MAX_TOKENS", "Length"),
        ("SAFETY", "ContentFilter"),
        ("abort", "Other"),
        ("repetition", "Other"),
        ("something_new", "Other"),
    ];
    for (reason, finish) in cases {
        finished(reason, &hi, reason, &format!(r#"{finish}: "hi""#));
    }
    let expected = "failed Protocol PROVIDER_ERROR unknown";
    finished("error", &hi, "error", expected);
}

#[test]
fn b6_an_answer_needs_an_end() {
    let hi = delta(r#"{"content":"hi"}"#);
    let f = call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#);
    let truncated = "failed Protocol STREAM_TRUNCATED unknown";
    plain("only done", &[&hi, "[DONE]"], r#"Stop: "hi""#);
    plain("only done, with a call", &[&f, "[DONE]"], "ToolCalls: f#a{}");
    plain("only a finish", &[&hi, &finish("stop")], r#"Stop: "hi""#);
    plain("neither", &[&hi], truncated);
    plain("neither, with a whole call", &[&f], truncated);
    plain("nothing at all", &[], truncated);
    plain("done and nothing else", &["[DONE]"], truncated);
    plain("done twice", &[&hi, "[DONE]", "[DONE]"], r#"Stop: "hi""#);
    let cut = [events(&[&hi]), b"data: {\"choices\":[{\"ind".to_vec()].concat();
    check(Api::Chat, "in the middle of an event", &cut, truncated);
    let unterminated = [events(&[&hi]), format!("data: {}", finish("stop")).into_bytes()].concat();
    check(Api::Chat, "an event without its empty line", &unterminated, r#"Stop: "hi""#);
}

#[test]
fn b7_b8_b13_text_after_the_finish_in_parts_and_as_a_refusal() {
    let late = [finish("stop"), delta(r#"{"content":"hi"}"#), "[DONE]".to_owned()];
    check(Api::Chat, "late", &events(&late), r#"Stop: "hi""#);
    let parts = r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},
        {"type":"text","text":"hi"},{"type":"reference","reference_ids":[1]}]}"#;
    let parts = parts.replace('\n', " ");
    finished("parts", &[delta(&parts)], "stop", r#"Stop: (hm | null) "hi""#);
    let refusal = delta(r#"{"content":null,"refusal":"no"}"#);
    finished("a refusal", &[refusal], "stop", r#"ContentFilter: "no""#);
}

#[test]
fn b9_errors_arrive_at_http_200_too() {
    let hi = delta(r#"{"content":"hi"}"#);
    let failed = "failed Unavailable PROVIDER_ERROR unknown";
    let error = r#"{"error":{"message":"boom","code":500}}"#;
    plain("alone", &[error], failed);
    let amid = "failed Protocol PROVIDER_ERROR unknown";
    plain("after text", &[&hi, error], amid);
    plain("then done", &[&hi, error, "[DONE]"], amid);
    plain("no choices", &[r#"{"choices":[],"error":{"message":"boom"}}"#], failed);
    plain("as a text", &[r#"{"error":"boom"}"#], failed);
    let inner = r#"{"choices":[{"index":0,"delta":{},"error":{"message":"boom"}}]}"#;
    plain("inside of a choice", &[inner], failed);
    plain("vllm", &[r#"{"object":"error","message":"boom","code":500}"#], failed);
    check(Api::Chat, "named", b"event: error\ndata: {\"message\":\"boom\"}\n\n", failed);
    let end = finish("stop");
    plain("no error", &[&hi, r#"{"error":null}"#, r#"{"error":{}}"#, &end], r#"Stop: "hi""#);
    let limit = r#"{"error":{"message":"slow","code":429}}"#;
    plain("a limit", &[limit], "failed RateLimited RATE_LIMITED not committed");
    plain("a limit after text", &[&hi, limit], "failed RateLimited RATE_LIMITED unknown");
    let long = r#"{"error":{"message":"maximum context length is 10 tokens","code":400}}"#;
    plain("overflow", &[long], "failed ContextOverflow CONTEXT_OVERFLOW not committed");
}

#[test]
fn b10_framing_and_bodies() {
    let body = r#"{"id":"x","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#;
    let expected = r#"Stop: "hi""#;
    check(Api::Chat, "json", body.as_bytes(), expected);
    check(Api::Chat, "json after spaces", format!("\r\n {body}").as_bytes(), expected);
    check(Api::Chat, "json after a mark", format!("\u{feff}{body}").as_bytes(), expected);
    check(Api::Chat, "json in an array", format!("[{body}]").as_bytes(), expected);
    let no_finish = br#"{"choices":[{"message":{"content":"hi"}}]}"#;
    check(Api::Chat, "json without a finish", no_finish, expected);
    let cut = &body.as_bytes()[..body.len() - 2];
    check(Api::Chat, "cut json", cut, "failed Protocol STREAM_TRUNCATED unknown");
    let page = b"<!doctype html><p>welcome</p>";
    check(Api::Chat, "a page", page, "failed Protocol NOT_AN_API unknown");
    check(Api::Chat, "no json", b"data: {a}\n\n", "failed Protocol MALFORMED_EVENT unknown");
    let crlf = format!(
        "\u{feff}: OPENROUTER PROCESSING\r\n\r\ndata:{}\r\n\r\ndata:{}\r\n\r\ndata:[DONE]\r\n\r\n",
        delta(r#"{"content":"ä漢😀"}"#),
        finish("stop"),
    );
    check(Api::Chat, "every spelling at once", crlf.as_bytes(), r#"Stop: "ä漢😀""#);
}

#[test]
fn b12_only_the_first_choice_counts() {
    let other = r#"{"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"length"},
        {"index":0,"delta":{"content":"yes"}}]}"#
        .replace('\n', " ");
    finished("two choices", &[other], "stop", r#"Stop: "yes""#);
}

#[test]
fn c_usage_is_found_wherever_it_stands() {
    let hi = delta(r#"{"content":"hi"}"#);
    let usage = r#""usage":{"prompt_tokens":10,"completion_tokens":2}"#;
    let counted = r#"Stop: "hi" [in 10 out 2]"#;
    let last = format!(r#"{{"choices":[],{usage}}}"#);
    let end = finish("stop");
    plain("c1 in a frame of its own", &[&hi, &end, &last, "[DONE]"], counted);
    let with_finish = format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"stop"}}],{usage}}}"#);
    plain("c2 with the finish", &[&hi, &with_finish], counted);
    let with_choice = format!(r#"{{"choices":[{{"index":0,"delta":{{}}}}],{usage}}}"#);
    plain("c3 beside a choice", &[&hi, &end, &with_choice, "[DONE]"], counted);
    let nothing = r#"{"choices":[],"usage":null}"#;
    plain("c5 then nothing", &[&hi, &end, &last, nothing, "{}", "[DONE]"], counted);
    plain("c12 none", &[&hi, &end, "[DONE]"], r#"Stop: "hi""#);
    let failed = "failed Protocol STREAM_TRUNCATED unknown [in 10 out 2]";
    plain("of a cut answer", &[&hi, &last], failed);
}

#[test]
fn d_reasoning_is_taken_once_and_kept_for_its_issuer() {
    let both = delta(r#"{"reasoning_content":"hm","reasoning":"hm","content":"hi"}"#);
    let kept = r#"Stop: (hm | {"reasoning_content":"hm"}) "hi""#;
    finished("d1 in both fields", &[both], "stop", kept);
    let ollama = [delta(r#"{"reasoning":"h"}"#), delta(r#"{"reasoning":"m","content":"hi"}"#)];
    finished("d1 ollama", &ollama, "stop", r#"Stop: (hm | {"reasoning":"hm"}) "hi""#);
    let f = r#"[{"index":0,"id":"a","function":{"name":"f"}}]"#;
    let empty = delta(&format!(r#"{{"reasoning_content":"","tool_calls":{f}}}"#));
    let expected = r#"ToolCalls: ( | {"reasoning_content":""}) f#a{}"#;
    finished("d2 empty, before a call", &[empty], "tool_calls", expected);
    let no_call = delta(r#"{"reasoning_content":"","content":"hi"}"#);
    finished("d2 empty, without a call", &[no_call], "stop", r#"Stop: "hi""#);
    let think = delta(r#"{"content":"<think>hm</think>hi"}"#);
    finished("d3 in the text", &[think], "stop", r#"Stop: "<think>hm</think>hi""#);
    let details = [
        delta(r#"{"reasoning_details":[{"type":"reasoning.text","text":"h"}]}"#),
        delta(r#"{"reasoning_details":[{"type":"reasoning.encrypted","data":"z"}]}"#),
    ];
    let expected = concat!(
        r#"Stop: (h | {"reasoning_details":[{"text":"h","type":"reasoning.text"},"#,
        r#"{"data":"z","type":"reasoning.encrypted"}]})"#,
    );
    finished("d4 details in order", &details, "stop", expected);
}

#[test]
fn deltas_tell_the_answer_as_it_comes() {
    let stream = [
        delta(r#"{"reasoning":"hm"}"#),
        delta(r#"{"content":"h"}"#),
        delta(r#"{"content":"i"}"#),
        call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"p\""}}"#),
        call(r#"{"index":0,"function":{"arguments":":1}"}}"#),
        call(r#"{"index":1,"id":"b","function":{"name":"g"}}"#),
        finish("tool_calls"),
    ];
    let deltas = r#"r:hm t:h t:i call0:f#a args0:{"p" args0::1} call1:g#b "#;
    assert_eq!(play(Api::Chat, &events(&stream), usize::MAX).deltas, deltas);
}

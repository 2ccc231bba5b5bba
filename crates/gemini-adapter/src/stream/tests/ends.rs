//! How an answer ends: its reasons, failures in its place, and no end at all.

use super::{answers, call, frame, stop};
use crate::rehearsal::check;

const TEXT: &str = r#"{"text":"a"}"#;

fn reason(reason: &str) -> String {
    frame("", &format!(r#","finishReason":"{reason}""#))
}

#[test]
fn every_reason_has_its_meaning_and_only_stop_lets_calls_run() {
    let cases = [
        ("STOP", r#"ToolCalls: "a" f#x{}"#),
        ("MAX_TOKENS", r#"Length: "a""#),
        ("SAFETY", r#"ContentFilter: "a""#),
        ("RECITATION", r#"ContentFilter: "a""#),
        ("LANGUAGE", r#"ContentFilter: "a""#),
        ("BLOCKLIST", r#"ContentFilter: "a""#),
        ("PROHIBITED_CONTENT", r#"ContentFilter: "a""#),
        ("SPII", r#"ContentFilter: "a""#),
        ("IMAGE_SAFETY", r#"ContentFilter: "a""#),
        ("OTHER", r#"Other: "a""#),
        ("TOO_MANY_TOOL_CALLS", r#"Other: "a""#),
        ("SOMETHING_NEW", r#"Other: "a""#),
        ("MALFORMED_FUNCTION_CALL", "failed Invalid TOOL_USE_FAILED unknown"),
        ("UNEXPECTED_TOOL_CALL", "failed Invalid TOOL_USE_FAILED unknown"),
        ("MISSING_THOUGHT_SIGNATURE", "failed Invalid INVALID_REQUEST unknown"),
        ("FINISH_REASON_UNSPECIFIED", "failed Protocol STREAM_TRUNCATED unknown"),
        ("", "failed Protocol STREAM_TRUNCATED unknown"),
    ];
    let said = frame(&format!(r#"{TEXT},{}"#, call(r#""id":"x","name":"f""#)), "");
    for (name, expected) in cases {
        answers(name, &[said.clone(), reason(name)], expected);
    }
}

#[test]
fn nothing_completes_an_answer_that_was_cut() {
    let frames = [frame(TEXT, ""), reason("MAX_TOKENS"), reason("STOP")];
    answers("stop after a limit", &frames, r#"Length: "a""#);
    let frames = [stop(TEXT), reason("MAX_TOKENS")];
    answers("a limit after stop", &frames, r#"Length: "a""#);
    let late = r#"{"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1}}"#;
    answers("counts after stop", &[stop(TEXT), late.to_owned()], r#"Stop: "a" [in 3 out 1]"#);
    answers("text after stop", &[stop(TEXT), frame(TEXT, "")], r#"Stop: "aa""#);
    let always = [stop(""), stop(TEXT), stop(TEXT), stop("")];
    answers("stop with every frame", &always, r#"Stop: "aa""#);
}

#[test]
fn without_a_reason_an_answer_is_cut_also_after_a_whole_call() {
    let truncated = "failed Protocol STREAM_TRUNCATED unknown";
    let whole = frame(&call(r#""id":"x","name":"f","args":{"p":1}"#), "");
    answers("after a call", &[whole], truncated);
    answers("after text", &[frame(TEXT, "")], truncated);
    answers("no candidates", &[r#"{"candidates":[]}"#.to_owned()], truncated);
    answers("nothing", &[], truncated);
    for document in [r"{}", r"[]", &frame(TEXT, ""), r#"[{"candidates":[]}]"#] {
        check("a document", document.as_bytes(), truncated);
    }
    let cut = &stop(TEXT).into_bytes()[..40];
    check("half a document", cut, truncated);
    let list = format!("[{},{}", frame(TEXT, ""), stop(TEXT));
    check("half a list", list.as_bytes(), truncated);
}

#[test]
fn errors_and_blocks_are_failures_wherever_they_stand() {
    let error = r#"{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED"}}"#;
    let refused = "failed RateLimited RATE_LIMITED not committed";
    let broken_off = "failed RateLimited RATE_LIMITED unknown";
    answers("first", &[error.to_owned()], refused);
    answers("after text", &[frame(TEXT, ""), error.to_owned()], broken_off);
    check("a document", error.as_bytes(), refused);
    check("in a list", format!("[{error}]").as_bytes(), refused);
    let list = format!("[{},{error}]", frame(TEXT, ""));
    check("later in a list", list.as_bytes(), broken_off);
    check("named", b"event: error\ndata: {}\n\n", "failed Unavailable PROVIDER_ERROR unknown");
    let blocked = |reason: &str| format!(r#"{{"promptFeedback":{{"blockReason":"{reason}"}}}}"#);
    let moderated = "failed Invalid CONTENT_REJECTED not committed";
    for reason in ["SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY", "a b"] {
        answers(reason, &[blocked(reason)], moderated);
    }
    let late = [frame(TEXT, ""), blocked("SAFETY")];
    answers("a block after text", &late, "failed Invalid CONTENT_REJECTED unknown");
    let none = [blocked("BLOCK_REASON_UNSPECIFIED"), stop(TEXT)];
    answers("no block", &none, r#"Stop: "a""#);
    let rated = r#"{"promptFeedback":{"safetyRatings":[]}}"#.to_owned();
    answers("ratings alone", &[rated, stop(TEXT)], r#"Stop: "a""#);
}

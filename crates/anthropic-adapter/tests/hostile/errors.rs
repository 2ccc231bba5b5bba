//! Errors: whatever their words and their place, none is lost, and none is taken for an answer.

use super::*;

fn error(kind: &str, message: &str) -> String {
    format!(
        r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}},"request_id":"req_1"}}"#
    )
}

const INVALID: &str = "invalid_request_error";
const OVERFLOW: &str = "failed ContextOverflow CONTEXT_OVERFLOW not committed";
const LIMIT: &str = "failed OutputLimit OUTPUT_LIMIT not committed";
const QUOTA: &str = "failed RateLimited QUOTA_EXHAUSTED not committed";
const THROTTLED: &str = "failed RateLimited RATE_LIMITED not committed";

/// Types, words, and what they mean.
const WORDS: &[(&str, &str, &str)] = &[
    (INVALID, "prompt is too long: 208310 tokens > 200000 maximum", OVERFLOW),
    (
        INVALID,
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
        OVERFLOW,
    ),
    (INVALID, "messages: Input is too long for requested model.", OVERFLOW),
    (INVALID, "The prompt is too long: 1048577, model maximum context length: 1048576", OVERFLOW),
    (INVALID, "Your request exceeded model token limit: 262144 (requested: 300000)", OVERFLOW),
    (INVALID, "context window exceeds limit (2013)", OVERFLOW),
    (
        INVALID,
        "max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for claude-haiku-4-5",
        LIMIT,
    ),
    (INVALID, "Your credit balance is too low to access the Anthropic API.", QUOTA),
    (
        INVALID,
        "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
        QUOTA,
    ),
    (
        "rate_limit_error",
        "This request would exceed your organization's rate limit of 30,000 input tokens per minute",
        THROTTLED,
    ),
    (
        "rate_limit_error",
        "Number of request tokens has exceeded your per-minute rate limit",
        THROTTLED,
    ),
    ("rate_limit_error", "Too many tokens, please wait before trying again.", THROTTLED),
    (
        "request_too_large",
        "Request exceeds the maximum size",
        "failed Invalid REQUEST_TOO_LARGE not committed",
    ),
    ("not_found_error", "model: claude-nine", "failed NotFound MODEL_NOT_FOUND not committed"),
    (
        INVALID,
        "messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks",
        "failed Invalid INVALID_REQUEST not committed",
    ),
];

#[test]
fn words_say_more_than_types() {
    for (kind, message, expected) in WORDS {
        check(message, &one(&error(kind, message)), expected);
        let named = format!("event: error\ndata: {}\n\n", error(kind, message));
        bytes(message, named.as_bytes(), expected);
        bytes(message, error(kind, message).as_bytes(), expected);
        let amid = [one(START), said(0, "hi"), one(&error(kind, message))].concat();
        let (head, _) = expected.rsplit_once(" not committed").expect("a disposition");
        check(message, &amid, &format!("{head} unknown"));
    }
}

#[test]
fn an_error_has_many_shapes() {
    let failed = "failed Unavailable PROVIDER_ERROR unknown";
    let overloaded = "failed Unavailable PROVIDER_OVERLOADED unknown";
    let cases = [
        (
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            overloaded,
        ),
        (
            r#"{"type":"error","error":{"details":null,"type":"overloaded_error","message":"Overloaded"},"request_id":null}"#,
            overloaded,
        ),
        (r#"{"type":"error"}"#, failed),
        (r#"{"type":"error","error":null}"#, failed),
        (r#"{"type":"error","error":"no"}"#, failed),
        (r#"{"type":"error","message":"no"}"#, failed),
        (r#"{"error":"no"}"#, failed),
        (r#"{"error":{"code":"529","message":"no"}}"#, overloaded),
        (
            r#"{"error":{"code":429,"message":"no"}}"#,
            "failed RateLimited RATE_LIMITED not committed",
        ),
        (
            r#"{"error":{"code":401,"message":"no"}}"#,
            "failed Forbidden AUTHENTICATION_FAILED not committed",
        ),
        (r#"[{"error":{"message":"no"}}]"#, failed),
        (r#"{"code":500,"msg":"404 NOT_FOUND","success":false}"#, failed),
        (
            r#"{"code":401,"msg":"token expired","success":false}"#,
            "failed Forbidden AUTHENTICATION_FAILED not committed",
        ),
        (r#"{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}"#, QUOTA),
    ];
    for (body, expected) in cases {
        bytes(body, body.as_bytes(), expected);
        check(body, &one(body), expected);
        let amid = [one(START), said(0, "hi"), one(body)].concat();
        let later = expected.replace("Unavailable", "Protocol").replace("not committed", "unknown");
        check(body, &amid, &later);
    }
    let fine = r#"{"type":"message","content":"hi","stop_reason":"end_turn","base_resp":{"status_code":0,"status_msg":""}}"#;
    bytes("a status that is none", fine.as_bytes(), r#"Stop: "hi""#);
    let null = r#"{"type":"message","content":"hi","stop_reason":"end_turn","error":null}"#;
    bytes("an error that is none", null.as_bytes(), r#"Stop: "hi""#);
    for page in ["<html><body>502</body></html>", "\n <!DOCTYPE html>"] {
        bytes(page, page.as_bytes(), "failed Protocol NOT_AN_API unknown");
    }
    bytes("a sentence", b"upstream connect error\n", TRUNCATED);
    bytes(
        "data that is a sentence",
        b"data: upstream connect error\n\n",
        "failed Protocol MALFORMED_EVENT unknown",
    );
}

#[test]
fn a_stream_that_breaks_off_with_a_bare_document_is_an_error() {
    let begun = wire_rehearsal::events(&[one(START), said(0, "hi")].concat());
    let cases = [
        (
            "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
            "PROVIDER_OVERLOADED",
        ),
        (
            "{\n  \"error\": {\n    \"message\": \"no\",\n    \"code\": 503\n  }\n}\n",
            "PROVIDER_OVERLOADED",
        ),
        ("{\"error\":\"no\"}\n\ndata: [DONE]\n\n", "PROVIDER_ERROR"),
        ("[{\"error\":{\"code\":500}}]", "PROVIDER_ERROR"),
    ];
    for (bare, code) in cases {
        let all = [&begun[..], bare.as_bytes()].concat();
        bytes(bare, &all, &format!("failed Protocol {code} unknown"));
    }
    for cut in ["{\"err", "{\n  \"error\": {\n"] {
        bytes(cut, &[&begun[..], cut.as_bytes()].concat(), TRUNCATED);
        let rest = wire_rehearsal::events(&[END_TURN, STOP]);
        let all = [&begun[..], cut.as_bytes(), b"\n\n", &rest].concat();
        bytes(cut, &all, "failed Protocol MALFORMED_EVENT unknown");
    }
    for void in ["{\"note\":1}\n", "{\"error\":null}\n", "[]\n"] {
        bytes(void, &[&begun[..], void.as_bytes()].concat(), TRUNCATED);
        let rest = wire_rehearsal::events(&[END_TURN, STOP]);
        let all = [&begun[..], void.as_bytes(), b"\n", &rest].concat();
        bytes(void, &all, r#"Stop: "hi""#);
    }
}

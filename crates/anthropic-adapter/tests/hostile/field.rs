//! What was reported of servers and gateways in the field, and what follows from the same thought.

use super::*;

/// An announcement that says more than its name.
fn announced(rest: &str) -> Vec<String> {
    one(&format!(
        r#"{{"type":"message_start","message":{{"id":"msg_1","role":"assistant",{rest}}}}}"#
    ))
}

/// An end with a reason and what stands beside it.
fn ended(delta: &str, rest: &str) -> Vec<String> {
    one(&format!(r#"{{"type":"message_delta","delta":{{{delta}}}{rest}}}"#))
}

fn reason(reason: &str) -> Vec<String> {
    ended(&format!(r#""stop_reason":"{reason}""#), "")
}

fn hi() -> Vec<String> {
    said(0, "hi")
}

/// A whole call.
fn called(index: u32, id: &str) -> Vec<String> {
    vec![call(index, id, "f"), piece(index, r#"{"p":1}"#), end(index)]
}

fn all(parts: &[Vec<String>]) -> Vec<String> {
    parts.concat()
}

#[test]
fn what_is_announced_before_it_is_known_is_not_counted() {
    let usage = |first: &str, last: &str| {
        let first = format!(r#""content":[],"usage":{first}"#);
        let last = format!(r#","usage":{last}"#);
        let end = ended(r#""stop_reason":"end_turn""#, &last);
        all(&[announced(&first), hi(), end, one(STOP)])
    };
    let zeros = r#"{"input_tokens":0,"output_tokens":0}"#;
    let all_zeros = r#"{"input_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"output_tokens":0}"#;
    let cases = [
        // SGLang and a gateway announce zeros; the end has the numbers, or some of them.
        (
            zeros,
            r#"{"input_tokens":4522,"cache_creation_input_tokens":4511,"cache_read_input_tokens":0,"output_tokens":5}"#,
            " [in 9033 out 5 cached 0 written 4511]",
        ),
        (zeros, r#"{"output_tokens":15}"#, " [out 15]"),
        (all_zeros, r#"{"output_tokens":15}"#, " [out 15 cached 0 written 0]"),
        (all_zeros, "null", " [cached 0 written 0]"),
        // A prompt that a cache holds whole is a prompt.
        (
            r#"{"input_tokens":0,"cache_read_input_tokens":100,"cache_creation_input_tokens":0}"#,
            r#"{"output_tokens":5}"#,
            " [in 100 out 5 cached 100 written 0]",
        ),
        (
            r#"{"input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":7,"ephemeral_1h_input_tokens":0}}"#,
            r#"{"output_tokens":5}"#,
            " [in 7 out 5 cached 0 written 7]",
        ),
        // What the end says is a report, also of nothing.
        ("null", r#"{"input_tokens":0,"output_tokens":0}"#, " [in 0 out 0]"),
        // An estimate of the whole, and then its parts: one of them is wrong.
        (
            r#"{"input_tokens":4522}"#,
            r#"{"input_tokens":11,"cache_read_input_tokens":4511,"cache_creation_input_tokens":0,"output_tokens":5}"#,
            " [out 5 cached 4511 written 0]",
        ),
        (r#"{"input_tokens":25}"#, r#"{"input_tokens":0,"output_tokens":5}"#, " [out 5]"),
        // Beside the counts stands much that is none.
        (
            r#"{"input_tokens":25,"service_tier":"standard","inference_geo":"us","server_tool_use":null,"cache_creation":null}"#,
            r#"{"output_tokens":5,"speed":"standard"}"#,
            " [in 25 out 5]",
        ),
    ];
    for (first, last, counts) in cases {
        check(&format!("{first} {last}"), &usage(first, last), &format!(r#"Stop: "hi"{counts}"#));
    }
}

#[test]
fn an_announcement_may_bring_what_it_announces() {
    let with = |content: &str| announced(&format!(r#""content":[{content}]"#));
    let text = r#"{"type":"text","text":"hi"}"#;
    let whole = r#"{"type":"tool_use","id":"a","name":"f","input":{"p":1}}"#;
    let begun = r#"{"type":"tool_use","id":"a","name":"f","input":{}}"#;
    let end_turn = || [reason("end_turn"), one(STOP)].concat();
    let tool_use = || [reason("tool_use"), one(STOP)].concat();
    let call = r#"ToolCalls: f#a{"p":1}"#;
    let cases = [
        ("a text", all(&[with(text), end_turn()]), r#"Stop: "hi""#),
        ("a text that is said again", all(&[with(text), hi(), end_turn()]), r#"Stop: "hi""#),
        (
            "a text, then a call",
            all(&[with(text), called(1, "a"), tool_use()]),
            r#"ToolCalls: "hi" f#a{"p":1}"#,
        ),
        ("a call", all(&[with(whole), tool_use()]), call),
        ("a call that is made again", all(&[with(whole), called(0, "a"), tool_use()]), call),
        ("a call that begins", all(&[with(begun), called(0, "a"), tool_use()]), call),
        ("a call that never comes", all(&[with(begun), tool_use()]), "Length: "),
        ("a call, and a limit", all(&[with(whole), reason("max_tokens"), one(STOP)]), "Length: "),
        (
            "an empty text",
            all(&[with(r#"{"type":"text","text":""}"#), hi(), end_turn()]),
            r#"Stop: "hi""#,
        ),
        ("no blocks", all(&[with("null,7"), hi(), end_turn()]), r#"Stop: "hi""#),
        ("and no end", all(&[with(text), with(text)]), TRUNCATED),
    ];
    for (name, frames, expected) in cases {
        check(name, &frames, expected);
    }
}

#[test]
fn no_word_in_between_completes_what_was_cut() {
    let cases: &[(&[&str], &str)] = &[
        (&["max_tokens", "something_new", "end_turn"], r#"Length: "hi""#),
        (&["max_tokens", "pause_turn", "tool_use"], r#"Length: "hi""#),
        (&["refusal", "something_new", "tool_use"], r#"ContentFilter: "hi""#),
        (&["end_turn", "something_new", "max_tokens"], r#"Length: "hi""#),
        (&["model_context_window_exceeded", "compaction"], r#"Length: "hi""#),
        (&["max_tokens", "refusal"], r#"ContentFilter: "hi""#),
        // A pause is no cut: what follows it belongs to the answer.
        (&["pause_turn", "tool_use"], r#"ToolCalls: "hi" f#a{"p":1}"#),
    ];
    for (reasons, expected) in cases {
        let ends: Vec<String> = reasons.iter().flat_map(|word| reason(word)).collect();
        let frames = all(&[one(START), hi(), called(1, "a"), ends, one(STOP)]);
        check(&reasons.join(", "), &frames, expected);
    }
}

#[test]
fn a_message_that_is_announced_again_amid_a_block_was_asked_for_again() {
    let restarted = "failed Protocol ANSWER_RESTARTED unknown";
    let open = || hi()[..2].to_vec();
    let begun = || called(0, "a")[..2].to_vec();
    let finish = |word: &str| [reason(word), one(STOP)].concat();
    let cases = [
        (
            "amid a text",
            all(&[one(START), open(), one(START), hi(), finish("end_turn")]),
            restarted,
        ),
        (
            "amid a call",
            all(&[one(START), begun(), one(START), called(0, "a"), finish("tool_use")]),
            restarted,
        ),
        (
            "after a text",
            all(&[one(START), hi(), one(START), hi(), finish("end_turn")]),
            r#"Stop: "hi""#,
        ),
        (
            "after a call",
            all(&[one(START), called(0, "a"), one(START), called(0, "a"), finish("tool_use")]),
            r#"ToolCalls: f#a{"p":1}"#,
        ),
        (
            "between blocks",
            all(&[one(START), hi(), one(START), called(1, "a"), finish("tool_use")]),
            r#"ToolCalls: "hi" f#a{"p":1}"#,
        ),
    ];
    for (name, frames, expected) in cases {
        check(name, &frames, expected);
    }
}

#[test]
fn what_is_new_beside_an_answer_changes_nothing_of_it() {
    let edits = r#","context_management":{"applied_edits":[{"type":"clear_tool_uses_20250919","cleared_tool_uses":3,"cleared_input_tokens":9000}]}"#;
    let refused = r#""stop_reason":"refusal","stop_details":{"type":"refusal","category":"cyber"}"#;
    let caller = r#"{"type":"tool_use","id":"a","name":"f","input":{},"caller":{"type":"direct"}}"#;
    let called_by = || vec![begin(0, caller), piece(0, r#"{"p":1}"#), end(0)];
    let vertex =
        || one(r#"{"type":"vertex_event","data":{"content":[{"type":"text","text":"no"}]}}"#);
    let search = r#"{"type":"server_tool_use","id":"s","name":"web_search","input":{}}"#;
    let found = r#"{"type":"web_search_tool_result","tool_use_id":"s","content":[]}"#;
    let searched =
        || vec![begin(0, search), piece(0, r#"{"query":"x"}"#), end(0), begin(1, found), end(1)];
    let kept = r#"( | {"id":"s","input":{"query":"x"},"name":"web_search","type":"server_tool_use"}) ( | {"content":[],"tool_use_id":"s","type":"web_search_tool_result"})"#;
    let then_called = format!(r#"ToolCalls: {kept} f#a{{"p":1}}"#);
    let paused = format!("Other: {kept}");
    let cases = [
        (
            "edits of the context",
            all(&[one(START), hi(), ended(r#""stop_reason":"end_turn""#, edits), one(STOP)]),
            r#"Stop: "hi""#,
        ),
        (
            "details of a refusal",
            all(&[one(START), hi(), ended(refused, ""), one(STOP)]),
            r#"ContentFilter: "hi""#,
        ),
        (
            "a caller",
            all(&[one(START), called_by(), reason("tool_use"), one(STOP)]),
            r#"ToolCalls: f#a{"p":1}"#,
        ),
        (
            "events of Vertex",
            all(&[vertex(), one(START), vertex(), hi(), reason("end_turn"), vertex(), one(STOP)]),
            r#"Stop: "hi""#,
        ),
        (
            "a search, then a call",
            all(&[one(START), searched(), called(2, "a"), reason("tool_use"), one(STOP)]),
            &then_called,
        ),
        (
            "a search, then a pause",
            all(&[one(START), searched(), reason("pause_turn"), one(STOP)]),
            &paused,
        ),
    ];
    for (name, frames, expected) in cases {
        check(name, &frames, expected);
    }
}

/// LiteLLM 29286: the text became empty pieces of arguments, so that nobody knows what was said.
#[test]
fn pieces_of_arguments_in_a_text_are_a_cut() {
    let empty = |index| piece(index, "");
    let block = r#"{"type":"text","text":""}"#;
    let lost = all(&[
        one(START),
        vec![begin(0, block), empty(0), empty(0), end(0)],
        reason("end_turn"),
        one(STOP),
    ]);
    check("a text", &lost, "Length: ");
}

/// Errors, and what they mean before an answer.
const ERRORS: &[(&str, &str)] = &[
    // AWS, as proxies write its stream out.
    (
        r#"{"type":"error","error":{"type":"throttlingException","message":"Too many requests, please wait before trying again."}}"#,
        "RateLimited RATE_LIMITED not committed",
    ),
    (
        r#"{"type":"error","error":{"type":"ThrottlingException","message":"Rate exceeded"}}"#,
        "RateLimited RATE_LIMITED not committed",
    ),
    (
        r#"{"type":"error","error":{"type":"validationException","message":"messages.1: unexpected block"}}"#,
        "Invalid INVALID_REQUEST not committed",
    ),
    (
        r#"{"type":"error","error":{"type":"serviceUnavailableException","message":"Bedrock is unable to process your request."}}"#,
        "Unavailable PROVIDER_OVERLOADED unknown",
    ),
    (
        r#"{"type":"error","error":{"type":"modelTimeoutException","message":"no"}}"#,
        "Timeout PROVIDER_TIMEOUT unknown",
    ),
    (
        r#"{"type":"error","error":{"type":"internalServerException","message":"no"}}"#,
        "Unavailable PROVIDER_ERROR unknown",
    ),
    (
        r#"{"type":"error","error":{"type":"accessDeniedException","message":"You don't have access to the model with the specified model ID."}}"#,
        "Forbidden PERMISSION_DENIED not committed",
    ),
    // new-api and z.ai.
    (
        r#"{"error":{"type":"new_api_error","message":"no","code":"insufficient_user_quota"},"type":"error"}"#,
        "RateLimited QUOTA_EXHAUSTED not committed",
    ),
    (
        r#"{"type":"error","error":{"type":"rate_limit_error","code":"1302","message":"Rate limit reached for requests"}}"#,
        "RateLimited RATE_LIMITED not committed",
    ),
    (
        r#"{"type":"error","error":{"code":"1308","message":"Usage limit reached for 5 hour. Your limit will reset at 2026-11-30 15:00:00"}}"#,
        "RateLimited QUOTA_EXHAUSTED not committed",
    ),
    (
        r#"{"type":"error","error":{"code":"1310","message":"Weekly/Monthly Limit Exhausted. Your limit will reset at 2026-12-01 00:00:00"}}"#,
        "RateLimited QUOTA_EXHAUSTED not committed",
    ),
    (
        r#"{"error":{"code":"1003","message":"Authentication Token expired, please regenerate/obtain"}}"#,
        "Forbidden AUTHENTICATION_FAILED not committed",
    ),
    (
        r#"{"error":{"code":"1211","message":"Model does not exist, please check the model code"}}"#,
        "NotFound MODEL_NOT_FOUND not committed",
    ),
    // A rate that no wait mends.
    (
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"Extra usage is required for long context requests."}}"#,
        "RateLimited QUOTA_EXHAUSTED not committed",
    ),
    (
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"Usage credits are required for long context requests."}}"#,
        "RateLimited QUOTA_EXHAUSTED not committed",
    ),
    // MiniMax.
    (
        r#"{"base_resp":{"status_code":1002,"status_msg":"rate limit exceeded(RPM)"}}"#,
        "RateLimited RATE_LIMITED not committed",
    ),
    (
        r#"{"base_resp":{"status_code":1004,"status_msg":"login fail: Please carry the API secret key"}}"#,
        "Forbidden AUTHENTICATION_FAILED not committed",
    ),
    (
        r#"{"base_resp":{"status_code":1026,"status_msg":"input new_sensitive"}}"#,
        "Invalid CONTENT_REJECTED not committed",
    ),
    // DeepSeek wants reasoning back; it does not refuse some.
    (
        "{\"error\":{\"message\":\"The `content[].thinking` in the thinking mode must be passed back to the API.\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":\"invalid_request_error\"}}",
        "Invalid INVALID_REQUEST not committed",
    ),
];

#[test]
fn errors_of_gateways_say_what_they_mean() {
    for (error, expected) in ERRORS {
        let expected = format!("failed {expected}");
        check(error, &one(error), &expected);
        bytes(error, error.as_bytes(), &expected);
        let later = expected.replace("Unavailable", "Protocol").replace("not committed", "unknown");
        check(error, &all(&[one(START), hi(), one(error)]), &later);
    }
}

//! What was reported of servers and gateways in the field, and what follows from the same thought.

use model_wire::{Progress, Reader};
use runtime_ports::DiscardDeltas;

use super::*;

/// A frame of these parts in the names of protocol buffers, with a reason to stop.
fn snake(parts: &str, reason: &str) -> String {
    format!(
        r#"{{"candidates":[{{"content":{{"role":"model","parts":[{parts}]}},"finish_reason":"{reason}","index":0}}],"response_id":"r"}}"#
    )
}

#[test]
fn names_of_protocol_buffers_say_the_same() {
    let signed =
        r#"{"function_call":{"id":"a","name":"f","args":{"p":1}},"thought_signature":"s"}"#;
    let digits = r#"{"function_call":{"id":"a","name":"f","args":{"n":12345678901234567890123}}}"#;
    let inner = r#"{"function_call":{"id":"a","name":"f","args":{"finish_reason":"x","function_call":{"thought_signature":1}}}}"#;
    let pieces = r#"{"function_call":{"id":"a","name":"f","partial_args":[{"json_path":"$.p"}],"will_continue":true}}"#;
    let goes_on = r#"{"function_call":{"id":"a","name":"f","will_continue":true}}"#;
    let code = r#"{"executable_code":{"code":"1","language":"PYTHON"}},{"code_execution_result":{"output":"1"}}"#;
    let counts = r#"{"prompt_token_count":27,"tool_use_prompt_token_count":10309,"candidates_token_count":45,"thoughts_token_count":31,"cached_content_token_count":20,"total_token_count":10412}"#;
    let counted = format!(
        r#"{{"candidates":[{{"content":{{"parts":[{TEXT}]}},"finish_reason":"STOP"}}],"usage_metadata":{counts}}}"#
    );
    let halves = format!(
        r#"{{"candidates":[{{"content":{{"parts":[{TEXT}]}},"finishReason":"STOP","finish_reason":"MAX_TOKENS"}}]}}"#
    );
    let absent = format!(
        r#"{{"candidates":[{{"content":{{"parts":[{TEXT}]}},"finishReason":null,"finish_reason":"MAX_TOKENS"}}]}}"#
    );
    let cases: &[(&str, Vec<String>, &str)] = &[
        ("a text", vec![snake(TEXT, "STOP")], r#"Stop: "hi""#),
        ("a limit", vec![piece(TEXT), snake("", "MAX_TOKENS")], r#"Length: "hi""#),
        ("a filter", vec![piece(TEXT), snake("", "SAFETY")], r#"ContentFilter: "hi""#),
        ("a broken call", vec![snake("", "MALFORMED_FUNCTION_CALL")], "failed Invalid TOOL_USE_FAILED not committed"),
        ("not yet", vec![snake(TEXT, "FINISH_REASON_UNSPECIFIED")], TRUNCATED),
        ("a signed call", vec![snake(signed, "STOP")], r#"ToolCalls: ( | {"on":"functionCall","thoughtSignature":"s"}) f#a{"p":1}"#),
        ("a call in both names", vec![piece(&call(r#""id":"a","name":"f","args":{"p":1}"#)), snake(signed, "STOP")], r#"ToolCalls: ( | {"on":"functionCall","thoughtSignature":"s"}) f#a{"p":1}"#),
        ("arguments to the letter", vec![snake(digits, "STOP")], r#"ToolCalls: f#a"{\"n\":12345678901234567890123}""#),
        ("arguments that look like an answer", vec![snake(inner, "STOP")], r#"ToolCalls: f#a{"finish_reason":"x","function_call":{"thought_signature":1}}"#),
        ("arguments in pieces", vec![snake(pieces, "STOP")], "failed Protocol PARTIAL_ARGUMENTS unknown"),
        ("arguments that go on", vec![snake(goes_on, "STOP")], "failed Protocol PARTIAL_ARGUMENTS unknown"),
        ("a signed text", vec![snake(r#"{"text":"a","thought_signature":"s"}"#, "STOP")], r#"Stop: ( | {"on":"text","thoughtSignature":"s"}) "a""#),
        ("a signature alone", vec![piece(TEXT), snake(r#"{"thought_signature":"s"}"#, "STOP")], r#"Stop: "hi" ( | {"part":{"text":"","thoughtSignature":"s"}})"#),
        ("code", vec![snake(code, "STOP")], r#"Stop: ( | {"part":{"executableCode":{"code":"1","language":"PYTHON"}}}) ( | {"part":{"codeExecutionResult":{"output":"1"}}})"#),
        ("counts", vec![counted], r#"Stop: "hi" [in 10336 out 76 cached 20 reasoning 31]"#),
        ("both names", vec![halves], r#"Stop: "hi""#),
        ("one name without a value", vec![absent], r#"Length: "hi""#),
        ("a blocked prompt", vec![r#"{"prompt_feedback":{"block_reason":"SAFETY"}}"#.to_owned()], "failed Invalid CONTENT_REJECTED not committed"),
        ("no block", vec![r#"{"prompt_feedback":{"block_reason":"BLOCK_REASON_UNSPECIFIED"}}"#.to_owned(), snake(TEXT, "STOP")], r#"Stop: "hi""#),
        // Numbers for reasons mean one thing here and another there.
        ("a reason that is a number", vec![r#"{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finish_reason":1}]}"#.to_owned()], TRUNCATED),
        ("the other candidate", vec![r#"{"candidates":[{"index":1,"content":{"parts":[{"text":"no"}]},"finish_reason":"STOP"}]}"#.to_owned()], TRUNCATED),
    ];
    for (name, frames, expected) in cases {
        check_both(name, frames, expected);
    }
}

#[test]
fn a_part_that_holds_two_things_is_two() {
    let beside = |rest: &str| {
        format!(r#"{{{rest},"functionCall":{{"id":"a","name":"f","args":{{"p":1}}}}}}"#)
    };
    let image = r#""inlineData":{"data":"AA==","mimeType":"image/png"}"#;
    let kept = r#"( | {"part":{"inlineData":{"data":"AA==","mimeType":"image/png"}}})"#;
    let cases = [
        (beside(r#""text":"hi""#), r#"ToolCalls: "hi" f#a{"p":1}"#.to_owned()),
        (beside(r#""text":"""#), r#"ToolCalls: f#a{"p":1}"#.to_owned()),
        (beside(r#""text":null"#), r#"ToolCalls: f#a{"p":1}"#.to_owned()),
        (
            beside(r#""text":"hm","thought":true"#),
            r#"ToolCalls: (hm | null) f#a{"p":1}"#.to_owned(),
        ),
        (
            beside(r#""text":"hi","thoughtSignature":"s""#),
            r#"ToolCalls: "hi" ( | {"on":"functionCall","thoughtSignature":"s"}) f#a{"p":1}"#
                .to_owned(),
        ),
        (beside(image), format!(r#"ToolCalls: {kept} f#a{{"p":1}}"#)),
        (format!(r#"{{"text":"",{image}}}"#), format!("Stop: {kept}")),
        (format!(r#"{{"text":"hi",{image}}}"#), format!(r#"Stop: "hi" {kept}"#)),
        (format!(r#"{{"text":"","functionCall":null,{image}}}"#), format!("Stop: {kept}")),
    ];
    for (part, expected) in cases {
        check_both(&part, &[stop(&part)], &expected);
        check_both(&part, &[piece(&part), stop("")], &expected);
    }
}

#[test]
fn counts_that_the_total_contradicts_are_unknown() {
    let frame = |report: &str| {
        format!(
            r#"{{"candidates":[{{"content":{{"parts":[{TEXT}]}},"finishReason":"STOP"}}],"usageMetadata":{report}}}"#
        )
    };
    let cases = [
        (
            r#"{"promptTokenCount":8,"candidatesTokenCount":2,"thoughtsTokenCount":5,"totalTokenCount":99}"#,
            " [in 8 reasoning 5]",
        ),
        (
            r#"{"promptTokenCount":8,"candidatesTokenCount":2,"thoughtsTokenCount":5,"totalTokenCount":10}"#,
            " [in 8 reasoning 5]",
        ),
        (
            r#"{"promptTokenCount":8,"candidatesTokenCount":2,"thoughtsTokenCount":5,"totalTokenCount":7}"#,
            " [in 8 reasoning 5]",
        ),
        (
            r#"{"promptTokenCount":8,"candidatesTokenCount":2,"thoughtsTokenCount":0,"totalTokenCount":10}"#,
            " [in 8 out 2 reasoning 0]",
        ),
        (
            r#"{"promptTokenCount":8,"candidatesTokenCount":0,"thoughtsTokenCount":25,"totalTokenCount":33}"#,
            " [in 8 out 25 reasoning 25]",
        ),
        (
            r#"{"promptTokenCount":8,"candidatesTokenCount":2,"thoughtsTokenCount":5}"#,
            " [in 8 out 7 reasoning 5]",
        ),
        (
            r#"{"promptTokenCount":8,"candidatesTokenCount":2,"thoughtsTokenCount":5,"totalTokenCount":15,"trafficType":"ON_DEMAND","candidatesTokensDetails":[{"modality":"TEXT","tokenCount":2}]}"#,
            " [in 8 out 7 reasoning 5]",
        ),
    ];
    for (report, counts) in cases {
        check_both(report, &[frame(report)], &format!(r#"Stop: "hi"{counts}"#));
    }
}

const CODE: &str = r#"{"executableCode":{"code":"1"}}"#;
const RESULT: &str = r#"{"codeExecutionResult":{"output":"1"}}"#;

#[test]
fn a_stop_after_a_round_of_a_tool_of_the_provider_is_no_end() {
    let shown = r#"( | {"part":{"executableCode":{"code":"1"}}}) ( | {"part":{"codeExecutionResult":{"output":"1"}}})"#;
    let rounds = [piece(CODE), stop(RESULT), stop(TEXT)];
    check_both("one round", &rounds, &format!(r#"Stop: {shown} "hi""#));
    let cut = [piece(CODE), stop(RESULT), last(TEXT, "MAX_TOKENS")];
    check_both("then a limit", &cut, &format!(r#"Length: {shown} "hi""#));
    let served = r#"{"toolCall":{"id":"t","toolType":"GOOGLE_SEARCH_WEB"},"thoughtSignature":"s"}"#;
    let kept = r#"( | {"part":{"thoughtSignature":"s","toolCall":{"id":"t","toolType":"GOOGLE_SEARCH_WEB"}}})"#;
    check_both("a signed search", &[piece(served), stop(TEXT)], &format!(r#"Stop: {kept} "hi""#));
}

/// How far an answer has come with the last of these frames: one that is settled is taken as
/// complete when its connection breaks.
fn progress(frames: &[String]) -> Progress {
    let mut reader = Reader::new(gemini_adapter::decoder("issuer", "seed"), 1 << 20);
    reader.feed(&wire_rehearsal::events(frames), &DiscardDeltas).expect("no failure");
    reader.progress()
}

#[test]
fn what_may_go_on_is_not_settled() {
    let snake_stop = || snake("", "STOP");
    let cases = [
        ("a text, then a stop", vec![piece(TEXT), stop("")], Progress::Settled),
        ("the same in other names", vec![piece(TEXT), snake_stop()], Progress::Settled),
        ("a round", vec![piece(CODE), stop(RESULT)], Progress::Open),
        ("a round, then a text", vec![piece(CODE), stop(RESULT), stop(TEXT)], Progress::Open),
        (
            "a round, then a limit",
            vec![piece(CODE), stop(RESULT), last(TEXT, "MAX_TOKENS")],
            Progress::Settled,
        ),
        (
            "a picture",
            vec![piece(r#"{"inlineData":{"data":"AA=="}}"#), stop("")],
            Progress::Settled,
        ),
        ("a stop before everything", vec![stop(""), piece(TEXT), stop("")], Progress::Open),
        ("one frame", vec![stop(TEXT)], Progress::Open),
        (
            "grounding alone",
            vec![piece(TEXT), r#"{"candidates":[{"groundingMetadata":{}}]}"#.to_owned()],
            Progress::Open,
        ),
    ];
    for (name, frames, expected) in cases {
        assert_eq!(progress(&frames), expected, "{name}");
    }
}

#[test]
fn errors_of_gateways_say_what_they_mean() {
    let spent = "failed RateLimited QUOTA_EXHAUSTED not committed";
    let throttled = "failed RateLimited RATE_LIMITED not committed";
    let of_day = r#"\"quotaId\": \"GenerateRequestsPerDayPerProjectPerModel-FreeTier\""#;
    let of_minute = r#"\"quotaId\": \"GenerateRequestsPerMinutePerProjectPerModel-FreeTier\""#;
    // What a client of the vendor makes of its error, and a proxy over it hands on.
    let wrapped = |quota: &str| {
        format!(
            r#"{{"error":{{"message":"{{\n  \"error\": {{\n    \"code\": 429,\n    \"status\": \"RESOURCE_EXHAUSTED\",\n    \"details\": [{{\"violations\": [{{{quota}}}]}}]\n  }}\n}}\n","code":429,"status":"Too Many Requests"}}}}"#
        )
    };
    let litellm = |quota: &str| {
        format!(
            r#"{{"error":{{"message":"litellm.RateLimitError: VertexAIException - {{{quota}}}","type":"throttling_error","param":null,"code":"429"}}}}"#
        )
    };
    let cli = r#"{"error":{"code":429,"message":"Quota exceeded for quota metric 'Gemini 2.5 Pro Requests' and limit 'Gemini 2.5 Pro Requests per day per user per tier'","errors":[{"message":"no","reason":"rateLimitExceeded"}],"status":"RESOURCE_EXHAUSTED","details":[{"reason":"RATE_LIMIT_EXCEEDED","metadata":{"quota_limit":"Gemini25ProRequestsPerDay"}}]}}"#;
    let named = r#"{"error":{"code":429,"message":"no","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quota_id":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"retry_delay":{"seconds":38}}]}}"#;
    let cases = [
        ("wrapped, of a day", wrapped(of_day), spent),
        ("wrapped, of a minute", wrapped(of_minute), throttled),
        ("litellm, of a day", litellm(of_day), spent),
        ("litellm, of a minute", litellm(of_minute), throttled),
        ("the command line's", cli.to_owned(), spent),
        ("names of protocol buffers", named.to_owned(), spent),
    ];
    for (name, error, expected) in &cases {
        check_both(name, &[error], expected);
        let later = expected.replace("not committed", "unknown");
        check_both(name, &[&piece(TEXT), error], &later);
    }
}

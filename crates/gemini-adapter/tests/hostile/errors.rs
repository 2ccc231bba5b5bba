//! Errors: objects, lists, details, and documents amid a stream.

use super::*;

#[test]
fn details_say_more_than_a_status() {
    let throttled = "failed RateLimited RATE_LIMITED not committed";
    let spent = "failed RateLimited QUOTA_EXHAUSTED not committed";
    let overflow = "failed ContextOverflow CONTEXT_OVERFLOW not committed";
    let exhausted = |message: &str, details: &str| {
        format!(
            r#"{{"error":{{"code":429,"message":"{message}","status":"RESOURCE_EXHAUSTED","details":[{details}]}}}}"#
        )
    };
    let quota = |id: &str| {
        format!(
            r#"{{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{{"quotaId":"{id}"}}]}}"#
        )
    };
    let invalid = |message: &str| {
        format!(r#"{{"error":{{"code":400,"message":"{message}","status":"INVALID_ARGUMENT"}}}}"#)
    };
    let cases = [
        (exhausted("Resource has been exhausted (e.g. check quota).", ""), throttled),
        (exhausted("You exceeded your current quota.", &quota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier")), throttled),
        (exhausted("You exceeded your current quota.", &quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier")), spent),
        (exhausted("Quota exceeded for metric: x, limit: 0, model: gemini-3-pro", ""), spent),
        (exhausted("Your prepayment credits are depleted.", ""), spent),
        (invalid("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."), overflow),
        (invalid("The input token count exceeds the maximum number of tokens allowed 1048576."), overflow),
        (invalid("Please ensure that function call turn comes immediately after a user turn"), "failed Invalid INVALID_REQUEST not committed"),
        (invalid("Unable to submit request because it has a maxOutputTokens value of 99999 but the supported range is from 1 to 65537"), "failed OutputLimit OUTPUT_LIMIT not committed"),
        (r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#.to_owned(), "failed Forbidden AUTHENTICATION_FAILED not committed"),
        (r#"{"error":{"code":403,"message":"no","status":"PERMISSION_DENIED"}}"#.to_owned(), "failed Forbidden PERMISSION_DENIED not committed"),
        (r#"{"error":{"code":404,"message":"models/x is not found for API version v1beta","status":"NOT_FOUND"}}"#.to_owned(), "failed NotFound MODEL_NOT_FOUND not committed"),
        (r#"{"error":{"code":500,"message":"An internal error has occurred.","status":"INTERNAL"}}"#.to_owned(), "failed Unavailable PROVIDER_ERROR unknown"),
        (r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#.to_owned(), "failed Unavailable PROVIDER_OVERLOADED unknown"),
        (r#"{"error":{"code":504,"message":"no","status":"DEADLINE_EXCEEDED"}}"#.to_owned(), "failed Unavailable PROVIDER_ERROR unknown"),
    ];
    for (error, expected) in &cases {
        check_both(error, &[error], expected);
        bytes(error, error.as_bytes(), expected);
        let later = expected.replace("Unavailable", "Protocol").replace("not committed", "unknown");
        check_both(error, &[&piece(TEXT), error], &later);
        let bare = [&wire_rehearsal::events(&[piece(TEXT)])[..], error.as_bytes()].concat();
        bytes(&format!("{error}, bare"), &bare, &later);
        let after = [&wire_rehearsal::events(&[stop(TEXT)])[..], error.as_bytes()].concat();
        bytes(&format!("{error}, bare after a stop"), &after, &later);
    }
}

#[test]
fn a_bare_error_may_be_written_over_lines() {
    let begun = wire_rehearsal::events(&[piece(TEXT)]);
    let pretty = "{\n  \"error\": {\n    \"code\": 503,\n    \"message\": \"The model is overloaded.\",\n    \"status\": \"UNAVAILABLE\"\n  }\n}\n";
    for text in [
        pretty.to_owned(),
        format!("[{pretty}]"),
        format!("[\n{pretty}]\n"),
        pretty.replace('\n', "\r\n"),
    ] {
        let all = [&begun[..], text.as_bytes()].concat();
        bytes(&text, &all, "failed Protocol PROVIDER_OVERLOADED unknown");
    }
}

#[test]
fn a_prompt_that_is_blocked_is_refused() {
    let moderated = "failed Invalid CONTENT_REJECTED not committed";
    let cases = [
        (r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#, moderated),
        (r#"{"candidates":[],"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}"#, moderated),
        (
            r#"{"promptFeedback":{"blockReason":"MODEL_ARMOR","blockReasonMessage":"no"}}"#,
            moderated,
        ),
        (
            r#"{"promptFeedback":{"blockReason":"OTHER","safetyRatings":[]},"usageMetadata":{"promptTokenCount":4,"totalTokenCount":4}}"#,
            "failed Invalid CONTENT_REJECTED not committed [in 4]",
        ),
        (r#"{"promptFeedback":{"blockReason":""}}"#, TRUNCATED),
        (r#"{"promptFeedback":null}"#, TRUNCATED),
        (r#"{"promptFeedback":{}}"#, TRUNCATED),
    ];
    for (frame, expected) in cases {
        check_both(frame, &[frame], expected);
        bytes(frame, frame.as_bytes(), expected);
    }
}

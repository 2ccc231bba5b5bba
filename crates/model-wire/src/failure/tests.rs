//! Which failure each refusal is.

use std::time::Duration;

use reqwest::StatusCode;
use runtime_ports::{CommitDisposition, PortFailure};

use super::{of_event, of_status};
use crate::refusal::Refusal;

fn refused(status: u16, body: &str) -> PortFailure {
    let status = StatusCode::from_u16(status).expect("a status");
    of_status(status, &Refusal::of_body(body.as_bytes()), Some(Duration::from_secs(5)))
}

/// `kind CODE`, then what is true of it: `+` retryable, `?` unknown.
fn line(failure: &PortFailure) -> String {
    let retryable = if failure.retryable { " +" } else { "" };
    let unknown = if failure.commit == CommitDisposition::Unknown { " ?" } else { "" };
    assert_eq!(failure.retry_after.is_some(), failure.retryable, "{failure:?}");
    format!("{:?} {}{retryable}{unknown}", failure.kind, failure.code)
}

fn check(status: u16, body: &str, expected: &str) {
    assert_eq!(line(&refused(status, body)), expected, "{status} {body}");
}

#[test]
fn a_status_without_a_body_says_what_it_can() {
    let cases = [
        (301, "Invalid REDIRECT_REFUSED"),
        (307, "Invalid REDIRECT_REFUSED"),
        (400, "Invalid INVALID_REQUEST"),
        (401, "Forbidden AUTHENTICATION_FAILED"),
        (402, "RateLimited QUOTA_EXHAUSTED"),
        (403, "Forbidden PERMISSION_DENIED"),
        (404, "NotFound ENDPOINT_NOT_FOUND"),
        (405, "NotFound ENDPOINT_NOT_FOUND"),
        (408, "Timeout PROVIDER_TIMEOUT +"),
        (409, "Conflict PROVIDER_CONFLICT +"),
        (413, "Invalid REQUEST_TOO_LARGE"),
        (422, "Invalid INVALID_REQUEST"),
        (429, "RateLimited RATE_LIMITED +"),
        (498, "Unavailable PROVIDER_OVERLOADED +"),
        (500, "Unavailable PROVIDER_ERROR + ?"),
        (501, "Unavailable PROVIDER_ERROR ?"),
        (502, "Unavailable PROVIDER_ERROR + ?"),
        (503, "Unavailable PROVIDER_OVERLOADED + ?"),
        (504, "Unavailable PROVIDER_ERROR + ?"),
        (529, "Unavailable PROVIDER_OVERLOADED + ?"),
    ];
    for (status, expected) in cases {
        check(status, "", expected);
    }
}

#[test]
fn the_body_says_it_more_precisely() {
    let unknown = "NotFound MODEL_NOT_FOUND";
    check(404, r#"{"error":{"message":"The model `x` does not exist"}}"#, unknown);
    check(404, r#"{"error":{"message":"model \"x\" not found, try pulling it first"}}"#, unknown);
    check(400, r#"{"error":{"message":"Invalid model name passed in model=x"}}"#, unknown);
    check(400, r#"{"error":{"message":"x is not a valid model ID","code":400}}"#, unknown);
    check(400, r#"{"error":{"message":"x","code":"model_not_found"}}"#, unknown);
    check(404, "<html>", "NotFound ENDPOINT_NOT_FOUND");
    check(404, r#"{"detail":"Not Found"}"#, "NotFound ENDPOINT_NOT_FOUND");
    check(400, r#"{"error":{"message":"tool result not found"}}"#, "Invalid INVALID_REQUEST");
    let quota = r#"{"error":{"message":"m","code":"insufficient_quota"}}"#;
    check(429, quota, "RateLimited QUOTA_EXHAUSTED");
    let wait = r#"{"message":"Too many tokens, please wait before trying again."}"#;
    check(400, wait, "RateLimited RATE_LIMITED +");
    check(429, wait, "RateLimited RATE_LIMITED +");
    let long = r#"{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}"#;
    for status in [400, 413, 422] {
        check(status, long, "ContextOverflow CONTEXT_OVERFLOW");
    }
    check(500, long, "ContextOverflow CONTEXT_OVERFLOW ?");
    let output = r#"{"error":{"message":"(1 of text input, 9 in the output)"}}"#;
    check(400, output, "OutputLimit OUTPUT_LIMIT");
}

#[test]
fn f8_to_f11_refusals_that_look_like_something_else() {
    let groq = r#"{"error":{"code":"tool_use_failed","failed_generation":"<f>"}}"#;
    check(400, groq, "Invalid TOOL_USE_FAILED +");
    let azure = r#"{"error":{"code":"content_filter","message":"m","innererror":{}}}"#;
    check(400, azure, "Invalid CONTENT_REJECTED");
    let gemini = r#"[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m"}}]"#;
    check(429, gemini, "RateLimited RATE_LIMITED +");
    let moderated = r#"{"error":{"code":403,"metadata":{"reasons":["violence"]}}}"#;
    check(403, moderated, "Invalid CONTENT_REJECTED");
    check(403, "<html>cloudflare", "Protocol NOT_AN_API");
}

#[test]
fn quotas_rates_and_loads_in_the_words_of_other_vendors() {
    let quota = "RateLimited QUOTA_EXHAUSTED";
    let with = |code: &str, message: &str| {
        serde_json::json!({"error": {"code": code, "message": message}}).to_string()
    };
    check(429, &with("1113", "余额不足或无可用资源包,请充值。"), quota);
    check(429, r#"{"error":{"type":"exceeded_current_quota_error","message":"m"}}"#, quota);
    check(400, &with("Arrearage", "Access denied, please make sure your account is good"), quota);
    check(403, &with("x", "Your team has used all available credits"), quota);
    check(403, r#"{"error":{"code":"insufficient_user_quota","message":"m"}}"#, quota);
    check(429, &with("1302", "m"), "RateLimited RATE_LIMITED +");
    check(400, &with("DataInspectionFailed", "m"), "Invalid CONTENT_REJECTED");
    check(400, &with("1261", "Prompt 超长"), "ContextOverflow CONTEXT_OVERFLOW");
    let above = "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 8000, please reduce your message size and try again.";
    check(413, &with("rate_limit_exceeded", above), "RateLimited REQUEST_ABOVE_RATE");
    let below = above.replace("8000", "5000");
    check(429, &with("rate_limit_exceeded", &below), "RateLimited RATE_LIMITED +");
    let event = |code: &str| line_of_event(&with(code, "m"), false);
    assert_eq!(event("Throttling.RateQuota"), "RateLimited RATE_LIMITED +");
    assert_eq!(event("engine_overloaded_error"), "Unavailable PROVIDER_OVERLOADED + ?");
    assert_eq!(event("InvalidApiKey"), "Forbidden AUTHENTICATION_FAILED");
}

#[test]
fn what_google_says_in_the_details_counts() {
    let key = r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT",
        "details":[{"reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}"#;
    check(400, key, "Forbidden AUTHENTICATION_FAILED");
    let country = r#"{"error":{"code":400,"message":"User location is not supported for the API use.",
        "status":"FAILED_PRECONDITION"}}"#;
    check(400, country, "Forbidden PRECONDITION_FAILED");
    let day = r#"[{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[
        {"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},
        {"retryDelay":"38s"}]}}]"#;
    check(429, day, "RateLimited QUOTA_EXHAUSTED");
    let minute = day.replace("PerDay", "PerMinute");
    check(429, &minute, "RateLimited RATE_LIMITED +");
    let model = r#"{"error":{"code":404,"message":"models/x is not found for API version v1beta, or
        is not supported for generateContent.","status":"NOT_FOUND"}}"#;
    check(404, model, "NotFound MODEL_NOT_FOUND");
    let call = r#"{"code":"MALFORMED_FUNCTION_CALL"}"#;
    assert_eq!(line_of_event(call, false), "Invalid TOOL_USE_FAILED +");
    assert_eq!(line_of_event(call, true), "Invalid TOOL_USE_FAILED + ?");
}

#[test]
fn the_wait_of_a_body_counts_where_no_header_says_one() {
    let status = StatusCode::TOO_MANY_REQUESTS;
    let body = br#"{"error":{"details":[{"retryDelay":"17s"}]}}"#;
    let wait = |header| of_status(status, &Refusal::of_body(body), header).retry_after;
    assert_eq!(wait(None), Some(Duration::from_secs(17)));
    assert_eq!(wait(Some(Duration::from_secs(5))), Some(Duration::from_secs(5)));
    let busy = br#"{"error":{"code":503,"details":[{"retryDelay":"9s"}]}}"#;
    let event = of_event(&Refusal::of_body(busy), false);
    assert_eq!(event.retry_after, Some(Duration::from_secs(9)));
    let final_ = br#"{"error":{"code":400,"details":[{"retryDelay":"9s"}]}}"#;
    assert_eq!(of_event(&Refusal::of_body(final_), false).retry_after, None);
}

#[test]
fn status_names_say_it_where_no_number_does() {
    let cases = [
        ("UNAUTHENTICATED", "Forbidden AUTHENTICATION_FAILED"),
        ("PERMISSION_DENIED", "Forbidden PERMISSION_DENIED"),
        ("RESOURCE_EXHAUSTED", "RateLimited RATE_LIMITED +"),
        ("INVALID_ARGUMENT", "Invalid INVALID_REQUEST"),
        ("UNAVAILABLE", "Unavailable PROVIDER_OVERLOADED + ?"),
        ("INTERNAL", "Unavailable PROVIDER_ERROR + ?"),
        ("DEADLINE_EXCEEDED", "Unavailable PROVIDER_ERROR + ?"),
    ];
    for (name, expected) in cases {
        let body = format!(r#"{{"error":{{"message":"m","status":"{name}"}}}}"#);
        assert_eq!(line_of_event(&body, false), expected, "{name}");
    }
}

#[test]
fn e13_a_response_that_is_gone_is_not_found() {
    let gone = "NotFound PREVIOUS_RESPONSE_NOT_FOUND";
    let code = r#"{"error":{"code":"previous_response_not_found","message":"m"}}"#;
    check(400, code, gone);
    check(404, code, gone);
    let told = r#"{"error":{"message":"Previous response with id 'resp_1' not found."}}"#;
    check(404, told, gone);
    let field = r#"{"error":{"param":"previous_response_id","message":"it does not exist"}}"#;
    check(400, field, gone);
    let unknown = r#"{"error":{"message":"unknown parameter: previous_response_id"}}"#;
    check(400, unknown, "Invalid INVALID_REQUEST");
}

#[test]
fn events_are_refusals_only_before_the_answer() {
    let event = |body: &str, delivered| line_of_event(body, delivered);
    let limit = r#"{"error":{"code":"rate_limit_exceeded","message":"m"}}"#;
    assert_eq!(event(limit, false), "RateLimited RATE_LIMITED +");
    assert_eq!(event(limit, true), "RateLimited RATE_LIMITED + ?");
    let server = r#"{"error":{"code":"server_error","message":"m"}}"#;
    assert_eq!(event(server, false), "Unavailable PROVIDER_ERROR + ?");
    assert_eq!(event(server, true), "Protocol PROVIDER_ERROR + ?", "a part of it was generated");
    let key = r#"{"error":{"code":"invalid_api_key","message":"m"}}"#;
    assert_eq!(event(key, false), "Forbidden AUTHENTICATION_FAILED");
    let numbered = r#"{"error":{"code":503,"message":"m"}}"#;
    assert_eq!(event(numbered, false), "Unavailable PROVIDER_OVERLOADED + ?");
    for limit in [
        r#"{"error":{"status":429,"message":"m"}}"#,
        r#"{"error":{"code":"429","message":"m"}}"#,
        r#"{"error":{"type":"too_many_requests","message":"m"}}"#,
    ] {
        assert_eq!(event(limit, false), "RateLimited RATE_LIMITED +", "{limit}");
    }
}

fn line_of_event(body: &str, delivered: bool) -> String {
    let mut failure = of_event(&Refusal::of_body(body.as_bytes()), delivered);
    failure.retry_after = failure.retryable.then_some(Duration::ZERO);
    line(&failure)
}

#[test]
fn messages_say_what_to_do_and_repeat_nothing() {
    let body = r#"{"error":{"message":"key sk-canary in prompt-canary","code":"invalid_api_key"}}"#;
    let failure = refused(401, body);
    assert_eq!(
        failure.to_string(),
        "AUTHENTICATION_FAILED: the provider does not accept the api key; check it and the base \
         url; the provider sent http 401 (invalid_api_key)"
    );
    assert!(!format!("{failure:?}").contains("canary"));
}

#[test]
fn the_vendor_of_messages_has_words_of_its_own() {
    let error = |kind: &str, message: &str| {
        format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}}}}"#)
    };
    let model = error("not_found_error", "model: claude-nope");
    check(404, &model, "NotFound MODEL_NOT_FOUND");
    check(404, &error("not_found_error", "Not found"), "NotFound ENDPOINT_NOT_FOUND");
    let broke = "Your credit balance is too low to access the API";
    check(400, &error("invalid_request_error", broke), "RateLimited QUOTA_EXHAUSTED");
    check(403, &error("billing_error", "m"), "RateLimited QUOTA_EXHAUSTED");
    let cases = [
        ("overloaded_error", "Unavailable PROVIDER_OVERLOADED + ?"),
        ("api_error", "Unavailable PROVIDER_ERROR + ?"),
        ("rate_limit_error", "RateLimited RATE_LIMITED +"),
        ("request_too_large", "Invalid REQUEST_TOO_LARGE"),
        ("timeout_error", "Timeout PROVIDER_TIMEOUT + ?"),
    ];
    for (kind, expected) in cases {
        assert_eq!(line_of_event(&error(kind, "m"), false), expected, "{kind}");
    }
}

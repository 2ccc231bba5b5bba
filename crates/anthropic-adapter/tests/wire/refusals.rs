//! What a refusal means, and what is sent once more without a part that the server refuses.

use std::time::Duration;

use anthropic_adapter::PromptCache;
use runtime_ports::{
    GenerationOptions, ModelContent, ModelMessage, ModelRequest, ModelRole, ModelSession,
};
use serde_json::{Value, json};
use wire_rehearsal::{
    loopback::{Act, Loopback, json as answer, reply, stream},
    rules::again,
};

use crate::{ask, asking, builder, operation, outcome, session, subject::Messages, text, whole};

fn error(kind: &str, message: &str) -> String {
    let error = json!({"type": kind, "message": message});
    json!({"type": "error", "error": error, "request_id": "req_9"}).to_string()
}

fn refusal(message: &str) -> Vec<Act> {
    answer("400 Bad Request", &error("invalid_request_error", message))
}

#[tokio::test]
async fn each_status_is_what_the_vendor_means_by_it() {
    let cases = [
        ("400 B", "invalid_request_error", "m", "Invalid INVALID_REQUEST not committed"),
        ("401 U", "authentication_error", "m", "Forbidden AUTHENTICATION_FAILED not committed"),
        ("402 P", "billing_error", "m", "RateLimited QUOTA_EXHAUSTED not committed"),
        ("403 F", "permission_error", "m", "Forbidden PERMISSION_DENIED not committed"),
        ("404 N", "not_found_error", "model: nope", "NotFound MODEL_NOT_FOUND not committed"),
        ("404 N", "not_found_error", "Not found", "NotFound ENDPOINT_NOT_FOUND not committed"),
        ("413 R", "request_too_large", "m", "Invalid REQUEST_TOO_LARGE not committed"),
        ("429 T", "rate_limit_error", "m", "RateLimited RATE_LIMITED not committed"),
        ("500 I", "api_error", "m", "Unavailable PROVIDER_ERROR unknown"),
        ("504 G", "timeout_error", "m", "Unavailable PROVIDER_ERROR unknown"),
        ("529 O", "overloaded_error", "m", "Unavailable PROVIDER_OVERLOADED unknown"),
    ];
    for (status, kind, message, expected) in cases {
        let outcome = outcome(answer(status, &error(kind, message))).await;
        assert_eq!(outcome, format!("{expected} [Failed]"), "{status}");
    }
}

#[tokio::test]
async fn sizes_and_money_are_read_from_the_words() {
    let cases = [
        ("prompt is too long: 205000 tokens > 200000 maximum", "ContextOverflow CONTEXT_OVERFLOW"),
        (
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
            "ContextOverflow CONTEXT_OVERFLOW",
        ),
        (
            "max_tokens: 99999 > 64000, which is the maximum allowed number of output tokens",
            "OutputLimit OUTPUT_LIMIT",
        ),
        (
            "Your credit balance is too low to access the Anthropic API.",
            "RateLimited QUOTA_EXHAUSTED",
        ),
    ];
    for (message, expected) in cases {
        let outcome = outcome(refusal(message)).await;
        assert_eq!(outcome, format!("{expected} not committed [Failed]"), "{message}");
    }
}

#[tokio::test]
async fn a_rate_limit_says_how_long_to_wait_and_which_request_it_was() {
    let headers = [
        ("retry-after", "7"),
        ("anthropic-ratelimit-requests-remaining", "0"),
        ("request-id", "req_018EeWyXxfu5pfWkrYcMdjWG"),
    ];
    let body = error("rate_limit_error", "slow down");
    let server = Loopback::start(vec![vec![Act::Send(reply("429 T", &headers, &body))]]).await;
    let failure = ask(&session(&server)).await.expect_err("a rate limit");
    assert!(failure.retryable);
    assert_eq!(failure.retry_after, Some(Duration::from_secs(7)));
    let name = failure.attempts[0].provider_request_id.as_deref();
    assert_eq!(name, Some("req_018EeWyXxfu5pfWkrYcMdjWG"));
}

#[tokio::test]
async fn marks_are_left_out_after_a_refusal_and_never_sent_again() {
    let no = refusal("messages.0.content.0.cache_control: Extra inputs are not permitted");
    let server = Loopback::start(vec![no, stream(&whole()), stream(&whole())]).await;
    let session = session(&server);
    let response = ask(&session).await.expect("an answer");
    assert_eq!((text(&response).as_str(), response.attempts.len()), ("hi", 2));
    ask(&session).await.expect("another answer");
    let marked: Vec<bool> =
        server.seen().iter().map(|request| request.body.contains("cache_control")).collect();
    assert_eq!(marked, [true, false, false]);
    let server = Loopback::start(vec![stream(&whole())]).await;
    let off = builder(&server).prompt_cache(PromptCache::Off).build().expect("a session");
    ask(&off).await.expect("an answer");
    assert!(!server.seen()[0].body.contains("cache_control"));
}

fn thought(text: &str) -> ModelMessage {
    let opaque = json!({"type": "thinking", "thinking": text, "signature": "s"});
    let reasoning = ModelContent::Reasoning { issuer: "me".into(), text: text.into(), opaque };
    let content = vec![reasoning, ModelContent::text("said")];
    ModelMessage { role: ModelRole::Assistant, content }
}

#[tokio::test]
async fn reasoning_that_does_not_fit_its_history_is_left_out_of_it_alone() {
    let no = || {
        refusal(
            "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to \
             a different conversation.",
        )
    };
    let answers = vec![no(), stream(&whole()), stream(&whole()), stream(&whole())];
    let server = Loopback::start(answers).await;
    let session = builder(&server).issuer("me").build().expect("a session");
    let user = |text: &str| ModelMessage::text(ModelRole::User, text);
    let mut history = vec![user("a"), thought("early"), user("b")];
    let within = || operation(Duration::from_secs(20));
    let first = session.invoke(&within(), asking(history.clone())).await.expect("an answer");
    assert_eq!(first.attempts.len(), 2);
    history.extend([thought("late"), user("c")]);
    let second = session.invoke(&within(), asking(history)).await.expect("an answer");
    assert_eq!(second.attempts.len(), 1, "what was refused is not tried again");
    let other = asking(vec![user("x"), thought("other"), user("y")]);
    session.invoke(&within(), other).await.expect("an answer");
    let has = |at: usize, word: &str| server.seen()[at].body.contains(word);
    assert_eq!([has(0, "early"), has(1, "early"), has(2, "early")], [true, false, false]);
    assert!(has(2, "late") && has(3, "other"), "what was not refused is sent");
}

fn a_call_and_its_result() -> [ModelContent; 2] {
    [
        ModelContent::ToolUse { id: "a".into(), name: "f".into(), arguments: json!({}) },
        ModelContent::ToolResult {
            tool_use_id: "a".into(),
            name: "f".into(),
            content: "r".into(),
            failed: false,
        },
    ]
}

/// A turn that another provider began, or whose reasoning was refused: it has no thoughts of this model.
#[tokio::test]
async fn a_turn_without_thoughts_of_a_model_that_shall_think_goes_on() {
    let no = refusal(
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. \
         When `thinking` is enabled, a final `assistant` message must start with a thinking block.",
    );
    let server = Loopback::start(vec![no, stream(&whole()), stream(&whole())]).await;
    let session = session(&server);
    let [call, result] = a_call_and_its_result();
    let mut history = vec![
        ModelMessage::text(ModelRole::User, "a"),
        ModelMessage { role: ModelRole::Assistant, content: vec![call] },
        ModelMessage { role: ModelRole::Tool, content: vec![result] },
    ];
    let thinking = |history: &[ModelMessage]| {
        let mut request =
            ModelRequest { max_output_tokens: Some(4_096), ..asking(history.to_vec()) };
        let options =
            GenerationOptions { reasoning_effort: Some("low".into()), ..Default::default() };
        request.options = options.into();
        request
    };
    let within = || operation(Duration::from_secs(20));
    let first = session.invoke(&within(), thinking(&history)).await.expect("an answer");
    assert_eq!((text(&first).as_str(), first.attempts.len()), ("hi", 2));
    history.push(ModelMessage::text(ModelRole::Assistant, "hi"));
    history.push(ModelMessage::text(ModelRole::User, "b"));
    session.invoke(&within(), thinking(&history)).await.expect("another answer");
    let told: Vec<bool> =
        server.seen().iter().map(|request| request.body.contains(r#""thinking":{"#)).collect();
    assert_eq!(told, [true, false, true]);
}

#[tokio::test]
async fn no_more_is_sent_than_whoever_counts_allows_and_the_lesson_is_kept() {
    let refused = refusal("cache_control: unknown field");
    again::no_more_is_sent_than_whoever_counts_allows(&Messages, refused).await;
}

#[tokio::test]
async fn nothing_else_is_sent_twice() {
    let replies = vec![
        refusal("temperature: Extra inputs are not permitted"),
        refusal("A maximum of 4 blocks with cache_control may be provided. Found 5."),
        refusal("prompt is too long: 9 tokens > 8 maximum"),
        answer("500 I", &error("api_error", "cache_control unknown")),
        answer("529 O", &error("overloaded_error", "Overloaded")),
        answer("429 T", &error("rate_limit_error", "slow down")),
        vec![Act::Close],
    ];
    again::nothing_else_is_sent_twice(&Messages, replies).await;
    let marks = refusal("cache_control: unknown field");
    again::the_same_part_is_left_out_once(&Messages, marks).await;
}

#[tokio::test]
async fn results_without_tools_get_a_tool_that_cannot_be_called() {
    let server = Loopback::start(vec![stream(&whole()), stream(&whole()), stream(&whole())]).await;
    let session = session(&server);
    let [call, result] = a_call_and_its_result();
    let history = vec![
        ModelMessage::text(ModelRole::User, "a"),
        ModelMessage { role: ModelRole::Assistant, content: vec![call] },
        ModelMessage { role: ModelRole::Tool, content: vec![result] },
    ];
    let mut foreign = asking(history.clone());
    foreign.model = "local".into();
    let within = || operation(Duration::from_secs(20));
    session.invoke(&within(), asking(history)).await.expect("an answer");
    session.invoke(&within(), foreign).await.expect("an answer");
    ask(&session).await.expect("an answer");
    let sent = |at: usize| serde_json::from_str::<Value>(&server.seen()[at].body).expect("json");
    assert_eq!(sent(0)["tools"][0]["name"], "unavailable");
    assert_eq!(sent(0)["tool_choice"], json!({"type": "none"}));
    for at in [1, 2] {
        assert_eq!((&sent(at)["tools"], &sent(at)["tool_choice"]), (&Value::Null, &Value::Null));
    }
}

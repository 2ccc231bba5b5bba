//! What is sent once more, without a part that the server refuses; and what is not.

use openai_adapter::{Api, MaxTokensField};
use wire_rehearsal::{
    loopback::{Act, Loopback, json, stream},
    rules::again,
};

use crate::{ask, builder, session, subject::Speaking, text, whole};

fn refusal(message: &str) -> Vec<Act> {
    json("400 Bad Request", &format!(r#"{{"error":{{"message":"{message}"}}}}"#))
}

#[tokio::test]
async fn c9_stream_options_are_left_out_after_a_refusal_and_never_sent_again() {
    let no = refusal("unknown field stream_options");
    let server = Loopback::start(vec![no, stream(&whole()), stream(&whole())]).await;
    let session = session(&server);
    let response = ask(&session).await.expect("an answer");
    assert_eq!((text(&response).as_str(), response.attempts.len()), ("hi", 2));
    ask(&session).await.expect("another answer");
    let has: Vec<bool> =
        server.seen().iter().map(|request| request.body.contains("stream_options")).collect();
    assert_eq!(has, [true, false, false]);
}

#[tokio::test]
async fn f2_the_other_name_of_the_output_limit_is_tried() {
    let no = || refusal("Unsupported parameter: use the other name instead of max_tokens");
    let server = Loopback::start(vec![no(), stream(&whole())]).await;
    let response = ask(&session(&server)).await.expect("an answer");
    assert_eq!(response.attempts.len(), 2);
    let seen = server.seen();
    assert!(seen[0].body.contains(r#""max_tokens":9"#), "{}", seen[0].body);
    assert!(seen[1].body.contains(r#""max_completion_tokens":9"#), "{}", seen[1].body);
    let server = Loopback::start(vec![stream(&whole())]).await;
    let field = MaxTokensField::MaxCompletionTokens;
    let session = builder(&server).max_tokens_field(field).build().expect("a session");
    ask(&session).await.expect("an answer");
    assert!(server.seen()[0].body.contains(r#""max_completion_tokens":9"#));
}

#[tokio::test]
async fn each_part_is_left_out_once_and_all_requests_are_listed() {
    let options = || refusal("unknown field stream_options");
    let limit = refusal("unknown field max_tokens");
    let server = Loopback::start(vec![options(), limit, stream(&whole())]).await;
    let response = ask(&session(&server)).await.expect("an answer");
    assert_eq!(response.attempts.len(), 3);
    again::the_same_part_is_left_out_once(&Speaking(Api::Chat), options()).await;
}

#[tokio::test]
async fn no_more_is_sent_than_whoever_counts_allows_and_the_lesson_is_kept() {
    let refused = refusal("unknown field stream_options");
    again::no_more_is_sent_than_whoever_counts_allows(&Speaking(Api::Chat), refused).await;
}

#[tokio::test]
async fn nothing_else_is_sent_twice() {
    let replies = vec![
        refusal("unknown field temperature"),
        refusal("max_tokens is too large: 9 is not supported"),
        json("500 Internal Server Error", r#"{"error":{"message":"unknown stream_options"}}"#),
        json("429 Too Many Requests", r#"{"error":{"message":"slow down"}}"#),
        vec![Act::Close],
    ];
    again::nothing_else_is_sent_twice(&Speaking(Api::Chat), replies).await;
}

#[tokio::test]
async fn encrypted_reasoning_is_asked_for_until_it_is_refused() {
    let no = refusal("Encrypted content is not supported with this model.");
    let done = br#"{"status":"completed","output":[]}"#;
    let server = Loopback::start(vec![no, stream(done)]).await;
    let session = builder(&server).api(Api::Responses).build().expect("a session");
    ask(&session).await.expect("an answer");
    let seen = server.seen();
    assert!(seen[0].body.contains("reasoning.encrypted_content"));
    assert!(!seen[1].body.contains("reasoning.encrypted_content"));
    assert!(seen[1].body.contains(r#""store":false"#));
}

//! What is asked and what is not, and what a server tells about itself.

use std::{sync::Arc, time::Duration};

use anthropic_adapter::{AnthropicSession, ModelFamily};
use runtime_ports::{
    GenerationOptions, ModelMessage, ModelProfile, ModelRequest, ModelRole, ModelSession,
    PortFailureKind, ResponseFormat, ToolChoice,
};
use serde_json::Value;
use wire_rehearsal::{
    loopback::{Act, Loopback, json, stream},
    rules::window,
};

use crate::{SHORT, asking, builder, line, operation, request, session, whole};

#[tokio::test]
async fn what_cannot_be_asked_is_refused_before_anything_is_sent() {
    let server = Loopback::start(vec![]).await;
    let session = session(&server);
    let unset = GenerationOptions::default;
    let options = [
        GenerationOptions { temperature: Some(f64::NAN), ..unset() },
        GenerationOptions { temperature: Some(1.5), ..unset() },
        GenerationOptions { tool_choice: ToolChoice::Required, ..unset() },
        GenerationOptions { stop: vec![" ".into()], ..unset() },
        GenerationOptions { response_format: ResponseFormat::JsonObject, ..unset() },
        GenerationOptions { reasoning_effort: Some("minimal".into()), ..unset() },
        GenerationOptions { reasoning_effort: Some("low".into()), ..unset() },
    ];
    let refused = "Invalid INVALID_REQUEST not committed []";
    for options in options {
        let name = format!("{options:?}");
        let asked = ModelRequest { options: Arc::new(options), ..request() };
        let answered = session.invoke(&operation(SHORT), asked).await;
        assert_eq!(line(&answered), refused, "{name}");
    }
    let silent = asking(vec![ModelMessage::text(ModelRole::System, "be brief")]);
    assert_eq!(line(&session.invoke(&operation(SHORT), silent).await), refused);
    assert_eq!(server.connections(), 0);
}

async fn sent(session: &AnthropicSession, server: &Loopback, model: &str) -> Value {
    let asked = ModelRequest { model: model.into(), max_output_tokens: None, ..request() };
    session.invoke(&operation(Duration::from_secs(20)), asked).await.expect("an answer");
    serde_json::from_str(&server.seen().last().expect("a request").body).expect("json")
}

#[tokio::test]
async fn the_limit_is_the_models_when_the_request_has_none() {
    let answers = (0..3).map(|_| stream(&whole())).collect();
    let server = Loopback::start(answers).await;
    let profile = |limit| ModelProfile { max_output_tokens: limit, ..window(8) };
    let builder = builder(&server).profile("a", profile(Some(77))).profile("b", profile(None));
    let session = builder.build().expect("a session");
    assert_eq!(sent(&session, &server, "a").await["max_tokens"], 77);
    assert_eq!(sent(&session, &server, "b").await["max_tokens"], 4096);
    assert_eq!(sent(&session, &server, "c").await["max_tokens"], 4096);
}

#[tokio::test]
async fn a_family_of_ones_own_decides_what_can_be_asked() {
    let server = Loopback::start(vec![stream(&whole())]).await;
    let model = "claude-haiku-4-5";
    let builder = builder(&server).family(model, ModelFamily::of("claude-opus-4-8"));
    let options =
        GenerationOptions { reasoning_effort: Some("xhigh".into()), ..Default::default() };
    let asked = ModelRequest { options: Arc::new(options), ..request() };
    let within = operation(Duration::from_secs(20));
    let session = builder.build().expect("a session");
    session.invoke(&within, asked).await.expect("an answer");
    assert!(server.seen()[0].body.contains(r#""effort":"xhigh""#));
}

#[tokio::test]
async fn models_are_listed_page_by_page() {
    let first = r#"{"data":[{"id":"a"},{"id":"b"}],"has_more":true,"last_id":"b"}"#;
    let last = r#"{"data":[{"id":"c"}],"has_more":false,"last_id":"c"}"#;
    let missing = json("404 Not Found", "{}");
    let answers = vec![json("200 OK", first), json("200 OK", last), missing, vec![Act::Hang]];
    let server = Loopback::start(answers).await;
    let session = session(&server);
    let within = operation(Duration::from_secs(20));
    let names = ["a", "b", "c"].map(str::to_owned).to_vec();
    assert_eq!(session.list_models(&within).await, Ok(names));
    let heads: Vec<String> = server.seen().iter().map(|seen| seen.head.clone()).collect();
    assert!(heads[0].starts_with("GET /v1/models?limit=1000 HTTP/1.1"), "{}", heads[0]);
    assert!(heads[1].starts_with("GET /v1/models?limit=1000&after_id=b HTTP/1.1"), "{}", heads[1]);
    let failure = session.list_models(&within).await.expect_err("no list");
    assert_eq!(failure.kind, PortFailureKind::NotFound);
    let failure = session.list_models(&within).await.expect_err("silence");
    assert_eq!(failure.kind, PortFailureKind::Timeout);
}

#[tokio::test]
async fn a_list_that_never_ends_is_left() {
    let page = r#"{"data":[{"id":"a"}],"has_more":true,"last_id":"a"}"#;
    let server = Loopback::start((0..20).map(|_| json("200 OK", page)).collect()).await;
    let names = session(&server).list_models(&operation(Duration::from_secs(20))).await;
    assert_eq!(names.map(|names| names.len()), Ok(10));
}

//! What the families of servers get: whole bodies, by the profile of each (F1 to F9).

use std::{sync::Arc, time::Duration};

use openai_adapter::{Api, OpenAiSession, ServerProfile};
use runtime_ports::{
    GenerationOptions, ImageSource, ModelContent, ModelMessage, ModelRequest, ModelRole,
    ModelSession, ModelToolDefinition, ResponseFormat, ToolChoice, ToolSet, Transcript,
};
use runtime_types::CredentialHandle;
use serde_json::{Value, json};
use wire_rehearsal::loopback::{Loopback, json as document, stream};

use crate::{KEY, builder, operation, request, session, whole};

fn tool(name: &str) -> ModelToolDefinition {
    ModelToolDefinition {
        name: name.into(),
        description: "does".into(),
        input_schema: json!({"type": "object"}),
    }
}

fn tools() -> ToolSet {
    ToolSet::new(vec![tool("zeta"), tool("alpha"), tool("mid")])
}

fn asking(options: GenerationOptions) -> ModelRequest {
    ModelRequest { tools: tools(), options: Arc::new(options), ..request() }
}

fn saying(messages: Vec<ModelMessage>) -> ModelRequest {
    ModelRequest { messages: Transcript::from(messages), ..request() }
}

/// The body that a server of this family gets for `request`.
async fn body(family: &str, api: Api, request: ModelRequest) -> Value {
    let profile = ServerProfile::of_family(family).expect("a family");
    body_by(profile, api, request).await
}

async fn body_by(profile: ServerProfile, api: Api, request: ModelRequest) -> Value {
    let done = br#"{"status":"completed","output":[]}"#.to_vec();
    let reply = if api == Api::Chat { whole() } else { done };
    let server = Loopback::start(vec![stream(&reply)]).await;
    let session = builder(&server).api(api).server_profile(profile).build().expect("a session");
    session.invoke(&operation(Duration::from_secs(20)), request).await.expect("an answer");
    serde_json::from_str(&server.seen()[0].body).expect("json")
}

fn call(id: &str) -> ModelContent {
    ModelContent::ToolUse { id: id.into(), name: "zeta".into(), arguments: json!({}) }
}

fn result(id: &str) -> ModelContent {
    let (tool_use_id, name) = (id.to_owned(), "zeta".to_owned());
    ModelContent::ToolResult { tool_use_id, name, content: "one".into(), failed: false }
}

fn assistant(content: Vec<ModelContent>) -> ModelMessage {
    ModelMessage { role: ModelRole::Assistant, content }
}

fn results(content: Vec<ModelContent>) -> ModelMessage {
    ModelMessage { role: ModelRole::Tool, content }
}

#[tokio::test]
async fn f1_mistral_gets_ids_of_nine_and_no_form_beside_a_required_call() {
    let turn = || {
        saying(vec![
            ModelMessage::text(ModelRole::User, "go"),
            assistant(vec![call("call_very-long-id"), call("abcDEF123")]),
            results(vec![result("call_very-long-id"), result("abcDEF123")]),
        ])
    };
    let sent = body("mistral", Api::Chat, turn()).await;
    let calls = &sent["messages"][1]["tool_calls"];
    let made_up = calls[0]["id"].as_str().expect("an id");
    assert!(made_up.len() == 9 && made_up.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    assert_eq!(calls[1]["id"], "abcDEF123");
    assert_eq!(sent["messages"][2]["tool_call_id"], made_up);
    assert_eq!(sent["messages"][3]["tool_call_id"], "abcDEF123");
    let elsewhere = body("lenient", Api::Chat, turn()).await;
    assert_eq!(elsewhere["messages"][2]["tool_call_id"], "call_very-long-id");
    let options = || GenerationOptions {
        tool_choice: ToolChoice::Required,
        response_format: ResponseFormat::JsonObject,
        ..GenerationOptions::default()
    };
    let sent = body("mistral", Api::Chat, asking(options())).await;
    assert_eq!(
        (&sent["tool_choice"], &sent["response_format"]),
        (&json!("required"), &json!(null))
    );
    assert_eq!(sent["stream_options"], json!(null));
    let sent = body("lenient", Api::Chat, asking(options())).await;
    assert_eq!(sent["response_format"], json!({"type": "json_object"}));
}

#[tokio::test]
async fn f2_each_family_has_its_name_of_the_output_limit() {
    for (family, name) in [
        ("openai", "max_completion_tokens"),
        ("azure", "max_completion_tokens"),
        ("groq", "max_completion_tokens"),
        ("mistral", "max_tokens"),
        ("vllm", "max_tokens"),
        ("lenient", "max_tokens"),
    ] {
        assert_eq!(body(family, Api::Chat, request()).await[name], 9, "{family}");
    }
}

#[tokio::test]
async fn f3_one_system_message_stands_at_the_front() {
    let said = |role, text| ModelMessage::text(role, text);
    let history = || {
        saying(vec![
            said(ModelRole::System, "be kind"),
            said(ModelRole::System, "of this folder"),
            said(ModelRole::User, "go"),
            said(ModelRole::Assistant, "ok"),
            said(ModelRole::System, "time is up"),
        ])
    };
    let roles = |sent: &Value, list: &str| -> Vec<String> {
        let messages = sent[list].as_array().expect("messages").iter();
        messages.map(|message| message["role"].as_str().unwrap_or("-").to_owned()).collect()
    };
    for (api, list) in [(Api::Chat, "messages"), (Api::Responses, "input")] {
        let sent = body("lenient", api, history()).await;
        assert_eq!(roles(&sent, list), ["system", "user", "assistant", "user"]);
        assert_eq!(sent[list][0]["content"], "be kind\n\nof this folder");
        assert_eq!(sent[list][3]["content"], "time is up");
        let sent = body("openai", api, history()).await;
        assert_eq!(roles(&sent, list), ["system", "user", "assistant", "system"]);
        let mut developer = ServerProfile::of_family("openai").expect("a family");
        developer.instructions_role = openai_adapter::InstructionsRole::Developer;
        let sent = body_by(developer, api, history()).await;
        assert_eq!(roles(&sent, list), ["developer", "user", "assistant", "developer"]);
    }
}

#[tokio::test]
async fn f4_llama_gets_the_one_tool_that_is_named() {
    let named = || GenerationOptions {
        tool_choice: ToolChoice::Named { name: "alpha".into() },
        ..GenerationOptions::default()
    };
    for api in [Api::Chat, Api::Responses] {
        let sent = body("llama.cpp", api, asking(named())).await;
        assert_eq!(sent["tool_choice"], "required");
        assert_eq!(sent["tools"].as_array().map(Vec::len), Some(1));
        assert!(sent["tools"].to_string().contains("alpha"));
        let sent = body("openai", api, asking(named())).await;
        assert!(sent["tool_choice"].to_string().contains("alpha"));
        assert_eq!(sent["tools"].as_array().map(Vec::len), Some(3));
    }
    let no = r#"{"error":{"message":"tool_choice of a function is not supported"}}"#;
    let server = Loopback::start(vec![document("400 Bad Request", no), stream(&whole())]).await;
    let session = session(&server);
    let answered = session.invoke(&operation(Duration::from_secs(20)), asking(named())).await;
    assert_eq!(answered.expect("an answer").attempts.len(), 2);
    let sent: Value = serde_json::from_str(&server.seen()[1].body).expect("json");
    assert_eq!(sent["tool_choice"], "required", "learnt");
}

#[tokio::test]
async fn f4_what_cannot_be_met_is_not_sent() {
    let server = Loopback::start(vec![]).await;
    let ollama = ServerProfile::of_family("ollama").expect("a family");
    let session = builder(&server).server_profile(ollama).build().expect("a session");
    let options =
        GenerationOptions { tool_choice: ToolChoice::Required, ..GenerationOptions::default() };
    let failure = session.invoke(&operation(Duration::from_secs(20)), asking(options)).await;
    let failure = failure.expect_err("it would be ignored");
    assert_eq!((failure.code.as_str(), server.connections()), ("INVALID_REQUEST", 0));
}

#[tokio::test]
async fn f5_images_of_results_stand_where_the_server_takes_them() {
    let (media_type, base64) = ("image/png".into(), "QUJD".into());
    let picture = ModelContent::Image { source: ImageSource::Inline { media_type, base64 } };
    let history = || {
        let content = vec![result("a"), picture.clone(), result("b")];
        saying(vec![
            ModelMessage::text(ModelRole::User, "go"),
            assistant(vec![call("a"), call("b")]),
            results(content),
        ])
    };
    let inside = ServerProfile {
        result_images: openai_adapter::ResultImages::InTheResult,
        ..ServerProfile::default()
    };
    let url = "data:image/png;base64,QUJD";
    let sent = body("lenient", Api::Chat, history()).await;
    let roles: Vec<_> = sent["messages"].as_array().expect("messages")[2..]
        .iter()
        .map(|message| message["role"].as_str().expect("a role"))
        .collect();
    assert_eq!(roles, ["tool", "tool", "user"], "behind the last result");
    let sent = body_by(inside.clone(), Api::Chat, history()).await;
    let image = json!({"type": "image_url", "image_url": {"url": url}});
    let parts = json!([{"type": "text", "text": "one"}, image]);
    assert_eq!(sent["messages"][2]["content"], parts);
    assert_eq!(sent["messages"][3], json!({"role": "tool", "tool_call_id": "b", "content": "one"}));
    let sent = body_by(inside, Api::Responses, history()).await;
    let image = json!({"type": "input_image", "detail": "auto", "image_url": url});
    assert_eq!(sent["input"][3]["output"], json!([{"type": "input_text", "text": "one"}, image]));
}

#[tokio::test]
async fn f6_tools_keep_their_order_whatever_their_names() {
    for api in [Api::Chat, Api::Responses] {
        let first = body("lenient", api, asking(GenerationOptions::default())).await;
        let names: Vec<_> = first["tools"]
            .as_array()
            .expect("tools")
            .iter()
            .map(|tool| tool["name"].as_str().or(tool["function"]["name"].as_str()))
            .collect();
        assert_eq!(names, [Some("zeta"), Some("alpha"), Some("mid")]);
        let again = body("lenient", api, asking(GenerationOptions::default())).await;
        assert_eq!(first["tools"].to_string(), again["tools"].to_string());
    }
}

#[tokio::test]
async fn f7_one_call_at_a_time_is_asked_of_servers_that_know_it() {
    for (family, expected) in [("openai", json!(false)), ("vllm", json!(null))] {
        let server = Loopback::start(vec![stream(&whole())]).await;
        let profile = ServerProfile::of_family(family).expect("a family");
        let builder = builder(&server).server_profile(profile).one_call_at_a_time();
        let session = builder.build().expect("a session");
        let request = asking(GenerationOptions::default());
        session.invoke(&operation(Duration::from_secs(20)), request).await.expect("an answer");
        let sent: Value = serde_json::from_str(&server.seen()[0].body).expect("json");
        assert_eq!(sent["parallel_tool_calls"], expected, "{family}");
    }
    let sent = body("openai", Api::Chat, asking(GenerationOptions::default())).await;
    assert_eq!(sent["parallel_tool_calls"], json!(null), "not said");
}

#[tokio::test]
async fn d2_deepseek_gets_reasoning_with_every_call_be_it_empty() {
    let turn =
        |content| saying(vec![ModelMessage::text(ModelRole::User, "go"), assistant(content)]);
    let sent = body("deepseek", Api::Chat, turn(vec![call("a")])).await;
    assert_eq!(sent["messages"][1]["reasoning_content"], "");
    let sent = body("deepseek", Api::Chat, turn(vec![ModelContent::text("hi")])).await;
    assert_eq!(sent["messages"][1]["reasoning_content"], json!(null));
    let foreign = ModelContent::Reasoning {
        issuer: "somebody else".into(),
        text: "secret".into(),
        opaque: json!({"reasoning_content": "secret"}),
    };
    let sent = body("deepseek", Api::Chat, turn(vec![foreign, call("a")])).await;
    assert_eq!(sent["messages"][1]["reasoning_content"], "", "d5 not what another said");
    let sent = body("lenient", Api::Chat, turn(vec![call("a")])).await;
    assert_eq!(sent["messages"][1]["reasoning_content"], json!(null));
}

#[tokio::test]
async fn d5_reasoning_goes_back_to_its_issuer_alone() {
    let own = |issuer: &str| ModelContent::Reasoning {
        issuer: issuer.into(),
        text: "thought".into(),
        opaque: json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "z"}),
    };
    let server = Loopback::start(vec![stream(br#"{"status":"completed","output":[]}"#)]).await;
    let session =
        builder(&server).api(Api::Responses).issuer("account-1").build().expect("a session");
    let history = saying(vec![
        ModelMessage::text(ModelRole::User, "go"),
        assistant(vec![own("account-2"), call("a")]),
        results(vec![result("a")]),
        assistant(vec![own("account-1"), call("b")]),
        results(vec![result("b")]),
    ]);
    session.invoke(&operation(Duration::from_secs(20)), history).await.expect("an answer");
    let sent: Value = serde_json::from_str(&server.seen()[0].body).expect("json");
    let items = sent["input"].as_array().expect("items").iter();
    let kinds: Vec<_> = items.map(|item| item["type"].as_str().expect("a type")).collect();
    let call = ["function_call", "function_call_output"];
    assert_eq!(kinds, ["message", call[0], call[1], "reasoning", call[0], call[1]]);
}

#[tokio::test]
async fn e9_e11_items_go_back_as_the_family_takes_them() {
    let server = || ModelContent::Reasoning {
        issuer: String::new(),
        text: String::new(),
        opaque: json!({"type": "web_search_call", "id": "ws_1", "status": "completed", "phase": "x"}),
    };
    let sent_by = async |family: &str| {
        let profile = ServerProfile::of_family(family).expect("a family");
        let done = br#"{"status":"completed","output":[]}"#;
        let server_ = Loopback::start(vec![stream(done)]).await;
        let builder = builder(&server_).api(Api::Responses).server_profile(profile).issuer("");
        let session = builder.build().expect("a session");
        let content = vec![server(), call("a"), ModelContent::text("between"), call("b")];
        let history = saying(vec![ModelMessage::text(ModelRole::User, "go"), assistant(content)]);
        session.invoke(&operation(Duration::from_secs(20)), history).await.expect("an answer");
        let sent: Value = serde_json::from_str(&server_.seen()[0].body).expect("json");
        sent["input"].as_array().expect("items")[1..].to_vec()
    };
    let kinds = |items: &[Value]| -> Vec<String> {
        items.iter().map(|item| item["type"].as_str().expect("a type").to_owned()).collect()
    };
    let openai = sent_by("openai").await;
    assert_eq!((&openai[0]["status"], &openai[0]["phase"]), (&json!("completed"), &json!("x")));
    let order = ["web_search_call", "function_call", "message", "function_call"];
    assert_eq!(kinds(&openai), order);
    let vllm = sent_by("vllm").await;
    assert_eq!((&vllm[0]["status"], &vllm[0]["phase"]), (&json!(null), &json!(null)));
    let deepseek = sent_by("deepseek").await;
    let order = ["web_search_call", "message", "function_call", "function_call"];
    assert_eq!(kinds(&deepseek), order);
}

#[tokio::test]
async fn e12_a_server_that_only_streams_is_asked_for_streams() {
    let done = br#"{"status":"completed","output":[]}"#;
    let server = Loopback::start(vec![stream(done)]).await;
    let profile = ServerProfile::of_family("chatgpt").expect("a family");
    let session = builder(&server)
        .api(Api::Responses)
        .delivery(openai_adapter::Delivery::Whole)
        .server_profile(profile)
        .build()
        .expect("a session");
    session.invoke(&operation(Duration::from_secs(20)), request()).await.expect("an answer");
    assert!(server.seen()[0].body.contains(r#""stream":true"#));
}

#[tokio::test]
async fn f9_azure_gets_its_path_its_version_and_its_header() {
    let cases = [
        (
            "azure-resource",
            "",
            "/v1/openai/deployments/my%20model%2F1/chat/completions?api-version=2024-10-21",
        ),
        (
            "azure-deployment",
            "/openai/deployments/d",
            "/v1/openai/deployments/d/chat/completions?api-version=2024-10-21",
        ),
        (
            "azure-deployment",
            "/openai/deployments/d?api-version=2025-01-01",
            "/v1/openai/deployments/d/chat/completions?api-version=2025-01-01",
        ),
        ("azure", "/openai/v1", "/v1/openai/v1/chat/completions"),
    ];
    for (family, path, expected) in cases {
        let server = Loopback::start(vec![stream(&whole())]).await;
        let session = OpenAiSession::builder(format!("{}{path}", server.base_url()))
            .credential(CredentialHandle::new(KEY))
            .server_profile(ServerProfile::of_family(family).expect("a family"))
            .build()
            .expect("a session");
        let request = ModelRequest { model: "my model/1".into(), ..request() };
        session.invoke(&operation(Duration::from_secs(20)), request).await.expect("an answer");
        let head = server.seen()[0].head.clone();
        assert!(head.starts_with(&format!("POST {expected} HTTP/1.1")), "{family}: {head}");
        assert!(head.contains(&format!("api-key: {KEY}")), "{head}");
        assert!(!head.contains("authorization"), "{head}");
    }
}

#[tokio::test]
async fn f8_to_f11_refusals_are_what_they_mean() {
    let cases = [
        (
            "400 Bad Request",
            r#"{"error":{"message":"Failed to call a function.","code":"tool_use_failed","failed_generation":"<f>"}}"#,
            "TOOL_USE_FAILED",
            true,
        ),
        (
            "400 Bad Request",
            r#"{"error":{"message":"filtered","code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":true}}}}}"#,
            "CONTENT_REJECTED",
            false,
        ),
        (
            "429 Too Many Requests",
            r#"[{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED"}}]"#,
            "RATE_LIMITED",
            true,
        ),
        (
            "400 Bad Request",
            r#"[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]"#,
            "INVALID_REQUEST",
            false,
        ),
        (
            "403 Forbidden",
            r#"{"error":{"code":403,"message":"m","metadata":{"reasons":["violence"],"flagged_input":"x"}}}"#,
            "CONTENT_REJECTED",
            false,
        ),
        (
            "403 Forbidden",
            r#"{"error":{"code":403,"message":"no access"}}"#,
            "PERMISSION_DENIED",
            false,
        ),
    ];
    for (status, body, code, retryable) in cases {
        let server = Loopback::start(vec![document(status, body)]).await;
        let session = session(&server);
        let failure = crate::ask(&session).await.expect_err(body);
        assert_eq!((failure.code.as_str(), failure.retryable), (code, retryable), "{body}");
        assert_eq!(server.seen().len(), 1);
    }
}

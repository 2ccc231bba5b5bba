//! What is read of an error in every shape that servers give it.

use serde_json::json;

use super::Refusal;

fn check(what: &str, body: &str, code: Option<&str>, text: &str) {
    let refusal = Refusal::of_body(body.as_bytes());
    assert_eq!(refusal.code.as_deref(), code, "{what}");
    assert!(refusal.text.contains(text), "{what}: {:?}", refusal.text);
}

#[test]
fn every_shape_of_an_error_body_is_read() {
    check("openai", r#"{"error":{"message":"Boom","code":"c"}}"#, Some("c"), "boom");
    check("gemini", r#"[{"error":{"message":"Boom","code":400}}]"#, Some("400"), "boom");
    check("a text", r#"{"error":"Boom"}"#, None, "boom");
    check("vllm", r#"{"object":"error","message":"Boom","code":404}"#, Some("404"), "boom");
    check("fastapi", r#"{"detail":"Boom"}"#, None, "boom");
    let validation = r#"{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs"}]}"#;
    check("pydantic", validation, None, "stream_options");
    check("a list of errors", r#"{"errors":[{"message":"Boom"}]}"#, None, "boom");
    check("a detail", r#"{"detail":{"message":"Boom"}}"#, None, "boom");
    check("a message of parts", r#"{"message":{"detail":[{"msg":"Boom"}]}}"#, None, "boom");
    let azure = r#"{"error":{"message":"m","code":null,"innererror":{"code":"Policy"}}}"#;
    check("azure", azure, Some("Policy"), "m");
    let behind = r#"{"error":{"message":"m","metadata":{"raw":"upstream says Boom"}}}"#;
    check("openrouter", behind, None, "upstream says boom");
    check("a plain text", "Boom happened", None, "boom happened");
    check("nothing", "", None, "");
    assert!(Refusal::of_body(b"<html>").is_page);
    assert!(Refusal::of_body(br#"{"error":{"metadata":{"reasons":["x"]}}}"#).moderated);
    let param = Refusal::of_body(br#"{"error":{"param":"max_tokens","type":"invalid"}}"#);
    assert_eq!(
        (param.param.as_deref(), param.kind.as_deref()),
        (Some("max_tokens"), Some("invalid"))
    );
}

#[test]
fn of_a_body_that_is_cut_only_its_words_count() {
    let echo = r#"{"detail":[{"loc":["body"],"msg":"Field required","input":[{"content":"prompt is too long"#;
    check("an echo", echo, None, "field required");
    assert!(!Refusal::of_body(echo.as_bytes()).text.contains("too long"));
    for cut in [
        r#"{"error":{"message":"Boom"#,
        r#"{"error":{"message":"Boom \u00"#,
        r#"{"error":{"message":"Boom","#,
        r#"{"error":{"message":"Boom","type"#,
        r#"{"error":{"message":"Boom","type":"#,
        r#"[{"error":{"message":"Boom","details":[{"a":[1,"#,
    ] {
        check(cut, cut, None, "boom");
    }
    for nothing in ["{", "[", "{\"", "{\"a\":tru", "{\"a\":1e"] {
        check(nothing, nothing, None, "");
    }
    check("one quotation mark for another", "{'error': 'Boom'}", None, "boom");
}

#[test]
fn states_and_codes_of_gateways_are_read() {
    let state = r#"{"status_code":1008,"status_msg":"Boom"}"#;
    check("a state", state, Some("1008"), "boom");
    check("an envelope", r#"{"code":"1113","msg":"Boom"}"#, Some("1113"), "boom");
    check("a fraction", r#"{"error":{"code":429.0,"message":"Boom"}}"#, Some("429"), "boom");
    check("a number beyond all", r#"{"error":{"message":"Boom","x":1e999}}"#, None, "boom");
}

#[test]
fn only_plain_codes_are_shown() {
    let label =
        |code: serde_json::Value| Refusal::of_value(&json!({"error": {"code": code}})).label();
    assert_eq!(label(json!("context_length_exceeded")), " (context_length_exceeded)");
    assert_eq!(label(json!(429)), " (429)");
    let payloads = ["two words", "sk-abc", "a\nb", "<b>", "", "0123456789abcdef0123456789abcdef"];
    for payload in payloads {
        assert_eq!(label(json!(payload)), "", "{payload:?}");
    }
    assert_eq!(label(json!("x".repeat(65))), "");
    assert_eq!(label(json!({"a": 1})), "");
}

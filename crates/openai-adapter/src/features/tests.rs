//! Which refusals are about a part that a request can do without.

use super::{Feature, Features, RefusedFeatures};
use model_wire::Refusal;

fn refused(features: Features, body: &str) -> Option<Feature> {
    features.refused_by(&Refusal::of_body(body.as_bytes()))
}

fn check(body: &str, expected: Option<Feature>) {
    assert_eq!(refused(RefusedFeatures::default().remaining(), body), expected, "{body}");
}

#[test]
fn refusals_by_name_are_recognised() {
    let detail =
        r#"{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}"#;
    check(detail, Some(Feature::StreamOptions));
    let unknown =
        r#"{"error":{"message":"Unrecognized request argument supplied: stream_options"}}"#;
    check(unknown, Some(Feature::StreamOptions));
    let openai = r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}"#;
    check(openai, Some(Feature::MaxTokensName));
    let old = r#"{"error":{"message":"Unknown field: max_completion_tokens"}}"#;
    check(old, Some(Feature::MaxTokensName));
    let encrypted =
        r#"{"error":{"message":"Encrypted content is not supported with this model."}}"#;
    check(encrypted, Some(Feature::EncryptedReasoning));
    let groq =
        r#"{"error":{"message":"'messages.1' : property 'reasoning_content' is unsupported"}}"#;
    check(groq, Some(Feature::ReasoningReplay));
}

#[test]
fn other_refusals_are_final() {
    check(r#"{"error":{"message":"max_tokens is too large: 9 is not supported"}}"#, None);
    check(r#"{"error":{"message":"max_tokens must be positive","param":"max_tokens"}}"#, None);
    check(r#"{"error":{"message":"unknown field: temperature"}}"#, None);
    check(r#"{"error":{"message":"maximum context length is 5, stream_options unknown"}}"#, None);
    check("", None);
}

#[test]
fn a_part_that_is_left_out_is_not_refused_again() {
    let learnt = RefusedFeatures::default();
    learnt.remember(Feature::StreamOptions);
    let body = r#"{"error":{"message":"unknown: stream_options"}}"#;
    assert_eq!(refused(learnt.remaining(), body), None);
    assert!(!learnt.remaining().has(Feature::StreamOptions));
    assert!(learnt.remaining().has(Feature::MaxTokensName));
}

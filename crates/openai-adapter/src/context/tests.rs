//! Which prompts are refused, and which answers, of servers that cut in silence (F12).

use std::sync::Arc;

use runtime_ports::{
    CommitDisposition, ModelFinish, ModelMessage, ModelProfile, ModelRequest, ModelResponse,
    ModelRole, PortFailureKind, TokenUsage, ToolSet, Transcript,
};

use super::{fits, was_taken_whole, within};
use crate::server_profile::ServerProfile;

fn request(tokens: usize) -> ModelRequest {
    let text = "word".repeat(tokens);
    ModelRequest {
        invocation_id: "i".into(),
        model: "m".into(),
        messages: Transcript::from(vec![ModelMessage::text(ModelRole::User, text)]),
        tools: ToolSet::default(),
        max_output_tokens: None,
        options: Arc::default(),
    }
}

fn counted(tokens: Option<u64>) -> ModelResponse {
    let usage = TokenUsage { input_tokens: tokens, ..TokenUsage::default() };
    let finish = ModelFinish::Stop;
    ModelResponse { output: vec![], finish, usage, cost_nano_usd: None, attempts: vec![] }
}

fn silent(context_tokens: Option<u64>) -> ServerProfile {
    ServerProfile { cuts_silently: true, context_tokens, ..ServerProfile::default() }
}

#[test]
fn f12_a_prompt_that_would_be_cut_is_not_sent() {
    assert!(fits(&silent(Some(4_096)), &request(4_000)).is_ok());
    let failure = fits(&silent(Some(4_096)), &request(5_000)).expect_err("too long");
    assert_eq!(failure.kind, PortFailureKind::ContextOverflow);
    assert_eq!(failure.commit, CommitDisposition::NotCommitted);
    assert!(fits(&silent(None), &request(5_000)).is_ok(), "a context that nobody knows");
    let loud = ServerProfile { cuts_silently: false, ..silent(Some(4_096)) };
    assert!(fits(&loud, &request(5_000)).is_ok(), "the server says it itself");
}

#[test]
fn f12_an_answer_to_a_part_of_the_prompt_is_a_failure() {
    let server = silent(None);
    let failure = was_taken_whole(&server, &request(20_000), &counted(Some(4_096)));
    let failure = failure.expect_err("most of it was not read");
    assert_eq!((failure.kind, &*failure.code), (PortFailureKind::ContextOverflow, "CONTEXT_CUT"));
    assert_eq!(failure.commit, CommitDisposition::Committed);
    let fine = [
        (20_000, Some(18_000), "read"),
        (20_000, Some(6_000), "a rough estimate"),
        (20_000, None, "nothing counted"),
        (1_000, Some(1), "too short to prove anything"),
    ];
    for (sent, tokens, name) in fine {
        assert!(was_taken_whole(&server, &request(sent), &counted(tokens)).is_ok(), "{name}");
    }
    let loud = ServerProfile::default();
    assert!(
        was_taken_whole(&loud, &request(20_000), &counted(Some(9))).is_ok(),
        "cached elsewhere"
    );
}

#[test]
fn f12_the_profile_of_a_model_promises_no_more_than_the_server_has() {
    let model = ModelProfile {
        context_window_tokens: 128_000,
        max_input_tokens: 100_000,
        max_output_tokens: Some(8_000),
        images: true,
        price: None,
    };
    let small = within(&silent(Some(4_096)), &model);
    assert_eq!((small.context_window_tokens, small.max_input_tokens), (4_096, 4_096));
    assert_eq!(small.max_output_tokens, Some(4_096));
    assert_eq!(within(&silent(None), &model), model);
}

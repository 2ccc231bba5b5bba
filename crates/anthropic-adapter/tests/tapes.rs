//! Recorded conversations: each is recorded anew against a scripted server, and the one that is kept
//! is replayed to the same outcome, by a session with other identities.
//!
//! `BLESS_TAPES=1 cargo test -p anthropic-adapter --test tapes` keeps what was recorded.

use anthropic_adapter::{AnthropicSession, Tape};
use runtime_types::CredentialHandle;
use wire_rehearsal::{
    asking::SHORT_TIMEOUTS,
    loopback::{Act, LAST_CHUNK, chunk, events, json as document, stream, stream_head},
    tapes::{Conversation, KEY, Tapes},
};

const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":9,"cache_read_input_tokens":0,"cache_creation_input_tokens":4,"output_tokens":1}}}"#;
const THOUGHT: [&str; 4] = [
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"I call it."}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB/+="}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
];
const CALL: [&str; 3] = [
    r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"ping","input":{}}}"#,
    r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
    r#"{"type":"content_block_stop","index":1}"#,
];
const NAMELESS: &str = r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","name":"ping","input":{}}}"#;
const PONG: [&str; 3] = [
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"pöng"}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
];
const TOOL_USE: &str =
    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}"#;
const END_TURN: &str =
    r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;
const NO_MARKS: &str = r#"{"type":"error","error":{"type":"invalid_request_error","message":"system.0.cache_control: Extra inputs are not permitted"}}"#;
const OVERLOADED: &str =
    r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;

fn called(blocks: &[&str]) -> Vec<Act> {
    stream(&events(&[&[START], blocks, &[TOOL_USE, STOP]].concat()))
}

fn answer() -> Vec<u8> {
    events(&[&[START], &PONG[..], &[END_TURN, STOP]].concat())
}

fn conversations() -> Vec<Conversation> {
    let thoughtful = || called(&[&THOUGHT[..], &CALL].concat());
    let nameless = called(&[NAMELESS, CALL[1], CALL[2]]);
    let in_pieces = vec![
        Act::Send(stream_head(&[("request-id", KEY)])),
        Act::Trickle(chunk(&answer()), 3),
        Act::Send(LAST_CHUNK.to_vec()),
    ];
    let begun = chunk(&events(&[START, PONG[0]]));
    let cut = vec![Act::Send(stream_head(&[])), Act::Send(begun), Act::Close];
    let conversation = |name, replies, expected| Conversation { name, replies, expected };
    let pong = "ToolCalls (I call it.) ping{} | Stop \"pöng\"";
    vec![
        conversation("messages-thoughts", vec![thoughtful(), stream(&answer())], pong),
        conversation("messages-in-small-pieces", vec![thoughtful(), in_pieces], pong),
        conversation(
            "messages-calls-without-ids",
            vec![nameless, stream(&answer())],
            "ToolCalls ping{} | Stop \"pöng\"",
        ),
        conversation(
            "messages-refused-marks",
            vec![document("400 Bad Request", NO_MARKS), thoughtful(), stream(&answer())],
            "ToolCalls (I call it.) ping{} after 2 | Stop \"pöng\"",
        ),
        conversation(
            "messages-overloaded",
            vec![thoughtful(), document("529 Overloaded", OVERLOADED)],
            "ToolCalls (I call it.) ping{} | Unavailable PROVIDER_OVERLOADED",
        ),
        conversation(
            "messages-cut",
            vec![thoughtful(), cut],
            "ToolCalls (I call it.) ping{} | Protocol CONNECTION_LOST",
        ),
    ]
}

fn open(base_url: &str, tape: Tape) -> AnthropicSession {
    let builder = AnthropicSession::builder(base_url).issuer("me").timeouts(SHORT_TIMEOUTS);
    let builder = match tape {
        Tape::Replay(_) => builder,
        _ => builder.credential(CredentialHandle::new(KEY)),
    };
    builder.tape(tape).build().expect("a session")
}

fn tapes() -> Tapes<fn(&str, Tape) -> AnthropicSession> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tapes").into();
    Tapes { folder, model: "claude-haiku-4-5", open }
}

#[tokio::test]
async fn conversations_are_recorded_and_replayed_to_the_same_outcome() {
    for conversation in conversations() {
        tapes().record(&conversation).await;
    }
}

#[tokio::test]
async fn tapes_that_are_kept_are_replayed_to_the_same_outcome() {
    for conversation in conversations() {
        tapes().replay(&conversation).await;
    }
}

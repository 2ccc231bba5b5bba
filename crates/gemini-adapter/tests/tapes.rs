//! Recorded conversations: each is recorded anew against a scripted server, and the one that is kept
//! is replayed to the same outcome, by a session with other identities.
//!
//! `BLESS_TAPES=1 cargo test -p gemini-adapter --test tapes` keeps what was recorded.

use gemini_adapter::{GeminiSession, Tape};
use runtime_types::CredentialHandle;
use wire_rehearsal::{
    asking::SHORT_TIMEOUTS,
    loopback::{Act, LAST_CHUNK, chunk, events, json as document, stream, stream_head},
    tapes::{Conversation, KEY, Tapes},
};

const THOUGHT: &str =
    r#"{"candidates":[{"content":{"parts":[{"text":"I call it.","thought":true}]}}]}"#;
const CALL: &str = r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"ping","args":{}},"thoughtSignature":"c2ln"}]}}],"responseId":"r-1"}"#;
const STOP: &str = r#"{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"thoughtsTokenCount":5,"totalTokenCount":16}}"#;
const PONG: &str =
    r#"{"candidates":[{"content":{"parts":[{"text":"pöng","thoughtSignature":"c2ln"}]}}]}"#;
const EVERY: &str =
    r#"{"candidates":[{"content":{"parts":[{"text":"pöng"}]},"finishReason":"STOP"}]}"#;
const EXHAUSTED: &str = r#"[{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}]"#;

fn conversations() -> Vec<Conversation> {
    let called = || stream(&events(&[THOUGHT, CALL, STOP]));
    let in_pieces = vec![
        Act::Send(stream_head(&[("x-request-id", KEY)])),
        Act::Trickle(chunk(&events(&[PONG, STOP])), 3),
        Act::Send(LAST_CHUNK.to_vec()),
    ];
    let list = format!("[{PONG}\n,\r\n{STOP}\n]");
    let cut = vec![Act::Send(stream_head(&[])), Act::Send(chunk(&events(&[EVERY]))), Act::Close];
    let conversation = |name, reply, expected| {
        let replies = vec![called(), reply];
        Conversation { name, replies, expected }
    };
    let pong = "ToolCalls (I call it.) ping{} | Stop () \"pöng\"";
    vec![
        conversation("gemini-signed-calls", stream(&events(&[PONG, STOP])), pong),
        conversation("gemini-in-small-pieces", in_pieces, pong),
        conversation("gemini-list", document("200 OK", &list), pong),
        conversation(
            "gemini-exhausted",
            document("429 Too Many Requests", EXHAUSTED),
            "ToolCalls (I call it.) ping{} | RateLimited RATE_LIMITED in 34.5s",
        ),
        conversation(
            "gemini-cut-after-a-stop",
            cut,
            "ToolCalls (I call it.) ping{} | Protocol CONNECTION_LOST",
        ),
    ]
}

fn open(base_url: &str, tape: Tape) -> GeminiSession {
    let builder = GeminiSession::builder(base_url).issuer("me").timeouts(SHORT_TIMEOUTS);
    let builder = match tape {
        Tape::Replay(_) => builder,
        _ => builder.credential(CredentialHandle::new(KEY)),
    };
    builder.tape(tape).build().expect("a session")
}

fn tapes() -> Tapes<fn(&str, Tape) -> GeminiSession> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tapes").into();
    Tapes { folder, model: "gemini-3-pro-preview", open }
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

//! What is refused for its size, and that no bytes whatsoever do harm.

use model_wire::{Answer, Progress, Reader};
use proptest::prelude::*;
use runtime_ports::{DiscardDeltas, ModelFinish};
use wire_rehearsal::harmless::{self, any_bytes, calls, spoilt, streamed};

use super::{PIECES, decoder, play};
use crate::profile::Api;

fn code(bytes: &[u8], limit: usize) -> String {
    harmless::code(decoder(Api::Chat), bytes, limit)
}

const HI: &str =
    "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n";

#[test]
fn what_is_too_large_is_refused() {
    assert_eq!(code(HI.as_bytes(), 100), "Stop");
    assert_eq!(code(HI.as_bytes(), 60), "EVENT_TOO_LARGE", "an event");
    let document = HI.trim_start_matches("data: ");
    assert_eq!(code(document.as_bytes(), 60), "EVENT_TOO_LARGE", "a document");
    assert_eq!(code(&[b' '; 200], 100), "EVENT_TOO_LARGE", "spaces");
    let most = 16 * 100 / HI.len();
    assert_eq!(code(HI.repeat(most + 1).as_bytes(), 100), "EVENT_TOO_LARGE", "many events");
    assert_eq!(code(HI.repeat(most).as_bytes(), 100), "Stop", "nearly as many");
}

#[test]
fn what_follows_the_end_does_not_count() {
    for size in PIECES {
        let end = [HI.as_bytes(), b"data: [DONE]\n\n", &[b'x'; 300], b"\n\ndata: {a}\n\n"].concat();
        let played = play(Api::Chat, &end, size);
        assert_eq!(played.outcome, r#"Stop: "hi""#, "in pieces of {size}");
    }
}

#[test]
fn the_progress_says_what_to_wait_for() {
    let mut reader = Reader::new(decoder(Api::Chat), 1000);
    let mut fed = |bytes: &str| {
        let fed = reader.feed(bytes.as_bytes(), &DiscardDeltas).expect("no failure");
        (fed.progress, fed.progressed)
    };
    assert_eq!(fed(": ping\n\n"), (Progress::Idle, false));
    assert_eq!(fed("data: {\"choices\":"), (Progress::Idle, false));
    assert_eq!(fed("[]}\n\n"), (Progress::Idle, false), "no choice says nothing");
    assert_eq!(fed("data: {\"choices\":[{}]}\n\n"), (Progress::Open, true));
    assert_eq!(fed(": ping\n\n"), (Progress::Open, false));
    assert_eq!(fed(HI), (Progress::Settled, true));
    assert_eq!(fed("data: [DONE]\n\n"), (Progress::Over, true));
    let mut reader = Reader::new(decoder(Api::Responses), 1000);
    let fed = reader.feed(b"data: {\"type\":\"keepalive\"}\n\n", &DiscardDeltas);
    assert_eq!(fed.map(|fed| (fed.progress, fed.progressed)), Ok((Progress::Idle, false)));
}

/// What must be true of every answer, whatever the bytes were.
fn holds(answer: &Answer) {
    let calls = calls(answer);
    match answer.finish {
        ModelFinish::Length | ModelFinish::Stop => {
            assert!(calls.is_empty(), "calls that may not run")
        }
        ModelFinish::ToolCalls => assert!(!calls.is_empty(), "no calls"),
        ModelFinish::ContentFilter | ModelFinish::Other => {}
    }
}

fn tried(api: Api, bytes: &[u8]) {
    harmless::tried(|| decoder(api), bytes, holds);
}

const CHAT: &[u8] =
    include_bytes!("../../tests/fixtures/captures/litellm-to-xllamacpp/chat_tool_stream.body");
const RESPONSES: &[u8] =
    include_bytes!("../../tests/fixtures/captures/llmock/responses_tool_stream.body");

/// Frames of the vocabulary that decoders look for, with values of every type.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        Just("null"),
        Just("\"\""),
        Just("0"),
        Just("[]"),
        Just("{}"),
        Just("\"a\""),
        Just("1"),
        Just("\"{}\""),
        Just("\"{\\\"p\\\":1}\""),
        Just("\"{\\\"p\\\":\""),
        Just("\"stop\""),
        Just("\"function_call\""),
        Just("\"message\""),
        Just("\"reasoning\""),
    ];
    let fragment = (word.clone(), word.clone(), word.clone(), word.clone()).prop_map(
        |(index, id, name, arguments)| {
            format!(r#"{{"index":{index},"id":{id},"function":{{"name":{name},"arguments":{arguments}}}}}"#)
        },
    );
    let chat = (proptest::collection::vec(fragment, 0..3), word.clone(), word.clone()).prop_map(
        |(calls, content, finish)| {
            let calls = calls.join(",");
            format!(
                r#"{{"choices":[{{"delta":{{"content":{content},"tool_calls":[{calls}]}},"finish_reason":{finish}}}]}}"#
            )
        },
    );
    let kind = prop_oneof![
        Just("output_item.added"),
        Just("output_item.done"),
        Just("output_text.delta"),
        Just("function_call_arguments.delta"),
        Just("function_call_arguments.done"),
        Just("reasoning_summary_text.delta"),
        Just("completed"),
        Just("incomplete"),
    ];
    let event = (kind, word.clone(), word.clone(), word.clone(), word).prop_map(
        |(kind, index, delta, item, id)| {
            format!(
                r#"{{"type":"response.{kind}","output_index":{index},"delta":{delta},"arguments":{delta},"item":{{"type":{item},"id":{id},"name":"f","arguments":{delta}}},"response":{{"output":[{{"type":{item},"id":{id},"arguments":{delta}}}]}}}}"#
            )
        },
    );
    let frame = prop_oneof![chat, event];
    streamed(frame, 8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn spoilt_chat_streams_do_no_harm(bytes in spoilt(CHAT)) {
        tried(Api::Chat, &bytes);
    }

    #[test]
    fn spoilt_responses_streams_do_no_harm(bytes in spoilt(RESPONSES)) {
        tried(Api::Responses, &bytes);
    }

    #[test]
    fn any_bytes_do_no_harm(bytes in any_bytes()) {
        tried(Api::Chat, &bytes);
        tried(Api::Responses, &bytes);
    }

    #[test]
    fn frames_of_known_words_do_no_harm(bytes in frames()) {
        tried(Api::Chat, &bytes);
        tried(Api::Responses, &bytes);
    }
}

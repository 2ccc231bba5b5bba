//! What is refused for its size, and that no bytes whatsoever do harm.

use model_wire::{Answer, Progress, Reader};
use proptest::prelude::*;
use runtime_ports::{DiscardDeltas, ModelContent, ModelFinish, PortFailure};

use super::{PIECES, decoder, play};
use crate::profile::Api;

fn read(api: Api, bytes: &[u8], limit: usize) -> Result<Answer, PortFailure> {
    let mut reader = Reader::new(decoder(api), limit);
    for piece in bytes.chunks(50) {
        if reader.feed(piece, &DiscardDeltas)?.progress == Progress::Over {
            break;
        }
    }
    reader.finish(&DiscardDeltas)
}

fn code(bytes: &[u8], limit: usize) -> String {
    read(Api::Chat, bytes, limit)
        .map_or_else(|failure| failure.code, |answer| format!("{:?}", answer.finish))
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
    let ids: Vec<&str> = answer
        .output
        .iter()
        .filter_map(|content| match content {
            ModelContent::ToolUse { id, .. } => Some(id.as_str()),
            _ => None,
        })
        .collect();
    let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len(), "an id twice");
    assert!(ids.iter().all(|id| !id.is_empty()), "an empty id");
    match answer.finish {
        ModelFinish::Length | ModelFinish::Stop => {
            assert!(ids.is_empty(), "calls that may not run")
        }
        ModelFinish::ToolCalls => assert!(!ids.is_empty(), "no calls"),
        ModelFinish::ContentFilter | ModelFinish::Other => {}
    }
}

fn tried(api: Api, bytes: &[u8]) {
    let whole = play(api, bytes, usize::MAX);
    for size in PIECES {
        assert_eq!(play(api, bytes, size), whole, "in pieces of {size}");
    }
    if let Ok(answer) = read(api, bytes, 1024 * 1024) {
        holds(&answer);
    }
}

const CHAT: &[u8] =
    include_bytes!("../../tests/fixtures/captures/litellm-to-xllamacpp/chat_tool_stream.body");
const RESPONSES: &[u8] =
    include_bytes!("../../tests/fixtures/captures/llmock/responses_tool_stream.body");

/// Ways to spoil bytes: overwrite, remove, or repeat a part.
fn spoilt(bytes: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), 1usize..40, any::<u8>(), 0u8..3);
    proptest::collection::vec(change, 1..8).prop_map(move |changes| {
        let mut bytes = bytes.to_vec();
        for (at, length, byte, how) in changes {
            let start = at.index(bytes.len().max(1)).min(bytes.len());
            let end = (start + length).min(bytes.len());
            match how {
                0 if start < bytes.len() => bytes[start] = byte,
                1 => drop(bytes.drain(start..end)),
                _ => {
                    let part = bytes[start..end].to_vec();
                    drop(bytes.splice(start..start, part));
                }
            }
        }
        bytes
    })
}

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
    proptest::collection::vec(frame, 0..8).prop_map(|frames| {
        let lines = frames.iter().map(|frame| format!("data: {frame}\n\n"));
        lines.collect::<String>().into_bytes()
    })
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
    fn any_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        tried(Api::Chat, &bytes);
        tried(Api::Responses, &bytes);
    }

    #[test]
    fn frames_of_known_words_do_no_harm(bytes in frames()) {
        tried(Api::Chat, &bytes);
        tried(Api::Responses, &bytes);
    }
}

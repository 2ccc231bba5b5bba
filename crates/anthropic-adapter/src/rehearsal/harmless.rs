//! What is refused for its size, and that no bytes whatsoever do harm.

use model_wire::{Answer, Progress, Reader};
use proptest::prelude::*;
use runtime_ports::{DiscardDeltas, ModelFinish};
use wire_rehearsal::harmless::{self, any_bytes, calls, spoilt, streamed};

use super::{PIECES, decoder, play};

fn code(bytes: &[u8], limit: usize) -> String {
    harmless::code(decoder(), bytes, limit)
}

const HI: &str =
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"text\":\"hi\"}}\n\n";
const END: &str = "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n";

#[test]
fn what_is_too_large_is_refused() {
    assert_eq!(code(format!("{HI}{END}").as_bytes(), 200), "Stop");
    assert_eq!(code(HI.as_bytes(), 40), "EVENT_TOO_LARGE", "an event");
    let document =
        br#"{"type":"message","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn"}"#;
    assert_eq!(code(document, 200), "Stop", "a document");
    assert_eq!(code(document, 60), "EVENT_TOO_LARGE", "a large document");
    assert_eq!(code(&[b' '; 200], 100), "EVENT_TOO_LARGE", "spaces");
    let many = HI.repeat(16 * 100 / HI.len() + 1);
    assert_eq!(code(many.as_bytes(), 100), "EVENT_TOO_LARGE", "many events");
    let starts: Vec<String> = (0..2_000)
        .map(|at| {
            format!(
                r#"{{"type":"content_block_start","index":{at},"content_block":{{"type":"text"}}}}"#
            )
        })
        .collect();
    assert_eq!(code(&super::events(&starts), 1 << 20), "TOO_MANY_ITEMS", "many blocks");
}

#[test]
fn what_follows_the_end_does_not_count() {
    for size in PIECES {
        let end = [HI.as_bytes(), END.as_bytes(), &[b'x'; 300], b"\n\ndata: {a}\n\n"].concat();
        assert_eq!(play(&end, size).outcome, r#"Stop: "hi""#, "in pieces of {size}");
    }
}

#[test]
fn the_progress_says_what_to_wait_for() {
    let mut reader = Reader::new(decoder(), 1000);
    let mut fed = |bytes: &str| {
        let fed = reader.feed(bytes.as_bytes(), &DiscardDeltas).expect("no failure");
        (fed.progress, fed.progressed)
    };
    let ping = "event: ping\ndata: {\"type\": \"ping\"}\n\n";
    assert_eq!(fed(": comment\n\n"), (Progress::Idle, false));
    assert_eq!(fed(ping), (Progress::Idle, false));
    assert_eq!(fed("data: {\"type\":\"something_new\"}\n\n"), (Progress::Idle, false));
    assert_eq!(fed(HI), (Progress::Open, true));
    assert_eq!(fed(ping), (Progress::Open, false));
    let (reason, stop) = END.split_at(END.find("\n\n").expect("two events") + 2);
    assert_eq!(fed(reason), (Progress::Open, true), "a reason to stop is no end");
    assert_eq!(fed(stop), (Progress::Over, true));
}

/// What must be true of every answer, whatever the bytes were.
fn holds(answer: &Answer) {
    let called = !calls(answer).is_empty();
    assert_eq!(answer.finish == ModelFinish::ToolCalls, called, "calls and their finish");
}

fn tried(bytes: &[u8]) {
    harmless::tried(decoder, bytes, holds);
}

const TOOL: &[u8] =
    include_bytes!("../../tests/fixtures/captures/litellm-to-xllamacpp/messages_tool_stream.body");
const THINKING: &[u8] = include_bytes!("../../tests/fixtures/documented/thinking.sse");

/// Ways to spoil the order of events: remove, repeat, or move whole ones.
fn shuffled(bytes: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0u8..3);
    proptest::collection::vec(change, 1..6).prop_map(move |changes| {
        let text = std::str::from_utf8(bytes).expect("text");
        let mut events: Vec<&str> = text.split_inclusive("\n\n").collect();
        for (from, to, how) in changes {
            if events.is_empty() {
                break;
            }
            let (from, to) = (from.index(events.len()), to.index(events.len()));
            match how {
                0 => drop(events.remove(from)),
                1 => events.insert(to, events[from]),
                _ => events.swap(from, to),
            }
        }
        events.concat().into_bytes()
    })
}

/// Events of the vocabulary that the decoder looks for, with values of every type.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        Just("null"),
        Just("\"\""),
        Just("0"),
        Just("1"),
        Just("[]"),
        Just("{}"),
        Just("{\"p\":1}"),
        Just("\"a\""),
        Just("\"{}\""),
        Just("\"{\\\"p\\\":1}\""),
        Just("\"{\\\"p\\\":\""),
        Just("\"text\""),
        Just("\"thinking\""),
        Just("\"tool_use\""),
        Just("\"redacted_thinking\""),
        Just("\"text_delta\""),
        Just("\"input_json_delta\""),
        Just("\"end_turn\""),
        Just("\"max_tokens\""),
    ];
    let kind = prop_oneof![
        Just("message_start"),
        Just("content_block_start"),
        Just("content_block_start"),
        Just("content_block_delta"),
        Just("content_block_delta"),
        Just("content_block_stop"),
        Just("message_delta"),
        Just("message_stop"),
        Just("message"),
        Just("error"),
        Just("ping"),
    ];
    let frame = (kind, word.clone(), word.clone(), word.clone(), word.clone(), word).prop_map(
        |(kind, index, kind_of, id, name, input)| {
            format!(
                r#"{{"type":"{kind}","index":{index},"content":[{{"type":{kind_of},"text":{name},"id":{id},"name":{name},"input":{input}}}],"content_block":{{"type":{kind_of},"id":{id},"name":{name},"input":{input},"text":{input}}},"delta":{{"type":{kind_of},"text":{name},"partial_json":{input},"stop_reason":{name}}},"message":{{"id":{id},"usage":{{"input_tokens":{index}}}}}}}"#
            )
        },
    );
    streamed(frame, 10)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn spoilt_streams_do_no_harm(bytes in prop_oneof![spoilt(TOOL), spoilt(THINKING)]) {
        tried(&bytes);
    }

    #[test]
    fn shuffled_events_do_no_harm(bytes in prop_oneof![shuffled(TOOL), shuffled(THINKING)]) {
        tried(&bytes);
    }

    #[test]
    fn any_bytes_do_no_harm(bytes in any_bytes()) {
        tried(&bytes);
    }

    #[test]
    fn frames_of_known_words_do_no_harm(bytes in frames()) {
        tried(&bytes);
    }
}

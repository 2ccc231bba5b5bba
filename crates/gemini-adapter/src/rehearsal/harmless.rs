//! What is refused for its size, and that no bytes whatsoever do harm.

use model_wire::{Answer, Progress, Reader};
use proptest::prelude::*;
use runtime_ports::{DiscardDeltas, ModelContent, ModelFinish, PortFailure};

use super::{PIECES, decoder, play};

fn read(bytes: &[u8], limit: usize) -> Result<Answer, PortFailure> {
    let mut reader = Reader::new(decoder(), limit);
    for piece in bytes.chunks(50) {
        if reader.feed(piece, &DiscardDeltas)?.progress == Progress::Over {
            break;
        }
    }
    reader.finish(&DiscardDeltas)
}

fn code(bytes: &[u8], limit: usize) -> String {
    read(bytes, limit).map_or_else(|failure| failure.code, |answer| format!("{:?}", answer.finish))
}

const HI: &str = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hi\"}]},\"finishReason\":\"STOP\"}]}\n\n";

#[test]
fn what_is_too_large_is_refused() {
    assert_eq!(code(HI.as_bytes(), 100), "Stop");
    assert_eq!(code(HI.as_bytes(), 60), "EVENT_TOO_LARGE", "an event");
    let document = HI.trim_start_matches("data: ");
    assert_eq!(code(document.as_bytes(), 60), "EVENT_TOO_LARGE", "a document");
    let part = r#"{"functionCall":{"name":"f"}}"#;
    let many = vec![part; 513].join(",");
    let calls = format!("data: {{\"candidates\":[{{\"content\":{{\"parts\":[{many}]}}}}]}}\n\n");
    assert_eq!(code(calls.as_bytes(), 1 << 20), "TOO_MANY_CALLS");
    let parts = calls.replace("functionCall", "somethingElse");
    assert_eq!(code(parts.repeat(9).as_bytes(), 1 << 20), "TOO_MANY_PARTS");
}

#[test]
fn the_progress_says_what_to_wait_for() {
    let mut reader = Reader::new(decoder(), 1000);
    let mut fed = |bytes: &str| {
        let fed = reader.feed(bytes.as_bytes(), &DiscardDeltas).expect("no failure");
        (fed.progress, fed.progressed)
    };
    assert_eq!(fed(": ping\n\n"), (Progress::Idle, false));
    assert_eq!(fed("data: {\"responseId\":\"x\"}\n\n"), (Progress::Idle, false));
    assert_eq!(fed("data: {\"candidates\":"), (Progress::Idle, false));
    assert_eq!(fed("[]}\n\n"), (Progress::Open, true));
    assert_eq!(fed(HI), (Progress::Settled, true));
    assert_eq!(fed("data: {\"usageMetadata\":{}}\n\n"), (Progress::Settled, true));
    assert_eq!(fed(": ping\n\n"), (Progress::Settled, false));
}

#[test]
fn a_server_that_always_says_that_it_is_finished_is_waited_for() {
    let (early, limit) = (HI.replace("{\"text\":\"hi\"}", ""), HI.replace("STOP", "MAX_TOKENS"));
    let progress = |frames: &[&str]| {
        let mut reader = Reader::new(decoder(), 1000);
        let fed = frames.iter().map(|frame| reader.feed(frame.as_bytes(), &DiscardDeltas));
        fed.last().expect("a frame").expect("no failure").progress
    };
    assert_eq!(progress(&[&early]), Progress::Open, "before the first piece");
    assert_eq!(progress(&[&early, HI]), Progress::Open, "and with it");
    assert_eq!(progress(&[HI]), Progress::Settled, "with one piece");
    assert_eq!(progress(&[HI, HI]), Progress::Open, "with every piece");
    assert_eq!(progress(&[HI, HI, &early]), Progress::Open, "and at last");
    assert_eq!(progress(&[HI, &early]), Progress::Settled, "again without a piece");
    assert_eq!(progress(&[HI, HI, &limit]), Progress::Settled, "but a limit is one");
}

/// What must be true of every answer, whatever the bytes were.
fn holds(answer: &Answer) {
    let calls = answer.output.iter().filter_map(|content| match content {
        ModelContent::ToolUse { id, name, .. } => Some((id.as_str(), name.as_str())),
        _ => None,
    });
    let calls: Vec<(&str, &str)> = calls.collect();
    let distinct: std::collections::BTreeSet<_> = calls.iter().map(|(id, _)| id).collect();
    assert_eq!(distinct.len(), calls.len(), "an id twice");
    assert!(calls.iter().all(|(id, name)| !id.is_empty() && !name.is_empty()), "an empty word");
    assert_eq!(answer.finish == ModelFinish::ToolCalls, !calls.is_empty(), "{answer:?}");
}

fn tried(bytes: &[u8]) {
    let whole = play(bytes, usize::MAX);
    for size in PIECES {
        assert_eq!(play(bytes, size), whole, "in pieces of {size}");
    }
    if let Ok(answer) = read(bytes, 1024 * 1024) {
        holds(&answer);
    }
}

const STREAM: &[u8] = include_bytes!("../../tests/fixtures/parallel-calls.sse");

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

/// Frames of the vocabulary that the decoder looks for, with values of every type.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let word = prop::sample::select(vec![
        "null",
        "\"\"",
        "0",
        "1",
        "true",
        "[]",
        "{}",
        "[{}]",
        "\"a\"",
        "\"{}\"",
        "\"{\\\"p\\\":\"",
        "{\"p\":1}",
        "\"STOP\"",
        "\"MAX_TOKENS\"",
        "\"SAFETY\"",
        "\"OTHER\"",
    ]);
    let call = (word.clone(), word.clone(), word.clone(), word.clone()).prop_map(
        |(id, name, args, more)| {
            format!(r#"{{"functionCall":{{"id":{id},"name":{name},"args":{args},"willContinue":{more}}},"thoughtSignature":{id}}}"#)
        },
    );
    let text = (word.clone(), word.clone(), word.clone()).prop_map(|(text, thought, signature)| {
        format!(r#"{{"text":{text},"thought":{thought},"thoughtSignature":{signature}}}"#)
    });
    let other = word.clone().prop_map(|value| format!(r#"{{"executableCode":{value}}}"#));
    let part = prop_oneof![call, text, other, word.clone().prop_map(str::to_owned)];
    let parts = proptest::collection::vec(part, 0..4).prop_map(|parts| parts.join(","));
    let frame = (parts, word.clone(), word.clone(), word).prop_map(|(parts, finish, index, other)| {
        format!(
            r#"{{"candidates":[{{"index":{index},"content":{{"parts":[{parts}]}},"finishReason":{finish}}}],"promptFeedback":{{"blockReason":{other}}},"usageMetadata":{{"promptTokenCount":{other},"candidatesTokenCount":{index}}}}}"#
        )
    });
    proptest::collection::vec(frame, 0..6).prop_map(|frames| {
        let lines = frames.iter().map(|frame| format!("data: {frame}\n\n"));
        lines.collect::<String>().into_bytes()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn spoilt_streams_do_no_harm(bytes in spoilt(STREAM)) {
        tried(&bytes);
    }

    #[test]
    fn any_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        tried(&bytes);
    }

    #[test]
    fn frames_of_known_words_do_no_harm(bytes in frames()) {
        tried(&bytes);
    }
}

//! What is refused for its size, and that no bytes whatsoever do harm.

use model_wire::{Answer, Progress, Reader};
use proptest::prelude::*;
use runtime_ports::{DiscardDeltas, ModelFinish};
use wire_rehearsal::harmless::{self, any_bytes, calls, spoilt, streamed};

use super::decoder;

fn code(bytes: &[u8], limit: usize) -> String {
    harmless::code(decoder(), bytes, limit)
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
    assert_eq!(fed(&HI.replace("STOP", "")), (Progress::Open, true));
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
    let piece = HI.replace("STOP", "");
    assert_eq!(progress(&[HI]), Progress::Open, "with the first piece");
    assert_eq!(progress(&[&piece, HI]), Progress::Settled, "with the second one alone");
    assert_eq!(progress(&[&piece, &early]), Progress::Settled, "after a piece");
    assert_eq!(progress(&[HI, HI]), Progress::Open, "with every piece");
    assert_eq!(progress(&[HI, HI, &early]), Progress::Open, "and at last");
    assert_eq!(progress(&[HI, &early]), Progress::Open, "again without a piece");
    assert_eq!(progress(&[HI, HI, &limit]), Progress::Settled, "but a limit is one");
}

/// What must be true of every answer, whatever the bytes were.
fn holds(answer: &Answer) {
    let calls = calls(answer);
    assert!(calls.iter().all(|(_, name)| !name.is_empty()), "an empty name");
    assert_eq!(answer.finish == ModelFinish::ToolCalls, !calls.is_empty(), "{answer:?}");
}

fn tried(bytes: &[u8]) {
    harmless::tried(decoder, bytes, holds);
}

const STREAM: &[u8] = include_bytes!("../../tests/fixtures/parallel-calls.sse");

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
    streamed(frame, 6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn spoilt_streams_do_no_harm(bytes in spoilt(STREAM)) {
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

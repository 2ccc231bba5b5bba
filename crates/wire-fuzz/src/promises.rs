//! Decides what must be true of an answer, whatever the bytes were.
//!
//! Knows the contract of a model session, and no wire format beyond the words that end a stream.

use std::collections::BTreeSet;

use model_wire::Answer;
use runtime_ports::{ModelContent, ModelFinish};

use crate::{numbers::Numbers, played::Played};

/// Holds `played` against the promises.
///
/// # Panics
/// When one is broken.
pub(crate) fn hold(played: &Played, bytes: &[u8], ends: &[&str]) {
    if let Ok(answer) = &played.outcome {
        calls_fit_the_finish(answer);
        calls_can_be_told_apart(answer);
        somebody_said_that_it_is_finished(answer, bytes, ends);
    }
    no_count_is_invented(played, bytes);
}

fn calls(answer: &Answer) -> impl Iterator<Item = (&str, &str)> {
    answer.output.iter().filter_map(|content| match content {
        ModelContent::ToolUse { id, name, .. } => Some((&**id, &**name)),
        _ => None,
    })
}

fn calls_fit_the_finish(answer: &Answer) {
    let count = calls(answer).count();
    match answer.finish {
        ModelFinish::ToolCalls => assert!(count > 0, "an answer asks for tools without a call"),
        finish => assert_eq!(count, 0, "an answer that ended with {finish:?} has calls"),
    }
}

fn calls_can_be_told_apart(answer: &Answer) {
    let mut seen = BTreeSet::new();
    for (id, name) in calls(answer) {
        assert!(!id.is_empty(), "a call has no identity");
        assert!(!name.is_empty(), "a call names no tool");
        assert!(seen.insert(id), "two calls have the identity {id:?}");
    }
}

/// A document is finished by itself, and a word can be written with escapes; both are rare enough
/// to be left out.
fn somebody_said_that_it_is_finished(answer: &Answer, bytes: &[u8], ends: &[&str]) {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let is_document = text.starts_with(b"{") || text.starts_with(b"[");
    let has = |word: &str| bytes.windows(word.len()).any(|window| window == word.as_bytes());
    let said = is_document || has("\\u") || ends.iter().any(|word| has(word));
    assert!(said, "nothing said that the answer is finished, and it is one: {answer:#?}");
}

/// Each count stands in the bytes, or is the sum of two or three that do: some servers count a part
/// beside its whole.
fn no_count_is_invented(played: &Played, bytes: &[u8]) {
    let counts: Vec<u64> = played.usage.fields().into_iter().flatten().collect();
    if counts.is_empty() {
        return;
    }
    let numbers = Numbers::of(bytes);
    for count in counts {
        assert!(numbers.explain(count), "nobody reported the count {count}");
    }
}

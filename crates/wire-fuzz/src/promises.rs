//! Decides what must be true of an answer, whatever the bytes were.
//!
//! Knows the contract of a model session, and of a wire format only how it says that an answer is
//! finished.

use std::collections::BTreeSet;

use model_wire::Answer;
use runtime_ports::{ModelContent, ModelFinish};

use crate::{
    numbers::Numbers,
    played::{Delta, Played},
    terminal::Terminal,
};

/// Holds `played` against the promises.
///
/// # Panics
/// When one is broken.
pub(crate) fn hold(played: &Played, bytes: &[u8], terminal: &Terminal) {
    if let Ok(answer) = &played.outcome {
        calls_fit_the_finish(answer);
        calls_can_be_told_apart(answer);
        let said = terminal.stands_in(bytes);
        assert!(said, "nothing said that the answer is finished, and it is one: {answer:#?}");
    }
    no_count_is_invented(played, bytes);
}

/// Holds what came of the beginning of some bytes against what came of all of them: when they are
/// good to their end, nobody was told a text that they do not say.
///
/// # Panics
/// When somebody was.
pub(crate) fn hold_of_a_beginning(beginning: &Played, whole: &Played) {
    if whole.outcome.is_ok() && !whole.deltas.contains(&Delta::Restarted) {
        let (told, said) = (text_of(beginning), text_of(whole));
        assert!(said.starts_with(&told), "cut, it said {told:?}; whole, it says {said:?}");
    }
}

fn text_of(played: &Played) -> String {
    let texts = played.deltas.iter().filter_map(|delta| match delta {
        Delta::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
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

//! Decides whether a transcript is what a plain vector would be, whatever is done to it.

use std::cell::Cell;

use proptest::prelude::*;

use crate::{Digest, ModelMessage, ModelRole, Transcript};

fn message(number: u32) -> ModelMessage {
    ModelMessage::text(ModelRole::User, number.to_string())
}

fn of(numbers: impl IntoIterator<Item = u32>) -> Transcript {
    numbers.into_iter().map(message).collect()
}

/// What is done to a set of transcripts; positions wrap around.
#[derive(Debug, Clone)]
enum Step {
    Push { which: usize, number: u32 },
    PushShared { from: usize, to: usize },
    Clone { which: usize },
    Prefix { which: usize, len: usize },
    Drop { which: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let which = || 0_usize..8;
    prop_oneof![
        8 => (which(), any::<u32>()).prop_map(|(which, number)| Step::Push { which, number }),
        1 => (which(), which()).prop_map(|(from, to)| Step::PushShared { from, to }),
        2 => which().prop_map(|which| Step::Clone { which }),
        2 => (which(), 0_usize..150).prop_map(|(which, len)| Step::Prefix { which, len }),
        1 => which().prop_map(|which| Step::Drop { which }),
    ]
}

/// A transcript beside the vector that it must equal.
type Pair = (Transcript, Vec<ModelMessage>);

fn perform(pairs: &mut Vec<Pair>, step: Step) {
    let count = pairs.len();
    match step {
        Step::Push { which, number } => {
            let (transcript, model) = &mut pairs[which % count];
            transcript.push(message(number));
            model.push(message(number));
        }
        Step::PushShared { from, to } => {
            let Some(entry) = pairs[from % count].0.last().cloned() else { return };
            let (transcript, model) = &mut pairs[to % count];
            model.push(entry.message().clone());
            transcript.push_entry(entry);
        }
        Step::Clone { which } => pairs.push(pairs[which % count].clone()),
        Step::Prefix { which, len } => {
            let (transcript, model) = &pairs[which % count];
            let shorter = model.iter().take(len).cloned().collect();
            pairs.push((transcript.prefix(len), shorter));
        }
        Step::Drop { which } if count > 1 => drop(pairs.swap_remove(which % count)),
        Step::Drop { .. } => {}
    }
}

fn check((transcript, model): &Pair) {
    assert_eq!(transcript.len(), model.len());
    assert_eq!(transcript.is_empty(), model.is_empty());
    assert!(transcript.messages().eq(model));
    assert_eq!(transcript.last().map(|entry| entry.message()), model.last());
    let anew = Transcript::from(model.clone());
    assert_eq!(*transcript, anew);
    assert_eq!(transcript.digest(), anew.digest());
    assert_eq!(transcript.estimated_tokens(), anew.estimated_tokens());
    let digests: Vec<_> = transcript.prefix_digests_from(0).collect();
    for start in [0, 1, 31, 32, 33, model.len().saturating_sub(1), model.len(), model.len() + 9] {
        let rest = transcript.entries_from(start).map(|entry| entry.message());
        assert!(rest.eq(model.iter().skip(start)), "from {start}");
        let rest = transcript.prefix_digests_from(start);
        assert!(rest.eq(digests.iter().copied().skip(start)), "digests from {start}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_history_equals_its_vector(
        first in 0_u32..100,
        steps in prop::collection::vec(step(), 0..120),
    ) {
        let mut pairs = vec![(of(0..first), (0..first).map(message).collect())];
        steps.into_iter().for_each(|step| perform(&mut pairs, step));
        pairs.iter().for_each(check);
        for (one, vector) in &pairs {
            for (other, others) in &pairs {
                let shared = vector.iter().zip(others).take_while(|(one, other)| one == other);
                prop_assert_eq!(one.shared_len(other), shared.count());
            }
        }
    }
}

#[test]
fn what_two_histories_share_is_found_wherever_they_part() {
    for (len, longer) in [(0, 0), (0, 40), (1, 1), (33, 64), (100, 100), (100, 400)] {
        let history = of(0..longer);
        for parted in 0..=len {
            let other = of((0..parted).chain(1_000 + parted..1_000 + len));
            assert_eq!(history.shared_len(&other), parted as usize, "{len} {longer} {parted}");
            assert_eq!(other.shared_len(&history), parted as usize, "{len} {longer} {parted}");
            let digests: Vec<_> = history.prefix_digests_from(0).collect();
            let known = other.known_len(|digest| digests.contains(digest));
            assert_eq!(known, parted as usize, "{len} {longer} {parted}");
        }
    }
}

#[test]
fn what_is_known_is_not_looked_through() {
    for (len, new) in [(10_000, 0), (10_000, 1), (10_000, 50), (3, 3)] {
        let history = of(0..len);
        let first_new = (len - new) as usize;
        let digests: Vec<_> = history.prefix_digests_from(first_new).collect();
        let asked = Cell::new(0_u32);
        let known = history.known_len(|digest| {
            asked.set(asked.get() + 1);
            !digests.contains(digest)
        });
        assert_eq!(known, first_new);
        assert!(asked.get() <= 4 * new + 2, "{} of {new} new ones", asked.get());
    }
}

#[test]
fn every_prefix_around_a_chunk_border_is_exact() {
    let whole = of(0..130);
    for len in (0..=130).chain([131, 1_000, usize::MAX]) {
        let mut prefix = whole.prefix(len);
        let expected = of(0..len.min(130) as u32);
        assert_eq!(prefix, expected, "{len}");
        let mut other = expected;
        prefix.push(message(7));
        other.push(message(7));
        assert_eq!(prefix, other, "{len}, and one more");
    }
    assert_eq!(whole, of(0..130));
}

#[test]
fn a_clone_never_sees_later_messages() {
    let mut history = Transcript::new();
    let mut clones = Vec::new();
    for number in 0..100 {
        clones.push((history.clone(), history.digest()));
        history.push(message(number));
    }
    for (number, (clone, digest)) in (0..).zip(&clones) {
        assert_eq!((clone.len(), clone.digest()), (number as usize, *digest));
        assert_eq!(*clone, of(0..number));
    }
}

#[test]
fn digests_depend_on_every_message_and_its_place() {
    let digests = [of([]), of([1]), of([2]), of([1, 2]), of([2, 1]), of([1, 2, 2])];
    let mut digests: Vec<Digest> = digests.iter().map(Transcript::digest).collect();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), 6);
}

#[test]
fn it_is_written_as_its_messages_and_read_again() {
    for len in [0, 1, 32, 33, 100] {
        let history = of(0..len);
        let written = serde_json::to_string(&history).unwrap();
        let messages: Vec<_> = (0..len).map(message).collect();
        assert_eq!(written, serde_json::to_string(&messages).unwrap());
        let read: Transcript = serde_json::from_str(&written).unwrap();
        assert_eq!((read.digest(), read.len()), (history.digest(), history.len()));
    }
}

//! Decides whether cuts lie where they may.

use proptest::prelude::*;
use runtime_ports::{ModelRole, Transcript};

use super::Exchanges;
use crate::context::tests::{history, messages};

proptest! {
    #[test]
    fn no_cut_comes_between_a_call_and_its_result(said in history()) {
        let messages: Transcript = messages(&said).into();
        let exchanges = Exchanges::of(&messages, 0);
        let entries: Vec<_> = messages.entries().collect();
        for (kept, cut) in exchanges.cuts() {
            let first = entries.get(cut.place);
            prop_assert!(first.is_none_or(|entry| entry.role() == ModelRole::Assistant));
            let tail = entries[cut.place..].iter().map(|entry| entry.estimated_tokens());
            prop_assert_eq!(tail.sum::<u64>(), cut.tail_tokens);
            prop_assert_eq!(exchanges.keeping(kept), Some(cut));
            prop_assert!(exchanges.holds(cut));
        }
    }

    #[test]
    fn the_cut_that_fits_keeps_the_most(said in history(), room in 0..400_u64) {
        let messages: Transcript = messages(&said).into();
        let exchanges = Exchanges::of(&messages, 0);
        let fits = |cut: &super::Cut| cut.said_tokens + cut.tail_tokens <= room;
        let keeping = exchanges.cuts().filter(|(kept, _)| *kept > 0);
        let expected = keeping.map(|(_, cut)| cut).find(fits);
        prop_assert_eq!(exchanges.fitting(room), expected);
        let sizes: Vec<_> = exchanges.cuts().map(|(_, cut)| cut.said_tokens + cut.tail_tokens).collect();
        prop_assert!(sizes.is_sorted_by(|left, right| left >= right), "covering more costs less");
    }
}

#[test]
fn without_an_answer_there_is_nothing_to_cut() {
    let messages: Transcript =
        vec![runtime_ports::ModelMessage::text(ModelRole::User, "go")].into();
    let exchanges = Exchanges::of(&messages, 0);
    assert_eq!((exchanges.keeping(0), exchanges.newest(3)), (None, 1));
}

//! Decides whether the ledger lets a turn be opened, noted and settled once, and no other way.

use runtime_ports::UsageReceipt;

use super::sample::{id, meter, note, open, opened, record, settle, settled};
use crate::{
    failure::FileError,
    ledger::{Ledger, Novelty},
    record::Change,
};

fn ledger(changes: impl IntoIterator<Item = Change>) -> Ledger {
    let mut ledger = Ledger::default();
    for change in changes {
        ledger.apply(record(change)).expect("the script is in order");
    }
    ledger
}

fn verdict(ledger: &Ledger, change: &Change) -> &'static str {
    match ledger.judge(change) {
        Ok(Novelty::New) => "new",
        Ok(Novelty::Repeated) => "repeated",
        Err(FileError::Conflict) => "conflict",
        Err(FileError::UnknownTurn) => "unknown",
        Err(_) => "other",
    }
}

#[test]
fn each_change_is_judged_by_what_is_recorded() {
    let other_opening =
        || Change::Opened { receipt: UsageReceipt { user_id: "eve".into(), ..opened(1) } };
    let other_settling =
        || Change::Settled { receipt: UsageReceipt { cost_nano_usd: None, ..settled(1) } };
    let other_note = || Change::Noted { turn: id(1), ordinal: 0, meter: meter(9) };
    let check = |state: &[fn() -> Change], offered: Change, expected: &str| {
        let ledger = ledger(state.iter().map(|change| change()));
        assert_eq!(verdict(&ledger, &offered), expected, "{offered:?}");
    };
    let opened = || open(1);
    let noted = || note(1, 0);
    let settled = || settle(1);
    check(&[], open(1), "new");
    check(&[], note(1, 0), "unknown");
    check(&[], settle(1), "unknown");
    check(&[opened], open(1), "repeated");
    check(&[opened], other_opening(), "conflict");
    check(&[opened], open(2), "new");
    check(&[opened], note(1, 0), "new");
    check(&[opened], note(1, 7), "new");
    check(&[opened], note(2, 0), "unknown");
    check(&[opened], settle(1), "new");
    check(&[opened, noted], note(1, 0), "repeated");
    check(&[opened, noted], other_note(), "conflict");
    check(&[opened, noted], note(1, 1), "new");
    check(&[opened, noted, settled], open(1), "repeated");
    check(&[opened, noted, settled], note(1, 0), "repeated");
    check(&[opened, noted, settled], other_note(), "conflict");
    check(&[opened, noted, settled], note(1, 1), "conflict");
    check(&[opened, noted, settled], settle(1), "repeated");
    check(&[opened, noted, settled], other_settling(), "conflict");
}

#[test]
fn open_turns_come_oldest_first_with_their_notes_in_order() {
    let ledger = ledger([open(3), open(1), open(2), note(1, 2), note(1, 0), settle(3), note(2, 5)]);
    let turns: Vec<_> = ledger.open_turns().map(|(_, receipt)| receipt).collect();
    let with = |turn, requests| UsageReceipt { requests, ..opened(turn) };
    assert_eq!(turns, [with(1, vec![meter(0), meter(2)]), with(2, vec![meter(5)])]);
    assert_eq!(ledger.open_count(), 2);
}

#[test]
fn pages_follow_the_order_of_settling() {
    let ledger = ledger([open(1), open(2), open(3), open(4), settle(3), settle(1), settle(2)]);
    let check = |after: Option<u64>, limit, expected: &[u64]| {
        let page = ledger.page(after.map(id), limit).unwrap();
        let expected: Vec<_> = expected.iter().map(|turn| settled(*turn)).collect();
        assert_eq!(page, expected, "after {after:?}, at most {limit}");
    };
    check(None, 0, &[]);
    check(None, 2, &[3, 1]);
    check(None, usize::MAX, &[3, 1, 2]);
    check(Some(3), 1, &[1]);
    check(Some(1), 9, &[2]);
    check(Some(2), 9, &[]);
    for unknown in [4, 5] {
        let page = ledger.page(Some(id(unknown)), 1);
        assert!(matches!(page, Err(FileError::UnknownPosition)), "{unknown}");
    }
}

#[test]
fn what_follows_a_lost_opening_still_counts() {
    let ledger = ledger([note(1, 0), settle(1), note(2, 0)]);
    assert_eq!(ledger.settled().collect::<Vec<_>>(), [&settled(1)]);
    assert_eq!(ledger.open_turns().count(), 0, "a turn without its opening cannot be offered");
    assert_eq!(verdict(&ledger, &settle(2)), "new", "whoever has the receipt may settle it");
}

#[test]
fn a_contradiction_changes_nothing() {
    let mut ledger = ledger([open(1), settle(1)]);
    let other = UsageReceipt { cost_nano_usd: None, ..settled(1) };
    assert!(ledger.apply(record(Change::Settled { receipt: other })).is_err());
    assert!(ledger.apply(record(note(1, 0))).is_err());
    assert_eq!(ledger.settled().collect::<Vec<_>>(), [&settled(1)]);
}

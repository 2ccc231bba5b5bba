//! Decides whether processes that share a folder leave each other's turns alone, and lose nothing
//! when they write at the same time.

use std::collections::BTreeMap;

use runtime_ports::{PortFailureKind, ReceiptStore, UsageReceipt};

use super::{
    children::{APPENDED_TURNS, Child, OWNED_TURNS, Role},
    sample::{bytes, empty_folder, id, meter, opened, operation, settled, store},
};
use crate::record::Record;

fn left_open(turn: u64) -> UsageReceipt {
    UsageReceipt { requests: vec![meter(turn)], ..opened(turn) }
}

#[tokio::test]
async fn turns_of_a_living_process_are_left_alone_until_it_is_killed() {
    let folder = empty_folder();
    let mut owner = Child::start(Role::Owns, folder.path(), 1);
    assert_eq!(owner.said().as_deref(), Some("ready"));
    let store = store(folder.path());

    assert_eq!(store.unsettled(&operation()).await.unwrap(), []);
    let settling = store.settle(&operation(), settled(1)).await.unwrap_err();
    assert_eq!((settling.kind, &*settling.code), (PortFailureKind::Conflict, "TURN_OWNED"));
    let noting = store.note_request(&operation(), id(1), 1, meter(0)).await.unwrap_err();
    assert_eq!((noting.kind, &*noting.code), (PortFailureKind::Conflict, "TURN_OWNED"));
    assert_eq!(store.unsettled(&operation()).await.unwrap(), []);

    owner.kill();
    let expected: Vec<_> = (1..=OWNED_TURNS).map(left_open).collect();
    assert_eq!(store.unsettled(&operation()).await.unwrap(), expected);
    for receipt in &expected {
        store.settle(&operation(), receipt.clone()).await.unwrap();
    }
    assert_eq!(store.unsettled(&operation()).await.unwrap(), []);
    assert_eq!(store.list(&operation(), None, 100).await.unwrap(), expected);
}

#[tokio::test]
async fn turns_of_a_process_that_ended_in_good_order_are_offered_too() {
    let folder = empty_folder();
    let mut owner = Child::start(Role::Owns, folder.path(), 1);
    assert_eq!(owner.said().as_deref(), Some("ready"));
    owner.tell("end");
    assert_eq!(owner.said(), None);
    let store = store(folder.path());
    assert_eq!(store.unsettled(&operation()).await.unwrap().len() as u64, OWNED_TURNS);
}

#[tokio::test]
async fn two_processes_that_append_at_once_lose_and_tear_nothing() {
    let folder = empty_folder();
    let mut writers = [1, 10_001].map(|first| Child::start(Role::Appends, folder.path(), first));
    for writer in &mut writers {
        assert_eq!(writer.said().as_deref(), Some("done"));
    }
    let bytes = bytes(folder.path());
    let lines: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    assert_eq!(lines.len() as u64, 4 * APPENDED_TURNS);
    assert!(lines.iter().all(|line| Record::from_line(line.trim_ascii_end()).is_ok()));

    let store = store(folder.path());
    assert_eq!(store.damage(), []);
    let mut settled_ones = store.list(&operation(), None, usize::MAX).await.unwrap();
    settled_ones.sort_by_key(|receipt| receipt.operation_id);
    let turns = (1..=APPENDED_TURNS).chain(10_001..=10_000 + APPENDED_TURNS);
    assert_eq!(settled_ones, turns.map(settled).collect::<Vec<_>>());
}

#[test]
fn two_processes_that_recover_at_once_settle_each_turn_once() {
    for round in 0..4 {
        let folder = empty_folder();
        let mut owner = Child::start(Role::Owns, folder.path(), 1);
        assert_eq!(owner.said().as_deref(), Some("ready"));
        owner.kill();
        let mut both = [1, 2].map(|who| Child::start(Role::Recovers, folder.path(), who));
        for child in &mut both {
            assert_eq!(child.said(), Some(format!("found {OWNED_TURNS}")), "round {round}");
        }
        both.iter_mut().for_each(|child| child.tell("go"));
        let mut outcomes: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for line in both.iter_mut().flat_map(Child::said_to_the_end) {
            let (outcome, turn) = line.split_once(' ').expect("an outcome and a turn");
            outcomes.entry(turn.to_owned()).or_default().push(outcome.to_owned());
        }
        assert_eq!(outcomes.len() as u64, OWNED_TURNS);
        for (turn, mut outcome) in outcomes {
            outcome.sort();
            assert_eq!(outcome, ["RECEIPT_CONFLICT", "settled"], "turn {turn}, round {round}");
        }
    }
}

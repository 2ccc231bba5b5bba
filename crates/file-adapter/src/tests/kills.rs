//! Decides whether everything that was acknowledged survives a process that is killed at any time.
//!
//! A kill keeps what the kernel holds in memory, so this says nothing about a loss of power.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Duration,
};

use runtime_ports::{ReceiptStore, UsageReceipt};
use uuid::Uuid;

use super::{
    children::{Child, Role, large},
    sample::{bytes, empty_folder, id, meter, opened, operation, store},
};
use crate::record::{Change, Record};

const FOLDERS: u64 = 5;
const KILLS: u64 = 12;
const LONGEST_LIFE_MS: u64 = 100;

#[tokio::test]
async fn what_was_acknowledged_survives_kills_at_any_time() {
    let mut acknowledged = 0;
    for _ in 0..FOLDERS {
        let folder = empty_folder();
        for round in 1..=KILLS {
            let said = live_and_die(folder.path(), round);
            acknowledged += said.len();
            check_after_kill(folder.path(), round, &said).await;
        }
        check_nothing_is_doubled(&bytes(folder.path()));
    }
    assert!(acknowledged > 100, "only {acknowledged} records were acknowledged; the test is void");
}

/// What a child said that was killed sooner or later.
fn live_and_die(folder: &Path, round: u64) -> Vec<String> {
    let mut child = Child::start(Role::Loops, folder, round * 100_000);
    // Every other child is killed at its work, the others also while they open the store.
    let first = if round.is_multiple_of(2) { child.said() } else { None };
    let life = u64::from(Uuid::new_v4().as_fields().0) % LONGEST_LIFE_MS;
    std::thread::sleep(Duration::from_millis(life));
    child.kill();
    first.into_iter().chain(child.said_to_the_end()).collect()
}

/// Checks what the killed child said, then settles what it left open.
async fn check_after_kill(folder: &Path, round: u64, said: &[String]) {
    let store = store(folder);
    let open = store.unsettled(&operation()).await.unwrap();
    let open: BTreeMap<_, _> =
        open.into_iter().map(|receipt| (receipt.operation_id, receipt)).collect();
    let settled = store.list(&operation(), None, usize::MAX).await.unwrap();
    let settled: BTreeMap<_, _> =
        settled.iter().map(|receipt| (receipt.operation_id, receipt)).collect();
    for line in said {
        let (what, turn) = line.split_once(' ').expect("a step and a turn");
        let turn = turn.parse().expect("a number");
        let (left, done) = (open.get(&id(turn)), settled.get(&id(turn)));
        assert!(left.is_some() != done.is_some(), "{line}: open or settled, in round {round}");
        match (what, left) {
            ("settled", _) => assert_eq!(done, Some(&&large(turn)), "{line}, in round {round}"),
            ("noted", Some(left)) => {
                let expected = UsageReceipt { requests: vec![meter(turn)], ..opened(turn) };
                assert_eq!(*left, expected, "{line}, in round {round}");
            }
            _ => {}
        }
    }
    for receipt in open.into_values() {
        store.settle(&operation(), receipt).await.unwrap();
    }
    assert_eq!(store.unsettled(&operation()).await.unwrap(), [], "in round {round}");
}

fn check_nothing_is_doubled(bytes: &[u8]) {
    let mut seen = BTreeSet::new();
    let mut torn = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match Record::from_line(line.trim_ascii_end()).map(|record| record.change) {
            Ok(Change::Opened { receipt }) => {
                assert!(seen.insert((receipt.operation_id, "opened")))
            }
            Ok(Change::Noted { turn, .. }) => assert!(seen.insert((turn, "noted"))),
            Ok(Change::Settled { receipt }) => {
                assert!(seen.insert((receipt.operation_id, "settled")))
            }
            Err(_) => torn += 1,
        }
    }
    let count = |what| seen.iter().filter(|(_, change)| *change == what).count();
    assert_eq!(count("opened"), count("settled"), "each turn was opened once and settled once");
    assert!(torn <= KILLS, "a kill tears one line at most, and {torn} are torn");
    println!("{} records, {torn} torn lines", seen.len());
}

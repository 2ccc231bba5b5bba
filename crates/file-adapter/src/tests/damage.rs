//! Decides whether damage costs the lines that it hit, and nothing else.

use proptest::prelude::*;
use runtime_ports::{CommitDisposition, PortFailureKind, ReceiptStore, UsageReceipt};
use tempfile::TempDir;

use super::sample::{
    bytes, empty_folder, line, meter, note, open, opened, operation, put_bytes, record, settle,
    settled, store,
};
use crate::{Damage, FileReceiptStore, ledger::Ledger, record::Change};

fn script() -> Vec<Change> {
    let turns = |turn| [open(turn), note(turn, 0), note(turn, 1), settle(turn)];
    let mut script: Vec<_> = [1, 2, 3].into_iter().flat_map(turns).collect();
    script.extend([open(4), note(4, 0), open(5)]);
    script
}

fn folder_with(bytes: impl AsRef<[u8]>) -> TempDir {
    let folder = empty_folder();
    put_bytes(folder.path(), bytes);
    folder
}

/// Receipts that are open, and settled.
type Contents = (Vec<UsageReceipt>, Vec<UsageReceipt>);

fn contents(store: &FileReceiptStore) -> Contents {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let open = store.unsettled(&operation()).await.unwrap();
        (open, store.list(&operation(), None, usize::MAX).await.unwrap())
    })
}

/// What the script leaves behind without the line at this index, which may be beyond the end.
fn contents_without(index: usize) -> Contents {
    let mut ledger = Ledger::default();
    for (at, change) in script().into_iter().enumerate() {
        if at != index {
            ledger.apply(record(change)).expect("the script is in order");
        }
    }
    let open = ledger.open_turns().map(|(_, receipt)| receipt).collect();
    (open, ledger.settled().cloned().collect())
}

/// Appends a turn, and opens the folder again: the turn is there, all else is as before.
fn check_append(folder: &TempDir, store: FileReceiptStore, (open, mut settled_ones): Contents) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        store.open(&operation(), opened(99)).await.unwrap();
        store.settle(&operation(), settled(99)).await.unwrap();
    });
    let damage: Vec<_> = store.damage().into_iter().map(|damage| damage.line).collect();
    drop(store);
    settled_ones.push(settled(99));
    let again = self::store(folder.path());
    assert_eq!(contents(&again), (open, settled_ones));
    let damage_again: Vec<_> = again.damage().into_iter().map(|damage| damage.line).collect();
    assert_eq!(damage_again, damage, "appending damages nothing");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn a_flipped_bit_costs_one_record(position in any::<prop::sample::Index>(), bit in 0u8..8) {
        let lines: Vec<_> = script().into_iter().map(line).collect();
        let mut bytes = lines.concat().into_bytes();
        let at = position.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let mut end = 0;
        let hit = lines.iter().position(|line| { end += line.len(); at < end }).unwrap();

        let folder = folder_with(bytes);
        let store = store(folder.path());
        prop_assert_eq!(store.damage()[0].line, hit as u64 + 1);
        prop_assert_eq!(contents(&store), contents_without(hit));
        check_append(&folder, store, contents_without(hit));
    }

    #[test]
    fn a_file_that_ends_anywhere_keeps_its_whole_lines(position in any::<prop::sample::Index>()) {
        let lines: Vec<_> = script().into_iter().map(line).collect();
        let bytes = lines.concat().into_bytes();
        let at = position.index(bytes.len());
        let whole = bytes[..at].iter().filter(|byte| **byte == b'\n').count();
        let is_torn = at > 0 && bytes[at - 1] != b'\n';

        let folder = folder_with(&bytes[..at]);
        let store = store(folder.path());
        let torn = Damage { line: whole as u64 + 1, reason: "the last line has no end" };
        prop_assert_eq!(store.damage(), if is_torn { vec![torn] } else { vec![] });
        let mut ledger = Ledger::default();
        for change in script().into_iter().take(whole) {
            ledger.apply(record(change)).expect("the script is in order");
        }
        let open = ledger.open_turns().map(|(_, receipt)| receipt).collect();
        let expected = (open, ledger.settled().cloned().collect());
        prop_assert_eq!(&contents(&store), &expected);
        check_append(&folder, store, expected);
    }
}

#[test]
fn a_record_without_its_line_feed_never_counts() {
    let torn = line(settle(1)).trim_end().to_owned();
    let folder = folder_with(line(open(1)) + &torn);
    let store = store(folder.path());
    let expected = (vec![opened(1)], vec![]);
    assert_eq!(contents(&store), expected);
    check_append(&folder, store, expected);
}

#[test]
fn strange_tails_and_lines_are_skipped() {
    let check = |between: &[u8], damaged_lines: &[u64]| {
        let bytes = [line(open(1)).as_bytes(), between, line(settle(1)).as_bytes()].concat();
        let folder = folder_with(bytes);
        let store = store(folder.path());
        let damage: Vec<_> = store.damage().iter().map(|damage| damage.line).collect();
        assert_eq!(damage, damaged_lines);
        assert_eq!(contents(&store), (vec![], vec![settled(1)]));
    };
    check(b"", &[]);
    check(b"\n", &[2]);
    check(b"\n\n\r\n", &[2, 3, 4]);
    check(&[vec![0; 9_000], b"\n".to_vec()].concat(), &[2]);
    check(&[0; 9_000], &[2]);
    check(b"\xff\xfe\n{}\n", &[2, 3]);
    check(&[vec![b'['; 1 << 20], b"\n".to_vec()].concat(), &[2]);
    check(&[vec![b'x'; 17 << 20], b"\n".to_vec()].concat(), &[2]);
}

#[test]
fn what_contradicts_is_skipped_and_what_is_repeated_is_no_damage() {
    let other = Change::Settled { receipt: UsageReceipt { cost_nano_usd: None, ..settled(1) } };
    let lines = [open(1), open(1), settle(1), other, settle(1), note(1, 3)].map(line).concat();
    let folder = folder_with(lines);
    let store = store(folder.path());
    let reason = "the record contradicts those before it";
    assert_eq!(store.damage(), [Damage { line: 4, reason }, Damage { line: 6, reason }]);
    assert_eq!(contents(&store), (vec![], vec![settled(1)]));
}

#[test]
fn damage_is_listed_up_to_a_bound() {
    let folder = folder_with("?\n".repeat(5_000) + &line(open(1)));
    let store = store(folder.path());
    assert_eq!(store.damage().len(), 1_000);
    assert_eq!(contents(&store).0, [opened(1)]);
}

#[tokio::test]
async fn records_of_a_newer_release_stop_a_store_without_harm() {
    let newer = UsageReceipt { version: UsageReceipt::VERSION + 1, ..settled(1) };
    let json = serde_json::to_string(&record(Change::Settled { receipt: newer })).unwrap();
    let check = runtime_ports::Digest::of(json.as_bytes()).to_string();
    let newer = format!("{{\"check\":\"{}\",\"record\":{json}}}\n", &check[..16]);

    let folder = folder_with(line(open(1)) + &newer);
    let refusal = FileReceiptStore::open(folder.path()).unwrap_err();
    assert_eq!((&*refusal.code, refusal.kind), ("NEWER_VERSION", PortFailureKind::Invalid));
    assert_eq!(bytes(folder.path()), (line(open(1)) + &newer).into_bytes());

    put_bytes(folder.path(), line(open(1)));
    let store = store(folder.path());
    put_bytes(folder.path(), line(open(1)) + &newer);
    for _ in 0..2 {
        let refusal = store.settle(&operation(), settled(1)).await.unwrap_err();
        let expected = ("NEWER_VERSION", CommitDisposition::NotCommitted);
        assert_eq!((&*refusal.code, refusal.commit), expected);
        assert_eq!(store.list(&operation(), None, 9).await.unwrap_err().code, "NEWER_VERSION");
    }
    assert_eq!(bytes(folder.path()), (line(open(1)) + &newer).into_bytes());
}

#[tokio::test]
async fn a_lost_opening_is_no_loss_of_its_receipt() {
    let folder = folder_with(line(note(1, 0)) + &line(settle(1)) + &line(note(2, 0)));
    let store = store(folder.path());
    assert_eq!(store.damage(), []);
    assert_eq!(store.list(&operation(), None, 9).await.unwrap(), [settled(1)]);
    store.note_request(&operation(), super::sample::id(2), 0, meter(0)).await.unwrap();
    store.settle(&operation(), settled(2)).await.unwrap();
}

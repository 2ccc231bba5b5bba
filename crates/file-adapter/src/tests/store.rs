//! Decides whether one process, through one handle or several, keeps the promises of the port.

use std::{
    fs::{self, File},
    path::Path,
    time::{Duration, Instant},
};

use runtime_ports::{
    CommitDisposition, Metering, PortFailure, PortFailureKind, ReceiptStore, RequestMeter,
    UsageReceipt, UsageTotal, UtcDay,
};

use super::sample::{
    self, bytes, empty_folder, id, line, make_folder, meter, open, opened, operation, operation_of,
    put_bytes, settled, store,
};
use crate::FileReceiptStore;

fn seen(failure: &PortFailure) -> (&str, PortFailureKind, CommitDisposition) {
    (&failure.code, failure.kind, failure.commit)
}

fn owner_files(folder: &Path) -> usize {
    fs::read_dir(folder.join("owners")).unwrap().count()
}

#[tokio::test]
async fn a_turn_is_opened_noted_and_settled_and_all_of_it_is_there_again() {
    let folder = empty_folder();
    let path = folder.path().join("made/on/the/way");
    let first = store(&path);
    for _ in 0..2 {
        first.open(&operation(), opened(1)).await.unwrap();
        first.note_request(&operation(), id(1), 0, meter(1)).await.unwrap();
        first.settle(&operation(), settled(1)).await.unwrap();
    }
    first.open(&operation(), opened(2)).await.unwrap();
    first.note_request(&operation(), id(2), 4, meter(4)).await.unwrap();
    first.note_request(&operation(), id(2), 3, meter(3)).await.unwrap();
    assert_eq!(bytes(&path).iter().filter(|byte| **byte == b'\n').count(), 6);
    assert_eq!(first.unsettled(&operation()).await.unwrap(), []);
    drop(first);

    let second = store(&path);
    assert_eq!(second.list(&operation(), None, 9).await.unwrap(), [settled(1)]);
    let left = UsageReceipt { requests: vec![meter(3), meter(4)], ..opened(2) };
    assert_eq!(second.unsettled(&operation()).await.unwrap(), [left]);
}

#[tokio::test]
async fn refusals_are_not_committed_and_change_nothing() {
    let folder = empty_folder();
    let store = store(folder.path());
    store.open(&operation(), opened(1)).await.unwrap();
    store.note_request(&operation(), id(1), 0, meter(1)).await.unwrap();
    let before = bytes(folder.path());
    let eve = UsageReceipt { user_id: "eve".into(), ..opened(1) };
    let endless = RequestMeter { metering: Metering::DurationSeconds(f64::NAN), ..meter(1) };
    let check = |refused: Result<(), PortFailure>, code, kind| {
        let failure = refused.unwrap_err();
        assert_eq!(seen(&failure), (code, kind, CommitDisposition::NotCommitted));
    };
    use PortFailureKind as Kind;
    check(store.open(&operation(), eve).await, "RECEIPT_CONFLICT", Kind::Conflict);
    let note = store.note_request(&operation(), id(1), 0, meter(2)).await;
    check(note, "RECEIPT_CONFLICT", Kind::Conflict);
    let note = store.note_request(&operation(), id(1), 1, endless).await;
    check(note, "NOT_STORABLE", Kind::Invalid);
    let note = store.note_request(&operation(), id(2), 0, meter(2)).await;
    check(note, "UNKNOWN_TURN", Kind::NotFound);
    check(store.settle(&operation(), settled(2)).await, "UNKNOWN_TURN", Kind::NotFound);
    let page = store.list(&operation(), Some(id(1)), 9).await.unwrap_err();
    assert_eq!((&*page.code, page.kind), ("UNKNOWN_POSITION", Kind::NotFound));
    assert_eq!(bytes(folder.path()), before);
}

#[tokio::test]
async fn two_handles_that_were_opened_apart_are_two_owners() {
    let folder = empty_folder();
    let (first, second) = (store(folder.path()), store(folder.path()));
    let copy = first.clone();
    first.open(&operation(), opened(1)).await.unwrap();
    assert_eq!(second.unsettled(&operation()).await.unwrap(), []);
    let refusal = second.settle(&operation(), settled(1)).await.unwrap_err();
    assert_eq!(refusal.code, "TURN_OWNED");
    second.open(&operation(), opened(1)).await.expect("the same value again changes nothing");

    drop(first);
    assert_eq!(second.unsettled(&operation()).await.unwrap(), [], "a clone is still there");
    drop(copy);
    assert_eq!(second.unsettled(&operation()).await.unwrap(), [opened(1)]);
    second.settle(&operation(), settled(1)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_tasks_share_a_handle() {
    let folder = empty_folder();
    let store = store(folder.path());
    let mut tasks = tokio::task::JoinSet::new();
    for turn in 1..=20 {
        let store = store.clone();
        tasks.spawn(async move {
            store.open(&operation(), opened(turn)).await.unwrap();
            store.settle(&operation(), settled(turn)).await.unwrap();
        });
    }
    tasks.join_all().await;
    let mut settled_ones = store.list(&operation(), None, 99).await.unwrap();
    settled_ones.sort_by_key(|receipt| receipt.operation_id);
    assert_eq!(settled_ones, (1..=20).map(settled).collect::<Vec<_>>());
}

#[tokio::test]
async fn who_waits_for_a_locked_file_gives_up_in_time_and_has_done_nothing() {
    let folder = empty_folder();
    let store = store(folder.path());
    store.open(&operation(), opened(1)).await.unwrap();
    let before = bytes(folder.path());
    let hanging = File::open(folder.path().join("receipts.jsonl")).unwrap();
    hanging.lock().unwrap();
    let started = Instant::now();
    let short = operation_of(Duration::from_millis(100));
    let canceled = operation();
    canceled.cancellation.cancel();
    let (late, second) = (store.settle(&short, settled(1)), store.unsettled(&short));
    let (late, second) = tokio::join!(late, second);
    let stopped = store.settle(&canceled, settled(1)).await;
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    let timeout = ("DEADLINE_EXCEEDED", PortFailureKind::Timeout, CommitDisposition::NotCommitted);
    assert_eq!(seen(&late.unwrap_err()), timeout);
    assert_eq!(seen(&second.unwrap_err()), timeout);
    assert_eq!(stopped.unwrap_err().kind, PortFailureKind::Canceled);

    hanging.unlock().unwrap();
    assert_eq!(store.list(&operation(), None, 9).await.unwrap(), []);
    assert_eq!(bytes(folder.path()), before, "what was given up is not written later");
    store.settle(&operation(), settled(1)).await.unwrap();
}

#[tokio::test]
async fn a_file_that_is_taken_away_is_noticed_before_anything_is_acknowledged() {
    let removed = |path: &Path| fs::remove_file(path).unwrap();
    let replaced = |path: &Path| {
        let copy = path.with_extension("copy");
        fs::copy(path, &copy).unwrap();
        fs::rename(copy, path).unwrap();
    };
    let cut = |path: &Path| File::options().write(true).open(path).unwrap().set_len(9).unwrap();
    for take_away in [removed as fn(&Path), replaced, cut] {
        let folder = empty_folder();
        let store = store(folder.path());
        store.open(&operation(), opened(1)).await.unwrap();
        take_away(&folder.path().join("receipts.jsonl"));
        let failure = store.settle(&operation(), settled(1)).await.unwrap_err();
        let expected = ("STORE_REPLACED", PortFailureKind::Unavailable);
        assert_eq!(seen(&failure), (expected.0, expected.1, CommitDisposition::NotCommitted));
        assert_eq!(store.unsettled(&operation()).await.unwrap_err().code, "STORE_REPLACED");
    }
}

#[tokio::test]
async fn opening_sweeps_the_locks_of_dead_owners_and_no_others() {
    let folder = empty_folder();
    let living = store(folder.path());
    living.open(&operation(), opened(1)).await.unwrap();
    let owners = folder.path().join("owners");
    for dead in 1..=3 {
        sample::write(&owners.join(format!("{}.lock", id(dead))), "");
    }
    sample::write(&owners.join("notes.txt"), "mine");
    assert_eq!(owner_files(folder.path()), 5);
    let second = store(folder.path());
    assert_eq!(owner_files(folder.path()), 3, "two living owners and a file of somebody else");
    assert_eq!(second.unsettled(&operation()).await.unwrap(), []);
    drop((living, second));
    assert_eq!(owner_files(folder.path()), 1);
    assert_eq!(store(folder.path()).unsettled(&operation()).await.unwrap(), [opened(1)]);
}

#[tokio::test]
async fn who_asks_for_a_dead_owner_is_not_taken_for_it() {
    let folder = empty_folder();
    put_bytes(folder.path(), line(open(1)));
    make_folder(&folder.path().join("owners"));
    let lock = folder.path().join(format!("owners/{}.lock", id(77)));
    sample::write(&lock, "");
    let asking = File::open(&lock).unwrap();
    asking.lock_shared().unwrap();
    let store = store(folder.path());
    assert_eq!(store.unsettled(&operation()).await.unwrap(), [opened(1)]);
}

#[test]
fn opening_and_closing_at_once_never_takes_a_living_owner_for_a_dead_one() {
    let folder = empty_folder();
    let check_for_a_while = || {
        for _ in 0..40 {
            let store = store(folder.path());
            assert!(store.owns_its_lock(), "a living owner was swept");
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(check_for_a_while);
        }
    });
    assert_eq!(owner_files(folder.path()), 0);
}

#[tokio::test]
async fn totals_count_the_settled_turns_of_a_day() {
    let folder = empty_folder();
    let store = store(folder.path());
    let day_ms = 86_400_000;
    let next_day = |receipt: UsageReceipt| UsageReceipt {
        started_at_ms: receipt.started_at_ms + day_ms,
        ..receipt
    };
    for turn in 1..=4 {
        store.open(&operation(), opened(turn)).await.unwrap();
    }
    let unknown = UsageReceipt { cost_nano_usd: None, ..settled(2) };
    for receipt in [settled(1), unknown, next_day(settled(3))] {
        store.settle(&operation(), receipt).await.unwrap();
    }
    let day = |receipt: UsageReceipt| UtcDay::from_unix_ms(receipt.started_at_ms);
    let totals = store.totals(&operation(), day(settled(1))).await.unwrap();
    let [total] = totals.as_slice() else { panic!("one user and one model: {totals:?}") };
    assert_eq!((total.turns, total.input_tokens.at_least), (2, 3));
    assert_eq!(total.cost_nano_usd, UsageTotal { at_least: 3, complete: false });
    let totals = store.totals(&operation(), day(next_day(settled(3)))).await.unwrap();
    assert_eq!(totals.iter().map(|total| total.turns).collect::<Vec<_>>(), [1]);
    assert_eq!(store.totals(&operation(), UtcDay::from_unix_ms(0)).await.unwrap(), []);
}

#[test]
fn a_handle_may_be_dropped_without_a_runtime() {
    let folder = empty_folder();
    drop(FileReceiptStore::open(folder.path()).unwrap());
    assert_eq!(owner_files(folder.path()), 0);
}

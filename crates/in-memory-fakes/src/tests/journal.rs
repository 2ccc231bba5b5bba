//! Decides whether only the living holder of the newest fence adds records, without a gap.

use std::time::Duration;

use runtime_ports::{
    ExecutionJournal, FencingToken, JournalRecord, JournalRecordKind as Kind, PortFailure,
    PortFailureKind,
};

use super::{kind_of, operation, run, verdict};
use crate::FakeJournal;

const TTL: Duration = Duration::from_secs(10);

fn record(sequence: u64, kind: Kind) -> JournalRecord {
    JournalRecord { sequence, at_ms: 1, kind, payload: sequence.into() }
}

async fn acquire(journal: &FakeJournal, holder: &str) -> Result<FencingToken, PortFailure> {
    journal.acquire(&operation("op"), &run("run-1"), holder, TTL).await
}

async fn append(
    journal: &FakeJournal,
    fence: FencingToken,
    expected: u64,
    records: &[JournalRecord],
) -> Result<(), PortFailure> {
    journal.append(&operation("op"), &run("run-1"), fence, expected, records).await
}

#[tokio::test]
async fn records_are_appended_whole_or_not_at_all_and_read_in_pages() {
    let journal = FakeJournal::new();
    let fence = acquire(&journal, "a").await.unwrap();
    let [zero, one, two] = [0, 1, 2].map(|sequence| record(sequence, Kind::Input));
    append(&journal, fence, 0, &[zero.clone(), one.clone()]).await.unwrap();
    append(&journal, fence, 2, &[]).await.unwrap();
    let refused: [(u64, &[JournalRecord], &str); 4] = [
        (0, std::slice::from_ref(&zero), "JOURNAL_MOVED"),
        (3, &[record(3, Kind::Input)], "JOURNAL_MOVED"),
        (2, &[two.clone(), record(4, Kind::Input)], "JOURNAL_GAP"),
        (2, std::slice::from_ref(&one), "JOURNAL_GAP"),
    ];
    for (expected, records, code) in refused {
        let failure = append(&journal, fence, expected, records).await.unwrap_err();
        assert_eq!((failure.kind, failure.code.as_str()), (PortFailureKind::Conflict, code));
    }
    append(&journal, fence, 2, std::slice::from_ref(&two)).await.unwrap();
    assert_eq!(journal.records(&run("run-1")), [zero, one.clone(), two.clone()]);
    let page = journal.read(&operation("op"), &run("run-1"), 1, 5).await.unwrap();
    assert_eq!(page, [one.clone(), two]);
    let page = journal.read(&operation("op"), &run("run-1"), 1, 1).await.unwrap();
    assert_eq!(page, [one]);
    let none = journal.read(&operation("op"), &run("other"), 0, 9).await;
    assert_eq!(none, Ok(Vec::new()));
}

#[tokio::test]
async fn nothing_follows_a_terminal_record() {
    let journal = FakeJournal::new();
    let fence = acquire(&journal, "a").await.unwrap();
    let end = record(0, Kind::Terminal);
    let beyond = [end.clone(), record(1, Kind::Input)];
    assert_eq!(verdict(append(&journal, fence, 0, &beyond).await).0, "JOURNAL_TERMINATED");
    append(&journal, fence, 0, &[end]).await.unwrap();
    append(&journal, fence, 1, &[]).await.unwrap();
    let more = append(&journal, fence, 1, &[record(1, Kind::Input)]).await;
    assert_eq!(verdict(more).0, "JOURNAL_TERMINATED");
}

#[tokio::test(start_paused = true)]
async fn a_lease_keeps_others_out_until_it_lapses() {
    let journal = FakeJournal::new();
    let first = acquire(&journal, "a").await.unwrap();
    assert_eq!(kind_of(acquire(&journal, "b").await), PortFailureKind::Conflict);
    tokio::time::advance(TTL - Duration::from_millis(1)).await;
    journal.renew(&operation("op"), &run("run-1"), first, TTL).await.unwrap();
    tokio::time::advance(TTL - Duration::from_millis(1)).await;
    assert_eq!(kind_of(acquire(&journal, "b").await), PortFailureKind::Conflict);
    append(&journal, first, 0, &[record(0, Kind::Intent)]).await.unwrap();
    tokio::time::advance(Duration::from_millis(1)).await;

    let lapsed = append(&journal, first, 1, &[record(1, Kind::Outcome)]).await;
    assert_eq!(kind_of(lapsed), PortFailureKind::Conflict);
    let second = acquire(&journal, "b").await.unwrap();
    assert!(second > first);
    for stale in [
        append(&journal, first, 1, &[record(1, Kind::Outcome)]).await,
        journal.renew(&operation("op"), &run("run-1"), first, TTL).await,
    ] {
        assert_eq!(kind_of(stale), PortFailureKind::Conflict);
    }
    append(&journal, second, 1, &[record(1, Kind::Outcome)]).await.unwrap();
}

#[tokio::test]
async fn releasing_twice_is_ok_and_a_stale_release_frees_nothing() {
    let journal = FakeJournal::new();
    let release = async |fence| {
        journal.release(&operation("op"), &run("run-1"), fence).await.unwrap();
    };
    let first = acquire(&journal, "a").await.unwrap();
    release(first).await;
    release(first).await;
    let second = acquire(&journal, "b").await.unwrap();
    release(first).await;
    assert_eq!(kind_of(acquire(&journal, "c").await), PortFailureKind::Conflict);
    assert!(second > first);
    let again = acquire(&journal, "b").await.unwrap();
    assert!(again > second);
    assert_eq!(kind_of(append(&journal, second, 0, &[]).await), PortFailureKind::Conflict);
}

#[tokio::test]
async fn a_lease_may_be_longer_than_the_clock() {
    let journal = FakeJournal::new();
    let ttl = Duration::MAX;
    let fence = journal.acquire(&operation("op"), &run("run-1"), "a", ttl).await.unwrap();
    append(&journal, fence, 0, &[record(0, Kind::Input)]).await.unwrap();
}

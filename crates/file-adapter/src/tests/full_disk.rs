//! Decides what becomes of records when the disk is full or fails.

use runtime_ports::{CommitDisposition, PortFailureKind, ReceiptStore};

use super::{
    children::{Child, Role, large},
    sample::{empty_folder, opened, operation, settled, store},
};

const IGNORING_THE_SIGNAL: &[&str] = &["sh", "-c", "trap '' XFSZ; exec \"$0\" \"$@\""];

#[tokio::test]
async fn a_record_without_room_is_taken_back_and_may_be_tried_again() {
    let folder = empty_folder();
    let mut child = Child::start_through(IGNORING_THE_SIGNAL, Role::Limited, folder.path(), 0);
    let full = "FILE_FULL NotCommitted true";
    assert_eq!(child.said_to_the_end(), [full, full, "ok", "ok"]);
    let store = store(folder.path());
    assert_eq!(store.damage(), []);
    assert_eq!(store.list(&operation(), None, 9).await.unwrap(), [settled(2), large(1)]);
}

#[test]
fn a_full_disk_refuses_new_turns_and_has_room_for_the_receipts_of_open_ones() {
    let folder = empty_folder();
    let mount = format!(
        "mount -t tmpfs -o size=1m none '{}' && exec \"$0\" \"$@\"",
        folder.path().display()
    );
    let wrapper = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", &mount];
    let mut child = Child::start_through(&wrapper, Role::Fills, folder.path(), 0);
    let Some(first) = child.said() else {
        println!("skipped: this machine lets nobody mount");
        return;
    };
    assert_eq!(first, "mounted");
    assert_eq!(child.said().as_deref(), Some("FILE_FULL NotCommitted true"));
    assert_eq!(child.said().as_deref(), Some("ok"), "open turns are settled on the full disk");
    let summary = child.said().expect("it looks at what it did");
    let turns: u64 = summary.split_once(' ').expect("a number first").0.parse().unwrap();
    assert!(turns > 2, "{summary}");
    assert_eq!(summary, format!("{turns} opened, {turns} settled, 0 damaged"));
}

#[tokio::test]
async fn after_a_failed_sync_a_store_records_no_more_until_it_is_opened_again() {
    let folder = empty_folder();
    let failing = store(folder.path());
    failing.open(&operation(), opened(1)).await.unwrap();
    failing.open(&operation(), opened(2)).await.unwrap();
    failing.set_sync_fails(true).await;
    let failure = failing.settle(&operation(), settled(1)).await.unwrap_err();
    assert_eq!((&*failure.code, failure.commit), ("FILE_SYNC", CommitDisposition::Unknown));

    failing.set_sync_fails(false).await;
    for turn in [1, 2] {
        let refusal = failing.settle(&operation(), settled(turn)).await.unwrap_err();
        let expected = ("STORE_POISONED", CommitDisposition::NotCommitted);
        assert_eq!((&*refusal.code, refusal.commit), expected);
        assert_eq!(refusal.kind, PortFailureKind::Unavailable);
    }
    assert_eq!(failing.list(&operation(), None, 9).await.unwrap(), [settled(1)]);

    drop(failing);
    let again = store(folder.path());
    again.settle(&operation(), settled(1)).await.unwrap();
    again.settle(&operation(), settled(2)).await.unwrap();
    assert_eq!(again.list(&operation(), None, 9).await.unwrap(), [settled(1), settled(2)]);
}

#[tokio::test]
async fn a_repeated_record_is_acknowledged_only_when_it_is_durable() {
    let folder = empty_folder();
    store(folder.path()).open(&operation(), opened(1)).await.unwrap();
    let failing = store(folder.path());
    failing.set_sync_fails(true).await;
    let failure = failing.open(&operation(), opened(1)).await.unwrap_err();
    assert_eq!((&*failure.code, failure.commit), ("FILE_SYNC", CommitDisposition::Unknown));
}

//! What an interrupted write leaves, and what writes at once leave.
//!
//! Knows nothing about locks.

use std::{sync::Arc, time::Duration};

use runtime_ports::{CommitDisposition, Interruption, PortFailureKind as Kind, UsageReceipt};
use tokio::{task::JoinSet, time::timeout};

use crate::{
    Proof,
    claim::{equal, failure, interrupted_operation, operation, success},
    receipts::{
        ReceiptHarness,
        sample::{completed, listed, meter, open, opened, record, settle},
    },
};

async fn writes_nothing(harness: &dyn ReceiptHarness, why: Interruption, kind: Kind) -> Proof {
    let staged = harness.stage().await?;
    let not_committed = CommitDisposition::NotCommitted;
    let (turn, kept) = (opened(), opened());
    let operation = || interrupted_operation(why);
    let opening = staged.store.open(&operation(), turn.clone()).await;
    failure("opening", opening, kind, not_committed)?;
    open(&staged.store, &UsageReceipt { user_id: "user-8".into(), ..turn }).await?;
    open(&staged.store, &kept).await?;
    let noting = meter("request-1", 10, 2);
    let noting = staged.store.note_request(&operation(), kept.operation_id, 0, noting).await;
    failure("noting", noting, kind, not_committed)?;
    let settling = staged.store.settle(&operation(), completed(&kept, 10, 2)).await;
    failure("settling", settling, kind, not_committed)?;
    let other = completed(&kept, 20, 2);
    settle(&staged.store, &other).await?;
    equal("the list", &listed(&staged.store).await?, &vec![other])
}

pub(crate) async fn a_cancelled_write_writes_nothing(harness: &dyn ReceiptHarness) -> Proof {
    writes_nothing(harness, Interruption::Canceled, Kind::Canceled).await
}

pub(crate) async fn a_late_write_writes_nothing(harness: &dyn ReceiptHarness) -> Proof {
    writes_nothing(harness, Interruption::DeadlineExceeded, Kind::Timeout).await
}

pub(crate) async fn an_interrupted_write_can_be_repeated(harness: &dyn ReceiptHarness) -> Proof {
    let staged = harness.stage().await?;
    let mut expected = Vec::new();
    for round in 0..12_u64 {
        let moment = Duration::from_micros(round * 40);
        let (turn, operation) = (opened(), operation());
        // A drop at any moment leaves the write whole or absent; nothing says which.
        let _ = timeout(moment, staged.store.open(&operation, turn.clone())).await;
        open(&staged.store, &turn).await?;
        let settled = completed(&turn, round, 1);
        let _ = timeout(moment, staged.store.settle(&operation, settled.clone())).await;
        settle(&staged.store, &settled).await?;
        expected.push(settled);
    }
    equal("the list", &listed(&staged.store).await?, &expected)
}

pub(crate) async fn writes_at_once_are_all_kept(harness: &dyn ReceiptHarness) -> Proof {
    let staged = harness.stage().await?;
    let mut expected: Vec<_> = (0..16).map(|tokens| completed(&opened(), tokens, 1)).collect();
    let mut writes = JoinSet::new();
    for receipt in expected.clone() {
        let store = Arc::clone(&staged.store);
        writes.spawn(async move { record(&store, &receipt).await });
    }
    for written in writes.join_all().await {
        success("one of sixteen writes", written)?;
    }
    let mut listed = listed(&staged.store).await?;
    listed.sort_by_key(|receipt| receipt.operation_id);
    expected.sort_by_key(|receipt| receipt.operation_id);
    equal("the list", &listed, &expected)
}

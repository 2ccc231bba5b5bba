//! What an interrupted call leaves of a file.
//!
//! Knows nothing about commands.

use std::time::Duration;

use runtime_ports::{CommitDisposition, Interruption, PortFailureKind as Kind};
use tokio::time::{sleep, timeout};

use crate::{
    Proof,
    claim::{claim, equal, failure, interrupted_operation, operation},
    workspace::{Layout, WorkspaceHarness},
};

async fn changes_nothing(harness: &dyn WorkspaceHarness, why: Interruption, kind: Kind) -> Proof {
    let staged = harness.stage(Layout::files(&[("a.txt", "old")])).await?;
    let (session, interrupted) = (&staged.session, interrupted_operation(why));
    let not_committed = CommitDisposition::NotCommitted;
    failure("reading", session.read(&interrupted, "a.txt").await, kind, not_committed)?;
    failure("listing", session.list(&interrupted, "").await, kind, not_committed)?;
    failure("searching", session.search(&interrupted, "", "o", 9).await, kind, not_committed)?;
    for path in ["a.txt", "new.txt", "new/new.txt"] {
        let written = session.write(&interrupted, path, b"new").await;
        failure("writing", written, kind, not_committed)?;
    }
    equal("the old file", &staged.world.inside("a.txt").as_deref(), &Some(&b"old"[..]))?;
    claim(staged.world.inside("new.txt").is_none(), || "a new file was made".into())
}

pub(crate) async fn a_cancelled_call_changes_nothing(harness: &dyn WorkspaceHarness) -> Proof {
    changes_nothing(harness, Interruption::Canceled, Kind::Canceled).await
}

pub(crate) async fn a_late_call_changes_nothing(harness: &dyn WorkspaceHarness) -> Proof {
    changes_nothing(harness, Interruption::DeadlineExceeded, Kind::Timeout).await
}

pub(crate) async fn an_interrupted_write_is_whole_or_absent(
    harness: &dyn WorkspaceHarness,
) -> Proof {
    let (old, new) = ("old".repeat(100_000), "newer".repeat(400_000));
    for round in 0..8_u64 {
        let staged = harness.stage(Layout::files(&[("a.txt", &old)])).await?;
        let operation = operation();
        let writing = staged.session.write(&operation, "a.txt", new.as_bytes());
        let dropped = timeout(Duration::from_micros(round * 150), writing).await.is_err();
        sleep(Duration::from_millis(20)).await;
        let left = staged.world.inside("a.txt").unwrap_or_default();
        let whole = left == new.as_bytes() || (dropped && left == old.as_bytes());
        claim(whole, || format!("{} bytes are left, dropped: {dropped}", left.len()))?;
    }
    Ok(())
}

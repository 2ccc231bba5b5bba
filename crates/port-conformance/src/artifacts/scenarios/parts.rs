//! Which bytes a range gives, and what is said of an artifact that is not there.
//!
//! Knows nothing about how an artifact came to be there.

use std::ops::Range;

use runtime_ports::{CommitDisposition, Digest, PortFailureKind as Kind};

use crate::{
    Proof,
    artifacts::{
        ArtifactHarness,
        sample::{LARGE, bytes, put, read, same},
    },
    claim::{failure, success},
};

/// Of the artifact `0123456789`, each range gives the text beside it.
async fn give(harness: &dyn ArtifactHarness, cases: &[(Range<u64>, &str)]) -> Proof {
    let staged = harness.stage().await?;
    let digest = put(&staged.store, b"0123456789").await?;
    for (range, expected) in cases {
        let what = format!("the part {range:?}");
        let part = success(&what, read(&staged.store, &digest, range.clone()).await)?;
        same(&what, &part, expected.as_bytes())?;
    }
    Ok(())
}

pub(crate) async fn a_part_is_counted_from_the_start(harness: &dyn ArtifactHarness) -> Proof {
    give(
        harness,
        &[(0..1, "0"), (0..4, "0123"), (3..7, "3456"), (9..10, "9"), (0..10, "0123456789")],
    )
    .await?;
    let staged = harness.stage().await?;
    let large = bytes(LARGE, 0);
    let digest = put(&staged.store, &large).await?;
    let (start, end) = (65_530_u64, 786_435_u64);
    let part = success("a large part", read(&staged.store, &digest, start..end).await)?;
    same("a large part", &part, &large[65_530..786_435])
}

pub(crate) async fn a_part_past_the_end_is_clipped(harness: &dyn ArtifactHarness) -> Proof {
    let far = u64::from(u32::MAX) + 1;
    give(
        harness,
        &[(8..11, "89"), (9..u64::MAX, "9"), (0..far, "0123456789"), (0..u64::MAX, "0123456789")],
    )
    .await
}

pub(crate) async fn a_part_beyond_the_end_is_empty(harness: &dyn ArtifactHarness) -> Proof {
    let far = u64::from(u32::MAX) + 1;
    give(harness, &[(10..11, ""), (11..20, ""), (far..far + 5, ""), (u64::MAX - 1..u64::MAX, "")])
        .await
}

pub(crate) async fn an_empty_part_is_empty(harness: &dyn ArtifactHarness) -> Proof {
    give(harness, &[(0..0, ""), (5..5, ""), (10..10, ""), (u64::MAX..u64::MAX, "")]).await?;
    #[expect(clippy::reversed_empty_ranges, reason = "whoever asks may be wrong")]
    let inverted = [(5..2, ""), (u64::MAX..0, ""), (20..3, "")];
    give(harness, &inverted).await
}

pub(crate) async fn pages_join_into_the_whole(harness: &dyn ArtifactHarness) -> Proof {
    let staged = harness.stage().await?;
    let whole = bytes(300_001, 0);
    let digest = put(&staged.store, &whole).await?;
    for size in [1_000_u64, 4_096, 65_537, 300_001, 1 << 40] {
        let (mut joined, mut offset) = (Vec::new(), 0_u64);
        loop {
            let range = offset..offset.saturating_add(size);
            let page = success("a page", read(&staged.store, &digest, range).await)?;
            if page.is_empty() {
                break;
            }
            offset += page.len() as u64;
            joined.extend(page);
        }
        same(&format!("what pages of {size} bytes join into"), &joined, &whole)?;
    }
    Ok(())
}

pub(crate) async fn an_unknown_digest_is_not_found(harness: &dyn ArtifactHarness) -> Proof {
    let staged = harness.stage().await?;
    let unknown = Digest::of(b"never put");
    for filling in [None, Some(b"something else")] {
        if let Some(bytes) = filling {
            put(&staged.store, bytes).await?;
        }
        for range in [0..1, 0..u64::MAX, 0..0] {
            let part = read(&staged.store, &unknown, range).await;
            let not_committed = CommitDisposition::NotCommitted;
            failure("reading what is not there", part, Kind::NotFound, not_committed)?;
        }
    }
    Ok(())
}

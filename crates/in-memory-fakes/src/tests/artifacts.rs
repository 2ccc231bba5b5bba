//! Decides whether artifacts come back by digest, in parts, and only when they were put.

use runtime_ports::{ArtifactStore, Digest, PortFailureKind};

use super::{kind_of, operation};
use crate::{ArtifactCall, FakeArtifacts};

#[tokio::test]
async fn parts_are_clipped_to_what_exists() {
    let store = FakeArtifacts::new();
    let digest = store.put(&operation("op"), b"0123456789").await.unwrap();
    assert_eq!(digest, Digest::of(b"0123456789"));
    assert_eq!(store.put(&operation("again"), b"0123456789").await, Ok(digest));
    assert_eq!(store.len(), 1);
    #[expect(clippy::reversed_empty_ranges, reason = "a hostile range must not panic")]
    let cases =
        [(0..4, "0123"), (8..20, "89"), (10..11, ""), (0..u64::MAX, "0123456789"), (5..2, "")];
    for (range, expected) in cases {
        let part = store.read(&operation("op"), &digest, range.clone()).await.unwrap();
        assert_eq!(part, expected.as_bytes(), "{range:?}");
    }
}

#[tokio::test]
async fn an_unknown_digest_is_not_found() {
    let store = FakeArtifacts::new();
    let digest = Digest::of(b"never put");
    let outcome = store.read(&operation("op"), &digest, 0..1).await;
    assert_eq!(kind_of(outcome), PortFailureKind::NotFound);
    assert_eq!(store.calls(), [ArtifactCall::Read(digest, 0..1)]);
    assert!(store.is_empty());
}

//! Decides what the artifacts of the scenarios look like, and how they are put and read.
//!
//! Knows nothing about what is expected of the store.

use std::{ops::Range, sync::Arc};

use runtime_ports::{ArtifactDigest, ArtifactStore, PortFailure, PortFailureKind};

use crate::{
    Broken, Proof,
    claim::{claim, operation, success},
};

/// More than one buffer of any kind.
pub(super) const LARGE: usize = (1 << 20) + 1;

/// This many bytes in which no part looks like its neighbour; `seed` makes others.
pub(super) fn bytes(length: usize, seed: u8) -> Vec<u8> {
    let byte = |at: usize| (at % 251) as u8 ^ (at / 251 % 256) as u8 ^ seed;
    (0..length).map(byte).collect()
}

pub(super) async fn put(
    store: &Arc<dyn ArtifactStore>,
    bytes: &[u8],
) -> Result<ArtifactDigest, Broken> {
    success("putting", store.put(&operation(), bytes).await)
}

pub(super) async fn read(
    store: &Arc<dyn ArtifactStore>,
    digest: &ArtifactDigest,
    range: Range<u64>,
) -> Result<Vec<u8>, PortFailure> {
    store.read(&operation(), digest, range).await
}

/// The artifact as a whole is these bytes.
pub(super) async fn holds(
    store: &Arc<dyn ArtifactStore>,
    digest: &ArtifactDigest,
    expected: &[u8],
) -> Proof {
    let whole = success("reading", read(store, digest, 0..u64::MAX).await)?;
    same("the artifact", &whole, expected)
}

/// The artifact as a whole is these bytes, or it is not there; says which.
pub(super) async fn holds_or_lacks(
    store: &Arc<dyn ArtifactStore>,
    digest: &ArtifactDigest,
    expected: &[u8],
) -> Result<bool, Broken> {
    match read(store, digest, 0..u64::MAX).await {
        Ok(whole) => same("the artifact", &whole, expected).map(|()| true),
        Err(failure) if failure.kind == PortFailureKind::NotFound => Ok(false),
        Err(failure) => Err(Broken::Claim(format!("reading failed: {failure:?}"))),
    }
}

/// Both are equal; megabytes are not printed.
pub(super) fn same(what: &str, actual: &[u8], expected: &[u8]) -> Proof {
    claim(actual == expected, || {
        let alike = actual.iter().zip(expected).take_while(|(one, other)| one == other).count();
        let (is, should) = (actual.len(), expected.len());
        format!("{what} has {is} bytes, expected {should}; they differ from byte {alike} on")
    })
}

//! Decides how artifacts are kept in memory.
//!
//! Knows nothing about what they are.

use std::{collections::BTreeMap, ops::Range};

use async_trait::async_trait;
use runtime_ports::{
    ArtifactDigest, ArtifactStore, Digest, OperationContext, PortFailure, PortFailureKind,
};

use crate::fake_port::{FakePort, fake_port};

/// An [`ArtifactStore`] in memory. Clones share it.
///
/// Names for a [`FaultPlan`](crate::FaultPlan): `artifacts.put`, `artifacts.read`.
#[derive(Clone)]
pub struct FakeArtifacts {
    port: FakePort<BTreeMap<ArtifactDigest, Vec<u8>>, ArtifactCall>,
}

/// What a [`FakeArtifacts`] was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArtifactCall {
    /// Keep these bytes.
    Put(Vec<u8>),
    /// Give a part of an artifact.
    Read(ArtifactDigest, Range<u64>),
}

fake_port!(FakeArtifacts, ArtifactCall);

impl FakeArtifacts {
    /// A store without artifacts.
    #[must_use]
    pub fn new() -> Self {
        Self { port: FakePort::new(BTreeMap::new()) }
    }

    /// Number of artifacts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.port.world().len()
    }

    /// Whether nothing is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Default for FakeArtifacts {
    fn default() -> Self {
        Self::new()
    }
}

/// The bytes of `range` that exist.
fn part(bytes: &[u8], range: Range<u64>) -> Vec<u8> {
    let clipped = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
    let (start, end) = (clipped(range.start), clipped(range.end));
    bytes.get(start..end).unwrap_or_default().to_vec()
}

#[async_trait]
impl ArtifactStore for FakeArtifacts {
    async fn put(
        &self,
        operation: &OperationContext,
        bytes: &[u8],
    ) -> Result<ArtifactDigest, PortFailure> {
        let digest = Digest::of(bytes);
        let put = |artifacts: &mut BTreeMap<_, _>| {
            artifacts.insert(digest, bytes.to_vec());
            Ok(digest)
        };
        let call = ArtifactCall::Put(bytes.to_vec());
        self.port.call(operation, "artifacts.put", call, put).await
    }

    async fn read(
        &self,
        operation: &OperationContext,
        digest: &ArtifactDigest,
        range: Range<u64>,
    ) -> Result<Vec<u8>, PortFailure> {
        let call = ArtifactCall::Read(*digest, range.clone());
        let read = |artifacts: &mut BTreeMap<ArtifactDigest, Vec<u8>>| match artifacts.get(digest) {
            Some(bytes) => Ok(part(bytes, range)),
            None => Err(PortFailure::rejected(
                PortFailureKind::NotFound,
                "ARTIFACT_NOT_FOUND",
                "no artifact has this digest; put it first",
            )),
        };
        self.port.call(operation, "artifacts.read", call, read).await
    }
}

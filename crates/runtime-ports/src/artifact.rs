//! Decides how large results are kept by their content.
//!
//! Knows nothing about what they are.

use std::ops::Range;

use async_trait::async_trait;

use crate::{Digest, OperationContext, PortFailure};

/// Names an artifact: the SHA-256 of its bytes.
pub type ArtifactDigest = Digest;

/// Keeps bytes by digest.
///
/// # Contract
/// - `put` is durable on return and idempotent.
/// - `read` gives the bytes of `range` that exist; what lies beyond the end is left out. An unknown
///   digest is `NotFound`.
///
/// # Cancellation
/// An interrupted put is whole or absent; repeating it is safe.
#[async_trait]
pub trait ArtifactStore: Send + Sync {
    /// Keeps bytes and names them.
    async fn put(
        &self,
        operation: &OperationContext,
        bytes: &[u8],
    ) -> Result<ArtifactDigest, PortFailure>;

    /// A part of an artifact, in bytes from its start.
    async fn read(
        &self,
        operation: &OperationContext,
        digest: &ArtifactDigest,
        range: Range<u64>,
    ) -> Result<Vec<u8>, PortFailure>;
}

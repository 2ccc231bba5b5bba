//! What the saboteur does wrong when it puts.
//!
//! Knows nothing about what is read.

use std::time::Duration;

use runtime_ports::{ArtifactDigest, Digest, OperationContext, PortFailure, PortFailureKind};
use tokio::time::sleep;

use super::{ArtifactFault as Fault, SabotagedStore, deaf, refused};

const A_MOMENT: Duration = Duration::from_millis(1);

impl SabotagedStore {
    pub(super) async fn put_badly(
        &self,
        operation: &OperationContext,
        bytes: &[u8],
    ) -> Result<ArtifactDigest, PortFailure> {
        let digest = Digest::of(bytes);
        match self.fault {
            Fault::RefusesEmptyBytes if bytes.is_empty() => return Err(refused()),
            Fault::RefusesRepetition if self.memory().put.contains(&digest) => {
                return Err(refused());
            }
            Fault::PutsOneAtATime => return self.put_alone(operation, bytes, digest).await,
            Fault::KeepsHalves => return self.put_slowly(operation, bytes, digest).await,
            Fault::DeniesItsPuts => return self.put_and_deny(operation, bytes).await,
            Fault::PutsAnyway => return self.honest.put(&deaf(operation), bytes).await,
            _ => {}
        }
        let put = self.honest.put(operation, bytes).await?;
        self.memory().put.push(put);
        match self.fault {
            Fault::NamesOtherwise => Ok(Digest::of_parts(&[b"artifact ", bytes])),
            _ => Ok(put),
        }
    }

    async fn put_alone(
        &self,
        operation: &OperationContext,
        bytes: &[u8],
        digest: ArtifactDigest,
    ) -> Result<ArtifactDigest, PortFailure> {
        if self.memory().under_way.contains(&digest) {
            let message = "somebody is putting that";
            return Err(PortFailure::rejected(PortFailureKind::Conflict, "BUSY", message));
        }
        self.memory().under_way.push(digest);
        sleep(A_MOMENT).await;
        let put = self.honest.put(operation, bytes).await;
        self.memory().under_way.retain(|busy| *busy != digest);
        put
    }

    /// Half of the bytes stand under the full name until the rest is there.
    async fn put_slowly(
        &self,
        operation: &OperationContext,
        bytes: &[u8],
        digest: ArtifactDigest,
    ) -> Result<ArtifactDigest, PortFailure> {
        operation.remaining()?;
        self.memory().halves.insert(digest, bytes[..bytes.len() / 2].to_vec());
        sleep(A_MOMENT).await;
        self.memory().halves.remove(&digest);
        self.honest.put(&deaf(operation), bytes).await
    }

    async fn put_and_deny(
        &self,
        operation: &OperationContext,
        bytes: &[u8],
    ) -> Result<ArtifactDigest, PortFailure> {
        let put = self.honest.put(operation, bytes).await?;
        let waited = operation.bounded(sleep(10 * A_MOMENT)).await;
        waited.map(|()| put).map_err(runtime_ports::Interruption::before_sending)
    }
}

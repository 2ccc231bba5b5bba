//! What the saboteur does wrong when it reads.
//!
//! Knows nothing about how it was put.

use std::ops::Range;

use runtime_ports::{ArtifactDigest, OperationContext, PortFailure, PortFailureKind};

use super::{ArtifactFault as Fault, SabotagedStore, deaf, refused};

const HALF_A_MEBIBYTE: usize = 512 << 10;

impl SabotagedStore {
    pub(super) async fn read_badly(
        &self,
        operation: &OperationContext,
        digest: &ArtifactDigest,
        range: Range<u64>,
    ) -> Result<Vec<u8>, PortFailure> {
        let operation = match self.fault {
            Fault::ReadsAnyway => deaf(operation),
            _ => operation.clone(),
        };
        let asked = self.asked(digest);
        if let Some(half) = self.half(&asked) {
            return Ok(half);
        }
        if self.is_refused(&operation, &asked, &range).await? {
            return Err(refused());
        }
        let is_empty = range.is_empty();
        let read = self.honest.read(&operation, &asked, self.mistaken(range)).await;
        let unknown = read.as_ref().is_err_and(|failure| failure.kind == PortFailureKind::NotFound);
        match self.fault {
            Fault::InventsTheUnknown if unknown => Ok(Vec::new()),
            Fault::AnswersEmptyUnseen if unknown && is_empty => Ok(Vec::new()),
            _ => read.map(|bytes| self.spoiled(bytes)),
        }
    }

    /// The artifact that the saboteur takes for the one that was asked for.
    fn asked(&self, digest: &ArtifactDigest) -> ArtifactDigest {
        let memory = self.memory();
        match self.fault {
            Fault::MixesArtifacts => memory.put.first().copied().unwrap_or(*digest),
            Fault::LosesTheTenth if memory.put.get(9) == Some(digest) => {
                ArtifactDigest::of(b"lost")
            }
            _ => *digest,
        }
    }

    fn half(&self, digest: &ArtifactDigest) -> Option<Vec<u8>> {
        self.memory().halves.get(digest).cloned()
    }

    async fn is_refused(
        &self,
        operation: &OperationContext,
        digest: &ArtifactDigest,
        range: &Range<u64>,
    ) -> Result<bool, PortFailure> {
        let refuses = matches!(self.fault, Fault::RefusesPastTheEnd | Fault::RefusesBeyondTheEnd);
        if !refuses || range.is_empty() {
            return Ok(false);
        }
        let length = self.honest.read(operation, digest, 0..u64::MAX).await?.len() as u64;
        Ok(match self.fault {
            Fault::RefusesPastTheEnd => range.start < length && range.end > length,
            _ => range.start >= length,
        })
    }

    fn mistaken(&self, range: Range<u64>) -> Range<u64> {
        match self.fault {
            Fault::IncludesTheEnd => range.start..range.end.saturating_add(1),
            Fault::TurnsRangesAround if range.start > range.end => range.end..range.start,
            Fault::TakesEmptyForAll if range.is_empty() => 0..u64::MAX,
            _ => range,
        }
    }

    fn spoiled(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        match self.fault {
            Fault::TakesBytesForText => String::from_utf8_lossy(&bytes).into_owned().into_bytes(),
            Fault::CutsLargeBytes => {
                bytes.truncate(HALF_A_MEBIBYTE);
                bytes
            }
            _ => bytes,
        }
    }
}

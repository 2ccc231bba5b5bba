//! What the saboteur does wrong when it reads.
//!
//! Knows nothing about how it was put.

use std::{ops::Range, time::Duration};

use runtime_ports::{ArtifactDigest, OperationContext, PortFailure, PortFailureKind};

use tokio::time::sleep;

use super::{ArtifactFault as Fault, SabotagedStore, deaf, refused};

const HALF_A_MEBIBYTE: usize = 512 << 10;
const BLOCK: u64 = 4_096;

/// A reader that leaves, also when it is dropped.
struct Leaving<'a>(&'a SabotagedStore);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.memory().reading = false;
    }
}

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
        self.wait_in_line().await?;
        let is_empty = range.is_empty();
        let read = self.honest.read(&operation, &asked, self.mistaken(range)).await;
        let unknown = read.as_ref().is_err_and(|failure| failure.kind == PortFailureKind::NotFound);
        match self.fault {
            Fault::InventsTheUnknown if unknown => Ok(Vec::new()),
            Fault::AnswersEmptyUnseen if unknown && is_empty => Ok(Vec::new()),
            _ => read.map(|bytes| self.spoiled(bytes)),
        }
    }

    /// Whoever is dropped here never leaves.
    async fn wait_in_line(&self) -> Result<(), PortFailure> {
        if !matches!(self.fault, Fault::BreaksWhenDropped | Fault::ReadsOneAtATime) {
            return Ok(());
        }
        if std::mem::replace(&mut self.memory().reading, true) {
            return Err(refused());
        }
        let _leaving = (self.fault == Fault::ReadsOneAtATime).then(|| Leaving(self));
        sleep(Duration::from_micros(500)).await;
        self.memory().reading = false;
        Ok(())
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
            Fault::AlignsParts => range.start / BLOCK * BLOCK..range.end,
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

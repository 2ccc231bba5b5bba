//! Decides how artifacts are kept as files named by their digest.
//!
//! Knows nothing about what they hold. Invariant: a file under its name is whole and durable.

use std::{
    io::{ErrorKind, Read, Seek, SeekFrom, Write},
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;
use runtime_ports::{
    ArtifactDigest, ArtifactStore, Digest, OperationContext, PortFailure, PortFailureKind,
};

use crate::{
    blocking::{self, Work},
    failure::FileError,
    private,
};

/// Artifacts in a folder, one file each.
#[derive(Debug, Clone)]
pub struct FileArtifactStore(Arc<PathBuf>);

impl FileArtifactStore {
    /// Uses `folder`, which is made when the first artifact is put.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(Arc::new(folder.into()))
    }
}

#[async_trait]
impl ArtifactStore for FileArtifactStore {
    async fn put(
        &self,
        operation: &OperationContext,
        bytes: &[u8],
    ) -> Result<ArtifactDigest, PortFailure> {
        let (folder, bytes) = (Arc::clone(&self.0), bytes.to_vec());
        blocking::run(operation, Work::Writes, move || put(&folder, &bytes)).await
    }

    async fn read(
        &self,
        operation: &OperationContext,
        digest: &ArtifactDigest,
        range: Range<u64>,
    ) -> Result<Vec<u8>, PortFailure> {
        let path = self.0.join(digest.to_string());
        blocking::run(operation, Work::Reads, move || read(&path, range)).await
    }
}

fn put(folder: &Path, bytes: &[u8]) -> Result<ArtifactDigest, PortFailure> {
    let digest = Digest::of(bytes);
    let path = folder.join(digest.to_string());
    if private::open_for_read(&path).is_ok() {
        return Ok(digest);
    }
    let opened = |source| FileError::Open { path: path.clone(), source };
    private::make_folder(folder).map_err(opened)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(opened)?;
    file.write_all(bytes).map_err(FileError::Write)?;
    file.as_file().sync_all().map_err(FileError::Sync)?;
    file.persist(&path).map_err(|error| FileError::Write(error.error))?;
    private::sync_folder(folder).map_err(FileError::Sync)?;
    Ok(digest)
}

fn read(path: &Path, range: Range<u64>) -> Result<Vec<u8>, PortFailure> {
    let mut file = private::open_for_read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            let message = "no artifact has this digest";
            PortFailure::rejected(PortFailureKind::NotFound, "UNKNOWN_ARTIFACT", message)
        }
        _ => FileError::Read(error).into(),
    })?;
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(range.start)).map_err(FileError::Read)?;
    let length = range.end.saturating_sub(range.start);
    file.take(length).read_to_end(&mut bytes).map_err(FileError::Read)?;
    Ok(bytes)
}

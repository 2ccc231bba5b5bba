//! Decides how artifacts are kept as files named by their digest.
//!
//! Knows nothing about what they hold. Invariant: a file under its name was whole and durable when
//! it got the name.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, Once},
    time::Duration,
};

use async_trait::async_trait;
use runtime_ports::{ArtifactDigest, ArtifactStore, Digest, OperationContext, PortFailure};
use uuid::Uuid;

use crate::{
    failure::FileError,
    folder::Folder,
    gate::{self, Gate},
};

/// How files are named until they are whole.
const PART_SUFFIX: &str = ".part";
/// A part that is older was left behind by a process that died.
const PART_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Artifacts in a folder, one file each.
///
/// A put of bytes that are there already compares them, and heals a file that was damaged.
/// Parts that were left behind by dead processes are removed by the first put, after a day.
#[derive(Debug, Clone)]
pub struct FileArtifactStore(Arc<Shelf>);

#[derive(Debug)]
struct Shelf {
    folder: PathBuf,
    sweeping: Once,
}

impl FileArtifactStore {
    /// Uses `folder`, which is made when the first artifact is put.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(Arc::new(Shelf { folder: folder.into(), sweeping: Once::new() }))
    }
}

#[async_trait]
impl ArtifactStore for FileArtifactStore {
    async fn put(
        &self,
        operation: &OperationContext,
        bytes: &[u8],
    ) -> Result<ArtifactDigest, PortFailure> {
        let (shelf, bytes) = (Arc::clone(&self.0), bytes.to_vec());
        gate::run(operation, move |gate| put(&shelf, &bytes, gate)).await
    }

    async fn read(
        &self,
        operation: &OperationContext,
        digest: &ArtifactDigest,
        range: Range<u64>,
    ) -> Result<Vec<u8>, PortFailure> {
        let (shelf, digest) = (Arc::clone(&self.0), *digest);
        gate::run(operation, move |_| read(&shelf.folder, digest, range)).await
    }
}

fn put(shelf: &Shelf, bytes: &[u8], gate: &Gate) -> Result<ArtifactDigest, FileError> {
    let digest = Digest::of(bytes);
    let name = digest.to_string();
    let folder = Folder::make(&shelf.folder)?;
    shelf.sweeping.call_once(|| sweep_parts(&folder));
    if !holds(&folder, &name, bytes) {
        write(&folder, &name, bytes, gate)?;
    }
    // Also for one that was there: who put it may have died before this.
    gate.pass()?;
    let synced = folder.sync();
    synced.map_err(|source| FileError::Sync { path: folder.path_of(&name), source })?;
    Ok(digest)
}

/// Writes a file aside and gives it its name once it is on disk.
fn write(folder: &Folder, name: &str, bytes: &[u8], gate: &Gate) -> Result<(), FileError> {
    let part = format!(".{}{PART_SUFFIX}", Uuid::new_v4());
    let mut file = folder.new_file(&part)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    let written = written.map_err(|source| FileError::write(folder.path_of(name), source));
    let named = written.and_then(|()| gate.pass()).and_then(|()| {
        let renamed = folder.rename(&part, name);
        renamed.map_err(|source| FileError::write(folder.path_of(name), source))
    });
    if named.is_err() {
        let _ = folder.remove(&part);
    }
    named
}

/// Whether the file is there and holds exactly these bytes.
fn holds(folder: &Folder, name: &str, bytes: &[u8]) -> bool {
    let Ok(Some(file)) = folder.file_to_read(name) else { return false };
    let is_as_long = file.metadata().is_ok_and(|stat| stat.len() == bytes.len() as u64);
    is_as_long && equals(file, bytes).unwrap_or(false)
}

fn equals(mut file: File, mut rest: &[u8]) -> io::Result<bool> {
    let mut chunk = vec![0; 64 << 10];
    loop {
        let read = file.read(&mut chunk)?;
        match (read, rest.split_at_checked(read)) {
            (0, _) => return Ok(rest.is_empty()),
            (_, Some((expected, after))) if expected == &chunk[..read] => rest = after,
            _ => return Ok(false),
        }
    }
}

fn sweep_parts(folder: &Folder) {
    let names = folder.names().unwrap_or_default();
    for name in names.iter().filter(|name| name.ends_with(PART_SUFFIX)) {
        if let Ok(Some(file)) = folder.file_to_read(name)
            && is_old(&file).unwrap_or(false)
        {
            let _ = folder.remove(name);
        }
    }
}

fn is_old(file: &File) -> io::Result<bool> {
    let modified = file.metadata()?.modified()?;
    Ok(modified.elapsed().is_ok_and(|age| age > PART_AGE))
}

fn read(folder: &Path, digest: ArtifactDigest, range: Range<u64>) -> Result<Vec<u8>, FileError> {
    let folder = Folder::existing(folder)?.ok_or(FileError::UnknownArtifact)?;
    let name = digest.to_string();
    let file = folder.file_to_read(&name)?.ok_or(FileError::UnknownArtifact)?;
    read_range(file, range)
        .map_err(|source| FileError::Read { path: folder.path_of(&name), source })
}

fn read_range(mut file: File, range: Range<u64>) -> io::Result<Vec<u8>> {
    let end = range.end.min(file.metadata()?.len());
    let mut bytes = Vec::new();
    if range.start < end {
        file.seek(SeekFrom::Start(range.start))?;
        file.take(end - range.start).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

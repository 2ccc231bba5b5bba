//! Decides how texts become files that a `FileResources` reads.
//!
//! Knows nothing about what the scenarios expect.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
    sync::Arc,
};

use async_trait::async_trait;
use file_adapter::FileResources;
use port_conformance::{
    Unstageable,
    resources::{Author, ResourceCapabilities, ResourceHarness, StagedResources, Texts},
};
use tempfile::TempDir;

use super::private_folder;

/// A `FileResources` over a folder of its own behind every scenario. The instructions are one file.
pub(crate) struct FileResourceHarness;

#[async_trait]
impl ResourceHarness for FileResourceHarness {
    fn capabilities(&self) -> ResourceCapabilities {
        ResourceCapabilities { several_instructions: false, ..ResourceCapabilities::ALL }
    }

    async fn stage(&self, texts: Texts) -> Result<StagedResources, Unstageable> {
        let mut author = User(private_folder()?);
        let session = Arc::new(FileResources::new(author.0.path()));
        author.rewrites(texts).await?;
        Ok(StagedResources { session, author: Box::new(author) })
    }
}

struct User(TempDir);

#[async_trait]
impl Author for User {
    async fn rewrites(&mut self, texts: Texts) -> Result<(), Unstageable> {
        if texts.instructions.len() > 1 {
            return Err(Unstageable::because("there is one file of instructions"));
        }
        let written = write(self.0.path(), &texts);
        written.map_err(|error| Unstageable::because(error.to_string()))
    }
}

fn write(folder: &Path, texts: &Texts) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
    }
    for text in &texts.instructions {
        write_private(&folder.join("instructions.md"), text)?;
    }
    if texts.skills.is_empty() {
        return Ok(());
    }
    let skills = folder.join("skills");
    DirBuilder::new().mode(0o700).create(&skills)?;
    for (name, text) in &texts.skills {
        write_private(&skills.join(format!("{name}.md")), text)?;
    }
    Ok(())
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

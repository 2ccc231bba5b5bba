//! Decides which standing instructions and skills a user has written down.
//!
//! Knows two places in one folder: `instructions.md` and `skills/*.md`. Refuses to look anywhere
//! else: a project folder instructs nobody.

use std::{
    collections::BTreeMap,
    io::{ErrorKind, Read},
    path::{Path, PathBuf},
};

use async_trait::async_trait;
use runtime_ports::{OperationContext, PortFailure, ResourceSession, ResourceSnapshot};

use crate::{
    blocking::{self, Work},
    failure::FileError,
    private,
};

/// Instructions and skills of the user, read anew by each call.
#[derive(Debug, Clone)]
pub struct FileResources(PathBuf);

impl FileResources {
    /// Reads from `folder`. What is missing is left out.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }
}

#[async_trait]
impl ResourceSession for FileResources {
    async fn load(&self, operation: &OperationContext) -> Result<ResourceSnapshot, PortFailure> {
        let folder = self.0.clone();
        blocking::run(operation, Work::Reads, move || {
            let instructions = read_text(&folder.join("instructions.md"))?;
            let skills = read_skills(&folder.join("skills"))?;
            Ok(ResourceSnapshot::new(instructions.into_iter().collect(), skills))
        })
        .await
    }
}

fn read_skills(folder: &Path) -> Result<BTreeMap<String, String>, PortFailure> {
    let mut skills = BTreeMap::new();
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(skills),
        entries => entries.map_err(FileError::Read)?,
    };
    for entry in entries {
        let path = entry.map_err(FileError::Read)?.path();
        let is_skill = path.extension().is_some_and(|extension| extension == "md");
        if let (true, Some(name)) = (is_skill, path.file_stem().and_then(|name| name.to_str()))
            && let Some(text) = read_text(&path)?
        {
            skills.insert(name.to_owned(), text);
        }
    }
    Ok(skills)
}

fn read_text(path: &Path) -> Result<Option<String>, PortFailure> {
    let mut text = String::new();
    match private::open_for_read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => {
            file.map_err(FileError::Read)?.read_to_string(&mut text).map_err(FileError::Read)?
        }
    };
    Ok(Some(text))
}

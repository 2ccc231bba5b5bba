//! Decides which standing instructions and skills a user has written down.
//!
//! Knows two places in one folder: `instructions.md` and `skills/*.md`. Refuses to look anywhere
//! else: a project folder instructs nobody. Refuses what others can write to, for the same reason.

use std::{collections::BTreeMap, io::Read, path::PathBuf};

use async_trait::async_trait;
use runtime_ports::{OperationContext, PortFailure, ResourceSession, ResourceSnapshot};

use crate::{failure::FileError, folder::Folder, gate};

/// Longest text, in bytes.
const LONGEST_TEXT: u64 = 1 << 20;
const INSTRUCTIONS: &str = "instructions.md";
const SKILLS: &str = "skills";
const SKILL_SUFFIX: &str = ".md";

/// Instructions and skills of the user, read anew by each call: `instructions.md`, and
/// `skills/NAME.md` for each skill. Texts are UTF-8 of at most 1 MiB.
///
/// # Errors
/// `Invalid` when a text is too long or not UTF-8; `Forbidden` when somebody else can write to a
/// file or its folder; `Unavailable` when one cannot be read, or is a link.
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
        let path = self.0.clone();
        gate::run(operation, move |_| match Folder::existing(&path)? {
            None => Ok(ResourceSnapshot::new(Vec::new(), BTreeMap::new())),
            Some(folder) => load(&folder),
        })
        .await
    }
}

fn load(folder: &Folder) -> Result<ResourceSnapshot, FileError> {
    let instructions = read_text(folder, INSTRUCTIONS)?.into_iter().collect();
    let skills = folder
        .inside(SKILLS)?
        .map_or_else(|| Ok(BTreeMap::new()), |skills| read_skills(&skills))?;
    Ok(ResourceSnapshot::new(instructions, skills))
}

fn read_skills(folder: &Folder) -> Result<BTreeMap<String, String>, FileError> {
    let names = folder.names();
    let names = names.map_err(|source| FileError::Read { path: folder.path_of(""), source })?;
    let mut skills = BTreeMap::new();
    for name in names {
        // A name that begins with a dot is an editor's own file.
        let skill = name.strip_suffix(SKILL_SUFFIX).filter(|skill| !skill.starts_with('.'));
        if let Some(skill) = skill.filter(|skill| !skill.is_empty())
            && let Some(text) = read_text(folder, &name)?
        {
            skills.insert(skill.to_owned(), text);
        }
    }
    Ok(skills)
}

fn read_text(folder: &Folder, name: &str) -> Result<Option<String>, FileError> {
    let Some(file) = folder.file_to_read(name)? else { return Ok(None) };
    let (path, mut bytes) = (folder.path_of(name), Vec::new());
    if let Err(source) = file.take(LONGEST_TEXT + 1).read_to_end(&mut bytes) {
        return Err(FileError::Read { path, source });
    }
    if bytes.len() as u64 > LONGEST_TEXT {
        return Err(FileError::TooLong { path, limit: LONGEST_TEXT });
    }
    String::from_utf8(bytes).map(Some).map_err(|_| FileError::NotText { path })
}

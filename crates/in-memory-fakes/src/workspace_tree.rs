//! Decides what a workspace in memory holds, lists and finds.
//!
//! Knows nothing about operations or commands. Invariant: every folder above a file exists, and no
//! path is a file and a folder at once.

use std::collections::{BTreeMap, BTreeSet};

use runtime_ports::{PortFailure, PortFailureKind, WorkspaceEntry};

use crate::workspace_path::{ancestors, below, inside, is_within};

/// Files and folders by their path from the root.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    files: BTreeMap<String, Vec<u8>>,
    folders: BTreeSet<String>,
    ignored: BTreeSet<String>,
    protected: BTreeSet<String>,
}

impl Tree {
    pub(crate) fn new() -> Self {
        let protected = [".git", ".env"].map(str::to_owned).into();
        let (files, folders, ignored) = Default::default();
        Self { files, folders, ignored, protected }
    }

    /// Leaves out every file and folder of this name, or at this path, when listing and searching.
    pub(crate) fn ignore(&mut self, name: String) {
        self.ignored.insert(name);
    }

    pub(crate) fn protect(&mut self, name: String) {
        self.protected.insert(name.to_ascii_lowercase());
    }

    /// Puts a file where it is told to, protected or not.
    pub(crate) fn place(&mut self, path: &str, content: Vec<u8>) {
        self.folders.extend(ancestors(path).map(str::to_owned));
        self.files.insert(path.to_owned(), content);
    }

    pub(crate) fn files(&self) -> &BTreeMap<String, Vec<u8>> {
        &self.files
    }

    pub(crate) fn read(&self, path: &str) -> Result<Vec<u8>, PortFailure> {
        let path = self.open_to_agents(path)?;
        match self.files.get(&path) {
            Some(content) => Ok(content.clone()),
            None if self.is_folder(&path) => Err(not_a_file()),
            None => Err(missing()),
        }
    }

    pub(crate) fn write(&mut self, path: &str, content: &[u8]) -> Result<(), PortFailure> {
        let path = self.open_to_agents(path)?;
        let blocked = ancestors(&path).any(|folder| self.files.contains_key(folder));
        if blocked || self.is_folder(&path) {
            return Err(not_a_file());
        }
        self.place(&path, content.to_vec());
        Ok(())
    }

    pub(crate) fn list(&self, path: &str) -> Result<Vec<WorkspaceEntry>, PortFailure> {
        let folder = self.folder(path)?;
        let folders = self.folders.iter().map(|path| (path, None));
        let files = self.files.iter().map(|(path, content)| (path, Some(content.len() as u64)));
        let mut entries: Vec<_> = folders
            .chain(files)
            .filter(|(path, _)| below(path, &folder).is_some_and(|name| !name.contains('/')))
            .filter(|(path, _)| !self.is_ignored(path))
            .map(|(path, size)| WorkspaceEntry { path: path.clone(), is_dir: size.is_none(), size })
            .collect();
        entries.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(entries)
    }

    pub(crate) fn search(
        &self,
        path: &str,
        query: &str,
        limit: usize,
    ) -> Result<Vec<String>, PortFailure> {
        let start = inside(path)?;
        if !self.is_folder(&start) && !self.files.contains_key(&start) {
            return Err(missing());
        }
        let files = self.files.iter().filter(|(path, _)| is_within(path, &start));
        let searched = files.filter(|(path, _)| !self.is_ignored(path));
        let hits = searched.flat_map(|(path, content)| self.hits(path, content, query));
        Ok(hits.take(limit).collect())
    }

    fn hits(&self, path: &str, content: &[u8], query: &str) -> Vec<String> {
        if self.is_protected(path) {
            return vec![format!("{path}: skipped (protected)")];
        }
        let Some(text) = std::str::from_utf8(content).ok().filter(|text| !text.contains('\0'))
        else {
            return vec![format!("{path}: skipped (binary)")];
        };
        let lines = (1..).zip(text.lines()).filter(|(_, line)| line.contains(query));
        lines.map(|(number, line)| format!("{path}:{number}:{line}")).collect()
    }

    /// The existing folder that `path` names.
    pub(crate) fn folder(&self, path: &str) -> Result<String, PortFailure> {
        let path = inside(path)?;
        if self.files.contains_key(&path) {
            let message = "this is a file; read it, or list its folder";
            return Err(refused(PortFailureKind::Invalid, "NOT_A_FOLDER", message));
        }
        if self.is_folder(&path) { Ok(path) } else { Err(missing()) }
    }

    fn open_to_agents(&self, path: &str) -> Result<String, PortFailure> {
        let path = inside(path)?;
        if self.is_protected(&path) {
            let message = "this name is protected; leave it to the owner of the workspace";
            return Err(refused(PortFailureKind::Forbidden, "PATH_PROTECTED", message));
        }
        Ok(path)
    }

    fn is_folder(&self, path: &str) -> bool {
        path.is_empty() || self.folders.contains(path)
    }

    fn is_protected(&self, path: &str) -> bool {
        path.split('/').any(|name| self.protected.contains(&name.to_ascii_lowercase()))
    }

    fn is_ignored(&self, path: &str) -> bool {
        let by_name = path.split('/').any(|name| self.ignored.contains(name));
        by_name || self.ignored.iter().any(|ignored| is_within(path, ignored))
    }
}

fn missing() -> PortFailure {
    let message = "nothing is there; list the folder to see what is";
    refused(PortFailureKind::NotFound, "PATH_NOT_FOUND", message)
}

fn not_a_file() -> PortFailure {
    let message = "this is no regular file, or lies below one; name another path";
    refused(PortFailureKind::Invalid, "NOT_A_FILE", message)
}

fn refused(kind: PortFailureKind, code: &str, message: &str) -> PortFailure {
    PortFailure::rejected(kind, code, message)
}

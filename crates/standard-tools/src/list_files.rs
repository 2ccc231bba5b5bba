//! Decides how a folder is listed for a model, one level or all below.
//!
//! Knows nothing about ignoring; the workspace leaves out what it leaves out. Invariant: a listing
//! that does not hold everything says so.

use std::{collections::VecDeque, time::Duration};

use async_trait::async_trait;
use runtime_ports::{
    EffectClass, OperationContext, PortFailure, PortFailureKind, Tool, ToolDescriptor,
    ToolInvocation, ToolReply, ToolWorld, WorkspaceEntry, WorkspaceSession,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    declared::{Declaration, OUTPUT_LIMIT_BYTES, path_schema},
    fitted::fitted,
    reply::{Ending, arguments, ended, told},
};

const EXPECTED: &str = "{path?: string, recursive?: boolean}";
const MAX_ENTRIES: usize = 2_000;
const MAX_SKIPPED: usize = 20;

/// The tool `list_files`.
pub(crate) struct ListFiles {
    descriptor: ToolDescriptor,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[serde(default)]
    path: String,
    #[serde(default)]
    recursive: bool,
}

impl ListFiles {
    pub(crate) fn new() -> Self {
        let declaration = Declaration {
            name: "list_files",
            description: "Lists a folder of the workspace, one level, or everything below it with \
                `recursive`. Ignored files are left out. Result: {\"path\", \"kind\": \
                \"folder\" or \"file\", \"entries\": [{\"path\", \"kind\": \"folder\", \"file\" \
                or \"other\", \"bytes\"}], \"truncated\": whether there is more}. Folders \
                that could not be entered add \"skipped\": [\"path: reason\"], at most 20 of \
                them, and \"skipped_count\": all of them. Paths are from the root of the \
                workspace. A file lists itself.",
            arguments: vec![
                ("path", path_schema("Folder or file, from the root; the root when left out.")),
                (
                    "recursive",
                    json!({ "type": "boolean", "description": "Everything below, depth first." }),
                ),
            ],
            required: &[],
            effect: EffectClass::ReadOnly,
            timeout: Duration::from_secs(60),
        };
        Self { descriptor: declaration.into_descriptor() }
    }
}

#[async_trait]
impl Tool for ListFiles {
    fn descriptor(&self) -> &ToolDescriptor {
        &self.descriptor
    }

    async fn invoke(
        &self,
        operation: &OperationContext,
        world: &ToolWorld,
        call: ToolInvocation,
    ) -> Result<ToolReply, PortFailure> {
        let lister = Lister { operation, workspace: world.workspace.as_ref() };
        ended(lister.serve(call.arguments).await)
    }
}

/// What was found, and what was not looked into.
#[derive(Default)]
struct Listing {
    entries: Vec<WorkspaceEntry>,
    /// `path: reason` of each folder that was passed over.
    skipped: Vec<String>,
    is_cut: bool,
}

impl Listing {
    fn whole(entries: Vec<WorkspaceEntry>) -> Self {
        Self { entries, ..Self::default() }
    }
}

struct Lister<'a> {
    operation: &'a OperationContext,
    workspace: &'a dyn WorkspaceSession,
}

impl Lister<'_> {
    async fn serve(&self, given: Value) -> Result<ToolReply, Ending> {
        let Arguments { path, recursive } = arguments(given, EXPECTED)?;
        let path = plain(&path);
        let (kind, listing) = match self.workspace.list(self.operation, &path).await {
            Ok(entries) if recursive => ("folder", self.all_below(entries).await?),
            Ok(entries) => ("folder", Listing::whole(entries)),
            Err(failure) => ("file", Listing::whole(vec![self.file(&path, failure).await?])),
        };
        Ok(told(&rendered(&path, kind, &listing)))
    }

    /// Depth first, each folder before what is in it. A folder that may not be entered is named
    /// and passed over.
    async fn all_below(&self, top: Vec<WorkspaceEntry>) -> Result<Listing, Ending> {
        let (mut ahead, mut listing) = (VecDeque::from(top), Listing::default());
        while let Some(entry) = ahead.pop_front() {
            if listing.entries.len() >= MAX_ENTRIES {
                listing.is_cut = true;
                break;
            }
            if entry.is_dir {
                match self.workspace.list(self.operation, &entry.path).await {
                    Ok(below) => below.into_iter().rev().for_each(|entry| ahead.push_front(entry)),
                    Err(failure) => {
                        let reason = why_passed_over(failure)?;
                        listing.skipped.push(format!("{}: {reason}", entry.path));
                    }
                }
            }
            listing.entries.push(entry);
        }
        Ok(listing)
    }

    /// The entry of a file, when a folder was expected and not found.
    async fn file(&self, path: &str, failure: PortFailure) -> Result<WorkspaceEntry, Ending> {
        if failure.kind != PortFailureKind::Invalid || path.is_empty() {
            return Err(failure.into());
        }
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        let siblings = self.workspace.list(self.operation, parent).await;
        let mut siblings = siblings.into_iter().flatten();
        if let Some(entry) = siblings.find(|entry| entry.path == path && !entry.is_dir) {
            return Ok(entry);
        }
        // Ignored, or reached through a link: there, and in no list.
        match self.workspace.read(self.operation, path).await {
            Ok(bytes) => Ok(WorkspaceEntry {
                path: path.to_owned(),
                is_dir: false,
                size: Some(bytes.len() as u64),
            }),
            Err(_) => Err(failure.into()),
        }
    }
}

/// What the model can do nothing about is passed over; what the host must know is not.
fn why_passed_over(failure: PortFailure) -> Result<String, Ending> {
    let reason = failure.message.clone();
    match Ending::from(failure) {
        Ending::Told(_) => Ok(reason),
        failed @ Ending::Failed(_) => Err(failed),
    }
}

fn rendered(path: &str, kind: &str, listing: &Listing) -> Value {
    let entries: Vec<_> = listing.entries.iter().take(MAX_ENTRIES).map(shown).collect();
    let Listing { skipped, is_cut, .. } = listing;
    let is_partial = *is_cut || listing.entries.len() > MAX_ENTRIES || !skipped.is_empty();
    fitted(OUTPUT_LIMIT_BYTES, |budget| {
        // As many entries as the share of the budget: entries of one listing are much alike.
        let share = |count: usize| count * budget / OUTPUT_LIMIT_BYTES;
        let count = share(entries.len());
        let mut result = json!({
            "path": path,
            "kind": kind,
            "entries": entries[..count],
            "truncated": is_partial || count < entries.len(),
        });
        if !skipped.is_empty() {
            result["skipped"] = json!(skipped[..share(skipped.len().min(MAX_SKIPPED))]);
            result["skipped_count"] = json!(skipped.len());
        }
        result
    })
}

fn shown(entry: &WorkspaceEntry) -> Value {
    match (entry.is_dir, entry.size) {
        (true, _) => json!({ "path": entry.path, "kind": "folder" }),
        (false, Some(bytes)) => json!({ "path": entry.path, "kind": "file", "bytes": bytes }),
        (false, None) => json!({ "path": entry.path, "kind": "other" }),
    }
}

/// A path as entries carry it. What it is worth, the workspace decides.
fn plain(path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    let parts: Vec<_> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    parts.join("/")
}

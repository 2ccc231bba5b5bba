//! Decides how hits of a search are shown to a model.
//!
//! Knows the two kinds of lines that a workspace answers with, and nothing about searching.

use std::time::Duration;

use async_trait::async_trait;
use runtime_ports::{
    EffectClass, OperationContext, PortFailure, Tool, ToolDescriptor, ToolInvocation, ToolReply,
    ToolWorld, WorkspaceSession,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    declared::{Declaration, OUTPUT_LIMIT_BYTES, count_schema, path_schema},
    fitted::fitted,
    reply::{Ending, arguments, ended, error, told},
};

const EXPECTED: &str = "{query: string, path?: string, limit?: integer from 1 to 1000}";
const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 1_000;
/// Skipped files count against the limit of the port; this many more are asked for.
const ROOM_FOR_SKIPPED: usize = 1_000;
const MAX_SKIPPED: usize = 50;

/// The tool `search_files`.
pub(crate) struct SearchFiles {
    descriptor: ToolDescriptor,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    query: String,
    #[serde(default)]
    path: String,
    limit: Option<usize>,
}

impl SearchFiles {
    pub(crate) fn new() -> Self {
        let declaration = Declaration {
            name: "search_files",
            description: "Finds lines that contain a text literally, case included, in a file or \
                in all files below a folder. Ignored files are left out. Result: {\"matches\": \
                [\"path:line:text\"], \"skipped\": [\"path: skipped (reason)\"], \"truncated\": \
                whether there may be more}.",
            arguments: vec![
                (
                    "query",
                    json!({
                        "type": "string",
                        "minLength": 1,
                        "description": "Text of one line, taken literally.",
                    }),
                ),
                ("path", path_schema("Folder or file, from the root; the root when left out.")),
                ("limit", count_schema(1, MAX_LIMIT as u64, "Most matches; 100 when left out.")),
            ],
            required: &["query"],
            effect: EffectClass::ReadOnly,
            timeout: Duration::from_secs(60),
        };
        Self { descriptor: declaration.into_descriptor() }
    }
}

#[async_trait]
impl Tool for SearchFiles {
    fn descriptor(&self) -> &ToolDescriptor {
        &self.descriptor
    }

    async fn invoke(
        &self,
        operation: &OperationContext,
        world: &ToolWorld,
        call: ToolInvocation,
    ) -> Result<ToolReply, PortFailure> {
        ended(serve(operation, world.workspace.as_ref(), call.arguments).await)
    }
}

async fn serve(
    operation: &OperationContext,
    workspace: &dyn WorkspaceSession,
    given: Value,
) -> Result<ToolReply, Ending> {
    let Arguments { query, path, limit } = arguments(given, EXPECTED)?;
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    if query.is_empty() || !(1..=MAX_LIMIT).contains(&limit) {
        return Err(error("INVALID_ARGUMENTS", &format!("arguments must be {EXPECTED}")));
    }
    let asked = limit + 1 + ROOM_FOR_SKIPPED;
    let lines = workspace.search(operation, &path, &query, asked).await?;
    Ok(told(&rendered(&lines, limit, lines.len() >= asked)))
}

fn rendered(lines: &[String], limit: usize, is_cut: bool) -> Value {
    let (hits, skipped): (Vec<_>, Vec<_>) = lines.iter().partition(|line| !is_skipped(line));
    let shown = hits.len().min(limit);
    let skipped_shown = skipped.len().min(MAX_SKIPPED);
    fitted(OUTPUT_LIMIT_BYTES, |budget| {
        let share = |count: usize| count * budget / OUTPUT_LIMIT_BYTES;
        let (shown, skipped_shown) = (share(shown), share(skipped_shown));
        json!({
            "matches": hits[..shown],
            "skipped": skipped[..skipped_shown],
            "skipped_count": skipped.len(),
            "truncated": is_cut || shown < hits.len(),
        })
    })
}

/// `path: skipped (reason)`, and no `path:line:text` that happens to end so.
fn is_skipped(line: &str) -> bool {
    let is_hit = line.match_indices(':').any(|(at, _)| {
        let rest = &line[at + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0 && rest[digits..].starts_with(':')
    });
    !is_hit && line.ends_with(')') && line.contains(": skipped (")
}

//! Decides which part of a file a model is shown.
//!
//! Knows nothing about encodings but UTF-8; other text is shown with replacements and says so.

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
    fitted::{fitted, head},
    reply::{Ending, arguments, ended, error, told},
};

const EXPECTED: &str = "{path: string, from_line?: integer from 1, max_lines?: integer from 1}";
/// A NUL byte this early makes a file binary, as git decides it.
const BINARY_PROBE_BYTES: usize = 8_000;

/// The tool `read_file`.
pub(crate) struct ReadFile {
    descriptor: ToolDescriptor,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    from_line: Option<usize>,
    max_lines: Option<usize>,
}

impl ReadFile {
    pub(crate) fn new() -> Self {
        let declaration = Declaration {
            name: "read_file",
            description: "Reads a text file of the workspace. Result: {\"path\", \"lines\": lines \
                of the whole file, \"bytes\": bytes of the whole file, \"from_line\", \"to_line\": \
                last line shown, \"truncated\": whether lines after it were left out, \
                \"content\"}. When truncated, go on with from_line = to_line + 1. A binary file \
                gives {\"path\", \"bytes\", \"skipped\": \"binary file\"}. Text that is not UTF-8 \
                is shown with replacements and \"lossy\": true.",
            arguments: vec![
                ("path", path_schema("File, from the root of the workspace.")),
                ("from_line", count_schema(1, u32::MAX.into(), "First line to show, from 1.")),
                ("max_lines", count_schema(1, u32::MAX.into(), "Most lines to show.")),
            ],
            required: &["path"],
            effect: EffectClass::ReadOnly,
            timeout: Duration::from_secs(30),
        };
        Self { descriptor: declaration.into_descriptor() }
    }
}

#[async_trait]
impl Tool for ReadFile {
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
    let wanted: Arguments = arguments(given, EXPECTED)?;
    if wanted.from_line == Some(0) || wanted.max_lines == Some(0) {
        return Err(error("INVALID_ARGUMENTS", "from_line and max_lines count from 1"));
    }
    let bytes = workspace.read(operation, &wanted.path).await?;
    if bytes.iter().take(BINARY_PROBE_BYTES).any(|byte| *byte == 0) {
        let path = &wanted.path;
        let skipped = json!({ "path": path, "bytes": bytes.len(), "skipped": "binary file" });
        return Ok(told(&skipped));
    }
    Ok(told(&rendered(&wanted, &bytes)))
}

fn rendered(wanted: &Arguments, bytes: &[u8]) -> Value {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let from = wanted.from_line.unwrap_or(1);
    let begin = lines.len().min(from - 1);
    let most = wanted.max_lines.unwrap_or(usize::MAX).min(lines.len() - begin);
    let is_lossy = std::str::from_utf8(bytes).is_err();
    fitted(OUTPUT_LIMIT_BYTES, |budget| {
        let shown = Shown::of(&lines[begin..begin + most], budget);
        let mut result = json!({
            "path": wanted.path,
            "lines": lines.len(),
            "bytes": bytes.len(),
            "from_line": from,
            "to_line": from - 1 + shown.lines,
            "truncated": shown.is_line_cut || begin + shown.lines < lines.len(),
            "content": shown.content,
        });
        if is_lossy {
            result["lossy"] = json!(true);
        }
        if shown.is_line_cut {
            result["line_cut"] = json!(true);
        }
        result
    })
}

/// Whole lines within a budget; of a single line that is too long, its beginning.
struct Shown {
    content: String,
    lines: usize,
    is_line_cut: bool,
}

impl Shown {
    fn of(lines: &[&str], budget: usize) -> Self {
        let mut content = String::new();
        for (count, line) in lines.iter().enumerate() {
            if content.len() + line.len() <= budget {
                content.push_str(line);
                continue;
            }
            if count > 0 {
                return Self { content, lines: count, is_line_cut: false };
            }
            return Self { content: head(line, budget).to_owned(), lines: 1, is_line_cut: true };
        }
        Self { content, lines: lines.len(), is_line_cut: false }
    }
}

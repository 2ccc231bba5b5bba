//! Decides which part of a kept output a model is shown.
//!
//! Knows nothing about what was kept, nor by whom. Invariant: however large the artifact is, a call
//! holds a bounded part of it, and the result says where to go on.

mod seek;

use std::{str::FromStr as _, time::Duration};

use async_trait::async_trait;
use runtime_ports::{
    ArtifactDigest, ArtifactStore, CommitDisposition, EffectClass, OperationContext, PortFailure,
    PortFailureKind, Tool, ToolDescriptor, ToolInvocation, ToolReply, ToolWorld,
};
use serde::Deserialize;
use serde_json::{Value, json};

use self::seek::{MAX_SEEK_BYTES, Sought, line};
use crate::{
    declared::{Declaration, OUTPUT_LIMIT_BYTES, count_schema},
    fitted::fitted,
    reply::{Ending, arguments, ended, error, told},
};

/// Name of the tool.
pub const READ_ARTIFACT: &str = "read_artifact";

const EXPECTED: &str = "{digest: string, offset?: integer, length?: integer from 1} or \
                        {digest: string, from_line?: integer from 1, max_lines?: integer from 1}";

/// The tool `read_artifact`.
pub(crate) struct ReadArtifact {
    descriptor: ToolDescriptor,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    digest: String,
    offset: Option<u64>,
    length: Option<u64>,
    from_line: Option<u64>,
    max_lines: Option<u64>,
}

impl ReadArtifact {
    pub(crate) fn new() -> Self {
        let declaration = Declaration {
            name: READ_ARTIFACT,
            description: "Reads a part of an output that was too long to be shown and was kept as \
                an artifact. Give the digest as it was told to you, and either offset and length \
                in bytes or from_line and max_lines. Result: {\"digest\", \"offset\": first byte \
                shown, \"next_offset\": where to go on, null at the end, \"content\"}, by lines \
                also \"from_line\" and \"to_line\": last line shown, \"line_cut\": true when \
                it is shown in part. When there is more, go on with offset = next_offset. Text \
                that is not UTF-8 is shown with replacements and \"lossy\": true.",
            arguments: vec![
                ("digest", digest_schema()),
                ("offset", count_schema(0, i64::MAX as u64, "First byte to show, from 0.")),
                ("length", count_schema(1, i64::MAX as u64, "Most bytes to show.")),
                ("from_line", count_schema(1, u32::MAX.into(), "First line to show, from 1.")),
                ("max_lines", count_schema(1, u32::MAX.into(), "Most lines to show.")),
            ],
            required: &["digest"],
            effect: EffectClass::ReadOnly,
            timeout: Duration::from_secs(30),
        };
        Self { descriptor: declaration.into_descriptor() }
    }
}

fn digest_schema() -> Value {
    let description = "The artifact: 64 hexadecimal digits.";
    json!({ "type": "string", "maxLength": 128, "description": description })
}

#[async_trait]
impl Tool for ReadArtifact {
    fn descriptor(&self) -> &ToolDescriptor {
        &self.descriptor
    }

    async fn invoke(
        &self,
        operation: &OperationContext,
        world: &ToolWorld,
        call: ToolInvocation,
    ) -> Result<ToolReply, PortFailure> {
        ended(serve(operation, world.artifacts.as_ref(), call.arguments).await)
    }
}

/// An artifact that is read under one operation.
pub(super) struct Shelf<'a> {
    operation: &'a OperationContext,
    store: &'a dyn ArtifactStore,
    digest: ArtifactDigest,
}

impl Shelf<'_> {
    /// At most `length` bytes from `offset` on.
    async fn read(&self, offset: u64, length: u64) -> Result<Vec<u8>, Ending> {
        let range = offset..offset.saturating_add(length);
        let part = self.store.read(self.operation, &self.digest, range).await;
        part.map_err(|failure| match (failure.kind, failure.commit) {
            (PortFailureKind::NotFound, CommitDisposition::NotCommitted) => {
                let message = "nothing is kept under this digest; copy it exactly from the note \
                    that names it";
                error(&failure.code, message)
            }
            _ => failure.into(),
        })
    }
}

async fn serve(
    operation: &OperationContext,
    store: &dyn ArtifactStore,
    given: Value,
) -> Result<ToolReply, Ending> {
    let wanted: Arguments = arguments(given, EXPECTED)?;
    let digest = wanted.check()?;
    let shelf = Shelf { operation, store, digest };
    let is_by_lines = wanted.from_line.is_some() || wanted.max_lines.is_some();
    let window = match is_by_lines {
        false => Window::of_bytes(&shelf, &wanted).await?,
        true => Window::of_lines(&shelf, &wanted).await?,
    };
    Ok(told(&window.rendered(&digest.to_string())))
}

impl Arguments {
    fn check(&self) -> Result<ArtifactDigest, Ending> {
        let (by_bytes, by_lines) = ([self.offset, self.length], [self.from_line, self.max_lines]);
        if by_bytes.iter().any(Option::is_some) && by_lines.iter().any(Option::is_some) {
            let message = "give offset and length, or from_line and max_lines, but not both";
            return Err(error("INVALID_ARGUMENTS", message));
        }
        if [self.length, self.from_line, self.max_lines].contains(&Some(0)) {
            let message = "length, from_line and max_lines count from 1";
            return Err(error("INVALID_ARGUMENTS", message));
        }
        // As it may have been copied.
        let digest = self.digest.trim().to_ascii_lowercase();
        ArtifactDigest::from_str(&digest).map_err(|_| {
            let message = "a digest is 64 hexadecimal digits; copy it exactly from the note that \
                names it";
            error("INVALID_ARGUMENTS", message)
        })
    }
}

/// A part of the artifact that is no larger than what can be shown, and what was asked of it.
struct Window {
    offset: u64,
    bytes: Vec<u8>,
    /// Whether the artifact goes on after these bytes.
    has_more: bool,
    /// The first line, and how many at most, when lines were asked for.
    lines: Option<(u64, u64)>,
}

impl Window {
    async fn of_bytes(shelf: &Shelf<'_>, wanted: &Arguments) -> Result<Self, Ending> {
        let length = wanted.length.unwrap_or(u64::MAX).min(OUTPUT_LIMIT_BYTES as u64);
        Self::at(shelf, wanted.offset.unwrap_or(0), length, None).await
    }

    async fn of_lines(shelf: &Shelf<'_>, wanted: &Arguments) -> Result<Self, Ending> {
        let from = wanted.from_line.unwrap_or(1);
        let (offset, first) = match line(shelf, from).await? {
            Sought::At(offset) => (offset, from),
            // What is beyond the end is left out.
            Sought::End { offset, lines } => (offset, lines + 1),
            Sought::TooFar => {
                let message = format!(
                    "the line is not within the first {MAX_SEEK_BYTES} bytes; read by offset"
                );
                return Err(error("LINE_TOO_FAR", &message));
            }
        };
        let most = wanted.max_lines.unwrap_or(u64::MAX);
        Self::at(shelf, offset, OUTPUT_LIMIT_BYTES as u64, Some((first, most))).await
    }

    async fn at(
        shelf: &Shelf<'_>,
        offset: u64,
        length: u64,
        lines: Option<(u64, u64)>,
    ) -> Result<Self, Ending> {
        // One more byte says whether there is more.
        let mut bytes = shelf.read(offset, length + 1).await?;
        let has_more = bytes.len() as u64 > length;
        bytes.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        Ok(Self { offset, bytes, has_more, lines })
    }

    fn rendered(&self, digest: &str) -> Value {
        fitted(OUTPUT_LIMIT_BYTES, |budget| {
            let shown = self.shown(budget);
            let end = shown.first + shown.bytes.len();
            let next = self.offset + end as u64;
            let is_end = !self.has_more && end == self.bytes.len();
            let content = String::from_utf8_lossy(shown.bytes);
            let is_lossy = matches!(content, std::borrow::Cow::Owned(_));
            let mut result = json!({
                "digest": digest,
                "offset": self.offset + shown.first as u64,
                "next_offset": if is_end { Value::Null } else { next.into() },
                "content": content,
            });
            if is_lossy {
                result["lossy"] = json!(true);
            }
            if let Some((first, _)) = self.lines {
                result["from_line"] = json!(first);
                result["to_line"] = json!(first - 1 + shown.lines);
            }
            if shown.is_line_cut {
                result["line_cut"] = json!(true);
            }
            result
        })
    }

    fn shown(&self, budget: usize) -> Shown<'_> {
        match self.lines {
            Some((_, most)) => self.whole_lines(most, budget),
            None => {
                let (first, end) = (self.first_whole(), self.bytes.len().min(budget));
                let bytes = whole_characters(&self.bytes[first.min(end)..end]);
                Shown { first, bytes, lines: 0, is_line_cut: false }
            }
        }
    }

    /// Where the first character begins, when the offset lies within one.
    fn first_whole(&self) -> usize {
        let is_inside = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
        let inside = self.bytes.iter().take(3).take_while(is_inside).count();
        if self.offset == 0 || inside == self.bytes.len() { 0 } else { inside }
    }

    /// Whole lines within the budget; of a single line that is too long, its beginning.
    fn whole_lines(&self, most: u64, budget: usize) -> Shown<'_> {
        let (mut end, mut lines) = (0, 0);
        for line in self.bytes.split_inclusive(|byte| *byte == b'\n') {
            let is_whole = line.ends_with(b"\n") || !self.has_more;
            if lines == most || end + line.len() > budget || !is_whole {
                break;
            }
            (end, lines) = (end + line.len(), lines + 1);
        }
        if lines > 0 || self.bytes.is_empty() {
            return Shown { first: 0, bytes: &self.bytes[..end], lines, is_line_cut: false };
        }
        let bytes = whole_characters(&self.bytes[..self.bytes.len().min(budget)]);
        Shown { first: 0, bytes, lines: 1, is_line_cut: true }
    }
}

/// What is shown of a window.
struct Shown<'a> {
    /// Where in the window it begins.
    first: usize,
    bytes: &'a [u8],
    lines: u64,
    is_line_cut: bool,
}

/// The bytes without a character at their end that they hold only a part of. At least one is left
/// of any: what is no text goes on, too.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(fault) if fault.error_len().is_none() && fault.valid_up_to() > 0 => {
            &bytes[..fault.valid_up_to()]
        }
        _ => bytes,
    }
}

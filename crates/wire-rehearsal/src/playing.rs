//! Plays bytes that a server could send through the reader, and says in one line what came of it.
//!
//! A line reads: how the answer ended, then its pieces, then what was counted.

use std::sync::Mutex;

use model_wire::{Answer, Decoder, Meter, Progress, Reader};
use runtime_ports::{CommitDisposition, DeltaSink, ModelContent, ModelDelta, PortFailure};

/// Sizes of pieces that every stream is cut into.
pub const PIECES: [usize; 3] = [1, 7, usize::MAX];

/// What came of a stream: its outcome in one line, and the deltas in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Played {
    /// How the answer ended, then its pieces, then what was counted.
    pub outcome: String,
    /// The deltas, in order.
    pub deltas: String,
}

/// Plays `bytes` through `decoder` in pieces of `size`.
#[must_use]
pub fn play(decoder: Box<dyn Decoder>, bytes: &[u8], size: usize) -> Played {
    let mut reader = Reader::new(decoder, 16 * 1024 * 1024);
    let sink = Lines::default();
    let outcome = read(&mut reader, bytes, size, &sink);
    let meter = reader.decoder().meter();
    let outcome = match outcome {
        Ok(answer) => format!("{}{}", shown(&answer), counted(meter)),
        Err(failure) => format!("{}{}", failed(&failure), counted(meter)),
    };
    Played { outcome, deltas: sink.0.into_inner().unwrap_or_default() }
}

fn read(
    reader: &mut Reader,
    bytes: &[u8],
    size: usize,
    sink: &Lines,
) -> Result<Answer, PortFailure> {
    for piece in bytes.chunks(size) {
        if reader.feed(piece, sink)?.progress == Progress::Over {
            break;
        }
    }
    reader.finish(sink)
}

/// Plays `bytes` in pieces of every size, each through a decoder of its own, and expects the same
/// line each time.
///
/// # Panics
/// When the line is another one.
pub fn check(decoder: impl Fn() -> Box<dyn Decoder>, name: &str, bytes: &[u8], expected: &str) {
    let whole = play(decoder(), bytes, usize::MAX);
    assert_eq!(whole.outcome, expected, "{name}");
    for size in PIECES {
        assert_eq!(play(decoder(), bytes, size), whole, "{name}, in pieces of {size}");
    }
}

/// Events from their data, as a stream.
#[must_use]
pub fn events<T: AsRef<str>>(data: &[T]) -> Vec<u8> {
    let lines = data.iter().map(|data| format!("data: {}\n\n", data.as_ref()));
    lines.collect::<String>().into_bytes()
}

fn shown(answer: &Answer) -> String {
    let pieces: Vec<String> = answer.output.iter().map(piece).collect();
    format!("{:?}: {}", answer.finish, pieces.join(" "))
}

fn piece(content: &ModelContent) -> String {
    match content {
        ModelContent::Text { text } => format!("{text:?}"),
        ModelContent::ToolUse { id, name, arguments } => format!("{name}#{id}{arguments}"),
        ModelContent::Reasoning { text, opaque, .. } => format!("({text} | {opaque})"),
        other => format!("{other:?}"),
    }
}

fn counted(meter: &Meter) -> String {
    let usage = meter.usage();
    let names = ["in", "out", "cached", "written", "reasoning"];
    let counts = names.into_iter().zip(usage.fields());
    let mut counts: Vec<String> =
        counts.filter_map(|(name, count)| Some(format!("{name} {}", count?))).collect();
    counts.extend(meter.cost_nano_usd().map(|cost| format!("cost {cost}")));
    if counts.is_empty() { String::new() } else { format!(" [{}]", counts.join(" ")) }
}

fn failed(failure: &PortFailure) -> String {
    format!("failed {}", failed_line(failure))
}

/// The kind and the code of a failure, and what became of the request.
pub(crate) fn failed_line(failure: &PortFailure) -> String {
    let commit = match failure.commit {
        CommitDisposition::NotCommitted => "not committed",
        CommitDisposition::Committed => "committed",
        CommitDisposition::Unknown => "unknown",
    };
    format!("{:?} {} {commit}", failure.kind, failure.code)
}

/// A sink that writes the deltas down, text and arguments run together.
#[derive(Debug, Default)]
struct Lines(Mutex<String>);

impl DeltaSink for Lines {
    fn delta(&self, delta: ModelDelta<'_>) {
        let mut line = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        line.push_str(&match delta {
            ModelDelta::Text(text) => format!("t:{text} "),
            ModelDelta::Reasoning(text) => format!("r:{text} "),
            ModelDelta::ToolCall { index, id, name } => format!("call{index}:{name}#{id} "),
            ModelDelta::ToolArguments { index, fragment } => format!("args{index}:{fragment} "),
            ModelDelta::Restarted => "restarted ".to_owned(),
        });
    }
}

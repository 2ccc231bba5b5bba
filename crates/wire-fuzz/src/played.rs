//! Decides what came of bytes that were played through a decoder, in a form that can be compared.
//!
//! Deltas that follow each other and say more of the same thing are one: how finely a text is cut
//! may depend on the network, what it says may not.

use std::sync::{Mutex, PoisonError};

use model_wire::{Answer, Decoder, Progress, Reader};
use runtime_ports::{
    CommitDisposition, DeltaSink, ModelDelta, PortFailure, PortFailureKind, TokenUsage,
};

use crate::cuts::Cuts;

/// Most bytes of an event; small, so that limits are met.
const EVENT_LIMIT: usize = 64 * 1024;

/// What came of it.
#[derive(Debug, PartialEq)]
pub(crate) struct Played {
    pub(crate) outcome: Result<Answer, Failed>,
    pub(crate) deltas: Vec<Delta>,
    pub(crate) usage: TokenUsage,
    pub(crate) cost_nano_usd: Option<u64>,
}

/// What is told of a failure, but for its words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failed {
    pub(crate) kind: PortFailureKind,
    pub(crate) code: String,
    pub(crate) commit: CommitDisposition,
    pub(crate) retryable: bool,
}

impl From<PortFailure> for Failed {
    fn from(failure: PortFailure) -> Self {
        let PortFailure { kind, code, commit, retryable, .. } = failure;
        Self { kind, code: code.to_string(), commit, retryable }
    }
}

/// A delta that owns its text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Delta {
    Text(String),
    Reasoning(String),
    Call { index: u32, id: String, name: String },
    Arguments { index: u32, text: String },
    Restarted,
}

/// Plays `bytes` through `decoder`.
pub(crate) fn play(decoder: Box<dyn Decoder>, bytes: &[u8], cuts: Cuts) -> Played {
    let sink = Deltas::default();
    let mut reader = Reader::new(decoder, EVENT_LIMIT);
    let outcome = read(&mut reader, &cuts.pieces(bytes), &sink).map_err(Failed::from);
    let meter = reader.decoder().meter();
    let (usage, cost_nano_usd) = (meter.usage(), meter.cost_nano_usd());
    let deltas = sink.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    Played { outcome, deltas, usage, cost_nano_usd }
}

fn read(reader: &mut Reader, pieces: &[&[u8]], sink: &Deltas) -> Result<Answer, PortFailure> {
    for piece in pieces {
        if reader.feed(piece, sink)?.progress == Progress::Over {
            break;
        }
    }
    reader.finish(sink)
}

#[derive(Default)]
struct Deltas(Mutex<Vec<Delta>>);

impl DeltaSink for Deltas {
    fn delta(&self, delta: ModelDelta<'_>) {
        let mut deltas = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (deltas.last_mut(), delta) {
            (_, ModelDelta::Text("") | ModelDelta::Reasoning("")) => {}
            (_, ModelDelta::ToolArguments { fragment: "", .. }) => {}
            (Some(Delta::Text(held)), ModelDelta::Text(more))
            | (Some(Delta::Reasoning(held)), ModelDelta::Reasoning(more)) => held.push_str(more),
            (
                Some(Delta::Arguments { index, text }),
                ModelDelta::ToolArguments { index: of, fragment },
            ) if *index == of => text.push_str(fragment),
            (_, delta) => deltas.push(owned(delta)),
        }
    }
}

fn owned(delta: ModelDelta<'_>) -> Delta {
    match delta {
        ModelDelta::Text(text) => Delta::Text(text.to_owned()),
        ModelDelta::Reasoning(text) => Delta::Reasoning(text.to_owned()),
        ModelDelta::ToolCall { index, id, name } => {
            Delta::Call { index, id: id.to_owned(), name: name.to_owned() }
        }
        ModelDelta::ToolArguments { index, fragment } => {
            Delta::Arguments { index, text: fragment.to_owned() }
        }
        ModelDelta::Restarted => Delta::Restarted,
    }
}

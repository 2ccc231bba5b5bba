//! Decides what must hold of the stream of an answer: the same however its bytes are cut, at a cost
//! that is bounded, and true.

use std::hash::{DefaultHasher, Hash, Hasher};

use model_wire::Decoder;
use runtime_ports::ModelContent;

use crate::{
    cost,
    cuts::{self, Cuts},
    played::{Delta, Played, play},
    promises,
    target::Shape,
    terminal::Terminal,
};

/// A kind of stream.
pub(crate) struct Stream {
    /// A decoder of an answer of which nothing has arrived.
    pub(crate) decoder: fn() -> Box<dyn Decoder>,
    /// What no finished answer is without.
    pub(crate) terminal: Terminal,
}

/// Plays `bytes` in every way, and holds what comes of it against the promises.
pub(crate) fn run(stream: &Stream, bytes: &[u8]) -> Shape {
    let whole = play_within_bounds(stream, bytes, Cuts::Whole);
    for cuts in cuts::of(bytes).skip(1) {
        let cut = play_within_bounds(stream, bytes, cuts);
        assert!(cut == whole, "cut {cuts:?}: {cut:#?}\nwhole: {whole:#?}");
    }
    promises::hold(&whole, bytes, &stream.terminal);
    // What the end of the bytes cuts must be as true as what it does not.
    for end in cuts::ends(bytes) {
        let beginning = &bytes[..end];
        let played = play_within_bounds(stream, beginning, Cuts::Whole);
        promises::hold(&played, beginning, &stream.terminal);
        promises::hold_of_a_beginning(&played, &whole);
    }
    shape(&whole)
}

fn play_within_bounds(stream: &Stream, bytes: &[u8], cuts: Cuts) -> Played {
    let what = format!("cut {cuts:?}");
    cost::bounded(&what, bytes.len(), || play((stream.decoder)(), bytes, cuts))
}

/// How it ended and of what kinds it was made, without its words.
fn shape(played: &Played) -> Shape {
    let mut hasher = DefaultHasher::new();
    match &played.outcome {
        Ok(answer) => {
            format!("{:?}", answer.finish).hash(&mut hasher);
            for content in answer.output.iter().take(6) {
                kind(content).hash(&mut hasher);
            }
        }
        Err(failed) => (&failed.code, format!("{:?}", failed.kind)).hash(&mut hasher),
    }
    played.usage.fields().map(|count| count.is_some()).hash(&mut hasher);
    for delta in played.deltas.iter().take(6) {
        std::mem::discriminant::<Delta>(delta).hash(&mut hasher);
    }
    Shape(hasher.finish())
}

fn kind(content: &ModelContent) -> u8 {
    match content {
        ModelContent::Text { .. } => 0,
        ModelContent::Reasoning { .. } => 1,
        ModelContent::ToolUse { arguments, .. } if arguments.is_object() => 2,
        ModelContent::ToolUse { .. } => 3,
        ModelContent::ToolResult { .. } => 4,
        ModelContent::Image { .. } => 5,
    }
}

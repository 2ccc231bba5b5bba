//! Decides what is fuzzed: each decoder of bytes that come from a model server.
//!
//! A target is a plain function of bytes that panics on a broken promise, so that any fuzzer can
//! drive it.

use anthropic_adapter::PromptCache;
use model_wire::Decoder;
use openai_adapter::Api;

use crate::{
    framing,
    stream::{self, Stream},
    terminal::Terminal,
    vocabulary, waiting,
};

/// What became of an input, as one number: inputs of different numbers went different ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape(pub u64);

/// Something that takes bytes of a server.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, on the command line and in `corpus/`.
    pub name: &'static str,
    /// Tries one input.
    ///
    /// # Panics
    /// When a promise is broken.
    pub run: fn(&[u8]) -> Shape,
    /// Words that its inputs are made of.
    pub vocabulary: &'static [&'static str],
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target { name: "sse", run: framing::run, vocabulary: vocabulary::SSE },
    Target { name: "retry-after", run: waiting::run, vocabulary: vocabulary::RETRY_AFTER },
    Target { name: "chat", run: chat, vocabulary: vocabulary::CHAT },
    Target { name: "responses", run: responses, vocabulary: vocabulary::RESPONSES },
    Target { name: "messages", run: messages, vocabulary: vocabulary::MESSAGES },
    Target { name: "gemini", run: gemini, vocabulary: vocabulary::GEMINI },
];

impl Target {
    /// The target called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.name == name)
    }
}

/// Tries one input on the target called `name`: what another fuzzer calls.
///
/// # Panics
/// When a promise is broken, and when no target has that name.
pub fn try_input(name: &str, bytes: &[u8]) {
    let target = Target::named(name).expect("a name of the list of targets");
    (target.run)(bytes);
}

const CHAT: Stream = Stream {
    decoder: || decoder(Api::Chat),
    terminal: Terminal { fields: &["finish_reason"], words: &["[DONE]"] },
};

const RESPONSES: Stream = Stream {
    decoder: || decoder(Api::Responses),
    terminal: Terminal {
        fields: &["status"],
        words: &["response.completed", "response.incomplete", "response.done", "[DONE]"],
    },
};

const MESSAGES: Stream = Stream {
    decoder: || anthropic_adapter::decoder(PromptCache::Marked, "issuer", "seed"),
    terminal: Terminal { fields: &["stop_reason"], words: &["message_stop", "[DONE]"] },
};

const GEMINI: Stream = Stream {
    decoder: || gemini_adapter::decoder("issuer", "seed"),
    terminal: Terminal {
        fields: &["finishReason", "blockReason", "finish_reason", "block_reason"],
        words: &[],
    },
};

fn decoder(api: Api) -> Box<dyn Decoder> {
    openai_adapter::decoder(api, "issuer", "seed")
}

fn chat(bytes: &[u8]) -> Shape {
    stream::run(&CHAT, bytes)
}

fn responses(bytes: &[u8]) -> Shape {
    stream::run(&RESPONSES, bytes)
}

fn messages(bytes: &[u8]) -> Shape {
    stream::run(&MESSAGES, bytes)
}

fn gemini(bytes: &[u8]) -> Shape {
    stream::run(&GEMINI, bytes)
}

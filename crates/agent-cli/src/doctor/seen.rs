//! Decides what an answer was: as bytes, as events, and as the adapter reads it.
//!
//! Knows nothing about what was asked.

use std::time::Duration;

use anthropic_adapter::PromptCache;
use model_wire::{
    Answer, Decoder, Event, Framer, RawAnswer, RawEnd, Reader, Refusal, Size, TooLarge, failure,
};
use runtime_ports::{DiscardDeltas, ModelContent, ModelFinish, PortFailure, TokenUsage};
use serde_json::Value;

use crate::endpoint::Api;

const LIMIT: usize = 4 * 1024 * 1024;

/// An answer, or the want of one.
pub(crate) struct Seen {
    pub(crate) status: u16,
    /// Until its first bytes.
    pub(crate) first: Duration,
    pub(crate) text: String,
    pub(crate) is_stream: bool,
    pub(crate) end: RawEnd,
    /// Names and data of events; a document is one without a name.
    pub(crate) events: Vec<(String, Value)>,
    /// As the adapter reads it.
    pub(crate) read: Result<Answer, PortFailure>,
    pub(crate) usage: TokenUsage,
    pub(crate) refusal: Option<Refusal>,
}

/// A call, as the adapter reads it.
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

impl Seen {
    pub(crate) fn of(api: Api, raw: &RawAnswer) -> Self {
        let body = raw.body();
        let is_good = (200..300).contains(&raw.status);
        let refusal = (!is_good).then(|| Refusal::of_body(&body));
        let is_stream = looks_like_events(&body);
        let mut reader = Reader::new(decoder(api), LIMIT);
        let read = match &refusal {
            Some(refusal) => Err(failure_of(raw.status, refusal)),
            None => read(&mut reader, raw),
        };
        Self {
            status: raw.status,
            first: raw.chunks.first().map_or(Duration::ZERO, |chunk| chunk.after),
            is_stream,
            end: raw.end,
            events: if is_stream { events(&body) } else { document(&body) },
            read,
            usage: reader.decoder().meter().usage(),
            refusal,
            text: String::from_utf8_lossy(&body).into_owned(),
        }
    }

    /// The request never became an answer.
    pub(crate) fn nothing(failure: PortFailure) -> Self {
        Self {
            status: 0,
            first: Duration::ZERO,
            text: String::new(),
            is_stream: false,
            end: RawEnd::Broken,
            events: Vec::new(),
            read: Err(failure),
            usage: TokenUsage::default(),
            refusal: None,
        }
    }

    pub(crate) fn is_good(&self) -> bool {
        self.read.is_ok()
    }

    /// Whether the server refused the request for what it is.
    pub(crate) fn is_refused(&self) -> bool {
        let is_about_something_else = matches!(self.status, 401..=403 | 408 | 409 | 425 | 429);
        (400..500).contains(&self.status) && !is_about_something_else
    }

    /// Why the answer says nothing of what was tried: the server was reached too often, failed, or
    /// was not there.
    pub(crate) fn trouble(&self) -> Option<String> {
        let says_something = self.is_refused() || (200..300).contains(&self.status);
        (!says_something).then(|| self.why())
    }

    /// Whether the refusal is about `names`.
    pub(crate) fn refuses(&self, names: &[&str]) -> bool {
        let refusal = self.refusal.as_ref();
        self.is_refused()
            && refusal.is_some_and(|refusal| {
                let by_param = refusal.param.as_deref().is_some_and(|param| names.contains(&param));
                by_param || refusal.mentions(names)
            })
    }

    /// What the wording of a refusal says about sizes.
    pub(crate) fn size(&self) -> Option<Size> {
        Size::of(self.refusal.as_ref()?)
    }

    pub(crate) fn finish(&self) -> Option<ModelFinish> {
        Some(self.read.as_ref().ok()?.finish)
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        let output = self.read.as_ref().map_or(&[][..], |answer| &answer.output);
        let call = |content: &ModelContent| match content {
            ModelContent::ToolUse { id, name, arguments } => {
                Some(Call { id: id.clone(), name: name.clone(), arguments: arguments.clone() })
            }
            _ => None,
        };
        output.iter().filter_map(call).collect()
    }

    pub(crate) fn words(&self) -> String {
        let output = self.read.as_ref().map_or(&[][..], |answer| &answer.output);
        let text = |content: &ModelContent| match content {
            ModelContent::Text { text } => Some(text.as_str().to_owned()),
            _ => None,
        };
        output.iter().filter_map(text).collect()
    }

    /// Whether the adapter reads some of it as reasoning.
    pub(crate) fn has_reasoning(&self) -> bool {
        let output = self.read.as_ref().map_or(&[][..], |answer| &answer.output);
        output.iter().any(|content| matches!(content, ModelContent::Reasoning { .. }))
    }

    /// Everything that stands in the events under `pointer`.
    pub(crate) fn all<'a>(&'a self, pointer: &'a str) -> impl Iterator<Item = &'a Value> {
        self.events.iter().filter_map(move |(_, event)| event.pointer(pointer))
    }

    /// Why it is no answer, in a few words.
    pub(crate) fn why(&self) -> String {
        match &self.read {
            Ok(_) => String::new(),
            Err(failure) => match self.status {
                0 => failure.message.clone(),
                200..300 => format!("{} ({})", failure.message, failure.code),
                status => format!("http {status}: {}", failure.code),
            },
        }
    }
}

/// As the adapter of the API reads answers.
fn decoder(api: Api) -> Box<dyn Decoder> {
    const NAME: &str = "doctor";
    match api {
        Api::Chat => openai_adapter::decoder(openai_adapter::Api::Chat, NAME, NAME),
        Api::Responses => openai_adapter::decoder(openai_adapter::Api::Responses, NAME, NAME),
        Api::Messages => anthropic_adapter::decoder(PromptCache::Off, NAME, NAME),
        Api::Gemini => gemini_adapter::decoder(NAME, NAME),
    }
}

fn failure_of(status: u16, refusal: &Refusal) -> PortFailure {
    match status.try_into() {
        Ok(status) => failure::of_status(status, refusal, None),
        Err(_) => failure::truncated(),
    }
}

fn read(reader: &mut Reader, raw: &RawAnswer) -> Result<Answer, PortFailure> {
    for chunk in &raw.chunks {
        reader.feed(&chunk.bytes, &DiscardDeltas)?;
    }
    match raw.end {
        RawEnd::Complete => reader.finish(&DiscardDeltas),
        // What had ended needs no orderly end.
        _ if reader.progress() >= model_wire::Progress::Settled => reader.finish(&DiscardDeltas),
        _ => Err(failure::truncated()),
    }
}

fn looks_like_events(body: &[u8]) -> bool {
    let text = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    first.is_some_and(|first| !matches!(first, b'{' | b'[' | b'<'))
}

fn document(body: &[u8]) -> Vec<(String, Value)> {
    let value = model_wire::json::read(body).ok();
    value.into_iter().map(|value| (String::new(), value)).collect()
}

struct Stopped;

impl From<TooLarge> for Stopped {
    fn from(_: TooLarge) -> Self {
        Self
    }
}

fn events(body: &[u8]) -> Vec<(String, Value)> {
    let mut events = Vec::new();
    let mut take = |event: Event<'_>| -> Result<(), Stopped> {
        if let Ok(value) = model_wire::json::read(event.data) {
            events.push((String::from_utf8_lossy(event.name).into_owned(), value));
        }
        Ok(())
    };
    let mut framer = Framer::new(LIMIT);
    // What is larger than the limit says nothing more.
    let _ = framer.feed(body, &mut take).and_then(|()| framer.finish(&mut take));
    events
}

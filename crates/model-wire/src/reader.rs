//! Decides what the bytes of a successful response are: a stream of events, one document, or
//! something that is no API.
//!
//! Knows nothing about connections and time. Invariant: the outcome is the same however the bytes
//! were cut, and what is held of them is bounded.

use runtime_ports::{DeltaSink, PortFailure, PortFailureKind};
use serde_json::Value;

use crate::{
    answer::{Answer, Decoder, Ending, Progress},
    failure,
    json::{self, NoJson},
    sse::{Event, Framer, TooLarge},
    verbatim::Verbatim,
};

/// How many events of the greatest size an answer may have.
const ANSWER_EVENTS: usize = 16;

/// The code of the failure of an event that is no JSON.
const MALFORMED: &str = "MALFORMED_EVENT";

/// Reads the bytes of one response.
pub struct Reader {
    framing: Framing,
    state: State,
    limit: usize,
    left: usize,
}

enum Framing {
    Undecided(Vec<u8>),
    Events(Framer),
    Document(Vec<u8>),
}

struct State {
    decoder: Box<dyn Decoder>,
    verbatim: Verbatim,
    progress: Progress,
    progressed: bool,
    announced: bool,
    at_end: bool,
}

/// What a chunk brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fed {
    /// How far the answer has come.
    pub progress: Progress,
    /// Whether the chunk completed a frame that carried something.
    pub progressed: bool,
}

struct Broken(PortFailure);

impl From<TooLarge> for Broken {
    fn from(_: TooLarge) -> Self {
        Self(too_large())
    }
}

fn too_large() -> PortFailure {
    failure::broken("EVENT_TOO_LARGE", "the provider sent more than the configured limit allows")
}

impl Reader {
    /// A reader of an answer whose events have at most `limit` bytes.
    pub fn new(decoder: Box<dyn Decoder>, limit: usize) -> Self {
        let state = State {
            verbatim: Verbatim::new(decoder.verbatim()),
            decoder,
            progress: Progress::Idle,
            progressed: false,
            announced: false,
            at_end: false,
        };
        let left = limit.saturating_mul(ANSWER_EVENTS);
        Self { framing: Framing::Undecided(Vec::new()), state, limit, left }
    }

    /// What was decoded so far.
    pub fn decoder(&self) -> &dyn Decoder {
        self.state.decoder.as_ref()
    }

    /// How far the answer has come.
    pub const fn progress(&self) -> Progress {
        self.state.progress
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, chunk: &[u8], sink: &dyn DeltaSink) -> Result<Fed, PortFailure> {
        self.state.progressed = false;
        let taken = self.take(chunk, sink);
        // What follows the end in the same packet is as void as what follows in the next one.
        if self.state.progress != Progress::Over {
            taken?;
        }
        Ok(Fed { progress: self.state.progress, progressed: self.state.progressed })
    }

    /// What an answer may have in all is taken before the rest is refused, so that the outcome is the
    /// same in whatever pieces it came.
    fn take(&mut self, chunk: &[u8], sink: &dyn DeltaSink) -> Result<(), PortFailure> {
        let (chunk, beyond) = chunk.split_at(chunk.len().min(self.left));
        self.left -= chunk.len();
        match &mut self.framing {
            Framing::Events(framer) => self.state.take_events(framer, chunk, sink),
            Framing::Document(held) => hold(held, chunk, self.limit),
            Framing::Undecided(held) => {
                held.extend_from_slice(chunk);
                self.decide(sink)
            }
        }?;
        if beyond.is_empty() { Ok(()) } else { Err(too_large()) }
    }

    /// Looks at the first byte that says something: whatever the headers say, no event stream
    /// begins with a bracket.
    fn decide(&mut self, sink: &dyn DeltaSink) -> Result<(), PortFailure> {
        let Framing::Undecided(held) = &mut self.framing else { return Ok(()) };
        let text = held.strip_prefix(b"\xef\xbb\xbf").unwrap_or(held);
        let first = text.iter().position(|byte| !byte.is_ascii_whitespace());
        if first.unwrap_or(text.len()) > self.limit {
            return Err(too_large());
        }
        match first.map(|at| text[at]) {
            None => return Ok(()),
            Some(0xef) if held.len() < 3 => return Ok(()),
            Some(b'{' | b'[') => {
                let mut document = Vec::new();
                hold(&mut document, text, self.limit)?;
                self.framing = Framing::Document(document);
            }
            Some(b'<') => return Err(web_page()),
            Some(_) => {
                let held = std::mem::take(held);
                let mut framer = Framer::new(self.limit);
                let taken = self.state.take_events(&mut framer, &held, sink);
                self.framing = Framing::Events(framer);
                return taken;
            }
        }
        Ok(())
    }

    /// Ends the answer: the bytes are over, or no more of them are wanted.
    pub fn finish(&mut self, sink: &dyn DeltaSink) -> Result<Answer, PortFailure> {
        self.state.at_end = true;
        let mut ending = Ending::Eof;
        match std::mem::replace(&mut self.framing, Framing::Undecided(Vec::new())) {
            Framing::Undecided(_) => return Err(failure::truncated()),
            Framing::Document(held) => {
                self.state.take_document(&held, sink)?;
                ending = Ending::Document;
            }
            Framing::Events(mut framer) => {
                let ended = self.state.end_events(&mut framer, sink);
                if self.state.progress != Progress::Over {
                    ended?;
                }
            }
        }
        let ending = if self.state.announced { Ending::Announced } else { ending };
        self.state.decoder.finish(ending, sink)
    }
}

impl State {
    fn take_events(
        &mut self,
        framer: &mut Framer,
        chunk: &[u8],
        sink: &dyn DeltaSink,
    ) -> Result<(), PortFailure> {
        framer.feed(chunk, &mut |event| self.take(event, sink)).map_err(|Broken(failure)| failure)
    }

    fn end_events(&mut self, framer: &mut Framer, sink: &dyn DeltaSink) -> Result<(), PortFailure> {
        framer.finish(&mut |event| self.take(event, sink)).map_err(|Broken(failure)| failure)
    }

    fn take(&mut self, event: Event<'_>, sink: &dyn DeltaSink) -> Result<(), Broken> {
        let data = plain(event.data);
        if self.progress == Progress::Over || data.is_empty() {
            return Ok(());
        }
        if is_done(data) {
            (self.announced, self.progressed, self.progress) = (true, true, Progress::Over);
            return Ok(());
        }
        let value = match json::read_with(data, &self.verbatim) {
            Ok(value) => value,
            Err(_) if is_alive(event.name) => return Ok(()),
            // Some servers leave out the empty lines between events.
            Err(_) if data.contains(&b'\n') => return self.take_lines(event, sink),
            Err(_) if event.name.eq_ignore_ascii_case(b"error") => {
                let words = Value::from(String::from_utf8_lossy(data));
                self.take_frames("error", &words, sink).map_err(Broken)?;
                return Err(Broken(malformed()));
            }
            // What the end of the bytes cut is no event; whether it is missed, the decoder knows.
            Err(_) if self.at_end => return Ok(()),
            Err(_) => return Err(Broken(malformed())),
        };
        let name = String::from_utf8_lossy(event.name);
        self.take_frames(&name, &value, sink).map_err(Broken)
    }

    fn take_lines(&mut self, event: Event<'_>, sink: &dyn DeltaSink) -> Result<(), Broken> {
        let at_end = std::mem::take(&mut self.at_end);
        let mut lines = event.data.split(|byte| *byte == b'\n');
        while let Some(data) = lines.next() {
            match self.take(Event { data, ..event }, sink) {
                // What has a whole frame behind it was not cut by the end of the bytes.
                Err(Broken(failure)) if failure.code == MALFORMED => {
                    if at_end && !lines.clone().any(is_frame) {
                        return Ok(());
                    }
                    let error = self.error_behind(lines, sink);
                    return Err(Broken(error.unwrap_or(failure)));
                }
                taken => taken?,
            }
        }
        Ok(())
    }

    /// The error that was written behind a line that was cut, if it says why. Whatever else these
    /// lines say, the answer is none: how far it came stays what it was.
    fn error_behind<'a>(
        &mut self,
        lines: impl Iterator<Item = &'a [u8]>,
        sink: &dyn DeltaSink,
    ) -> Option<PortFailure> {
        let progress = self.progress;
        let mut frames = lines.filter_map(|data| json::read(plain(data)).ok());
        let error = frames.find_map(|frame| self.take_frames("", &frame, sink).err());
        self.progress = progress;
        error
    }

    /// Takes a frame, or the frames of a list: some servers put one around an error.
    fn take_frames(
        &mut self,
        name: &str,
        value: &Value,
        sink: &dyn DeltaSink,
    ) -> Result<(), PortFailure> {
        let frames = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        for frame in frames {
            if self.progress == Progress::Over {
                break;
            }
            let progress = self.decoder.take(name, frame, sink)?;
            self.advance(progress);
        }
        Ok(())
    }

    fn take_document(&mut self, held: &[u8], sink: &dyn DeltaSink) -> Result<(), PortFailure> {
        let value = json::read_with(held, &self.verbatim).map_err(|error| match error {
            NoJson::Cut => failure::truncated(),
            NoJson::Malformed => malformed(),
        })?;
        let frames = value.as_array().map_or(std::slice::from_ref(&value), Vec::as_slice);
        let counted = if self.decoder.takes_lists() { frames.len() } else { 1 };
        for frame in frames.iter().take(counted) {
            let progress = self.decoder.take("", frame, sink)?;
            self.advance(progress);
        }
        Ok(())
    }

    /// What a frame says about the answer counts until another says something: also that one which
    /// seemed finished goes on.
    fn advance(&mut self, progress: Progress) {
        if progress != Progress::Idle {
            (self.progress, self.progressed) = (progress, true);
        }
    }
}

/// The data of an event without what proxies put around it: spaces, a byte order mark, the name of
/// the field once more.
fn plain(data: &[u8]) -> &[u8] {
    let data = data.trim_ascii();
    let data = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
    data.strip_prefix(b"data:").unwrap_or(data).trim_ascii()
}

/// Whether a line is a frame of its own.
fn is_frame(line: &[u8]) -> bool {
    let data = plain(line);
    let is_open = data.starts_with(b"{") || data.starts_with(b"[");
    is_done(data) || (is_open && json::read(data).is_ok())
}

fn is_done(data: &[u8]) -> bool {
    let word = data.strip_prefix(b"\"").and_then(|data| data.strip_suffix(b"\"")).unwrap_or(data);
    word.eq_ignore_ascii_case(b"[done]")
}

/// Whether an event of this name says only that the connection lives, in whatever words.
fn is_alive(name: &[u8]) -> bool {
    let names: [&[u8]; 4] = [b"ping", b"heartbeat", b"keepalive", b"keep-alive"];
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
}

fn hold(held: &mut Vec<u8>, chunk: &[u8], limit: usize) -> Result<(), PortFailure> {
    if held.len() + chunk.len() > limit {
        return Err(too_large());
    }
    held.extend_from_slice(chunk);
    Ok(())
}

fn malformed() -> PortFailure {
    failure::broken(MALFORMED, "the provider sent an event that is no json")
}

fn web_page() -> PortFailure {
    PortFailure::in_flight_unknown(
        PortFailureKind::Protocol,
        "NOT_AN_API",
        "a web page answered instead of the api; check the base url and what stands before it",
    )
}

#[cfg(test)]
mod tests;

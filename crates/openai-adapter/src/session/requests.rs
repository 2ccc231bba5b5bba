//! Decides what one request of a session looks like, after what was learnt about its server.
//!
//! Knows nothing about connections.

use bytes::Bytes;
use model_wire::{Decoder, pieces};
use runtime_ports::{ModelRequest, PortFailure, PortFailureKind};

use super::{OpenAiSession, Settings};
use crate::{
    chat::{self, ChatStream},
    continued::Continuation,
    demands::Demands,
    features::Feature,
    history::{self, Keys},
    profile::{Api, Reading, Written},
    responses::{self, Kept, KeptResponse, ResponsesStream},
};

/// One request: what its writing depends on, and which response it continues.
pub(super) struct Sent<'a> {
    pub(super) written: Written<'a>,
    pub(super) continuation: Option<Continuation>,
}

impl Sent<'_> {
    fn written(&self) -> Written<'_> {
        Written { kept: self.kept(), ..self.written }
    }

    fn kept(&self) -> Kept<'_> {
        match &self.continuation {
            _ if !self.written.features.has(Feature::PreviousResponse) => Kept::Nothing,
            None => Kept::Response,
            Some(continuation) => Kept::ResponseAfter(&continuation.response.id),
        }
    }
}

impl OpenAiSession {
    /// What the next request for `request` is.
    pub(super) fn sent(&self, request: &ModelRequest) -> Result<Sent<'_>, PortFailure> {
        let settings = &self.settings;
        let mut features = self.refused.remaining();
        if !settings.continues {
            features = features.without(Feature::PreviousResponse);
        }
        let continues = features.has(Feature::PreviousResponse);
        let continuation = continues.then(|| self.continued.find(request)).flatten();
        let written = Written {
            api: settings.api,
            delivery: settings.delivery,
            issuer: &settings.issuer,
            max_tokens: settings.max_tokens,
            reasoning_summary: settings.reasoning_summary.as_deref(),
            features,
            server: &settings.server,
            one_call: settings.one_call,
            kept: Kept::Nothing,
        };
        Ok(Sent { written, continuation })
    }

    /// One pair of keys for all requests alike: the same allocation is compared faster than equal
    /// texts.
    fn encoding_keys(&self, written: &Written<'_>) -> &Keys {
        let replay = written.features.has(Feature::ReasoningReplay);
        self.keys[usize::from(replay)].get_or_init(|| written.encoding_keys())
    }

    /// The body of a request.
    pub(super) fn body(
        &self,
        request: &ModelRequest,
        sent: &Sent<'_>,
    ) -> Result<Bytes, PortFailure> {
        let (written, keys) = (sent.written(), self.encoding_keys(&sent.written));
        let demands = Demands::of(request, &written).map_err(invalid)?;
        let tools = self.tools_of(request, &demands);
        let start = sent.continuation.as_ref().map_or(0, |found| found.messages);
        Ok(match written.api {
            Api::Chat => {
                let piece = |message: &_, place| chat::piece(message, place, &written);
                let messages = history::elements(&request.messages, start, keys, piece);
                chat::body(request, &messages, tools, &demands, &written)
            }
            Api::Responses => {
                let piece = |message: &_, place| responses::piece(message, place, &written);
                let input = history::elements(&request.messages, start, keys, piece);
                responses::body(request, &input, tools, &demands, &written)
            }
        })
    }

    fn tools_of(&self, request: &ModelRequest, demands: &Demands<'_>) -> Option<Bytes> {
        let encode = |tools: &[_]| match self.settings.api {
            Api::Chat => chat::tools(tools),
            Api::Responses => responses::tools(tools),
        };
        match demands.only_tool {
            Some(only) => Some(pieces::encoded(&encode(std::slice::from_ref(only))).into()),
            None if request.tools.is_empty() => None,
            None => Some(self.tools.encoding(&request.tools, || encode(&request.tools))),
        }
    }

    /// The decoder of the answer, and where it says that the server keeps it.
    pub(super) fn decoder(
        &self,
        request: &ModelRequest,
        sent: &Sent<'_>,
    ) -> (Box<dyn Decoder>, KeptResponse) {
        let (issuer, seed) = (&self.settings.issuer, &request.invocation_id);
        let reading = Reading::of(&self.settings.server);
        let kept = KeptResponse::default();
        let decoder: Box<dyn Decoder> = match self.settings.api {
            Api::Chat => Box::new(ChatStream::new(issuer, seed, reading)),
            Api::Responses => {
                let stream = ResponsesStream::new(issuer, seed, reading);
                let held = sent.continuation.as_ref().and_then(|found| found.response.input_tokens);
                Box::new(stream.keeping(sent.kept(), &kept).behind(held))
            }
        };
        (decoder, kept)
    }

    /// The path of a request, with its query.
    pub(super) fn path(&self, model: &str) -> String {
        let Settings { api, server, query, .. } = &self.settings;
        let path = match api {
            Api::Chat => &server.chat_path,
            Api::Responses => &server.responses_path,
        };
        format!("{}{query}", path.replace("{model}", &path_segment(model)))
    }
}

/// A text as one segment of a path: whatever could end it is escaped.
fn path_segment(text: &str) -> String {
    let escaped = |byte: u8| match byte {
        b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(escaped).collect()
}

fn invalid(problem: &'static str) -> PortFailure {
    PortFailure::not_sent(PortFailureKind::Invalid, "INVALID_REQUEST", problem)
}

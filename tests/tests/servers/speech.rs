//! Decides which adapter speaks an API, and how it is built for a server.

use std::sync::Arc;

use anthropic_adapter::{AnthropicSession, PromptCache};
use openai_adapter::{Api, OpenAiSession};
use runtime_ports::{ModelProfile, ModelSession};
use runtime_types::CredentialHandle;

/// An API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speech {
    Chat,
    Responses,
    Messages,
}

impl Speech {
    pub(crate) const ALL: [Self; 3] = [Self::Chat, Self::Responses, Self::Messages];

    pub(crate) fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

/// How answers are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    Streamed,
    Whole,
}

/// A server as a session sees it.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub(crate) speech: Speech,
    /// Up to the paths of the API.
    pub(crate) base_url: String,
    pub(crate) model: String,
    pub(crate) key: String,
    pub(crate) delivery: Delivery,
    pub(crate) idle: std::time::Duration,
}

impl Endpoint {
    /// `model` at `base_url`, streamed, with a key that no mock looks at.
    pub(crate) fn new(speech: Speech, base_url: impl Into<String>, model: &str) -> Self {
        Self {
            speech,
            base_url: base_url.into(),
            model: model.to_owned(),
            key: "key-of-the-suite".to_owned(),
            delivery: Delivery::Streamed,
            idle: std::time::Duration::from_secs(120),
        }
    }

    /// A session with the server.
    pub(crate) fn session(&self) -> Arc<dyn ModelSession> {
        let timeouts =
            openai_adapter::Timeouts { idle: self.idle, head: self.idle, ..Default::default() };
        match self.speech {
            Speech::Chat => self.openai(Api::Chat, timeouts),
            Speech::Responses => self.openai(Api::Responses, timeouts),
            Speech::Messages => self.anthropic(timeouts),
        }
    }

    fn openai(&self, api: Api, timeouts: openai_adapter::Timeouts) -> Arc<dyn ModelSession> {
        let delivery = match self.delivery {
            Delivery::Streamed => openai_adapter::Delivery::Streamed,
            Delivery::Whole => openai_adapter::Delivery::Whole,
        };
        let builder = OpenAiSession::builder(&self.base_url).api(api).delivery(delivery);
        let builder = builder.timeouts(timeouts).credential(CredentialHandle::new(&*self.key));
        Arc::new(builder.profile(&self.model, profile()).build().expect("a session"))
    }

    fn anthropic(&self, timeouts: anthropic_adapter::Timeouts) -> Arc<dyn ModelSession> {
        let delivery = match self.delivery {
            Delivery::Streamed => anthropic_adapter::Delivery::Streamed,
            Delivery::Whole => anthropic_adapter::Delivery::Whole,
        };
        let builder = AnthropicSession::builder(&self.base_url).delivery(delivery);
        let builder = builder.prompt_cache(PromptCache::Off).timeouts(timeouts);
        let builder = builder.credential(CredentialHandle::new(&*self.key));
        Arc::new(builder.profile(&self.model, profile()).build().expect("a session"))
    }
}

fn profile() -> ModelProfile {
    ModelProfile {
        context_window_tokens: 128_000,
        max_input_tokens: 96_000,
        max_output_tokens: Some(32_000),
        images: true,
        price: None,
    }
}

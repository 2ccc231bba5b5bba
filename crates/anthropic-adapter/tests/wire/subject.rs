//! Decides how the Messages API is tried by the rules of the wire.
//!
//! Knows its words; what must hold is the list's.

use anthropic_adapter::{AnthropicSession, AnthropicSessionBuilder, BuildError};
use wire_rehearsal::subject::{Echo, Setting, Subject, Words};

use crate::{HI, KEY, PING, REASON, START, STOP};

/// A session that speaks the API.
pub(crate) struct Messages;

impl Subject for Messages {
    type Builder = AnthropicSessionBuilder;
    type Session = AnthropicSession;

    fn builder(&self, base_url: &str) -> AnthropicSessionBuilder {
        AnthropicSession::builder(base_url)
    }

    fn set(&self, builder: AnthropicSessionBuilder, setting: Setting) -> AnthropicSessionBuilder {
        match setting {
            Setting::Credential(key) => builder.credential(key),
            Setting::Header(name, value) => builder.header(name, value),
            Setting::Timeouts(timeouts) => builder.timeouts(timeouts),
            Setting::EventLimitBytes(most) => builder.event_limit_bytes(most),
            Setting::Profile(model, profile) => builder.profile(model, profile),
            Setting::DefaultProfile(profile) => builder.default_profile(profile),
        }
    }

    fn build(&self, builder: AnthropicSessionBuilder) -> Result<AnthropicSession, BuildError> {
        builder.build()
    }

    fn words(&self) -> Words {
        WORDS
    }

    fn echo(&self) -> Echo {
        let text = Echo::text();
        let error = format!(
            r#"{{"type":"error","error":{{"message":"{text}","type":"{KEY}"}},"request_id":"{KEY}"}}"#
        );
        Echo {
            statuses: vec!["400 B", "401 U", "403 F", "404 N", "413 R", "429 T", "500 I", "529 O"],
            request_id: "request-id",
            refusal: error.clone(),
            failures: vec![error],
            begun: format!(r#"{{"type":"message_start","message":{{"id":"{KEY}"}}}}"#),
        }
    }
}

/// A short answer.
pub(crate) const WORDS: Words = Words {
    start: &[START],
    hi: HI,
    finish: &[REASON, STOP],
    after: &[],
    idle: &[PING],
    document: r#"{"type":"message","id":"x","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn"}"#,
};

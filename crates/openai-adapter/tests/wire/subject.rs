//! Decides how the two APIs are tried by the rules of the wire.
//!
//! Knows the words of both; what must hold is the list's.

use openai_adapter::{Api, BuildError, OpenAiSession, OpenAiSessionBuilder};
use wire_rehearsal::subject::{Echo, Setting, Subject, Words};

use crate::{DONE, HI, KEY, STOP, USAGE};

/// A session that speaks one of the APIs.
pub(crate) struct Speaking(pub(crate) Api);

impl Subject for Speaking {
    type Builder = OpenAiSessionBuilder;
    type Session = OpenAiSession;

    fn builder(&self, base_url: &str) -> OpenAiSessionBuilder {
        OpenAiSession::builder(base_url).api(self.0)
    }

    fn set(&self, builder: OpenAiSessionBuilder, setting: Setting) -> OpenAiSessionBuilder {
        match setting {
            Setting::Credential(key) => builder.credential(key),
            Setting::Header(name, value) => builder.header(name, value),
            Setting::Timeouts(timeouts) => builder.timeouts(timeouts),
            Setting::EventLimitBytes(most) => builder.event_limit_bytes(most),
            Setting::Profile(model, profile) => builder.profile(model, profile),
            Setting::DefaultProfile(profile) => builder.default_profile(profile),
        }
    }

    fn build(&self, builder: OpenAiSessionBuilder) -> Result<OpenAiSession, BuildError> {
        builder.build()
    }

    fn words(&self) -> Words {
        match self.0 {
            Api::Chat => CHAT,
            Api::Responses => RESPONSES,
        }
    }

    fn echo(&self) -> Echo {
        let text = Echo::text();
        let error = format!(
            r#"{{"error":{{"message":"{text}","code":"{KEY}","type":"{KEY}","param":"{KEY}"}}}}"#
        );
        let begun = match self.0 {
            Api::Chat => format!(r#"{{"id":"{KEY}","choices":[]}}"#),
            Api::Responses => {
                format!(r#"{{"type":"response.created","response":{{"id":"{KEY}"}}}}"#)
            }
        };
        Echo {
            statuses: vec!["400 B", "401 U", "403 F", "404 N", "429 T", "500 I", "503 S"],
            request_id: "x-request-id",
            refusal: error.clone(),
            failures: vec![error],
            begun,
        }
    }
}

/// A short answer of Chat Completions.
pub(crate) const CHAT: Words = Words {
    start: &[],
    hi: HI,
    finish: &[STOP],
    after: &[USAGE, DONE],
    idle: &[r#"{"id":"x","choices":[]}"#],
    document: r#"{"id":"x","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#,
};

/// A short answer of Responses.
const RESPONSES: Words = Words {
    start: &[r#"{"type":"response.created","response":{"id":"x","status":"in_progress"}}"#],
    hi: r#"{"type":"response.output_text.delta","output_index":0,"delta":"hi"}"#,
    finish: &[
        r#"{"type":"response.completed","response":{"id":"x","status":"completed","output":[],"usage":{"input_tokens":3,"output_tokens":1}}}"#,
    ],
    after: &[],
    idle: &[r#"{"type":"keepalive"}"#],
    document: r#"{"id":"x","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}"#,
};

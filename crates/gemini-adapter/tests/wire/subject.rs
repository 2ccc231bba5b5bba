//! Decides how the Gemini API is tried by the rules of the wire.
//!
//! Knows its words; what must hold is the list's.

use gemini_adapter::{BuildError, Delivery, GeminiSession, GeminiSessionBuilder};
use wire_rehearsal::subject::{Echo, Setting, Subject, Words};

use crate::{HI, KEY, STOP, USAGE};

/// A session that asks for answers in this way.
pub(crate) struct Asking(pub(crate) Delivery);

impl Subject for Asking {
    type Builder = GeminiSessionBuilder;
    type Session = GeminiSession;

    fn builder(&self, base_url: &str) -> GeminiSessionBuilder {
        GeminiSession::builder(base_url).delivery(self.0)
    }

    fn set(&self, builder: GeminiSessionBuilder, setting: Setting) -> GeminiSessionBuilder {
        match setting {
            Setting::Credential(key) => builder.credential(key),
            Setting::Header(name, value) => builder.header(name, value),
            Setting::Timeouts(timeouts) => builder.timeouts(timeouts),
            Setting::EventLimitBytes(most) => builder.event_limit_bytes(most),
            Setting::Profile(model, profile) => builder.profile(model, profile),
            Setting::DefaultProfile(profile) => builder.default_profile(profile),
        }
    }

    fn build(&self, builder: GeminiSessionBuilder) -> Result<GeminiSession, BuildError> {
        builder.build()
    }

    fn words(&self) -> Words {
        WORDS
    }

    fn echo(&self) -> Echo {
        let text = Echo::text();
        let details = format!(
            r#"[{{"reason":"{KEY}","retryDelay":"{text}","violations":[{{"quotaId":"{text}"}}]}}]"#
        );
        let error = format!(
            r#"{{"error":{{"message":"{text}","code":"{KEY}","status":"{KEY}","details":{details}}}}}"#
        );
        let blocked = format!(r#"{{"promptFeedback":{{"blockReason":"{KEY}"}}}}"#);
        let malformed = format!(
            r#"{{"candidates":[{{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"{text}"}}]}}"#
        );
        Echo {
            statuses: vec!["400 B", "401 U", "403 F", "404 N", "429 T", "500 I", "503 S"],
            request_id: "x-request-id",
            refusal: format!("[{error}]"),
            failures: vec![error, blocked, malformed],
            begun: format!(r#"{{"responseId":"{KEY}","candidates":[]}}"#),
        }
    }
}

/// A short answer.
pub(crate) const WORDS: Words = Words {
    start: &[],
    hi: HI,
    finish: &[STOP],
    after: &[USAGE],
    idle: &[r#"{"responseId":"x"}"#],
    document: r#"{"responseId":"x","candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}"#,
};

//! That the key and the payload stay out of everything that is shown, and go to one server only.

use gemini_adapter::{BuildError, Delivery, GeminiSession, GeminiSessionBuilder};
use runtime_types::CredentialHandle;
use wire_rehearsal::{
    loopback::{Act, Loopback, events, stream},
    secrets::{Echo, builders_hide_the_key, stay_here, stay_hidden},
};

use crate::{KEY, builder, session};

/// Everything that a server could echo the key and the prompt in.
fn echoes() -> Vec<Vec<Act>> {
    let text = Echo::text();
    let details = format!(
        r#"[{{"reason":"{KEY}","retryDelay":"{text}","violations":[{{"quotaId":"{text}"}}]}}]"#
    );
    let error = format!(
        r#"{{"error":{{"message":"{text}","code":"{KEY}","status":"{KEY}","details":{details}}}}}"#
    );
    let echo = Echo {
        statuses: vec!["400 B", "401 U", "403 F", "404 N", "429 T", "500 I", "503 S"],
        request_id: "x-request-id",
        refusal: format!("[{error}]"),
        error,
        begun: format!(r#"{{"responseId":"{KEY}","candidates":[]}}"#),
    };
    let mut replies = echo.replies();
    replies.push(stream(&events(&[format!(r#"{{"promptFeedback":{{"blockReason":"{KEY}"}}}}"#)])));
    let reason =
        r#"{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"ECHO"}]}"#;
    replies.push(stream(&events(&[reason.replace("ECHO", &text)])));
    replies
}

#[tokio::test]
async fn no_failure_shows_the_key_or_the_prompt() {
    for delivery in [Delivery::Streamed, Delivery::Whole] {
        let session =
            |server: &Loopback| builder(server).delivery(delivery).build().expect("a session");
        stay_hidden(echoes(), session).await;
    }
}

#[tokio::test]
async fn no_builder_and_no_session_shows_the_key() {
    let keyed = |base_url| {
        GeminiSession::builder(base_url)
            .credential(CredentialHandle::new(KEY))
            .header("x-secret", KEY)
    };
    builders_hide_the_key(keyed, GeminiSessionBuilder::build);
}

#[test]
fn a_key_in_the_address_is_refused() {
    for query in ["?key=canary", "?alt=sse&key=canary"] {
        let refused = GeminiSession::builder(format!("https://example.com/v1beta{query}")).build();
        assert_eq!(refused.expect_err("a key in the address"), BuildError::CredentialInUrl);
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_the_key_stays_here() {
    stay_here(session).await;
}

//! That a key stands where nothing shows it.

use gemini_adapter::{BuildError, GeminiSession};

#[test]
fn a_key_in_the_address_is_refused() {
    for query in ["?key=canary", "?alt=sse&key=canary"] {
        let refused = GeminiSession::builder(format!("https://example.com/v1beta{query}")).build();
        assert_eq!(refused.expect_err("a key in the address"), BuildError::CredentialInUrl);
    }
}

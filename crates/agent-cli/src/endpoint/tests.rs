//! Decides whether a provider is named by its host, and by nothing secret.

use super::{Api, Endpoint};

#[test]
fn a_provider_is_the_host_of_its_address() {
    for (base_url, expected) in [
        ("https://api.openai.com/v1", "api.openai.com"),
        ("http://127.0.0.1:8080/v1", "127.0.0.1:8080"),
        ("http://[::1]:8080", "[::1]:8080"),
        ("https://me:canary@host/v1", "host"),
        ("https://host?key=canary", "host"),
        ("https://host#canary", "host"),
        ("host/v1", "host"),
    ] {
        let endpoint = Endpoint { base_url: base_url.to_owned(), api: Api::Chat, key: None };
        assert_eq!(endpoint.provider(), expected);
    }
}

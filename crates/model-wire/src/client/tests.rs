//! Which servers may be talked to, and what is never printed.

use bytes::Bytes;
use runtime_types::CredentialHandle;

use super::HttpClient;
use crate::{
    endpoint::{BuildError, Endpoint},
    response::Asked,
    sent_body::SentFlag,
};

const KEY: &str = "canary-key-5f1c";

fn client(base: &str, key: Option<&str>) -> Result<HttpClient, BuildError> {
    let credential = key.map(CredentialHandle::new);
    HttpClient::new(&Endpoint { credential, ..Endpoint::new(base) })
}

fn refused(base: &str, key: Option<&str>, expected: BuildError) {
    assert_eq!(client(base, key).err(), Some(expected), "{base}");
}

#[test]
fn a_key_travels_in_the_clear_only_to_this_machine() {
    for base in
        ["http://127.0.0.1:8080/v1", "http://[::1]/v1", "http://localhost:1", "http://127.9.9.9"]
    {
        assert!(client(base, Some(KEY)).is_ok(), "{base}");
    }
    for base in
        ["http://example.com/v1", "http://10.0.0.1", "http://localhost.evil.com", "http://0.0.0.0"]
    {
        refused(base, Some(KEY), BuildError::PlaintextCredential);
        assert!(client(base, None).is_ok(), "{base}");
    }
}

#[test]
fn addresses_that_are_none_are_refused() {
    for base in
        ["", "example.com/v1", "ftp://example.com", "file:///etc/passwd", "http://", "gopher://x"]
    {
        refused(base, None, BuildError::InvalidBaseUrl);
    }
    refused("https://user@example.com", None, BuildError::CredentialInUrl);
    refused("https://:secret@example.com", None, BuildError::CredentialInUrl);
    refused("http://127.0.0.1", Some("two\nlines"), BuildError::InvalidCredential);
}

#[test]
fn paths_are_appended_and_a_query_is_kept() {
    let cases = [
        ("http://127.0.0.1/v1", "http://127.0.0.1/v1/models"),
        ("http://127.0.0.1/v1/", "http://127.0.0.1/v1/models"),
        ("http://127.0.0.1", "http://127.0.0.1/models"),
        ("http://127.0.0.1/d?api-version=1#x", "http://127.0.0.1/d/models?api-version=1"),
    ];
    for (base, expected) in cases {
        let client = client(base, None).expect(base);
        let request = client.request("models", Asked::Get, &SentFlag::default());
        let request = request.expect(base).build().expect(base);
        assert_eq!(request.url().as_str(), expected);
    }
}

#[test]
fn no_format_shows_the_key() {
    let client = client("http://127.0.0.1/v1", Some(KEY)).expect("a client");
    let request = client.request("x", Asked::Post(Bytes::new()), &SentFlag::default());
    let request = request.expect("a network").build().expect("a request");
    let shown = format!("{client:?} {request:?}");
    assert!(!shown.contains(KEY), "{shown}");
    assert_eq!(request.headers()["authorization"], format!("Bearer {KEY}"));
    assert_eq!(client.without_key(format!("echo {KEY}!")), "echo [redacted]!");
}

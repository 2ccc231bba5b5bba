//! Decides whether a provider is named by its host, and by nothing secret.

use super::{Api, Endpoint, PUBLIC_BASE_URL, VENDORS};

fn endpoint(base_url: &str, name: Option<&str>) -> Endpoint {
    let (name, base_url) = (name.map(str::to_owned), base_url.to_owned());
    Endpoint { name, base_url, api: Api::Chat, key: None, profile: None }
}

#[test]
fn a_provider_is_its_name_or_the_host_of_its_address() {
    for (base_url, name, expected) in [
        ("https://api.openai.com/v1", None, "api.openai.com"),
        ("http://127.0.0.1:8080/v1", None, "127.0.0.1:8080"),
        ("http://[::1]:8080", None, "[::1]:8080"),
        ("https://me:canary@host/v1", None, "host"),
        ("https://host?key=canary", None, "host"),
        ("https://host#canary", None, "host"),
        ("host/v1", None, "host"),
        ("https://host/v1", Some("mine"), "mine"),
    ] {
        assert_eq!(endpoint(base_url, name).provider(), expected);
    }
}

#[test]
fn an_address_of_a_vendor_gets_the_version_that_its_tools_append() {
    let [anthropic, gemini] = &VENDORS;
    for (vendor, address, expected) in [
        (anthropic, "https://api.anthropic.com", "https://api.anthropic.com/v1"),
        (anthropic, "https://gate/anthropic/", "https://gate/anthropic/v1"),
        (anthropic, "http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1"),
        (anthropic, "https://gate?key=1", "https://gate?key=1"),
        (gemini, "https://gate", "https://gate/v1beta"),
        (gemini, "https://gate/v1", "https://gate/v1"),
        (gemini, "https://gate/video", "https://gate/video/v1beta"),
    ] {
        assert_eq!(vendor.versioned(address), expected);
    }
}

#[test]
fn prices_are_those_of_a_public_address_and_of_no_other() {
    for (base_url, expected) in [
        (PUBLIC_BASE_URL, Some("openai")),
        (VENDORS[0].base_url, Some("anthropic")),
        (VENDORS[1].base_url, Some("gemini")),
        ("https://gate/v1", None),
    ] {
        assert_eq!(endpoint(base_url, None).catalogue_provider(), expected);
    }
}

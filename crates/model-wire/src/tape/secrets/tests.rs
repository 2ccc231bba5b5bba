//! Where a secret is found, and what is left of the text around it.

use std::time::{Duration, Instant};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use reqwest::Url;
use runtime_types::CredentialHandle;

use super::Secrets;
use crate::endpoint::Endpoint;

const KEY: &str = r#"sk-ca/na"ry\5f1c"#;

fn secrets(key: &str) -> Secrets {
    let credential = Some(CredentialHandle::new(key));
    let base = Url::parse("http://127.0.0.1/v1?token=query-canary&api-version=2024-05-01");
    let headers = vec![
        ("x-secret".to_owned(), CredentialHandle::new("Basic header-canary")),
        ("anthropic-version".to_owned(), CredentialHandle::new("2023-06-01")),
    ];
    let endpoint = Endpoint { credential, headers, ..Endpoint::new("unused") };
    Secrets::of(&endpoint, &base.expect("an address"))
}

fn check(key: &str, text: &str, expected: &str) {
    assert_eq!(text.len(), expected.len(), "as many bytes: {text}");
    assert_eq!(secrets(key).blotted(text), expected, "{text}");
}

#[test]
fn a_secret_is_found_in_every_form() {
    check(KEY, r#"a sk-ca/na"ry\5f1c b"#, "a **************** b");
    check(KEY, r#""sk-ca/na\"ry\\5f1c""#, r#""******************""#);
    check(KEY, r#""sk-ca\/na\"ry\\5f1c""#, r#""*******************""#);
    let unicode = r"sk\u002dca/na\u0022ry\u005c5f1c";
    check(KEY, &format!("{unicode}!"), &format!("{}!", "*".repeat(unicode.len())));
    check(KEY, r#"{\"m\":\"sk-ca/na\\\"ry\\\\5f1c\"}"#, r#"{\"m\":\"**********************\"}"#);
    check(KEY, "?key=sk-ca%2Fna%22ry%5c5f1c&x", "?key=**********************&x");
    check(r"dom\user-canary", r#"{\"u\":\"dom\\user-canary\"}"#, r#"{\"u\":\"****************\"}"#);
    check("sk-plain-1234", "xsk-plain-1234x", "x*************x");
}

#[test]
fn a_secret_is_found_in_base64_wherever_it_stands_there() {
    let key = "sk-plain-0123456789";
    for (before, after) in [("", ""), ("a", "b"), ("ab", ""), ("user:", " and more")] {
        let text = STANDARD.encode(format!("{before}{key}{after}"));
        let shown = secrets(key).blotted(&text);
        let blots = shown.bytes().filter(|&byte| byte == b'*').count();
        // All letters that are made of the key alone.
        assert!(blots >= key.len() * 8 / 6 - 2, "{before:?}: {shown}");
        assert_eq!(shown.len(), text.len());
    }
    check("short-12", &STANDARD.encode("short-12"), &STANDARD.encode("short-12"));
}

#[test]
fn headers_and_the_query_of_the_address_are_secrets_unless_everybody_knows_them() {
    check(KEY, "header-canary", "*************");
    check(KEY, "Basic header-canary", "*******************");
    check(KEY, "query-canary", "************");
    check(KEY, "2023-06-01 and 2024-05-01", "2023-06-01 and 2024-05-01");
}

#[test]
fn a_secret_that_the_end_cuts_off_is_blotted_out() {
    check("sk-plain-1234", "error: sk-plain-12", "error: ***********");
    check("sk-plain-1234", "error: sk-pl", "error: sk-pl");
}

#[test]
fn short_keys_are_looked_for_as_words_and_very_short_ones_not_at_all() {
    check("ollama", "ollama ollamas \"ollama\"", "****** ollamas \"******\"");
    check("x", "max x", "max x");
}

#[test]
fn a_long_run_of_backslashes_is_walked_over_once() {
    let begin = Instant::now();
    for (place, byte) in [(0, "x"), (1, "\\\\"), (2, "u002d")] {
        let text = "\\".repeat(1 << 20) + byte;
        check(KEY, &text, &text);
        assert!(begin.elapsed() < Duration::from_secs(20), "{place}");
    }
    let end = r"sk\u002dca/na\u0022ry\u005c5f1c";
    let text = "\\".repeat(9) + end;
    check(KEY, &text, &("\\".repeat(9) + &"*".repeat(end.len())));
}

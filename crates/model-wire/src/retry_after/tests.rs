//! Which waits are believed.

use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::{LONGEST, wait_of_headers};

fn check(name: &str, value: &str, expected: Option<Duration>) {
    let mut headers = HeaderMap::new();
    let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
    headers.insert(name, HeaderValue::from_str(value).expect("a value"));
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    assert_eq!(wait_of_headers(&headers, now), expected, "{value}");
}

#[test]
fn waits_are_seconds_or_dates() {
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    check("retry-after", "5", seconds(5));
    check("retry-after", " 0 ", seconds(0));
    check("retry-after", "1.5", Some(Duration::from_millis(1_500)));
    check("retry-after", "1e3", seconds(1_000));
    check("retry-after", "1e12", Some(LONGEST));
    check("retry-after", "20s", seconds(20));
    check("retry-after", "1m30s", seconds(90));
    check("retry-after", "250ms", Some(Duration::from_millis(250)));
    check("retry-after", "99999999999h", Some(LONGEST));
    check("retry-after-ms", "250", Some(Duration::from_millis(250)));
    check("retry-after", "Tuesday, 14-Nov-23 22:13:27 GMT", seconds(7));
    check("retry-after", "Tue Nov 14 22:13:27 2023", seconds(7));
    check("retry-after", "Tue, 14 Nov 2023 22:13:27 GMT", seconds(7));
    check("retry-after", "Tue, 14 Nov 2023 22:13:00 GMT", seconds(0));
    check("retry-after", "1000000000000", Some(LONGEST));
    check("retry-after", "Sat, 14 Nov 2099 22:13:00 GMT", Some(LONGEST));
    check("retry-after", "1700000030", seconds(30));
    check("retry-after", "1699999999", seconds(0));
    check("retry-after", "1699900000", Some(LONGEST));
    check("retry-after", "2023-11-14T22:13:27Z", seconds(7));
    assert_eq!(wait_of_headers(&HeaderMap::new(), SystemTime::now()), None);
}

#[test]
fn hostile_values_are_no_waits() {
    for hostile in
        ["-1", "NaN", "inf", "", "soon", "0x10", "+5", ".", "1e999", "5x", "s", "-5s", "5 s"]
    {
        check("retry-after", hostile, None);
    }
}

fn reset(headers: &[(&str, &str)]) -> Option<u64> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
        map.insert(name, HeaderValue::from_str(value).expect("a value"));
    }
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    wait_of_headers(&map, now).map(|wait| wait.as_secs())
}

#[test]
fn a_spent_limit_says_when_it_begins_anew() {
    let requests = [
        ("anthropic-ratelimit-requests-remaining", "0"),
        ("anthropic-ratelimit-requests-reset", "2023-11-14T22:13:27Z"),
    ];
    assert_eq!(reset(&requests), Some(7));
    let tokens = [
        ("anthropic-ratelimit-input-tokens-remaining", "0"),
        ("anthropic-ratelimit-input-tokens-reset", "2023-11-14T22:14:20.5Z"),
    ];
    assert_eq!(reset(&[requests, tokens].concat()), Some(60), "the longest");
    assert_eq!(reset(&[&requests[..], &[("retry-after", "3")]].concat()), Some(3), "said plainly");
    let left = [("anthropic-ratelimit-requests-remaining", "4"), requests[1]];
    assert_eq!(reset(&left), None, "not spent");
    let at = |moment| reset(&[requests[0], ("anthropic-ratelimit-requests-reset", moment)]);
    assert_eq!(at("2024-02-29T00:00:00Z"), Some(LONGEST.as_secs()));
    assert_eq!(at("2023-11-14T00:00:00Z"), Some(0), "past");
    for odd in
        ["soon", "2023-13-01T00:00:00Z", "2023-11-14T25:00:00Z", "2023-11-14", "-1-1-1T1:1:1Z"]
    {
        assert_eq!(at(odd), None, "{odd}");
    }
}

//! Decides what must hold of the wait that a server asks for: no hostile value gives one, none is
//! longer than a day, and plain seconds are what they say.
//!
//! An input is the two headers, each in a line of its own: `retry-after`, then `retry-after-ms`.

use std::time::{Duration, SystemTime};

use model_wire::wait_of_headers;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::{cost, target::Shape};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The moment at which the headers arrive: 14 November 2023.
const NOW: Duration = Duration::from_secs(1_700_000_000);

pub(crate) fn run(bytes: &[u8]) -> Shape {
    let mut lines = bytes.splitn(2, |byte| *byte == b'\n');
    let after = lines.next().and_then(value);
    let millis = lines.next().and_then(value);
    let mut headers = HeaderMap::new();
    for (name, value) in [("retry-after", &after), ("retry-after-ms", &millis)] {
        if let Some(value) = value {
            headers.insert(HeaderName::from_static(name), value.clone());
        }
    }
    let now = SystemTime::UNIX_EPOCH + NOW;
    let wait = cost::bounded("the header", bytes.len(), || wait_of_headers(&headers, now));
    assert!(wait.is_none_or(|wait| wait <= DAY), "a wait of {wait:?}");
    if millis.is_none() {
        seconds_are_what_they_say(after.as_ref(), wait);
    }
    let words = [after.is_some(), millis.is_some()].map(u64::from);
    let length = wait.map_or(0, |wait| u64::from(wait.as_secs().max(1).ilog2()) + 1);
    Shape(words[0] | words[1] << 1 | length << 2)
}

fn value(line: &[u8]) -> Option<HeaderValue> {
    HeaderValue::from_bytes(line).ok()
}

/// A number within a day of now is a second of the calendar, and any other one a wait.
fn asked(number: u64) -> Duration {
    let number = Duration::from_secs(number);
    if number.abs_diff(NOW) <= DAY { number.saturating_sub(NOW) } else { number }
}

fn seconds_are_what_they_say(after: Option<&HeaderValue>, wait: Option<Duration>) {
    let text = after.and_then(|value| value.to_str().ok()).map_or("", str::trim);
    // What has hundreds of digits may be no number at all.
    let plain = (1..=300).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain {
        let seconds = text.parse().map_or(DAY, asked).min(DAY);
        assert_eq!(wait, Some(seconds), "{text:?} seconds");
    }
    let begins =
        text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
    assert!(
        begins || wait.is_none(),
        "{text:?} is neither a number nor a date, and gives {wait:?}"
    );
}

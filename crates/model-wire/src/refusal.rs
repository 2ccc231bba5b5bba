//! Decides what a server said when it refused a request, whatever shape it said it in.
//!
//! Knows nothing about what follows from it. Invariant: nothing of the text leaves this crate but
//! short codes of a fixed alphabet, because servers echo payloads and keys.

use std::time::Duration;

use serde_json::Value;

use crate::{
    details::Details,
    json::{self, NoJson},
};

/// Most characters of a provider's code that are shown.
const CODE_LENGTH: usize = 64;

/// The parts of an error body or an error event that decide something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refusal {
    /// All texts of the error, lower case. Never shown.
    pub text: String,
    /// The provider's `code`, when it is a plain word or number.
    pub code: Option<String>,
    /// The provider's `type`, when it is a plain word.
    pub kind: Option<String>,
    /// The parameter that is refused, when it is named.
    pub param: Option<String>,
    /// The HTTP status that it names beside its code, when it is a plain word or number.
    pub status: Option<String>,
    /// The reason that stands in its details, when it is a plain word.
    pub reason: Option<String>,
    /// How long to wait, when the error itself says so.
    pub retry_after: Option<Duration>,
    /// Whether a quota is used up that does not come back within a minute.
    pub quota_is_spent: bool,
    /// Whether reasons of a moderation came with it.
    pub moderated: bool,
    /// Whether the body was a web page.
    pub is_page: bool,
}

impl Refusal {
    /// Reads the body of an HTTP error: an object, an array around one, a text, or a web page.
    pub fn of_body(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        match json::read(body) {
            Ok(value) => Self::of_value(&value),
            // Only its words count: what else stands in it may be what was asked.
            Err(NoJson::Cut) => Self::of_value(&completed(&text).unwrap_or_default()),
            Err(NoJson::Malformed) => Self::of_text(&text),
        }
    }

    /// Reads an error that arrived as JSON.
    pub fn of_value(value: &Value) -> Self {
        let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let error = error.as_array().and_then(|list| list.first()).unwrap_or(error);
        let mut texts = Vec::new();
        for place in [error, value] {
            collect_texts(place, &mut texts);
        }
        let text = texts.join("\n").to_lowercase();
        let details = Details::of(error, &text);
        let word = |name| plain(error.get(name)).or_else(|| plain(value.get(name)));
        let number = plain(Some(error).filter(|error| error.is_number()));
        let inner = error.get("innererror").and_then(|inner| plain(inner.get("code")));
        let reasons = error.get("metadata").and_then(|metadata| metadata.get("reasons"));
        Self {
            text,
            code: CODES.into_iter().find_map(word).or(inner).or(number),
            kind: word("type").filter(|kind| kind != "error").or_else(|| word("status")),
            param: word("param"),
            status: STATUSES.into_iter().find_map(word),
            reason: details.reason.and_then(|reason| plain(Some(&reason.into()))),
            retry_after: details.retry_after,
            quota_is_spent: details.quota_is_spent,
            moderated: reasons.is_some_and(|reasons| !reasons.is_null()),
            is_page: false,
        }
    }

    fn of_text(text: &str) -> Self {
        let text = text.to_lowercase();
        let is_page = text.trim_start().starts_with('<');
        Self { text, is_page, ..Self::default() }
    }

    /// The provider's own word for the error, in brackets, to end a message with.
    pub fn label(&self) -> String {
        let word = self.code.as_ref().or(self.kind.as_ref());
        word.map_or_else(String::new, |word| format!(" ({word})"))
    }

    /// Whether `code`, `type` or the reason is one of `words`.
    pub fn is_any(&self, words: &[&str]) -> bool {
        let known = [self.code.as_deref(), self.kind.as_deref(), self.reason.as_deref()];
        known.into_iter().flatten().any(|word| words.contains(&word))
    }

    /// Whether the text has one of `needles`, which are lower case.
    pub fn mentions(&self, needles: &[&str]) -> bool {
        needles.iter().any(|needle| self.text.contains(needle))
    }
}

/// Fields in which servers put the code of an error.
const CODES: [&str; 3] = ["code", "status_code", "error_code"];

/// Fields in which servers put the HTTP status that it would have had.
const STATUSES: [&str; 3] = ["http_code", "http_status", "status_code"];

/// Fields in which servers put the words of an error.
const NAMES: [&str; 8] = [
    "message",
    "detail",
    "errors",
    "msg",
    "error_msg",
    "error_message",
    "status_msg",
    "error_description",
];

/// Messages stand in `message`, in `detail` or `errors` (a text, an object, or a list of objects
/// with `msg` and `loc`), or are the error itself; gateways keep the one of the server behind them
/// in `metadata.raw` or in `value`.
fn collect_texts(place: &Value, texts: &mut Vec<String>) {
    texts.extend(place.as_str().map(str::to_owned));
    let raw = place.get("metadata").and_then(|metadata| metadata.get("raw"));
    let named = NAMES.iter().map(|name| place.get(*name));
    named.chain([raw, place.get("value")]).flatten().for_each(|part| collect_words(part, texts));
}

/// The words of the server in a part of an error. Whatever else stands there may be what was asked,
/// whose words say nothing about the refusal.
fn collect_words(part: &Value, texts: &mut Vec<String>) {
    const WORDS: [&str; 10] = [
        "message",
        "msg",
        "error_message",
        "detail",
        "error",
        "errors",
        "loc",
        "param",
        "type",
        "code",
    ];
    match part {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(parts) => parts.iter().for_each(|part| collect_words(part, texts)),
        Value::Object(fields) => {
            let words = WORDS.iter().filter_map(|name| fields.get(*name));
            words.for_each(|part| collect_words(part, texts));
        }
        _ => {}
    }
}

/// The value of a JSON text that ends early, as far as it goes.
fn completed(text: &str) -> Option<Value> {
    let (mut open, mut in_text, mut escaped) = (Vec::new(), false, false);
    for byte in text.bytes() {
        match byte {
            _ if in_text => {
                (in_text, escaped) = (escaped || byte != b'"', !escaped && byte == b'\\')
            }
            b'"' => in_text = true,
            b'{' => open.push('}'),
            b'[' => open.push(']'),
            b'}' | b']' => drop(open.pop()),
            _ => {}
        }
    }
    let begun = match (in_text, text.rfind('\\').filter(|at| at + 6 > text.len())) {
        (true, Some(escape)) => format!("{}\"", &text[..escape]),
        (true, None) => format!("{text}\""),
        (false, _) => text.trim_end().trim_end_matches(',').to_owned(),
    };
    let closed: String = open.into_iter().rev().collect();
    let tails = ["", ":null", "null"].into_iter();
    tails.into_iter().find_map(|tail| json::read(format!("{begun}{tail}{closed}").as_bytes()).ok())
}

/// Codes are words or numbers; anything else might be a payload.
fn plain(value: Option<&Value>) -> Option<String> {
    let word = match value? {
        Value::String(word) => word.clone(),
        Value::Number(number) => whole_number(number),
        _ => return None,
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let fits = !word.is_empty() && word.len() <= CODE_LENGTH && word.chars().all(is_plain);
    (fits && !looks_secret(&word)).then_some(word)
}

/// A code is a whole number, also when it is written with a fraction of zero.
fn whole_number(number: &serde_json::Number) -> String {
    let text = number.to_string();
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// A key has the alphabet of a code, but not its look: codes are words.
fn looks_secret(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    word.starts_with("sk-") || (word.len() > 24 && digits > 2)
}

#[cfg(test)]
mod tests;

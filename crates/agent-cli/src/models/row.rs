//! Decides how one model reads in a list, and in a line for programs.
//!
//! Knows sizes and prices. Refuses to know where they come from.

use runtime_ports::{ModelProfile, Price};
use serde_json::{Value, json};

use crate::{
    safe_text::{safe_json, safe_line},
    table::{
        Side::{Left, Right},
        Table,
    },
};

const JSON_VERSION: u16 = 1;
const NAME_SHOWN: usize = 60;
/// Nano-dollars in a thousandth of a dollar.
const MILLI: u64 = 1_000_000;

/// A model that can be named.
pub(super) struct Row {
    /// As `--model` takes it.
    pub(super) model: String,
    pub(super) provider: String,
    pub(super) provider_model: String,
    /// `None` when only its server knows.
    pub(super) profile: Option<ModelProfile>,
    pub(super) key: Key,
}

/// Whether it can be used.
pub(super) enum Key {
    There,
    /// This variable may hold it.
    Missing(&'static str),
    Unneeded,
}

impl Row {
    /// The embedded model.
    pub(super) fn offline(name: &str) -> Self {
        let (model, provider, provider_model) = (name.to_owned(), name.to_owned(), name.to_owned());
        Self { model, provider, provider_model, profile: None, key: Key::Unneeded }
    }

    fn cells(&self) -> [String; 9] {
        let known = self.profile.as_ref();
        let unknown = || "unknown".to_owned();
        let price = known.and_then(|profile| profile.price);
        let priced = |part: fn(&Price) -> u64| {
            price.as_ref().map_or_else(|| "unpriced".to_owned(), |price| dollars(part(price)))
        };
        [
            safe_line(&self.model, NAME_SHOWN),
            safe_line(&self.provider, NAME_SHOWN),
            known.map_or_else(unknown, |profile| grouped(profile.context_window_tokens)),
            known.and_then(|profile| profile.max_output_tokens).map_or_else(unknown, grouped),
            known.map_or_else(unknown, |it| if it.images { "yes" } else { "no" }.to_owned()),
            priced(|price| price.input),
            priced(|price| price.cached_input.unwrap_or(price.input)),
            priced(|price| price.output),
            match self.key {
                Key::There => "there".to_owned(),
                Key::Unneeded => "none needed".to_owned(),
                Key::Missing(variable) => format!("set {variable}"),
            },
        ]
    }

    fn json(&self) -> Value {
        let known = self.profile.as_ref();
        let (key, variable) = match self.key {
            Key::There => ("there", None),
            Key::Unneeded => ("none_needed", None),
            Key::Missing(variable) => ("missing", Some(variable)),
        };
        json!({
            "version": JSON_VERSION,
            "kind": "model",
            "model": self.model,
            "provider": self.provider,
            "provider_model": self.provider_model,
            "context_window_tokens": known.map(|profile| profile.context_window_tokens),
            "max_input_tokens": known.map(|profile| profile.max_input_tokens),
            "max_output_tokens": known.and_then(|profile| profile.max_output_tokens),
            "images": known.map(|profile| profile.images),
            "nano_usd_per_million_tokens": known.and_then(|profile| profile.price).map(prices),
            "key": key,
            "key_variable": variable,
        })
    }
}

/// Named as the other fields of the line are.
fn prices(price: Price) -> Value {
    json!({
        "input": price.input,
        "cached_input": price.cached_input,
        "cache_write": price.cache_write,
        "output": price.output,
    })
}

/// A table; prices are dollars for a million tokens.
pub(super) fn table(rows: &[Row]) -> String {
    if rows.is_empty() {
        return "no models\n".to_owned();
    }
    let mut table = Table::new([
        ("model", Left),
        ("provider", Left),
        ("window", Right),
        ("answer", Right),
        ("images", Left),
        ("$/M in", Right),
        ("$/M cached", Right),
        ("$/M out", Right),
        ("key", Left),
    ]);
    rows.iter().for_each(|row| table.push(row.cells()));
    table.into_text()
}

/// One object a line.
pub(super) fn json_lines(rows: &[Row]) -> String {
    rows.iter().map(|row| format!("{}\n", safe_json(&row.json().to_string()))).collect()
}

/// `1,048,576`.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1.25`, `0.075`, `10.00`: rounded up, since what costs something is not shown as nothing.
fn dollars(nano_usd: u64) -> String {
    let milli = nano_usd.div_ceil(MILLI);
    let text = format!("{}.{:03}", milli / 1_000, milli % 1_000);
    text.strip_suffix('0').map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests;

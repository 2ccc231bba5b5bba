//! Decides whether the arguments of a tool call are whole, and what they say.
//!
//! Knows nothing about how the text arrived. Invariant: text that ends early is never taken for
//! arguments, and text that is no JSON is handed on as it is, bounded.

use serde_json::{Map, Value};

use crate::told::Told;

/// From here on a double has no fraction.
const ALL_WHOLE: f64 = 9_007_199_254_740_992.0;

/// Most bytes of text that is kept of arguments that do not parse.
const RAW_LIMIT: usize = 64 * 1024;

/// What a text of arguments turned out to be.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments {
    /// Ready for the tool; `Value::String` holds the text of what does not parse.
    Whole(Value),
    /// The text ends early.
    Cut,
}

impl Arguments {
    /// Reads what a server sent as the arguments of one call.
    ///
    /// Servers send nothing or `null` for a tool without arguments, a placeholder `{}` before the
    /// real object, or the same object twice; all of these are told apart from broken text. What
    /// can be read in two ways is broken: other arguments would run than were meant. That is a name
    /// with two values, and a number whose digits before the point no value can hold: a whole one
    /// beyond 64 bits, or one with a fraction beyond 53. Digits behind the point are those of the
    /// nearest double, as everywhere in JSON.
    pub fn read(text: &str) -> Self {
        let mut values: Vec<Value> = Vec::new();
        let mut is_clear = true;
        for told in serde_json::Deserializer::from_str(text).into_iter::<Told>() {
            match told {
                Ok(told) => {
                    is_clear &= told.is_clear;
                    values.push(told.value);
                }
                Err(error) if error.is_eof() => return Self::Cut,
                Err(_) => return Self::Whole(raw(text)),
            }
        }
        values.dedup();
        if values.len() > 1 && is_placeholder(&values[0]) {
            values.remove(0);
        }
        match values.pop() {
            None | Some(Value::Null) => Self::Whole(Value::Object(Map::new())),
            Some(_) if !values.is_empty() || !is_clear => Self::Whole(raw(text)),
            Some(Value::String(_)) => Self::Whole(raw(text)),
            Some(value) if loses_digits(&value, text) => Self::Whole(raw(text)),
            Some(value) => Self::Whole(value),
        }
    }
}

fn is_placeholder(value: &Value) -> bool {
    value.is_null() || value.as_object().is_some_and(Map::is_empty)
}

/// Whether digits before the point of a number of `text` are not those of `value`.
fn loses_digits(value: &Value, text: &str) -> bool {
    // Only numbers so large that they were read as floating ones are worth a look at the text.
    holds_large_float(value) && numbers(text).any(|number| is_beyond(number) || is_rounded(number))
}

fn holds_large_float(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            number.is_f64() && number.as_f64().is_some_and(|n| n.abs() >= ALL_WHOLE)
        }
        Value::Array(values) => values.iter().any(holds_large_float),
        Value::Object(fields) => fields.values().any(holds_large_float),
        _ => false,
    }
}

/// The numbers of a JSON text, as they are written.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let (mut in_string, mut escaped) = (false, false);
    text.split(move |c: char| {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            return true;
        }
        in_string = c == '"';
        !(c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E'))
    })
}

/// Whether it is a whole number of more than 64 bits.
fn is_beyond(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_whole && number.parse::<i64>().is_err() && number.parse::<u64>().is_err()
}

/// Whether it has a fraction, and so many digits before the point that the nearest double has
/// others.
fn is_rounded(number: &str) -> bool {
    let parts = number.split_once('.').filter(|(_, fraction)| !fraction.contains(['e', 'E']));
    let Some((whole, fraction)) = parts else { return false };
    let nearest = number.parse::<f64>().ok().filter(|nearest| nearest.abs() >= ALL_WHOLE);
    let has_fraction = fraction.bytes().any(|digit| digit != b'0');
    nearest.is_some_and(|nearest| has_fraction || format!("{nearest:.0}") != whole)
}

fn raw(text: &str) -> Value {
    let text = text.trim();
    Value::String(text[..text.floor_char_boundary(RAW_LIMIT)].to_owned())
}

/// Follows the brackets of a JSON text piece by piece, so that asking whether it is whole costs
/// nothing that grows with the text.
#[derive(Debug, Clone, Copy, Default)]
pub struct Balance {
    depth: u64,
    in_string: bool,
    escaped: bool,
    started: bool,
}

impl Balance {
    /// Takes the next piece.
    pub fn feed(&mut self, piece: &str) {
        piece.bytes().for_each(|byte| self.step(byte));
    }

    /// Whether something was opened, and everything that was opened is closed.
    pub const fn is_whole(self) -> bool {
        self.started && self.depth == 0 && !self.in_string
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.in_string = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b' ' | b'\t' | b'\r' | b'\n' => return,
            _ => {}
        }
        self.started = true;
    }
}

#[cfg(test)]
mod tests;

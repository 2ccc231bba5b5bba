//! Decides whether the arguments of a call follow the tool's input schema.
//!
//! Knows the part of JSON Schema that tool definitions use. Invariant: nothing is skipped. A keyword
//! that restricts values and is not checked here is refused when the tool is taken in, so that a
//! tool can rely on every word of its schema.

mod compile;
mod number;

use std::{collections::BTreeMap, fmt};

use serde_json::{Map, Value};

use self::number::Exact;

/// A fault of a schema or of a value: where, and what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// JSON pointer; empty is the whole.
    pub(super) path: String,
    /// Reads on after the place: "must be an integer".
    pub(super) reason: String,
}

impl Fault {
    fn here(reason: impl Into<String>) -> Self {
        Self { path: String::new(), reason: reason.into() }
    }

    /// The same fault as seen from outside of the member `step`.
    fn inside(self, step: &str) -> Self {
        let step = step.replace('~', "~0").replace('/', "~1");
        Self { path: format!("/{step}{}", self.path), ..self }
    }
}

/// A schema that was found good.
#[derive(Debug, Clone, Default)]
pub(super) struct ArgumentSchema {
    /// Whether nothing at all is allowed here.
    never: bool,
    /// The types that are allowed; none stands for all.
    types: Vec<JsonType>,
    /// The values that are allowed, from `enum` or `const`.
    values: Option<Vec<Value>>,
    number: Bounds<Exact>,
    length: Bounds<u64>,
    items: Option<Box<ArgumentSchema>>,
    item_count: Bounds<u64>,
    properties: BTreeMap<String, ArgumentSchema>,
    required: Vec<String>,
    /// What keys beside `properties` hold; `None`: anything.
    additional: Option<Box<ArgumentSchema>>,
}

#[derive(Debug, Clone)]
struct Bounds<T> {
    least: Option<T>,
    most: Option<T>,
}

impl<T> Default for Bounds<T> {
    fn default() -> Self {
        Self { least: None, most: None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JsonType {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl ArgumentSchema {
    /// Takes the input schema of a tool: the schema of an object.
    pub(super) fn of_arguments(schema: &Value) -> Result<Self, Fault> {
        let compiled = compile::schema(schema)?;
        if compiled.never || (!compiled.types.is_empty() && compiled.types != [JsonType::Object]) {
            return Err(Fault::here("the type must be object"));
        }
        Ok(compiled)
    }

    /// Holds a value against the schema; the first fault is reported.
    pub(super) fn check(&self, value: &Value) -> Result<(), Fault> {
        self.check_itself(value).map_err(Fault::here)?;
        match value {
            Value::Array(items) => self.check_items(items),
            Value::Object(members) => self.check_members(members),
            _ => Ok(()),
        }
    }

    fn check_itself(&self, value: &Value) -> Result<(), String> {
        if self.never {
            return Err("is not known, leave it out".to_owned());
        }
        if !self.types.is_empty() && !self.types.iter().any(|kind| kind.admits(value)) {
            return Err(format!("must be {}", names_of(&self.types)));
        }
        let among = |values: &Vec<Value>| values.iter().any(|allowed| is_same(allowed, value));
        if !self.values.as_ref().is_none_or(among) {
            return Err("is none of the values that the schema allows".to_owned());
        }
        self.check_size(value)
    }

    fn check_size(&self, value: &Value) -> Result<(), String> {
        match value {
            Value::Number(number) => self.number.hold(&Exact(number.clone()), "be", ""),
            Value::String(text) => {
                self.length.hold(&(text.chars().count() as u64), "have", " character(s)")
            }
            Value::Array(items) => self.item_count.hold(&(items.len() as u64), "have", " item(s)"),
            _ => Ok(()),
        }
    }

    fn check_items(&self, items: &[Value]) -> Result<(), Fault> {
        let Some(schema) = &self.items else { return Ok(()) };
        let mut numbered = items.iter().enumerate();
        numbered.try_for_each(|(index, item)| {
            schema.check(item).map_err(|fault| fault.inside(&index.to_string()))
        })
    }

    fn check_members(&self, members: &Map<String, Value>) -> Result<(), Fault> {
        if let Some(missing) = self.required.iter().find(|key| !members.contains_key(*key)) {
            return Err(Fault::here("is missing").inside(missing));
        }
        members.iter().try_for_each(|(key, member)| {
            let schema = self.properties.get(key).or(self.additional.as_deref());
            schema.map_or(Ok(()), |schema| schema.check(member).map_err(|fault| fault.inside(key)))
        })
    }
}

impl<T: PartialOrd + fmt::Display> Bounds<T> {
    /// `verb` and `unit` make the sentence: "must have at least 1 item(s)".
    fn hold(&self, value: &T, verb: &str, unit: &str) -> Result<(), String> {
        match (&self.least, &self.most) {
            (Some(least), _) if value < least => Err(format!("must {verb} at least {least}{unit}")),
            (_, Some(most)) if value > most => Err(format!("must {verb} at most {most}{unit}")),
            _ => Ok(()),
        }
    }
}

impl JsonType {
    const ALL: [(Self, &'static str, &'static str); 7] = [
        (Self::Null, "null", "null"),
        (Self::Boolean, "boolean", "a boolean"),
        (Self::Integer, "integer", "an integer"),
        (Self::Number, "number", "a number"),
        (Self::String, "string", "a string"),
        (Self::Array, "array", "an array"),
        (Self::Object, "object", "an object"),
    ];

    fn admits(self, value: &Value) -> bool {
        match self {
            Self::Null => value.is_null(),
            Self::Boolean => value.is_boolean(),
            Self::Integer => is_integer(value),
            Self::Number => value.is_number(),
            Self::String => value.is_string(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        }
    }

    fn with_article(self) -> &'static str {
        Self::ALL.iter().find(|(kind, ..)| *kind == self).map_or("", |(.., text)| text)
    }
}

/// In JSON Schema 1.0 is an integer.
fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|it| it.fract() == 0.0)
}

/// In JSON Schema 1 and 1.0 are one value.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => Exact(left.clone()) == Exact(right.clone()),
        _ => left == right,
    }
}

fn names_of(types: &[JsonType]) -> String {
    types.iter().map(|kind| kind.with_article()).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests;

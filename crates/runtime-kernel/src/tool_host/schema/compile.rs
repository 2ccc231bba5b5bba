//! Decides which schemas can be checked in full, and refuses the others with a reason.
//!
//! Knows nothing about values: what a schema says is held against them elsewhere.

use serde_json::{Map, Value};

use super::{ArgumentSchema, Exact, Fault, JsonType};

/// Deepest nesting of a schema.
const MAX_DEPTH: usize = 64;

/// Keywords that restrict nothing. `format` is one: by the standard it only annotates.
const ANNOTATIONS: [&str; 11] = [
    "$comment",
    "$id",
    "$schema",
    "default",
    "deprecated",
    "description",
    "examples",
    "format",
    "readOnly",
    "title",
    "writeOnly",
];

pub(super) fn schema(value: &Value) -> Result<ArgumentSchema, Fault> {
    schema_at(value, 0)
}

fn schema_at(value: &Value, depth: usize) -> Result<ArgumentSchema, Fault> {
    if depth > MAX_DEPTH {
        return Err(Fault::here("the schema is nested too deeply, make it flatter"));
    }
    match value {
        Value::Bool(allowed) => Ok(ArgumentSchema { never: !allowed, ..Default::default() }),
        Value::Object(keywords) => of_keywords(keywords, depth),
        _ => Err(Fault::here("a schema must be an object or a boolean")),
    }
}

fn of_keywords(keywords: &Map<String, Value>, depth: usize) -> Result<ArgumentSchema, Fault> {
    let mut schema = ArgumentSchema::default();
    for (keyword, value) in keywords {
        take(&mut schema, keyword, value, depth).map_err(|fault| fault.inside(keyword))?;
    }
    Ok(schema)
}

fn take(
    schema: &mut ArgumentSchema,
    keyword: &str,
    value: &Value,
    depth: usize,
) -> Result<(), Fault> {
    match keyword {
        "type" => schema.types = types(value)?,
        "enum" => allow(schema, array(value)?),
        "const" => allow(schema, std::slice::from_ref(value)),
        "minimum" => schema.number.least = Some(number(value)?),
        "maximum" => schema.number.most = Some(number(value)?),
        "minLength" => schema.length.least = Some(count(value)?),
        "maxLength" => schema.length.most = Some(count(value)?),
        "minItems" => schema.item_count.least = Some(count(value)?),
        "maxItems" => schema.item_count.most = Some(count(value)?),
        "items" => schema.items = Some(Box::new(schema_at(value, depth + 1)?)),
        "additionalProperties" => {
            schema.additional = Some(Box::new(schema_at(value, depth + 1)?));
        }
        "required" => schema.required = names(value)?,
        "properties" => properties(schema, value, depth)?,
        annotation if ANNOTATIONS.contains(&annotation) => {}
        _ => return Err(unchecked()),
    }
    Ok(())
}

fn unchecked() -> Fault {
    Fault::here("the keyword is not checked here, leave it out and let the tool check it")
}

fn properties(schema: &mut ArgumentSchema, value: &Value, depth: usize) -> Result<(), Fault> {
    let members = value.as_object().ok_or_else(|| Fault::here("must be an object"))?;
    for (name, member) in members {
        let property = schema_at(member, depth + 1).map_err(|fault| fault.inside(name))?;
        schema.properties.insert(name.clone(), property);
    }
    Ok(())
}

/// With both `enum` and `const`, what both allow.
fn allow(schema: &mut ArgumentSchema, values: &[Value]) {
    match &mut schema.values {
        Some(earlier) => earlier.retain(|value| values.iter().any(|it| super::is_same(it, value))),
        none => *none = Some(values.to_vec()),
    }
}

fn types(value: &Value) -> Result<Vec<JsonType>, Fault> {
    match value {
        Value::String(name) => Ok(vec![type_named(name)?]),
        Value::Array(many) if !many.is_empty() => {
            names(value)?.iter().map(|name| type_named(name)).collect()
        }
        _ => Err(Fault::here("must be the name of a type, or several in an array")),
    }
}

fn type_named(name: &str) -> Result<JsonType, Fault> {
    let found = JsonType::ALL.iter().find(|(_, known, _)| *known == name);
    found.map(|(kind, ..)| *kind).ok_or_else(|| Fault::here("names a type that JSON does not have"))
}

fn array(value: &Value) -> Result<&[Value], Fault> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| Fault::here("must be an array"))
}

fn names(value: &Value) -> Result<Vec<String>, Fault> {
    let text = |item: &Value| item.as_str().map(str::to_owned);
    let all: Option<Vec<String>> = array(value)?.iter().map(text).collect();
    all.ok_or_else(|| Fault::here("must hold strings only"))
}

fn number(value: &Value) -> Result<Exact, Fault> {
    let Value::Number(number) = value else { return Err(Fault::here("must be a number")) };
    Ok(Exact(number.clone()))
}

fn count(value: &Value) -> Result<u64, Fault> {
    value.as_u64().ok_or_else(|| Fault::here("must be a whole number of 0 or more"))
}

//! Decides how the schema of an argument type is shown to a model.
//!
//! Knows nothing about tools. Invariant: the same type gives the same bytes, in the part of JSON
//! Schema that providers take.

use std::borrow::Cow;

use schemars::{
    JsonSchema, Schema, SchemaGenerator,
    generate::SchemaSettings,
    json_schema,
    transform::{RecursiveTransform, Transform},
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Arguments of a tool that takes none; every key is refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoArguments {}

/// By hand, since a derived one would show the model what is said above.
impl JsonSchema for NoArguments {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "NoArguments".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "properties": {}, "additionalProperties": false })
    }
}

/// The schema of `T` as tools declare it: for tools that are a struct of their own.
///
/// Types are written where they are used, but for recursive ones, which are in `$defs`. There is
/// no `$schema` and no `title`. The widths of integers are bounds, not formats.
///
/// # Examples
/// ```
/// use runtime_kernel::{input_schema, schemars};
/// use serde_json::json;
///
/// #[derive(schemars::JsonSchema)]
/// struct Lines {
///     /// The first line, from 1.
///     from: u32,
///     to: Option<u32>,
/// }
///
/// let schema = input_schema::<Lines>();
/// let from = json!({
///     "type": "integer", "minimum": 0, "maximum": 4_294_967_295_u32,
///     "description": "The first line, from 1."
/// });
/// assert_eq!(schema["properties"]["from"], from);
/// assert_eq!(schema["required"], json!(["from"]));
/// ```
#[must_use]
pub fn input_schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(plain).transform(&mut schema);
    // Some providers refuse an object without it.
    if schema.get("type").is_some_and(|kind| kind == "object") {
        schema.ensure_object().entry("properties").or_insert_with(|| json!({}));
    }
    schema.to_value()
}

fn plain(schema: &mut Schema) {
    schema.remove("title");
    let width = schema.get("format").and_then(Value::as_str).and_then(bounds_of_width);
    let Some((least, most)) = width else { return };
    schema.remove("format");
    let keywords = schema.ensure_object();
    for (keyword, bound) in [("minimum", least), ("maximum", most)] {
        if let Some(bound) = bound {
            keywords.entry(keyword).or_insert_with(|| json!(bound));
        }
    }
}

/// The bounds that the name of a type of Rust stands for; none at 64 bits, where models and the
/// number formats of other languages are at a loss.
fn bounds_of_width(format: &str) -> Option<(Option<i64>, Option<i64>)> {
    let between = |least: i64, most: i64| (Some(least), Some(most));
    match format {
        "int8" => Some(between(i8::MIN.into(), i8::MAX.into())),
        "int16" => Some(between(i16::MIN.into(), i16::MAX.into())),
        "int32" => Some(between(i32::MIN.into(), i32::MAX.into())),
        "uint8" => Some(between(0, u8::MAX.into())),
        "uint16" => Some(between(0, u16::MAX.into())),
        "uint32" => Some(between(0, u32::MAX.into())),
        "uint" | "uint64" | "uint128" => Some((Some(0), None)),
        "int" | "int64" | "int128" | "float" | "double" => Some((None, None)),
        _ => None,
    }
}

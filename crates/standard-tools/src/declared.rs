//! Decides what every tool of this crate declares alike.
//!
//! Knows nothing about a single tool. Invariant: only what changes nothing runs in parallel, and
//! nothing is declared idempotent: a file that was written again may have been changed between.

use std::time::Duration;

use runtime_ports::{EffectClass, ModelToolDefinition, ToolDescriptor, ToolKind};
use serde_json::{Map, Value, json};

/// Most bytes of a result.
pub(crate) const OUTPUT_LIMIT_BYTES: usize = 48 << 10;

/// What a tool says of itself.
pub(crate) struct Declaration {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// JSON Schema of each argument.
    pub(crate) arguments: Vec<(&'static str, Value)>,
    pub(crate) required: &'static [&'static str],
    pub(crate) effect: EffectClass,
    pub(crate) timeout: Duration,
}

impl Declaration {
    /// The descriptor: no arguments but the declared ones.
    pub(crate) fn into_descriptor(self) -> ToolDescriptor {
        let properties: Map<String, Value> =
            self.arguments.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
        ToolDescriptor {
            definition: ModelToolDefinition {
                name: self.name.to_owned(),
                description: self.description.to_owned(),
                input_schema: json!({
                    "type": "object",
                    "properties": properties,
                    "required": self.required,
                    "additionalProperties": false,
                }),
            },
            kind: ToolKind::Function,
            effect: self.effect,
            idempotent: false,
            parallel: self.effect == EffectClass::ReadOnly,
            timeout: self.timeout,
            output_limit_bytes: OUTPUT_LIMIT_BYTES,
            version: "1".to_owned(),
        }
    }
}

/// Schema of a path.
pub(crate) fn path_schema(description: &str) -> Value {
    json!({ "type": "string", "maxLength": 4096, "description": description })
}

/// Schema of a whole number.
pub(crate) fn count_schema(minimum: u64, maximum: u64, description: &str) -> Value {
    json!({
        "type": "integer",
        "minimum": minimum,
        "maximum": maximum,
        "description": description,
    })
}

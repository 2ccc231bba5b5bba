//! Decides whether the arguments of a call follow the tool's input schema.
//!
//! Knows nothing about tools, hosts or what a refusal leads to; a library knows JSON Schema.
//! Invariant: what is compiled can be checked without leaving the process, in bounded time and on a
//! bounded stack, whatever a model writes.

mod chains;
mod fault;
mod shape;
mod walk;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

pub(crate) use self::fault::Fault;
use self::shape::{Extent, Shape};

/// Most bytes that the automaton of one pattern may take.
const MAX_PATTERN_BYTES: usize = 1 << 20;

const NO_SCHEMA: &str = "a schema must be an object or a boolean";
const NOT_AS_DEMANDED: &str = "do not follow the input schema";
const TOO_DEEP: &str = "are nested too deeply, make them flatter";
const TOO_LARGE_TO_EXPLAIN: &str =
    "do not follow the input schema, and are too large to say where: write simpler ones";

/// The input schema of a tool, compiled once and held against the arguments of each call; or the
/// schema of an answer.
///
/// The draft is the one that `$schema` names, else 2020-12. Keywords that no draft knows, and
/// `format`, only annotate.
#[derive(Debug, Clone)]
pub(crate) struct ArgumentSchema {
    validator: Validator,
    shape: Shape,
}

impl ArgumentSchema {
    /// Takes the input schema of a tool: the schema of an object.
    ///
    /// # Errors
    /// What is malformed, refers to something outside of the schema, or could not be checked within
    /// bounds, with its place in the schema.
    pub(crate) fn compile(schema: &Value) -> Result<Self, Fault> {
        let shape = Shape::of(schema)?;
        describes_an_object(schema)?;
        Self::built(schema, shape)
    }

    /// Takes the schema of an answer, which may be one of anything.
    ///
    /// # Errors
    /// As above.
    pub(crate) fn of_any_value(schema: &Value) -> Result<Self, Fault> {
        let shape = Shape::of(schema)?;
        match schema {
            Value::Bool(_) | Value::Object(_) => Self::built(schema, shape),
            _ => Err(Fault::here(NO_SCHEMA)),
        }
    }

    fn built(schema: &Value, shape: Shape) -> Result<Self, Fault> {
        // A linear engine: no pattern of a schema can make a text of a model expensive.
        let patterns = PatternOptions::regex().size_limit(MAX_PATTERN_BYTES);
        let options = jsonschema::options().should_validate_formats(false).offline();
        match options.with_pattern_options(patterns).build(schema) {
            Ok(validator) => Ok(Self { validator, shape }),
            Err(error) => Err(Fault::of_schema(&error)),
        }
    }

    /// Holds arguments against the schema.
    ///
    /// # Errors
    /// The first fault, with its place in the arguments.
    pub(crate) fn check(&self, arguments: &Value) -> Result<(), Fault> {
        let Some(extent) = Extent::of(arguments, self.shape.reach()) else {
            return Err(Fault::here(TOO_DEEP));
        };
        // Quick and lean for every value, which `validate` is not: it collects what is wrong with
        // each alternative, and of each of theirs.
        if self.validator.is_valid(arguments) {
            return Ok(());
        }
        if !self.shape.can_explain(extent) {
            return Err(Fault::here(TOO_LARGE_TO_EXPLAIN));
        }
        let found = self.validator.validate(arguments);
        Err(found.map_or_else(|error| Fault::of_value(&error), |()| Fault::here(NOT_AS_DEMANDED)))
    }
}

fn describes_an_object(schema: &Value) -> Result<(), Fault> {
    let named = match schema {
        Value::Bool(true) => return Ok(()),
        Value::Bool(false) => return Err(Fault::here("the type must be object")),
        Value::Object(keywords) => keywords.get("type"),
        _ => return Err(Fault::here(NO_SCHEMA)),
    };
    let name = match named {
        Some(Value::Array(names)) if names.len() == 1 => names.first(),
        other => other,
    };
    if name.is_none_or(|name| name == "object") {
        return Ok(());
    }
    Err(Fault::here("the type must be object"))
}

#[cfg(test)]
mod tests;

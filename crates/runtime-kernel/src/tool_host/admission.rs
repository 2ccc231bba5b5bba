//! Decides which tools a host takes in, and how they are described to a model.
//!
//! Knows nothing about calls. Invariant: names are unique, callable through the bridge, and every
//! schema can be checked in full.

use std::{collections::BTreeMap, sync::Arc};

use runtime_ports::{Tool, ToolDescriptor};
use serde::Serialize;
use serde_json::{Map, Value};
use thiserror::Error;

use super::refusal::Refusal;
use crate::{
    argument_schema::ArgumentSchema,
    bridge::{BRIDGE_TOOL, NAME_MAX_BYTES},
};

/// Why a set of tools was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ToolHostError {
    /// Two tools have one name.
    #[error("two tools are called {name}; rename one of them")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// The name belongs to the bridge.
    #[error("{name} is the name of the bridge; give the tool another")]
    ReservedName {
        /// The name.
        name: String,
    },
    /// The name cannot be called through the bridge.
    #[error("a tool's name has {bytes} bytes; give it 1 to {NAME_MAX_BYTES}")]
    InvalidName {
        /// Length of the name, in bytes.
        bytes: usize,
    },
    /// The input schema is malformed, or cannot be checked within bounds.
    #[error("the input schema of {name} cannot be used: at {path:?}, {reason}")]
    InvalidSchema {
        /// Name of the tool.
        name: String,
        /// Where in the schema, as a JSON pointer; empty is the whole.
        path: String,
        /// What is wrong there, and what to do.
        reason: String,
    },
}

/// A tool whose name and schema were found good.
pub(super) struct Registered {
    pub(super) tool: Arc<dyn Tool>,
    schema: ArgumentSchema,
}

impl Registered {
    pub(super) fn descriptor(&self) -> &ToolDescriptor {
        self.tool.descriptor()
    }

    pub(super) fn name(&self) -> &str {
        &self.descriptor().definition.name
    }

    /// The arguments as the tool may see them. Nothing at all stands for no arguments.
    pub(super) fn arguments(&self, given: Value) -> Result<Value, Refusal> {
        self.check(&given)?;
        Ok(if is_nothing(&given) { Value::Object(Map::new()) } else { given })
    }

    /// Whether a call with these arguments could run.
    pub(super) fn check(&self, given: &Value) -> Result<(), Refusal> {
        let none = Value::Object(Map::new());
        let arguments = if is_nothing(given) { &none } else { given };
        if !arguments.is_object() {
            return Err(Refusal::arguments_not_an_object());
        }
        self.schema.check(arguments).map_err(|fault| Refusal::arguments_do_not_fit(&fault))
    }
}

fn is_nothing(given: &Value) -> bool {
    given.is_null() || given.as_str().is_some_and(|text| text.trim().is_empty())
}

pub(super) fn admit(
    tools: Vec<Arc<dyn Tool>>,
) -> Result<BTreeMap<String, Registered>, ToolHostError> {
    let mut admitted = BTreeMap::new();
    for tool in tools {
        let registered = register(tool)?;
        let name = registered.name().to_owned();
        if admitted.insert(name.clone(), registered).is_some() {
            return Err(ToolHostError::DuplicateName { name });
        }
    }
    Ok(admitted)
}

fn register(tool: Arc<dyn Tool>) -> Result<Registered, ToolHostError> {
    let definition = &tool.descriptor().definition;
    let (name, bytes) = (definition.name.clone(), definition.name.len());
    if bytes == 0 || bytes > NAME_MAX_BYTES {
        return Err(ToolHostError::InvalidName { bytes });
    }
    if name == BRIDGE_TOOL {
        return Err(ToolHostError::ReservedName { name });
    }
    match ArgumentSchema::compile(&definition.input_schema) {
        Ok(schema) => Ok(Registered { tool, schema }),
        Err(fault) => {
            Err(ToolHostError::InvalidSchema { name, path: fault.path, reason: fault.reason })
        }
    }
}

const PREFACE: &str = "\
Calls one tool of the list below, by name, with arguments that follow the tool's input_schema. \
One tool a call; wait for its result before you rely on it. A failed call answers with JSON that \
has ok set to false, an error, and an error_code; the error says whether the call had an effect.\n\
\n\
The tools, one to a line:\n";

const NO_TOOLS: &str = "There are no tools at present; do not call this.\n";

/// The three keys of a line, in their order.
#[derive(Serialize)]
struct ToolLine<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
}

pub(super) fn describe(tools: &BTreeMap<String, Registered>) -> String {
    if tools.is_empty() {
        return NO_TOOLS.to_owned();
    }
    let mut text = PREFACE.to_owned();
    for registered in tools.values() {
        let definition = &registered.descriptor().definition;
        let line = ToolLine {
            name: &definition.name,
            description: &definition.description,
            input_schema: &definition.input_schema,
        };
        text.push_str(&serde_json::to_string(&line).expect("a definition is valid JSON"));
        text.push('\n');
    }
    text
}

//! Decides how the form of an answer is read from a file.
//!
//! Knows JSON. Refuses to know schemas, which the engine does.

use std::path::Path;

use anyhow::{Context, ensure};
use serde_json::Value;

/// The schema in a file.
pub(crate) fn read(file: &Path) -> anyhow::Result<Value> {
    let name = file.display();
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("the schema {name} is unreadable"))?;
    let schema: Value =
        serde_json::from_str(&text).with_context(|| format!("the schema {name} is no JSON"))?;
    ensure!(schema.is_object(), "the schema {name} is no object");
    Ok(schema)
}

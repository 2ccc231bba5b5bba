//! Decides how the tools of a request are ordered and named by a digest, once a run.
//!
//! Knows nothing about what the tools do.

use std::{
    fmt,
    ops::Deref,
    sync::{Arc, OnceLock},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::Digest;

/// What a model is told about a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelToolDefinition {
    /// The name that the model calls.
    pub name: String,
    /// What the tool does, for the model.
    pub description: String,
    /// JSON Schema of the arguments; an object schema.
    pub input_schema: Value,
}

/// The tools of a request, in the order in which they are sent. Dereferences to a slice. Cloning
/// costs a reference count; the digest is computed once for all clones.
#[derive(Clone, Default)]
pub struct ToolSet(Arc<Planned>);

#[derive(Default)]
struct Planned {
    definitions: Vec<ModelToolDefinition>,
    digest: OnceLock<Digest>,
}

impl ToolSet {
    /// Keeps the definitions in the given order, which is part of the digest.
    #[must_use]
    pub fn new(definitions: Vec<ModelToolDefinition>) -> Self {
        Self(Arc::new(Planned { definitions, digest: OnceLock::new() }))
    }

    /// SHA-256 of the canonical JSON of all definitions.
    #[must_use]
    pub fn digest(&self) -> Digest {
        *self.0.digest.get_or_init(|| Digest::of_json(&self.0.definitions))
    }

    /// Whether both are clones of one set, without looking at the definitions.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Deref for ToolSet {
    type Target = [ModelToolDefinition];

    fn deref(&self) -> &Self::Target {
        &self.0.definitions
    }
}

impl fmt::Debug for ToolSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for ToolSet {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || self.0.definitions == other.0.definitions
    }
}

impl FromIterator<ModelToolDefinition> for ToolSet {
    fn from_iter<I: IntoIterator<Item = ModelToolDefinition>>(definitions: I) -> Self {
        Self::new(definitions.into_iter().collect())
    }
}

impl Serialize for ToolSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.definitions.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::new)
    }
}

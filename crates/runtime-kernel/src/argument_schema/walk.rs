//! Decides which schemas can be walked: what they refer to, how they are nested, what they cost.
//!
//! Knows the keywords that hold schemas and none of what they demand.

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;

use super::{
    chains::Chains,
    fault::{Fault, escaped, member},
};

/// Deepest nesting of a schema with its references followed.
const MAX_HEIGHT: usize = 64;

/// Most steps on the way to one part of a value, to collect what is wrong with it.
const MAX_STEPS: u64 = 16_384;

const HOLD_ONE: [&str; 12] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
const HOLD_A_LIST: [&str; 5] = ["allOf", "anyOf", "items", "oneOf", "prefixItems"];
const HOLD_NAMED: [&str; 4] =
    ["dependencies", "dependentSchemas", "patternProperties", "properties"];
/// Those whose schemas apply to the value itself, not to a part of it.
const IN_PLACE: [&str; 10] = [
    "$ref",
    "allOf",
    "anyOf",
    "dependencies",
    "dependentSchemas",
    "else",
    "if",
    "not",
    "oneOf",
    "then",
];
const DEFINE: [&str; 2] = ["$defs", "definitions"];

/// The drafts that are checked; `$schema` may end in an empty fragment.
const DRAFTS: [&str; 4] = [
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema",
    "http://json-schema.org/draft-06/schema",
];

/// What a schema costs.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// Subschemas, with every reference followed that does not lead back.
    pub(super) weight: u64,
    /// Most subschemas at work at once on one value.
    pub(super) chain: usize,
    /// Steps on the way to one part of a value, by how deep the value is nested.
    pub(super) steps: Arc<[u64]>,
    /// Whether the last of `steps` stands for all that are nested deeper.
    pub(super) complete: bool,
    /// References that lead back to where they are.
    pub(super) cycles: u64,
}

#[derive(Debug, Clone, Copy)]
struct Size {
    height: usize,
    weight: u64,
}

pub(super) fn over(schema: &Value) -> Result<Found, Fault> {
    let mut walk = Walk {
        root: schema,
        seen: HashMap::new(),
        open: Vec::new(),
        cycles: 0,
        chains: Chains::default(),
    };
    let size = walk.visit(schema, "", MAX_HEIGHT)?;
    if size.height > MAX_HEIGHT {
        return Err(too_deep(""));
    }
    let chain = walk.chains.longest(MAX_HEIGHT)?;
    let (steps, complete) = walk.chains.steps_by_depth(schema, MAX_STEPS);
    Ok(Found { weight: size.weight, chain, steps: steps.into(), complete, cycles: walk.cycles })
}

/// The walk stands at the schemas of `open`, each held by the one before.
struct Walk<'a> {
    root: &'a Value,
    /// By address; `None` while the schema is open.
    seen: HashMap<*const Value, Option<Size>>,
    open: Vec<&'a Value>,
    cycles: u64,
    chains: Chains<'a>,
}

impl<'a> Walk<'a> {
    /// The size of `schema`, at the place `path`, with at most `left` levels.
    fn visit(&mut self, schema: &'a Value, path: &str, left: usize) -> Result<Size, Fault> {
        let Value::Object(keywords) = schema else { return Ok(Size::LEAF) };
        let Some(left) = left.checked_sub(1) else { return Err(too_deep(path)) };
        match self.seen.insert(schema, None) {
            Some(Some(known)) => {
                self.seen.insert(schema, Some(known));
                return Ok(known);
            }
            Some(None) => {
                self.cycles += 1;
                return Ok(Size::LEAF);
            }
            None => {}
        }
        self.open.push(schema);
        let mut size = Size::LEAF;
        for (keyword, value) in keywords {
            let place = format!("{path}/{}", escaped(keyword));
            self.take(&mut size, (keyword, value), &place, left)?;
        }
        self.open.pop();
        self.seen.insert(schema, Some(size));
        Ok(size)
    }

    fn take(
        &mut self,
        size: &mut Size,
        (keyword, value): (&str, &'a Value),
        path: &str,
        left: usize,
    ) -> Result<(), Fault> {
        match (keyword, value) {
            ("$ref", Value::String(reference)) => {
                let (target, place) = self.target(reference, path)?;
                self.hold(size, (keyword, target), &place, left)?;
            }
            ("$dynamicRef" | "$recursiveRef", _) => return Err(Fault::at(path, REFER_BY_POINTER)),
            ("$schema", Value::String(draft)) => known_draft(draft, path)?,
            ("$id", Value::String(_)) if path != "/$id" => {
                return Err(Fault::at(path, "belongs at the top of a schema only, leave it out"));
            }
            (_, Value::Object(_)) if HOLD_ONE.contains(&keyword) => {
                self.hold(size, (keyword, value), path, left)?;
            }
            (_, Value::Array(list)) if HOLD_A_LIST.contains(&keyword) => {
                for (index, item) in list.iter().enumerate() {
                    self.hold(size, (keyword, item), &format!("{path}/{index}"), left)?;
                }
            }
            (_, Value::Object(named)) if HOLD_NAMED.contains(&keyword) => {
                for (name, schema) in named {
                    self.hold(size, (keyword, schema), &member(path, name), left)?;
                }
            }
            // What is defined counts where it is referred to, but is looked at in any case.
            (_, Value::Object(named)) if DEFINE.contains(&keyword) => {
                for (name, schema) in named {
                    self.visit(schema, &member(path, name), left)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn hold(
        &mut self,
        size: &mut Size,
        (keyword, schema): (&str, &'a Value),
        path: &str,
        left: usize,
    ) -> Result<(), Fault> {
        size.add(self.visit(schema, path, left)?);
        match self.open.last() {
            Some(holder) if IN_PLACE.contains(&keyword) => self.chains.link(holder, schema),
            Some(holder) => self.chains.link_part(holder, schema),
            None => {}
        }
        Ok(())
    }

    /// What a reference refers to, and where that is.
    fn target(&self, reference: &str, path: &str) -> Result<(&'a Value, String), Fault> {
        let fragment = reference.strip_prefix('#').and_then(percent_decoded);
        let Some(pointer) = fragment.filter(|it| it.is_empty() || it.starts_with('/')) else {
            return Err(Fault::at(path, REFER_BY_POINTER));
        };
        match self.root.pointer(&pointer) {
            Some(target) => Ok((target, pointer)),
            None => Err(Fault::at(path, "refers to a place that the schema does not have")),
        }
    }
}

const REFER_BY_POINTER: &str =
    "may refer to a place in the same schema only, by a pointer such as #/$defs/name in a $ref";

impl Size {
    const LEAF: Self = Self { height: 1, weight: 1 };

    fn add(&mut self, part: Self) {
        self.height = self.height.max(part.height + 1);
        self.weight = self.weight.saturating_add(part.weight);
    }
}

fn known_draft(draft: &str, path: &str) -> Result<(), Fault> {
    if path != "/$schema" {
        return Err(Fault::at(path, "belongs at the top of a schema only, leave it out"));
    }
    if DRAFTS.contains(&draft.trim_end_matches('#')) {
        return Ok(());
    }
    Err(Fault::at(path, "names no draft that is checked here, which are 6, 7, 2019-09 and 2020-12"))
}

pub(super) fn too_deep(path: &str) -> Fault {
    Fault::at(path, "the schema is nested too deeply, make it flatter")
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => hex(bytes.next()?)? << 4 | hex(bytes.next()?)?,
            plain => plain,
        });
    }
    String::from_utf8(decoded).ok()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|it| u8::try_from(it).ok())
}

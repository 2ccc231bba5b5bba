//! Decides which schemas can be checked within bounds, and how far.
//!
//! Knows the keywords that hold schemas and none of what they demand. Invariant: the depth of the
//! checker's recursion, and the number of its steps, are known before a value is looked at.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::fault::{Fault, escaped};

/// Deepest nesting of arguments; what is parsed from text nests no deeper.
const MAX_ARGUMENT_DEPTH: usize = 128;

/// Deepest nesting of a schema with its references followed.
const MAX_HEIGHT: usize = 64;

/// Most subschemas that may apply with every reference followed: a reference that is followed twice
/// at each of many levels is a check without end.
const MAX_WEIGHT: u64 = 100_000;

/// Most subschemas at work at once when a schema refers to itself. Each takes some hundred bytes of
/// a stack that may have no more than 2 MiB.
const MAX_STACK: usize = 1_024;

/// Most steps that may be spent on the words for a fault.
const MAX_EXPLANATION: u64 = 200_000;

/// Most ways in which the alternatives of a recursive schema may be combined in those words.
const MAX_COMBINATIONS: u64 = 4_096;

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
const DEFINE: [&str; 2] = ["$defs", "definitions"];

/// The drafts that are checked; `$schema` may end in an empty fragment.
const DRAFTS: [&str; 4] = [
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema",
    "http://json-schema.org/draft-06/schema",
];

/// What a schema costs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    size: Size,
    /// References that lead back to where they are.
    cycles: u64,
}

/// How deep and how large a value is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    depth: usize,
    values: u64,
}

#[derive(Debug, Clone, Copy)]
struct Size {
    height: usize,
    weight: u64,
}

impl Shape {
    pub(super) fn of(schema: &Value) -> Result<Self, Fault> {
        if Extent::of(schema, MAX_ARGUMENT_DEPTH).is_none() {
            return Err(too_deep(""));
        }
        let mut walk = Walk { root: schema, seen: HashMap::new(), cycles: 0 };
        let size = walk.visit(schema, "", MAX_HEIGHT)?;
        if size.height > MAX_HEIGHT {
            return Err(too_deep(""));
        }
        if size.weight > MAX_WEIGHT {
            return Err(Fault::here("the schema branches too often, make it simpler"));
        }
        Ok(Self { size, cycles: walk.cycles })
    }

    /// How deep a value may be nested.
    pub(super) fn reach(self) -> usize {
        match self.cycles {
            0 => MAX_ARGUMENT_DEPTH,
            _ => (MAX_STACK / self.size.height).min(MAX_ARGUMENT_DEPTH),
        }
    }

    /// Whether all that is wrong with a value of this extent can be collected.
    pub(super) fn can_explain(self, extent: Extent) -> bool {
        let depth = u32::try_from(extent.depth).unwrap_or(u32::MAX);
        extent.values.saturating_mul(self.size.weight) <= MAX_EXPLANATION
            && self.cycles.saturating_pow(depth) <= MAX_COMBINATIONS
    }
}

impl Extent {
    /// `None` when the value is nested more than `most` levels deep.
    pub(super) fn of(value: &Value, most: usize) -> Option<Self> {
        let mut whole = Self { depth: 0, values: 1 };
        match value {
            Value::Array(items) => whole.take(items.iter(), most)?,
            Value::Object(members) => whole.take(members.values(), most)?,
            _ => {}
        }
        Some(whole)
    }

    fn take<'a>(&mut self, parts: impl Iterator<Item = &'a Value>, most: usize) -> Option<()> {
        let left = most.checked_sub(1)?;
        self.depth = 1;
        for part in parts {
            let part = Self::of(part, left)?;
            self.depth = self.depth.max(part.depth + 1);
            self.values += part.values;
        }
        Some(())
    }
}

struct Walk<'a> {
    root: &'a Value,
    /// By address; `None` while the schema is being visited.
    seen: HashMap<*const Value, Option<Size>>,
    cycles: u64,
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
        let mut size = Size::LEAF;
        for (keyword, value) in keywords {
            let place = format!("{path}/{}", escaped(keyword));
            self.take(&mut size, (keyword, value), &place, left)?;
        }
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
                size.add(self.visit(target, &place, left)?);
            }
            ("$dynamicRef" | "$recursiveRef", _) => return Err(Fault::at(path, REFER_BY_POINTER)),
            ("$schema", Value::String(draft)) => known_draft(draft, path)?,
            ("$id", Value::String(_)) if path != "/$id" => {
                return Err(Fault::at(path, "belongs at the top of a schema only, leave it out"));
            }
            (_, Value::Object(_)) if HOLD_ONE.contains(&keyword) => {
                size.add(self.visit(value, path, left)?);
            }
            (_, Value::Array(list)) if HOLD_A_LIST.contains(&keyword) => {
                for (index, item) in list.iter().enumerate() {
                    size.add(self.visit(item, &format!("{path}/{index}"), left)?);
                }
            }
            (_, Value::Object(named)) if HOLD_NAMED.contains(&keyword) => {
                self.visit_named(named, path, left)?.into_iter().for_each(|it| size.add(it));
            }
            // What is defined counts where it is referred to, but is looked at in any case.
            (_, Value::Object(named)) if DEFINE.contains(&keyword) => {
                self.visit_named(named, path, left)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn visit_named(
        &mut self,
        named: &'a Map<String, Value>,
        path: &str,
        left: usize,
    ) -> Result<Vec<Size>, Fault> {
        let visit = |(name, schema): (&String, &'a Value)| {
            self.visit(schema, &format!("{path}/{}", escaped(name)), left)
        };
        named.iter().map(visit).collect()
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

fn too_deep(path: &str) -> Fault {
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

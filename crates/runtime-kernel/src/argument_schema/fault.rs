//! Decides in which words a fault of a schema, or of arguments, is told.
//!
//! Knows nothing about who reads them. Invariant: the words are bounded and repeat no value of the
//! arguments; what they quote comes from the schema, but for the keys on the way to the fault.

use jsonschema::{JsonType, ValidationError, error::TypeKind, error::ValidationErrorKind as Kind};
use serde_json::Value;

/// Longest path that is told: a model may have made up its keys.
const MAX_PATH_BYTES: usize = 200;

/// Longest reason.
const MAX_REASON_BYTES: usize = 400;

const UNKNOWN: &str = "is not known, leave it out";
const NO_ALTERNATIVE: &str = "fits none of the alternatives that the schema allows";

/// A fault of a schema or of a value: where, and what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// JSON pointer; empty is the whole.
    pub(crate) path: String,
    /// Reads on after the place: "must be an integer".
    pub(crate) reason: String,
}

impl Fault {
    pub(super) fn here(reason: impl Into<String>) -> Self {
        Self::at("", reason)
    }

    pub(super) fn at(path: &str, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self {
            path: bounded(path, MAX_PATH_BYTES).to_owned(),
            reason: bounded(&reason, MAX_REASON_BYTES).to_owned(),
        }
    }

    /// What is wrong with a schema, by the schema of schemas.
    pub(super) fn of_schema(error: &ValidationError<'_>) -> Self {
        let path = error.instance_path().as_str();
        match error.kind() {
            Kind::Format { .. } => Self::at(path, PATTERN_UNFIT),
            Kind::AnyOf { .. } if path.ends_with("/type") => {
                Self::at(path, "must be the name of a type of JSON, or several in an array")
            }
            _ => Self::of_value(error),
        }
    }

    /// What is wrong with a value, by its schema.
    pub(super) fn of_value(error: &ValidationError<'_>) -> Self {
        let path = error.instance_path().as_str();
        match error.kind() {
            Kind::Required { property } => {
                Self::at(&member(path, property.as_str().unwrap_or_default()), "is missing")
            }
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => {
                let first = unexpected.first().map_or("", String::as_str);
                Self::at(&member(path, first), UNKNOWN)
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                alternatives(path, context)
            }
            Kind::PropertyNames { error } => {
                let inner = Self::of_value(error).reason;
                Self::at(path, format!("has a key that does not fit: it {inner}"))
            }
            kind => Self::at(path, reason(kind)),
        }
    }
}

const PATTERN_UNFIT: &str = "is no regular expression that can be checked in linear time and \
    bounded space, use no look-around, no back-reference and no large repetition";

fn reason(kind: &Kind) -> String {
    match kind {
        Kind::Type { kind } => format!("must be {}", types(kind).join(" or ")),
        Kind::Constant { expected_value } => format!("must be {}", quoted(expected_value)),
        Kind::Enum { options } => format!("must be {}", one_of(&values_of(options))),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("must have at least {limit} character(s)"),
        Kind::MaxLength { limit } => format!("must have at most {limit} character(s)"),
        Kind::Pattern { pattern } => {
            format!("must match the pattern {}", bounded(pattern, MAX_PATH_BYTES))
        }
        other => reason_of_a_collection(other),
    }
}

fn reason_of_a_collection(kind: &Kind) -> String {
    match kind {
        Kind::MinItems { limit } => format!("must have at least {limit} item(s)"),
        Kind::MaxItems { limit } => format!("must have at most {limit} item(s)"),
        Kind::AdditionalItems { limit } => {
            format!("must have at most {limit} item(s)")
        }
        Kind::MinProperties { limit } => format!("must have at least {limit} key(s)"),
        Kind::MaxProperties { limit } => format!("must have at most {limit} key(s)"),
        Kind::UniqueItems => "must have no item twice".to_owned(),
        Kind::UnevaluatedItems { .. } => "has an item too many".to_owned(),
        Kind::Contains => "must have another number of items of the required kind".to_owned(),
        Kind::FalseSchema => UNKNOWN.to_owned(),
        Kind::Not { .. } => "has a form that the schema rules out".to_owned(),
        Kind::OneOfMultipleValid { .. } => {
            "fits several alternatives of the schema, where it must fit one".to_owned()
        }
        other => format!("does not follow {} of the schema", bounded(other.keyword(), 100)),
    }
}

type Branches = [Vec<ValidationError<'static>>];

/// The fault of the alternative that was meant, when that can be told; else what is allowed.
fn alternatives(path: &str, branches: &Branches) -> Fault {
    if let Some(error) = meant(path, branches) {
        return Fault::of_value(error);
    }
    if let Some(allowed) = allowed_here(path, branches) {
        return Fault::at(path, format!("must be {}", allowed.join(" or ")));
    }
    tags(branches).unwrap_or_else(|| Fault::at(path, NO_ALTERNATIVE))
}

/// Of the alternatives whose kind and tag fit, the one whose faults lie deepest.
fn meant<'a>(path: &str, branches: &'a Branches) -> Option<&'a ValidationError<'static>> {
    let fits = |errors: &&Vec<ValidationError<'static>>| {
        errors.iter().all(|error| match error.kind() {
            Kind::Constant { .. } => false,
            Kind::Type { .. } | Kind::Enum { .. } => error.instance_path().as_str() != path,
            _ => true,
        })
    };
    let depth = |errors: &Vec<ValidationError<'static>>| {
        errors.iter().map(|it| it.instance_path().as_str().matches('/').count()).min()
    };
    let mut found: Vec<_> = branches.iter().filter(fits).map(|it| (depth(it), it)).collect();
    found.sort_by_key(|(depth, _)| std::cmp::Reverse(*depth));
    match found.as_slice() {
        [(_, only)] => only.first(),
        [(deepest, errors), (next, _), ..] if deepest > next => errors.first(),
        _ => None,
    }
}

/// The types and values that the alternatives allow, when all of them fail by these.
fn allowed_here(path: &str, branches: &Branches) -> Option<Vec<String>> {
    let mut allowed = Vec::new();
    for error in branches.iter().map(|errors| errors.first()) {
        let error = error.filter(|it| it.instance_path().as_str() == path)?;
        let parts = match error.kind() {
            Kind::Type { kind } => types(kind).into_iter().map(str::to_owned).collect(),
            Kind::Constant { expected_value } => vec![quoted(expected_value)],
            Kind::Enum { options } => vec![one_of(&values_of(options))],
            _ => return None,
        };
        let new = parts.into_iter().filter(|part| !allowed.contains(part)).collect::<Vec<_>>();
        allowed.extend(new);
    }
    Some(allowed)
}

/// The values of the member by which the alternatives are told apart, when none was met.
fn tags(branches: &Branches) -> Option<Fault> {
    let constants = |errors: &Vec<ValidationError<'static>>| {
        errors.iter().find_map(|error| match error.kind() {
            Kind::Constant { expected_value } => {
                Some((error.instance_path().as_str().to_owned(), quoted(expected_value)))
            }
            _ => None,
        })
    };
    let found: Vec<(String, String)> = branches.iter().map(constants).collect::<Option<_>>()?;
    let (path, _) = found.first()?;
    if found.iter().any(|(other, _)| other != path) {
        return None;
    }
    let values: Vec<String> = found.iter().map(|(_, value)| value.clone()).collect();
    Some(Fault::at(path, format!("must be {}", one_of(&values))))
}

fn types(kind: &TypeKind) -> Vec<&'static str> {
    match kind {
        TypeKind::Single(one) => vec![with_article(*one)],
        TypeKind::Multiple(several) => several.iter().map(with_article).collect(),
    }
}

fn with_article(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Null => "null",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Number => "a number",
        JsonType::String => "a string",
        JsonType::Array => "an array",
        JsonType::Object => "an object",
    }
}

fn values_of(options: &Value) -> Vec<String> {
    options.as_array().map(|all| all.iter().map(quoted).collect()).unwrap_or_default()
}

fn one_of(values: &[String]) -> String {
    match values {
        [one] => one.clone(),
        _ => bounded(&format!("one of {}", values.join(", ")), MAX_PATH_BYTES).to_owned(),
    }
}

/// A value of the schema.
fn quoted(value: &Value) -> String {
    bounded(&value.to_string(), MAX_PATH_BYTES).to_owned()
}

pub(super) fn member(path: &str, name: &str) -> String {
    format!("{path}/{}", escaped(name))
}

/// One step of a JSON pointer.
pub(super) fn escaped(step: &str) -> String {
    step.replace('~', "~0").replace('/', "~1")
}

/// The beginning of `text`, at most `bytes` long, on a character boundary.
fn bounded(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

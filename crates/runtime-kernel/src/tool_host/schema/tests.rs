//! Decides nothing; holds the checking of arguments against tables.

use serde_json::json;

use super::*;

fn fault_of(schema: &Value, value: &Value) -> Option<(String, String)> {
    let schema = ArgumentSchema::of_arguments(schema).expect("a good schema");
    schema.check(value).err().map(|fault| (fault.path, fault.reason))
}

/// One property `x` with the given schema, and what is made of values of it.
fn check(property: Value, good: &[Value], bad: &[(Value, &str, &str)]) {
    let schema = json!({ "type": "object", "properties": { "x": property } });
    for value in good {
        assert_eq!(fault_of(&schema, &json!({ "x": value })), None, "{schema} takes {value}");
    }
    for (value, path, reason) in bad {
        let expected = Some(((*path).to_owned(), (*reason).to_owned()));
        assert_eq!(fault_of(&schema, &json!({ "x": value })), expected, "{schema}, {value}");
    }
}

#[test]
fn types_are_held() {
    check(
        json!({ "type": "integer" }),
        &[json!(0), json!(-7), json!(3.0), json!(u64::MAX)],
        &[
            (json!(3.5), "/x", "must be an integer"),
            (json!("3"), "/x", "must be an integer"),
            (json!(null), "/x", "must be an integer"),
            (json!(true), "/x", "must be an integer"),
        ],
    );
    check(
        json!({ "type": ["string", "null"] }),
        &[json!("a"), json!(null)],
        &[(json!([]), "/x", "must be a string or null")],
    );
    check(json!({ "type": "number" }), &[json!(1), json!(1.5)], &[]);
    check(json!({}), &[json!(1), json!(null), json!({ "any": [] })], &[]);
}

#[test]
fn values_are_held() {
    let reason = "is none of the values that the schema allows";
    check(
        json!({ "enum": ["asc", "desc", 1] }),
        &[json!("asc"), json!(1), json!(1.0)],
        &[(json!("ASC"), "/x", reason), (json!("1"), "/x", reason)],
    );
    check(json!({ "const": 2 }), &[json!(2)], &[(json!(3), "/x", reason)]);
    check(json!({ "const": 2, "enum": [1, 2] }), &[json!(2)], &[(json!(1), "/x", reason)]);
}

#[test]
fn sizes_are_held_at_both_ends() {
    check(
        json!({ "minimum": 1, "maximum": 3 }),
        &[json!(1), json!(3), json!("no number")],
        &[(json!(0.5), "/x", "must be at least 1"), (json!(4), "/x", "must be at most 3")],
    );
    check(
        json!({ "minLength": 1, "maxLength": 2 }),
        &[json!("ä"), json!("🦀🦀")],
        &[
            (json!(""), "/x", "must have at least 1 character(s)"),
            (json!("abc"), "/x", "must have at most 2 character(s)"),
        ],
    );
    check(
        json!({ "minItems": 1, "maxItems": 2 }),
        &[json!([0]), json!([0, 0])],
        &[
            (json!([]), "/x", "must have at least 1 item(s)"),
            (json!([0, 0, 0]), "/x", "must have at most 2 item(s)"),
        ],
    );
}

#[test]
fn the_path_leads_to_the_fault() {
    check(
        json!({ "type": "array", "items": { "type": "object", "properties": { "a/b~c": { "type": "string" } } } }),
        &[json!([]), json!([{ "a/b~c": "" }])],
        &[
            (json!([{}, 1]), "/x/1", "must be an object"),
            (json!([{}, { "a/b~c": 1 }]), "/x/1/a~1b~0c", "must be a string"),
        ],
    );
}

#[test]
fn members_are_held() {
    let schema = json!({
        "type": "object",
        "properties": { "path": { "type": "string" } },
        "required": ["path"],
        "additionalProperties": false
    });
    let fault = |path: &str, reason: &str| Some((path.to_owned(), reason.to_owned()));
    let cases = [
        (json!({ "path": "a" }), None),
        (json!({}), fault("/path", "is missing")),
        (json!({ "path": null }), fault("/path", "must be a string")),
        (json!({ "path": "a", "mode": 1 }), fault("/mode", "is not known, leave it out")),
        (json!([]), fault("", "must be an object")),
    ];
    for (value, expected) in cases {
        assert_eq!(fault_of(&schema, &value), expected, "{value}");
    }
    let open = json!({ "type": "object", "additionalProperties": { "type": "integer" } });
    assert_eq!(fault_of(&open, &json!({ "any": 1 })), None);
    assert_eq!(fault_of(&open, &json!({ "any": "1" })), fault("/any", "must be an integer"));
}

#[test]
fn a_schema_that_cannot_be_held_in_full_is_refused_with_the_place() {
    let unchecked = "the keyword is not checked here, leave it out and let the tool check it";
    let cases = [
        (json!({ "type": "array" }), "", "the type must be object"),
        (json!({ "type": ["object", "null"] }), "", "the type must be object"),
        (json!(false), "", "the type must be object"),
        (json!("object"), "", "a schema must be an object or a boolean"),
        (json!({ "type": 1 }), "/type", "must be the name of a type, or several in an array"),
        (json!({ "type": [] }), "/type", "must be the name of a type, or several in an array"),
        (json!({ "type": "int" }), "/type", "names a type that JSON does not have"),
        (json!({ "required": "path" }), "/required", "must be an array"),
        (json!({ "required": [1] }), "/required", "must hold strings only"),
        (json!({ "properties": [] }), "/properties", "must be an object"),
        (json!({ "anyOf": [] }), "/anyOf", unchecked),
        (json!({ "properties": { "x": { "pattern": "^a" } } }), "/properties/x/pattern", unchecked),
        (
            json!({ "properties": { "x": { "items": { "$ref": "#" } } } }),
            "/properties/x/items/$ref",
            unchecked,
        ),
        (
            json!({ "properties": { "x": { "minLength": -1 } } }),
            "/properties/x/minLength",
            "must be a whole number of 0 or more",
        ),
        (
            json!({ "properties": { "x": { "maximum": "3" } } }),
            "/properties/x/maximum",
            "must be a number",
        ),
    ];
    for (schema, path, reason) in cases {
        let fault = ArgumentSchema::of_arguments(&schema).expect_err(&schema.to_string());
        assert_eq!((fault.path.as_str(), fault.reason.as_str()), (path, reason), "{schema}");
    }
}

#[test]
fn annotations_restrict_nothing() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "t", "description": "d",
        "properties": { "x": { "default": 1, "examples": ["a"], "format": "date" } }
    });
    assert_eq!(fault_of(&schema, &json!({ "x": "no date" })), None);
}

#[test]
fn a_schema_without_end_is_refused() {
    let nested = (0..100).fold(json!({}), |inner, _| json!({ "items": inner }));
    let fault = ArgumentSchema::of_arguments(&nested).expect_err("too deep");
    assert_eq!(fault.reason, "the schema is nested too deeply, make it flatter");
}

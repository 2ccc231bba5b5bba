//! Decides nothing; holds the checking of arguments against tables.

mod hostile;

use serde_json::json;

use super::*;

fn fault_of(schema: &Value, value: &Value) -> Option<(String, String)> {
    let schema = ArgumentSchema::compile(schema).expect("a good schema");
    schema.check(value).err().map(|fault| (fault.path, fault.reason))
}

fn fault(path: &str, reason: &str) -> Option<(String, String)> {
    Some((path.to_owned(), reason.to_owned()))
}

/// One property `x` with the given schema, and what is made of values of it.
fn check(property: Value, good: &[Value], bad: &[(Value, &str, &str)]) {
    check_with(json!({ "type": "object", "properties": { "x": property } }), good, bad);
}

fn check_with(schema: Value, good: &[Value], bad: &[(Value, &str, &str)]) {
    for value in good {
        assert_eq!(fault_of(&schema, &json!({ "x": value })), None, "{schema} takes {value}");
    }
    for (value, path, reason) in bad {
        let found = fault_of(&schema, &json!({ "x": value }));
        assert_eq!(found, fault(path, reason), "{schema}, {value}");
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
        &[(json!([]), "/x", "must be null or a string")],
    );
    check(json!({ "type": "number" }), &[json!(1), json!(1.5)], &[]);
    check(json!({}), &[json!(1), json!(null), json!({ "any": [] })], &[]);
    check(json!(false), &[], &[(json!(1), "/x", "is not known, leave it out")]);
}

#[test]
fn values_are_held() {
    let reason = r#"must be one of "asc", "desc", 1"#;
    check(
        json!({ "enum": ["asc", "desc", 1] }),
        &[json!("asc"), json!(1), json!(1.0)],
        &[(json!("ASC"), "/x", reason), (json!("1"), "/x", reason)],
    );
    check(json!({ "const": 2 }), &[json!(2)], &[(json!(3), "/x", "must be 2")]);
    check(json!({ "const": 2, "enum": [1, 2] }), &[json!(2)], &[(json!(1), "/x", "must be 2")]);
    check(json!({ "enum": ["ä"] }), &[json!("ä")], &[(json!("a"), "/x", r#"must be "ä""#)]);
}

#[test]
fn sizes_are_held_at_both_ends() {
    check(
        json!({ "minimum": 1, "maximum": 3 }),
        &[json!(1), json!(3), json!("no number")],
        &[(json!(0.5), "/x", "must be at least 1"), (json!(4), "/x", "must be at most 3")],
    );
    check(
        json!({ "exclusiveMinimum": 1, "exclusiveMaximum": 3, "multipleOf": 0.5 }),
        &[json!(1.5), json!(2)],
        &[
            (json!(1), "/x", "must be more than 1"),
            (json!(3), "/x", "must be less than 3"),
            (json!(1.7), "/x", "must be a multiple of 0.5"),
        ],
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
        json!({ "minItems": 1, "maxItems": 2, "uniqueItems": true }),
        &[json!([0]), json!([0, 1])],
        &[
            (json!([]), "/x", "must have at least 1 item(s)"),
            (json!([0, 1, 2]), "/x", "must have at most 2 item(s)"),
            (json!([1, 1.0]), "/x", "must have no item twice"),
        ],
    );
    check(
        json!({ "minProperties": 1, "maxProperties": 1 }),
        &[json!({ "a": 1 })],
        &[
            (json!({}), "/x", "must have at least 1 key(s)"),
            (json!({ "a": 1, "b": 2 }), "/x", "must have at most 1 key(s)"),
        ],
    );
}

#[test]
fn the_path_leads_to_the_fault() {
    let item = json!({ "type": "object", "properties": { "a/b~c": { "type": "string" } } });
    check(
        json!({ "type": "array", "items": item }),
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
    let cases = [
        (json!({ "path": "a" }), None),
        (json!({}), fault("/path", "is missing")),
        (json!({ "path": null }), fault("/path", "must be a string")),
        (json!({ "path": "a", "ä": 1 }), fault("/ä", "is not known, leave it out")),
        (json!([]), fault("", "must be an object")),
    ];
    for (value, expected) in cases {
        assert_eq!(fault_of(&schema, &value), expected, "{value}");
    }
    let open = json!({ "type": "object", "additionalProperties": { "type": "integer" } });
    assert_eq!(fault_of(&open, &json!({ "any": 1 })), None);
    assert_eq!(fault_of(&open, &json!({ "any": "1" })), fault("/any", "must be an integer"));
    let named = json!({ "propertyNames": { "pattern": "^[a-z]+$" } });
    let reason = "has a key that does not fit: it must match the pattern ^[a-z]+$";
    assert_eq!(fault_of(&named, &json!({ "A": 1 })), fault("", reason));
}

#[test]
fn every_other_keyword_is_held_too() {
    check(
        json!({ "pattern": r"^\d{4}$" }),
        &[json!("2026")],
        &[(json!("26"), "/x", r"must match the pattern ^\d{4}$")],
    );
    check(
        json!({ "prefixItems": [{ "type": "string" }], "items": false }),
        &[json!(["a"])],
        &[
            (json!([1]), "/x/0", "must be a string"),
            (json!(["a", 1]), "/x/1", "is not known, leave it out"),
        ],
    );
    check(
        json!({ "contains": { "const": 1 } }),
        &[json!([1])],
        &[(json!([]), "/x", "must have another number of items of the required kind")],
    );
    check(
        json!({ "not": { "type": "null" } }),
        &[json!(1)],
        &[(json!(null), "/x", "has a form that the schema rules out")],
    );
    check(
        json!({ "if": { "type": "string" }, "then": { "minLength": 2 }, "else": { "minimum": 2 } }),
        &[json!("ab"), json!(2)],
        &[
            (json!("a"), "/x", "must have at least 2 character(s)"),
            (json!(1), "/x", "must be at least 2"),
        ],
    );
    check(
        json!({ "dependentRequired": { "a": ["b"] }, "patternProperties": { "^n": { "type": "null" } } }),
        &[json!({ "b": 1 })],
        &[(json!({ "a": 1 }), "/x/b", "is missing"), (json!({ "n": 1 }), "/x/n", "must be null")],
    );
    check(
        json!({ "allOf": [{ "properties": { "a": {} } }], "unevaluatedProperties": false }),
        &[json!({ "a": 1 })],
        &[(json!({ "b": 1 }), "/x/b", "is not known, leave it out")],
    );
}

/// The form that derived schemas have.
#[test]
fn alternatives_are_told_by_the_one_that_was_meant() {
    let option = json!({
        "properties": { "x": { "anyOf": [{ "$ref": "#/$defs/Range" }, { "type": "null" }] } },
        "$defs": { "Range": {
            "type": "object",
            "properties": { "from": { "type": "integer", "format": "uint32", "minimum": 0 } },
            "required": ["from"]
        } }
    });
    check_with(
        option,
        &[json!({ "from": 1 }), json!(null)],
        &[
            (json!({ "from": -1 }), "/x/from", "must be at least 0"),
            (json!({}), "/x/from", "is missing"),
            (json!("a"), "/x", "must be an object or null"),
        ],
    );
    let units = json!({ "oneOf": [
        { "const": "asc", "description": "up" }, { "enum": ["desc", "none"] }, { "type": "null" }
    ] });
    let allowed = r#"must be "asc" or one of "desc", "none" or null"#;
    check(units, &[json!("desc"), json!(null)], &[(json!("up"), "/x", allowed)]);
    let shape = |kind: &str, size: &str| {
        json!({
            "type": "object",
            "properties": { "kind": { "const": kind }, size: { "type": "number" } },
            "required": ["kind", size]
        })
    };
    check(
        json!({ "oneOf": [shape("circle", "radius"), shape("square", "side")] }),
        &[json!({ "kind": "circle", "radius": 1 })],
        &[
            (json!({ "kind": "circle", "radius": "1" }), "/x/radius", "must be a number"),
            (json!({ "kind": "square" }), "/x/side", "is missing"),
            (json!({ "kind": "line" }), "/x/kind", r#"must be one of "circle", "square""#),
            (json!([]), "/x", "must be an object"),
        ],
    );
    let holding = |name: &str| {
        json!({
            "type": "object", "properties": { name: { "type": "object", "required": ["at"] } },
            "required": [name], "additionalProperties": false
        })
    };
    check(
        json!({ "oneOf": [holding("Move"), holding("Stay"), { "const": "Halt" }] }),
        &[json!("Halt"), json!({ "Stay": { "at": 1 } })],
        &[
            (json!({ "Stay": {} }), "/x/Stay/at", "is missing"),
            (json!({ "Jump": {} }), "/x", "fits none of the alternatives that the schema allows"),
        ],
    );
    check(
        json!({ "oneOf": [{ "type": "integer" }, { "type": "number" }] }),
        &[json!(1.5)],
        &[(json!(1), "/x", "fits several alternatives of the schema, where it must fit one")],
    );
}

#[test]
fn a_schema_that_cannot_be_held_is_refused_with_the_place() {
    let local = "may refer to a place in the same schema only, by a pointer such as #/$defs/name \
                 in a $ref";
    let types = "must be the name of a type of JSON, or several in an array";
    let top = "belongs at the top of a schema only, leave it out";
    let drafts = "names no draft that is checked here, which are 6, 7, 2019-09 and 2020-12";
    let pattern = "is no regular expression that can be checked in linear time and bounded space, \
                   use no look-around, no back-reference and no large repetition";
    let nowhere = "refers to a place that the schema does not have";
    let of_x = |schema: Value| json!({ "properties": { "x": schema } });
    let cases = [
        (json!({ "type": "array" }), "", "the type must be object"),
        (json!({ "type": ["object", "null"] }), "", "the type must be object"),
        (json!(false), "", "the type must be object"),
        (json!("object"), "", "a schema must be an object or a boolean"),
        (of_x(json!({ "type": 1 })), "/properties/x/type", types),
        (of_x(json!({ "type": [] })), "/properties/x/type", types),
        (of_x(json!({ "type": "int" })), "/properties/x/type", types),
        (of_x(json!(1)), "/properties/x", "must be a boolean or an object"),
        (json!({ "required": "path" }), "/required", "must be an array"),
        (json!({ "required": [1] }), "/required/0", "must be a string"),
        (json!({ "properties": [] }), "/properties", "must be an object"),
        (json!({ "anyOf": [] }), "/anyOf", "must have at least 1 item(s)"),
        (of_x(json!({ "minLength": -1 })), "/properties/x/minLength", "must be at least 0"),
        (of_x(json!({ "maximum": "3" })), "/properties/x/maximum", "must be a number"),
        (of_x(json!({ "pattern": "(?=a)b" })), "/properties/x/pattern", pattern),
        (of_x(json!({ "pattern": r"(a)\1" })), "/properties/x/pattern", pattern),
        (of_x(json!({ "pattern": "((a{999}){999}){999}" })), "/properties/x/pattern", pattern),
        (of_x(json!({ "$ref": "file:///etc/passwd" })), "/properties/x/$ref", local),
        (of_x(json!({ "$ref": "https://example.com/a" })), "/properties/x/$ref", local),
        (of_x(json!({ "$ref": "other.json" })), "/properties/x/$ref", local),
        (of_x(json!({ "$ref": "#anchor" })), "/properties/x/$ref", local),
        (of_x(json!({ "$dynamicRef": "#a" })), "/properties/x/$dynamicRef", local),
        (of_x(json!({ "$ref": "#/$defs/gone" })), "/properties/x/$ref", nowhere),
        (json!({ "$defs": { "a": { "$ref": "file:///a" } } }), "/$defs/a/$ref", local),
        (json!({ "x": { "$ref": "file:///a" }, "$ref": "#/x" }), "/x/$ref", local),
        (of_x(json!({ "$id": "http://a/b" })), "/properties/x/$id", top),
        (of_x(json!({ "$schema": DRAFT_7 })), "/properties/x/$schema", top),
        (json!({ "$schema": "http://json-schema.org/draft-04/schema#" }), "/$schema", drafts),
        (json!({ "$schema": "http://example.com/mine" }), "/$schema", drafts),
    ];
    for (schema, path, reason) in cases {
        let fault = ArgumentSchema::compile(&schema).expect_err(&schema.to_string());
        assert_eq!((fault.path.as_str(), fault.reason.as_str()), (path, reason), "{schema}");
    }
}

const DRAFT_7: &str = "http://json-schema.org/draft-07/schema#";

#[test]
fn the_draft_is_the_one_that_the_schema_names() {
    let tuple = |draft: &str| {
        let items = json!([{ "type": "string" }]);
        json!({ "$schema": draft, "properties": { "x": { "items": items } } })
    };
    check_with(tuple(DRAFT_7), &[json!(["a"])], &[(json!([1]), "/x/0", "must be a string")]);
    let present = tuple("https://json-schema.org/draft/2020-12/schema");
    assert_eq!(ArgumentSchema::compile(&present).unwrap_err().path, "/properties/x/items");
}

#[test]
fn annotations_restrict_nothing() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://example.com/tool",
        "title": "t", "description": "d", "x-order": 1,
        "properties": { "x": { "default": 1, "examples": [{ "$ref": "file:///a" }], "format": "date" } }
    });
    check_with(schema, &[json!("no date")], &[]);
    let draft_7 = json!({ "$schema": DRAFT_7, "properties": { "x": { "format": "date" } } });
    check_with(draft_7, &[json!("no date")], &[]);
}

#[test]
fn a_reference_may_be_escaped() {
    let schema = json!({
        "properties": { "x": { "$ref": "#/$defs/a~1b%20%C3%A4" } },
        "$defs": { "a/b ä": { "type": "string" } }
    });
    check_with(schema, &[json!("")], &[(json!(1), "/x", "must be a string")]);
}

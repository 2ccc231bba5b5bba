//! Schemas and arguments that are made to end the process, to run for ever or to fill the memory.

use std::{
    mem::ManuallyDrop,
    time::{Duration, Instant},
};

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn nested(depth: usize, innermost: Value) -> Value {
    // Not by `json!`, which clones what it holds.
    let around = |inner| Value::Object([("x".to_owned(), inner)].into_iter().collect());
    (0..depth).fold(innermost, |inner, _| around(inner))
}

/// On a stack as small as a worker's.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work);
    thread.expect("a thread").join().expect("no overflow");
}

#[test]
fn arguments_without_end_do_not_overflow_the_stack() {
    on_a_small_stack(|| {
        let tree =
            json!({ "properties": { "x": { "anyOf": [{ "$ref": "#" }, { "type": "null" }] } } });
        for schema in [json!({}), tree] {
            let schema = ArgumentSchema::compile(&schema).expect("a schema");
            assert_eq!(schema.check(&nested(127, json!({}))), Ok(()));
            for depth in [128, 10_000] {
                // Dropping it takes more of a stack than a worker has.
                let deep = ManuallyDrop::new(nested(depth, json!({})));
                let fault = schema.check(&deep).expect_err("too deep");
                assert_eq!((fault.path.as_str(), fault.reason.as_str()), ("", TOO_DEEP));
            }
        }
    });
}

/// The deepest arguments that are taken, right and wrong, fit a small stack for every chain.
#[test]
fn a_schema_that_winds_around_itself_takes_shallower_arguments() {
    on_a_small_stack(|| {
        for turns in [0, 1, 2, 3, 5, 8, 13, 21, 34, 55] {
            let wound = (0..turns).fold(json!({ "$ref": "#" }), |inner, at| match at % 3 {
                0 => json!({ "anyOf": [inner, { "type": "null" }] }),
                1 => json!({ "allOf": [inner] }),
                _ => json!({ "oneOf": [{ "type": "null" }, inner] }),
            });
            let tree = json!({ "type": "object", "properties": { "x": wound } });
            let schema = ArgumentSchema::compile(&tree).expect("a schema");
            let reach = schema.shape.reach();
            assert!(reach >= 1 && reach * turns <= 1_024, "{turns}: {reach}");
            assert_eq!(schema.check(&nested(reach - 1, json!({}))), Ok(()));
            let wrong = schema.check(&nested(reach, json!(1))).expect_err("a number is no object");
            assert_ne!(wrong.reason, TOO_DEEP, "{turns}");
            let deeper = schema.check(&nested(reach, json!({}))).expect_err("deep");
            assert_eq!(deeper.reason, TOO_DEEP);
        }
    });
}

/// Eight schemas that refer to each other.
fn web() -> impl Strategy<Value = Vec<Value>> {
    let reference = (0..8_usize).prop_map(|at| json!({ "$ref": format!("#/$defs/d{at}") }));
    let leaf = prop_oneof![
        4 => reference,
        1 => Just(json!({ "type": "null" })),
        1 => Just(json!({ "const": "ä" })),
        1 => Just(json!(true)),
    ];
    let schema = leaf.prop_recursive(4, 24, 3, |inner| {
        let list = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            list().prop_map(|all| json!({ "allOf": all })),
            list().prop_map(|any| json!({ "anyOf": any })),
            list().prop_map(|one| json!({ "oneOf": one })),
            inner.clone().prop_map(|not| json!({ "not": not })),
            inner.clone().prop_map(|part| json!({ "properties": { "x": part } })),
            inner
                .clone()
                .prop_map(|part| json!({ "required": ["x"], "properties": { "x": part } })),
            inner.clone().prop_map(|item| json!({ "items": item, "unevaluatedItems": false })),
            inner.clone().prop_map(|rest| json!({ "additionalProperties": rest })),
        ]
    });
    prop::collection::vec(schema, 8..=8)
}

/// How deep a value is nested, and what is innermost.
fn chain() -> impl Strategy<Value = (usize, Value)> {
    (0..128_usize, prop_oneof![Just(json!({})), Just(json!(1)), Just(json!("ä"))])
}

/// Schemas that refer to each other at random, as nobody sane writes them.
#[test]
fn no_web_of_references_ends_the_process_or_takes_for_ever() {
    on_a_small_stack(|| {
        proptest!(ProptestConfig::with_cases(500), |(web in web(), (depth, leaf) in chain())| {
            let defs: serde_json::Map<String, Value> =
                web.into_iter().enumerate().map(|(at, it)| (format!("d{at}"), it)).collect();
            let root = json!({ "$defs": defs, "properties": { "x": { "$ref": "#/$defs/d0" } } });
            let Ok(schema) = ArgumentSchema::compile(&root) else { return Ok(()) };
            let began = Instant::now();
            let checked = schema.check(&nested(depth, leaf));
            prop_assert!(began.elapsed() < Duration::from_secs(3), "{:?} {root}", began.elapsed());
            if let Err(fault) = checked {
                prop_assert!(fault.path.len() <= 200 && fault.reason.len() <= 400);
            }
        });
    });
}

#[test]
fn a_schema_without_end_is_refused() {
    on_a_small_stack(|| {
        let chain: serde_json::Map<String, Value> = (0..10_000)
            .map(|at| {
                (format!("d{at}"), json!({ "$ref": format!("#/$defs/d{}", (at + 1) % 10_000) }))
            })
            .collect();
        let endless = [
            (0..100).fold(json!({}), |inner, _| json!({ "items": inner })),
            nested(10_000, json!({})),
            json!({ "$defs": chain }),
        ];
        for schema in endless.map(ManuallyDrop::new) {
            let fault = ArgumentSchema::compile(&schema).expect_err("too deep");
            assert_eq!(fault.reason, "the schema is nested too deeply, make it flatter");
            assert!(fault.path.len() <= 200);
        }
    });
}

#[test]
fn a_schema_that_doubles_at_each_level_is_refused() {
    let twice = |at: u32| {
        let next = json!({ "$ref": format!("#/$defs/d{}", at + 1) });
        json!({ "allOf": [next, next] })
    };
    let mut defs: serde_json::Map<String, Value> =
        (0..20).map(|at| (format!("d{at}"), twice(at))).collect();
    defs.insert("d20".to_owned(), json!({ "type": "string" }));
    let schema = json!({ "$defs": defs, "properties": { "x": { "$ref": "#/$defs/d0" } } });
    let fault = ArgumentSchema::compile(&schema).expect_err("a check without end");
    assert_eq!(fault.reason, "the schema branches too often, make it simpler");
}

#[test]
fn a_schema_that_applies_to_one_value_without_end_is_refused() {
    let endless = [
        json!({ "$ref": "#" }),
        json!({ "allOf": [{ "$ref": "#" }] }),
        json!({ "not": { "$ref": "#" } }),
        json!({ "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } }),
        json!({ "properties": { "x": { "if": { "anyOf": [{ "$ref": "#/properties/x" }] } } } }),
    ];
    for schema in endless {
        let fault = ArgumentSchema::compile(&schema).expect_err(&schema.to_string());
        let expected = "the schema refers to itself for one and the same value, refer to it for a \
                        part of the value only";
        assert_eq!(fault.reason, expected, "{schema}");
    }
}

/// What is wrong with each alternative, and of each of theirs, is never collected without end.
#[test]
fn recursive_alternatives_are_checked_in_bounded_time() {
    let node = |kind: &str| {
        json!({
            "type": "object",
            "properties": { "x": { "$ref": "#/$defs/e" }, "kind": { "const": kind } },
            "required": ["kind", "x"]
        })
    };
    let schema = json!({
        "$defs": { "e": { "oneOf": [node("a"), node("b"), node("c"), { "type": "string" }] } },
        "properties": { "x": { "$ref": "#/$defs/e" } }
    });
    let expression = |depth: usize, leaf: Value| {
        (0..depth).fold(leaf, |inner, _| json!({ "kind": "c", "x": inner }))
    };
    let began = Instant::now();
    check_with(
        schema,
        &[expression(100, json!("leaf"))],
        &[
            (expression(3, json!(1)), "/x/x/x/x", "must be an object or a string"),
            (expression(60, json!(1)), "", TOO_LARGE_TO_EXPLAIN),
        ],
    );
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[test]
fn many_faults_are_not_collected() {
    let list = json!({ "anyOf": [{ "type": "array", "items": { "type": "string" } }, { "type": "null" }] });
    let many: Vec<u32> = (0..300_000).collect();
    check(list.clone(), &[], &[(json!(many), "", TOO_LARGE_TO_EXPLAIN)]);
    check(list, &[], &[(json!(["a", 1]), "/x/1", "must be a string")]);
}

#[test]
fn words_are_bounded_and_repeat_no_value() {
    let long = "ä".repeat(1 << 20);
    let schemas = [
        json!({ "additionalProperties": false }),
        json!({ "additionalProperties": { "enum": [long] } }),
        json!({ "additionalProperties": { "type": "integer" } }),
        json!({ "additionalProperties": { "pattern": format!("^(a|{})$", "b".repeat(10_000)) } }),
        json!({ "propertyNames": { "maxLength": 3 } }),
    ];
    for schema in schemas {
        let mut value = json!({ "secret key": "secret value" });
        value[&long] = json!("secret value");
        let (path, reason) = fault_of(&schema, &value).expect("a fault");
        assert!(path.len() <= 200 && reason.len() <= 400, "{} {}", path.len(), reason.len());
        assert!(!reason.contains("secret"), "{reason}");
    }
}

#[test]
fn patterns_are_matched_in_linear_time() {
    let began = Instant::now();
    let text = "a".repeat(1 << 20) + "!";
    let reason = "must match the pattern ^(a+)+$";
    check(json!({ "pattern": "^(a+)+$" }), &[], &[(json!(text), "/x", reason)]);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

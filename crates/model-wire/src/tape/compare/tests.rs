//! What counts as the same request.

use serde_json::{Value, json};

use super::{Comparison, Difference, Names};

/// Ids that begin with `5e` are the server's.
fn compared(names: Names, then: &Value, now: &Value) -> Result<Names, Difference> {
    let is_ours = |id: &str| !id.starts_with("5e");
    let mut comparison = Comparison { names, has_blots: true, is_ours: &is_ours, equal: 0 };
    comparison.check(then, now).map(|()| comparison.names)
}

fn same(then: &Value, now: &Value) {
    assert!(compared(Names::default(), then, now).is_ok(), "{then} {now}");
}

fn differs(then: &Value, now: &Value, path: &str) {
    let difference = compared(Names::default(), then, now).expect_err("another request");
    assert_eq!(difference.path, path, "{then} {now}");
}

#[test]
fn equal_requests_are_equal_whatever_the_order_of_fields() {
    same(&json!({ "a": 1, "b": [true, null, "x"] }), &json!({ "b": [true, null, "x"], "a": 1 }));
}

#[test]
fn the_first_place_that_differs_is_named() {
    let then = json!({ "a": 1, "m": [{ "c": "x" }, { "c": "y" }], "secret name!": 1 });
    for (at, value, path) in [
        ("/a", json!(2), "$.a"),
        ("/a", json!("1"), "$.a"),
        ("/m/1/c", json!("z"), "$.m[1].c"),
        ("/m/1/c", json!("longer"), "$.m[1].c"),
        ("/m/1", json!({}), "$.m[1].c"),
        ("/m", json!([{ "c": "x" }]), "$.m[1]"),
        ("/m/1", json!({ "c": "y", "d": 1 }), "$.m[1].d"),
        ("/secret name!", json!(2), "$[…]"),
    ] {
        let mut now = then.clone();
        *now.pointer_mut(at).expect("a place") = value;
        differs(&then, &now, path);
    }
}

#[test]
fn ids_of_this_side_have_new_names_one_for_one() {
    let pair = |a: &str, b: &str| json!({ "call": a, "result": format!("of {b}.") });
    same(&pair("0123456af", "0123456af"), &pair("fedcba987", "fedcba987"));
    same(&pair("0123456af", "aaaaaaaaa"), &pair("fedcba987", "bbbbbbbbb"));
    differs(&pair("0123456af", "0123456af"), &pair("fedcba987", "bbbbbbbbb"), "$.result");
    differs(&pair("0123456af", "aaaaaaaaa"), &pair("fedcba987", "fedcba987"), "$.result");
    differs(&pair("0123456af", "0123456af"), &pair("fedcba987", "0123456af"), "$.result");
    differs(&json!("5e23456af"), &json!("fedcba987"), "$");
    differs(&json!("call_12345"), &json!("call_54321"), "$");
    differs(&json!("0123456AF"), &json!("fedcba987"), "$");
}

#[test]
fn a_name_stays_and_is_used_in_answers() {
    let names = compared(Names::default(), &json!("0123456af"), &json!("fedcba987"));
    let names = names.expect("a new name");
    assert!(compared(names.clone(), &json!("0123456af"), &json!("bbbbbbbbb")).is_err());
    let mut answer = b"x0123456af 0123456af\"0123456af\"".to_vec();
    names.rename(&mut answer);
    assert_eq!(answer, b"x0123456af fedcba987\"fedcba987\"");
}

#[test]
fn what_was_blotted_out_matches_as_many_bytes() {
    same(&json!("my key is ********."), &json!("my key is sk-12345."));
    differs(&json!("my key is ********."), &json!("my key is sk-123456."), "$");
    differs(&json!("my key is ********."), &json!("my kex is sk-12345."), "$");
    differs(&json!("a *** b"), &json!("a xyz b"), "$");
}

//! Decides whether what is kept of a message gives it back, and when it is kept as JSON.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{KeptMessage, MAX_DEPTH};
use crate::{ModelContent, ModelMessage, ModelRole};

fn call(arguments: Value) -> ModelMessage {
    let (id, name) = ("call_1".to_owned(), "look".to_owned());
    let content = vec![ModelContent::text("é\n"), ModelContent::ToolUse { id, name, arguments }];
    ModelMessage { role: ModelRole::Assistant, content }
}

fn kept(message: &ModelMessage) -> KeptMessage {
    let json = serde_json::to_vec(message).unwrap();
    KeptMessage::new(message.clone(), json)
}

/// Whether it is kept as JSON; either way it is given back as it was.
fn is_packed(message: &ModelMessage) -> bool {
    let kept = kept(message);
    assert_eq!(kept.role(), message.role);
    kept.show(|shown| assert_eq!(shown, message));
    assert_eq!(format!("{kept:?}"), format!("{message:?}"));
    assert_eq!(kept.borrowed(), message);
    kept.show(|shown| assert!(std::ptr::eq(shown, kept.borrowed())));
    matches!(kept, KeptMessage::Packed(_))
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, _| json!({ "in": inner }))
}

#[test]
fn only_arguments_are_worth_json() {
    for (arguments, expected) in [
        (json!({}), false),
        (Value::Null, false),
        (json!("{\"cut"), false),
        (json!({ "path": "notes/today.md" }), true),
        (json!({ "least": i64::MIN, "most": u64::MAX, "part": 0.1 + 0.2, "none": -0.0 }), true),
        (nested(MAX_DEPTH), true),
        (nested(MAX_DEPTH + 1), false),
        (nested(300), false),
    ] {
        assert_eq!(is_packed(&call(arguments.clone())), expected, "{arguments}");
    }
    assert!(!is_packed(&ModelMessage::text(ModelRole::User, "hello")));
}

#[test]
fn what_only_its_issuer_can_read_may_be_too_deep_for_json() {
    for (depth, expected) in [(1, true), (300, false)] {
        let mut message = call(json!({ "a": 1 }));
        let (issuer, text, opaque) = ("a".to_owned(), String::new(), nested(depth));
        message.content.push(ModelContent::Reasoning { issuer, text, opaque });
        assert_eq!(is_packed(&message), expected, "{depth}");
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|items| Value::Object(items.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_the_arguments_are_they_are_given_back(first in value(), second in value()) {
        is_packed(&call(json!({ "a": first, "b": second })));
    }
}

//! The table of valid and invalid calls, and the schema that the provider is shown.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{InvalidCall, ToolCall, definition, parse};

const SECRET: &str = "payload-0xDECAF";

fn check(tool: &str, arguments: Value, expected: Result<(&str, Value), InvalidCall>) {
    let shown = arguments.to_string();
    let expected = expected.map(|(name, arguments)| ToolCall { name: name.into(), arguments });
    assert_eq!(parse(tool, arguments), expected, "{tool} {shown:.80}");
}

#[test]
fn calls_are_read_strictly_and_refused_in_order() {
    use InvalidCall::*;
    let (longest, too_long) = ("n".repeat(256), "n".repeat(257));
    let umlauts = "ü".repeat(129);
    let inner = json!({ "path": SECRET, "deep": [1, { "x": null }] });
    let ktool = "call_ktool";

    check(ktool, json!({ "name": "read", "arguments": inner }), Ok(("read", inner.clone())));
    check(ktool, json!({ "name": longest, "arguments": {} }), Ok((&longest, json!({}))));
    check(ktool, json!({ "name": " ", "arguments": {} }), Ok((" ", json!({}))));

    let other_tools = ["", "call_ktool ", "CALL_KTOOL", "read", SECRET];
    for tool in other_tools {
        check(tool, json!({ "name": "read", "arguments": {} }), Err(UnknownProviderTool));
        check(tool, json!("anything"), Err(UnknownProviderTool));
    }
    let not_objects = [json!(null), json!(true), json!(5), json!([]), json!([{}]), json!(SECRET)];
    let raw_text = json!(r#"{"name":"read","arguments":{}}"#);
    for arguments in not_objects.into_iter().chain([raw_text]) {
        check(ktool, arguments, Err(ArgumentsNotAnObject));
    }
    let unknown = [
        json!({ "name": "read", "arguments": {}, "extra": SECRET }),
        json!({ "Name": "read", "arguments": {} }),
        json!({ "name": 5, "arguments": 5, "": null }),
        json!({ SECRET: 1 }),
    ];
    for arguments in unknown {
        check(ktool, arguments, Err(UnknownArgument));
    }
    let names = [json!(null), json!(5), json!([SECRET]), json!({}), json!(""), json!(too_long)];
    for name in names.into_iter().chain([json!(umlauts)]) {
        check(ktool, json!({ "name": name, "arguments": {} }), Err(InvalidName));
        check(ktool, json!({ "name": name, "arguments": SECRET }), Err(InvalidName));
    }
    check(ktool, json!({}), Err(InvalidName));
    check(ktool, json!({ "arguments": {} }), Err(InvalidName));
    for arguments in [json!(null), json!([]), json!(SECRET), json!("{}"), json!(0)] {
        check(ktool, json!({ "name": "read", "arguments": arguments }), Err(InvalidArguments));
    }
    check(ktool, json!({ "name": "read" }), Err(InvalidArguments));
}

#[test]
fn messages_are_short_distinct_and_without_payload() {
    use InvalidCall::*;
    let all =
        [UnknownProviderTool, ArgumentsNotAnObject, UnknownArgument, InvalidName, InvalidArguments];
    let mut messages: Vec<String> = all.iter().map(ToString::to_string).collect();
    assert!(messages.iter().all(|message| message.len() < 100 && !message.contains('{')));
    messages.sort();
    messages.dedup();
    assert_eq!(messages.len(), all.len());
}

#[test]
fn the_schema_says_exactly_what_is_taken() {
    let definition = definition("what there is".into());
    assert_eq!((&*definition.name, &*definition.description), ("call_ktool", "what there is"));
    assert_eq!(
        definition.input_schema,
        json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "minLength": 1, "maxLength": 256 },
                "arguments": { "type": "object" },
            },
            "required": ["name", "arguments"],
            "additionalProperties": false,
        })
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    let key = prop_oneof![Just("name".to_owned()), Just("arguments".to_owned()), ".{0,8}"];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Whatever is accepted reads back as what was sent, and nothing else is accepted.
    #[test]
    fn only_well_formed_calls_pass(arguments in any_json()) {
        if let Ok(call) = parse("call_ktool", arguments.clone()) {
            prop_assert!((1..=256).contains(&call.name.len()) && call.arguments.is_object());
            let sent = json!({ "name": call.name, "arguments": call.arguments });
            prop_assert_eq!(sent, arguments);
        }
    }
}

//! Which tools a host takes in, and how it describes them.

use std::sync::Arc;

use in_memory_fakes::FakeArtifacts;
use runtime_kernel::{ToolHost, ToolHostError};
use runtime_ports::{Tool, ToolReply};
use serde_json::{Value, json};

use crate::stage::{Acting, host, world};

fn named(name: &str) -> Acting {
    Acting::giving(name, Ok(ToolReply::text("ok")))
}

fn refusal(tools: Vec<Acting>) -> ToolHostError {
    let tools = tools.into_iter().map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect();
    ToolHost::new(tools, world(&FakeArtifacts::new())).expect_err("a refusal")
}

#[test]
fn names_are_unique_free_and_callable() {
    let cases = [
        (vec![named("a"), named("a")], ToolHostError::DuplicateName { name: "a".into() }),
        (vec![named("call_ktool")], ToolHostError::ReservedName { name: "call_ktool".into() }),
        (vec![named("")], ToolHostError::InvalidName { bytes: 0 }),
        (vec![named(&"n".repeat(257))], ToolHostError::InvalidName { bytes: 257 }),
    ];
    for (tools, expected) in cases {
        assert_eq!(refusal(tools), expected);
    }
    let longest = "ä".repeat(128);
    assert!(host([named(&longest)]).descriptor(&longest).is_some(), "256 bytes are allowed");
}

#[test]
fn a_schema_that_cannot_be_checked_is_refused_with_its_place() {
    let schema = json!({ "type": "object", "properties": { "x": { "$ref": "file:///a" } } });
    let expected = ToolHostError::InvalidSchema {
        name: "a".into(),
        path: "/properties/x/$ref".into(),
        reason: "may refer to a place in the same schema only, by a pointer such as #/$defs/name \
                 in a $ref"
            .into(),
    };
    assert_eq!(refusal(vec![named("a").schema(schema)]), expected);
}

#[test]
fn the_description_is_a_preface_and_one_line_of_json_for_each_tool_by_name() {
    let text = host([named("b"), named("a")]).tool_description().to_owned();
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('{')).collect();
    assert_eq!(
        lines,
        [
            r#"{"name":"a","description":"The tool a.\nOn two lines.","input_schema":{"type":"object"}}"#,
            r#"{"name":"b","description":"The tool b.\nOn two lines.","input_schema":{"type":"object"}}"#,
        ]
    );
    assert!(!text.starts_with('{'), "a preface comes first");
    assert!(lines.iter().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

#[test]
fn the_description_does_not_depend_on_the_order_of_registration() {
    let one = host([named("c"), named("a"), named("b")]);
    let other = host([named("b"), named("c"), named("a")]);
    assert_eq!(one.tool_description(), other.tool_description());
}

#[test]
fn a_host_without_tools_says_so() {
    let text = host([]).tool_description().to_owned();
    assert!(text.contains("no tools"), "{text}");
}

#[test]
fn a_descriptor_is_found_by_name_only() {
    let host = host([named("a")]);
    assert_eq!(host.descriptor("a").map(|it| it.version.as_str()), Some("1"));
    assert!(host.descriptor("A").is_none());
}

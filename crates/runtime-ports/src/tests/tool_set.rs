//! Decides whether a set of tools is named by its definitions and their order.

use serde_json::json;

use crate::{ModelToolDefinition, ToolSet};

fn tool(name: &str) -> ModelToolDefinition {
    let (name, description) = (name.to_owned(), String::new());
    ModelToolDefinition { name, description, input_schema: json!({ "b": 1, "a": 2 }) }
}

#[test]
fn the_digest_depends_on_definitions_and_order_alone() {
    let set = ToolSet::new(vec![tool("a"), tool("b")]);
    let again: ToolSet = [tool("a"), tool("b")].into_iter().collect();
    assert_eq!((set.digest(), &set), (again.digest(), &again));
    assert!(!set.is_same(&again) && set.is_same(&set.clone()));
    let turned = ToolSet::new(vec![tool("b"), tool("a")]);
    assert_ne!((turned.digest(), &turned), (set.digest(), &set));
    let keys_turned: ModelToolDefinition =
        serde_json::from_str(r#"{"inputSchema":{"a":2,"b":1},"description":"","name":"a"}"#)
            .unwrap();
    assert_eq!(ToolSet::new(vec![keys_turned, tool("b")]).digest(), set.digest());
}

#[test]
fn a_set_is_written_as_its_definitions() {
    let set = ToolSet::new(vec![tool("a")]);
    let written = serde_json::to_string(&set).unwrap();
    assert_eq!(written, r#"[{"name":"a","description":"","inputSchema":{"a":2,"b":1}}]"#);
    assert_eq!(serde_json::from_str::<ToolSet>(&written).unwrap(), set);
    assert_eq!(set.len(), 1);
    assert_eq!(format!("{:?}", ToolSet::default()), "[]");
}

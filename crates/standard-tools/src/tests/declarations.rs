//! Checks what the tools declare.

use runtime_ports::{EffectClass, ToolKind};

use super::*;

#[test]
fn effects_and_parallelism_agree() {
    let check = |name: &str, effect, parallel| {
        let tool = tool(name);
        let descriptor = tool.descriptor();
        assert_eq!((descriptor.effect, descriptor.parallel), (effect, parallel), "{name}");
        assert!(!descriptor.idempotent, "{name}");
        assert_eq!(descriptor.kind, ToolKind::Function, "{name}");
        assert!(!descriptor.version.is_empty() && !descriptor.timeout.is_zero(), "{name}");
    };
    check("list_files", EffectClass::ReadOnly, true);
    check("read_file", EffectClass::ReadOnly, true);
    check("search_files", EffectClass::ReadOnly, true);
    check("write_file", EffectClass::WorkspaceWrite, false);
    check("run_command", EffectClass::Process, false);
}

#[test]
fn schemas_are_strict_and_described() {
    for tool in standard_tools() {
        let definition = &tool.descriptor().definition;
        let schema = &definition.input_schema;
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], false, "{}", definition.name);
        let properties = schema["properties"].as_object().unwrap();
        for (name, property) in properties {
            assert!(property["type"].is_string(), "{name}");
            assert!(property["description"].is_string(), "{name}");
        }
        for required in schema["required"].as_array().unwrap() {
            assert!(properties.contains_key(required.as_str().unwrap()), "{required}");
        }
        assert!(!definition.description.contains("  "), "{}", definition.description);
        assert!(!definition.description.contains('\n'), "one JSON line each");
    }
}

#[tokio::test]
async fn arguments_that_break_the_schema_are_told_without_being_repeated() {
    let workspace = FakeWorkspace::default();
    let payload = "payload-9c1";
    let bad = [
        json!(null),
        json!([]),
        json!(payload),
        json!({ payload: 1 }),
        json!({ "path": 1 }),
        json!({ "path": "a", "query": "b", "content": "c", "command": "d", payload: payload }),
        json!({ "path": { payload: payload }, "query": [], "content": 1, "command": payload }),
    ];
    for tool in standard_tools() {
        let name = tool.descriptor().definition.name.clone();
        for arguments in &bad {
            let reply = call(&workspace, &name, arguments.clone()).await.unwrap();
            assert_eq!(
                reply.error_code.as_deref(),
                Some("INVALID_ARGUMENTS"),
                "{name} {arguments}"
            );
            assert!(!reply.content.contains(payload), "{name} {}", reply.content);
        }
    }
    for (name, arguments) in [
        ("read_file", json!({ "path": "a", "from_line": 0 })),
        ("read_file", json!({ "path": "a", "from_line": -1 })),
        ("read_file", json!({ "path": "a", "max_lines": 0 })),
        ("search_files", json!({ "query": "" })),
        ("search_files", json!({ "query": "a", "limit": 0 })),
        ("search_files", json!({ "query": "a", "limit": 1001 })),
    ] {
        assert_eq!(told_error(&workspace, name, arguments).await, "INVALID_ARGUMENTS");
    }
    assert!(workspace.calls().is_empty());
}

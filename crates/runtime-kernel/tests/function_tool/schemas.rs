//! What a model is told of a derived type.

use std::time::Duration;

use runtime_kernel::{FunctionTool, NoArguments, input_schema, schemars};
use runtime_ports::{EffectClass, Tool, ToolKind};
use serde_json::json;

#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "only the schema is looked at")]
struct Order {
    /// Größe in cm.
    title: String,
    small: i8,
    count: u32,
    total: i64,
    price: f64,
    from: Option<Point>,
    to: Point,
    tags: Vec<Tag>,
}

#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "only the schema is looked at")]
struct Point {
    x: f32,
}

#[derive(schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only the schema is looked at")]
enum Tag {
    New,
    Old,
}

#[test]
fn the_schema_is_plain_and_written_where_it_is_used() {
    let point = json!({
        "type": "object", "properties": { "x": { "type": "number" } }, "required": ["x"]
    });
    let mut optional = point.clone();
    optional["type"] = json!(["object", "null"]);
    let expected = json!({
        "type": "object",
        "properties": {
            "title": { "type": "string", "description": "Größe in cm." },
            "small": { "type": "integer", "minimum": -128, "maximum": 127 },
            "count": { "type": "integer", "minimum": 0, "maximum": 4_294_967_295_u32 },
            "total": { "type": "integer" },
            "price": { "type": "number" },
            "from": optional,
            "to": point,
            "tags": { "type": "array", "items": { "type": "string", "enum": ["new", "old"] } }
        },
        "required": ["title", "small", "count", "total", "price", "to", "tags"]
    });
    assert_eq!(input_schema::<Order>(), expected);
    let bytes = || input_schema::<Order>().to_string();
    assert_eq!(bytes(), bytes());
    assert!(bytes().starts_with(r#"{"properties":{"count":{"maximum":"#), "{}", bytes());
}

#[test]
fn a_tool_without_arguments_has_an_object_without_keys() {
    let expected = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    assert_eq!(input_schema::<NoArguments>(), expected);
    #[derive(schemars::JsonSchema)]
    struct Empty {}
    assert_eq!(input_schema::<Empty>(), json!({ "type": "object", "properties": {} }));
}

#[test]
fn only_a_type_that_holds_itself_is_defined_apart() {
    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only the schema is looked at")]
    struct Tree {
        children: Vec<Tree>,
    }
    let schema = input_schema::<Tree>();
    assert!(!schema.to_string().contains("title"), "{schema}");
    assert_eq!(schema["type"], "object");
    let items = schema["properties"]["children"]["items"]["$ref"].as_str().expect("a reference");
    assert!(items == "#" || items == "#/$defs/Tree", "{schema}");
}

#[test]
fn a_function_is_declared_cautiously_until_it_says_otherwise() {
    let tool = || FunctionTool::new("tool", "Ping.", |_: NoArguments, _| async { Ok("pong") });
    let first = tool();
    let declared = first.descriptor();
    assert_eq!((declared.kind, declared.effect), (ToolKind::Function, EffectClass::External));
    assert_eq!((declared.idempotent, declared.parallel), (false, false));
    assert_eq!((declared.timeout, declared.output_limit_bytes), (Duration::from_secs(60), 32_768));
    assert_eq!(declared.version, "1");
    let other = tool()
        .effect(EffectClass::ReadOnly)
        .idempotent()
        .parallel()
        .timeout(Duration::from_secs(5))
        .output_limit(100)
        .version("2");
    let declared = other.descriptor();
    assert_eq!(declared.effect, EffectClass::ReadOnly);
    assert_eq!((declared.idempotent, declared.parallel), (true, true));
    assert_eq!((declared.timeout, declared.output_limit_bytes), (Duration::from_secs(5), 100));
    assert_eq!((declared.definition.name.as_str(), declared.version.as_str()), ("tool", "2"));
}

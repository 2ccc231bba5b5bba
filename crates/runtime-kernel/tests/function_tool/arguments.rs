//! What of the model's arguments a function sees.

use runtime_kernel::{FunctionTool, NoArguments, ToolHost, ToolHostError, schemars};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::stage::{refusal, serve, world};

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "they are read as debug text")]
struct Find {
    text: String,
    scope: Option<Scope>,
    #[serde(default)]
    order: Order,
    lines: Option<Lines>,
    #[serde(default = "ten")]
    most: u8,
}

fn ten() -> u8 {
    10
}

#[derive(Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Order {
    #[default]
    ByName,
    ByAge,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(dead_code, reason = "they are read as debug text")]
enum Scope {
    Everywhere,
    Folder { path: String },
}

/// A type that demands more than its schema says.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(try_from = "Ends")]
#[schemars(with = "Ends")]
#[expect(dead_code, reason = "they are read as debug text")]
struct Lines(u32, u32);

#[derive(Deserialize, schemars::JsonSchema)]
struct Ends {
    from: u32,
    to: u32,
}

impl TryFrom<Ends> for Lines {
    type Error = &'static str;

    fn try_from(ends: Ends) -> Result<Self, Self::Error> {
        if ends.from > ends.to {
            return Err("the first line comes after the last one");
        }
        Ok(Self(ends.from, ends.to))
    }
}

fn find() -> FunctionTool {
    FunctionTool::new("tool", "Finds text.", |find: Find, _| async move { Ok(format!("{find:?}")) })
}

#[tokio::test]
async fn arguments_arrive_in_their_type() {
    let cases = [
        (
            json!({ "text": "größer 🦀" }),
            r#"Find { text: "größer 🦀", scope: None, order: ByName, lines: None, most: 10 }"#,
        ),
        (
            json!({
                "text": "a", "scope": null, "order": "by_age", "lines": { "from": 1, "to": 2 }, "most": 3
            }),
            r#"Find { text: "a", scope: None, order: ByAge, lines: Some(Lines(1, 2)), most: 3 }"#,
        ),
        (
            json!({ "text": "", "scope": { "kind": "folder", "path": "ä/b" } }),
            r#"Find { text: "", scope: Some(Folder { path: "ä/b" }), order: ByName, lines: None, most: 10 }"#,
        ),
        (
            json!({ "text": "", "scope": { "kind": "everywhere" } }),
            r#"Find { text: "", scope: Some(Everywhere), order: ByName, lines: None, most: 10 }"#,
        ),
    ];
    for (arguments, expected) in cases {
        let served = serve(find(), arguments.clone()).await;
        assert_eq!((served.ok, served.text.as_str()), (true, expected), "{arguments}");
    }
}

#[tokio::test]
async fn arguments_of_another_form_are_told_to_the_model_with_the_place() {
    let cases = [
        (json!({}), "argument /text is missing"),
        (json!({ "text": 1 }), "argument /text must be a string"),
        (json!({ "text": "", "texd": "" }), "argument /texd is not known, leave it out"),
        (json!({ "text": "", "most": 256 }), "argument /most must be at most 255"),
        (json!({ "text": "", "most": 1.5 }), "argument /most must be an integer"),
        (
            json!({ "text": "", "order": "by_size" }),
            r#"argument /order must be one of "by_name", "by_age""#,
        ),
        (json!({ "text": "", "scope": { "kind": "folder" } }), "argument /scope/path is missing"),
        (
            json!({ "text": "", "lines": { "from": 1, "to": -2 } }),
            "argument /lines/to must be at least 0",
        ),
        (
            json!({ "text": "", "lines": { "from": 2, "to": 1 } }),
            "argument /lines cannot be used: the first line comes after the last one",
        ),
    ];
    for (arguments, expected) in cases {
        let served = serve(find(), arguments.clone()).await;
        let (code, error) = refusal(&served);
        assert_eq!(code, "invalid_arguments_type", "{arguments}");
        assert_eq!(error, format!("{expected}; nothing was changed"), "{arguments}");
    }
}

#[tokio::test]
async fn unknown_keys_are_ignored_where_the_type_says_nothing_else() {
    #[derive(Deserialize, schemars::JsonSchema)]
    struct Open {
        text: String,
    }
    let tool = FunctionTool::new("tool", "Echo.", |open: Open, _| async move { Ok(open.text) });
    let served = serve(tool, json!({ "text": "a", "more": 1 })).await;
    assert_eq!((served.ok, served.text.as_str()), (true, "a"));
}

#[tokio::test]
async fn a_tool_may_take_nothing() {
    let tool = || FunctionTool::new("tool", "Ping.", |_: NoArguments, _| async { Ok("pong") });
    for nothing in [json!(null), json!(""), json!({})] {
        assert_eq!(serve(tool(), nothing).await.text, "pong");
    }
    let (code, error) = refusal(&serve(tool(), json!({ "a": 1 })).await);
    assert_eq!(code, "invalid_arguments_type");
    assert_eq!(error, "argument /a is not known, leave it out; nothing was changed");
}

#[tokio::test]
async fn words_of_a_type_are_bounded() {
    #[derive(Deserialize, schemars::JsonSchema)]
    struct Held {
        #[expect(dead_code, reason = "only its decoding is looked at")]
        any: Never,
    }
    struct Never;
    impl<'de> Deserialize<'de> for Never {
        fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
            Err(serde::de::Error::custom("ä".repeat(1 << 20)))
        }
    }
    impl schemars::JsonSchema for Never {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            "Never".into()
        }
        fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
            true.into()
        }
    }
    let tool = FunctionTool::new("tool", "Fails.", |_: Held, _| async { Ok("never") });
    let (code, error) = refusal(&serve(tool, json!({ "any": 1 })).await);
    assert_eq!(code, "invalid_arguments_type");
    assert!(error.starts_with("argument /any cannot be used: ä") && error.len() < 600, "{error}");
}

#[test]
fn arguments_that_are_no_object_are_refused_when_the_host_is_made() {
    let tool = FunctionTool::new("tool", "A list.", |_: Vec<String>, _| async { Ok("never") });
    let refused = ToolHost::new(vec![std::sync::Arc::new(tool)], world()).expect_err("refused");
    let reason = "the type must be object".to_owned();
    let (name, path) = ("tool".to_owned(), String::new());
    assert_eq!(refused, ToolHostError::InvalidSchema { name, path, reason });
}

#[tokio::test]
async fn a_type_may_hold_itself() {
    #[derive(Deserialize, schemars::JsonSchema)]
    struct Tree {
        name: String,
        #[serde(default)]
        children: Vec<Tree>,
    }
    fn names(tree: &Tree) -> String {
        tree.children.iter().fold(tree.name.clone(), |all, child| all + &names(child))
    }
    let tool = || FunctionTool::new("tool", "Names.", |it: Tree, _| async move { Ok(names(&it)) });
    let tree =
        |leaf: Value| json!({ "name": "a", "children": [{ "name": "b", "children": [leaf] }] });
    assert_eq!(serve(tool(), tree(json!({ "name": "ç" }))).await.text, "abç");
    let (_, error) = refusal(&serve(tool(), tree(json!({ "name": 1 }))).await);
    assert_eq!(error, "argument /children/0/children/0/name must be a string; nothing was changed");
}

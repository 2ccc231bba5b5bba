//! What stands between a model's call and its tool: the schema of its arguments.

use in_memory_fakes::{FakeModel, FakeTool, ModelStep, ToolStep};
use runtime_kernel::engine::{RunResult, ToolPolicy};
use serde_json::{Value, json};

use crate::{
    oracle,
    stage::{agent, finish, names, start, told, tool_like, writing},
};

/// A tool that takes `{"path": string}` and must not be reached.
fn write() -> FakeTool {
    let declared = |it: &mut runtime_ports::ToolDescriptor| {
        writing(it);
        it.definition.input_schema = json!({
            "type": "object",
            "properties": { "path": { "type": "string" } },
            "required": ["path"],
        });
    };
    tool_like("write", declared, [] as [ToolStep; 0])
}

fn code(result: &RunResult) -> String {
    oracle::records(result)["1"].error_code.as_deref().unwrap_or("none").to_owned()
}

#[tokio::test(start_paused = true)]
async fn arguments_that_do_not_fit_reach_neither_a_person_nor_the_tool() {
    let cases: [(Value, &str, &str); 5] = [
        (json!({ "path": 7 }), "invalid_arguments_type", "path"),
        (json!({}), "invalid_arguments_type", "path"),
        (json!("{\"path\":"), "invalid_arguments_json", "no valid JSON"),
        (json!("\"a\""), "invalid_arguments_payload", "JSON object"),
        (json!([1]), "invalid_arguments_payload", "JSON object"),
    ];
    for (arguments, expected, words) in cases {
        let called = ModelStep::tool_call("1", "write", arguments.clone());
        let model = FakeModel::new([called, ModelStep::text("well")]);
        let builder = agent(&model).tool(write()).policy(ToolPolicy::ask_for_effects());
        let (run, mut events) = start(&builder.build().expect("an agent"));
        let result = finish(&run).await;
        assert_eq!(code(&result), expected, "{arguments}");
        let shown = told(&result).into_iter().find(|line| line.starts_with("result "));
        assert!(shown.is_some_and(|line| line.contains(words)), "{arguments}: {result:?}");
        let names = names(&mut events).await;
        assert!(!names.contains(&"approval_requested"), "{arguments}: {names:?}");
        assert!(!names.contains(&"tool_call_started"), "{arguments}: {names:?}");
    }
}

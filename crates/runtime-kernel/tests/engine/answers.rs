//! What becomes of answers that must follow a schema, whatever the model says.

use std::sync::Arc;

use in_memory_fakes::{FakeModel, ModelStep, ToolStep};
use runtime_kernel::engine::{AgentBuilder, AgentError, NoToolPolicy, RunResult, RunStatus, Task};
use runtime_ports::{ModelRole, ResponseFormat};
use serde_json::{Value, json};

use crate::stage::{agent, call, finish, names, start, told, tool};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "n": { "type": "integer", "maximum": 9 } },
        "required": ["n"],
        "additionalProperties": false,
    })
}

fn answering(model: &FakeModel) -> AgentBuilder {
    agent(model).answer_schema("number", schema())
}

async fn said(texts: &[&str]) -> (Arc<RunResult>, FakeModel) {
    let model = FakeModel::new(texts.iter().map(|text| ModelStep::text(*text)));
    let agent = answering(&model).build().expect("an agent");
    (finish(&start(&agent).0).await, model)
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_the_value_that_the_model_means() {
    for text in [
        "{\"n\": 3}",
        "\u{feff}{\"n\": 3}",
        "Sure:\n```json\n{\"n\": 3}\n```\nAnything else?",
        "I counted [1] and got {\"n\": 3}.",
    ] {
        let (result, _) = said(&[text]).await;
        assert_eq!((result.status, &result.answer), (RunStatus::Completed, &Some(json!({"n": 3}))));
        assert_eq!(result.final_answer.as_deref(), Some(text));
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_wrong_is_corrected_once() {
    let (result, model) = said(&["{\"n\": \"three\"}", "{\"n\": 3}"]).await;
    assert_eq!((result.status, &result.answer), (RunStatus::Completed, &Some(json!({"n": 3}))));
    assert_eq!(model.requests().len(), 2);
    let repair = &told(&result)[3];
    assert!(
        repair.starts_with("user: Your answer cannot be used: /n of the answer must be an integer"),
        "{repair}"
    );
    assert_eq!(result.cycles.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn hostile_answers_end_the_run_and_nothing_else() {
    let deep = format!("{}1{}", "{\"n\":".repeat(1 << 16), "}".repeat(1 << 16));
    let huge = format!("{{\"n\": 3, \"x\": \"{}\"}}", "é".repeat(1 << 18));
    let unclosed = "{\"n\":[".repeat(1 << 16);
    for text in [
        "three",
        "{\"n\": NaN}",
        "{\"n\": 1e999}",
        "{\"n\": 3, \"n\": 4}",
        "{\"n\": 3} or {\"n\": 4}",
        "{\"n\": 18446744073709551616}",
        "[{\"n\": 3}]",
        "null",
        &deep,
        &huge,
        &unclosed,
    ] {
        let (result, model) = said(&[text, text]).await;
        let error = result.error.as_ref().expect("an error");
        assert_eq!((&*error.code, result.status), ("answer_invalid", RunStatus::Failed));
        assert!(error.message.len() < 800, "{}", error.message);
        assert_eq!((result.answer.as_ref(), model.requests().len()), (None, 2));
        // System, task, answer, repair, answer.
        assert_eq!(result.history.len(), 5);
    }
}

#[tokio::test(start_paused = true)]
async fn the_text_of_a_tool_that_finishes_is_an_answer_too() {
    let end = |text: &str| ModelStep::tool_call("c", "task_finish", json!({ "message": text }));
    let model = FakeModel::new([end("three"), end("{\"n\": 3}")]);
    let agent = answering(&model).no_tool_policy(NoToolPolicy::Continue).build().expect("an agent");
    let (run, mut events) = start(&agent);
    let result = finish(&run).await;
    assert_eq!((result.status, &result.answer), (RunStatus::Completed, &Some(json!({"n": 3}))));
    assert_eq!(
        names(&mut events).await.iter().filter(|it| **it == "cycle_injected_messages").count(),
        1
    );
}

#[tokio::test(start_paused = true)]
async fn a_provider_is_asked_for_the_form_only_where_no_tool_is_advertised() {
    let model = FakeModel::new([call("c1", "look"), ModelStep::text("{\"n\": 3}")]);
    let look = tool("look", [ToolStep::text("3 files")]);
    let with_tools = answering(&model).tool(look).build().expect("an agent");
    assert_eq!(finish(&start(&with_tools).0).await.status, RunStatus::Completed);
    assert!(model.requests().iter().all(|it| it.options.response_format == ResponseFormat::Text));

    let model = FakeModel::new([ModelStep::text("{\"n\": 3}")]);
    let alone = answering(&model).without_ask_user().build().expect("an agent");
    assert_eq!(finish(&start(&alone).0).await.status, RunStatus::Completed);
    let format = &model.requests()[0].options.response_format;
    let expected =
        ResponseFormat::JsonSchema { name: "number".to_owned(), schema: schema(), strict: false };
    assert_eq!(format, &expected);
}

#[tokio::test(start_paused = true)]
async fn the_schema_is_told_in_the_same_bytes_and_once_in_a_conversation() {
    let (first, model) = said(&["{\"n\": \"x\"}", "{\"n\": 3}"]).await;
    let told = |request: usize| {
        let message = model.requests()[request].messages.messages().next().cloned();
        message.expect("a system message")
    };
    assert_eq!(told(0), told(1));
    assert_eq!(told(0).role, ModelRole::System);

    let model = FakeModel::new([ModelStep::text("{\"n\": 4}")]);
    let agent = answering(&model).build().expect("an agent");
    let earlier = first.history.messages().cloned().collect();
    agent.run(Task::new("again").after(earlier)).await;
    assert_eq!(model.requests()[0].messages.messages().next(), first.history.messages().next());
}

#[test]
fn a_schema_that_cannot_be_used_is_refused() {
    let build = |name: &str, schema: Value| {
        let model = FakeModel::new([]);
        agent(&model).answer_schema(name, schema).build().map(drop)
    };
    assert_eq!(build("list-of_2", json!({"type": "array"})), Ok(()));
    let refused = build("a", json!({"$ref": "https://example.org/schema"}));
    assert!(matches!(refused, Err(AgentError::InvalidAnswerSchema { .. })), "{refused:?}");
    for name in ["", "two words", &"n".repeat(65)] {
        assert!(matches!(build(name, json!(true)), Err(AgentError::Definition(_))));
    }
}

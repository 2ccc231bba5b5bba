//! What the two tools declare and reply.

use std::time::Duration;

use runtime_ports::{OperationContext, Tool, ToolDirective, ToolInvocation, ToolReply};
use serde_json::{Value, json};

use super::{AskUser, TaskFinish};
use crate::engine::closed_world;

async fn reply(tool: &dyn Tool, arguments: Value) -> ToolReply {
    let (id, execution) = ("call".parse().unwrap(), "run".parse().unwrap());
    let operation = OperationContext::root(id, execution, Duration::from_secs(60));
    let call = ToolInvocation {
        call_id: "1".into(),
        idempotency_key: "run-1".into(),
        arguments,
        shared_state: Default::default(),
        metadata: Default::default(),
        cycle: 1,
    };
    tool.invoke(&operation, &closed_world(), call).await.unwrap()
}

async fn check(tool: &dyn Tool, arguments: Value, directive: ToolDirective, metadata: Value) {
    let reply = reply(tool, arguments).await;
    assert_eq!((reply.error_code, reply.directive), (None, directive));
    assert_eq!(Value::Object(reply.metadata), metadata);
    assert!(!reply.content.is_empty());
}

#[tokio::test]
async fn a_question_waits_and_a_message_finishes() {
    let (ask, finish) = (AskUser::new(), TaskFinish::default());
    let wait = ToolDirective::WaitUser;
    let done = ToolDirective::Finish;
    check(&ask, json!({"question": "Which?"}), wait, json!({"question": "Which?"})).await;
    let given = json!({"question": "Which?", "choices": ["a", "b"]});
    check(&ask, given.clone(), wait, given).await;
    let given = json!({"question": "Which?", "choices": []});
    check(&ask, given, wait, json!({"question": "Which?"})).await;
    check(&finish, json!({"message": "42"}), done, json!({"final_message": "42"})).await;
}

#[tokio::test]
async fn other_arguments_go_on_with_an_error_that_repeats_nothing() {
    let cases = [
        json!({}),
        json!({"question": " \n", "message": ""}),
        json!({"question": "  "}),
        json!({"message": "\t"}),
        json!({"question": 1}),
        json!({"message": ["SECRET"]}),
        json!({"question": "a", "SECRET": 1}),
        json!({"message": "a", "SECRET": 1}),
        json!({"question": "a", "choices": "SECRET"}),
        json!(["SECRET"]),
        Value::Null,
    ];
    let (ask, finish): (AskUser, TaskFinish) = Default::default();
    for arguments in cases {
        for tool in [&ask as &dyn Tool, &finish] {
            let reply = reply(tool, arguments.clone()).await;
            assert_eq!(reply.error_code.as_deref(), Some("invalid_arguments_type"), "{arguments}");
            assert_eq!(reply.directive, ToolDirective::Continue);
            assert!(reply.metadata.is_empty() && !reply.content.contains("SECRET"));
        }
    }
}

#[test]
fn both_follow_the_rules_for_tools_that_give_directives() {
    let (ask, finish) = (AskUser::new(), TaskFinish::new());
    for (tool, name, required) in
        [(&ask as &dyn Tool, "ask_user", "question"), (&finish, "task_finish", "message")]
    {
        let descriptor = tool.descriptor();
        assert_eq!(descriptor.definition.name, name);
        assert!(!descriptor.parallel);
        let schema = &descriptor.definition.input_schema;
        assert_eq!(schema["required"], json!([required]));
        assert_eq!(schema["additionalProperties"], json!(false));
    }
}

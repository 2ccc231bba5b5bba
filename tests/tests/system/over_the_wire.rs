//! Decides whether router and OpenAI adapter keep together what each of them promises alone: what is
//! sent again, what is sent at all, and to whom.

use std::{sync::Arc, time::Duration};

use router_adapter::Router;
use runtime_ports::{
    AgentTurnEvent, AgentTurnRequest, CommitDisposition, Intelligence as _, ModelContent,
    ModelMessage, ModelRequest, ModelRole, ModelSession, ModelToolDefinition, OperationContext,
    PortFailure, PortFailureKind, ToolResult, ToolSet, Transcript, TurnStart, UsageReceipt,
};
use runtime_types::{ExecutionId, OperationId};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::wire::{MODEL, Reply, WireServer, call, text};

fn look() -> ModelToolDefinition {
    let input_schema = json!({ "type": "object" });
    ModelToolDefinition { name: "look".into(), description: "looks".into(), input_schema }
}

/// Plays a turn; every call is answered with `seen`. Gives the answer and the receipt.
async fn turn(server: &WireServer) -> (Result<String, PortFailure>, UsageReceipt) {
    let session = Arc::new(server.session().build().unwrap());
    let start = TurnStart {
        user_id: "ada".into(),
        operation_id: Uuid::new_v4(),
        parent_operation_id: None,
        continuation: None,
        request: AgentTurnRequest {
            model: MODEL.into(),
            reasoning_effort: String::new(),
            input: "look".into(),
            tools: vec![look()],
            timeout: None,
            ephemeral: true,
            max_requests: 9,
        },
    };
    let mut turn = Router::single(session, MODEL).start_agent_turn(start).await.unwrap();
    loop {
        match turn.next_event().await {
            Ok(Some(AgentTurnEvent::ToolCall { call_id, .. })) => {
                let seen = ToolResult { success: true, text: "seen".into() };
                turn.respond(&call_id, seen).await.unwrap();
            }
            Ok(Some(AgentTurnEvent::Completed { answer, .. })) => {
                return (Ok(answer), turn.receipt().unwrap().clone());
            }
            Ok(Some(_)) => {}
            Ok(None) => panic!("the turn ended without its end"),
            Err(failed) => return (Err(failed.failure), *failed.receipt.unwrap()),
        }
    }
}

#[tokio::test]
async fn an_answer_that_broke_off_is_unknown_and_not_asked_again() {
    let again = Reply::Stream(vec![text("twice")], "stop");
    let server = WireServer::playing(vec![Reply::HangUp(vec![text("half")]), again]).await;
    let (outcome, receipt) = turn(&server).await;
    let failure = outcome.unwrap_err();
    let told = (failure.kind, failure.commit);
    assert_eq!(told, (PortFailureKind::Protocol, CommitDisposition::Unknown));
    assert_eq!((server.bodies().len(), receipt.requests.len()), (1, 1));
}

#[tokio::test]
async fn a_provider_that_cannot_serve_is_asked_once_more_with_the_same_bytes() {
    let replies = vec![Reply::Status(503), Reply::Stream(vec![text("now")], "stop")];
    let server = WireServer::playing(replies).await;
    let (outcome, receipt) = turn(&server).await;
    assert_eq!(outcome.as_deref(), Ok("now"));
    let [first, second] = &server.bodies()[..] else { panic!("two requests") };
    assert_eq!(first, second);
    assert_eq!((receipt.requests.len(), receipt.losses.len()), (2, 1), "listed, and said");
}

#[tokio::test]
async fn a_refused_key_is_not_asked_again() {
    let server = WireServer::playing(vec![Reply::Status(401)]).await;
    let failure = turn(&server).await.0.unwrap_err();
    let told = (failure.kind, failure.commit);
    assert_eq!(told, (PortFailureKind::Forbidden, CommitDisposition::NotCommitted));
    assert_eq!(server.bodies().len(), 1);
}

fn messages(body: &str) -> Vec<Value> {
    let body: Value = serde_json::from_str(body).unwrap();
    body["messages"].as_array().unwrap().clone()
}

#[tokio::test]
async fn after_a_call_the_next_request_is_the_one_before_and_what_is_new() {
    let asked = vec![text("let me see"), call("c1", "look", &json!({ "at": 1 }))];
    let replies =
        vec![Reply::Stream(asked, "tool_calls"), Reply::Stream(vec![text("done")], "stop")];
    let server = WireServer::playing(replies).await;
    assert_eq!(turn(&server).await.0.as_deref(), Ok("done"));
    let [first, second] = &server.bodies()[..] else { panic!("two requests") };
    let (before, after) = (messages(first), messages(second));
    assert_eq!(after[..before.len()], before);
    let roles: Vec<_> = after[before.len()..].iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["assistant", "tool"]);
    let said = &after[before.len()];
    assert_eq!(
        (&said["content"], &said["tool_calls"][0]["id"]),
        (&json!("let me see"), &json!("c1"))
    );
    assert_eq!(after.last().unwrap()["tool_call_id"], "c1");
    let history = serde_json::to_string(&before).unwrap();
    let history = history.trim_end_matches(']');
    let end = first.find(history).expect("the history is in the body") + history.len();
    assert!(second.starts_with(&first[..end]), "a cache of prefixes would miss");
}

async fn ask(session: &dyn ModelSession, history: &Transcript) -> Vec<ModelContent> {
    let (id, run) = (OperationId::new("ask").unwrap(), ExecutionId::new("run").unwrap());
    let operation = OperationContext::root(id, run, Duration::from_secs(30));
    let request = ModelRequest {
        invocation_id: "ask".into(),
        model: MODEL.into(),
        messages: history.clone(),
        tools: ToolSet::new(vec![look()]),
        max_output_tokens: None,
        options: Arc::default(),
    };
    session.invoke(&operation, request).await.unwrap().output
}

fn result_of(id: &str) -> ModelMessage {
    let (tool_use_id, name) = (id.to_owned(), "look".to_owned());
    let (content, failed) = ("seen".to_owned(), false);
    let result = ModelContent::ToolResult { tool_use_id, name, content, failed };
    ModelMessage { role: ModelRole::Tool, content: vec![result] }
}

/// From one provider to another and back: each gets its own reasoning again, and never the other's.
#[tokio::test]
async fn reasoning_finds_its_way_back_to_its_issuer_after_a_switch() {
    let thinking = |thought: &str, id| {
        let thought = json!({ "reasoning_content": thought });
        Reply::Stream(vec![thought, call(id, "look", &json!({}))], "tool_calls")
    };
    let done = || Reply::Stream(vec![text("done")], "stop");
    let one = WireServer::playing(vec![thinking("thought of one", "c1"), done()]).await;
    let two = WireServer::playing(vec![thinking("thought of two", "c2"), done()]).await;
    let (first, second) = (one.session().build().unwrap(), two.session().build().unwrap());
    let mut history = Transcript::from(vec![ModelMessage::text(ModelRole::User, "look")]);
    for (session, id) in [(&first, "c1"), (&second, "c2")] {
        let content = ask(session, &history).await;
        history.push(ModelMessage { role: ModelRole::Assistant, content });
        history.push(result_of(id));
    }
    for session in [&first, &second] {
        ask(session, &history).await;
    }
    let knows = |body: &String, thought: &str| body.contains(thought);
    for (server, own, foreign) in
        [(&one, "thought of one", "thought of two"), (&two, "thought of two", "thought of one")]
    {
        let [begun, back] = &server.bodies()[..] else { panic!("two requests each") };
        assert!(!knows(begun, foreign) && !knows(back, foreign), "{own}: the other's thought");
        assert!(knows(back, own), "{own} does not come back");
        assert_eq!(messages(back).len(), 5, "calls and results are for everybody");
    }
}

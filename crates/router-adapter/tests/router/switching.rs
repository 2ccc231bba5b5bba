//! What becomes of reasoning when a run goes to another provider and comes back.

use std::sync::Arc;

use in_memory_fakes::{FakeModel, ModelStep};
use runtime_ports::{
    ModelContent, ModelMessage, ModelRequest, ModelRole, ModelSession, OperationContext,
    PortFailure, PortFailureKind, ToolSet, Transcript,
};
use serde_json::json;
use uuid::Uuid;

use crate::failover::Troupe;

fn thinking(issuer: &str, number: usize) -> ModelStep {
    let sealed = json!({ "encrypted_content": format!("sealed-{issuer}-{number}") });
    ModelStep::reasoning(issuer, "", sealed).and_text(format!("answer {number}")).usage(1, 1)
}

fn no_quota() -> ModelStep {
    let refused = PortFailure::rejected(PortFailureKind::RateLimited, "NO_QUOTA", "pay first");
    ModelStep::fail(refused)
}

fn request(history: &Transcript) -> ModelRequest {
    ModelRequest {
        invocation_id: "run-1".into(),
        model: "writer".into(),
        messages: history.clone(),
        tools: ToolSet::default(),
        max_output_tokens: None,
        options: Arc::default(),
    }
}

async fn ask(session: &dyn ModelSession, history: &mut Transcript) {
    let id = Uuid::new_v4();
    let limit = std::time::Duration::from_secs(60);
    let operation = OperationContext::root(id.into(), id.into(), limit);
    history.push(ModelMessage::text(ModelRole::User, "go on"));
    let content = session.invoke(&operation, request(history)).await.unwrap().output;
    history.push(ModelMessage { role: ModelRole::Assistant, content });
}

fn issuers(request: &ModelRequest) -> Vec<String> {
    let content = request.messages.messages().flat_map(|message| &message.content);
    let issuers = content.filter_map(|content| match content {
        ModelContent::Reasoning { issuer, opaque, .. } => {
            Some(format!("{issuer} {}", opaque["encrypted_content"].as_str().unwrap()))
        }
        _ => None,
    });
    issuers.collect()
}

fn sent(model: &FakeModel) -> ModelRequest {
    model.requests().pop().unwrap()
}

#[tokio::test(start_paused = true)]
async fn complaint_25_four_turns_a_fallback_and_back_again() {
    let mut own: Vec<_> = (0..4).map(|number| thinking("house", number)).collect();
    own.extend([no_quota(), thinking("house", 5)]);
    let troupe = Troupe::of([own, vec![thinking("abroad", 4)], vec![]]).await;
    let session = troupe.router.session("ada", None);
    let mut history = Transcript::from(vec![ModelMessage::text(ModelRole::User, "begin")]);
    for _ in 0..6 {
        ask(session.as_ref(), &mut history).await;
    }
    let [first, second, _] = &troupe.models;
    let abroad = sent(second);
    assert!(issuers(&abroad).is_empty(), "nothing of the first goes to the second");
    assert_eq!(abroad.messages.len(), 10, "what was said does");
    let back = sent(first);
    let expected: Vec<_> = (0..4).map(|number| format!("house sealed-house-{number}")).collect();
    assert_eq!(issuers(&back), expected, "its own come back, in order and unchanged");
    assert_eq!(back.messages.len(), 12);
    let receipts = troupe.store.settled();
    let losses = |place: usize| receipts[place].losses.join("; ");
    assert!(losses(3).is_empty());
    let left = "4 pieces of reasoning by house left out for fake-model at abroad";
    assert!(losses(4).contains(left), "{}", losses(4));
    assert_eq!(losses(5), "1 piece of reasoning by abroad left out for fake-model at house");
    let whole = issuers(&request(&history));
    assert_eq!(whole.len(), 6, "the history keeps everything");
}

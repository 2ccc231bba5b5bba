//! Decides whether what a child of the single-turn loop spent is receipted, however it was ended.

use std::{sync::Arc, time::Duration};

use in_memory_fakes::FakeReceiptStore;
use port_conformance::subagents::{Child, ChildEnd, Nursery as _};
use router_adapter::{Catalogue, Router};
use runtime_kernel::{AgentRuntime, RunSubagents, RunTemplate};
use runtime_ports::{OperationContext, SubagentRequest, SubagentSession as _, TurnEnd};
use runtime_types::{ExecutionId, OperationId};
use tokio::time::{sleep, timeout};

use super::puppet::{Puppet, puppet};

const CATALOGUE: &str = r#"
[[models]]
id = "puppet"
provider = "stage"
provider_model = "puppet"
context_window_tokens = 100000
max_input_tokens = 90000
"#;

async fn children(puppet: Arc<Puppet>, receipts: &FakeReceiptStore) -> RunSubagents {
    let router = Router::builder()
        .catalogue(Catalogue::parse(CATALOGUE).unwrap())
        .provider("stage", puppet)
        .receipts(Arc::new(receipts.clone()))
        .start()
        .await
        .unwrap();
    let template =
        RunTemplate { user_id: "ada".into(), model: "puppet".into(), ..RunTemplate::default() };
    RunSubagents::new(AgentRuntime::new(Arc::new(router)), template)
}

fn operation(limit: Duration) -> OperationContext {
    let (id, run) = (OperationId::new("call").unwrap(), ExecutionId::new("run").unwrap());
    OperationContext::root(id, run, limit)
}

fn request() -> SubagentRequest {
    SubagentRequest { request_id: "1".into(), prompt: "wait".into(), max_model_turns: 3 }
}

/// Every turn is settled before long; there was one, and it ended like this.
async fn left_one(receipts: &FakeReceiptStore, ends: &[TurnEnd]) {
    for _ in 0..500 {
        if receipts.open_turns().is_empty() && !receipts.settled().is_empty() {
            break;
        }
        sleep(Duration::from_millis(4)).await;
    }
    let settled = receipts.settled();
    assert!(receipts.open_turns().is_empty() && settled.len() == 1, "{settled:?}");
    assert!(ends.contains(&settled[0].end), "{settled:?}");
    assert!(settled[0].parent_operation_id.is_some());
}

#[tokio::test]
async fn a_child_that_is_ended_leaves_one_receipt() {
    let never = || {
        let child = Child { turns: 1, takes: Duration::ZERO, end: ChildEnd::Never };
        puppet(vec![("wait".to_owned(), child)])
    };
    let long = Duration::from_secs(60);

    let (puppet, receipts) = (never(), FakeReceiptStore::new());
    let session = children(puppet.clone(), &receipts).await;
    let own = operation(long);
    let cancelling = async {
        while puppet.at_work() == 0 {
            sleep(Duration::from_millis(1)).await;
        }
        own.cancellation.cancel();
    };
    let (ended, ()) = tokio::join!(session.execute(&own, request()), cancelling);
    assert!(ended.is_err());
    left_one(&receipts, &[TurnEnd::Cancelled]).await;

    let (puppet, receipts) = (never(), FakeReceiptStore::new());
    let session = children(puppet, &receipts).await;
    let late = session.execute(&operation(Duration::from_millis(200)), request()).await;
    assert!(late.is_err());
    left_one(&receipts, &[TurnEnd::Cancelled, TurnEnd::TimedOut]).await;

    let (puppet, receipts) = (never(), FakeReceiptStore::new());
    let session = children(puppet, &receipts).await;
    let own = operation(long);
    let dropped = timeout(Duration::from_millis(200), session.execute(&own, request())).await;
    assert!(dropped.is_err());
    left_one(&receipts, &[TurnEnd::Interrupted]).await;
}

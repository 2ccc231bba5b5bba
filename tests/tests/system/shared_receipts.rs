//! Decides whether several routers that share one folder of receipts lose or double any: turns that
//! complete, turns that are dropped, and turns whose router dies before it could settle them.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use file_adapter::FileReceiptStore;
use in_memory_fakes::{FakeModel, ModelStep};
use router_adapter::{Catalogue, Router};
use runtime_ports::{
    AgentTurnRequest, Intelligence, OperationContext, ReceiptStore, TurnEnd, TurnStart,
};
use runtime_types::{ExecutionId, OperationId};
use uuid::Uuid;

const TURNS: usize = 12;

const CATALOGUE: &str = r#"
[[models]]
id = "m"
provider = "fake"
provider_model = "fake-model"
context_window_tokens = 1000
max_input_tokens = 900
"#;

fn operation() -> OperationContext {
    let (id, run) = (OperationId::new("op").unwrap(), ExecutionId::new("run").unwrap());
    OperationContext::root(id, run, Duration::from_secs(30))
}

async fn router(folder: &Path, step: ModelStep) -> Router {
    let model = FakeModel::new((0..TURNS).map(|_| step.clone()));
    model.unchecked();
    Router::builder()
        .catalogue(Catalogue::parse(CATALOGUE).unwrap())
        .provider("fake", Arc::new(model))
        .receipts(Arc::new(FileReceiptStore::open(folder).unwrap()))
        .start()
        .await
        .unwrap()
}

fn start() -> TurnStart {
    TurnStart {
        user_id: "ada".into(),
        operation_id: Uuid::new_v4(),
        parent_operation_id: None,
        continuation: None,
        request: AgentTurnRequest {
            model: "m".into(),
            reasoning_effort: String::new(),
            input: "hello".into(),
            tools: Vec::new(),
            timeout: None,
            ephemeral: true,
            max_requests: 5,
        },
    }
}

/// Starts turns; every third one is dropped at once, the others are read to their end.
async fn play(router: &Router) -> Vec<Uuid> {
    let mut started = Vec::new();
    for place in 0..TURNS {
        let start = start();
        started.push(start.operation_id);
        let mut turn = router.start_agent_turn(start).await.unwrap();
        while place % 3 != 0 && turn.next_event().await.unwrap().is_some() {}
    }
    router.settled().await;
    started
}

/// Starts turns that stall, on a runtime of their own that ends under them: nobody settles them.
fn die_amid_turns(folder: &Path) -> Vec<Uuid> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let started = runtime.block_on(async {
        let router = router(folder, ModelStep::stall()).await;
        let mut started = Vec::new();
        for _ in 0..TURNS {
            let start = start();
            started.push(start.operation_id);
            let mut turn = router.start_agent_turn(start).await.unwrap();
            turn.next_event().await.unwrap();
            let waiting = tokio::time::timeout(Duration::from_millis(1), turn.next_event()).await;
            assert!(waiting.is_err(), "the model stalls");
            std::mem::forget(turn);
        }
        started
    });
    runtime.shutdown_background();
    started
}

#[tokio::test(flavor = "multi_thread")]
async fn routers_on_one_folder_lose_and_double_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let dead_path = path.clone();
    let dead = std::thread::spawn(move || die_amid_turns(&dead_path)).join().unwrap();
    let (one, other) = tokio::join!(
        router(&path, ModelStep::text("one")),
        router(&path, ModelStep::text("other"))
    );
    let (of_one, of_other) = tokio::join!(play(&one), play(&other));
    drop((one, other));
    let store = FileReceiptStore::open(&path).unwrap();
    let receipts = store.list(&operation(), None, 1_000).await.unwrap();
    let mut ends = BTreeMap::new();
    for receipt in &receipts {
        assert!(ends.insert(receipt.operation_id, receipt.end).is_none(), "doubled");
    }
    assert_eq!(receipts.len(), 3 * TURNS);
    assert!(dead.iter().all(|turn| ends[turn] == TurnEnd::Interrupted), "{ends:?}");
    let completed =
        |turns: &[Uuid]| turns.iter().filter(|turn| ends[*turn] == TurnEnd::Completed).count();
    assert_eq!((completed(&of_one), completed(&of_other)), (8, 8));
    assert!(store.unsettled(&operation()).await.unwrap().is_empty());
    assert!(store.damage().is_empty());
}

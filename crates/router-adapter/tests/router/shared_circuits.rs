//! Whose failures count for whom: models of one endpoint share a circuit, those of two do not.

use std::{sync::Arc, time::Duration};

use in_memory_fakes::{FakeModel, ModelStep};
use router_adapter::{Catalogue, Router};
use runtime_ports::{Intelligence as _, PortFailure, PortFailureKind};

use crate::stage::{Course, follow, start};

/// Two models of one provider, and one of another.
const CATALOGUE: &str = r#"
    [[models]]
    id = "large"
    provider = "house"
    provider_model = "fake-model"
    context_window_tokens = 1_000
    max_input_tokens = 1_000
    fallbacks = ["elsewhere"]

    [[models]]
    id = "small"
    provider = "house"
    provider_model = "fake-model"
    context_window_tokens = 1_000
    max_input_tokens = 1_000
    fallbacks = ["elsewhere"]

    [[models]]
    id = "elsewhere"
    provider = "abroad"
    provider_model = "fake-model"
    context_window_tokens = 1_000
    max_input_tokens = 1_000
"#;

struct Two {
    house: FakeModel,
    abroad: FakeModel,
    router: Router,
}

impl Two {
    async fn new() -> Self {
        let (house, abroad) = (FakeModel::new([]), FakeModel::new([]));
        let router = Router::builder()
            .catalogue(Catalogue::parse(CATALOGUE).unwrap())
            .provider("house", Arc::new(house.clone()))
            .provider("abroad", Arc::new(abroad.clone()))
            .start()
            .await
            .unwrap();
        Self { house, abroad, router }
    }

    async fn ask(&self, model: &str) -> Course {
        let mut start = start("hello");
        start.request.model = model.into();
        start.request.tools.clear();
        let mut turn = self.router.start_agent_turn(start).await.unwrap();
        follow(turn.as_mut()).await
    }

    /// Asks `model` until its endpoint is left alone.
    async fn wear_out(&self, model: &str) {
        let down = PortFailure::not_sent(PortFailureKind::Unavailable, "DOWN", "nobody there");
        for _ in 0..3 {
            (0..2).for_each(|_| {
                self.house.then(ModelStep::fail_before_sending(down.clone().retryable()));
            });
            self.abroad.then(ModelStep::text("abroad").usage(1, 1));
            assert_eq!(self.ask(model).await.answer(), "abroad");
        }
        // The fifth failure in a row was enough.
        assert_eq!(self.house.calls().len(), 5);
        self.house.unchecked();
    }
}

#[tokio::test(start_paused = true)]
async fn models_of_one_endpoint_share_its_circuit_and_others_keep_theirs() {
    let two = Two::new().await;
    two.wear_out("large").await;
    two.abroad.then(ModelStep::text("abroad").usage(1, 1));
    assert_eq!(two.ask("small").await.answer(), "abroad");
    assert_eq!(two.house.calls().len(), 5, "the other model of the house is not asked either");
    two.abroad.then(ModelStep::text("itself").usage(1, 1));
    assert_eq!(two.ask("elsewhere").await.answer(), "itself");
}

/// All come at the moment at which the endpoint may be asked again.
#[tokio::test(start_paused = true)]
async fn of_many_calls_at_once_one_finds_out_whether_an_endpoint_works_again() {
    let two = Two::new().await;
    two.wear_out("large").await;
    tokio::time::sleep(Duration::from_secs(31)).await;
    // What is left of the script of the house is one more failure.
    for _ in 0..20 {
        two.abroad.then(ModelStep::text("abroad").usage(1, 1));
    }
    let asked = (0..20).map(|it| two.ask(if it % 2 == 0 { "large" } else { "small" }));
    let courses = futures_util::future::join_all(asked).await;
    assert!(courses.iter().all(|course| course.answer() == "abroad"));
    assert_eq!(two.house.calls().len(), 6, "one more than before");
}

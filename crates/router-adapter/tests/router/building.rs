//! Which routers start, which names they resolve, and what they refuse.

use std::sync::Arc;

use in_memory_fakes::{FakeModel, FakeReceiptStore, FaultPlan};
use router_adapter::{Catalogue, Router, RouterError};
use runtime_ports::{Intelligence as _, PortFailure, PortFailureKind};

use crate::stage::{CATALOGUE, start};

fn session() -> Arc<FakeModel> {
    Arc::new(FakeModel::new([]))
}

fn catalogue() -> Catalogue {
    Catalogue::parse(CATALOGUE).unwrap()
}

#[tokio::test]
async fn parts_that_do_not_fit_are_refused_with_what_to_change() {
    let builder = || Router::builder().catalogue(catalogue());
    let cases = [
        (builder(), "no provider was given"),
        (
            builder().provider("hous", session()),
            "no model of the catalogue names the provider hous",
        ),
        (
            builder().provider("house", session()).provider("house", session()),
            "the provider house was given twice",
        ),
    ];
    for (builder, expected) in cases {
        let error = builder.start().await.err().unwrap().to_string();
        assert!(error.contains(expected), "{error:?} does not say {expected:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_router_whose_recovery_fails_does_not_start() {
    let forbidden = PortFailure::not_sent(PortFailureKind::Forbidden, "LOCKED", "locked");
    let faults = FaultPlan::new().before("receipts.unsettled", 1, forbidden);
    let store = FakeReceiptStore::new().with_faults(&faults);
    let builder = Router::builder().catalogue(catalogue()).provider("house", session());
    let error = builder.receipts(Arc::new(store)).start().await.err().unwrap();
    assert!(matches!(error, RouterError::Recovery(failure) if failure.code == "LOCKED"));
}

#[tokio::test]
async fn names_resolve_exactly_and_the_nearest_are_offered() {
    let router = Router::builder()
        .catalogue(catalogue())
        .provider("house", session())
        .start()
        .await
        .unwrap();
    for name in ["writer", "best"] {
        let model = router.resolve_agent_model(name).await.unwrap();
        assert_eq!((&*model.requested_model, &*model.provider_model), (name, "fake-model"));
        assert_eq!((model.provider.as_str(), model.max_input_tokens), ("house", 120_000));
    }
    for name in ["write", "Writer", "fake-model", ""] {
        let failure = router.resolve_agent_model(name).await.unwrap_err();
        assert_eq!(failure.kind, PortFailureKind::NotFound, "{name:?}");
        assert!(failure.message.contains("writer"), "{failure}");
    }
}

#[tokio::test]
async fn a_model_whose_provider_is_not_set_up_says_so() {
    let text = CATALOGUE.to_owned()
        + &CATALOGUE.replace("house", "other").replace("writer", "far").replace("best", "b");
    let catalogue = Catalogue::parse(&text).unwrap();
    let router =
        Router::builder().catalogue(catalogue).provider("house", session()).start().await.unwrap();
    let failure = router.resolve_agent_model("far").await.unwrap_err();
    assert_eq!(failure.kind, PortFailureKind::NotFound);
    assert!(failure.message.contains("its provider other is not set up"), "{failure}");
    let failure = router.resolve_agent_model("fa").await.unwrap_err();
    assert!(!failure.message.contains("far"), "only what can be resolved is offered: {failure}");
}

#[tokio::test]
async fn a_single_model_is_resolved_by_its_own_profile() {
    let router = Router::single(session(), "fake-model");
    let model = router.resolve_agent_model("fake-model").await.unwrap();
    assert_eq!(model.context_window_tokens, 128_000);
    let failure = router.resolve_agent_model("fake-mode").await.unwrap_err();
    assert!(failure.message.contains("fake-model"), "{failure}");
    let absent = Router::single(session(), "absent");
    let failure = absent.resolve_agent_model("absent").await.unwrap_err();
    assert_eq!(failure.kind, PortFailureKind::NotFound, "the session does not serve it");
}

#[tokio::test]
async fn a_turn_without_requests_is_refused() {
    let router = Router::single(session(), "fake-model");
    let mut start = start("hello");
    start.request.model = "fake-model".into();
    start.request.max_requests = 0;
    let refused = router.start_agent_turn(start).await.err().unwrap();
    assert_eq!((refused.failure.kind, refused.receipt), (PortFailureKind::Invalid, None));
}

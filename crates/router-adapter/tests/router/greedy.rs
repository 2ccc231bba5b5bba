//! That an adapter which sends a request again by itself is counted with everybody else.

use in_memory_fakes::FakeReceiptStore;
use runtime_ports::{
    Intelligence as _, Metering, PortFailure, PortFailureKind, RequestMeter, TurnEnd, most_requests,
};

use crate::{
    rogue::rogue,
    stage::{follow, router_over, start},
};

fn refused() -> RequestMeter {
    RequestMeter {
        provider_request_id: None,
        metering: Metering::Unavailable,
        end: TurnEnd::Failed,
        cost_nano_usd: None,
    }
}

/// Requests of a turn whose adapter makes in its nth call as many as it wants, and no more than it
/// may; all of them are refused, and might pass.
async fn requests(wanted: &'static [u32]) -> usize {
    let session = rogue(move |nth, _, _| {
        let wanted = wanted.get(nth as usize - 1).copied().unwrap_or(1);
        Box::pin(async move {
            let made = wanted.min(most_requests()).max(1);
            let failure = PortFailure::rejected(PortFailureKind::RateLimited, "CODE", "too fast");
            Err(failure.retryable().with_attempts(vec![refused(); made as usize]))
        })
    });
    let store = FakeReceiptStore::new();
    let router = router_over(session, &store).await;
    let mut turn = router.start_agent_turn(start("hello")).await.expect("a turn");
    follow(turn.as_mut()).await;
    drop(turn);
    router.settled().await;
    store.settled().remove(0).requests.len()
}

#[tokio::test(start_paused = true)]
async fn no_layers_together_make_more_than_three_requests() {
    for wanted in [[1, 1, 3], [1, 3, 3], [2, 2, 2], [3, 3, 3], [1, 2, 3], [2, 1, 1]] {
        let wanted: &'static [u32] = Vec::leak(wanted.to_vec());
        assert_eq!(requests(wanted).await, 3, "{wanted:?}");
    }
}

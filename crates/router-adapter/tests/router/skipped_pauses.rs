//! Answers from a recording are not waited for, and everything is decided as it was.

use std::time::Duration;

use in_memory_fakes::ModelStep;
use router_adapter::{Pauses, RetryPolicy};
use runtime_ports::PortFailure;
use tokio::time::Instant;

use crate::{failover::Troupe, stage::rate_limited};

fn asks_for(seconds: u64) -> PortFailure {
    rate_limited().retry_after(Duration::from_secs(seconds))
}

fn done() -> ModelStep {
    ModelStep::text("done").usage(3, 1)
}

async fn check(first: &[PortFailure], requests: [usize; 3], waits: u64) {
    for (pauses, waits) in [(Pauses::SatOut, waits), (Pauses::Skipped, 0)] {
        let policy = RetryPolicy { pauses, ..RetryPolicy::default() };
        let mut script: Vec<_> = first.iter().cloned().map(ModelStep::fail).collect();
        script.push(done());
        let troupe = Troupe::playing([script, vec![done()], vec![]], policy).await;
        troupe.models.iter().for_each(|model| model.unchecked());
        let began = Instant::now();
        assert_eq!(troupe.play().await.answer(), "done");
        let (least, most) = (Duration::from_secs(waits), Duration::from_secs(waits + 4));
        let most = if pauses == Pauses::Skipped { Duration::ZERO } else { most };
        assert!((least..=most).contains(&began.elapsed()), "{pauses:?} {:?}", began.elapsed());
        assert_eq!(troupe.requests(), requests, "{pauses:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_would_be_waited_counts_and_does_not_pass() {
    check(&[asks_for(2)], [2, 0, 0], 2).await;
    check(&[asks_for(3)], [1, 1, 0], 0).await;
    check(&[asks_for(1), asks_for(1)], [2, 1, 0], 1).await;
}

/// The random part of a wait is another one in each run.
#[tokio::test(start_paused = true)]
async fn chance_decides_how_long_is_waited_and_not_where_a_call_goes() {
    for _ in 0..50 {
        check(&[asks_for(2)], [2, 0, 0], 2).await;
    }
}

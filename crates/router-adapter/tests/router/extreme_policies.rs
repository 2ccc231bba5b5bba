//! Policies at the ends of their ranges: nothing overflows, and the promises hold.

use std::time::Duration;

use in_memory_fakes::ModelStep;
use router_adapter::{CircuitPolicy, RetryPolicy};
use runtime_ports::{PortFailure, PortFailureKind};

use crate::{failover::Troupe, stage::rate_limited};

fn down() -> ModelStep {
    let down = PortFailure::not_sent(PortFailureKind::Unavailable, "DOWN", "nobody there");
    ModelStep::fail_before_sending(down.retryable())
}

fn extreme(time: Duration, count: u32) -> RetryPolicy {
    RetryPolicy {
        max_attempts: count,
        longest_wait: time,
        patience: time,
        circuit: CircuitPolicy { failures: count, cool_down: time },
        hedge_after: Some(time),
        ..RetryPolicy::default()
    }
}

#[tokio::test(start_paused = true)]
async fn the_ends_of_the_ranges_of_a_policy_break_nothing() {
    let forever = rate_limited().retry_after(Duration::MAX);
    for time in [Duration::ZERO, Duration::MAX] {
        for count in [0, 1, u32::MAX] {
            for first in [down(), ModelStep::fail(forever.clone()), ModelStep::stall()] {
                let script = vec![first, down(), down()];
                let policy = extreme(time, count);
                let troupe = Troupe::playing([script, vec![down()], vec![]], policy).await;
                troupe.models.iter().for_each(|model| model.unchecked());
                troupe.play().await.failure();
                let calls: usize = troupe.models.iter().map(|model| model.calls().len()).sum();
                assert!((1..=3).contains(&calls), "{calls} calls with {policy:?}");
                troupe.receipt();
            }
        }
    }
}

//! The clocks: one follows the machine, the other follows tokio.

use std::time::Duration;

use super::{Clock, SystemClock, TokioClock};

#[tokio::test(start_paused = true)]
async fn the_tokio_clock_goes_as_paused_time_goes() {
    let clock = TokioClock::starting_at(500);
    assert_eq!(clock.unix_ms(), 500);
    tokio::time::advance(Duration::from_millis(1_499)).await;
    assert_eq!(clock.unix_ms(), 1_999);
}

#[tokio::test(start_paused = true)]
async fn the_tokio_clock_ends_at_the_end_of_time() {
    let clock = TokioClock::starting_at(u64::MAX - 1);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(clock.unix_ms(), u64::MAX);
}

#[test]
fn the_system_clock_is_past_the_year_2024() {
    assert!(SystemClock.unix_ms() > 1_704_067_200_000);
}

//! Decides how many requests one call of a model session may make, where somebody counts them.
//!
//! Knows nothing about what is sent. Invariant: a limit within another one is never the larger.

use std::future::Future;

tokio::task_local! {
    static MOST: u32;
}

/// Runs `call` with at most `most` requests for each model call in it, and never more than a limit
/// around it allows. What `call` spawns as a task of its own is not limited.
///
/// # Cancellation
/// That of `call`.
///
/// # Examples
/// ```
/// use runtime_ports::{limit_requests, most_requests};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(most_requests(), u32::MAX);
/// assert_eq!(limit_requests(2, async { most_requests() }).await, 2);
/// assert_eq!(limit_requests(2, limit_requests(3, async { most_requests() })).await, 2);
/// # }
/// ```
pub async fn limit_requests<F: Future>(most: u32, call: F) -> F::Output {
    MOST.scope(most.min(most_requests()), call).await
}

/// Most requests that a call of a [`ModelSession`](crate::ModelSession) may make here; `u32::MAX`
/// where nobody limits them. The first request may always be sent.
#[must_use]
pub fn most_requests() -> u32 {
    MOST.try_with(|most| *most).unwrap_or(u32::MAX)
}

//! Decides whether a call may send one more request, without what the server refused.
//!
//! Knows nothing about what was refused.

use runtime_ports::most_requests;

/// Most requests of one call: the first, and two more for two parts that a server refuses.
const MOST_REQUESTS: u32 = 3;

/// Whether a call that has made `made` requests may make another one.
#[must_use]
pub fn may_send_again(made: usize) -> bool {
    let most = MOST_REQUESTS.min(most_requests());
    u32::try_from(made).is_ok_and(|made| made < most)
}

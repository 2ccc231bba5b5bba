//! Decides what every model adapter tells of its models: what was configured, and nothing else.
//!
//! Knows no API: the session is the caller's to build, and no server is asked.

use runtime_ports::{ModelProfile, ModelSession, PortFailureKind};

use crate::asking::{SHORT, operation};

/// A model of a window of this many tokens, half of which are input; without a limit of output.
#[must_use]
pub fn window(tokens: u64) -> ModelProfile {
    ModelProfile {
        context_window_tokens: tokens,
        max_input_tokens: tokens / 2,
        max_output_tokens: None,
        images: false,
        price: None,
    }
}

/// Expects a session that has only the profile of `a`, a [`window`] of 8 tokens, to tell that one
/// alone; and one that `knows_others` to tell theirs.
///
/// # Panics
/// When a profile is missing or made up.
pub async fn are_the_configured_ones<S: ModelSession>(
    knows_a: &S,
    knows_others: impl FnOnce(ModelProfile) -> S,
) {
    let within = operation(SHORT);
    assert_eq!(knows_a.profile(&within, "a").await, Ok(window(8)));
    let failure = knows_a.profile(&within, "b").await.expect_err("no such model");
    assert_eq!(failure.kind, PortFailureKind::NotFound);
    assert_eq!(knows_others(window(4)).profile(&within, "b").await, Ok(window(4)));
}

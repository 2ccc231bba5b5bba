//! Decides what every model adapter tells of its models: what was configured, and nothing else.
//!
//! Knows no API, and asks no server.

use runtime_ports::{ModelProfile, ModelSession, PortFailureKind};

use crate::{
    asking::{SHORT, operation},
    subject::{Setting, Subject, session},
};

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

/// Expects a session that has only the profile of one model to tell that one alone, and one that
/// has a profile of all others to tell theirs.
///
/// # Panics
/// When a profile is missing or made up.
pub async fn profiles_are_the_configured_ones<S: Subject>(subject: &S) {
    let of = |settings: Vec<Setting>| {
        session(subject, "http://127.0.0.1:1", settings).expect("a session")
    };
    let within = operation(SHORT);
    let (known, others) = (Setting::Profile("a", window(8)), Setting::DefaultProfile(window(4)));
    let one = of(vec![known.clone()]);
    assert_eq!(one.profile(&within, "a").await, Ok(window(8)));
    let failure = one.profile(&within, "b").await.expect_err("no such model");
    assert_eq!(failure.kind, PortFailureKind::NotFound);
    let all = of(vec![known, others]);
    assert_eq!(all.profile(&within, "a").await, Ok(window(8)));
    assert_eq!(all.profile(&within, "b").await, Ok(window(4)));
}

//! Decides how many tokens a request may have.
//!
//! Knows the profile of a model and the policy of the agent. Invariant: what is not known limits
//! nothing.

use runtime_ports::ModelProfile;

use super::ContextPolicy;

/// Least room that is left to a prompt, whatever is reserved beside it.
const LEAST: u64 = 1;

/// Most tokens of a prompt; none when the window is not known.
pub(crate) fn most_prompt_tokens(
    profile: &ModelProfile,
    policy: &ContextPolicy,
    max_output_tokens: Option<u32>,
) -> Option<u64> {
    let known = |tokens: u64| Some(tokens).filter(|tokens| *tokens > 0);
    let window = known(profile.context_window_tokens);
    let beside_answer = window.map(|window| {
        window.saturating_sub(reserved_output(window, profile, policy, max_output_tokens))
    });
    let most = [beside_answer, known(profile.max_input_tokens)].into_iter().flatten().min()?;
    Some(most.saturating_sub(policy.protocol_reserve_tokens.min(most / 8)).max(LEAST))
}

/// What is kept free for the answer. An answer that may be as long as the window would leave no
/// room: where nobody chose a length, a quarter of the window is enough.
fn reserved_output(
    window: u64,
    profile: &ModelProfile,
    policy: &ContextPolicy,
    max_output_tokens: Option<u32>,
) -> u64 {
    let chosen = policy.reserved_output_tokens.or(max_output_tokens.map(u64::from));
    let most = profile.max_output_tokens.unwrap_or(window / 8);
    chosen.unwrap_or_else(|| most.min(window / 4))
}

/// `percent` of `tokens`, rounded down.
pub(crate) fn part(tokens: u64, percent: u8) -> u64 {
    let part = u128::from(tokens) * u128::from(percent.min(100)) / 100;
    u64::try_from(part).unwrap_or(u64::MAX)
}

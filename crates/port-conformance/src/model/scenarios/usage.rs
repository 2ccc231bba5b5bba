//! What must be known of tokens, costs and requests, and what must stay unknown.
//!
//! Knows nothing about prices.

use runtime_ports::{Metering, ModelResponse, RequestMeter, TokenUsage, TurnEnd};

use crate::{
    Broken, Proof,
    claim::{claim, equal, success},
    model::{Answer, ModelHarness, ProviderScript},
};

async fn metered(harness: &dyn ModelHarness, answer: Answer) -> Result<ModelResponse, Broken> {
    let staged = harness.stage(ProviderScript::answer(answer)).await?;
    success("the call", staged.ask("question").await)
}

fn only_attempt(response: &ModelResponse) -> Result<&RequestMeter, Broken> {
    match &response.attempts[..] {
        [attempt] => Ok(attempt),
        other => Err(Broken::Claim(format!("the attempts are {other:?}, expected one"))),
    }
}

async fn usage_arrives(harness: &dyn ModelHarness, usage: TokenUsage) -> Proof {
    let response = metered(harness, Answer::text("done").reporting(Some(usage))).await?;
    equal("the usage", &response.usage, &usage)?;
    let attempt = only_attempt(&response)?;
    equal("the metering of the request", &attempt.metering, &Metering::Tokens(usage))?;
    equal("the end of the request", &attempt.end, &TurnEnd::Completed)
}

const REPORTED: TokenUsage = TokenUsage {
    input_tokens: Some(1_200),
    output_tokens: Some(340),
    cached_input_tokens: Some(1_000),
    cache_write_tokens: None,
    reasoning_tokens: Some(200),
};

pub(crate) async fn reported_usage_arrives(harness: &dyn ModelHarness) -> Proof {
    usage_arrives(harness, REPORTED).await
}

pub(crate) async fn withheld_usage_is_unknown(harness: &dyn ModelHarness) -> Proof {
    let response = metered(harness, Answer::text("done").reporting(None)).await?;
    equal("the usage", &response.usage, &TokenUsage::default())?;
    let metering = only_attempt(&response)?.metering;
    equal("the metering of the request", &metering, &Metering::Unavailable)
}

pub(crate) async fn partial_usage_keeps_its_gaps(harness: &dyn ModelHarness) -> Proof {
    let nothing = TokenUsage::default();
    usage_arrives(harness, TokenUsage { output_tokens: Some(9), ..nothing }).await?;
    let both = TokenUsage { input_tokens: Some(9), output_tokens: Some(2), ..nothing };
    usage_arrives(harness, both).await
}

pub(crate) async fn reported_zero_is_zero(harness: &dyn ModelHarness) -> Proof {
    let zeros = TokenUsage { cached_input_tokens: Some(0), reasoning_tokens: Some(0), ..REPORTED };
    usage_arrives(harness, zeros).await
}

pub(crate) async fn cache_writes_arrive(harness: &dyn ModelHarness) -> Proof {
    usage_arrives(harness, TokenUsage { cache_write_tokens: Some(150), ..REPORTED }).await
}

pub(crate) async fn a_reported_cost_arrives(harness: &dyn ModelHarness) -> Proof {
    let cost = Some(1_250_000);
    let answer = Answer { cost_nano_usd: cost, ..Answer::text("done") };
    let response = metered(harness, answer).await?;
    equal("the cost", &response.cost_nano_usd, &cost)?;
    equal("the cost of the request", &only_attempt(&response)?.cost_nano_usd, &cost)
}

pub(crate) async fn an_unstated_cost_is_unknown(harness: &dyn ModelHarness) -> Proof {
    let response = metered(harness, Answer::text("done")).await?;
    equal("the cost", &response.cost_nano_usd, &None)?;
    equal("the cost of the request", &only_attempt(&response)?.cost_nano_usd, &None)
}

pub(crate) async fn a_request_keeps_the_providers_name(harness: &dyn ModelHarness) -> Proof {
    let answer = Answer { request_id: Some("their-name-81".into()), ..Answer::text("done") };
    let response = metered(harness, answer).await?;
    let name = only_attempt(&response)?.provider_request_id.as_deref();
    claim(name == Some("their-name-81"), || {
        format!("the provider's name of the request is {name:?}, expected \"their-name-81\"")
    })
}

//! How the requests of a turn, and its threads, are accounted for.
//!
//! Knows nothing about prices: a cost is what the provider says.

use runtime_ports::{
    Metering, ModelFinish, RequestMeter, TokenUsage, TurnEnd, TurnStart, UsageReceipt,
};

use crate::{
    Broken, Proof,
    claim::{claim, equal},
    model::{Answer, Piece, ProviderReply},
    turn::{
        TurnHarness, TurnPlan,
        course::{answer, call, follow, follow_to_the_end, stage, text},
    },
};

const FIRST: TokenUsage = counts(100, 10);
const SECOND: TokenUsage = counts(130, 20);

const fn counts(input: u64, output: u64) -> TokenUsage {
    TokenUsage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        cached_input_tokens: None,
        cache_write_tokens: None,
        reasoning_tokens: None,
    }
}

/// An answer, by the name that the provider gives its request.
fn named(name: &str, pieces: Vec<Piece>) -> Answer {
    Answer { request_id: Some(name.into()), ..Answer::of(pieces) }
}

fn calling(name: &str) -> Answer {
    named(name, vec![Piece::call("call-1", "read", "{}")])
}

fn ending(name: &str) -> Answer {
    named(name, vec![Piece::text("done")])
}

/// The receipt of a turn that made these two requests and completed.
async fn receipt_of(
    harness: &dyn TurnHarness,
    first: Answer,
    second: Answer,
) -> Result<UsageReceipt, Broken> {
    let staged = stage(harness, [answer(first), answer(second)]).await?;
    let start = staged.start();
    let mut turn = staged.begin(&start).await?;
    follow_to_the_end(turn.as_mut()).await?.completion()?;
    staged.settled(start.operation_id, TurnEnd::Completed).await
}

fn request(name: &str, metering: Metering) -> RequestMeter {
    RequestMeter {
        provider_request_id: Some(name.into()),
        metering,
        end: TurnEnd::Completed,
        cost_nano_usd: None,
    }
}

pub(crate) async fn every_request_is_listed(harness: &dyn TurnHarness) -> Proof {
    let first = calling("request-a").reporting(Some(FIRST));
    let second = ending("request-b").reporting(Some(SECOND));
    let receipt = receipt_of(harness, first, second).await?;
    let expected = vec![
        request("request-a", Metering::Tokens(FIRST)),
        request("request-b", Metering::Tokens(SECOND)),
    ];
    equal("the requests", &receipt.requests, &expected)?;
    equal("the metering", &receipt.metering, &Metering::Tokens(counts(230, 30)))?;
    equal("whether it is a lower bound", &receipt.is_lower_bound, &false)
}

pub(crate) async fn an_unreported_request_makes_a_lower_bound(harness: &dyn TurnHarness) -> Proof {
    let first = calling("request-a").reporting(Some(FIRST));
    let second = ending("request-b").reporting(None);
    let receipt = receipt_of(harness, first, second).await?;
    let expected = vec![
        request("request-a", Metering::Tokens(FIRST)),
        request("request-b", Metering::Unavailable),
    ];
    equal("the requests", &receipt.requests, &expected)?;
    equal("the metering", &receipt.metering, &Metering::Tokens(FIRST))?;
    equal("whether it is a lower bound", &receipt.is_lower_bound, &true)
}

pub(crate) async fn an_interrupted_turn_keeps_its_reports(harness: &dyn TurnHarness) -> Proof {
    let first = calling("request-a").reporting(Some(FIRST));
    let staged = stage(harness, [answer(first), text("done")]).await?;
    let start = staged.start();
    let mut turn = staged.begin(&start).await?;
    follow(turn.as_mut()).await?.must_call()?;
    drop(turn);
    let receipt = staged.settled(start.operation_id, TurnEnd::Interrupted).await?;
    let expected = vec![request("request-a", Metering::Tokens(FIRST))];
    equal("the requests", &receipt.requests, &expected)?;
    equal("the metering", &receipt.metering, &Metering::Tokens(FIRST))
}

pub(crate) async fn a_turn_makes_at_most_its_requests(harness: &dyn TurnHarness) -> Proof {
    let replies: Vec<ProviderReply> = vec![call("call-1"), call("call-2"), text("too many")];
    let staged = stage(harness, replies).await?;
    let mut start = staged.start();
    start.request.max_requests = 2;
    let mut turn = staged.begin(&start).await?;
    let course = follow_to_the_end(turn.as_mut()).await?;
    let (_, receipt) = course.must_fail()?;
    equal("the number of requests", &receipt.requests.len(), &2)?;
    let settled = staged.settled(start.operation_id, TurnEnd::Failed).await?;
    equal("the receipt in the failure", receipt, &settled)
}

async fn cost_of(
    harness: &dyn TurnHarness,
    costs: [Option<u64>; 2],
) -> Result<UsageReceipt, Broken> {
    let [first, second] = costs;
    let first = Answer { cost_nano_usd: first, ..calling("request-a") };
    let second = Answer { cost_nano_usd: second, ..ending("request-b") };
    let receipt = receipt_of(harness, first, second).await?;
    let listed: Vec<_> = receipt.requests.iter().map(|request| request.cost_nano_usd).collect();
    equal("the costs of the requests", &listed, &costs.to_vec())?;
    Ok(receipt)
}

pub(crate) async fn costs_add_up(harness: &dyn TurnHarness) -> Proof {
    let receipt = cost_of(harness, [Some(1_500), Some(250)]).await?;
    equal("the cost", &receipt.cost_nano_usd, &Some(1_750))
}

pub(crate) async fn an_unknown_cost_makes_the_sum_unknown(harness: &dyn TurnHarness) -> Proof {
    let receipt = cost_of(harness, [Some(1_500), None]).await?;
    equal("the cost", &receipt.cost_nano_usd, &None)
}

pub(crate) async fn a_thread_goes_on(harness: &dyn TurnHarness) -> Proof {
    let first = Answer::text("noted").stopped_by(ModelFinish::Stop);
    let staged = harness.stage(TurnPlan(vec![vec![answer(first)], vec![text("recalled")]])).await?;
    let mut turn = staged.begin(&staged.start()).await?;
    let completion = follow_to_the_end(turn.as_mut()).await?.completion()?;
    let thread = turn.continuation().cloned();
    let Some(thread) = thread else {
        return Err(Broken::Claim("the completed turn cannot be continued".into()));
    };
    equal(
        "the thread of the completion",
        &completion.thread_id.as_ref(),
        &Some(&thread.thread_id),
    )?;
    let mut next = TurnStart { continuation: Some(thread.clone()), ..staged.start() };
    next.request.input = "the-second-input".into();
    let mut turn = staged.begin(&next).await?;
    let completion = follow_to_the_end(turn.as_mut()).await?.completion()?;
    equal("the answer", completion.answer.as_str(), "recalled")?;
    equal("the thread", &completion.thread_id.as_ref(), &Some(&thread.thread_id))?;
    equal("the thread to go on in", &turn.continuation(), &Some(&thread))?;
    claim(staged.world.was_sent("the-second-input"), || "the second input was not sent".into())
}

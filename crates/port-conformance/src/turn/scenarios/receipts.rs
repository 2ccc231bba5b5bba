//! When a turn leaves its one receipt, and what is in it.
//!
//! Knows nothing about where receipts are kept.

use runtime_ports::{
    AgentTurn, CommitDisposition, Metering, PortFailureKind as Kind, TokenUsage, TurnEnd,
    UsageReceipt,
};

use crate::{
    Broken, Proof,
    claim::{claim, equal, eventually, refused, success},
    model::{Answer, ProviderReply, Refusal},
    turn::{
        StagedTurns, TurnHarness, TurnPlan,
        course::{USER, answer, call, follow, follow_to_the_end, next, read_result, stage, text},
    },
};

pub(crate) async fn the_receipt_says_who_and_what(harness: &dyn TurnHarness) -> Proof {
    let staged = stage(harness, [text("done")]).await?;
    let mut start = staged.start();
    start.request.model.clone_from(&staged.alias);
    let resolved = staged.intelligence.resolve_agent_model(&staged.alias).await;
    let model = success("resolving", resolved)?;
    let mut turn = staged.begin(&start).await?;
    let completion = follow_to_the_end(turn.as_mut()).await?.completion()?;
    let receipt = staged.settled(start.operation_id, TurnEnd::Completed).await?;
    let expected = UsageReceipt {
        version: UsageReceipt::VERSION,
        operation_id: start.operation_id,
        parent_operation_id: start.parent_operation_id,
        user_id: USER.into(),
        requested_model: staged.alias.clone(),
        provider: model.provider,
        provider_model: model.provider_model,
        thread_id: completion.thread_id,
        ..receipt.clone()
    };
    equal("the receipt", &receipt, &expected)?;
    equal("the losses", &receipt.losses, &Vec::new())?;
    let (start, end) = (receipt.started_at_ms, receipt.ended_at_ms);
    let after_2020 = 1_577_836_800_000;
    claim(after_2020 < start && start <= end, || format!("the turn ran from {start} to {end}"))
}

pub(crate) async fn an_open_turn_has_no_receipt(harness: &dyn TurnHarness) -> Proof {
    let staged = stage(harness, [call("call-1"), text("done")]).await?;
    let mut turn = staged.begin(&staged.start()).await?;
    equal("the receipt before the first event", &turn.receipt(), &None)?;
    let id = follow(turn.as_mut()).await?.must_call()?;
    equal("the receipt while a call is open", &turn.receipt(), &None)?;
    equal("the continuation while a call is open", &turn.continuation(), &None)?;
    equal("the settled receipts", &staged.world.receipts().await, &Vec::new())?;
    success("the answer to a call", turn.respond(&id, read_result("result")).await)?;
    follow_to_the_end(turn.as_mut()).await?.completion()?;
    claim(turn.receipt().is_some(), || "the completed turn has no receipt".into())
}

pub(crate) async fn finishing_settles_once(harness: &dyn TurnHarness) -> Proof {
    let staged = stage(harness, [call("call-1"), text("done")]).await?;
    let start = staged.start();
    let mut turn = staged.begin(&start).await?;
    let id = follow(turn.as_mut()).await?.must_call()?;
    let first = success("finish_unavailable", turn.finish_unavailable().await)?;
    let again = success("finish_unavailable again", turn.finish_unavailable().await)?;
    equal("the receipt of the second call", &again, &first)?;
    let after = success("asking after the end", next(turn.as_mut()).await?)?;
    equal("the event after the end", &after, &None)?;
    let late = turn.respond(&id, read_result("late")).await;
    refused("an answer after the end", late, Kind::Conflict)?;
    drop(turn);
    let settled = staged.settled(start.operation_id, TurnEnd::Interrupted).await?;
    equal("the settled receipt", &settled, &first)
}

pub(crate) async fn finishing_a_completed_turn_changes_nothing(harness: &dyn TurnHarness) -> Proof {
    let staged = stage(harness, [text("done")]).await?;
    let start = staged.start();
    let mut turn = staged.begin(&start).await?;
    follow_to_the_end(turn.as_mut()).await?.completion()?;
    let receipt = success("finish_unavailable", turn.finish_unavailable().await)?;
    let settled = staged.settled(start.operation_id, TurnEnd::Completed).await?;
    equal("the receipt", &receipt, &settled)
}

async fn silent(harness: &dyn TurnHarness) -> Result<StagedTurns, Broken> {
    stage(harness, [ProviderReply::StallBeforeAnswer]).await
}

pub(crate) async fn an_unread_turn_that_is_dropped_is_settled(harness: &dyn TurnHarness) -> Proof {
    let staged = silent(harness).await?;
    let start = staged.start();
    drop(staged.begin(&start).await?);
    staged.settled(start.operation_id, TurnEnd::Interrupted).await.map(drop)
}

pub(crate) async fn a_waiting_turn_that_is_dropped_is_settled(harness: &dyn TurnHarness) -> Proof {
    let staged = silent(harness).await?;
    let start = staged.start();
    let mut turn = staged.begin(&start).await?;
    waiting(turn.as_mut(), &staged).await?;
    drop(turn);
    reports_no_zero(&staged.settled(start.operation_id, TurnEnd::Interrupted).await?)
}

pub(crate) async fn an_answering_turn_that_is_dropped_is_settled(
    harness: &dyn TurnHarness,
) -> Proof {
    let staged = stage(harness, [call("call-1"), text("done")]).await?;
    let start = staged.start();
    let mut turn = staged.begin(&start).await?;
    follow(turn.as_mut()).await?.must_call()?;
    drop(turn);
    staged.settled(start.operation_id, TurnEnd::Interrupted).await.map(drop)
}

/// Waits for events until the request reached the provider, then drops the wait.
async fn waiting(turn: &mut dyn AgentTurn, staged: &StagedTurns) -> Proof {
    let silence = async {
        loop {
            success("an event before the silence", next(turn).await?)?;
        }
    };
    tokio::select! {
        broken = silence => broken,
        reached = eventually("the request", || staged.world.reached()) => reached,
    }
}

pub(crate) async fn a_providers_failure_is_receipted(harness: &dyn TurnHarness) -> Proof {
    let staged = stage(harness, [ProviderReply::Refuse(Refusal::Invalid)]).await?;
    let start = staged.start();
    let mut turn = staged.begin(&start).await?;
    let course = follow_to_the_end(turn.as_mut()).await?;
    let (failure, receipt) = course.must_fail()?;
    equal("the kind of the failure", &failure.kind, &Kind::Invalid)?;
    equal("its disposition", &failure.commit, &CommitDisposition::NotCommitted)?;
    let settled = staged.settled(start.operation_id, TurnEnd::Failed).await?;
    equal("the receipt in the failure", receipt, &settled)?;
    equal("the receipt of the turn", &turn.receipt(), &Some(&settled))
}

/// No count of a receipt is a zero that nobody reported.
fn reports_no_zero(receipt: &UsageReceipt) -> Proof {
    equal("the metering", &receipt.metering, &Metering::Unavailable)?;
    equal("the cost", &receipt.cost_nano_usd, &None)?;
    let metered = receipt.requests.iter().map(|request| request.metering);
    claim(metered.clone().all(|metering| metering == Metering::Unavailable), || {
        format!("the requests report {:?}", metered.collect::<Vec<_>>())
    })
}

pub(crate) async fn a_cut_request_is_receipted_as_unknown(harness: &dyn TurnHarness) -> Proof {
    let staged = stage(harness, [ProviderReply::CutBeforeAnswer]).await?;
    let start = staged.start();
    let mut turn = staged.begin(&start).await?;
    let course = follow_to_the_end(turn.as_mut()).await?;
    let (failure, receipt) = course.must_fail()?;
    equal("the disposition of the failure", &failure.commit, &CommitDisposition::Unknown)?;
    equal("the end in the receipt", &receipt.end, &TurnEnd::Failed)?;
    claim(receipt.is_lower_bound, || "the receipt is no lower bound".into())?;
    reports_no_zero(receipt)
}

pub(crate) async fn withheld_usage_is_unavailable(harness: &dyn TurnHarness) -> Proof {
    let silent = Answer::text("done").reporting(None);
    let staged = stage(harness, [answer(silent)]).await?;
    let start = staged.start();
    let mut turn = staged.begin(&start).await?;
    let completion = follow_to_the_end(turn.as_mut()).await?.completion()?;
    let unreported = completion.usage.is_none_or(|usage| usage == TokenUsage::default());
    claim(unreported, || format!("the completion reports {:?}", completion.usage))?;
    reports_no_zero(&staged.settled(start.operation_id, TurnEnd::Completed).await?)
}

pub(crate) async fn turns_at_once_do_not_mix(harness: &dyn TurnHarness) -> Proof {
    let staged = harness.stage(TurnPlan(vec![vec![text("done")], vec![text("done")]])).await?;
    let (first, mut second) = (staged.start(), staged.start());
    second.user_id = "user-8".into();
    let (mut one, mut other) = (staged.begin(&first).await?, staged.begin(&second).await?);
    let (one, other) =
        tokio::join!(follow_to_the_end(one.as_mut()), follow_to_the_end(other.as_mut()));
    equal("the completions", &one?.completion()?.answer, &other?.completion()?.answer)?;
    let first = staged.settled(first.operation_id, TurnEnd::Completed).await?;
    let second = staged.settled(second.operation_id, TurnEnd::Completed).await?;
    equal("the users", &(first.user_id.as_str(), second.user_id.as_str()), &(USER, "user-8"))
}

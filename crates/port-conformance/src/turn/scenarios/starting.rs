//! Which names resolve, and which starts are refused before anything is sent.
//!
//! Knows nothing about the course of a turn.

use std::time::Duration;

use runtime_ports::{
    AgentContinuation, AgentProvider, CommitDisposition, PortFailureKind as Kind,
    ResolvedAgentModel, TurnEnd, TurnStart,
};
use tokio::time::{sleep, timeout};

use crate::{
    Broken, Proof,
    claim::{BRIEFLY, claim, equal, refused, success},
    model::ProviderReply,
    turn::{StagedTurns, TurnHarness, TurnPlan, course::stage},
};

async fn resolved(staged: &StagedTurns, name: &str) -> Result<ResolvedAgentModel, Broken> {
    success("resolving", staged.intelligence.resolve_agent_model(name).await)
}

pub(crate) async fn an_exact_identifier_is_resolved(harness: &dyn TurnHarness) -> Proof {
    let staged = harness.stage(TurnPlan::nothing()).await?;
    let model = resolved(&staged, &staged.model).await?;
    equal("the requested model", &model.requested_model, &staged.model)?;
    claim(!model.provider_model.is_empty(), || "the provider's model has no name".into())?;
    claim(!model.provider.as_str().is_empty(), || "the provider has no name".into())?;
    let (input, window) = (model.max_input_tokens, model.context_window_tokens);
    claim(input > 0 && input <= window, || format!("{input} prompt tokens in a window of {window}"))
}

pub(crate) async fn an_alias_is_resolved(harness: &dyn TurnHarness) -> Proof {
    let staged = harness.stage(TurnPlan::nothing()).await?;
    claim(staged.alias != staged.model, || "the alias is the model itself".into())?;
    let (model, alias) =
        (resolved(&staged, &staged.model).await?, resolved(&staged, &staged.alias).await?);
    equal("the requested model", &alias.requested_model, &staged.alias)?;
    let same = ResolvedAgentModel { requested_model: staged.model.clone(), ..alias };
    equal("the model of the alias", &same, &model)
}

pub(crate) async fn an_unknown_model_is_never_guessed(harness: &dyn TurnHarness) -> Proof {
    let staged = harness.stage(TurnPlan::nothing()).await?;
    let model = staged.model.as_str();
    let shorter = model.char_indices().next_back().map_or("", |(end, _)| &model[..end]);
    let near = [
        shorter.to_owned(),
        format!("{model}-2"),
        format!(" {model}"),
        model.to_uppercase(),
        String::new(),
        "no-such-model".into(),
    ];
    for name in near.iter().filter(|name| *name != model) {
        let resolved = staged.intelligence.resolve_agent_model(name).await;
        refused(&format!("resolving {name:?}"), resolved, Kind::NotFound)?;
    }
    Ok(())
}

/// A start that `change` spoils is refused with `kind`, and nothing happens.
async fn starts_nothing(
    harness: &dyn TurnHarness,
    kind: Kind,
    change: impl FnOnce(&mut TurnStart, AgentContinuation),
) -> Proof {
    let staged = harness.stage(TurnPlan::nothing()).await?;
    let model = resolved(&staged, &staged.model).await?;
    let thread = AgentContinuation {
        provider: model.provider,
        provider_model: model.provider_model,
        thread_id: "a-thread".into(),
    };
    let mut start = staged.start();
    change(&mut start, thread);
    let failure = staged.refused_start(start).await?;
    equal("the kind of the refusal", &failure.kind, &kind)?;
    equal("its disposition", &failure.commit, &CommitDisposition::NotCommitted)?;
    staged.nothing_happened().await
}

pub(crate) async fn an_unknown_model_starts_nothing(harness: &dyn TurnHarness) -> Proof {
    starts_nothing(harness, Kind::NotFound, |start, _| start.request.model.push_str("-2")).await
}

pub(crate) async fn a_foreign_providers_thread_starts_nothing(harness: &dyn TurnHarness) -> Proof {
    starts_nothing(harness, Kind::Invalid, |start, thread| {
        let provider = AgentProvider::new("somebody-else");
        start.continuation = Some(AgentContinuation { provider, ..thread });
    })
    .await
}

pub(crate) async fn a_foreign_models_thread_starts_nothing(harness: &dyn TurnHarness) -> Proof {
    starts_nothing(harness, Kind::Invalid, |start, thread| {
        let provider_model = format!("{}-2", thread.provider_model);
        start.continuation = Some(AgentContinuation { provider_model, ..thread });
    })
    .await
}

pub(crate) async fn an_unknown_thread_starts_nothing(harness: &dyn TurnHarness) -> Proof {
    starts_nothing(harness, Kind::NotFound, |start, thread| start.continuation = Some(thread)).await
}

pub(crate) async fn a_running_id_starts_nothing(harness: &dyn TurnHarness) -> Proof {
    let staged = stage(harness, [ProviderReply::StallBeforeAnswer]).await?;
    let start = staged.start();
    let running = staged.begin(&start).await?;
    let failure = staged.refused_start(start.clone()).await?;
    equal("the kind of the refusal", &failure.kind, &Kind::Conflict)?;
    equal("whether the first turn still runs", &staged.cancel(start.operation_id).await?, &true)?;
    drop(running);
    staged.settled(start.operation_id, TurnEnd::Cancelled).await.map(drop)
}

pub(crate) async fn a_dropped_start_leaves_nothing_running(harness: &dyn TurnHarness) -> Proof {
    let silence = vec![vec![ProviderReply::StallBeforeAnswer]; 6];
    let staged = harness.stage(TurnPlan(silence)).await?;
    let mut starts = Vec::new();
    for round in 0..6_u64 {
        let start = staged.start();
        starts.push(start.operation_id);
        let starting = staged.intelligence.start_agent_turn(start);
        // Whether the start was ready or not: what came of it is dropped at once.
        drop(timeout(Duration::from_micros(round * 60), starting).await);
    }
    sleep(BRIEFLY).await;
    for operation in starts {
        equal(
            "whether a dropped start left something running",
            &staged.cancel(operation).await?,
            &false,
        )?;
        let mut receipts = staged.world.receipts().await;
        receipts.retain(|receipt| receipt.operation_id == operation);
        let ends: Vec<_> = receipts.iter().map(|receipt| receipt.end).collect();
        claim(ends.is_empty() || ends == [TurnEnd::Interrupted], || {
            format!("a dropped start left receipts that ended {ends:?}")
        })?;
    }
    Ok(())
}

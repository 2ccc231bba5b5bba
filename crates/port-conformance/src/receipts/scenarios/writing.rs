//! What opening, noting and settling leave, and what they refuse.
//!
//! Knows nothing about processes beyond what it needs to see what was noted.

use std::sync::Arc;

use runtime_ports::{
    CommitDisposition, Metering, PortFailureKind as Kind, ReceiptStore, RequestMeter, TokenUsage,
    TurnEnd, UsageReceipt,
};
use uuid::Uuid;

use crate::{
    Broken, Proof,
    claim::{equal, failure, operation},
    receipts::{
        ReceiptHarness, StagedReceipts,
        sample::{completed, listed, meter, note, open, opened, record, settle, totals, unsettled},
    },
};

const NOT_COMMITTED: CommitDisposition = CommitDisposition::NotCommitted;

/// A receipt in which every field is unlike its neighbour and unlike a default.
fn odd_receipt() -> UsageReceipt {
    let usage = TokenUsage {
        input_tokens: Some(u64::MAX),
        output_tokens: Some(0),
        cached_input_tokens: None,
        cache_write_tokens: Some(1),
        reasoning_tokens: Some(9_007_199_254_740_993),
    };
    let metered = RequestMeter {
        provider_request_id: Some("req \"1\"\n\u{1F980}".into()),
        metering: Metering::Tokens(usage),
        end: TurnEnd::Failed,
        cost_nano_usd: Some(u64::MAX),
    };
    let timed = RequestMeter {
        provider_request_id: None,
        metering: Metering::DurationSeconds(0.1),
        end: TurnEnd::TimedOut,
        cost_nano_usd: Some(0),
    };
    let silent = RequestMeter { metering: Metering::Unavailable, ..timed.clone() };
    UsageReceipt {
        parent_operation_id: Some(Uuid::new_v4()),
        user_id: "user, \"7\"\t\u{e4}".into(),
        thread_id: Some("thread".into()),
        ended_at_ms: u64::from(u32::MAX) * 1_000,
        end: TurnEnd::Cancelled,
        requests: vec![metered, timed, silent],
        metering: Metering::Tokens(usage),
        is_lower_bound: true,
        cost_nano_usd: Some(u64::MAX),
        losses: vec!["one".into(), "two\nlines".into()],
        ..opened()
    }
}

pub(crate) async fn a_settled_receipt_is_listed_whole(harness: &dyn ReceiptHarness) -> Proof {
    let staged = harness.stage().await?;
    let receipts = vec![odd_receipt(), completed(&opened(), 10, 2)];
    for receipt in &receipts {
        record(&staged.store, receipt).await?;
    }
    equal("the list", &listed(&staged.store).await?, &receipts)
}

pub(crate) async fn an_open_turn_is_not_listed(harness: &dyn ReceiptHarness) -> Proof {
    let staged = harness.stage().await?;
    let turn = opened();
    open(&staged.store, &turn).await?;
    note(&staged.store, turn.operation_id, 0, meter("request-1", 10, 2)).await?;
    equal("the list", &listed(&staged.store).await?, &Vec::new())?;
    equal("the totals", &totals(&staged.store, turn.started_at_ms).await?, &Vec::new())
}

pub(crate) async fn opening_again_changes_nothing(harness: &dyn ReceiptHarness) -> Proof {
    let staged = harness.stage().await?;
    let turn = opened();
    open(&staged.store, &turn).await?;
    open(&staged.store, &turn).await?;
    let settled = completed(&turn, 10, 2);
    settle(&staged.store, &settled).await?;
    open(&staged.store, &turn).await?;
    equal("the list", &listed(&staged.store).await?, &vec![settled])
}

pub(crate) async fn opening_otherwise_is_conflict(harness: &dyn ReceiptHarness) -> Proof {
    let staged = harness.stage().await?;
    let turn = opened();
    open(&staged.store, &turn).await?;
    let other = UsageReceipt { user_id: "user-8".into(), ..turn.clone() };
    let again = staged.store.open(&operation(), other).await;
    failure("opening otherwise", again, Kind::Conflict, NOT_COMMITTED)?;
    open(&staged.store, &turn).await
}

pub(crate) async fn opening_a_settled_turn_otherwise_is_conflict(
    harness: &dyn ReceiptHarness,
) -> Proof {
    let staged = harness.stage().await?;
    let turn = opened();
    let settled = completed(&turn, 10, 2);
    open(&staged.store, &turn).await?;
    settle(&staged.store, &settled).await?;
    let other = UsageReceipt { user_id: "user-8".into(), ..turn.clone() };
    let again = staged.store.open(&operation(), other).await;
    failure("opening a settled turn otherwise", again, Kind::Conflict, NOT_COMMITTED)?;
    open(&staged.store, &turn).await?;
    equal("the list", &listed(&staged.store).await?, &vec![settled])
}

/// A store with one open turn whose request 0 was noted with this.
async fn noted(
    harness: &dyn ReceiptHarness,
    meter: &RequestMeter,
) -> Result<(StagedReceipts, UsageReceipt), Broken> {
    let staged = harness.stage().await?;
    let turn = opened();
    open(&staged.store, &turn).await?;
    note(&staged.store, turn.operation_id, 0, meter.clone()).await?;
    Ok((staged, turn))
}

async fn refused_note(
    store: &Arc<dyn ReceiptStore>,
    turn: &UsageReceipt,
    ordinal: u32,
    meter: RequestMeter,
) -> Proof {
    let outcome = store.note_request(&operation(), turn.operation_id, ordinal, meter).await;
    failure("noting otherwise", outcome, Kind::Conflict, NOT_COMMITTED).map(drop)
}

/// The requests of open turns that the next process finds.
async fn kept(mut staged: StagedReceipts) -> Result<Vec<RequestMeter>, Broken> {
    let next = staged.world.after_death(staged.store).await?;
    let left = unsettled(&next).await?;
    Ok(left.into_iter().flat_map(|receipt| receipt.requests).collect())
}

pub(crate) async fn noting_again_is_ok(harness: &dyn ReceiptHarness) -> Proof {
    let same = meter("request-1", 10, 2);
    let (staged, turn) = noted(harness, &same).await?;
    note(&staged.store, turn.operation_id, 0, same).await
}

pub(crate) async fn noting_again_changes_nothing(harness: &dyn ReceiptHarness) -> Proof {
    let same = meter("request-1", 10, 2);
    let (staged, turn) = noted(harness, &same).await?;
    note(&staged.store, turn.operation_id, 0, same.clone()).await?;
    equal("the noted requests", &kept(staged).await?, &vec![same])
}

pub(crate) async fn noting_otherwise_is_conflict(harness: &dyn ReceiptHarness) -> Proof {
    let (first, other) = (meter("request-1", 10, 2), meter("request-1", 11, 2));
    let (staged, turn) = noted(harness, &first).await?;
    refused_note(&staged.store, &turn, 0, other.clone()).await?;
    refused_note(&staged.store, &turn, 0, other).await?;
    note(&staged.store, turn.operation_id, 0, first).await
}

pub(crate) async fn a_refused_note_changes_nothing(harness: &dyn ReceiptHarness) -> Proof {
    let (first, other) = (meter("request-1", 10, 2), meter("request-1", 11, 2));
    let (staged, turn) = noted(harness, &first).await?;
    refused_note(&staged.store, &turn, 0, other).await?;
    equal("the noted requests", &kept(staged).await?, &vec![first])
}

pub(crate) async fn noting_after_settling_is_conflict(harness: &dyn ReceiptHarness) -> Proof {
    let (staged, turn) = noted(harness, &meter("request-1", 10, 2)).await?;
    let settled = completed(&turn, 10, 2);
    settle(&staged.store, &settled).await?;
    refused_note(&staged.store, &turn, 1, meter("request-2", 20, 4)).await?;
    equal("the list", &listed(&staged.store).await?, &vec![settled])
}

pub(crate) async fn noting_an_unknown_turn_is_not_found(harness: &dyn ReceiptHarness) -> Proof {
    let staged = harness.stage().await?;
    let meter = meter("request-1", 10, 2);
    let noted = staged.store.note_request(&operation(), Uuid::new_v4(), 0, meter).await;
    failure("noting an unknown turn", noted, Kind::NotFound, NOT_COMMITTED).map(drop)
}

pub(crate) async fn settling_again_changes_nothing(harness: &dyn ReceiptHarness) -> Proof {
    let staged = harness.stage().await?;
    let receipts = [completed(&opened(), 10, 2), completed(&opened(), 20, 4)];
    for receipt in &receipts {
        record(&staged.store, receipt).await?;
    }
    settle(&staged.store, &receipts[0]).await?;
    equal("the list", &listed(&staged.store).await?, &receipts.to_vec())
}

pub(crate) async fn settling_otherwise_is_conflict(harness: &dyn ReceiptHarness) -> Proof {
    let staged = harness.stage().await?;
    let turn = opened();
    let settled = completed(&turn, 10, 2);
    record(&staged.store, &settled).await?;
    let again = staged.store.settle(&operation(), completed(&turn, 11, 2)).await;
    failure("settling otherwise", again, Kind::Conflict, NOT_COMMITTED)?;
    equal("the list", &listed(&staged.store).await?, &vec![settled])
}

pub(crate) async fn settling_an_unknown_turn_is_not_found(harness: &dyn ReceiptHarness) -> Proof {
    let staged = harness.stage().await?;
    let settled = staged.store.settle(&operation(), completed(&opened(), 10, 2)).await;
    failure("settling an unknown turn", settled, Kind::NotFound, NOT_COMMITTED)?;
    equal("the list", &listed(&staged.store).await?, &Vec::new())
}

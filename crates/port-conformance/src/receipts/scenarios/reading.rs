//! What lists and totals show of settled receipts.
//!
//! Knows nothing about how they are kept.

use runtime_ports::{
    AgentProvider, CommitDisposition, Metering, PortFailureKind as Kind, ReceiptTotals, TokenUsage,
    UsageReceipt, UsageTotal, UtcDay,
};
use uuid::Uuid;

use crate::{
    Broken, Proof,
    claim::{equal, failure, operation, success},
    receipts::{
        ReceiptHarness, StagedReceipts,
        sample::{NOON, completed, listed, open, opened, record, settle, totals},
    },
};

const DAY: u64 = 86_400_000;

pub(crate) async fn the_list_is_in_order_of_settling(harness: &dyn ReceiptHarness) -> Proof {
    let staged = harness.stage().await?;
    let turns: Vec<_> = (0..4).map(|_| opened()).collect();
    for turn in &turns {
        open(&staged.store, turn).await?;
    }
    let order = [2, 0, 3, 1].map(|place: usize| completed(&turns[place], place as u64, 1));
    for receipt in &order {
        settle(&staged.store, receipt).await?;
    }
    equal("the list", &listed(&staged.store).await?, &order.to_vec())
}

async fn five_receipts(
    harness: &dyn ReceiptHarness,
) -> Result<(StagedReceipts, Vec<UsageReceipt>), Broken> {
    let staged = harness.stage().await?;
    let receipts: Vec<_> = (0..5).map(|tokens| completed(&opened(), tokens, 1)).collect();
    for receipt in &receipts {
        record(&staged.store, receipt).await?;
    }
    Ok((staged, receipts))
}

pub(crate) async fn a_page_begins_after_its_cursor(harness: &dyn ReceiptHarness) -> Proof {
    let (staged, receipts) = five_receipts(harness).await?;
    let id = |place: usize| Some(receipts[place].operation_id);
    let pages = [(None, 2, 0..2), (id(1), 2, 2..4), (id(3), 9, 4..5), (id(4), 9, 5..5)];
    for (after, limit, expected) in pages.into_iter().chain([(None, 0, 0..0)]) {
        let page = success("a page", staged.store.list(&operation(), after, limit).await)?;
        equal("the page", &page[..], &receipts[expected])?;
    }
    Ok(())
}

pub(crate) async fn an_unknown_cursor_is_not_found(harness: &dyn ReceiptHarness) -> Proof {
    let (staged, _) = five_receipts(harness).await?;
    let turn = opened();
    open(&staged.store, &turn).await?;
    for cursor in [Uuid::new_v4(), turn.operation_id] {
        let page = staged.store.list(&operation(), Some(cursor), 9).await;
        let not_committed = CommitDisposition::NotCommitted;
        failure("a page after nothing", page, Kind::NotFound, not_committed)?;
    }
    Ok(())
}

fn of(user: &str, provider: &str, model: &str, tokens: u64) -> UsageReceipt {
    let receipt = UsageReceipt {
        user_id: user.into(),
        provider: AgentProvider::new(provider),
        provider_model: model.into(),
        ..opened()
    };
    UsageReceipt { cost_nano_usd: Some(tokens * 100), ..completed(&receipt, tokens, 1) }
}

const fn exactly(at_least: u64) -> UsageTotal {
    UsageTotal { at_least, complete: true }
}

fn sum(user: &str, provider: &str, model: &str, turns: u64, tokens: u64) -> ReceiptTotals {
    ReceiptTotals {
        utc_day: UtcDay::from_unix_ms(NOON),
        user_id: user.into(),
        provider: AgentProvider::new(provider),
        provider_model: model.into(),
        turns,
        requests: turns,
        input_tokens: exactly(tokens),
        output_tokens: exactly(turns),
        cost_nano_usd: exactly(tokens * 100),
    }
}

pub(crate) async fn totals_are_by_user_provider_and_model(harness: &dyn ReceiptHarness) -> Proof {
    let staged = harness.stage().await?;
    let settled = [
        of("zoe", "a", "m", 1),
        of("ann", "b", "m", 2),
        of("ann", "a", "n", 4),
        of("ann", "a", "m", 8),
        of("zoe", "a", "m", 16),
    ];
    for receipt in &settled {
        record(&staged.store, receipt).await?;
    }
    let expected = vec![
        sum("ann", "a", "m", 1, 8),
        sum("ann", "a", "n", 1, 4),
        sum("ann", "b", "m", 1, 2),
        sum("zoe", "a", "m", 2, 17),
    ];
    equal("the totals", &totals(&staged.store, NOON).await?, &expected)
}

pub(crate) async fn totals_are_of_the_day_of_the_start(harness: &dyn ReceiptHarness) -> Proof {
    let staged = harness.stage().await?;
    let midnight = NOON - NOON % DAY;
    for started_at_ms in [midnight - 1, midnight, midnight + DAY - 1, midnight + DAY] {
        let started = UsageReceipt { started_at_ms, ended_at_ms: started_at_ms, ..opened() };
        record(&staged.store, &completed(&started, 1, 1)).await?;
    }
    let days = [(midnight - DAY, 1), (midnight, 2), (midnight + DAY, 1), (midnight + 2 * DAY, 0)];
    for (day, expected) in days {
        let turns: u64 = totals(&staged.store, day).await?.iter().map(|sum| sum.turns).sum();
        equal(&format!("turns on {}", UtcDay::from_unix_ms(day)), &turns, &expected)?;
    }
    Ok(())
}

pub(crate) async fn totals_say_when_they_are_lower_bounds(harness: &dyn ReceiptHarness) -> Proof {
    let staged = harness.stage().await?;
    let known = of("ann", "a", "m", 8);
    let usage = TokenUsage { input_tokens: Some(4), ..TokenUsage::default() };
    let gap = UsageReceipt {
        metering: Metering::Tokens(usage),
        cost_nano_usd: None,
        ..of("ann", "a", "m", 4)
    };
    let silent = UsageReceipt { metering: Metering::Unavailable, ..of("zoe", "a", "m", 9) };
    let bound = UsageReceipt { is_lower_bound: true, ..of("bob", "a", "m", 2) };
    for receipt in [&known, &gap, &silent, &bound] {
        record(&staged.store, receipt).await?;
    }
    let at_least = |at_least| UsageTotal { at_least, complete: false };
    let sums = totals(&staged.store, NOON).await?;
    let counts: Vec<_> = sums
        .iter()
        .map(|sum| (&*sum.user_id, sum.input_tokens, sum.output_tokens, sum.cost_nano_usd))
        .collect();
    let expected = vec![
        ("ann", exactly(12), at_least(1), at_least(800)),
        ("bob", at_least(2), at_least(1), at_least(200)),
        ("zoe", at_least(0), at_least(0), exactly(900)),
    ];
    equal("the totals", &counts, &expected)
}

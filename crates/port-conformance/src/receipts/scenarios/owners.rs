//! Whose open turns may be settled by whom, and what outlives a process.
//!
//! Knows nothing about how a store tells the living from the dead.

use runtime_ports::{TurnEnd, UsageReceipt};

use crate::{
    Proof,
    claim::equal,
    receipts::{
        ReceiptHarness,
        sample::{completed, listed, meter, note, open, opened, record, settle, totals, unsettled},
    },
};

pub(crate) async fn a_living_owners_turn_is_not_unsettled(harness: &dyn ReceiptHarness) -> Proof {
    let staged = harness.stage().await?;
    open(&staged.store, &opened()).await?;
    equal("the unsettled turns", &unsettled(&staged.store).await?, &Vec::new())
}

pub(crate) async fn another_living_owners_turn_is_not_unsettled(
    harness: &dyn ReceiptHarness,
) -> Proof {
    let mut staged = harness.stage().await?;
    open(&staged.store, &opened()).await?;
    let other = staged.world.second_process().await?;
    open(&other, &opened()).await?;
    equal("the unsettled turns of the second", &unsettled(&other).await?, &Vec::new())?;
    equal("the unsettled turns of the first", &unsettled(&staged.store).await?, &Vec::new())
}

pub(crate) async fn a_dead_owners_turns_are_unsettled(harness: &dyn ReceiptHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let (first, second, settled) = (opened(), opened(), completed(&opened(), 1, 1));
    open(&staged.store, &first).await?;
    open(&staged.store, &second).await?;
    record(&staged.store, &settled).await?;
    let meters: Vec<_> = (0..3).map(|number| meter("request", number, number)).collect();
    for ordinal in [1, 0, 2_u32] {
        let meter = meters[ordinal as usize].clone();
        note(&staged.store, first.operation_id, ordinal, meter).await?;
    }
    let next = staged.world.after_death(staged.store).await?;
    let first = UsageReceipt { requests: meters, ..first };
    equal("the unsettled turns", &unsettled(&next).await?, &vec![first, second])
}

pub(crate) async fn a_settled_turn_of_the_dead_stays_settled(
    harness: &dyn ReceiptHarness,
) -> Proof {
    let mut staged = harness.stage().await?;
    let settled = completed(&opened(), 10, 2);
    record(&staged.store, &settled).await?;
    let next = staged.world.after_death(staged.store).await?;
    equal("the unsettled turns", &unsettled(&next).await?, &Vec::new())?;
    equal("the list", &listed(&next).await?, &vec![settled])
}

pub(crate) async fn the_next_process_settles_the_dead(harness: &dyn ReceiptHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let turn = opened();
    open(&staged.store, &turn).await?;
    let next = staged.world.after_death(staged.store).await?;
    let settled = UsageReceipt {
        end: TurnEnd::Interrupted,
        losses: vec!["its owner died".into()],
        ..completed(&turn, 0, 0)
    };
    settle(&next, &settled).await?;
    equal("the unsettled turns", &unsettled(&next).await?, &Vec::new())?;
    equal("the list", &listed(&next).await?, &vec![settled])
}

pub(crate) async fn writes_outlive_their_process(harness: &dyn ReceiptHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let settled: Vec<_> = (0..3).map(|tokens| completed(&opened(), tokens, 1)).collect();
    let turn = opened();
    for receipt in &settled {
        record(&staged.store, receipt).await?;
    }
    open(&staged.store, &turn).await?;
    note(&staged.store, turn.operation_id, 0, meter("request", 10, 2)).await?;
    let before = totals(&staged.store, turn.started_at_ms).await?;
    let next = staged.world.after_death(staged.store).await?;
    equal("the list", &listed(&next).await?, &settled)?;
    equal("the totals", &totals(&next, turn.started_at_ms).await?, &before)?;
    let open = UsageReceipt { requests: vec![meter("request", 10, 2)], ..turn };
    equal("the unsettled turns", &unsettled(&next).await?, &vec![open])
}

pub(crate) async fn two_processes_see_one_ledger(harness: &dyn ReceiptHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let other = staged.world.second_process().await?;
    let (first, second) = (completed(&opened(), 10, 2), completed(&opened(), 20, 4));
    record(&staged.store, &first).await?;
    record(&other, &second).await?;
    let mut both = [first, second];
    both.sort_by_key(|receipt| receipt.operation_id);
    for store in [&staged.store, &other] {
        let mut listed = listed(store).await?;
        listed.sort_by_key(|receipt| receipt.operation_id);
        equal("the list", &listed, &both.to_vec())?;
    }
    Ok(())
}

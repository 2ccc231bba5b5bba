//! Decides whether receipts are opened, noted and settled once, and outlive their owner.

use runtime_ports::{
    CommitDisposition, Metering, PortFailureKind, ReceiptStore, RequestMeter, TokenUsage, TurnEnd,
    UsageReceipt, UtcDay,
};
use uuid::Uuid;

use super::{kind_of, opened, operation, outage, verdict};
use crate::{FakeReceiptStore, FaultPlan, ReceiptCall};

const DAY_MS: u64 = 86_400_000;

fn meter(id: &str) -> RequestMeter {
    RequestMeter {
        provider_request_id: Some(id.to_owned()),
        metering: Metering::Unavailable,
        end: TurnEnd::Completed,
        cost_nano_usd: None,
    }
}

fn settled(opened: UsageReceipt, usage: Option<u64>) -> UsageReceipt {
    let tokens = |count| TokenUsage {
        input_tokens: Some(count),
        output_tokens: Some(count),
        ..<_>::default()
    };
    UsageReceipt {
        end: TurnEnd::Completed,
        requests: vec![meter("r0")],
        metering: usage.map_or(Metering::Unavailable, |count| Metering::Tokens(tokens(count))),
        is_lower_bound: usage.is_none(),
        cost_nano_usd: usage,
        ..opened
    }
}

#[tokio::test]
async fn the_same_value_again_changes_nothing_and_another_is_a_conflict() {
    let store = FakeReceiptStore::new();
    let op = operation("op");
    let (receipt, turn) = (opened(1, 5), Uuid::from_u128(1));
    let done = settled(receipt.clone(), Some(3));
    for _ in 0..2 {
        assert_eq!(store.open(&op, receipt.clone()).await, Ok(()));
        assert_eq!(store.note_request(&op, turn, 0, meter("r0")).await, Ok(()));
    }
    for _ in 0..2 {
        assert_eq!(store.settle(&op, done.clone()).await, Ok(()));
        assert_eq!(store.open(&op, receipt.clone()).await, Ok(()));
        assert_eq!(store.note_request(&op, turn, 0, meter("r0")).await, Ok(()));
    }
    for conflicting in [
        store.open(&op, opened(1, 6)).await,
        store.note_request(&op, turn, 0, meter("other")).await,
        store.note_request(&op, turn, 1, meter("late")).await,
        store.settle(&op, settled(opened(1, 5), None)).await,
    ] {
        let failure = conflicting.unwrap_err();
        assert_eq!(
            (failure.kind, failure.commit),
            (PortFailureKind::Conflict, CommitDisposition::NotCommitted)
        );
    }
    assert_eq!(store.settled(), [done]);
}

#[tokio::test]
async fn what_was_not_opened_is_not_found() {
    let store = FakeReceiptStore::new();
    let op = operation("op");
    let turn = Uuid::from_u128(1);
    for outcome in [
        store.note_request(&op, turn, 0, meter("r0")).await,
        store.settle(&op, settled(opened(1, 5), None)).await,
    ] {
        assert_eq!(kind_of(outcome), PortFailureKind::NotFound);
    }
    let unknown = store.list(&op, Some(turn), 5).await;
    assert_eq!(kind_of(unknown), PortFailureKind::NotFound);
    let not_open = store.open(&op, settled(opened(1, 5), None)).await;
    assert_eq!(kind_of(not_open), PortFailureKind::Invalid);
    assert!(store.open_turns().is_empty());
}

#[tokio::test]
async fn only_turns_of_dead_owners_are_unsettled_and_hold_what_was_noted() {
    let first = FakeReceiptStore::new();
    let living = first.another_owner();
    let op = operation("op");
    first.open(&op, opened(1, 5)).await.unwrap();
    first.open(&op, opened(2, 3)).await.unwrap();
    first.open(&op, opened(3, 7)).await.unwrap();
    living.open(&op, opened(4, 1)).await.unwrap();
    for (ordinal, id) in [(1, "r1"), (0, "r0")] {
        first.note_request(&op, Uuid::from_u128(2), ordinal, meter(id)).await.unwrap();
    }
    first.settle(&op, settled(opened(3, 7), None)).await.unwrap();
    for store in [&first, &living] {
        assert_eq!(store.unsettled(&op).await, Ok(Vec::new()));
    }
    assert_eq!(first.open_turns().len(), 3);

    let second = first.reopen_after_crash();
    let noted = UsageReceipt { requests: vec![meter("r0"), meter("r1")], ..opened(2, 3) };
    for store in [&second, &living] {
        assert_eq!(store.unsettled(&op).await, Ok(vec![opened(1, 5), noted.clone()]));
    }
    second.settle(&op, settled(opened(1, 5), None)).await.unwrap();
    assert_eq!(living.unsettled(&op).await, Ok(vec![noted]));
}

#[tokio::test]
async fn a_dead_owner_writes_nothing() {
    let first = FakeReceiptStore::new();
    let op = operation("op");
    first.open(&op, opened(1, 5)).await.unwrap();
    let second = first.reopen_after_crash();
    let outcome = first.settle(&op, settled(opened(1, 5), None)).await;
    let expected = ("RECEIPT_OWNER_DEAD".to_owned(), CommitDisposition::NotCommitted);
    assert_eq!(verdict(outcome), expected);
    assert_eq!(second.settled(), []);
    assert_eq!((first.calls().len(), second.calls().len()), (2, 0));
}

#[tokio::test]
async fn receipts_are_listed_in_the_order_of_settling_in_pages() {
    let store = FakeReceiptStore::new();
    let op = operation("op");
    for id in 1..=4 {
        store.open(&op, opened(id, 5)).await.unwrap();
    }
    for id in [3, 1, 2] {
        store.settle(&op, settled(opened(id, 5), None)).await.unwrap();
    }
    let listed = async |after: Option<u128>, limit| {
        let page = store.list(&op, after.map(Uuid::from_u128), limit).await.unwrap();
        page.iter().map(|receipt| receipt.operation_id.as_u128()).collect::<Vec<_>>()
    };
    assert_eq!(listed(None, 2).await, [3, 1]);
    assert_eq!(listed(Some(1), 2).await, [2]);
    assert_eq!(listed(Some(2), 2).await, [0_u128; 0]);
    assert_eq!(listed(None, 0).await, [0_u128; 0]);
    let open = store.list(&op, Some(Uuid::from_u128(4)), 2).await;
    assert_eq!(kind_of(open), PortFailureKind::NotFound);
}

#[tokio::test]
async fn totals_sum_the_settled_receipts_of_a_day() {
    let store = FakeReceiptStore::new();
    let op = operation("op");
    let turns = [(1, DAY_MS, Some(3)), (2, 2 * DAY_MS - 1, None), (3, 2 * DAY_MS, Some(9))];
    for (id, start, usage) in turns {
        store.open(&op, opened(id, start)).await.unwrap();
        store.settle(&op, settled(opened(id, start), usage)).await.unwrap();
    }
    store.open(&op, opened(4, DAY_MS)).await.unwrap();
    let totals = store.totals(&op, UtcDay::from_unix_ms(DAY_MS)).await.unwrap();
    assert_eq!(totals.len(), 1);
    assert_eq!((totals[0].turns, totals[0].requests), (2, 2));
    assert_eq!((totals[0].input_tokens.at_least, totals[0].input_tokens.complete), (3, false));
    assert_eq!((totals[0].cost_nano_usd.at_least, totals[0].cost_nano_usd.complete), (3, false));
    assert_eq!(store.totals(&op, UtcDay::from_unix_ms(0)).await, Ok(Vec::new()));
}

#[tokio::test]
async fn a_fault_after_the_effect_leaves_the_turn_open_in_the_memory() {
    let plan = FaultPlan::new().after("receipts.open", 1, outage());
    let store = FakeReceiptStore::new().with_faults(&plan);
    assert_eq!(store.open(&operation("op"), opened(1, 5)).await, Err(outage()));
    assert_eq!(store.open_turns(), [opened(1, 5)]);
    assert_eq!(store.open(&operation("op"), opened(1, 5)).await, Ok(()));
    assert_eq!(store.calls(), [ReceiptCall::Open(opened(1, 5)), ReceiptCall::Open(opened(1, 5))]);
}

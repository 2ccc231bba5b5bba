//! Decides whether exactly the receipts of this process are counted, and a lost one is missed.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use in_memory_fakes::FakeReceiptStore;
use runtime_ports::{
    AgentProvider, Metering, OperationContext, ReceiptStore, TokenUsage, TurnEnd, UsageReceipt,
    UsageTotal,
};
use runtime_types::{ExecutionId, OperationId};
use uuid::Uuid;

use super::Tally;
use crate::{show::Show, told::Told};

#[derive(Default)]
struct Seen(Mutex<Vec<Uuid>>);

impl Show for Seen {
    fn show(&self, told: Told<'_>) {
        if let Told::Receipt(receipt) = told {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(receipt.operation_id);
        }
    }

    fn note(&self, _text: &str) {}
}

fn operation() -> OperationContext {
    let (id, run) = (OperationId::new("op").unwrap(), ExecutionId::new("run").unwrap());
    OperationContext::root(id, run, Duration::from_secs(5))
}

fn opened() -> UsageReceipt {
    UsageReceipt {
        version: UsageReceipt::VERSION,
        operation_id: Uuid::new_v4(),
        parent_operation_id: None,
        user_id: "ada".into(),
        requested_model: "m".into(),
        provider: AgentProvider::new("p"),
        provider_model: "m".into(),
        thread_id: None,
        started_at_ms: 1,
        ended_at_ms: 1,
        end: TurnEnd::Interrupted,
        requests: Vec::new(),
        metering: Metering::Unavailable,
        is_lower_bound: false,
        cost_nano_usd: None,
        losses: Vec::new(),
    }
}

fn settled(opened: &UsageReceipt) -> UsageReceipt {
    let usage = TokenUsage { input_tokens: Some(7), ..TokenUsage::default() };
    UsageReceipt { end: TurnEnd::Completed, metering: Metering::Tokens(usage), ..opened.clone() }
}

#[tokio::test]
async fn a_receipt_is_counted_and_told_once() {
    let (tally, seen) = (Tally::over(FakeReceiptStore::new()), Seen::default());
    let receipt = opened();
    tally.open(&operation(), receipt.clone()).await.unwrap();
    tally.tell_fresh(&seen);
    assert!(seen.0.lock().unwrap().is_empty());
    for _ in 0..2 {
        tally.settle(&operation(), settled(&receipt)).await.unwrap();
    }
    tally.tell_fresh(&seen);
    tally.tell_fresh(&seen);
    assert_eq!(*seen.0.lock().unwrap(), [receipt.operation_id]);
    let (totals, names) = tally.sum();
    assert_eq!((totals.turns, names), (1, vec![receipt.operation_id]));
    assert_eq!(totals.input_tokens, UsageTotal { at_least: 7, complete: true });
}

#[tokio::test]
async fn what_another_process_left_open_is_none_of_ours() {
    let store = FakeReceiptStore::new();
    let receipt = opened();
    store.open(&operation(), receipt.clone()).await.unwrap();
    let tally = Tally::over(store);
    tally.settle(&operation(), settled(&receipt)).await.unwrap();
    assert_eq!(tally.sum().0.turns, 0);
}

#[tokio::test]
async fn a_receipt_that_was_lost_makes_totals_a_lower_bound() {
    let tally = Tally::over(FakeReceiptStore::new());
    let (whole, lost) = (opened(), opened());
    for receipt in [&whole, &lost] {
        tally.open(&operation(), receipt.clone()).await.unwrap();
    }
    tally.settle(&operation(), settled(&whole)).await.unwrap();
    let totals = tally.sum().0;
    assert_eq!(totals.input_tokens, UsageTotal { at_least: 7, complete: false });
}

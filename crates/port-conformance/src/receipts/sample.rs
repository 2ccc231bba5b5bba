//! Decides what the receipts of the scenarios look like, and how they are written.
//!
//! Knows nothing about what is expected of the store.

use std::sync::Arc;

use runtime_ports::{
    AgentProvider, Metering, ReceiptStore, ReceiptTotals, RequestMeter, TokenUsage, TurnEnd,
    UsageReceipt, UtcDay,
};
use uuid::Uuid;

use crate::{
    Broken, Proof,
    claim::{operation, success},
};

/// 2026-11-30, 12:00 UTC.
pub(super) const NOON: u64 = 1_796_040_000_000;

/// A receipt as a turn opens it.
pub(super) fn opened() -> UsageReceipt {
    UsageReceipt {
        version: UsageReceipt::VERSION,
        operation_id: Uuid::new_v4(),
        parent_operation_id: None,
        user_id: "user-7".into(),
        requested_model: "alias".into(),
        provider: AgentProvider::new("provider"),
        provider_model: "model".into(),
        thread_id: None,
        started_at_ms: NOON,
        ended_at_ms: NOON,
        end: TurnEnd::Interrupted,
        requests: Vec::new(),
        metering: Metering::Unavailable,
        is_lower_bound: false,
        cost_nano_usd: None,
        losses: Vec::new(),
    }
}

/// The same receipt, completed with one request of these tokens.
pub(super) fn completed(opened: &UsageReceipt, input: u64, output: u64) -> UsageReceipt {
    let meter = meter("request-1", input, output);
    UsageReceipt {
        ended_at_ms: opened.started_at_ms + 1_500,
        end: TurnEnd::Completed,
        metering: meter.metering,
        requests: vec![meter],
        ..opened.clone()
    }
}

/// A request that reported these tokens.
pub(super) fn meter(name: &str, input: u64, output: u64) -> RequestMeter {
    let usage = TokenUsage {
        input_tokens: Some(input),
        output_tokens: Some(output),
        ..TokenUsage::default()
    };
    RequestMeter {
        provider_request_id: Some(name.into()),
        metering: Metering::Tokens(usage),
        end: TurnEnd::Completed,
        cost_nano_usd: None,
    }
}

pub(super) async fn open(store: &Arc<dyn ReceiptStore>, receipt: &UsageReceipt) -> Proof {
    success("opening", store.open(&operation(), receipt.clone()).await)
}

pub(super) async fn note(
    store: &Arc<dyn ReceiptStore>,
    turn: Uuid,
    ordinal: u32,
    meter: RequestMeter,
) -> Proof {
    success("noting", store.note_request(&operation(), turn, ordinal, meter).await)
}

pub(super) async fn settle(store: &Arc<dyn ReceiptStore>, receipt: &UsageReceipt) -> Proof {
    success("settling", store.settle(&operation(), receipt.clone()).await)
}

/// Opens the turn and settles it with this receipt.
pub(super) async fn record(store: &Arc<dyn ReceiptStore>, settled: &UsageReceipt) -> Proof {
    let opened = UsageReceipt {
        ended_at_ms: settled.started_at_ms,
        end: TurnEnd::Interrupted,
        requests: Vec::new(),
        metering: Metering::Unavailable,
        is_lower_bound: false,
        cost_nano_usd: None,
        losses: Vec::new(),
        ..settled.clone()
    };
    open(store, &opened).await?;
    settle(store, settled).await
}

pub(super) async fn listed(store: &Arc<dyn ReceiptStore>) -> Result<Vec<UsageReceipt>, Broken> {
    success("listing", store.list(&operation(), None, 1_000).await)
}

pub(super) async fn unsettled(store: &Arc<dyn ReceiptStore>) -> Result<Vec<UsageReceipt>, Broken> {
    success("asking for unsettled turns", store.unsettled(&operation()).await)
}

/// The totals of the day of this moment.
pub(super) async fn totals(
    store: &Arc<dyn ReceiptStore>,
    unix_ms: u64,
) -> Result<Vec<ReceiptTotals>, Broken> {
    let day = UtcDay::from_unix_ms(unix_ms);
    success("summing", store.totals(&operation(), day).await)
}

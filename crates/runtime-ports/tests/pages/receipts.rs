//! Pages of what turns cost, and of how calls fail.

use std::time::Duration;

use runtime_ports::{
    AgentContinuation, AgentProvider, CommitDisposition, Metering, PortFailure, PortFailureKind,
    ReceiptTotals, RequestMeter, ResolvedAgentModel, TokenUsage, TurnEnd, UsageReceipt, UsageTotal,
    UtcDay,
};
use uuid::Uuid;

use crate::Page;

pub(crate) fn pages() -> Vec<Page> {
    vec![
        Page::of("metering", meterings()),
        Page::of("turn_end", ends()),
        Page::of("request_meter", meters()),
        Page::of("usage_receipt", receipts()),
        Page::of("usage_total", vec![UsageTotal::EMPTY, total()]),
        Page::of("receipt_totals", totals()),
        Page::of("utc_day", days()),
        Page::of("port_failure", failures()),
        Page::of("port_failure_kind", kinds()),
        Page::of("commit_disposition", dispositions()),
        Page::of("agent_continuation", vec![continuation()]),
        Page::of("resolved_agent_model", vec![resolved()]),
    ]
}

fn usage() -> TokenUsage {
    TokenUsage { input_tokens: Some(10), output_tokens: Some(2), ..TokenUsage::default() }
}

fn meterings() -> Vec<Metering> {
    vec![Metering::Tokens(usage()), Metering::DurationSeconds(1.5), Metering::Unavailable]
}

fn ends() -> Vec<TurnEnd> {
    use TurnEnd::{Cancelled, Completed, Failed, Interrupted, TimedOut};
    vec![Completed, Failed, TimedOut, Cancelled, Interrupted]
}

pub(crate) fn meters() -> Vec<RequestMeter> {
    vec![
        RequestMeter {
            provider_request_id: None,
            metering: Metering::Unavailable,
            end: TurnEnd::TimedOut,
            cost_nano_usd: None,
        },
        RequestMeter {
            provider_request_id: Some("req-1".into()),
            metering: Metering::Tokens(usage()),
            end: TurnEnd::Completed,
            cost_nano_usd: Some(12_000),
        },
    ]
}

fn receipts() -> Vec<UsageReceipt> {
    let opened = UsageReceipt {
        version: UsageReceipt::VERSION,
        operation_id: Uuid::from_u128(1),
        parent_operation_id: None,
        user_id: "ada".into(),
        requested_model: "fast".into(),
        provider: AgentProvider::new("provider"),
        provider_model: "model-1".into(),
        thread_id: None,
        started_at_ms: 1_795_996_800_000,
        ended_at_ms: 1_795_996_800_000,
        end: TurnEnd::Interrupted,
        requests: Vec::new(),
        metering: Metering::Unavailable,
        is_lower_bound: true,
        cost_nano_usd: None,
        losses: Vec::new(),
    };
    let settled = UsageReceipt {
        parent_operation_id: Some(Uuid::from_u128(2)),
        thread_id: Some("thread-1".into()),
        ended_at_ms: 1_795_996_801_500,
        end: TurnEnd::Completed,
        requests: meters(),
        metering: Metering::Tokens(usage()),
        cost_nano_usd: Some(12_000),
        losses: vec!["one request reported nothing".into()],
        ..opened.clone()
    };
    vec![opened, settled]
}

fn total() -> UsageTotal {
    UsageTotal { at_least: 10, complete: false }
}

fn totals() -> Vec<ReceiptTotals> {
    ReceiptTotals::sum(&receipts())
}

fn days() -> Vec<UtcDay> {
    [0, 1_709_164_800_000, u64::MAX].map(UtcDay::from_unix_ms).into()
}

fn failures() -> Vec<PortFailure> {
    let kind = PortFailureKind::RateLimited;
    vec![
        PortFailure::timeout(),
        PortFailure::rejected(kind, "RATE_LIMITED", "too many calls; wait")
            .retry_after(Duration::from_millis(1_500)),
        PortFailure::in_flight_unknown(PortFailureKind::Unavailable, "RESET", "connection reset")
            .retryable()
            .with_attempts(meters()),
        PortFailure::committed(PortFailureKind::Protocol, "NO_REPLY", "the reply was unusable"),
    ]
}

fn kinds() -> Vec<PortFailureKind> {
    use PortFailureKind as K;
    vec![
        K::Invalid,
        K::NotFound,
        K::Forbidden,
        K::Conflict,
        K::RateLimited,
        K::Timeout,
        K::Canceled,
        K::Unavailable,
        K::Protocol,
        K::Internal,
        K::ContextOverflow,
        K::OutputLimit,
    ]
}

fn dispositions() -> Vec<CommitDisposition> {
    use CommitDisposition::{Committed, NotCommitted, Unknown};
    vec![NotCommitted, Committed, Unknown]
}

fn continuation() -> AgentContinuation {
    AgentContinuation {
        provider: AgentProvider::new("provider"),
        provider_model: "model-1".into(),
        thread_id: "thread-1".into(),
    }
}

fn resolved() -> ResolvedAgentModel {
    ResolvedAgentModel {
        requested_model: "fast".into(),
        provider_model: "model-1".into(),
        provider: AgentProvider::new("provider"),
        context_window_tokens: 128_000,
        max_input_tokens: 120_000,
    }
}

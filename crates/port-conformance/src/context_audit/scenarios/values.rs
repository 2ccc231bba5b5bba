//! Whether records come back as they were.
//!
//! Knows nothing about when they are repeated.

use runtime_ports::{
    ContextAuditDerivation, ContextAuditSnapshot, ContextAuditStage, ContextDerivationKind,
    ImageSource, ModelContent, ModelInvocationAudit, ModelInvocationAuditState as State,
    ModelMessage, ModelRole, SegmentChange, TokenUsage, ToolSet, Transcript,
};
use serde_json::json;

use crate::{
    Proof,
    claim::equal,
    context_audit::{
        AuditHarness, KeptAudit,
        sample::{Written, derivation, holds, invocation, snapshot, tools},
    },
};

pub(crate) async fn nothing_is_kept_before_a_write(harness: &dyn AuditHarness) -> Proof {
    let mut staged = harness.stage().await?;
    equal("a fresh store", &staged.world.kept().await?, &KeptAudit::default())
}

async fn come_back(harness: &dyn AuditHarness, written: Vec<Written>) -> Proof {
    let mut staged = harness.stage().await?;
    for record in &written {
        record.write(&staged.session).await?;
    }
    holds(&mut staged, &written).await
}

/// Every kind of content, and texts that are hard to keep.
fn everything_said() -> Transcript {
    let arguments =
        json!({ "z": 1.000_000_000_000_000_1, "a": u64::MAX, "m": [null, -0.0, "\u{0}"] });
    let all = vec![
        ModelContent::Text { text: "\"quoted\"\r\n\t\u{1F600} \u{2028}{\"check\":\"".to_owned() },
        ModelContent::Reasoning {
            issuer: "maker".to_owned(),
            text: String::new(),
            opaque: json!({ "sealed": "AA==" }),
        },
        ModelContent::ToolUse { id: "call-1".to_owned(), name: "add".to_owned(), arguments },
    ];
    let result = ModelContent::ToolResult {
        tool_use_id: "call-1".to_owned(),
        name: "add".to_owned(),
        content: "3\n".to_owned(),
        failed: true,
    };
    let image = ImageSource::Url { url: "https://example.com/a.png".to_owned() };
    let mut messages = Transcript::new();
    messages.push(ModelMessage::text(ModelRole::System, " be kind "));
    messages.push(ModelMessage { role: ModelRole::Assistant, content: all });
    messages.push(ModelMessage { role: ModelRole::Tool, content: vec![result] });
    let shown = vec![ModelContent::Image { source: image }];
    messages.push(ModelMessage { role: ModelRole::User, content: shown });
    messages.push(ModelMessage { role: ModelRole::User, content: Vec::new() });
    messages
}

pub(crate) async fn snapshots_come_back_exactly(harness: &dyn AuditHarness) -> Proof {
    use ContextAuditStage::{Assembled, Compressed, Original};
    let mut written = Vec::new();
    for (id, stage) in [("one", Original), ("two", Assembled), ("three", Compressed)] {
        written.push(ContextAuditSnapshot { stage, ..snapshot(id, everything_said()) });
    }
    let mut odd = ContextAuditSnapshot {
        purpose: "summary \u{1F600}".to_owned(),
        protocol_overhead_tokens: u64::MAX,
        reserved_output_tokens: 0,
        estimated_tokens: u64::MAX - 1,
        request_digest: String::new(),
        tools: tools(&["z", "a", "m"]),
        compared_with: None,
        ..snapshot("odd", everything_said())
    };
    odd.segments[1].change = SegmentChange::Displaced;
    odd.segments[1].items = usize::MAX;
    let bare = ContextAuditSnapshot { segments: Vec::new(), ..snapshot("bare", everything_said()) };
    written.extend([odd, bare]);
    come_back(harness, written.into_iter().map(Written::Snapshot).collect()).await
}

pub(crate) async fn derivations_come_back_exactly(harness: &dyn AuditHarness) -> Proof {
    use ContextDerivationKind::{Assemble, Compress, Reorder, Trim};
    let kinds = [("a", Assemble), ("c", Compress), ("t", Trim), ("r", Reorder)];
    let mut written: Vec<_> = kinds
        .map(|(id, kind)| ContextAuditDerivation { kind, ..derivation(id) })
        .into_iter()
        .collect();
    written.push(ContextAuditDerivation {
        source_snapshot_id: String::new(),
        target_snapshot_id: "\u{1F600}\n".to_owned(),
        input_tokens: u64::MAX,
        output_tokens: 0,
        input_items: usize::MAX,
        output_items: 0,
        ..derivation("odd")
    });
    come_back(harness, written.into_iter().map(Written::Derivation).collect()).await
}

pub(crate) async fn invocations_come_back_exactly(harness: &dyn AuditHarness) -> Proof {
    let zero =
        TokenUsage { input_tokens: Some(0), output_tokens: Some(0), ..TokenUsage::default() };
    let most = TokenUsage { cached_input_tokens: Some(u64::MAX), ..TokenUsage::zero() };
    let written = vec![
        invocation("prepared", State::Prepared),
        invocation("succeeded", State::Succeeded),
        invocation("failed", State::Failed),
        ModelInvocationAudit { usage: zero, ..invocation("zero", State::Succeeded) },
        ModelInvocationAudit { usage: most, ..invocation("most", State::Failed) },
        ModelInvocationAudit {
            usage: TokenUsage::default(),
            error_code: Some(String::new()),
            ..invocation("unknown", State::Succeeded)
        },
    ];
    come_back(harness, written.into_iter().map(Written::Invocation).collect()).await
}

pub(crate) async fn an_empty_context_is_kept(harness: &dyn AuditHarness) -> Proof {
    let empty = snapshot("empty", Transcript::new());
    let empty = ContextAuditSnapshot { tools: ToolSet::default(), ..empty };
    let other = ContextAuditSnapshot { id: "other".to_owned(), ..empty.clone() };
    come_back(harness, vec![Written::Snapshot(empty), Written::Snapshot(other)]).await
}

pub(crate) async fn odd_ids_are_ids(harness: &dyn AuditHarness) -> Proof {
    let ids =
        ["", " ", "a", "A", "a ", "\u{e4}", "a\u{308}", "../a", "a/b", "a\nb", "\u{0}", "1", "01"];
    let long = "x".repeat(4_000);
    let ids = ids.into_iter().chain([&*long]);
    come_back(harness, ids.flat_map(Written::of_each_kind).collect()).await
}

//! Pages of what is kept: conversations, audits, journals, traces and resources.

use std::collections::BTreeMap;

use runtime_ports::AgentProvider;
use runtime_ports::{
    ContextAuditDerivation, ContextAuditSnapshot, ContextAuditStage, ContextDerivationKind,
    ContextSegment, ContextSegmentKind, ConversationMessage, Digest, FencingToken, JournalRecord,
    JournalRecordKind, ModelContext, ModelInvocationAudit, ModelInvocationAuditState, ModelMessage,
    ModelRole, ResourceSnapshot, SegmentChange, TokenUsage, ToolSet, TraceRecord, Transcript,
};
use serde_json::json;

use crate::{Page, model::definition};

pub(crate) fn pages() -> Vec<Page> {
    vec![
        Page::of("conversation_message", conversation()),
        Page::of("context_audit_snapshot", snapshots()),
        Page::of("context_audit_derivation", derivations()),
        Page::of("model_invocation_audit", invocations()),
        Page::of("model_context", contexts()),
        Page::of("journal_record", journal()),
        Page::of("fencing_token", vec![FencingToken(7)]),
        Page::of("trace_record", vec![event()]),
        Page::of("resource_snapshot", resources()),
        Page::of("digest", vec![Digest::of(b""), Digest::of(b"milk")]),
    ]
}

fn conversation() -> Vec<ConversationMessage> {
    let roles = [ModelRole::System, ModelRole::User, ModelRole::Assistant, ModelRole::Tool];
    roles.map(|role| ConversationMessage { role, text: "hello".into() }).into()
}

fn snapshots() -> Vec<ContextAuditSnapshot> {
    use ContextAuditStage::{Assembled, Compressed, Original};
    let snapshot = |stage| ContextAuditSnapshot {
        id: "snapshot-1".into(),
        stage,
        purpose: "cycle".into(),
        messages: Transcript::from(vec![ModelMessage::text(ModelRole::User, "hello")]),
        tools: ToolSet::new(vec![definition()]),
        protocol_overhead_tokens: 3,
        reserved_output_tokens: 512,
        estimated_tokens: 530,
        request_digest: Digest::of(b"request").to_string(),
        segments: Vec::new(),
        compared_with: None,
    };
    let mut snapshots: Vec<_> = [Original, Assembled, Compressed].map(snapshot).into();
    let segments = segments();
    snapshots.push(ContextAuditSnapshot {
        segments,
        compared_with: Some("snapshot-0".into()),
        ..snapshot(Assembled)
    });
    snapshots
}

fn segments() -> Vec<ContextSegment> {
    use ContextSegmentKind::{Compacted, History, Instructions, New, Options, Resources, Tools};
    use SegmentChange::{Appended, Displaced, First, Rewritten, Unchanged};
    let segment = |(kind, change)| ContextSegment {
        kind,
        digest: Digest::of(b"segment"),
        items: 1,
        estimated_tokens: 5,
        change,
    };
    let changes = [
        (Tools, Unchanged),
        (Options, Rewritten { message: None }),
        (Instructions, First),
        (Resources, Unchanged),
        (Compacted, Rewritten { message: Some(2) }),
        (History, Displaced),
        (New, Appended),
    ];
    changes.map(segment).into()
}

fn derivations() -> Vec<ContextAuditDerivation> {
    use ContextDerivationKind::{Assemble, Compress, Reorder, Trim};
    let derivation = |kind| ContextAuditDerivation {
        id: "derivation-1".into(),
        source_snapshot_id: "snapshot-1".into(),
        target_snapshot_id: "snapshot-2".into(),
        kind,
        input_tokens: 530,
        output_tokens: 100,
        input_items: 9,
        output_items: 2,
    };
    [Assemble, Compress, Trim, Reorder].map(derivation).into()
}

fn invocations() -> Vec<ModelInvocationAudit> {
    use ModelInvocationAuditState::{Failed, Prepared, Succeeded};
    let invocation = |state, error: Option<&str>| ModelInvocationAudit {
        id: "inv-1".into(),
        request_snapshot_id: "snapshot-1".into(),
        model: "model-1".into(),
        state,
        usage: TokenUsage { output_tokens: Some(2), ..TokenUsage::default() },
        error_code: error.map(str::to_owned),
    };
    vec![
        invocation(Prepared, None),
        invocation(Succeeded, None),
        invocation(Failed, Some("DEADLINE_EXCEEDED")),
    ]
}

fn contexts() -> Vec<ModelContext> {
    let context = |instructions: Option<&str>| ModelContext {
        input: "hello".into(),
        provider: AgentProvider::new("provider"),
        model: "model-1".into(),
        reasoning_effort: "low".into(),
        instructions: instructions.map(str::to_owned),
        tools: vec![definition()],
    };
    vec![context(None), context(Some("be kind"))]
}

fn journal() -> Vec<JournalRecord> {
    use JournalRecordKind::{Input, Intent, Outcome, Terminal};
    let record = |(sequence, kind)| JournalRecord {
        sequence,
        at_ms: 1_795_996_800_000,
        kind,
        payload: json!({ "version": 1 }),
    };
    [(0, Input), (1, Intent), (2, Outcome), (3, Terminal)].map(record).into()
}

fn event() -> TraceRecord {
    TraceRecord { sequence: 1, event_type: "began".into(), payload: json!({ "round": 1 }) }
}

fn resources() -> Vec<ResourceSnapshot> {
    let skills = BTreeMap::from([("sum".into(), "add them".into())]);
    vec![
        ResourceSnapshot::new(Vec::new(), BTreeMap::new()),
        ResourceSnapshot::new(vec!["be kind".into()], skills),
    ]
}

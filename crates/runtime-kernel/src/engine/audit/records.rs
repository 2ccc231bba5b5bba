//! Decides which contexts are kept of a request, and what leads from one to the next.
//!
//! Knows nothing about how they are kept. Invariant: the last snapshot is exactly what is sent.

use runtime_ports::{
    ContextAuditDerivation, ContextAuditSnapshot, ContextAuditStage, ContextDerivationKind,
    ContextSegment, ModelInvocationAudit, ModelRequest, Transcript,
};

use super::{
    CallAudit, Purpose,
    derivations::{assembled_by, compressed_by},
    segments::{Sent, sent},
};

/// Something that is kept.
pub(super) enum Record {
    Snapshot(Box<ContextAuditSnapshot>),
    Derivation(ContextAuditDerivation),
    Invocation(ModelInvocationAudit),
}

/// One context on its way to the request.
struct Stage {
    id: String,
    stage: ContextAuditStage,
    messages: Transcript,
    tokens: u64,
}

/// Everything that is kept before `request` is sent, and what is remembered of it. `last` is the
/// request before it.
pub(super) fn records(
    call: &CallAudit,
    request: &ModelRequest,
    last: Option<&Sent>,
) -> (Vec<Record>, Sent) {
    let last = last.filter(|_| call.purpose == Purpose::Cycle);
    let (sent, segments) = sent(call, request, last);
    let stages = stages(call, request, &sent);
    let mut records = Vec::with_capacity(2 * stages.len());
    for (place, stage) in stages.iter().enumerate() {
        let before = place.checked_sub(1).map(|before| &stages[before]);
        let derivation = before.map(|before| derivation(call, before, stage));
        records.extend(derivation.map(Record::Derivation));
        records.push(Record::Snapshot(Box::new(snapshot(call, request, stage, &sent))));
    }
    if let Some(Record::Snapshot(assembled)) = records.last_mut() {
        describe(assembled, segments, last);
    }
    (records, sent)
}

fn describe(
    assembled: &mut ContextAuditSnapshot,
    segments: Vec<ContextSegment>,
    last: Option<&Sent>,
) {
    assembled.segments = segments;
    assembled.compared_with = last.map(|last| last.snapshot_id.clone());
}

/// The history, what stands for it where something does, and what is sent.
fn stages(call: &CallAudit, request: &ModelRequest, sent: &Sent) -> Vec<Stage> {
    let origin = &call.origin;
    let stage = |stage, messages: &Transcript| Stage {
        id: id_of(request, stage),
        stage,
        messages: messages.clone(),
        tokens: messages.estimated_tokens().saturating_add(sent.tool_tokens),
    };
    let mut stages = vec![stage(ContextAuditStage::Original, &origin.history)];
    if call.purpose == Purpose::Cycle && origin.is_compacted() {
        stages.push(stage(ContextAuditStage::Compressed, &origin.context));
    }
    stages.push(stage(ContextAuditStage::Assembled, &request.messages));
    stages
}

fn snapshot(
    call: &CallAudit,
    request: &ModelRequest,
    stage: &Stage,
    sent: &Sent,
) -> ContextAuditSnapshot {
    let would_be_sent = ModelRequest { messages: stage.messages.clone(), ..request.clone() };
    let overhead = call.run.protocol_tokens;
    ContextAuditSnapshot {
        id: stage.id.clone(),
        stage: stage.stage,
        purpose: call.purpose.name().to_owned(),
        messages: stage.messages.clone(),
        tools: request.tools.clone(),
        protocol_overhead_tokens: overhead,
        reserved_output_tokens: sent.reserved_tokens,
        estimated_tokens: stage.tokens,
        request_digest: would_be_sent.digest().to_string(),
        segments: Vec::new(),
        compared_with: None,
    }
}

fn derivation(call: &CallAudit, before: &Stage, after: &Stage) -> ContextAuditDerivation {
    let kind = match (call.purpose, after.stage) {
        (Purpose::Summary, _) => ContextDerivationKind::Assemble,
        (Purpose::Cycle, ContextAuditStage::Assembled) => {
            assembled_by(&before.messages, &after.messages)
        }
        (Purpose::Cycle, _) => compressed_by(&call.origin),
    };
    ContextAuditDerivation {
        id: after.id.clone(),
        source_snapshot_id: before.id.clone(),
        target_snapshot_id: after.id.clone(),
        kind,
        input_tokens: before.tokens,
        output_tokens: after.tokens,
        input_items: before.messages.len(),
        output_items: after.messages.len(),
    }
}

/// Names a context by the invocation that it is for, and a derivation by the context that it leads
/// to: ids of snapshots and derivations are apart.
pub(super) fn id_of(request: &ModelRequest, stage: ContextAuditStage) -> String {
    let stage = match stage {
        ContextAuditStage::Original => "original",
        ContextAuditStage::Assembled => "assembled",
        ContextAuditStage::Compressed => "compressed",
    };
    format!("{}.{stage}", request.invocation_id)
}

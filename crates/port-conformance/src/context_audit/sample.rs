//! Decides what the records of the scenarios look like, and how they are written and found again.
//!
//! Knows nothing about what is expected of the store.

use std::sync::Arc;

use runtime_ports::{
    ContextAuditDerivation, ContextAuditSession, ContextAuditSnapshot, ContextAuditStage,
    ContextDerivationKind, ContextSegment, ContextSegmentKind, Digest, ModelInvocationAudit,
    ModelInvocationAuditState, ModelMessage, ModelRole, ModelToolDefinition, OperationContext,
    PortFailure, SegmentChange, TokenUsage, ToolSet, Transcript,
};
use serde_json::json;

use super::{KeptAudit, StagedAudit};
use crate::{
    Broken, Proof,
    claim::{claim, operation, success},
};

/// A record of any kind.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Written {
    Snapshot(ContextAuditSnapshot),
    Derivation(ContextAuditDerivation),
    Invocation(ModelInvocationAudit),
}

impl Written {
    /// One of each kind, all with this id.
    pub(super) fn of_each_kind(id: &str) -> [Self; 3] {
        [
            Self::Snapshot(snapshot(id, said(["question", "answer"]))),
            Self::Derivation(derivation(id)),
            Self::Invocation(invocation(id, ModelInvocationAuditState::Prepared)),
        ]
    }

    /// What became of keeping it under this operation.
    pub(super) async fn tried(
        &self,
        session: &Arc<dyn ContextAuditSession>,
        operation: &OperationContext,
    ) -> Result<(), PortFailure> {
        match self.clone() {
            Self::Snapshot(snapshot) => session.snapshot(operation, snapshot).await,
            Self::Derivation(derivation) => session.derivation(operation, derivation).await,
            Self::Invocation(invocation) => session.model_invocation(operation, invocation).await,
        }
    }

    /// Keeps it under a new operation.
    pub(super) async fn write(&self, session: &Arc<dyn ContextAuditSession>) -> Proof {
        success("a write", self.tried(session, &operation()).await)
    }

    /// What is kept of its kind under its id.
    pub(super) fn found(&self, kept: &KeptAudit) -> Option<Self> {
        match self {
            Self::Snapshot(it) => kept.snapshots.get(&it.id).cloned().map(Self::Snapshot),
            Self::Derivation(it) => kept.derivations.get(&it.id).cloned().map(Self::Derivation),
            Self::Invocation(it) => kept.invocations.get(&it.id).cloned().map(Self::Invocation),
        }
    }
}

/// The store holds exactly these records.
pub(super) async fn holds(staged: &mut StagedAudit, expected: &[Written]) -> Proof {
    let kept = staged.world.kept().await?;
    for written in expected {
        let found = written.found(&kept);
        claim(found.as_ref().is_some_and(|found| same(found, written)), || {
            format!("what is kept is {}, expected {}", start(&found), start(written))
        })?;
    }
    let count = kept.snapshots.len() + kept.derivations.len() + kept.invocations.len();
    claim(count == expected.len(), || format!("{count} records, expected {}", expected.len()))
}

/// Whether this record is there, and then whole.
pub(super) async fn holds_or_lacks(
    staged: &mut StagedAudit,
    written: &Written,
) -> Result<bool, Broken> {
    let found = written.found(&staged.world.kept().await?);
    let whole = found.as_ref().is_none_or(|found| same(found, written));
    claim(whole, || format!("what is kept is {}", start(&found)))?;
    Ok(found.is_some())
}

/// Equal, and also the messages one by one: digests are what a store may have got wrong.
fn same(found: &Written, written: &Written) -> bool {
    match (found, written) {
        (Written::Snapshot(found), Written::Snapshot(written)) => {
            found == written && found.messages.messages().eq(written.messages.messages())
        }
        _ => found == written,
    }
}

/// Megabytes are not printed.
fn start(what: &impl std::fmt::Debug) -> String {
    format!("{what:?}").chars().take(600).collect()
}

/// What a user and a model said in turn.
pub(super) fn said<'a>(texts: impl IntoIterator<Item = &'a str>) -> Transcript {
    texts.into_iter().zip(0..).map(|(text, at)| message(at, text)).collect()
}

pub(super) fn message(place: usize, text: &str) -> ModelMessage {
    let is_answer = !place.is_multiple_of(2);
    ModelMessage::text(if is_answer { ModelRole::Assistant } else { ModelRole::User }, text)
}

/// The first `len` messages of a history that always goes on in the same way.
pub(super) fn history(len: usize) -> Transcript {
    (0..len).map(|place| message(place, &format!("message {place}"))).collect()
}

pub(super) fn tools(names: &[&str]) -> ToolSet {
    let tool = |name: &&str| ModelToolDefinition {
        name: (*name).to_owned(),
        description: format!("does {name}"),
        input_schema: json!({ "type": "object", "properties": { "n": { "minimum": 0.1 } } }),
    };
    names.iter().map(tool).collect()
}

pub(super) fn snapshot(id: &str, messages: Transcript) -> ContextAuditSnapshot {
    let segment = |kind, change| ContextSegment {
        kind,
        digest: messages.digest(),
        items: messages.len(),
        estimated_tokens: messages.estimated_tokens(),
        change,
    };
    ContextAuditSnapshot {
        id: id.to_owned(),
        stage: ContextAuditStage::Assembled,
        purpose: "cycle".to_owned(),
        tools: tools(&["read_file", "write_file"]),
        protocol_overhead_tokens: 3,
        reserved_output_tokens: 512,
        estimated_tokens: messages.estimated_tokens(),
        request_digest: Digest::of(b"request").to_string(),
        segments: vec![
            segment(ContextSegmentKind::Instructions, SegmentChange::First),
            segment(ContextSegmentKind::History, SegmentChange::Rewritten { message: Some(1) }),
        ],
        compared_with: Some("the one before".to_owned()),
        messages,
    }
}

pub(super) fn derivation(id: &str) -> ContextAuditDerivation {
    ContextAuditDerivation {
        id: id.to_owned(),
        source_snapshot_id: "source".to_owned(),
        target_snapshot_id: "target".to_owned(),
        kind: ContextDerivationKind::Compress,
        input_tokens: 530,
        output_tokens: 100,
        input_items: 9,
        output_items: 2,
    }
}

pub(super) fn invocation(id: &str, state: ModelInvocationAuditState) -> ModelInvocationAudit {
    let has_failed = state == ModelInvocationAuditState::Failed;
    ModelInvocationAudit {
        id: id.to_owned(),
        request_snapshot_id: "sent".to_owned(),
        model: "model-1".to_owned(),
        state,
        usage: match state {
            ModelInvocationAuditState::Succeeded => {
                TokenUsage { input_tokens: Some(40), ..TokenUsage::default() }
            }
            _ => TokenUsage::default(),
        },
        error_code: has_failed.then(|| "OVERLOADED".to_owned()),
    }
}

//! What the saboteur makes of a record before it keeps it.
//!
//! Knows nothing about when it is kept.

use std::collections::BTreeSet;

use runtime_ports::{
    ContextAuditDerivation, ContextAuditSnapshot, ContextAuditStage, ModelInvocationAudit,
    TokenUsage, ToolSet, Transcript,
};

use super::{AuditFault as Fault, Record};

/// The record as this saboteur keeps it.
pub(super) fn spoiled(fault: Fault, record: Record) -> Record {
    let mut record = match record {
        Record::Snapshot(snapshot) => Record::Snapshot(spoiled_snapshot(fault, snapshot)),
        Record::Derivation(derivation) if fault == Fault::CutsLargeCounts => {
            Record::Derivation(ContextAuditDerivation {
                input_tokens: derivation.input_tokens.min(u64::from(u32::MAX)),
                ..derivation
            })
        }
        Record::Invocation(invocation) if fault == Fault::TakesUnknownForZero => {
            Record::Invocation(without_unknowns(invocation))
        }
        record => record,
    };
    let id = record.id_mut();
    match fault {
        Fault::FoldsIds => *id = id.to_lowercase(),
        Fault::TrimsIds => *id = id.trim().to_owned(),
        _ => {}
    }
    record
}

fn spoiled_snapshot(fault: Fault, mut snapshot: ContextAuditSnapshot) -> ContextAuditSnapshot {
    match fault {
        Fault::ForgetsStages => snapshot.stage = ContextAuditStage::Original,
        Fault::DropsSegments => snapshot.segments.clear(),
        Fault::SortsTools => {
            let mut tools = snapshot.tools.to_vec();
            tools.sort_by(|one, other| one.name.cmp(&other.name));
            snapshot.tools = ToolSet::new(tools);
        }
        Fault::CutsLongContexts => snapshot.messages = snapshot.messages.prefix(500),
        Fault::DropsEmptyMessages => {
            let said = snapshot.messages.messages().filter(|message| !message.content.is_empty());
            snapshot.messages = said.cloned().collect();
        }
        Fault::DropsRepeatedMessages => snapshot.messages = once_each(&snapshot.messages),
        _ => {}
    }
    snapshot
}

fn once_each(messages: &Transcript) -> Transcript {
    let mut seen = BTreeSet::new();
    let first = messages.entries().filter(|entry| seen.insert(entry.digest()));
    first.map(|entry| entry.message().clone()).collect()
}

fn without_unknowns(invocation: ModelInvocationAudit) -> ModelInvocationAudit {
    let TokenUsage { input_tokens, output_tokens, .. } = invocation.usage;
    let usage = TokenUsage {
        input_tokens: input_tokens.or(Some(0)),
        output_tokens: output_tokens.or(Some(0)),
        ..invocation.usage
    };
    ModelInvocationAudit { usage, ..invocation }
}

impl Record {
    pub(super) fn id(&self) -> &str {
        match self {
            Self::Snapshot(it) => &it.id,
            Self::Derivation(it) => &it.id,
            Self::Invocation(it) => &it.id,
        }
    }

    fn id_mut(&mut self) -> &mut String {
        match self {
            Self::Snapshot(it) => &mut it.id,
            Self::Derivation(it) => &mut it.id,
            Self::Invocation(it) => &mut it.id,
        }
    }

    pub(super) fn is_of_kind(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

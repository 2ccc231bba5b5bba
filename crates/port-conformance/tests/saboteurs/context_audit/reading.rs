//! What the saboteur's store holds, as it is read.
//!
//! Knows nothing about how it was written.

use std::collections::BTreeSet;

use port_conformance::context_audit::KeptAudit;
use runtime_ports::{ModelInvocationAudit, ModelInvocationAuditState, TokenUsage};

use super::{AuditFault as Fault, Memory};

/// What is read of a store that holds `kept`.
pub(super) fn spoiled(fault: Fault, memory: &Memory, mut kept: KeptAudit) -> KeptAudit {
    let contexts = || kept.snapshots.values().map(|snapshot| &snapshot.messages);
    match fault {
        Fault::StoresMessagesAgain => {
            kept.stored_messages = contexts().map(|messages| messages.len()).sum();
        }
        Fault::StoresMessagesByPlace => {
            let prefixes = contexts().flat_map(|messages| messages.prefix_digests_from(0));
            kept.stored_messages = prefixes.collect::<BTreeSet<_>>().len();
        }
        Fault::InventsARecord => {
            kept.invocations.insert("nobody's".to_owned(), invented());
        }
        Fault::KeepsHalves => {
            let half = memory.half.iter().map(|half| (half.id.clone(), half.clone()));
            kept.snapshots.extend(half);
        }
        _ => {}
    }
    kept
}

fn invented() -> ModelInvocationAudit {
    ModelInvocationAudit {
        id: "nobody's".to_owned(),
        request_snapshot_id: String::new(),
        model: String::new(),
        state: ModelInvocationAuditState::Prepared,
        usage: TokenUsage::default(),
        error_code: None,
    }
}

//! Decides what a step from one context to another is called.
//!
//! Knows messages by their digests only. Invariant: work is proportional to what follows the first
//! difference.

use std::collections::HashMap;

use runtime_decision::RequestOrigin;
use runtime_ports::{ContextDerivationKind as Kind, Digest, Transcript};

/// What leads from what a request is based on to what is sent.
pub(super) fn assembled_by(base: &Transcript, sent: &Transcript) -> Kind {
    let shared = base.shared_len(sent);
    if !is_made_of(base, sent, shared) {
        return Kind::Assemble;
    }
    match (sent.len() < base.len(), shared == sent.len()) {
        (true, _) => Kind::Trim,
        // Tools and options were put around it.
        (false, true) => Kind::Assemble,
        (false, false) => Kind::Reorder,
    }
}

/// What leads from a history to what stands for it in a shorter form.
pub(super) fn compressed_by(origin: &RequestOrigin) -> Kind {
    match assembled_by(&origin.history, &origin.context) {
        Kind::Assemble => Kind::Compress,
        kind => kind,
    }
}

/// Whether all of `sent` was in `base`, where the first `shared` messages are.
fn is_made_of(base: &Transcript, sent: &Transcript, shared: usize) -> bool {
    let mut left: HashMap<Digest, usize> = HashMap::new();
    base.entries_from(shared).for_each(|entry| *left.entry(entry.digest()).or_default() += 1);
    let mut rest = sent.entries_from(shared);
    rest.all(|entry| match left.get_mut(&entry.digest()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    })
}

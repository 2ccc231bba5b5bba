//! Receipts, audits, artifacts and instructions in folders of the user, as plain files.
//!
//! Knows the file system: locks, fsync, torn tails. Refuses to know what a turn did, what an
//! artifact holds, or who reads the instructions. Every file is made for its owner alone
//! (`0600`, folders `0700`), and no link is followed to open one.
//!
//! | type | port | files |
//! |---|---|---|
//! | [`FileReceiptStore`] | [`ReceiptStore`](runtime_ports::ReceiptStore) | `receipts.jsonl`, `owners/*.lock` |
//! | [`FileContextAudit`] | [`ContextAuditSession`](runtime_ports::ContextAuditSession) | `audit.jsonl` |
//! | [`FileArtifactStore`] | [`ArtifactStore`](runtime_ports::ArtifactStore) | one file an artifact, named by its digest |
//! | [`FileResources`] | [`ResourceSession`](runtime_ports::ResourceSession) | `instructions.md`, `skills/*.md` |

mod artifacts;
mod audit;
mod checked_line;
mod damage;
mod failure;
mod folder;
mod gate;
mod ledger;
mod lines;
mod lock;
mod log;
mod owner;
mod receipts;
mod record;
mod reserve;
mod resources;
mod shared_lines;

pub use artifacts::FileArtifactStore;
pub use audit::{AuditContents, FileContextAudit};
pub use damage::Damage;
pub use receipts::FileReceiptStore;
pub use resources::FileResources;

#[cfg(test)]
mod tests;

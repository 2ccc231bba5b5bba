//! The harnesses that put each fake under the suite of its port.
//!
//! Knows the fakes' public interface. The saboteurs of `port-conformance` use these harnesses too,
//! so they leave the scripts' own checks out: the scenarios alone must notice a fault.

mod artifacts;
mod context_audit;
mod conversation;
mod delegation;
mod interaction;
mod model;
mod receipts;
mod resources;
mod subagents;
mod trace;
mod trouble;
mod turn;
pub(crate) mod workspace;

pub(crate) use artifacts::FakeArtifactHarness;
pub(crate) use context_audit::FakeAuditHarness;
pub(crate) use conversation::FakeConversationHarness;
pub(crate) use delegation::FakeDelegationHarness;
pub(crate) use interaction::FakeInteractionHarness;
pub(crate) use model::FakeModelHarness;
pub(crate) use receipts::FakeReceiptHarness;
pub(crate) use resources::FakeResourceHarness;
pub(crate) use subagents::FakeSubagentHarness;
pub(crate) use trace::FakeTraceHarness;
pub(crate) use turn::FakeTurnHarness;
pub(crate) use workspace::FakeWorkspaceHarness;

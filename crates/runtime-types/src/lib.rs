//! Identities, caller scopes and credential handles that every layer shares.
//!
//! Knows how an identifier is validated and how a secret stays unseen. Refuses to know what an
//! agent is, what a port does, or how anything is stored or sent.

mod credential;
mod identifier;
mod lease;
mod scope;

pub use credential::CredentialHandle;
pub use identifier::{
    ConversationId, ExecutionId, IDENTIFIER_MAX_BYTES, InvalidIdentifier, NotAUuid, OperationId,
    ProjectId, RuntimeInstanceId, SubjectId, TenantId, WorkspaceId,
};
pub use lease::DelegationLeaseRef;
pub use scope::{CallerScope, RequestAuthority};

#[cfg(test)]
mod tests;

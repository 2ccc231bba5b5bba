//! Decides who is asking, and with what authority.
//!
//! Knows nothing about how a caller proved its identity or what the capabilities mean to a port.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{CredentialHandle, ProjectId, SubjectId, TenantId};

/// On whose behalf a call is made. Carries no secret, so it may be stored and logged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallerScope {
    /// Who asks.
    pub subject: SubjectId,
    /// The tenant of the subject; `None` outside multi-tenant services.
    pub tenant_id: Option<TenantId>,
    /// The project within the tenant; `None` when the call belongs to no project.
    pub project_id: Option<ProjectId>,
    /// Names of what the subject may do, in sorted order; the service defines them.
    pub capabilities: BTreeSet<String>,
}

impl CallerScope {
    /// A subject without tenant, project or capabilities.
    #[must_use]
    pub const fn of(subject: SubjectId) -> Self {
        Self { subject, tenant_id: None, project_id: None, capabilities: BTreeSet::new() }
    }

    /// Whether the subject holds the capability of this exact name.
    #[must_use]
    pub fn may(&self, capability: &str) -> bool {
        self.capabilities.contains(capability)
    }
}

/// A caller together with the credential that it presented. Not serialisable; `Debug` shows the
/// caller and redacts the credential.
#[derive(Debug, Clone)]
pub struct RequestAuthority {
    /// Who asks.
    pub caller: CallerScope,
    /// What the caller presented.
    pub credential: CredentialHandle,
}

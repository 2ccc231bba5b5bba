//! Identities, caller scopes and credential handles; nothing that acts.

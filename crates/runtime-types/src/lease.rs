//! Decides that a reference to a delegation lease is as secret as a credential.
//!
//! Knows nothing about issuers, expiry or renewal.

use std::{fmt, sync::Arc};

use secrecy::{ExposeSecret, SecretString};

/// Opaque reference to a delegation lease, as its issuer gave it. Whoever holds the text can act
/// for the caller, so it is redacted in `Debug`, has no `Display`, and cannot be serialised.
#[derive(Clone)]
pub struct DelegationLeaseRef(Arc<SecretString>);

impl DelegationLeaseRef {
    /// Takes the issuer's reference over.
    #[must_use]
    pub fn new(reference: impl Into<String>) -> Self {
        Self(Arc::new(SecretString::from(reference.into())))
    }

    /// The reference itself, to hand back to its issuer.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl PartialEq for DelegationLeaseRef {
    fn eq(&self, other: &Self) -> bool {
        let (left, right) = (self.expose().as_bytes(), other.expose().as_bytes());
        left.len() == right.len()
            && left.iter().zip(right).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
    }
}

impl Eq for DelegationLeaseRef {}

impl fmt::Debug for DelegationLeaseRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("DelegationLeaseRef([redacted])")
    }
}

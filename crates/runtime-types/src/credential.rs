//! Decides that a credential is never seen by accident.
//!
//! Knows nothing about what the credential opens. Invariant: no formatting and no serialisation
//! of this type shows a byte of the secret; the memory is wiped when the last handle is dropped.

use std::{fmt, sync::Arc};

use secrecy::{ExposeSecret, SecretString};

/// A secret that is handed on, not looked at: `Debug` and `Display` print a fixed text, and it
/// implements neither `Serialize` nor `PartialEq`.
///
/// ```
/// use runtime_types::CredentialHandle;
///
/// let key = CredentialHandle::new("sk-very-secret");
/// assert_eq!(format!("{key} {key:?}"), "[redacted] CredentialHandle([redacted])");
/// assert_eq!(key.expose(), "sk-very-secret");
/// ```
///
/// It cannot be serialised:
///
/// ```compile_fail
/// fn stored<T: serde::Serialize>(_: T) {}
/// stored(runtime_types::CredentialHandle::new("sk-very-secret"));
/// ```
#[derive(Clone)]
pub struct CredentialHandle(Arc<SecretString>);

impl CredentialHandle {
    /// Takes the secret over.
    #[must_use]
    pub fn new(secret: impl Into<String>) -> Self {
        Self(Arc::new(SecretString::from(secret.into())))
    }

    /// The secret itself. Call it where the secret leaves the process, and nowhere else.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for CredentialHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("CredentialHandle([redacted])")
    }
}

impl fmt::Display for CredentialHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[redacted]")
    }
}

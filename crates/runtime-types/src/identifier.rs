//! Decides what text may serve as an identifier.
//!
//! Knows nothing about what the identifiers name. Invariant: a value of these types is 1 to
//! [`IDENTIFIER_MAX_BYTES`] bytes of UTF-8 without control characters, however it was made.

use std::{borrow::Borrow, fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;
use uuid::Uuid;

/// Longest identifier, in bytes of UTF-8.
pub const IDENTIFIER_MAX_BYTES: usize = 256;

/// Why a text was refused as an identifier. Never carries the text itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InvalidIdentifier {
    /// The text has no characters.
    #[error("{kind} is empty; give it 1 to {IDENTIFIER_MAX_BYTES} bytes")]
    Empty {
        /// Name of the identifier's type.
        kind: &'static str,
    },
    /// The text is longer than [`IDENTIFIER_MAX_BYTES`].
    #[error("{kind} has {bytes} bytes; at most {IDENTIFIER_MAX_BYTES} are allowed")]
    TooLong {
        /// Name of the identifier's type.
        kind: &'static str,
        /// Length that was offered, in bytes.
        bytes: usize,
    },
    /// The text has a control character (Unicode category Cc).
    #[error("{kind} has a control character at byte {position}; remove it")]
    ControlCharacter {
        /// Name of the identifier's type.
        kind: &'static str,
        /// Offset of the first control character, in bytes.
        position: usize,
    },
}

/// The identifier is valid, but does not hold a UUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{kind} does not hold a uuid")]
pub struct NotAUuid {
    /// Name of the identifier's type.
    pub kind: &'static str,
}

fn validate(kind: &'static str, text: &str) -> Result<(), InvalidIdentifier> {
    if text.is_empty() {
        return Err(InvalidIdentifier::Empty { kind });
    }
    if text.len() > IDENTIFIER_MAX_BYTES {
        return Err(InvalidIdentifier::TooLong { kind, bytes: text.len() });
    }
    match text.char_indices().find(|(_, character)| character.is_control()) {
        Some((position, _)) => Err(InvalidIdentifier::ControlCharacter { kind, position }),
        None => Ok(()),
    }
}

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// 1 to [`IDENTIFIER_MAX_BYTES`] bytes of UTF-8 without control characters, checked in
        /// [`Self::new`] and on deserialisation. Cloning costs a reference count.
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Validates `text` and keeps it.
            ///
            /// # Errors
            /// [`InvalidIdentifier`] when the text is empty, too long, or has a control character.
            pub fn new(text: impl Into<Arc<str>>) -> Result<Self, InvalidIdentifier> {
                let text = text.into();
                validate(stringify!($name), &text)?;
                Ok(Self(text))
            }

            /// The text as it was given.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidIdentifier;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidIdentifier;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                Self::new(text)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::new(String::deserialize(deserializer)?).map_err(de::Error::custom)
            }
        }
    };
}

macro_rules! holds_uuid {
    ($name:ident) => {
        impl $name {
            /// The UUID that this identifier holds, if its text is one.
            #[must_use]
            pub fn as_uuid(&self) -> Option<Uuid> {
                Uuid::parse_str(&self.0).ok()
            }
        }

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                Self(id.hyphenated().to_string().into())
            }
        }

        impl TryFrom<&$name> for Uuid {
            type Error = NotAUuid;

            fn try_from(id: &$name) -> Result<Self, Self::Error> {
                id.as_uuid().ok_or(NotAUuid { kind: stringify!($name) })
            }
        }
    };
}

identifier! {
    /// Names one operation: a call that may be cancelled, deduplicated and billed by itself.
    OperationId
}
identifier! {
    /// Names one execution: a run of an agent from its start to its terminal state.
    ExecutionId
}
identifier! {
    /// Names a conversation that outlives the executions in it.
    ConversationId
}
identifier! {
    /// Names a workspace.
    WorkspaceId
}
identifier! {
    /// Names a configured agent instance that a resolver can look up.
    RuntimeInstanceId
}
identifier! {
    /// Names who asks: a person, or a service acting for itself.
    SubjectId
}
identifier! {
    /// Names the tenant that a caller belongs to.
    TenantId
}
identifier! {
    /// Names a project within a tenant.
    ProjectId
}

holds_uuid!(OperationId);
holds_uuid!(ExecutionId);

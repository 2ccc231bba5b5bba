//! Decides what must be known of a server before it can be talked to, and what would not be safe.
//!
//! Knows nothing about the environment: every value is given by the composition root.

use std::time::Duration;

use runtime_types::CredentialHandle;
use thiserror::Error;

use crate::tape::Tape;

/// Most bytes of one event, unless it is configured: events may echo all instructions and images.
const EVENT_LIMIT: usize = 16 * 1024 * 1024;

/// One server, and how it is reached.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// An absolute address; the paths of an API are appended, a query is kept.
    pub base_url: String,
    /// The key, if the server wants one.
    pub credential: Option<CredentialHandle>,
    /// Where the key stands.
    pub key_header: KeyHeader,
    /// More headers of every request. Any of them may be a secret; a handle is never printed.
    pub headers: Vec<(String, CredentialHandle)>,
    /// How long each phase of a request may take.
    pub timeouts: Timeouts,
    /// Most bytes of one event, and of an answer that comes as one document. An answer may have 16
    /// times as much in all.
    pub event_limit: usize,
    /// Whether what is said is recorded, or replayed. Default: neither.
    pub tape: Tape,
}

impl Endpoint {
    /// The server at `base_url`, without a key, with timeouts of [`Timeouts::default`] and 16 MiB
    /// an event.
    pub fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            credential: None,
            key_header: KeyHeader::Bearer,
            headers: Vec::new(),
            timeouts: Timeouts::default(),
            event_limit: EVENT_LIMIT,
            tape: Tape::None,
        }
    }
}

/// Where the key stands.
#[derive(Debug, Clone, Default)]
pub enum KeyHeader {
    /// `authorization: Bearer …`.
    #[default]
    Bearer,
    /// A header of its own.
    Named(String),
}

/// How long each phase of a request may take. The deadline of the operation bounds all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection stands, name lookup and TLS included.
    pub connect: Duration,
    /// From the connection until the head of the response.
    pub head: Duration,
    /// Between two events that carry something; comments and keep-alives do not count.
    pub idle: Duration,
    /// For usage that may follow a finished answer; then the answer is given without it.
    pub tail: Duration,
}

impl Default for Timeouts {
    /// 15 seconds to connect, 5 minutes for the head, 5 minutes idle, 5 seconds for the tail.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(15),
            head: Duration::from_secs(300),
            idle: Duration::from_secs(300),
            tail: Duration::from_secs(5),
        }
    }
}

/// Why a session cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The base URL is no absolute `http` or `https` address.
    #[error("the base url must be an absolute http or https address, like https://host/v1")]
    InvalidBaseUrl,
    /// The base URL has a user or a password in it.
    #[error("the base url must not hold a user or a password; give the api key by itself")]
    CredentialInUrl,
    /// The key would travel in the clear.
    #[error("the api key is not sent over plain http to another machine; use https")]
    PlaintextCredential,
    /// The key has characters that no header may have.
    #[error("the api key has characters that cannot be sent; check for line breaks")]
    InvalidCredential,
    /// A header cannot be sent.
    #[error("the header {0:?} cannot be sent; check its name and value")]
    InvalidHeader(String),
    /// The platform has no certificates to trust.
    #[error("no trusted certificates are installed; install the ca-certificates of the system")]
    NoCertificates,
    /// The HTTP client cannot be set up.
    #[error("the http client cannot be set up on this system")]
    Client,
}

//! Decides what an adapter says of itself so that every rule of the wire can be tried with it.
//!
//! Knows the shape that the builders of adapters share, and no API.

use std::fmt::Debug;

use model_wire::{BuildError, Timeouts};
use runtime_ports::{ModelProfile, ModelSession};
use runtime_types::CredentialHandle;

use crate::{
    asking::{KEY, PROMPT, SHORT_TIMEOUTS},
    loopback::{Loopback, events},
};

/// An adapter that is tried on the wire: how its sessions are built, and the words of its API.
pub trait Subject {
    /// What collects the settings of a session.
    type Builder: Debug;
    /// The session.
    type Session: ModelSession + Debug;

    /// A builder for a server at this address that streams, with nothing else set.
    fn builder(&self, base_url: &str) -> Self::Builder;

    /// The builder with one more setting.
    fn set(&self, builder: Self::Builder, setting: Setting) -> Self::Builder;

    /// The session.
    ///
    /// # Errors
    /// Those of the builder.
    fn build(&self, builder: Self::Builder) -> Result<Self::Session, BuildError>;

    /// A short answer.
    fn words(&self) -> Words;

    /// What a server could say to bring the key and the prompt to light.
    fn echo(&self) -> Echo;
}

/// What every builder takes.
#[derive(Debug, Clone)]
pub enum Setting {
    /// The API key.
    Credential(CredentialHandle),
    /// A header of this name and value.
    Header(&'static str, &'static str),
    /// How long each phase may take.
    Timeouts(Timeouts),
    /// Most bytes of one event.
    EventLimitBytes(usize),
    /// What requests to the model of this name may hold.
    Profile(&'static str, ModelProfile),
    /// What requests to any other model may hold.
    DefaultProfile(ModelProfile),
}

/// A short answer in the words of an API: the data of its events, and the same as a document.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// What comes before the first piece.
    pub start: &'static [&'static str],
    /// A piece of text that reads `hi`, and can come again.
    pub hi: &'static str,
    /// What makes the answer complete.
    pub finish: &'static [&'static str],
    /// What can come after that. Somewhere in the answer, 3 tokens of input are told.
    pub after: &'static [&'static str],
    /// What can come at any time and says nothing.
    pub idle: &'static [&'static str],
    /// A whole answer that reads `hi`.
    pub document: &'static str,
}

impl Words {
    /// The answer up to its first piece.
    #[must_use]
    pub fn amid(&self) -> Vec<&'static str> {
        [self.start, &[self.hi]].concat()
    }

    /// The answer up to what makes it complete.
    #[must_use]
    pub fn finished(&self) -> Vec<&'static str> {
        [&self.amid(), self.finish].concat()
    }

    /// The answer with everything that can come after it, as the bytes of a stream.
    #[must_use]
    pub fn whole(&self) -> Vec<u8> {
        events(&[&self.finished(), self.after].concat())
    }
}

/// The words of an API, with the key wherever a server could put it.
#[derive(Debug, Clone)]
pub struct Echo {
    /// Status lines that refuse.
    pub statuses: Vec<&'static str>,
    /// The header that names a request.
    pub request_id: &'static str,
    /// The body of a refusal.
    pub refusal: String,
    /// Events that fail an answer, each of them alone.
    pub failures: Vec<String>,
    /// An event that begins a stream.
    pub begun: String,
}

impl Echo {
    /// What a server could echo of a request: the key, and the prompt.
    #[must_use]
    pub fn text() -> String {
        format!("{KEY} {PROMPT}")
    }
}

/// A session with these settings.
pub(crate) fn session<S: Subject>(
    subject: &S,
    base_url: &str,
    settings: impl IntoIterator<Item = Setting>,
) -> Result<S::Session, BuildError> {
    let set = |builder, setting| subject.set(builder, setting);
    subject.build(settings.into_iter().fold(subject.builder(base_url), set))
}

/// A session with the key, and with [`SHORT`](crate::asking::SHORT) patience in every phase.
pub(crate) fn hasty<S: Subject>(subject: &S, server: &Loopback) -> S::Session {
    let settings = [keyed(), Setting::Timeouts(SHORT_TIMEOUTS)];
    session(subject, &server.base_url(), settings).expect("a session")
}

/// The key as a setting.
pub(crate) fn keyed() -> Setting {
    Setting::Credential(CredentialHandle::new(KEY))
}

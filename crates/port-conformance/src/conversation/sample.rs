//! Decides what the messages of the scenarios look like, and how they are appended and loaded.
//!
//! Knows nothing about what is expected of the session.

use std::sync::Arc;

use runtime_ports::{
    ConversationMessage, ConversationSession, ModelRole, OperationContext, PortFailure,
};
use runtime_types::OperationId;
use uuid::Uuid;

use crate::{
    Broken, Proof,
    claim::{claim, operation, success},
};

pub(super) type Session = Arc<dyn ConversationSession>;

/// How many messages each [`entry`] has.
const PARTS: usize = 3;

/// More messages than any scenario appends.
const EVERYTHING: usize = 100_000;

pub(super) fn says(role: ModelRole, text: &str) -> ConversationMessage {
    ConversationMessage { role, text: text.into() }
}

/// The user says this.
pub(super) fn said(text: &str) -> ConversationMessage {
    says(ModelRole::User, text)
}

pub(super) fn all_said(texts: &[&str]) -> Vec<ConversationMessage> {
    texts.iter().map(|text| said(text)).collect()
}

/// The messages of append `number`: every message says to which append it belongs, and where.
pub(super) fn entry(number: usize) -> Vec<ConversationMessage> {
    let part = |part| said(&format!("{number} {part} {}", "·".repeat(1_000)));
    (0..PARTS).map(part).collect()
}

pub(super) fn new_id() -> OperationId {
    OperationId::from(Uuid::new_v4())
}

/// A living operation of this name.
pub(super) fn named(id: &OperationId) -> OperationContext {
    OperationContext { id: id.clone(), ..operation() }
}

/// Appends under a new operation.
pub(super) async fn append(session: &Session, messages: &[ConversationMessage]) -> Proof {
    append_as(session, &new_id(), messages).await
}

/// Appends under this operation.
pub(super) async fn append_as(
    session: &Session,
    id: &OperationId,
    messages: &[ConversationMessage],
) -> Proof {
    success("appending", tried(session, id, messages).await)
}

/// What became of an append under this operation.
pub(super) async fn tried(
    session: &Session,
    id: &OperationId,
    messages: &[ConversationMessage],
) -> Result<(), PortFailure> {
    session.append(&named(id), messages).await
}

pub(super) async fn newest(
    session: &Session,
    limit: usize,
) -> Result<Vec<ConversationMessage>, Broken> {
    success("loading", session.load_recent(&operation(), limit).await)
}

/// The whole conversation is these messages.
pub(super) async fn holds(session: &Session, expected: &[ConversationMessage]) -> Proof {
    same("the conversation", &newest(session, EVERYTHING).await?, expected)
}

/// Both are equal; megabytes are not printed.
pub(super) fn same(
    what: &str,
    actual: &[ConversationMessage],
    expected: &[ConversationMessage],
) -> Proof {
    claim(actual == expected, || {
        let alike = actual.iter().zip(expected).take_while(|(one, other)| one == other).count();
        let (is, should) = (shown(actual.get(alike)), shown(expected.get(alike)));
        let (have, want) = (actual.len(), expected.len());
        format!(
            "{what} has {have} messages, expected {want}; message {alike} is {is}, not {should}"
        )
    })
}

fn shown(message: Option<&ConversationMessage>) -> String {
    let Some(ConversationMessage { role, text }) = message else { return "missing".into() };
    let start: String = text.chars().take(40).collect();
    format!("{role:?} {start:?} ({} bytes)", text.len())
}

/// The numbers of the [`entry`]s that the whole conversation is made of, in order: each is whole,
/// together, and there once.
pub(super) async fn entries(session: &Session) -> Result<Vec<usize>, Broken> {
    let messages = newest(session, EVERYTHING).await?;
    let mut numbers = Vec::new();
    for messages in messages.chunks(PARTS) {
        let number = messages[0].text.split(' ').next().and_then(|number| number.parse().ok());
        let number = number.ok_or_else(|| Broken::Claim("a message that nobody said".into()))?;
        same(&format!("append {number}"), messages, &entry(number))?;
        claim(!numbers.contains(&number), || format!("append {number} is there twice"))?;
        numbers.push(number);
    }
    Ok(numbers)
}

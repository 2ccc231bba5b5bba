//! What the saboteur does wrong when it appends.
//!
//! Knows nothing about what is loaded.

use std::{sync::Arc, time::Duration};

use runtime_ports::{ConversationMessage, Interruption, ModelRole, OperationContext, PortFailure};
use runtime_types::OperationId;
use tokio::time::sleep;
use uuid::Uuid;

use super::{ConversationFault as Fault, SabotagedSession, Session, deaf, refused};

const A_MOMENT: Duration = Duration::from_millis(1);
const LONG_TEXT: usize = 64 << 10;

impl SabotagedSession {
    pub(super) async fn append_badly(
        &self,
        operation: &OperationContext,
        messages: &[ConversationMessage],
    ) -> Result<(), PortFailure> {
        let operation = self.renamed(operation);
        let messages = self.misheard(messages);
        self.objects(&operation, &messages)?;
        let outcome = self.appended(&operation, &messages).await;
        let is_refused =
            matches!(&outcome, Err(failure) if failure.code == "CONVERSATION_CONFLICT");
        match self.fault {
            Fault::TakesOtherMessages if is_refused => return Ok(()),
            Fault::AddsOtherMessages if is_refused => {
                return self.honest.append(&fresh(&operation), &messages).await;
            }
            Fault::RepeatsSilently if outcome.is_err() && operation.remaining().is_ok() => {
                return self.honest.append(&fresh(&operation), &messages).await;
            }
            _ => {}
        }
        let noted = (operation.id, messages);
        match outcome.is_ok() {
            true => self.memory().appended.push(noted),
            false => self.memory().refused.push(noted),
        }
        outcome
    }

    async fn appended(
        &self,
        operation: &OperationContext,
        messages: &[ConversationMessage],
    ) -> Result<(), PortFailure> {
        match self.fault {
            Fault::DropsEqualMessages if self.appended_by_any(messages) => Ok(()),
            Fault::ForgetsEmptyAppends if messages.is_empty() => operation.remaining().map(drop),
            Fault::ComparesTexts if self.appended_alike(operation, messages) => Ok(()),
            Fault::AppendsAnyway => self.honest.append(&deaf(operation), messages).await,
            Fault::AddsOneByOne => self.append_one_by_one(operation, messages).await,
            Fault::DeniesItsAppends => self.append_and_deny(operation, messages).await,
            Fault::AppendsLater => self.append_later(operation, messages).await,
            Fault::AppendsTwiceWhenDropped => {
                let again = Again::when_dropped(&self.honest, operation, messages);
                let outcome = self.honest.append(operation, messages).await;
                again.forget();
                outcome
            }
            Fault::AppendsOneAtATime => self.append_alone(operation, messages).await,
            Fault::LooksFirst => self.look_and_append(operation, messages).await,
            Fault::WaitsItOut => {
                operation.remaining()?;
                let outcome = self.honest.append(&deaf(operation), messages).await;
                outcome.and_then(|()| operation.remaining().map(drop))
            }
            _ => self.honest.append(operation, messages).await,
        }
    }

    /// The name under which the saboteur appends.
    fn renamed(&self, operation: &OperationContext) -> OperationContext {
        let last = self.memory().appended.last().map(|appended| appended.0.clone());
        let suffix = match self.fault {
            Fault::AppendsAgain => return fresh(operation),
            Fault::RemembersTheLast if last.is_some_and(|last| last != operation.id) => {
                return fresh(operation);
            }
            Fault::SplitsByExecution => operation.execution_id.to_string(),
            Fault::ForgetsDeadOperations => self.deaths.to_string(),
            _ => return operation.clone(),
        };
        let id = OperationId::new(format!("{} {suffix}", operation.id));
        OperationContext { id: id.unwrap_or_else(|_| new_id()), ..operation.clone() }
    }

    fn misheard(&self, messages: &[ConversationMessage]) -> Vec<ConversationMessage> {
        let mut messages = messages.to_vec();
        for message in &mut messages {
            match self.fault {
                Fault::TrimsTexts => message.text = message.text.trim().into(),
                Fault::ForgetsRoles if message.role == ModelRole::Tool => {
                    message.role = ModelRole::User;
                }
                Fault::CutsLongTexts => {
                    message.text.truncate(message.text.floor_char_boundary(LONG_TEXT));
                }
                _ => {}
            }
        }
        match self.fault {
            Fault::SkipsEmptyTexts => messages.retain(|message| !message.text.is_empty()),
            Fault::CutsLongAppends => messages.truncate(100),
            _ => {}
        }
        messages
    }

    /// What the saboteur does not like, although it should.
    fn objects(
        &self,
        operation: &OperationContext,
        messages: &[ConversationMessage],
    ) -> Result<(), PortFailure> {
        let memory = self.memory();
        let is_of = |noted: &&(OperationId, Vec<ConversationMessage>)| noted.0 == operation.id;
        let objects = match self.fault {
            Fault::RefusesEmptyAppends => messages.is_empty(),
            Fault::RefusesRepetition => memory.appended.iter().find(is_of).is_some(),
            Fault::HoldsTheRefused => {
                memory.refused.iter().find(is_of).is_some_and(|noted| noted.1 != messages)
            }
            _ => false,
        };
        if objects { Err(refused()) } else { Ok(()) }
    }

    fn appended_by_any(&self, messages: &[ConversationMessage]) -> bool {
        self.memory().appended.iter().any(|noted| noted.1 == messages)
    }

    fn appended_alike(
        &self,
        operation: &OperationContext,
        messages: &[ConversationMessage],
    ) -> bool {
        let texts = |messages: &[ConversationMessage]| {
            messages.iter().map(|message| message.text.clone()).collect::<Vec<_>>()
        };
        let memory = self.memory();
        let mut of_it = memory.appended.iter().filter(|noted| noted.0 == operation.id);
        of_it.any(|noted| texts(&noted.1) == texts(messages))
    }

    async fn append_one_by_one(
        &self,
        operation: &OperationContext,
        messages: &[ConversationMessage],
    ) -> Result<(), PortFailure> {
        for (place, message) in messages.iter().enumerate() {
            let id = OperationId::new(format!("{} {place}", operation.id));
            let id = id.unwrap_or_else(|_| new_id());
            let operation = OperationContext { id, ..operation.clone() };
            self.honest.append(&operation, std::slice::from_ref(message)).await?;
            sleep(A_MOMENT).await;
        }
        Ok(())
    }

    async fn append_and_deny(
        &self,
        operation: &OperationContext,
        messages: &[ConversationMessage],
    ) -> Result<(), PortFailure> {
        self.honest.append(operation, messages).await?;
        operation.bounded(sleep(10 * A_MOMENT)).await.map_err(Interruption::before_sending)
    }

    /// Says that nothing was appended, and then it is.
    async fn append_later(
        &self,
        operation: &OperationContext,
        messages: &[ConversationMessage],
    ) -> Result<(), PortFailure> {
        operation.remaining()?;
        let waited = operation.bounded(sleep(5 * A_MOMENT)).await;
        let (honest, later, messages) = (self.honest.clone(), deaf(operation), messages.to_vec());
        let append = async move { honest.append(&later, &messages).await };
        let Err(interruption) = waited else { return append.await };
        tokio::spawn(async move {
            sleep(10 * A_MOMENT).await;
            append.await
        });
        Err(interruption.before_sending())
    }

    async fn append_alone(
        &self,
        operation: &OperationContext,
        messages: &[ConversationMessage],
    ) -> Result<(), PortFailure> {
        if self.memory().under_way > 0 {
            return Err(refused());
        }
        self.memory().under_way += 1;
        sleep(A_MOMENT).await;
        let outcome = self.honest.append(operation, messages).await;
        self.memory().under_way -= 1;
        outcome
    }

    async fn look_and_append(
        &self,
        operation: &OperationContext,
        messages: &[ConversationMessage],
    ) -> Result<(), PortFailure> {
        operation.remaining()?;
        let is_known = self.appended_alike(operation, messages);
        sleep(A_MOMENT).await;
        match is_known {
            true => Ok(()),
            false => self.honest.append(&fresh(operation), messages).await,
        }
    }
}

fn new_id() -> OperationId {
    OperationId::from(Uuid::new_v4())
}

/// The same operation under another name.
fn fresh(operation: &OperationContext) -> OperationContext {
    OperationContext { id: new_id(), ..operation.clone() }
}

/// An append that takes place when nobody waits for the first one any more.
struct Again(Option<(Session, OperationContext, Vec<ConversationMessage>)>);

impl Again {
    fn when_dropped(
        honest: &Session,
        operation: &OperationContext,
        messages: &[ConversationMessage],
    ) -> Self {
        Self(Some((Arc::clone(honest), fresh(&deaf(operation)), messages.to_vec())))
    }

    fn forget(mut self) {
        self.0 = None;
    }
}

impl Drop for Again {
    fn drop(&mut self) {
        if let Some((honest, operation, messages)) = self.0.take() {
            tokio::spawn(async move { honest.append(&operation, &messages).await });
        }
    }
}

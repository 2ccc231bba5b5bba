//! What the saboteur does wrong when it appends.
//!
//! Knows nothing about what is read.

use std::{sync::Arc, time::Duration};

use runtime_ports::{CommitDisposition, Interruption, OperationContext, PortFailure, TraceRecord};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{SabotagedTrace, TraceFault as Fault, deaf, payload, refused};

const A_MOMENT: Duration = Duration::from_millis(1);

impl SabotagedTrace {
    pub(super) async fn append_badly(
        &self,
        operation: &OperationContext,
        event_type: &str,
        payload: Value,
    ) -> Result<(), PortFailure> {
        let execution_id = self.filed(&operation.execution_id);
        let operation = OperationContext { execution_id, ..operation.clone() };
        let event_type = match self.fault {
            Fault::LowersTypes => event_type.to_lowercase(),
            Fault::TrimsTypes => event_type.trim().to_owned(),
            _ => event_type.to_owned(),
        };
        let payload = payload::spoiled(self.fault, payload);
        if self.has_enough(&operation, &payload) {
            return Ok(());
        }
        let outcome = self.appended(&operation, &event_type, payload.clone()).await;
        if outcome.is_ok() {
            let event = (operation.execution_id.clone(), operation.id.clone(), payload.clone());
            self.memory().appended.push(event);
        }
        let Err(mut failure) = outcome else { return outcome };
        match self.fault {
            Fault::SwallowsFailures => return Ok(()),
            Fault::RepeatsSilently if operation.remaining().is_ok() => {
                return self.honest.session.append(&operation, &event_type, payload).await;
            }
            Fault::DeniesTheUnknown => failure.commit = CommitDisposition::NotCommitted,
            Fault::ClaimsItsAppends => failure.commit = CommitDisposition::Committed,
            _ => {}
        }
        Err(failure)
    }

    /// Whether the saboteur has such an event already, as it thinks.
    fn has_enough(&self, operation: &OperationContext, payload: &Value) -> bool {
        let memory = self.memory();
        let mut of_run = memory.appended.iter().filter(|event| event.0 == operation.execution_id);
        match self.fault {
            Fault::DropsEqualEvents => of_run.any(|event| event.2 == *payload),
            Fault::KeepsOnePerOperation => of_run.any(|event| event.1 == operation.id),
            _ => false,
        }
    }

    async fn appended(
        &self,
        operation: &OperationContext,
        event_type: &str,
        payload: Value,
    ) -> Result<(), PortFailure> {
        let honest = &self.honest.session;
        match self.fault {
            Fault::AppendsAnyway => honest.append(&deaf(operation), event_type, payload).await,
            Fault::KeepsHalves => self.append_in_halves(operation, event_type, payload).await,
            Fault::AppendsLater => self.append_later(operation, event_type, payload).await,
            Fault::TakesNumbersEarly | Fault::AppendsOneAtATime | Fault::RacesForNumbers => {
                self.append_under_way(operation, event_type, payload).await
            }
            Fault::ShowsTheLaterFirst => {
                self.memory().under_way += 1;
                sleep(A_MOMENT).await;
                let outcome = honest.append(operation, event_type, payload).await;
                self.memory().under_way -= 1;
                outcome
            }
            Fault::DeniesItsAppends => {
                honest.append(operation, event_type, payload).await?;
                let waited = operation.bounded(sleep(10 * A_MOMENT)).await;
                waited.map_err(Interruption::before_sending)
            }
            Fault::WaitsItOut => {
                operation.remaining()?;
                honest.append(&deaf(operation), event_type, payload).await?;
                operation.remaining().map(drop)
            }
            _ => honest.append(operation, event_type, payload).await,
        }
    }

    /// The event stands there without its payload until that is there, too.
    async fn append_in_halves(
        &self,
        operation: &OperationContext,
        event_type: &str,
        payload: Value,
    ) -> Result<(), PortFailure> {
        operation.remaining()?;
        let sequence = self.memory().appended.len() as u64 + 1;
        let half =
            TraceRecord { sequence, event_type: event_type.to_owned(), payload: json!(null) };
        self.memory().half = Some((operation.execution_id.clone(), half));
        sleep(A_MOMENT).await;
        self.memory().half = None;
        self.honest.session.append(operation, event_type, payload).await
    }

    /// Says that nothing was appended, and then it is.
    async fn append_later(
        &self,
        operation: &OperationContext,
        event_type: &str,
        payload: Value,
    ) -> Result<(), PortFailure> {
        operation.remaining()?;
        let waited = operation.bounded(sleep(5 * A_MOMENT)).await;
        let (honest, later) = (Arc::clone(&self.honest.session), deaf(operation));
        let event_type = event_type.to_owned();
        let append = async move { honest.append(&later, &event_type, payload).await };
        let Err(interruption) = waited else { return append.await };
        tokio::spawn(async move {
            sleep(10 * A_MOMENT).await;
            append.await
        });
        Err(interruption.before_sending())
    }

    /// Counts the appends that are under way. Whoever is dropped here is counted for ever.
    async fn append_under_way(
        &self,
        operation: &OperationContext,
        event_type: &str,
        payload: Value,
    ) -> Result<(), PortFailure> {
        operation.remaining()?;
        let is_alone = self.fault == Fault::AppendsOneAtATime;
        if is_alone && self.memory().under_way > 0 {
            return Err(refused());
        }
        let number = self.memory().appended.len() as u64 + 1;
        self.memory().under_way += 1;
        sleep(A_MOMENT).await;
        let outcome = self.honest.session.append(operation, event_type, payload).await;
        let mut memory = self.memory();
        memory.under_way -= 1;
        memory.given.push(number);
        outcome
    }
}

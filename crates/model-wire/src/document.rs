//! Decides how a document of a server is asked for, such as the list of its models.
//!
//! Knows nothing about what it says.

use runtime_ports::PortFailure;
use serde_json::Value;
use tokio::time::Instant;

use crate::{
    connection,
    exchange::Exchange,
    failure, json,
    refusal::Refusal,
    response::{self, Asked, Response, Stop, Unanswered, Unreachable},
    retry_after,
};

impl Exchange<'_> {
    /// Asks for the JSON document at `path`.
    ///
    /// # Cancellation
    /// Nothing remains: the request only reads.
    ///
    /// # Errors
    /// As of a model call.
    pub async fn get(&self, path: &str) -> Result<Value, PortFailure> {
        self.document(path).await.map_err(|failure| self.client.redacted(failure))
    }

    async fn document(&self, path: &str) -> Result<Value, PortFailure> {
        let timeouts = self.timeouts();
        let until = Instant::now() + timeouts.connect.saturating_add(timeouts.head);
        let asked = response::ask(self.client, self.operation, path, Asked::Get).await;
        let mut response = asked.map_err(|unanswered| self.unanswered(unanswered))?;
        let head = response.head().clone();
        let body = self.bounded_body(&mut response, until).await;
        response.end(self.operation).await;
        let body = body.map_err(|stop| self.stopped(stop))?;
        if !head.status.is_success() {
            let wait = retry_after::wait_of_headers(&head.headers, head.at);
            return Err(failure::of_status(head.status, &Refusal::of_body(&body), wait));
        }
        json::read(&body).map_err(|_| {
            failure::broken("MALFORMED_DOCUMENT", "the provider's document is no json")
        })
    }

    pub(crate) fn unanswered(&self, unanswered: Unanswered) -> PortFailure {
        let origin = self.client.origin();
        match unanswered {
            Unanswered::Tape(failure) => failure,
            Unanswered::Unreachable(unreachable) => connection::failure(&unreachable, &origin),
            Unanswered::TimedOut { sent } => connection::head_timeout(sent, &origin),
            Unanswered::Interrupted { interruption, .. } => interruption.in_flight(),
        }
    }

    fn stopped(&self, stop: Stop) -> PortFailure {
        let origin = self.client.origin();
        match stop {
            Stop::Interrupted(interruption) => interruption.in_flight(),
            Stop::TimedOut => connection::head_timeout(true, &origin),
            Stop::Broken => {
                let (sent, reason) = (true, String::new());
                connection::failure(&Unreachable { sent, reason }, &origin)
            }
        }
    }

    async fn bounded_body(&self, response: &mut Response, until: Instant) -> Result<Vec<u8>, Stop> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk(self.operation, until).await? {
            if body.len() + chunk.len() > self.client.event_limit() {
                break;
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

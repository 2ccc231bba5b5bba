//! Decides how a document of a server is asked for, such as the list of its models.
//!
//! Knows nothing about what it says.

use std::time::SystemTime;

use reqwest::Response;
use runtime_ports::PortFailure;
use serde_json::Value;
use tokio::time::timeout;

use crate::{connection, exchange::Exchange, failure, json, refusal::Refusal, retry_after};

impl Exchange<'_> {
    /// Asks for the JSON document at `path`.
    ///
    /// # Cancellation
    /// Nothing remains: the request only reads.
    ///
    /// # Errors
    /// As of a model call.
    pub async fn get(&self, path: &str) -> Result<Value, PortFailure> {
        let request = self.client.get(path);
        let patience = self.timeouts().connect.saturating_add(self.timeouts().head);
        let origin = self.client.origin();
        let work = timeout(patience, async {
            let response = request.send().await?;
            let (status, wait) = (response.status(), wait_of(&response));
            Ok((status, wait, bounded_body(response, self.client.event_limit()).await?))
        });
        let answer = self.operation.bounded(work).await.map_err(|stopped| stopped.in_flight())?;
        let answer = answer.map_err(|_| connection::head_timeout(true, &origin))?;
        let (status, wait, body) =
            answer.map_err(|error: reqwest::Error| connection::failure(&error, true, &origin))?;
        if !status.is_success() {
            return Err(failure::of_status(status, &Refusal::of_body(&body), wait));
        }
        json::read(&body).map_err(|_| {
            failure::broken("MALFORMED_DOCUMENT", "the provider's document is no json")
        })
    }
}

fn wait_of(response: &Response) -> Option<std::time::Duration> {
    retry_after::wait_of_headers(response.headers(), SystemTime::now())
}

async fn bounded_body(mut response: Response, limit: usize) -> Result<Vec<u8>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > limit {
            break;
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

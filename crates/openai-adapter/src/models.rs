//! Decides which models a server says that it serves.
//!
//! Knows nothing about what they can do: the lists of different servers agree on names alone.

use std::time::SystemTime;

use reqwest::Response;
use runtime_ports::PortFailure;
use serde_json::Value;
use tokio::time::timeout;

use crate::{
    answer::{filled, list},
    connection,
    exchange::Exchange,
    failure, json,
    refusal::Refusal,
    retry_after,
};

impl Exchange<'_> {
    /// Asks the server for its models.
    pub(crate) async fn list_models(&self) -> Result<Vec<String>, PortFailure> {
        let request = self.client.get("models");
        let patience = self.timeouts.connect.saturating_add(self.timeouts.head);
        let origin = self.client.origin();
        let work = timeout(patience, async {
            let response = request.send().await?;
            let (status, wait) = (response.status(), wait_of(&response));
            Ok((status, wait, bounded_body(response, self.event_limit).await?))
        });
        let answer = self.operation.bounded(work).await.map_err(|stopped| stopped.in_flight())?;
        let answer = answer.map_err(|_| connection::head_timeout(true, &origin))?;
        let (status, wait, body) =
            answer.map_err(|error: reqwest::Error| connection::failure(&error, true, &origin))?;
        if !status.is_success() {
            return Err(failure::of_status(status, &Refusal::of_body(&body), wait));
        }
        let value = json::read(&body).map_err(|_| {
            failure::broken("MALFORMED_LIST", "the provider's list of models is no json")
        })?;
        Ok(names(&value))
    }
}

fn wait_of(response: &Response) -> Option<std::time::Duration> {
    retry_after::of_headers(response.headers(), SystemTime::now())
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

/// Most servers list objects with an `id` under `data`; some call it `models` and `name`.
fn names(value: &Value) -> Vec<String> {
    let listed = list(value, "data").iter().chain(list(value, "models"));
    let name =
        |model: &Value| filled(model, "id").or_else(|| filled(model, "name")).map(str::to_owned);
    let mut names: Vec<String> = listed.filter_map(name).collect();
    names.dedup();
    names
}

#[cfg(test)]
mod tests;

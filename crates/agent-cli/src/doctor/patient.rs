//! Decides how questions reach the server that is examined, within time, and what is known so far.
//!
//! Knows the server, what it was found to be like, and what that has cost. Refuses to know what is
//! to be tried.

use std::time::Duration;

use model_wire::{Endpoint, Exchange, HangUp, HttpClient, KeyHeader, Timeouts};
use openai_adapter::{Api, ServerProfile};
use runtime_ports::{DiscardDeltas, OperationContext, PortFailure};
use serde_json::Value;

use super::{
    ask::{Ask, Dialect},
    finding::{Finding, Probe, Verdict},
    place::Place,
    report::Tally,
    seen::Seen,
};

/// Longest wait for one answer.
const ONE_ANSWER: Duration = Duration::from_secs(60);

/// A server under examination.
pub(crate) struct Patient {
    pub(crate) api: Api,
    pub(crate) model: String,
    pub(crate) endpoint: Endpoint,
    pub(crate) profile: ServerProfile,
    pub(crate) findings: Vec<Finding>,
    pub(crate) requests: u32,
    pub(crate) tokens: Tally,
    /// How long the first bytes of a short answer take.
    pub(crate) usual: Option<Duration>,
    /// Why nothing more can be tried.
    pub(crate) over: Option<PortFailure>,
    client: HttpClient,
    operation: OperationContext,
}

impl Patient {
    /// The server of a place; what is known of it already is where the examination begins. Nothing
    /// is sent yet.
    ///
    /// # Errors
    /// The address or the key cannot be used.
    pub(crate) fn new(
        place: Place,
        operation: OperationContext,
    ) -> Result<Self, openai_adapter::BuildError> {
        let Place { api, mut endpoint, profile, .. } = place;
        let profile = profile.unwrap_or_else(|| ServerProfile::of_base_url(&endpoint.base_url));
        if let Some(name) = &profile.key_header {
            endpoint.key_header = KeyHeader::Named(name.clone());
        }
        endpoint.timeouts = Timeouts {
            connect: Duration::from_secs(10),
            head: ONE_ANSWER,
            idle: Duration::from_secs(20),
            tail: Duration::from_secs(2),
        };
        Ok(Self {
            api,
            model: String::new(),
            client: HttpClient::new(&endpoint)?,
            endpoint,
            profile,
            findings: Vec::new(),
            requests: 0,
            tokens: Tally::default(),
            usual: None,
            over: None,
            operation,
        })
    }

    pub(crate) const fn operation(&self) -> &OperationContext {
        &self.operation
    }

    /// Asks, and takes whatever comes.
    pub(crate) async fn ask(&mut self, ask: &Ask) -> Seen {
        self.ask_until(ask, HangUp::AtTheEnd).await
    }

    /// The same, with an end of this side's choice.
    pub(crate) async fn ask_until(&mut self, ask: &Ask, hang_up: HangUp) -> Seen {
        let body = ask.body(&self.model, self.dialect());
        let path = self.path();
        self.send(&path, Some(body), hang_up).await
    }

    /// What requests to it depend on.
    pub(crate) const fn dialect(&self) -> Dialect {
        Dialect { api: self.api, limit: self.profile.max_tokens_field }
    }

    /// The list of models.
    pub(crate) async fn models(&mut self) -> Seen {
        let path = self.with_version(&self.profile.models_path.clone());
        self.send(&path, None, HangUp::AtTheEnd).await
    }

    async fn send(&mut self, path: &str, body: Option<Value>, hang_up: HangUp) -> Seen {
        let operation = self.operation.clone().within(ONE_ANSWER);
        let exchange =
            Exchange { client: &self.client, operation: &operation, sink: &DiscardDeltas };
        self.requests += 1;
        let is_question = body.is_some();
        let body = body.map(|body| body.to_string().into_bytes().into());
        let seen = match exchange.raw(path, body, hang_up).await {
            Ok(raw) => Seen::of(self.api, &raw),
            Err(failure) => Seen::nothing(failure),
        };
        // A list of models has none, and a refusal costs none.
        if is_question && (200..300).contains(&seen.status) {
            self.tokens.add(seen.usage.input_tokens, seen.usage.output_tokens);
        }
        seen
    }

    fn path(&self) -> String {
        let path = match self.api {
            Api::Chat => &self.profile.chat_path,
            Api::Responses => &self.profile.responses_path,
        };
        self.with_version(&path.replace("{model}", &self.model))
    }

    fn with_version(&self, path: &str) -> String {
        let is_given = self.endpoint.base_url.contains("api-version=");
        match self.profile.api_version.as_ref().filter(|_| !is_given) {
            Some(version) => format!("{path}?api-version={version}"),
            None => path.to_owned(),
        }
    }

    pub(crate) fn find(&mut self, probe: Probe, verdict: Verdict, came: impl Into<String>) {
        self.findings.push(Finding { probe, verdict, came: came.into() });
    }

    /// A probe that is passed over.
    pub(crate) fn pass_over(&mut self, probe: Probe, why: impl Into<String>) {
        self.find(probe, Verdict::Untested, why);
    }

    /// Whether there is time, and somebody who wants to know.
    pub(crate) fn goes_on(&self) -> bool {
        self.over.is_none() && self.operation.remaining().is_ok()
    }
}

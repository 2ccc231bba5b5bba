//! Decides how questions reach the server that is examined, within time, and what is known so far.
//!
//! Knows the server, what it was found to be like, and what that has cost. Refuses to know what is
//! to be tried.

use std::time::Duration;

use model_wire::{BuildError, Endpoint, Exchange, HangUp, HttpClient, KeyHeader, Timeouts};
use openai_adapter::ServerProfile;
use runtime_ports::{DiscardDeltas, OperationContext, PortFailure};
use runtime_types::CredentialHandle;
use serde_json::Value;

use super::{
    ask::{Ask, Dialect, Manner},
    finding::{Finding, Probe, Verdict},
    place::Place,
    report::Tally,
    seen::Seen,
};
use crate::endpoint::Api;

/// Longest wait for one answer.
const ONE_ANSWER: Duration = Duration::from_secs(60);

/// A server under examination.
pub(crate) struct Patient {
    pub(crate) api: Api,
    /// Which APIs it was found to speak; empty when that was not looked for.
    pub(crate) speaks: Vec<Api>,
    pub(crate) model: String,
    pub(crate) endpoint: Endpoint,
    pub(crate) profile: ServerProfile,
    pub(crate) findings: Vec<Finding>,
    pub(crate) requests: u32,
    pub(crate) tokens: Tally,
    /// How long the first bytes of a short answer take.
    pub(crate) usual: Option<Duration>,
    /// Names of probes that nobody wants.
    pub(crate) left_out: Vec<&'static str>,
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
    pub(crate) fn new(place: Place, operation: OperationContext) -> Result<Self, BuildError> {
        let Place { api, mut endpoint, profile, .. } = place;
        let profile = profile.unwrap_or_else(|| ServerProfile::of_base_url(&endpoint.base_url));
        endpoint.timeouts = Timeouts {
            connect: Duration::from_secs(10),
            head: ONE_ANSWER,
            // Long prompts are read in silence.
            idle: ONE_ANSWER,
            tail: Duration::from_secs(2),
        };
        dress(&mut endpoint, api, &profile)?;
        Ok(Self {
            api,
            speaks: Vec::new(),
            model: String::new(),
            client: HttpClient::new(&endpoint)?,
            endpoint,
            profile,
            findings: Vec::new(),
            requests: 0,
            tokens: Tally::default(),
            usual: None,
            left_out: Vec::new(),
            over: None,
            operation,
        })
    }

    /// Speaks another API from now on.
    ///
    /// # Errors
    /// As of a new one.
    pub(crate) fn speak(&mut self, api: Api) -> Result<(), BuildError> {
        dress(&mut self.endpoint, api, &self.profile)?;
        self.client = HttpClient::new(&self.endpoint)?;
        self.api = api;
        Ok(())
    }

    /// Whether the adapter of this API takes a profile of a server.
    pub(crate) const fn has_profile(&self) -> bool {
        matches!(self.api, Api::Chat | Api::Responses)
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
        let path = self.path(ask.manner);
        self.send(&path, Some(body), hang_up).await
    }

    /// What requests to it depend on.
    pub(crate) const fn dialect(&self) -> Dialect {
        Dialect { api: self.api, limit: self.profile.max_tokens_field }
    }

    /// The list of models.
    pub(crate) async fn models(&mut self) -> Seen {
        let path = match self.api {
            Api::Chat | Api::Responses => self.with_version(&self.profile.models_path),
            Api::Messages => "models?limit=1000".to_owned(),
            Api::Gemini => "models?pageSize=1000".to_owned(),
        };
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

    fn path(&self, manner: Manner) -> String {
        let path = match (self.api, manner) {
            (Api::Chat, _) => &self.profile.chat_path,
            (Api::Responses, _) => &self.profile.responses_path,
            (Api::Messages, _) => return "messages".to_owned(),
            (Api::Gemini, Manner::Whole) => return self.method("generateContent"),
            (Api::Gemini, _) => return self.method("streamGenerateContent?alt=sse"),
        };
        self.with_version(&path.replace("{model}", &self.model))
    }

    fn method(&self, name: &str) -> String {
        let collection = if self.model.contains('/') { "" } else { "models/" };
        format!("{collection}{}:{name}", self.model)
    }

    fn with_version(&self, path: &str) -> String {
        let is_given = self.endpoint.base_url.contains("api-version=");
        match self.profile.api_version.as_ref().filter(|_| !is_given) {
            Some(version) => format!("{path}?api-version={version}"),
            None => path.to_owned(),
        }
    }

    /// What came of a probe. One that makes no sense here has no finding.
    pub(crate) fn find(&mut self, probe: Probe, verdict: Verdict, came: impl Into<String>) {
        if self.makes_sense(probe) {
            self.findings.push(Finding { probe, verdict, came: came.into() });
        }
    }

    /// A probe that is passed over.
    pub(crate) fn pass_over(&mut self, probe: Probe, why: impl Into<String>) {
        self.find(probe, Verdict::Untested, why);
    }

    /// Whether a probe says something about a server of this API.
    pub(crate) fn makes_sense(&self, probe: Probe) -> bool {
        probe.apis.contains(&self.api) && !self.left_out.contains(&probe.name)
    }

    /// Whether a probe is tried: it makes sense, and there is time.
    pub(crate) fn tries(&self, probe: Probe) -> bool {
        self.makes_sense(probe) && self.goes_on()
    }

    /// Whether there is time, and somebody who wants to know.
    pub(crate) fn goes_on(&self) -> bool {
        self.over.is_none() && self.operation.remaining().is_ok()
    }
}

/// Headers as the API wants them.
fn dress(endpoint: &mut Endpoint, api: Api, profile: &ServerProfile) -> Result<(), BuildError> {
    let named = |name: &str| KeyHeader::Named(name.to_owned());
    endpoint.headers.clear();
    endpoint.key_header = match api {
        Api::Chat | Api::Responses => {
            profile.key_header.as_deref().map_or(KeyHeader::Bearer, named)
        }
        Api::Messages => {
            let version = CredentialHandle::new("2023-06-01");
            endpoint.headers.push(("anthropic-version".to_owned(), version));
            named("x-api-key")
        }
        // A key in an address ends up in logs; the adapter takes none there.
        Api::Gemini if has_key(&endpoint.base_url) => return Err(BuildError::CredentialInUrl),
        Api::Gemini => named("x-goog-api-key"),
    };
    Ok(())
}

fn has_key(base_url: &str) -> bool {
    let query = base_url.split_once('?').map_or("", |(_, query)| query);
    query.split('&').any(|pair| pair.starts_with("key="))
}

//! Decides how this process talks HTTP: to which address, with which headers, and with nothing that
//! the library would do by itself.
//!
//! Knows nothing about what is said. Invariant: no retry, no redirect, no proxy from the
//! environment; the key travels in a header that is never printed, and never in the clear except to
//! this machine; a client that replays a tape has no network.

use std::{fmt, net::IpAddr, sync::Arc};

use reqwest::{
    Body, Client, RequestBuilder, Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT},
    redirect, retry,
};
use runtime_ports::PortFailure;
use runtime_types::CredentialHandle;

use crate::{
    endpoint::{BuildError, Endpoint, KeyHeader, Timeouts},
    response::Asked,
    sent_body::{SentBody, SentFlag},
    tape::{Recorder, Replay, Secrets, Tape},
    tls,
};

/// A client for one server.
pub struct HttpClient {
    wire: Wire,
    base: Url,
    headers: HeaderMap,
    credential: Option<CredentialHandle>,
    timeouts: Timeouts,
    event_limit: usize,
    place: String,
}

/// Where requests go.
enum Wire {
    Network(Client, Option<Arc<Recorder>>),
    Tape(Arc<Replay>),
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HttpClient").field("origin", &self.origin()).finish_non_exhaustive()
    }
}

impl HttpClient {
    /// A client for the server of `endpoint`. Nothing is sent yet.
    ///
    /// # Errors
    /// [`BuildError`], which says what to change.
    pub fn new(endpoint: &Endpoint) -> Result<Self, BuildError> {
        let base = checked_base(&endpoint.base_url, endpoint.credential.is_some())?;
        let headers = all_headers(endpoint)?;
        let wire = match &endpoint.tape {
            Tape::None => Wire::Network(network(&base, &endpoint.timeouts)?, None),
            Tape::Record(recorder) => {
                recorder.keep_secret(Secrets::of(endpoint, &base));
                Wire::Network(network(&base, &endpoint.timeouts)?, Some(Arc::clone(recorder)))
            }
            Tape::Replay(replay) => Wire::Tape(Arc::clone(replay)),
        };
        let place = place_of(&base);
        let credential = endpoint.credential.clone();
        let (timeouts, event_limit) = (endpoint.timeouts, endpoint.event_limit);
        Ok(Self { wire, base, headers, credential, timeouts, event_limit, place })
    }

    /// How long each phase of a request may take.
    #[must_use]
    pub const fn timeouts(&self) -> &Timeouts {
        &self.timeouts
    }

    /// Most bytes of one event.
    #[must_use]
    pub const fn event_limit(&self) -> usize {
        self.event_limit
    }

    /// Scheme, host and port of the server; safe to print.
    #[must_use]
    pub fn origin(&self) -> String {
        self.base.origin().ascii_serialization()
    }

    /// A request, whose body raises `flag` when it begins to leave; `None` where there is no
    /// network.
    pub(crate) fn request(
        &self,
        path: &str,
        asked: Asked,
        flag: &SentFlag,
    ) -> Option<RequestBuilder> {
        let Wire::Network(client, _) = &self.wire else { return None };
        let url = self.endpoint(path);
        Some(match asked {
            Asked::Get => client.get(url).headers(self.headers.clone()),
            Asked::Post(body) => client
                .post(url)
                .headers(self.headers.clone())
                .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
                .body(Body::wrap(SentBody::new(body, flag.clone()))),
        })
    }

    /// The tape that answers in place of the server.
    pub(crate) const fn replay(&self) -> Option<&Arc<Replay>> {
        match &self.wire {
            Wire::Tape(replay) => Some(replay),
            Wire::Network(..) => None,
        }
    }

    /// Who keeps what is said.
    pub(crate) const fn recorder(&self) -> Option<&Arc<Recorder>> {
        match &self.wire {
            Wire::Network(_, recorder) => recorder.as_ref(),
            Wire::Tape(_) => None,
        }
    }

    /// The base URL without its query, as tapes name the server.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// The same text without the key, should a server have echoed it.
    #[must_use]
    pub fn without_key(&self, text: String) -> String {
        let key = self.credential.as_ref().map(CredentialHandle::expose).unwrap_or_default();
        if key.is_empty() { text } else { text.replace(key, "[redacted]") }
    }

    /// The same failure without the key: servers echo it in places where nobody expects it.
    pub(crate) fn redacted(&self, mut failure: PortFailure) -> PortFailure {
        failure.message = self.without_key(failure.message);
        failure
    }

    fn endpoint(&self, path: &str) -> Url {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let mut url = self.base.clone();
        url.set_path(&format!("{}/{path}", self.base.path().trim_end_matches('/')));
        if !query.is_empty() {
            let queries: Vec<&str> = self.base.query().into_iter().chain([query]).collect();
            url.set_query(Some(&queries.join("&")));
        }
        url
    }
}

fn network(base: &Url, timeouts: &Timeouts) -> Result<Client, BuildError> {
    let secure = base.scheme() == "https";
    let tls = if secure { tls::platform() } else { tls::none() };
    Client::builder()
        .tls_backend_preconfigured(tls.ok_or(BuildError::NoCertificates)?)
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .no_proxy()
        .referer(false)
        .connect_timeout(timeouts.connect)
        .build()
        .map_err(|_| BuildError::Client)
}

/// Scheme, host, port and path. A query may hold a key.
fn place_of(base: &Url) -> String {
    let path = base.path().trim_end_matches('/');
    format!("{}{path}", base.origin().ascii_serialization())
}

fn checked_base(base: &str, has_key: bool) -> Result<Url, BuildError> {
    let mut url = Url::parse(base.trim()).map_err(|_| BuildError::InvalidBaseUrl)?;
    url.set_fragment(None);
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(BuildError::InvalidBaseUrl);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(BuildError::CredentialInUrl);
    }
    if has_key && url.scheme() == "http" && !is_loopback(&url) {
        return Err(BuildError::PlaintextCredential);
    }
    Ok(url)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

fn all_headers(endpoint: &Endpoint) -> Result<HeaderMap, BuildError> {
    let mut headers = HeaderMap::new();
    let agent = concat!("agent-runtime/", env!("CARGO_PKG_VERSION"));
    headers.insert(USER_AGENT, HeaderValue::from_static(agent));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
    for (name, value) in &endpoint.headers {
        headers.insert(
            header_name(name)?,
            hidden(value.expose(), || BuildError::InvalidHeader(name.clone()))?,
        );
    }
    if let Some(credential) = &endpoint.credential {
        let key = credential.expose();
        let (name, value) = match &endpoint.key_header {
            KeyHeader::Bearer => (AUTHORIZATION, format!("Bearer {key}")),
            KeyHeader::Named(name) => (header_name(name)?, key.to_owned()),
        };
        headers.insert(name, hidden(&value, || BuildError::InvalidCredential)?);
    }
    Ok(headers)
}

fn header_name(name: &str) -> Result<HeaderName, BuildError> {
    name.parse().map_err(|_| BuildError::InvalidHeader(name.to_owned()))
}

fn hidden(value: &str, error: impl FnOnce() -> BuildError) -> Result<HeaderValue, BuildError> {
    let mut value = HeaderValue::from_str(value).map_err(|_| error())?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests;

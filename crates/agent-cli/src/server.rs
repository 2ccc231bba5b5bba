//! Decides which adapter speaks to a model server.
//!
//! Knows the adapters of all APIs. Refuses to know which server is asked what.

use std::sync::Arc;

use anthropic_adapter::AnthropicSession;
use anyhow::Context;
use gemini_adapter::GeminiSession;
use model_wire::Tape;
use openai_adapter::{OpenAiSession, ServerProfile};
use runtime_ports::{ModelProfile, ModelSession, OperationContext, PortFailure};

use crate::{
    diagnosis::Diagnosis,
    endpoint::{Api, Endpoint, Profile},
};

const CHECK_ENDPOINT: &str = "check OPENAI_BASE_URL and OPENAI_API_KEY (those of the vendor for \
                              its models), or base_url, api_key_env and profile in the \
                              configuration file";

/// A model server, spoken to in its API.
#[derive(Clone)]
pub(crate) enum Server {
    OpenAi(Arc<OpenAiSession>),
    Anthropic(Arc<AnthropicSession>),
    Gemini(Arc<GeminiSession>),
}

impl Server {
    /// Makes the session for an endpoint; nothing is sent yet. `known` are profiles of its models.
    ///
    /// # Errors
    /// The endpoint is not safe, or its profile cannot be read.
    pub(crate) fn at(
        endpoint: &Endpoint,
        known: &[(String, ModelProfile)],
        tape: &Tape,
    ) -> Result<Self, Diagnosis> {
        let server = match endpoint.api {
            Api::Chat => openai(endpoint, openai_adapter::Api::Chat, tape),
            Api::Responses => openai(endpoint, openai_adapter::Api::Responses, tape),
            Api::Messages => anthropic(endpoint, known, tape),
            Api::Gemini => gemini(endpoint, known, tape),
        };
        server.map_err(|error| Diagnosis::configuration(&error).with_hint(CHECK_ENDPOINT))
    }

    pub(crate) fn session(&self) -> Arc<dyn ModelSession> {
        match self {
            Self::OpenAi(session) => Arc::<OpenAiSession>::clone(session),
            Self::Anthropic(session) => Arc::<AnthropicSession>::clone(session),
            Self::Gemini(session) => Arc::<GeminiSession>::clone(session),
        }
    }

    /// Names of the models that the server lists.
    ///
    /// # Errors
    /// Those of a call.
    pub(crate) async fn list_models(
        &self,
        operation: &OperationContext,
    ) -> Result<Vec<String>, PortFailure> {
        match self {
            Self::OpenAi(session) => session.list_models(operation).await,
            Self::Anthropic(session) => session.list_models(operation).await,
            Self::Gemini(session) => session.list_models(operation).await,
        }
    }
}

fn openai(endpoint: &Endpoint, api: openai_adapter::Api, tape: &Tape) -> anyhow::Result<Server> {
    let mut builder = OpenAiSession::builder(&endpoint.base_url).api(api).tape(tape.clone());
    if let Some(key) = &endpoint.key {
        builder = builder.credential(key.clone());
    }
    if let Some(profile) = &endpoint.profile {
        builder = builder.server_profile(server_profile(profile)?);
    }
    Ok(Server::OpenAi(Arc::new(builder.build()?)))
}

fn anthropic(
    endpoint: &Endpoint,
    known: &[(String, ModelProfile)],
    tape: &Tape,
) -> anyhow::Result<Server> {
    no_profile(endpoint)?;
    let mut builder = AnthropicSession::builder(&endpoint.base_url).tape(tape.clone());
    if let Some(key) = &endpoint.key {
        builder = builder.credential(key.clone());
    }
    for (model, profile) in known {
        builder = builder.profile(model.as_str(), profile.clone());
    }
    Ok(Server::Anthropic(Arc::new(builder.build()?)))
}

fn gemini(
    endpoint: &Endpoint,
    known: &[(String, ModelProfile)],
    tape: &Tape,
) -> anyhow::Result<Server> {
    no_profile(endpoint)?;
    let mut builder = GeminiSession::builder(&endpoint.base_url).tape(tape.clone());
    if let Some(key) = &endpoint.key {
        builder = builder.credential(key.clone());
    }
    for (model, profile) in known {
        builder = builder.profile(model.as_str(), profile.clone());
    }
    Ok(Server::Gemini(Arc::new(builder.build()?)))
}

/// The profile of a server, read.
///
/// # Errors
/// It cannot be read, or is none.
pub(crate) fn server_profile(profile: &Profile) -> anyhow::Result<ServerProfile> {
    let (text, shown) = (profile.text()?, profile.shown());
    ServerProfile::from_toml(&text).with_context(|| format!("the server profile {shown} is wrong"))
}

/// A profile that nothing would read must not seem to count.
fn no_profile(endpoint: &Endpoint) -> anyhow::Result<()> {
    match &endpoint.profile {
        Some(_) => anyhow::bail!("a server profile is for the api chat or responses"),
        None => Ok(()),
    }
}

//! Decides which model is used, from the command line, the environment and the user's file.
//!
//! Knows the order of the three. Refuses to read anything from the folder that the agent works
//! on: a project must not choose where keys are sent.

use std::{io::ErrorKind, path::Path};

use anyhow::{Context, anyhow, bail};
use offline_adapter::OFFLINE_MODEL;
use runtime_types::CredentialHandle;
use serde::Deserialize;

use crate::endpoint::{Api, Endpoint, PUBLIC_BASE_URL};

/// The model that a key for the public endpoint gets when none is named.
pub(crate) const PUBLIC_DEFAULT_MODEL: &str = "gpt-5-mini";

/// Which model shall do the work.
#[derive(Debug, Clone)]
pub(crate) enum ModelChoice {
    /// The embedded one.
    Offline,
    /// One behind an endpoint; `None` takes the only one that it offers.
    Remote { endpoint: Endpoint, model: Option<String> },
}

/// The user's configuration file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ConfigurationFile {
    /// Model to use.
    pub(crate) model: Option<String>,
    /// Endpoint, for example `http://127.0.0.1:8080/v1`.
    pub(crate) base_url: Option<String>,
    /// `chat` or `responses`.
    pub(crate) api: Option<Api>,
    /// Name of the environment variable that holds the key.
    pub(crate) api_key_env: Option<String>,
}

impl ConfigurationFile {
    /// Reads the file; a missing one is empty.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text)
                .with_context(|| format!("the configuration file {} is wrong", path.display())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| {
                format!("the configuration file {} is unreadable", path.display())
            }),
        }
    }

    /// The error names line and reason and shows none of the text: a key may stand there.
    fn parse(text: &str) -> anyhow::Result<Self> {
        let file: Self = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            anyhow!("line {}: {}", before.matches('\n').count() + 1, error.message())
        })?;
        let is_name =
            |name: &String| name.bytes().all(|at| at.is_ascii_alphanumeric() || at == b'_');
        if !file.api_key_env.as_ref().is_none_or(is_name) {
            bail!("api_key_env must be the name of an environment variable, not the key itself");
        }
        Ok(file)
    }
}

/// Finds the model: the command line, then the environment, then the file; with nothing said
/// anywhere, the offline one. `environment` gives the value of a variable.
pub(crate) fn choose_model(
    named: Option<String>,
    environment: impl Fn(&str) -> Option<String>,
    file: ConfigurationFile,
) -> anyhow::Result<ModelChoice> {
    let filled = |value: &String| !value.trim().is_empty();
    let variable = |name: &str| environment(name).filter(filled);
    let model = named.filter(filled).or_else(|| variable("AGENT_MODEL")).or(file.model);
    if model.as_deref() == Some(OFFLINE_MODEL) {
        return Ok(ModelChoice::Offline);
    }
    let own_url = variable("OPENAI_BASE_URL");
    // The file names a key for its own address; to another address it is not sent.
    let key_variable = match (&own_url, file.api_key_env) {
        (None, Some(named)) => named,
        _ => "OPENAI_API_KEY".to_owned(),
    };
    let key = variable(&key_variable).map(|key| key.trim().to_owned());
    let base_url = own_url.or(file.base_url);
    match (base_url, key, model) {
        (None, None, None) => Ok(ModelChoice::Offline),
        (None, None, Some(model)) => bail!(
            "the model {model} needs a key: set {key_variable}, or OPENAI_BASE_URL for a server \
             without keys; or use the embedded model with --model {OFFLINE_MODEL}"
        ),
        (None, Some(key), model) => {
            let model = model.unwrap_or_else(|| PUBLIC_DEFAULT_MODEL.to_owned());
            remote(PUBLIC_BASE_URL, Some(key), file.api.unwrap_or(Api::Responses), Some(model))
        }
        (Some(url), key, model) => remote(&url, key, file.api.unwrap_or(Api::Chat), model),
    }
}

fn remote(
    base_url: &str,
    key: Option<String>,
    api: Api,
    model: Option<String>,
) -> anyhow::Result<ModelChoice> {
    let key = key.map(CredentialHandle::new);
    let endpoint = Endpoint { base_url: base_url.trim_end_matches('/').to_owned(), api, key };
    Ok(ModelChoice::Remote { endpoint, model })
}

#[cfg(test)]
mod tests;

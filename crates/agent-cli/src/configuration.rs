//! Decides which model is used, from the command line, the environment and the user's file.
//!
//! Knows the order of the three. Refuses to read anything from the folder that the agent works
//! on: a project must not choose where keys are sent.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow, bail};
use offline_adapter::OFFLINE_MODEL;
use serde::Deserialize;

use crate::{
    endpoint::{Api, Endpoint, VENDORS},
    servers::Servers,
};

/// The model that a key for the public endpoint gets when none is named.
pub(crate) const PUBLIC_DEFAULT_MODEL: &str = "gpt-5-mini";

/// Which model shall do the work.
#[derive(Debug, Clone)]
pub(crate) enum ModelChoice {
    /// The embedded one.
    Offline,
    /// One behind an endpoint.
    Remote {
        endpoint: Endpoint,
        /// `None` takes the only one that the endpoint offers.
        model: Option<String>,
        /// Who may serve in its place, in this order.
        fallbacks: Vec<Fallback>,
    },
}

/// A model that may serve in the place of another.
#[derive(Debug, Clone)]
pub(crate) struct Fallback {
    pub(crate) endpoint: Endpoint,
    pub(crate) model: String,
}

/// What the command line says about models.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    pub(crate) model: Option<String>,
    /// When there are some, those of the file do not count.
    pub(crate) fallbacks: Vec<String>,
}

/// The user's configuration file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ConfigurationFile {
    /// Model to use.
    pub(crate) model: Option<String>,
    /// Models that may serve in its place, in this order.
    pub(crate) fallbacks: Vec<String>,
    /// Endpoint, for example `http://127.0.0.1:8080/v1`.
    pub(crate) base_url: Option<String>,
    /// `chat` or `responses`.
    pub(crate) api: Option<Api>,
    /// Name of the environment variable that holds the key.
    pub(crate) api_key_env: Option<String>,
    /// A file that says in what the server at `base_url` departs from its API.
    pub(crate) profile: Option<PathBuf>,
    /// More servers, each with a name.
    pub(crate) providers: Vec<ProviderSection>,
}

/// A server in the user's configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProviderSection {
    /// What it is called before the slash of a model's name.
    pub(crate) name: String,
    /// How to speak to it; that of the public provider of this name, else `chat`.
    #[serde(default)]
    pub(crate) api: Option<Api>,
    /// Its address; that of the public provider of this name when left out.
    #[serde(default)]
    pub(crate) base_url: Option<String>,
    /// Name of the environment variable that holds its key.
    #[serde(default)]
    pub(crate) api_key_env: Option<String>,
    /// A file that says in what it departs from its API.
    #[serde(default)]
    pub(crate) profile: Option<PathBuf>,
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
    pub(crate) fn parse(text: &str) -> anyhow::Result<Self> {
        let file: Self = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            anyhow!("line {}: {}", before.matches('\n').count() + 1, error.message())
        })?;
        let is_name =
            |name: &String| name.bytes().all(|at| at.is_ascii_alphanumeric() || at == b'_');
        let sections = file.providers.iter().map(|section| &section.api_key_env);
        let mut variables = std::iter::once(&file.api_key_env).chain(sections).flatten();
        if !variables.all(is_name) {
            bail!("api_key_env must be the name of an environment variable, not the key itself");
        }
        check_names(&file.providers)?;
        Ok(file)
    }
}

/// A name stands before a slash, once.
fn check_names(sections: &[ProviderSection]) -> anyhow::Result<()> {
    for (place, section) in sections.iter().enumerate() {
        let name = &section.name;
        let is_plain =
            |at: u8| at.is_ascii_alphanumeric() || matches!(at, b'-' | b'_' | b'.' | b':');
        if name.is_empty() || name == OFFLINE_MODEL || !name.bytes().all(is_plain) {
            let rule = "a name of letters, digits, - and _, and not offline";
            bail!("provider number {}: give it {rule}", place + 1);
        }
        if sections[..place].iter().any(|earlier| earlier.name == *name) {
            bail!("provider number {}: its name is given twice", place + 1);
        }
        let is_public = name == "openai" || VENDORS.iter().any(|vendor| vendor.name == name);
        if section.base_url.is_none() && !is_public {
            bail!("provider number {}: give it a base_url", place + 1);
        }
    }
    Ok(())
}

/// Finds the model: the command line, then the environment, then the file; with nothing said
/// anywhere, the offline one. `environment` gives the value of a variable.
pub(crate) fn choose_model(
    wanted: Wanted,
    environment: impl Fn(&str) -> Option<String>,
    file: ConfigurationFile,
) -> anyhow::Result<ModelChoice> {
    let filled = |value: &String| !value.trim().is_empty();
    let variable = |name: &str| environment(name).filter(filled);
    let named = wanted.model.filter(filled);
    let model = named.or_else(|| variable("AGENT_MODEL")).or_else(|| file.model.clone());
    if model.as_deref() == Some(OFFLINE_MODEL) {
        return Ok(ModelChoice::Offline);
    }
    let servers = Servers::of(&variable, &file);
    let Some((endpoint, model)) = servers.serving(model.as_deref())? else {
        return Ok(ModelChoice::Offline);
    };
    let flags = wanted.fallbacks;
    let names = if flags.is_empty() { &file.fallbacks } else { &flags };
    let fallbacks = names.iter().map(|name| fallback(&servers, name));
    Ok(ModelChoice::Remote { endpoint, model, fallbacks: fallbacks.collect::<Result<_, _>>()? })
}

fn fallback(servers: &Servers<'_>, name: &str) -> anyhow::Result<Fallback> {
    if name == OFFLINE_MODEL {
        bail!("the embedded model follows rules and cannot stand in for another as a fallback");
    }
    match servers.serving(Some(name)).context("a fallback cannot be used")? {
        Some((endpoint, Some(model))) => Ok(Fallback { endpoint, model }),
        _ => bail!("the fallback {name:?} names no model"),
    }
}

#[cfg(test)]
mod tests;

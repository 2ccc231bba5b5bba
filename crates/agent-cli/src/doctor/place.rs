//! Decides which server is examined, and with which key.
//!
//! Knows where users name their servers. Invariant: a key goes to the address that it was named
//! with, and to no other.

use std::path::Path;

use anyhow::bail;
use model_wire::Endpoint;
use openai_adapter::{Api, ServerProfile};

use crate::{
    arguments::{DoctorApi, DoctorArguments},
    configuration::{ConfigurationFile, ModelChoice, Wanted, choose_model},
    endpoint, server,
    servers::Servers,
};

/// The server, the API, and the model when one was named; what is known of the server already.
pub(crate) struct Place {
    pub(crate) endpoint: Endpoint,
    pub(crate) api: Api,
    pub(crate) model: Option<String>,
    pub(crate) profile: Option<ServerProfile>,
}

/// Finds the server: the command line, the environment, the file.
pub(crate) fn find(arguments: &DoctorArguments, file: &Path) -> anyhow::Result<Place> {
    let file = ConfigurationFile::read(file)?;
    let (found, model) = match &arguments.base_url {
        Some(address) => (at(address, &file), arguments.model.clone()),
        None => known(arguments, file)?,
    };
    let api = match (arguments.api, found.api) {
        (Some(DoctorApi::Chat), _) | (None, endpoint::Api::Chat) => Api::Chat,
        (Some(DoctorApi::Responses), _) | (None, endpoint::Api::Responses) => Api::Responses,
        (None, endpoint::Api::Messages | endpoint::Api::Gemini) => {
            bail!("only servers with the api chat or responses are examined; name one with --api")
        }
    };
    let profile = found.profile.as_ref().map(server::server_profile).transpose()?;
    let endpoint = Endpoint { credential: found.key, ..Endpoint::new(found.base_url) };
    Ok(Place { endpoint, api, model, profile })
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn known(
    arguments: &DoctorArguments,
    file: ConfigurationFile,
) -> anyhow::Result<(endpoint::Endpoint, Option<String>)> {
    let wanted = Wanted { model: arguments.model.clone(), ..Wanted::default() };
    // Who stands in for a server is not examined.
    let file = ConfigurationFile { fallbacks: Vec::new(), ..file };
    match choose_model(wanted, environment, file)? {
        ModelChoice::Remote { endpoint, model, .. } => Ok((endpoint, model)),
        ModelChoice::Offline => {
            bail!("no server is named; give --base-url, or set OPENAI_BASE_URL")
        }
    }
}

/// The server at an address, with its key if it is set up, and without one otherwise.
fn at(address: &str, file: &ConfigurationFile) -> endpoint::Endpoint {
    let filled = |value: &String| !value.trim().is_empty();
    let variable = |name: &str| environment(name).filter(filled);
    Servers::of(&variable, file).at(address)
}

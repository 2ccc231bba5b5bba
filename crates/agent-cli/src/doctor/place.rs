//! Decides which server is examined, and with which key.
//!
//! Knows where users name their servers. Invariant: a key goes to the address that it was named
//! with, and to no other.

use std::path::Path;

use anyhow::bail;
use model_wire::Endpoint;
use openai_adapter::Api;

use crate::{
    arguments::{DoctorApi, DoctorArguments},
    configuration::{ConfigurationFile, ModelChoice, choose_model},
    endpoint,
};

/// The server, the API, and the model when one was named.
pub(crate) struct Place {
    pub(crate) endpoint: Endpoint,
    pub(crate) api: Api,
    pub(crate) model: Option<String>,
}

/// Finds the server: the command line, the environment, the file.
pub(crate) fn find(arguments: &DoctorArguments, file: &Path) -> anyhow::Result<Place> {
    let file = ConfigurationFile::read(file)?;
    let (found, model) = match &arguments.base_url {
        Some(address) => (at(address, file)?, arguments.model.clone()),
        None => known(arguments, file)?,
    };
    let api = match (arguments.api, found.api) {
        (Some(DoctorApi::Chat), _) | (None, endpoint::Api::Chat) => Api::Chat,
        (Some(DoctorApi::Responses), _) | (None, endpoint::Api::Responses) => Api::Responses,
    };
    let endpoint = Endpoint { credential: found.key, ..Endpoint::new(found.base_url) };
    Ok(Place { endpoint, api, model })
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn known(
    arguments: &DoctorArguments,
    file: ConfigurationFile,
) -> anyhow::Result<(endpoint::Endpoint, Option<String>)> {
    match choose_model(arguments.model.clone(), environment, file)? {
        ModelChoice::Remote { endpoint, model } => Ok((endpoint, model)),
        ModelChoice::Offline => {
            bail!("no server is named; give --base-url, or set OPENAI_BASE_URL")
        }
    }
}

/// The server at an address, with its key if it is set up, and without one otherwise.
fn at(address: &str, file: ConfigurationFile) -> anyhow::Result<endpoint::Endpoint> {
    let address = address.trim().trim_end_matches('/');
    if let Ok(ModelChoice::Remote { endpoint, .. }) =
        choose_model(Some("any".to_owned()), environment, file)
        && endpoint.base_url == address
    {
        return Ok(endpoint);
    }
    let base_url = address.to_owned();
    Ok(endpoint::Endpoint { base_url, api: endpoint::Api::Chat, key: None })
}

//! Decides which server is examined, and with which key.
//!
//! Knows where users name their servers. Invariant: a key goes to the address that it was named
//! with, and to no other.

use std::path::Path;

use anyhow::bail;
use model_wire::Endpoint;
use openai_adapter::ServerProfile;

use crate::{
    arguments::DoctorArguments,
    configuration::{ConfigurationFile, ModelChoice, Wanted, choose_model},
    endpoint::{self, Api, VENDORS},
    server,
    servers::Servers,
};

/// The server, the API, and the model when one was named; what is known of the server already.
pub(crate) struct Place {
    pub(crate) endpoint: Endpoint,
    pub(crate) api: Api,
    /// Whether somebody said which API it speaks.
    pub(crate) is_told: bool,
    pub(crate) model: Option<String>,
    pub(crate) profile: Option<ServerProfile>,
}

/// Finds the server: the command line, the environment, the file.
pub(crate) fn find(arguments: &DoctorArguments, file: &Path) -> anyhow::Result<Place> {
    let file = ConfigurationFile::read(file)?;
    let (found, is_set_up, model) = match &arguments.base_url {
        Some(address) => {
            let (found, is_set_up) = at(address, &file);
            (found, is_set_up, arguments.model.clone())
        }
        None => {
            let (found, model) = known(arguments, file)?;
            (found, true, model)
        }
    };
    let api = arguments.api.unwrap_or(found.api);
    let profile = found.profile.as_ref().map(server::server_profile).transpose()?;
    let endpoint = Endpoint { credential: found.key, ..Endpoint::new(found.base_url) };
    let is_told = is_set_up || arguments.api.is_some();
    Ok(Place { endpoint, api, is_told, model, profile })
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

/// The server at an address, with its key if it is set up, and without one otherwise; whether it is
/// set up, or that of a vendor.
fn at(address: &str, file: &ConfigurationFile) -> (endpoint::Endpoint, bool) {
    let filled = |value: &String| !value.trim().is_empty();
    let variable = |name: &str| environment(name).filter(filled);
    let servers = Servers::of(&variable, file);
    let found = servers.at(address);
    let is_set_up = servers.all().iter().any(|known| known.base_url == found.base_url);
    let vendor = VENDORS.iter().find(|vendor| vendor.base_url == found.base_url);
    match vendor.filter(|_| !is_set_up) {
        Some(vendor) => (endpoint::Endpoint { api: vendor.api, ..found }, true),
        None => (found, is_set_up),
    }
}

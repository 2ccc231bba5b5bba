//! Decides which server a model is asked of, and which key goes to which address.
//!
//! Knows the environment and the user's file. Refuses to know which models a server really has.
//! Invariant: a key goes to the address that it is named with, and to no other: the one of a
//! variable to its vendor or to the address in the vendor's own variable, the one that a section of
//! the file names to the address of that section.

use anyhow::bail;
use offline_adapter::OFFLINE_MODEL;
use router_adapter::Catalogue;
use runtime_types::CredentialHandle;

use crate::{
    configuration::{ConfigurationFile, PUBLIC_DEFAULT_MODEL, ProviderSection},
    endpoint::{Api, Endpoint, PUBLIC_BASE_URL, Profile, VENDORS, Vendor},
};

/// An endpoint, and the model that is asked of it; `None` for its only one.
type Found = (Endpoint, Option<String>);

/// The servers that the user can reach.
pub(crate) struct Servers<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
    file: &'a ConfigurationFile,
}

impl<'a> Servers<'a> {
    /// `variable` gives a variable of the environment that is not empty.
    pub(crate) const fn of(
        variable: &'a dyn Fn(&str) -> Option<String>,
        file: &'a ConfigurationFile,
    ) -> Self {
        Self { variable, file }
    }

    /// Who serves this model; with no name, whatever there is. `None` when there is nothing.
    ///
    /// # Errors
    /// The model has no server, or its server no key.
    pub(crate) fn serving(&self, model: Option<&str>) -> anyhow::Result<Option<Found>> {
        let Some(name) = model else { return self.without_a_name() };
        if let Some(found) = self.by_prefix(name) {
            return Ok(Some(found));
        }
        let whole = || Some(name.to_owned());
        if let Some(vendor) = vendor_of(name) {
            if let Some(endpoint) = self.of_vendor(vendor) {
                return Ok(Some((endpoint, whole())));
            }
            // The public server of another vendor does not have it; any other server may.
            if self.own_address().is_none() && self.only_section().is_none() {
                bail!(
                    "the model {name} needs a key: set {}; or use the embedded model with \
                     --model {OFFLINE_MODEL}",
                    vendor.keys[0]
                );
            }
        }
        if let Some(endpoint) = self.any() {
            return Ok(Some((endpoint, whole())));
        }
        bail!(
            "the model {name} needs a key: set {}, or OPENAI_BASE_URL for a server \
             without keys; or use the embedded model with --model {OFFLINE_MODEL}",
            self.key_variable()
        )
    }

    /// Every server that can be reached, each once: those of the file, then that of the environment,
    /// then the public ones with a key.
    pub(crate) fn all(&self) -> Vec<Endpoint> {
        let mut all: Vec<Endpoint> =
            self.file.providers.iter().filter_map(|section| self.section(section)).collect();
        let vendors = VENDORS.iter().filter_map(|vendor| self.of_environment(vendor));
        for endpoint in self.compatible().into_iter().chain(vendors) {
            if !all.iter().any(|known| known.base_url == endpoint.base_url) {
                all.push(endpoint);
            }
        }
        all
    }

    /// The server at an address: as it is set up, or one that gets no key.
    pub(crate) fn at(&self, address: &str) -> Endpoint {
        let address = address.trim().trim_end_matches('/');
        let known = self.all().into_iter().find(|endpoint| endpoint.base_url == address);
        let base_url = address.to_owned();
        known.unwrap_or(Endpoint { name: None, base_url, api: Api::Chat, key: None, profile: None })
    }

    fn without_a_name(&self) -> anyhow::Result<Option<Found>> {
        if let Some(endpoint) = self.compatible() {
            let is_public = endpoint.base_url == PUBLIC_BASE_URL;
            let model = is_public.then(|| PUBLIC_DEFAULT_MODEL.to_owned());
            return Ok(Some((endpoint, model)));
        }
        match &self.file.providers[..] {
            [] => {}
            [section] => return Ok(self.section(section).map(|endpoint| (endpoint, None))),
            _ => bail!("there are several providers; name a model, like {}/…", self.first_name()),
        }
        let vendors =
            VENDORS.iter().filter_map(|vendor| Some((vendor, self.of_environment(vendor)?)));
        let mut found =
            vendors.map(|(vendor, endpoint)| (endpoint, Some(vendor.default_model.to_owned())));
        Ok(found.next())
    }

    /// `provider/model`. A section of the file counts always; a public provider unless another
    /// server stands in for it, whose own names may look like this.
    fn by_prefix(&self, name: &str) -> Option<Found> {
        let (provider, model) = name.split_once('/').filter(|(_, model)| !model.is_empty())?;
        let model = Some(model.to_owned());
        if let Some(section) = self.file.providers.iter().find(|it| it.name == provider) {
            return self.section(section).map(|endpoint| (endpoint, model));
        }
        if self.own_address().is_some() {
            return None;
        }
        if provider == "openai" {
            return self.compatible().map(|endpoint| (endpoint, model));
        }
        let vendor = VENDORS.iter().find(|vendor| vendor.name == provider)?;
        self.of_environment(vendor).map(|endpoint| (endpoint, model))
    }

    fn of_vendor(&self, vendor: &Vendor) -> Option<Endpoint> {
        let section = self.file.providers.iter().find(|section| section.name == vendor.name);
        section.and_then(|section| self.section(section)).or_else(|| self.of_environment(vendor))
    }

    /// A server for models of no vendor beside the first.
    fn any(&self) -> Option<Endpoint> {
        let own = self.own_address().and_then(|_| self.compatible());
        let first = self.file.providers.iter().find(|section| section.name == "openai");
        let first = || first.and_then(|section| self.section(section));
        own.or_else(first).or_else(|| self.compatible()).or_else(|| self.only_section())
    }

    fn only_section(&self) -> Option<Endpoint> {
        match &self.file.providers[..] {
            [section] => self.section(section),
            _ => None,
        }
    }

    fn own_address(&self) -> Option<String> {
        (self.variable)("OPENAI_BASE_URL").or_else(|| self.file.base_url.clone())
    }

    /// The server of `OPENAI_BASE_URL`, or of the top of the file, or the public one.
    fn compatible(&self) -> Option<Endpoint> {
        let key = self.key(&self.key_variable());
        let own = self.own_address();
        let (address, api) = match &own {
            Some(address) => (address.as_str(), Api::Chat),
            None => (PUBLIC_BASE_URL, Api::Responses),
        };
        if own.is_none() && key.is_none() {
            return None;
        }
        // A profile is of the server that the file names.
        let is_of_the_file = (self.variable)("OPENAI_BASE_URL").is_none();
        Some(Endpoint {
            name: None,
            base_url: address.trim().trim_end_matches('/').to_owned(),
            api: self.file.api.unwrap_or(api),
            key,
            profile: self.file.profile.clone().filter(|_| is_of_the_file).map(Profile::File),
        })
    }

    /// The file names a key for its own address; to another address it is not sent.
    fn key_variable(&self) -> String {
        match ((self.variable)("OPENAI_BASE_URL"), &self.file.api_key_env) {
            (None, Some(named)) => named.clone(),
            _ => "OPENAI_API_KEY".to_owned(),
        }
    }

    fn of_environment(&self, vendor: &Vendor) -> Option<Endpoint> {
        let key = vendor.keys.iter().find_map(|name| self.key(name));
        let own = (self.variable)(vendor.address);
        if key.is_none() && own.is_none() {
            return None;
        }
        let base_url =
            own.map_or_else(|| vendor.base_url.to_owned(), |address| vendor.versioned(&address));
        Some(Endpoint { name: None, base_url, api: vendor.api, key, profile: None })
    }

    fn section(&self, section: &ProviderSection) -> Option<Endpoint> {
        let vendor = VENDORS.iter().find(|vendor| vendor.name == section.name);
        let is_first = section.name == "openai";
        let public = vendor.map(|vendor| vendor.base_url).or(is_first.then_some(PUBLIC_BASE_URL));
        let base_url = section.base_url.as_deref().or(public)?;
        // Without an address of its own it is the public one, whose variables have its key.
        let public_keys: &[&str] = match vendor {
            _ if section.base_url.is_some() => &[],
            Some(vendor) => vendor.keys,
            None => &["OPENAI_API_KEY"],
        };
        let key = match &section.api_key_env {
            Some(named) => self.key(named),
            None => public_keys.iter().find_map(|name| self.key(name)),
        };
        let by_name =
            if is_first && section.base_url.is_none() { Api::Responses } else { Api::Chat };
        let api = section.api.or(vendor.map(|vendor| vendor.api)).unwrap_or(by_name);
        Some(Endpoint {
            name: Some(section.name.clone()),
            base_url: base_url.trim().trim_end_matches('/').to_owned(),
            api,
            key,
            profile: section.profile.clone().map(Profile::File),
        })
    }

    fn first_name(&self) -> &str {
        self.file.providers.first().map_or("", |section| &section.name)
    }

    fn key(&self, variable: &str) -> Option<CredentialHandle> {
        (self.variable)(variable).map(|key| CredentialHandle::new(key.trim().to_owned()))
    }
}

/// The vendor of a model, by the catalogue or by how its name begins.
pub(crate) fn vendor_of(model: &str) -> Option<&'static Vendor> {
    let catalogue = Catalogue::shipped();
    let provider = catalogue.find(model).map(|known| known.provider.as_str());
    let mut vendors = VENDORS.iter();
    vendors.find(|vendor| provider == Some(vendor.name) || model.starts_with(vendor.prefix))
}

#[cfg(test)]
mod tests;

//! Decides which family a server belongs to, by its address or by a name.
//!
//! Knows nothing about what follows from a family: that is in the table `families.toml`, which also
//! says by which hosts, ports and paths a family is known.

use std::sync::LazyLock;

use serde::Deserialize;

use super::ServerProfile;

/// A row of the table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    /// Hosts, and what they end with when they begin with a dot.
    #[serde(default)]
    hosts: Vec<String>,
    /// Ports of servers on a machine of one's own, where the host says nothing.
    #[serde(default)]
    ports: Vec<u16>,
    /// What the path of the base URL must begin with.
    #[serde(default)]
    path: String,
    profile: ServerProfile,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    family: Vec<Family>,
}

static TABLE: LazyLock<Vec<Family>> = LazyLock::new(|| {
    let table: Table =
        toml::from_str(include_str!("families.toml")).expect("the table of families is valid");
    table.family
});

pub(super) fn names() -> Vec<&'static str> {
    TABLE.iter().map(|family| family.profile.name.as_str()).collect()
}

pub(super) fn of_name(name: &str) -> Option<ServerProfile> {
    let named = TABLE.iter().find(|family| family.profile.name == name);
    named.map(|family| family.profile.clone())
}

pub(super) fn of_base_url(base_url: &str) -> ServerProfile {
    let Some(address) = Address::of(base_url) else { return ServerProfile::default() };
    let by_host = TABLE.iter().find(|family| family.has_host(&address));
    let by_port = || TABLE.iter().find(|family| address.is_own && family.has_port(&address));
    by_host.or_else(by_port).map_or_else(ServerProfile::default, |family| family.profile.clone())
}

impl Family {
    fn has_host(&self, address: &Address) -> bool {
        let matches = |host: &String| match host.strip_prefix('.') {
            Some(_) => address.host.ends_with(host.as_str()),
            None => address.host == *host,
        };
        self.hosts.iter().any(matches) && address.path.starts_with(&self.path)
    }

    fn has_port(&self, address: &Address) -> bool {
        address.port.is_some_and(|port| self.ports.contains(&port))
    }
}

/// The parts of a base URL that tell families apart.
struct Address {
    host: String,
    port: Option<u16>,
    path: String,
    /// Whether it is this machine, or one without a public name.
    is_own: bool,
}

impl Address {
    fn of(base_url: &str) -> Option<Self> {
        let (_, rest) = base_url.trim().split_once("://")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        let authority = authority.rsplit('@').next().unwrap_or_default().to_ascii_lowercase();
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host.to_owned(), port.parse().ok()),
            _ => (authority, None),
        };
        let path = rest.split(['?', '#']).next().unwrap_or_default().to_owned();
        let is_own = !host.contains('.') || host.parse::<std::net::Ipv4Addr>().is_ok();
        (!host.is_empty()).then_some(Self { host, port, path, is_own })
    }
}

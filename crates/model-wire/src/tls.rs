//! Decides how the other side of a connection proves who it is.
//!
//! Knows nothing about requests. The provider of the cryptography is passed explicitly: nothing of
//! the process is changed for it.

use std::sync::Arc;

use rustls::{
    ClientConfig, RootCertStore,
    crypto::{CryptoProvider, ring},
};
use rustls_platform_verifier::Verifier;

/// TLS that trusts what the platform trusts. `None` when the platform trusts nobody.
pub(crate) fn platform() -> Option<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Verifier::new(Arc::clone(&provider)).ok()?;
    let builder = versions(provider)?.dangerous();
    let builder = builder.with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Some(config)
}

/// TLS that trusts nobody, for sessions that do without: they need no certificates to be installed.
pub(crate) fn none() -> Option<ClientConfig> {
    let builder = versions(Arc::new(ring::default_provider()))?;
    Some(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

type Versioned = rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>;

fn versions(provider: Arc<CryptoProvider>) -> Option<Versioned> {
    ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().ok()
}

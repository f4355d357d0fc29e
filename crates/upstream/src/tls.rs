//! The HTTP client that all servers share.

use std::sync::Arc;

use reqwest::{Client, redirect};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

use crate::settings::Timing;

/// The adapter cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The versions of TLS cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
    /// The client cannot be made.
    #[error("the HTTP client cannot be made: {0}")]
    Client(#[from] reqwest::Error),
}

/// Makes the client. It may reach private addresses, because an admin chose each URL.
pub(crate) fn client(timing: Timing) -> Result<Client, SetupError> {
    Ok(Client::builder()
        .tls_backend_preconfigured(tls()?)
        // A proxy of the environment would be configuration that nobody gave to the server.
        .no_proxy()
        // Whoever the server sends us to must not get the headers, which are secret.
        .redirect(redirect::Policy::none())
        .referer(false)
        .connect_timeout(timing.connect)
        // A connection that the server closed in the meantime would fail a call, and a call cannot be repeated.
        .pool_max_idle_per_host(0)
        .build()?)
}

/// Trusts what the machine trusts, so that an intranet's own authority works; a machine without certificates gets
/// those of Mozilla.
fn tls() -> Result<ClientConfig, rustls::Error> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    // The provider is named here and not installed for the process, which is the process's own decision.
    Ok(ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth())
}

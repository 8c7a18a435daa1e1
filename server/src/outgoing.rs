//! HTTP and HTTPS requests that the server sends.

use std::sync::Arc;
use std::time::Duration;

use ureq::Agent;
use ureq::tls::TlsConfig;

/// Timeout for connecting to a service on this machine.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Creates a client with a timeout. It follows no redirects: the host chose the address.
///
/// It trusts Mozilla's authorities, which are compiled in (`webpki-roots`): the image has no
/// certificate files, and every machine trusts the same authorities.
pub(crate) fn agent(timeout: Duration) -> Agent {
    let crypto = Arc::new(rustls::crypto::ring::default_provider());
    let tls = TlsConfig::builder().unversioned_rustls_crypto_provider(crypto).build();
    Agent::config_builder()
        .tls_config(tls)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_global(Some(timeout))
        .user_agent(concat!("phaselock-server/", env!("CARGO_PKG_VERSION")))
        .build()
        .into()
}

/// Creates a client for a service on this machine, without a proxy and, if it reads a stream,
/// without a timeout.
pub(crate) fn loopback_agent(timeout: Option<Duration>) -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(None)
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .timeout_global(timeout)
        .user_agent(concat!("phaselock-server/", env!("CARGO_PKG_VERSION")))
        .build()
        .into()
}

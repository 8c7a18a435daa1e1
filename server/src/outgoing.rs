//! Requests that the server makes of others, over HTTP and HTTPS.

use std::sync::Arc;
use std::time::Duration;

use ureq::Agent;
use ureq::tls::TlsConfig;

/// A client that gives up after a time. It follows no redirects: a host has named the address.
///
/// The authorities it trusts are Mozilla's, compiled in (`webpki-roots`): the image has no files of
/// any, and every machine trusts the same.
pub(crate) fn agent(timeout: Duration) -> Agent {
    let crypto = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
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

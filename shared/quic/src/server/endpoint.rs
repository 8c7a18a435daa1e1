//! QUIC's configuration of a server: its certificate, its settings, and what doorkeeping needs.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use phaselock::wire::protocol::ALPN;
use quinn::congestion::ControllerFactory;
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{EndpointConfig, ServerConfig};

use super::ids::OwnIds;
use super::peek::VERSION;
use super::retry::Mint;
use super::web::UNIS;
use crate::identity::Identity;
use crate::{settings, web};

/// Longer than any wall clock shows: 35,000 years.
const FOR_EVER: Duration = Duration::from_secs(1 << 40);

/// Why a server cannot be bound.
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    #[error("cannot listen on {address}: {error}; is another server running there?")]
    Socket { address: SocketAddr, error: std::io::Error },
    #[error("cannot use the certificate: {0}")]
    Crypto(String),
}

/// Returns the TLS configuration of a server, with or without browsers.
fn crypto_of(identity: &Identity, with_browsers: bool) -> Result<QuicServerConfig, BindError> {
    let tls = identity.server_crypto(ALPN);
    let mut tls = tls.map_err(|error| BindError::Crypto(error.to_string()))?;
    if with_browsers {
        tls.alpn_protocols.push(web::ALPN.to_vec());
    }
    QuicServerConfig::try_from(tls).map_err(|error| BindError::Crypto(error.to_string()))
}

/// Returns the configuration of connections, with or without browsers, and optionally with another
/// congestion controller, for comparison.
pub(super) fn server_config(
    identity: &Identity,
    with_browsers: bool,
    controller: Option<Arc<dyn ControllerFactory + Send + Sync>>,
    mint: Mint,
) -> Result<ServerConfig, BindError> {
    let unis = if with_browsers { UNIS } else { 0 };
    let quic = crypto_of(identity, with_browsers)?;
    let mut config = settings::server_config(quic, controller, unis);
    config
        .token_key(Arc::new(mint))
        // The mint has checked it, with a clock that is never set.
        .retry_token_lifetime(FOR_EVER);
    Ok(config)
}

/// Returns the configuration of the endpoint, with a seed for quinn's random numbers instead of the
/// system's if given.
pub(super) fn endpoint_config(
    identity: &Identity,
    ids: OwnIds,
    seed: Option<u64>,
) -> EndpointConfig {
    let mut config = settings::server_endpoint(seed);
    config
        .reset_key(Arc::new(identity.reset_key()))
        .cid_generator(move || Box::new(ids))
        // Answers to first packets are made only for this version.
        .supported_versions(vec![VERSION]);
    config
}

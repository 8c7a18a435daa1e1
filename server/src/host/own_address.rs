//! The address at which players reach a server that Agones runs, which may be a name.

use std::sync::Arc;
use std::time::Duration;

use phaselock_quic::reach::looked_up;
use tokio::net::lookup_host;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::state::Host;

/// Time between attempts to look up a name. Arbitrary.
const AGAIN: Duration = Duration::from_secs(10);

/// Keeps the gate informed of the address.
#[derive(Debug, Default)]
pub(super) struct OwnAddress {
    /// The last address, as `host:port`; empty if it is not known.
    text: String,
    search: Option<JoinHandle<()>>,
}

impl OwnAddress {
    /// Handles the address that Agones reports now, as `host:port`; empty if it is not known.
    pub(super) fn follow(&mut self, host: &Arc<Host>, text: String) {
        if text == self.text {
            return;
        }
        if let Some(search) = self.search.take() {
            search.abort();
        }
        let ip = text.parse().ok();
        host.gate.set_address(ip);
        if ip.is_none() && !text.is_empty() {
            self.search = Some(tokio::spawn(look_up(Arc::clone(host), text.clone())));
        }
        self.text = text;
    }
}

/// Looks up the name until it has an address. Meanwhile tickets for other servers with the same
/// certificate would be accepted here.
async fn look_up(host: Arc<Host>, text: String) {
    let mut is_told = false;
    loop {
        let found = lookup_host(&text).await;
        let problem = match found.map(looked_up) {
            Ok(Some(address)) => return host.gate.set_address(Some(address)),
            Ok(None) => "it has no address".to_owned(),
            Err(error) => error.to_string(),
        };
        if !std::mem::replace(&mut is_told, true) {
            tracing::warn!(
                name: "own_address_unknown",
                address = text,
                problem,
                "cannot look up the name by which Agones knows this server; retrying"
            );
        }
        sleep(AGAIN).await;
    }
}

//! Beside a visit: links to a server in this program, files of motion.

#[cfg(not(target_arch = "wasm32"))]
use std::net::SocketAddr;

#[cfg(not(target_arch = "wasm32"))]
use phaselock::invitation::Invitation;
use phaselock_lab::record::{MotionFiles, RecordError};
#[cfg(not(target_arch = "wasm32"))]
use phaselock_quic::local::{LocalServer, own_addresses};

/// Links by which others on the local network join a server in this program.
#[cfg(not(target_arch = "wasm32"))]
pub(super) fn invitations(server: &LocalServer) -> Vec<Invitation> {
    if server.address().ip().is_loopback() {
        return Vec::new();
    }
    let fingerprint = Some(server.fingerprint());
    let at = |ip| SocketAddr::new(ip, server.address().port()).into();
    own_addresses().into_iter().map(|ip| Invitation { address: at(ip), fingerprint }).collect()
}

/// Begins another motion file.
pub(crate) fn begin_file(files: Option<&mut MotionFiles>) {
    if let Some(files) = files {
        warn(files.begin());
    }
}

/// A recording that ends early is no reason to end the game.
pub(super) fn warn(recorded: Result<(), RecordError>) {
    if let Err(error) = recorded {
        eprintln!("phaselock: {error}");
    }
}

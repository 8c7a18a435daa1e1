//! Beside a visit: links to a server in this program, refusals in words, files of motion.

use std::net::SocketAddr;

use phaselock::wire::control::Refusal;
use phaselock_lab::record::{MotionFiles, RecordError};
use phaselock_quic::invitation::Invitation;
use phaselock_quic::local::{LocalServer, own_addresses};

use crate::words::tr;

/// Links by which others on the local network join a server in this program.
pub(super) fn invitations(server: &LocalServer) -> Vec<Invitation> {
    if server.address().ip().is_loopback() {
        return Vec::new();
    }
    let fingerprint = Some(server.fingerprint());
    let at = |ip| SocketAddr::new(ip, server.address().port()).into();
    own_addresses().into_iter().map(|ip| Invitation { address: at(ip), fingerprint }).collect()
}

/// A refusal in words for the player.
pub(super) fn refused(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Unknown => "The server does not know how to do that; its version may be older.",
        Refusal::TooMany => "Not sent: too many at once. Wait a moment.",
        Refusal::Length => "Not sent: the line is empty or too long.",
        Refusal::Game => tr("The game did not understand that."),
        Refusal::Off => tr(
            "That is not to be had here: the host has switched it off, or it makes no sense now.",
        ),
        Refusal::Soon => tr("Too soon: wait a little before you call a vote."),
        Refusal::Busy => tr("Another vote runs. Wait for its end."),
        Refusal::Uneven => tr("The sides would be uneven. Ask somebody to change with you."),
        Refusal::Protected => tr("That player cannot be voted out."),
    }
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

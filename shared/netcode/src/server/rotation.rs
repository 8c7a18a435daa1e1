//! The server between two games: its state, and everybody who waits.

use std::collections::VecDeque;

use crate::ids::PlayerId;
use crate::limits::{PLAYERS_MAX, TEXT_BYTES_MAX};
use crate::time::{LocalTime, ServerTime, Tick};
use crate::wire::control::{ServerMessage, clip};

use super::config::RoomConfig;
use super::member::Member;
use super::output::{ClientId, Output};

/// Server state that outlives a game.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) config: RoomConfig,
    /// Index of the game in the rotation, modulo 256.
    pub(super) number: u8,
    /// Time of tick 0, had no time been lost.
    pub(super) epoch: LocalTime,
    /// Times that the epoch moved, modulo 256.
    pub(super) epoch_number: u8,
    pub(super) next_player: PlayerId,
    pub(super) outputs: VecDeque<Output>,
}

impl Host {
    pub(super) fn server_time(&self, now: LocalTime) -> ServerTime {
        ServerTime((now - self.epoch).0)
    }

    pub(super) fn send(&mut self, client: ClientId, message: ServerMessage) {
        self.outputs.push_back(Output::Control { client, message });
    }

    /// Tells a client the reason, then closes its connection.
    pub(super) fn put_out(&mut self, client: ClientId, reason: &str, retry: bool) {
        tracing::debug!(client = client.0, reason, "closing");
        let reason = clip(reason, TEXT_BYTES_MAX).to_owned();
        self.send(client, ServerMessage::Closed { reason: reason.clone(), retry });
        self.outputs.push_back(Output::Close { client, reason });
    }
}

/// Everybody who waits for the next game, whose room is [opened](super::Room::open) with it.
#[derive(Debug)]
pub struct Rotation {
    pub(super) host: Host,
    pub(super) tick: Tick,
    pub(super) members: Vec<(ClientId, Member)>,
    /// Bots' seats and names.
    pub(super) bots: Vec<(PlayerId, String)>,
}

impl Rotation {
    /// The rotation before the first game, with nobody but bots.
    pub fn new(config: RoomConfig) -> Self {
        let count = config.bots.min(PLAYERS_MAX);
        Self {
            host: Host {
                number: 0,
                epoch: config.start,
                epoch_number: 0,
                next_player: PlayerId(count),
                outputs: VecDeque::new(),
                config,
            },
            tick: Tick(0),
            members: Vec::new(),
            bots: (0..count).map(|seat| (PlayerId(seat), bot_name(seat + 1))).collect(),
        }
    }
}

/// Name of a bot, after people who worked on keeping clocks in step.
fn bot_name(number: u16) -> String {
    const NAMES: [&str; 12] = [
        "Huygens", "Lamport", "Mills", "Appleton", "Harrison", "Marzullo", "Cristian", "Adler",
        "Gardner", "Viterbi", "Costas", "Rechtin",
    ];
    let at = usize::from(number - 1);
    match at / NAMES.len() {
        0 => NAMES[at].into(),
        round => format!("{} {}", NAMES[at % NAMES.len()], round + 1),
    }
}

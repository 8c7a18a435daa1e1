//! Between two games: who is there, and what is kept of everybody.

use std::collections::VecDeque;

use crate::ids::PlayerId;
use crate::limits::PLAYERS_MAX;
use crate::time::{LocalTime, Tick};

use super::config::RoomConfig;
use super::member::Member;
use super::output::{ClientId, Output};

/// Those who wait for a game to begin, and the server's time, which goes on. The room of the next game
/// is [opened](super::Room::open) with it.
#[derive(Debug)]
pub struct Rotation {
    pub(super) config: RoomConfig,
    /// The number of the next game, modulo 256.
    pub(super) number: u8,
    pub(super) tick: Tick,
    /// When tick 0 would have been, had no time been lost.
    pub(super) epoch: LocalTime,
    /// How often it moved, modulo 256.
    pub(super) epoch_number: u8,
    pub(super) members: Vec<(ClientId, Member)>,
    /// Bots' seats and names.
    pub(super) bots: Vec<(PlayerId, String)>,
    pub(super) next_player: PlayerId,
    /// What is still to be said.
    pub(super) outputs: VecDeque<Output>,
}

impl Rotation {
    /// Before the first game: nobody is there but bots.
    pub fn new(config: RoomConfig) -> Self {
        let count = config.bots.min(PLAYERS_MAX);
        Self {
            number: 0,
            tick: Tick(0),
            epoch: config.start,
            epoch_number: 0,
            members: Vec::new(),
            bots: (0..count).map(|seat| (PlayerId(seat), bot_name(seat + 1))).collect(),
            next_player: PlayerId(count),
            outputs: VecDeque::new(),
            config,
        }
    }
}

/// Names for bots, after people who worked on keeping clocks in step.
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

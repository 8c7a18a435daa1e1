//! The room between two games: its state, and its waiting members.

use crate::ids::PlayerId;
use crate::limits::BOTS_MAX;
use crate::time::Tick;

use super::config::{RoomConfig, RoomSettings};
use super::conversation::Conversation;
use super::host::Host;
use super::member::Member;
use super::output::ClientId;

/// Members waiting for the next game, whose room is [opened](super::Room::open) with them.
#[derive(Debug)]
pub struct Rotation {
    pub(super) host: Host,
    pub(super) conversation: Conversation,
    pub(super) tick: Tick,
    pub(super) waiting: Waiting,
}

/// Players, watchers and bots between two games.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) members: Vec<(ClientId, Member)>,
    pub(super) watchers: Vec<(ClientId, Member)>,
    /// Ids and names of the bots.
    pub(super) bots: Vec<(PlayerId, String)>,
}

impl Rotation {
    /// Creates the rotation before the first game, with bots only.
    pub fn new(config: RoomConfig) -> Self {
        let count = config.settings.bots.min(BOTS_MAX);
        let bots = (0..count).map(|seat| (PlayerId(seat), bot_name(seat + 1))).collect();
        Self::empty(Host::new(config), Tick(0), bots)
    }

    /// Creates a rotation with bots only.
    pub(super) fn empty(host: Host, tick: Tick, bots: Vec<(PlayerId, String)>) -> Self {
        let waiting = Waiting { bots, ..Waiting::default() };
        Self { host, conversation: Conversation::default(), tick, waiting }
    }

    /// Applies new settings to the next game. Bots join and leave with the next
    /// [`Configure`](super::Command::Configure).
    pub fn configure(&mut self, changes: RoomSettings) {
        self.host.configure(changes);
    }
}

/// Returns the name of a bot, after people who worked on synchronising clocks.
pub(super) fn bot_name(number: u16) -> String {
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

//! The server between two games: its state, and everybody who waits.

use std::collections::{BTreeMap, VecDeque};

use crate::identity::{PublicKey, ResumeToken};
use crate::ids::PlayerId;
use crate::limits::{BOTS_MAX, ROOM_EVENTS_MAX};
use crate::time::{LocalTime, ServerTime, Tick};
use crate::wire::control::ServerMessage;
use crate::wire::disconnect::Disconnect;

use super::bucket::Bucket;
use super::config::{RoomChanges, RoomConfig};
use super::control::Event;
use super::member::Member;
use super::output::{ClientId, Output};
use super::votes::Votes;

/// Whether a room sleeps, since nobody is in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Sleep {
    /// People are here, or the room does not sleep.
    #[default]
    Awake,
    /// Nobody is here.
    Empty { since: LocalTime },
    /// No tick runs.
    Asleep { since: LocalTime, look_at: LocalTime },
}

/// A server that takes nobody in any more.
#[derive(Clone, Debug)]
pub(super) struct Draining {
    pub(super) goodbye: Disconnect,
    pub(super) end: LocalTime,
    /// Whether the server starts again after it.
    pub(super) restarts: bool,
    /// Rounds played when it began; it ends with the round.
    pub(super) rounds: u32,
    /// Steps of the countdown that are still to be said, in seconds, the last one first.
    pub(super) countdown: Vec<i64>,
}

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
    pub(super) events: VecDeque<Event>,
    /// The next resume token. They count on from the time of the start, each room's in a range of
    /// its own, so that no two sessions have the same, of whatever run. They are no secret: whoever
    /// uses one proves its player's key.
    pub(super) next_token: u64,
    pub(super) draining: Option<Draining>,
    /// Whether it sleeps, since nobody is here.
    pub(super) sleep: Sleep,
    /// Goodbyes to players who were put out while they were away, and how long they wait.
    pub(super) farewells: BTreeMap<PublicKey, (Disconnect, LocalTime)>,
    /// Votes, and those who were voted out.
    pub(super) votes: Votes,
    /// The next place in the line of those who wait for a seat.
    pub(super) next_ticket: u64,
    /// Allowance of everybody's talk.
    pub(super) talk: Bucket,
}

impl Host {
    pub(super) fn server_time(&self, now: LocalTime) -> ServerTime {
        ServerTime((now - self.epoch).0)
    }

    pub(super) fn send(&mut self, client: ClientId, message: ServerMessage) {
        self.outputs.push_back(Output::Control { client, message });
    }

    /// Says goodbye to a client, then closes its connection.
    pub(super) fn put_out(&mut self, client: ClientId, goodbye: Disconnect) {
        let goodbye = goodbye.clipped();
        tracing::debug!(client = client.0, code = ?goodbye.code, %goodbye, "closing");
        self.send(client, ServerMessage::Disconnect(goodbye.clone()));
        self.outputs.push_back(Output::Close { client, goodbye });
    }

    pub(super) fn token(&mut self) -> ResumeToken {
        let token = ResumeToken(self.next_token);
        self.next_token = self.next_token.wrapping_add(1);
        token
    }

    /// The last place in the line of those who wait for a seat.
    pub(super) fn ticket(&mut self) -> u64 {
        self.next_ticket += 1;
        self.next_ticket
    }

    /// Tells the host.
    pub(super) fn tell(&mut self, event: Event) {
        if self.events.len() >= ROOM_EVENTS_MAX {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}

/// Everybody who waits for the next game, whose room is [opened](super::Room::open) with it.
#[derive(Debug)]
pub struct Rotation {
    pub(super) host: Host,
    pub(super) tick: Tick,
    pub(super) members: Vec<(ClientId, Member)>,
    pub(super) watchers: Vec<(ClientId, Member)>,
    /// Bots' seats and names.
    pub(super) bots: Vec<(PlayerId, String)>,
}

impl Rotation {
    /// The rotation before the first game, with nobody but bots.
    pub fn new(config: RoomConfig) -> Self {
        let count = config.bots.min(BOTS_MAX);
        Self {
            host: Host {
                number: 0,
                epoch: config.start,
                epoch_number: 0,
                next_player: PlayerId(count),
                outputs: VecDeque::new(),
                events: VecDeque::new(),
                next_token: ResumeToken::first(config.number, config.unix_micros).0,
                draining: None,
                sleep: Sleep::default(),
                farewells: BTreeMap::new(),
                votes: Votes::default(),
                next_ticket: 0,
                talk: Bucket::default(),
                config,
            },
            tick: Tick(0),
            members: Vec::new(),
            watchers: Vec::new(),
            bots: (0..count).map(|seat| (PlayerId(seat), bot_name(seat + 1))).collect(),
        }
    }

    /// Applies new settings to the next game. Bots join and leave with the next
    /// [`Configure`](super::Command::Configure).
    pub fn configure(&mut self, changes: RoomChanges) {
        changes.apply(&mut self.host.config);
    }
}

/// Name of a bot, after people who worked on keeping clocks in step.
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

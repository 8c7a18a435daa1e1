//! What a member may request from the room, and how often.

use super::bucket::{Bucket, RequestLimit};
use crate::limits::INPUT_PACKETS_PER_TICK_MAX;
use crate::time::{LocalTime, Micros};

/// Kinds of requests, each with its own allowance.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) enum Request {
    Chat,
    Quick,
    Mark,
    /// Another name or appearance.
    Style,
    /// A request to the game.
    Game,
    /// A request about the round.
    Round,
    /// A change between watching and playing.
    Part,
    /// Another set of kinds that are shown at the present.
    Early,
    /// Ghosts.
    Ghosts,
}

impl Request {
    const COUNT: usize = Self::Ghosts as usize + 1;

    /// All limits are arbitrary.
    fn limit(self) -> RequestLimit {
        let (burst, interval_ms) = match self {
            // A quick exchange, and no more than anyone can read.
            Self::Chat => (4, 1000),
            Self::Quick => (3, 1500),
            // Here, there, and over there.
            Self::Mark => (4, 1000),
            // A player tries three and settles for one.
            Self::Style => (3, 10_000),
            // Frequent actions belong in inputs.
            Self::Game => (8, 250),
            // No one changes sides faster.
            Self::Round => (6, 500),
            // Each change starts a game for the client.
            Self::Part => (2, 3000),
            // A player may step through all methods. Clients keep to the interval, so that none of
            // their messages is refused.
            Self::Early => (20, 250),
            // A list and a run, in each game. Clients ask once every ten seconds.
            Self::Ghosts => (6, 3000),
        };
        RequestLimit { burst, interval: Micros::from_ms(interval_ms) }
    }
}

/// Number of ticks whose allowance of input packets may accumulate: a stall of half a second.
const SAVED_TICKS_MAX: u64 = 64;

/// What a member may still send.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) struct Allowances {
    requests: [Bucket; Request::COUNT],
    /// Number of input packets that may still arrive; refilled in each tick.
    packets: u64,
}

impl Default for Allowances {
    fn default() -> Self {
        Self { requests: Default::default(), packets: SAVED_TICKS_MAX }
    }
}

impl Allowances {
    /// Takes one request from the allowance of its kind. Returns `false` if it is used up.
    pub(in crate::server) fn take(&mut self, now: LocalTime, request: Request) -> bool {
        self.requests[request as usize].take(now, request.limit())
    }

    /// Takes one input packet from the allowance. Returns `false` if it is used up.
    pub(in crate::server) fn take_packet(&mut self) -> bool {
        let left = self.packets.checked_sub(1);
        self.packets = left.unwrap_or(0);
        left.is_some()
    }

    /// Adds one tick's allowance of input packets.
    pub(in crate::server) fn refill(&mut self) {
        let most = SAVED_TICKS_MAX * INPUT_PACKETS_PER_TICK_MAX;
        self.packets = (self.packets + INPUT_PACKETS_PER_TICK_MAX).min(most);
    }
}

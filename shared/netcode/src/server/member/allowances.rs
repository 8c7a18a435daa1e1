//! What a member may ask of the room, and how often.

use super::bucket::{Bucket, RequestLimit};
use crate::limits::INPUT_PACKETS_PER_TICK_MAX;
use crate::time::{LocalTime, Micros};

/// Kinds of requests, each with an allowance of its own.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) enum Request {
    Chat,
    Quick,
    Mark,
    /// Another name or look.
    Style,
    /// A request to the game.
    Game,
    /// A request about the round.
    Round,
    /// A change between watching and playing.
    Part,
}

impl Request {
    const COUNT: usize = Self::Part as usize + 1;

    /// All limits are arbitrary.
    fn limit(self) -> RequestLimit {
        let (burst, interval_ms) = match self {
            // A quick exchange, and no more than anybody reads.
            Self::Chat => (4, 1000),
            Self::Quick => (3, 1500),
            // Here, there, and there again.
            Self::Mark => (4, 1000),
            // Somebody tries three, and settles for one.
            Self::Style => (3, 10_000),
            // Inputs are for what happens all the time.
            Self::Game => (8, 250),
            // Nobody changes sides faster.
            Self::Round => (6, 500),
            // Each change begins a game for the client.
            Self::Part => (2, 3000),
        };
        RequestLimit { burst, interval: Micros::from_ms(interval_ms) }
    }
}

/// Ticks whose allowance of input packets may be saved up: a stall of half a second.
const SAVED_TICKS_MAX: u64 = 64;

/// What a member may still send.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) struct Allowances {
    requests: [Bucket; Request::COUNT],
    /// Input packets that may still arrive; refilled every tick.
    packets: u64,
}

impl Default for Allowances {
    fn default() -> Self {
        Self { requests: Default::default(), packets: SAVED_TICKS_MAX }
    }
}

impl Allowances {
    /// Takes one request off the allowance of its kind. Returns false if it is used up.
    pub(in crate::server) fn take(&mut self, now: LocalTime, request: Request) -> bool {
        self.requests[request as usize].take(now, request.limit())
    }

    /// Takes one input packet off the allowance. Returns false if it is used up.
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

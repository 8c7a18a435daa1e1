//! Stores rooms for the next start of the server.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phaselock::server::{AnyRoom, Rotation, game_of};
use phaselock::time::{LocalTime, Micros};

use super::Rooms;
use crate::server::directory::RoomId;

/// Interval between checkpoints: what a player loses at most when the server is killed.
const INTERVAL: Micros = Micros::from_ms(1000);

/// Returns the time from a room's opening to its first checkpoint. All rooms tick at the same
/// moments, and many are opened at once: with multiples of the golden ratio any number of them take
/// turns.
pub(super) fn first_after(number: u16) -> Micros {
    /// The fractional part of the golden ratio, times 2^32.
    const GOLDEN: u32 = 0x9e37_79b9;
    let part = GOLDEN.wrapping_mul(u32::from(number) + 1);
    Micros((i64::from(part) * INTERVAL.0) >> 32)
}

impl Rooms {
    /// Restores the room that was stored under this one's code. Returns `false` if there is none,
    /// or it is unusable.
    pub(super) fn restore(&mut self, id: RoomId, rotation: &dyn Fn() -> Rotation) -> bool {
        let Some(keeper) = &self.plan.hosting.keeper else { return false };
        let Some(running) = self.running.get_mut(&id) else { return false };
        let Some(kept) = keeper.take(&running.code) else { return false };
        let inside = running.span.enter();
        let game = game_of(&kept);
        let found = game.as_deref().and_then(|name| self.plan.games.named(name));
        let Some(entry) = found else {
            tracing::warn!(
                name: "room_kept_foreign",
                game,
                "the saved room plays a game that is not hosted; the room starts over"
            );
            return false;
        };
        let now = self.clock.now();
        let open = || (entry.restore)(rotation(), &entry.setup, &kept, now);
        let room = match catch_unwind(AssertUnwindSafe(open)) {
            Ok(Ok(room)) => room,
            Ok(Err(error)) => {
                tracing::warn!(
                    name: "room_kept_refused",
                    %error,
                    "cannot restore the saved room; the room starts over"
                );
                return false;
            }
            Err(_) => {
                tracing::error!(
                    name: "room_kept_panicked",
                    "the rules of the saved room panicked; the room starts over"
                );
                return false;
            }
        };
        let seats = room.seats_taken();
        tracing::info!(
            name: "room_restored",
            game = entry.name,
            seats,
            "the game continues where the server stopped"
        );
        drop(inside);
        (running.game, running.room, running.is_kept) = (entry.name, Some(room), true);
        // Its game may differ from the one that the room would have started with.
        self.settle(id);
        self.measure(id);
        // Its seats must be known before any player is sent to a room.
        self.handle_events(id);
        true
    }

    /// Stores a room's checkpoint, if it is due.
    pub(in crate::server) fn keep_if_due(&mut self, id: RoomId, now: LocalTime) {
        let Some(running) = self.running.get_mut(&id) else { return };
        if self.plan.hosting.keeper.is_some() && now >= running.keep_at {
            running.keep_at = (running.keep_at + INTERVAL).max(now);
            self.keep(id, now);
        }
    }

    /// Stores a room's checkpoint before it ends with the server.
    pub(in crate::server) fn keep_last(&mut self, id: RoomId) {
        if self.plan.hosting.keeper.is_some() {
            self.keep(id, self.clock.now());
            self.running.entry(id).and_modify(|running| running.is_kept = false);
        }
    }

    fn keep(&mut self, id: RoomId, now: LocalTime) {
        // If a room has sent all players away, the checkpoint from before matters.
        if self.running.get(&id).is_none_or(|running| running.is_over) {
            return;
        }
        let checkpoint = |room: &mut dyn AnyRoom| match room.seats_taken() {
            0 => None,
            _ => room.checkpoint(now),
        };
        let checkpoint = self.call(id, checkpoint).flatten();
        let Some(keeper) = &self.plan.hosting.keeper else { return };
        let Some(running) = self.running.get_mut(&id) else { return };
        let code = &running.code;
        match checkpoint {
            Some(checkpoint) => {
                running.is_kept = true;
                keeper.keep(code, self.directory.is_open(id), checkpoint);
            }
            // No player has anything to come back to.
            None if running.is_kept => {
                running.is_kept = false;
                keeper.forget(code);
            }
            None => {}
        }
    }

    /// Removes a room's checkpoint.
    pub(super) fn forget(&mut self, id: RoomId) {
        let Some(keeper) = &self.plan.hosting.keeper else { return };
        if let Some(running) = self.running.get_mut(&id)
            && std::mem::take(&mut running.is_kept)
        {
            keeper.forget(&running.code);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_are_kept_one_after_the_other() {
        for count in [2, 8, 64] {
            let mut times: Vec<_> = (0..count).map(|number| first_after(number).0).collect();
            times.sort_unstable();
            assert!((0..INTERVAL.0).contains(&times[0]));
            times.push(times[0] + INTERVAL.0);
            let apart = times.windows(2).map(|pair| pair[1] - pair[0]).min().expect("some");
            let evenly = INTERVAL.0 / i64::from(count);
            assert!(apart > evenly / 3, "{apart} us, evenly {evenly} us, for {count} rooms");
        }
    }
}

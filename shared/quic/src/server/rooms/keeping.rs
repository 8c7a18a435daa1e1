//! Stores rooms for the next start of the server.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phaselock::server::{AnyRoom, Rotation, game_of};
use phaselock::time::LocalTime;

use super::Rooms;
use super::checkpoints::INTERVAL;
use crate::server::directory::RoomId;

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

    /// Stores a room's checkpoint before it ends with the server. Returns whether the next start
    /// may continue the room.
    pub(in crate::server) fn keep_last(&mut self, id: RoomId) -> bool {
        if self.plan.hosting.keeper.is_none() {
            return false;
        }
        self.keep(id, self.clock.now());
        let Some(running) = self.running.get_mut(&id) else { return false };
        std::mem::take(&mut running.is_kept) || running.is_over
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

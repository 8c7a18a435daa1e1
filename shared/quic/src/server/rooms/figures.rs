//! Figures about rooms in the list, updated once a second.

use std::time::Duration;

use phaselock::time::LocalTime;

use super::Rooms;
use crate::server::directory::RoomId;

impl Rooms {
    /// Notes the durations of a tick and of sending after it.
    pub(in crate::server) fn note_times(&mut self, id: RoomId, tick: Duration, sending: Duration) {
        if let Some(running) = self.running.get_mut(&id) {
            running.meter.note(tick, sending);
        }
    }

    /// Updates a room's figures in the list, if it is time.
    pub(in crate::server) fn update_figures(&mut self, id: RoomId, now: LocalTime) {
        if !self.running.get_mut(&id).is_some_and(|running| running.meter.take_due(now)) {
            return;
        }
        let state =
            self.call(id, |room| (room.players(now), room.status().tick.0, room.is_asleep()));
        let Some((players, tick, is_asleep)) = state else { return };
        let Some(running) = self.running.get_mut(&id) else { return };
        self.directory.update(id, running.meter.measure(tick, is_asleep, players));
    }
}

//! Passes the recordings of rooms to the host's archive.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Rooms;
use crate::server::directory::RoomId;
use crate::server::hosting::{Recorded, RecordingEnd};

impl Rooms {
    /// Passes the finished pieces of a room's recording to the archive.
    pub(super) fn archive(&mut self, id: RoomId) {
        let Some(archive) = &self.plan.hosting.archive else { return };
        let Some(running) = self.running.get_mut(&id) else { return };
        let Some(room) = running.room.as_deref_mut() else { return };
        while let Some(piece) = room.poll_replay() {
            let people = room.seats_taken() + room.watchers();
            let recorded = Recorded { people, secrecy: room.secrecy() };
            archive.archive(&running.code, piece, recorded);
        }
    }

    /// Ends the recording of a room.
    pub(in crate::server) fn end_recording(&mut self, id: RoomId, end: RecordingEnd) {
        let Some(archive) = self.plan.hosting.archive.clone() else { return };
        let Some(running) = self.running.get_mut(&id) else { return };
        if let Some(room) = running.room.as_deref_mut() {
            // After a panic of its rules, the room may be in any state.
            let _ = catch_unwind(AssertUnwindSafe(|| room.cut_replay()));
        }
        let code = running.code.clone();
        self.archive(id);
        archive.end(&code, end);
    }
}

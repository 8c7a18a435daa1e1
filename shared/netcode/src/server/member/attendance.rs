//! A member's role in the room: present or away, playing, watching or queueing, ready or idle.

use super::activity::Activity;
use crate::time::{LocalTime, Micros};

/// A lost connection whose seat is kept.
#[derive(Clone, Copy, Debug)]
struct Absence {
    /// Time until which the seat is kept.
    until: LocalTime,
    /// Index of the game in which the connection was lost.
    game: u8,
}

/// Number of free seats, and number of others ahead in the queue for one.
pub(in crate::server) type Places = (u16, Option<u16>);

/// A member's role in the room.
#[derive(Debug)]
pub(in crate::server) struct Attendance {
    absence: Option<Absence>,
    activity: Activity,
    /// Whether the member is ready for the round.
    is_ready: bool,
    /// Ticket in the queue for a seat.
    ticket: Option<u64>,
    /// Numbers of seats that the client was last sent.
    places_told: Option<Places>,
    /// Number of changes between watching and playing, modulo 256; it identifies packets from
    /// before a change.
    changes: u8,
}

impl Attendance {
    pub(in crate::server) fn new(now: LocalTime) -> Self {
        Self {
            absence: None,
            activity: Activity::new(now),
            is_ready: false,
            ticket: None,
            places_told: None,
            changes: 0,
        }
    }

    /// Whether the connection is lost and the seat is kept.
    pub(in crate::server) fn is_away(&self) -> bool {
        self.absence.is_some()
    }

    /// Returns the time until which the seat is kept; `None` if the player is present.
    pub(in crate::server) fn away_until(&self) -> Option<LocalTime> {
        self.absence.map(|absence| absence.until)
    }

    /// Whether the player was present at some time during the game with this index.
    pub(in crate::server) fn was_in(&self, game: u8) -> bool {
        self.absence.is_none_or(|absence| absence.game == game)
    }

    /// Keeps the seat until a time. Returns `false` and changes nothing if the player was away
    /// already.
    pub(in crate::server) fn leave(&mut self, until: LocalTime, game: u8) -> bool {
        let was_here = self.absence.is_none();
        self.absence.get_or_insert(Absence { until, game });
        was_here
    }

    /// Notes that the player was active.
    pub(in crate::server) fn note_activity(&mut self, now: LocalTime) {
        self.activity = Activity::new(now);
    }

    /// Returns the time since the player was last active.
    pub(in crate::server) fn idle(&self, now: LocalTime) -> Micros {
        now - self.activity.at
    }

    /// Notes a warning. Returns `false` if the player was warned before.
    pub(in crate::server) fn warn(&mut self) -> bool {
        !std::mem::replace(&mut self.activity.is_warned, true)
    }

    pub(in crate::server) fn is_ready(&self) -> bool {
        self.is_ready
    }

    pub(in crate::server) fn set_ready(&mut self, is_ready: bool) {
        self.is_ready = is_ready;
    }

    /// Returns the ticket in the queue for a seat.
    pub(in crate::server) fn ticket(&self) -> Option<u64> {
        self.ticket
    }

    pub(in crate::server) fn set_ticket(&mut self, ticket: Option<u64>) {
        self.ticket = ticket;
    }

    /// Notes numbers of seats to send to the client. Returns `false` if it has been sent them
    /// before, or is away.
    pub(in crate::server) fn is_news(&mut self, places: Places) -> bool {
        self.absence.is_none() && self.places_told.replace(places) != Some(places)
    }

    /// Changes between watching and playing.
    pub(in crate::server) fn change_part(&mut self, now: LocalTime) {
        self.changes = self.changes.wrapping_add(1);
        self.activity = Activity::new(now);
        self.places_told = None;
    }

    /// Returns the index of the game in the server's rotation, as this client counts it.
    pub(in crate::server) fn number(&self, number: u8) -> u8 {
        number.wrapping_add(self.changes)
    }
}

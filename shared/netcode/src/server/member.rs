//! One client in the room, in parts: the person, its role in the room, its allowances, its clocks,
//! and how snapshots are delivered to it.

use crate::time::{LocalTime, Micros};
use crate::wire::control::Hello;

use super::clock::RoomTime;
use super::people::MemberStats;
use allowances::{Allowances, Request};
use attendance::Attendance;
use delivery::Delivery;
use person::Person;
use timing::Timing;

mod activity;
pub(super) mod allowances;
mod answers;
pub(super) mod attendance;
pub(super) mod bucket;
mod delivery;
mod figures;
pub(super) mod person;
mod timing;
pub(super) mod view;

/// What the room passes to each newcomer's parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) time: RoomTime,
    /// Number of the epoch, modulo 256.
    pub(super) epoch: u8,
    /// Maximum rate of snapshots in bytes per second.
    pub(super) bytes_per_second: u32,
}

/// A client of the server. It outlives a game.
#[derive(Debug)]
pub(super) struct Member {
    person: Person,
    attendance: Attendance,
    allowances: Allowances,
    timing: Timing,
    delivery: Delivery,
    stats: MemberStats,
}

impl Member {
    /// Creates the member for a person whose client said hello.
    pub(super) fn new(person: Person, hello: Hello, terms: Terms) -> Self {
        let Terms { time, epoch, bytes_per_second } = terms;
        Self {
            person,
            attendance: Attendance::new(time.now),
            allowances: Allowances::default(),
            timing: Timing::new(hello.sent, time, epoch),
            delivery: Delivery::new(hello, time, bytes_per_second),
            stats: MemberStats::default(),
        }
    }

    /// Takes over from an earlier session of the player.
    pub(super) fn resume(&mut self, before: &Self) {
        self.person.resume(&before.person);
        (self.allowances, self.stats) = (before.allowances, before.stats);
    }

    pub(super) fn person(&self) -> &Person {
        &self.person
    }

    pub(super) fn person_mut(&mut self) -> &mut Person {
        &mut self.person
    }

    pub(super) fn attendance(&self) -> &Attendance {
        &self.attendance
    }

    pub(super) fn attendance_mut(&mut self) -> &mut Attendance {
        &mut self.attendance
    }

    pub(super) fn timing(&self) -> &Timing {
        &self.timing
    }

    pub(super) fn timing_mut(&mut self) -> &mut Timing {
        &mut self.timing
    }

    pub(super) fn delivery(&self) -> &Delivery {
        &self.delivery
    }

    pub(super) fn delivery_mut(&mut self) -> &mut Delivery {
        &mut self.delivery
    }

    /// Takes one request from the allowance of its kind. Returns `false` if it is used up.
    pub(super) fn may_ask(&mut self, now: LocalTime, request: Request) -> bool {
        self.allowances.take(now, request)
    }

    /// Takes one input packet from the allowance. Returns `false` if it is used up.
    pub(super) fn may_send_packet(&mut self) -> bool {
        self.allowances.take_packet()
    }

    /// Adds one tick's allowance of input packets.
    pub(super) fn refill(&mut self) {
        self.allowances.refill();
    }

    /// Whether the client has a connection.
    pub(super) fn is_here(&self) -> bool {
        !self.attendance.is_away()
    }

    /// Changes between watching and playing, with another delay.
    pub(super) fn change_part(&mut self, now: LocalTime, delay: Micros) {
        self.timing.set_delay(delay);
        self.attendance.change_part(now);
    }

    /// Returns the counters of the session.
    pub(super) fn stats(&self) -> MemberStats {
        self.stats
    }

    /// Whether a valid input packet has come.
    pub(super) fn has_played(&self) -> bool {
        self.stats.accepted > 0
    }

    pub(super) fn stats_mut(&mut self) -> &mut MemberStats {
        &mut self.stats
    }
}

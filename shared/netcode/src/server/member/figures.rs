//! Figures about a member, for the host.

use super::Member;
use crate::server::people::PlayerFigures;
use crate::time::{LocalTime, Micros, ServerTime};

impl Member {
    /// Returns the figures for the host, except those that come from the world.
    pub(in crate::server) fn figures(
        &self,
        now: LocalTime,
        server_time: ServerTime,
    ) -> PlayerFigures {
        let Self { person, attendance, timing, .. } = self;
        let estimate = timing.estimate(server_time);
        PlayerFigures {
            player: person.player(),
            name: person.name().to_owned(),
            key: person.key(),
            address: person.address(),
            played: now - person.joined(),
            is_away: attendance.is_away(),
            idle: attendance.idle(now),
            round_trip: estimate.map(|it| it.round_trip),
            jitter: timing.jitter(),
            offset: estimate.map(|it| it.offset),
            error_max: estimate.map(|it| it.error_max),
            is_watching: false,
            is_muted: person.is_muted(now),
            scores: Vec::new(),
            stats: self.stats,
        }
    }

    /// Returns the round trip time, if it is known.
    pub(in crate::server) fn round_trip(&self, server_time: ServerTime) -> Option<Micros> {
        self.timing.estimate(server_time).map(|it| it.round_trip)
    }
}

//! Figures of a member for the host.

use super::{JITTER_GAIN, Member};
use crate::server::people::PlayerFigures;
use crate::time::{LocalTime, Micros, ServerTime};

impl Member {
    /// Figures for the host, without what the world knows.
    pub(in crate::server) fn figures(
        &self,
        now: LocalTime,
        server_time: ServerTime,
    ) -> PlayerFigures {
        let estimate = self.offset.estimate(server_time);
        PlayerFigures {
            player: self.player,
            name: self.name.clone(),
            key: self.key,
            address: self.address,
            played: now - self.joined,
            is_away: self.away_until.is_some(),
            idle: now - self.activity.at,
            round_trip: estimate.map(|it| it.round_trip),
            jitter: Micros(self.jitter / JITTER_GAIN),
            offset: estimate.map(|it| it.offset),
            error_max: estimate.map(|it| it.error_max),
            is_watching: false,
            is_muted: self.muted.as_ref().is_some_and(|mute| mute.holds(now)),
            scores: Vec::new(),
            stats: self.stats,
        }
    }

    /// Round trip, as far as it is known.
    pub(in crate::server) fn round_trip(&self, server_time: ServerTime) -> Option<Micros> {
        self.offset.estimate(server_time).map(|it| it.round_trip)
    }
}

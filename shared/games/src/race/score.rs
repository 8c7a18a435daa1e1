//! The server's record of the race.

use std::collections::BTreeMap;

use glam::Vec2;
use serde::{Deserialize, Serialize};

use super::entities::{Car, Piece, Score};
use super::track::{GATES, lap_of};
use crate::records::owned_mut;
use phaselock::game::{Entities, Memory};
use phaselock::ids::PlayerId;

/// What the server records about a player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Progress in metres, which never decreases within a race; see
    /// [`Track::progress`](super::track::Track::progress).
    pub progress: f32,
    /// Last time at the line, in seconds after green.
    line: f32,
    /// Place in the previous race; 0 if it did not take part.
    before: u16,
}

/// The server's record, and scratch lists for each tick, kept to reuse their memory.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct RaceMemory {
    entries: BTreeMap<PlayerId, Entry>,
    #[serde(skip)]
    pub(super) before: Vec<(Vec2, u16)>,
    #[serde(skip)]
    pub(super) pairs: Vec<(u16, u16)>,
}

impl<G> Memory<G, Piece> for RaceMemory {
    /// Does nothing: each tick refills the fields that are not saved.
    fn restored(&mut self, _: &G, _: &Entities<Piece>) {}
}

/// Converts seconds to the unit of scores.
fn hundredths(secs: f32) -> u16 {
    (secs * 100.0).round() as u16
}

impl RaceMemory {
    /// Returns the record of a player.
    pub fn entry(&self, player: PlayerId) -> Option<&Entry> {
        self.entries.get(&player)
    }

    /// Returns the order of the grid: reverse order of the last race, newcomers last.
    pub(super) fn line_up(&self, players: &[PlayerId]) -> Vec<PlayerId> {
        let before = |player: &PlayerId| self.entries.get(player).map_or(0, |entry| entry.before);
        let mut order = players.to_vec();
        order.sort_by_key(|player| (std::cmp::Reverse(before(player)), *player));
        order
    }

    /// Puts a player on the track for a race.
    pub(super) fn enter(&mut self, player: PlayerId, progress: f32) {
        let entry = self.entries.entry(player).or_default();
        (entry.progress, entry.line) = (progress, 0.0);
    }

    pub(super) fn forget(&mut self, player: PlayerId) {
        self.entries.remove(&player);
    }

    /// Updates a player's progress.
    pub(super) fn advance(&mut self, player: PlayerId, progress: f32) {
        if let Some(entry) = self.entries.get_mut(&player) {
            entry.progress = entry.progress.max(progress);
        }
    }

    /// Notes that a player has passed a gate, this many seconds after green.
    pub(super) fn pass(&mut self, player: PlayerId, score: &mut Score, car: &Car, secs: f32) {
        let Some(entry) = self.entries.get_mut(&player) else { return };
        let is_line = (car.gates - 1).is_multiple_of(GATES);
        if !is_line {
            return;
        }
        if lap_of(car.gates) > 1 {
            score.last = hundredths(secs - entry.line).max(1);
            score.best = if score.best == 0 { score.last } else { score.best.min(score.last) };
            entry.line = secs;
        }
        if car.has_finished() {
            score.time = hundredths(secs).max(1);
        }
    }

    /// Writes all places: finished players by time, the others by progress.
    pub(super) fn rank(&self, entities: &mut Entities<Piece>) {
        let progress = |player| self.entries.get(&player).map_or(0.0, |entry| entry.progress);
        let scores = entities.records::<Score>();
        let mut order: Vec<_> = scores.filter_map(|it| Some((it.entity.time, it.owner?))).collect();
        order.sort_by(|(a_time, a), (b_time, b)| {
            // A time of 0 means none, and comes last.
            let by_time = a_time.wrapping_sub(1).cmp(&b_time.wrapping_sub(1));
            by_time.then(progress(*b).total_cmp(&progress(*a))).then(a.cmp(b))
        });
        for ((_, player), place) in order.into_iter().zip(1..) {
            if let Some(score) = owned_mut::<Score, _>(entities, player) {
                score.place = place;
            }
        }
    }

    /// Ends the race and notes the places for the next grid.
    pub(super) fn close(&mut self, entities: &Entities<Piece>) {
        for slot in entities.records::<Score>() {
            if let Some(entry) = slot.owner.and_then(|owner| self.entries.get_mut(&owner)) {
                entry.before = slot.entity.place;
            }
        }
    }
}

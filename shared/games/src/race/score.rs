//! The server's book of the race.

use std::collections::BTreeMap;

use glam::Vec2;

use super::entities::{Car, Piece, Score};
use super::track::{GATES, lap_of};
use phaselock::game::Entities;
use phaselock::ids::PlayerId;

/// The server's notes on a player.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Entry {
    /// How far it has come, in metres: see [`Track::progress`](super::track::Track::progress). It
    /// never falls within a race.
    pub progress: f32,
    /// When it last passed the line, in seconds after green.
    line: f32,
    /// Its place in the race before; 0 if it was not in it.
    before: u16,
}

/// The server's book, and lists that each tick fills anew, kept for their memory.
#[derive(Debug, Default)]
pub struct Book {
    entries: BTreeMap<PlayerId, Entry>,
    pub(super) before: Vec<(Vec2, u16)>,
    pub(super) pairs: Vec<(u16, u16)>,
}

/// Seconds as scores tell them.
fn hundredths(secs: f32) -> u16 {
    (secs * 100.0).round() as u16
}

impl Book {
    /// The book's entry of a player.
    pub fn entry(&self, player: PlayerId) -> Option<&Entry> {
        self.entries.get(&player)
    }

    /// The order of the grid: the last of the race before first, and then who was not in it.
    pub(super) fn line_up(&self, players: &[PlayerId]) -> Vec<PlayerId> {
        let before = |player: &PlayerId| self.entries.get(player).map_or(0, |entry| entry.before);
        let mut order = players.to_vec();
        order.sort_by_key(|player| (std::cmp::Reverse(before(player)), *player));
        order
    }

    /// A player is put on the track for a race.
    pub(super) fn enter(&mut self, player: PlayerId, progress: f32) {
        let entry = self.entries.entry(player).or_default();
        (entry.progress, entry.line) = (progress, 0.0);
    }

    pub(super) fn forget(&mut self, player: PlayerId) {
        self.entries.remove(&player);
    }

    /// A player has come so far.
    pub(super) fn advance(&mut self, player: PlayerId, progress: f32) {
        if let Some(entry) = self.entries.get_mut(&player) {
            entry.progress = entry.progress.max(progress);
        }
    }

    /// A player has passed a gate, so many seconds after green.
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

    /// States everybody's place: those who have finished by their times, then by how far they are.
    pub(super) fn rank(&self, entities: &mut Entities<Piece>) {
        let progress = |player| self.entries.get(&player).map_or(0.0, |entry| entry.progress);
        let mut order: Vec<_> = entities
            .records::<Score>()
            .filter_map(|slot| {
                let player = slot.owner?;
                let time = if slot.entity.time == 0 { u16::MAX } else { slot.entity.time };
                Some((time, -progress(player), player, slot.id))
            })
            .collect();
        order.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        for ((_, _, _, id), place) in order.iter().zip(1_u16..) {
            if let Some(score) = entities.record_mut::<Score>(*id) {
                score.place = place;
            }
        }
    }

    /// The race is over: notes the places for the next grid.
    pub(super) fn close(&mut self, entities: &Entities<Piece>) {
        for slot in entities.records::<Score>() {
            if let Some(entry) = slot.owner.and_then(|owner| self.entries.get_mut(&owner)) {
                entry.before = slot.entity.place;
            }
        }
    }
}

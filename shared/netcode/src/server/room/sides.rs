//! Sides: who chooses one, and how they are evened out.

use std::collections::BTreeSet;

use super::Room;
use crate::game::{Game, Place};
use crate::ids::PlayerId;
use crate::wire::control::Refusal;

impl<G: Game> Room<G> {
    pub(super) fn choose_side(&mut self, player: PlayerId, side: u8) -> Result<(), Refusal> {
        if side >= G::KIT.sides.count {
            return Err(Refusal::Off);
        }
        let Place { group, side: own } = self.simulation.place_of(player).ok_or(Refusal::Off)?;
        if own == side {
            return Ok(());
        }
        let [(people, bots), (own_people, own_bots)] =
            [side, own].map(|side| self.on_side(Place { group, side }));
        // Only people count; bots make room.
        if people.len() + 1 > own_people.len() {
            return Err(Refusal::Uneven);
        }
        let all = people.len() + bots.len();
        let is_heavy = all + 1 > own_people.len() + own_bots.len();
        let bot = bots.last().copied();
        let simulation = &mut self.simulation;
        let mut put = |exchange| simulation.put(player, side, exchange);
        let done = (!is_heavy && put(None)) || (bot.is_some() && put(bot));
        // Without a bot, one side may have one player more than the other.
        if !(done || people.len() < own_people.len() && put(None)) {
            return Err(Refusal::Uneven);
        }
        simulation.snap();
        Ok(())
    }

    /// Returns people and bots on a side.
    pub(super) fn on_side(&self, place: Place) -> (Vec<PlayerId>, Vec<PlayerId>) {
        let is_there = |player: &PlayerId| self.simulation.place_of(*player) == Some(place);
        let bots = self.seats.bots().map(|(player, _)| player);
        (self.seats.players().players().filter(is_there).collect(), bots.filter(is_there).collect())
    }

    /// Balances people between sides; bots go the other way.
    pub(super) fn balance_sides(&mut self) {
        let players = self.seats.players();
        let places = players.players().filter_map(|player| self.simulation.place_of(player));
        let groups: BTreeSet<u16> = places.map(|place| place.group).collect();
        for group in groups {
            // Each move reduces the difference by two, so this ends.
            for _ in 0..self.seats.players().len() {
                let mut all: Vec<_> = (0..G::KIT.sides.count)
                    .map(|side| (side, self.on_side(Place { group, side })))
                    .collect();
                all.sort_by_key(|(_, (people, _))| people.len());
                let (Some((to, (few, bots))), Some((_, (many, _)))) = (all.first(), all.last())
                else {
                    break;
                };
                let Some(mover) = many.last().filter(|_| many.len() > few.len() + 1) else { break };
                if !self.simulation.put(*mover, *to, bots.last().copied()) {
                    break;
                }
            }
        }
        self.simulation.snap();
    }

    /// Shuffles people between sides: each changes places with a random one.
    pub(super) fn shuffle_sides(&mut self) {
        let mut people = self.people();
        for at in (1..people.len()).rev() {
            let other = self.simulation.below(at as u32 + 1) as usize;
            people.swap(at, other);
        }
        for pair in people.chunks_exact(2) {
            let places = [0, 1].map(|at| self.simulation.place_of(pair[at]));
            if let [Some(a), Some(b)] = places
                && (a.group, a.side) != (b.group, b.side)
            {
                self.simulation.put(pair[0], b.side, Some(pair[1]));
            }
        }
        self.simulation.snap();
    }
}

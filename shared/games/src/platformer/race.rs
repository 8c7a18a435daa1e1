//! Races: the race that a player is in at a tick of its own time, and the standings.

use serde::{Deserialize, Serialize};

use super::entities::{Piece, Score};
use super::level::Level;
use super::movement::{READY_SECS, ticks};
use crate::rounds::{Lengths, Phase, Round};
use phaselock::game::Entities;
use phaselock::ids::PlayerId;
use phaselock::time::{Rates, Tick};

/// Lengths of a round's parts. Two minutes are enough for a first attempt with many falls.
pub const LENGTHS: Lengths = Lengths { warm_up: 8.0, play: 120.0 + READY_SECS, results: 8.0 };
/// Seconds left for the others once the third player has reached the goal.
pub const LAST_SECS: f32 = 20.0;
/// Points for a coin.
pub const COIN_POINTS: u16 = 10;
/// Points for the first places; all later ones get the last value.
const PLACE_POINTS: [u16; 6] = [150, 120, 100, 85, 70, 60];

/// Returns the number, modulo 256, of the race that a player is in at a tick of its own time, given
/// a round that is known up to the tick `known`.
///
/// The end of the warm-up is known seconds ahead, so client and server both move a player to the
/// start when its own time comes. The end of a race is not known ahead (the third player may
/// arrive), so no movement depends on it.
pub(super) fn race_at(round: &Round, rates: Rates, tick: Tick, known: Tick) -> u8 {
    let race = round.played as u8;
    match round.phase() {
        // The end of a warm-up that waits for players has passed.
        Phase::WarmUp => {
            let ends = round.until.span_24(known) > 0 && round.until.span_24(tick) <= 0;
            race.wrapping_add(u8::from(ends))
        }
        Phase::Play => {
            let began = i64::from(play_ticks(rates)) - round.until.span_24(tick);
            race.wrapping_add(u8::from(began >= 0))
        }
        Phase::Results => race.wrapping_add(1),
    }
}

fn play_ticks(rates: Rates) -> u32 {
    // As rounds count them.
    (LENGTHS.play * rates.tick_hz as f32).round() as u32
}

/// Returns the ticks since the race began, for a player who joins at a tick.
pub(super) fn ran_since_start(round: &Round, began: Tick, rates: Rates, tick: Tick) -> u16 {
    match round.phase() {
        // One at the first tick.
        Phase::Play => u16::try_from(tick.since(began) + 1).unwrap_or(u16::MAX),
        // Nothing counts, and no one has to wait.
        Phase::WarmUp | Phase::Results => ticks(rates, READY_SECS) as u16,
    }
}

/// Returns the points for coins and a place, 0 for none.
pub fn points(coins: u8, place: u16) -> u16 {
    let last = PLACE_POINTS[PLACE_POINTS.len() - 1];
    let of = |place: u16| PLACE_POINTS.get(usize::from(place)).copied().unwrap_or(last);
    u16::from(coins) * COIN_POINTS + place.checked_sub(1).map_or(0, of)
}

/// Figures of one player.
#[derive(Clone, Copy, Debug)]
struct Entry {
    owner: PlayerId,
    coins: u8,
    /// Ticks that it ran, if it has reached the goal.
    ran: Option<u16>,
    progress: u8,
}

/// Standings of a race. Its lists are refilled each tick and kept to reuse their memory.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Standings {
    /// When the newest race began.
    pub(super) began: Tick,
    /// Entries in the order of the owners.
    #[serde(skip)]
    entries: Vec<Entry>,
    /// Players in the goal, first one first.
    #[serde(skip)]
    places: Vec<(u16, PlayerId)>,
}

impl Standings {
    /// Reads the standings in the current or last race; of players in other races only their
    /// progress.
    pub(super) fn look(&mut self, level: &Level, round: &Round, entities: &Entities<Piece>) {
        let race = (round.played as u8).wrapping_add(u8::from(round.phase() != Phase::WarmUp));
        self.entries.clear();
        self.places.clear();
        for slot in entities.iter() {
            let (Some(owner), Piece::Player(player)) = (slot.owner, &slot.entity) else {
                continue;
            };
            let races = player.race == race;
            let ran = (races && player.stage == level.goal()).then_some(player.ran);
            let coins = if races { player.coins() as u8 } else { 0 };
            let progress = (level.progress(player.x) * 63.0) as u8;
            self.entries.push(Entry { owner, coins, ran, progress });
            self.places.extend(ran.map(|ran| (ran, owner)));
        }
        self.entries.sort_unstable_by_key(|entry| entry.owner);
        // Ties are broken by player id.
        self.places.sort_unstable();
    }

    /// Returns the number of players in the goal.
    pub(super) fn arrived(&self) -> usize {
        self.places.len()
    }

    /// Whether there are players, and all of them are in the goal.
    pub(super) fn all_arrived(&self) -> bool {
        !self.entries.is_empty() && self.places.len() == self.entries.len()
    }

    fn entry(&self, player: PlayerId) -> Option<&Entry> {
        let at = self.entries.binary_search_by_key(&player, |entry| entry.owner).ok()?;
        self.entries.get(at)
    }

    /// Writes the standings to the scores; coins, place, points and time only if it `counts`.
    pub(super) fn write_scores(&self, rates: Rates, entities: &mut Entities<Piece>, counts: bool) {
        for (_, owner, score) in entities.records_mut::<Score>() {
            let Some(entry) = owner.and_then(|owner| self.entry(owner)) else { continue };
            score.progress = entry.progress;
            if !counts {
                continue;
            }
            let place = |ran| {
                let before =
                    self.places.partition_point(|(of, by)| (*of, *by) < (ran, entry.owner));
                (before + 1).min(1023) as u16
            };
            score.coins = entry.coins;
            score.place = entry.ran.map_or(0, place);
            score.points = points(score.coins, score.place);
            score.time = entry.ran.map_or(0, |ran| hundredths(rates, ran));
        }
    }
}

/// Adds a win to each player with the most points.
pub(super) fn crown(entities: &mut Entities<Piece>) {
    let most = entities.records::<Score>().map(|slot| slot.entity.points).max().unwrap_or(0);
    for (_, _, score) in entities.records_mut::<Score>() {
        if score.points == most && most > 0 {
            score.wins = score.wins.saturating_add(1);
        }
    }
}

/// Returns the time of a race from its start signal, in hundredths of a second.
fn hundredths(rates: Rates, ran: u16) -> u16 {
    let ticks = u64::from(ran).saturating_sub(ticks(rates, READY_SECS));
    (ticks * 100 / u64::from(rates.tick_hz)).min(u64::from(u16::MAX)) as u16
}

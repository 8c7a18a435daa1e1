//! Rounds, as used by all games: warm-up, play, results, and again.
//!
//! A game has one [`Round`] among its entities and advances it once per tick. The game decides what
//! a phase means: in [`Phase::Play`] things count, in the others they need not.

use std::collections::BTreeSet;

use phaselock::fields::Holds;
use phaselock::game::{Entities, Game, RoundClock, RoundPart, World};
use phaselock::record;
use phaselock::time::{Rates, Tick};

/// A part of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Players arrive and try things out; it waits for the first one.
    WarmUp,
    /// The part that counts.
    Play,
    /// The winners are shown.
    Results,
}

/// Lengths of a round's parts, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lengths {
    /// The warm-up, counted from the first player on.
    pub warm_up: f32,
    /// The longest play; a game may decide it earlier.
    pub play: f32,
    /// The results.
    pub results: f32,
}

/// How far a play is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contest {
    /// Number of players present.
    pub players: usize,
    /// Whether the play is won or lost early.
    pub decided: bool,
}

record! {
    /// A round: its part, and the end of that. It changes three times per round, so it costs almost
    /// no bytes.
    pub struct Round {
        /// 0 warm-up, 1 play, 2 results; see [`Round::phase`].
        pub part: u8 = Field::count(2).server_only(),
        /// The first tick of the next part; already past in a warm-up that waits for players.
        pub until: Tick = Field::count(24).server_only(),
        /// Number of finished rounds, modulo 65536.
        pub played: u16 = Field::count(16).server_only(),
    }
}

impl Round {
    /// Creates a warm-up that waits for players, at a tick.
    pub fn new(now: Tick) -> Self {
        Self { part: 0, until: now.minus(1), played: 0 }
    }

    /// Returns the current part.
    pub fn phase(&self) -> Phase {
        match self.part {
            0 => Phase::WarmUp,
            1 => Phase::Play,
            _ => Phase::Results,
        }
    }

    /// Returns the ticks until the next part, as of a tick; 0 if it is due, or waits for players.
    pub fn ticks_left(&self, now: Tick) -> u64 {
        u64::try_from(self.until.span_24(now)).unwrap_or(0)
    }

    /// Returns the seconds until the next part.
    pub fn secs_left(&self, now: Tick, rates: Rates) -> f32 {
        self.ticks_left(now) as f32 * rates.step_secs()
    }

    /// Whether it is a warm-up that waits for the first player.
    pub fn is_waiting(&self, now: Tick) -> bool {
        self.phase() == Phase::WarmUp && self.until.span_24(now) < 0
    }

    /// Advances the round by one tick. Returns the part that begins with this tick, if one does.
    pub fn advance(
        &mut self,
        tick: Tick,
        rates: Rates,
        lengths: Lengths,
        contest: Contest,
    ) -> Option<Phase> {
        let Contest { players, decided } = contest;
        let (next, secs) = match self.phase() {
            Phase::WarmUp if players == 0 => {
                // One tick ago, so it waits.
                self.until = tick.minus(1);
                return None;
            }
            Phase::WarmUp if self.until.span_24(tick) < 0 => (Phase::WarmUp, lengths.warm_up),
            Phase::WarmUp => (Phase::Play, lengths.play),
            Phase::Play => (Phase::Results, lengths.results),
            Phase::Results => (Phase::WarmUp, lengths.warm_up),
        };
        let early = decided && self.phase() == Phase::Play;
        if self.ticks_left(tick) > 0 && !early {
            return None;
        }
        if self.phase() == Phase::Results {
            self.played = self.played.wrapping_add(1);
        }
        self.part = next as u8;
        let ticks = (secs * rates.tick_hz as f32).round().clamp(1.0, Self::TICKS_MAX);
        self.until = tick.plus(ticks as u64);
        Some(next)
    }

    /// Maximum length of a part in ticks: half the range that distinguishes past from future, more
    /// than a day.
    const TICKS_MAX: f32 = (1 << 22) as f32;
}

/// Returns a world's round, or a waiting warm-up if it has none.
pub fn round<E: Holds<Round>>(entities: &Entities<E>) -> Round {
    entities.records::<Round>().next().map_or_else(Round::default, |slot| slot.entity)
}

/// Advances a world's round by a tick; see [`Round::advance`].
pub(crate) fn advance<E: Holds<Round>>(
    entities: &mut Entities<E>,
    tick: Tick,
    rates: Rates,
    lengths: Lengths,
    contest: Contest,
) -> Option<Phase> {
    let (_, _, round) = entities.records_mut::<Round>().next()?;
    round.advance(tick, rates, lengths, contest)
}

/// Reports all players' figures to the host.
pub(crate) fn report<G: Game>(world: &mut World<G>) {
    let players: BTreeSet<_> = world.entities.iter().filter_map(|slot| slot.owner).collect();
    for measure in G::KIT.measures {
        for player in &players {
            if let Some(value) = (measure.of)(&world.entities, *player) {
                world.report(measure.name, Some(*player), value);
            }
        }
    }
}

/// Converts hundredths to seconds; `None` for 0, which means no time.
pub(crate) fn secs(hundredths: u16) -> Option<f64> {
    (hundredths > 0).then(|| f64::from(hundredths) / 100.0)
}

/// Returns the number of finished rounds of a world.
pub fn played<G: Game>(world: &World<G>) -> u32
where
    G::Entity: Holds<Round>,
{
    u32::from(round(&world.entities).played)
}

/// Returns a world's clock, as a room reads it.
pub fn clock<G: Game>(world: &World<G>) -> Option<RoundClock>
where
    G::Entity: Holds<Round>,
{
    let round = round(&world.entities);
    let part = match round.phase() {
        Phase::WarmUp => RoundPart::WarmUp,
        Phase::Play => RoundPart::Play,
        Phase::Results => RoundPart::Results,
    };
    Some(RoundClock { part, ticks_left: round.ticks_left(world.tick) })
}

/// Makes the current part end in this many ticks, at most in a day.
pub fn set_ticks_left<G: Game>(world: &mut World<G>, ticks: u64)
where
    G::Entity: Holds<Round>,
{
    let until = world.tick.plus(ticks.clamp(1, Round::TICKS_MAX as u64));
    for (_, _, round) in world.entities.records_mut::<Round>() {
        round.until = until;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTHS: Lengths = Lengths { warm_up: 2.0, play: 10.0, results: 3.0 };

    fn play(round: &mut Round, ticks: std::ops::Range<u64>, players: usize) -> Vec<(u64, Phase)> {
        let rates = Rates::DEFAULT;
        ticks
            .filter_map(|tick| {
                let begun = round.advance(
                    Tick(tick),
                    rates,
                    LENGTHS,
                    Contest { players, decided: false },
                )?;
                Some((tick, begun))
            })
            .collect()
    }

    #[test]
    fn a_round_waits_for_players_and_goes_round() {
        let mut round = Round::new(Tick(0));
        assert_eq!(play(&mut round, 1..500, 0), []);
        assert!(round.is_waiting(Tick(500)));
        let begun = play(&mut round, 500..2000, 1);
        assert_eq!(
            begun,
            [
                (500, Phase::WarmUp),
                (620, Phase::Play),
                (1220, Phase::Results),
                (1400, Phase::WarmUp),
                (1520, Phase::Play),
            ]
        );
        assert_eq!((round.played, round.phase()), (1, Phase::Play));
        assert_eq!(round.ticks_left(Tick(2000)), 120);
        assert!((round.secs_left(Tick(2000), Rates::DEFAULT) - 2.0).abs() < 1e-4);
    }

    #[test]
    fn a_decided_play_ends_before_its_time() {
        let mut round = Round::new(Tick(0));
        play(&mut round, 1..200, 2);
        assert_eq!(round.phase(), Phase::Play);
        let won = Contest { players: 2, decided: true };
        let begun = round.advance(Tick(200), Rates::DEFAULT, LENGTHS, won);
        assert_eq!((begun, round.ticks_left(Tick(200))), (Some(Phase::Results), 180));
        // Only a play can be decided.
        assert_eq!(round.advance(Tick(201), Rates::DEFAULT, LENGTHS, won), None);
    }

    #[test]
    fn rounds_continue_where_the_low_bits_of_ticks_wrap() {
        let start = (1 << 24) - 60;
        let mut round = Round::new(Tick(start));
        let begun = play(&mut round, start..start + 900, 1);
        assert_eq!(
            begun,
            [(start, Phase::WarmUp), (start + 120, Phase::Play), (start + 720, Phase::Results)]
        );
        assert_eq!(round.ticks_left(Tick(start + 800)), 100);
    }
}

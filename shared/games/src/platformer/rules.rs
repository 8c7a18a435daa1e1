//! The players' own times, and the course of a race.

use super::entities::{Command, Piece, Player, Score};
use super::level::{self, Level};
use super::movement::{OwnTick, READY_SECS, at_start, movement_from, snap, ticks};
use super::race::{self, LAST_SECS, LENGTHS, Standings, race_at, ran_since_start};
use crate::records::runs;
use crate::rounds::{self, Contest, Phase, Round, round};
use phaselock::game::{Ahead, Entities, Inputs, Known, Memory, RunStage, Subtick, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::time::{Rates, Tick};

/// The rules and the level.
#[derive(Debug)]
pub struct Platformer {
    /// The level.
    pub level: &'static Level,
    pub(super) rates: Rates,
}

/// What all players' steps in a tick of the world depend on.
#[derive(Clone, Copy)]
struct WorldTick<'a> {
    tick: Tick,
    round: &'a Round,
    inputs: &'a Inputs<Command>,
}

/// Returns the elapsed part of the tick at which keys change, in 1/64.
fn part_of(subtick: Option<Subtick>) -> u8 {
    subtick.map_or(0, Subtick::start)
}

impl Memory<Platformer, Piece> for Standings {
    /// The round depends on the standings of the previous tick.
    fn restored(&mut self, game: &Platformer, entities: &Entities<Piece>) {
        self.look(game.level, &round(entities), entities);
    }
}

impl Platformer {
    /// Returns a player who joins now: at the start, in the current race.
    pub(super) fn newcomer(&self, world: &World<Self>) -> Player {
        let round = round(&world.entities);
        let player = Player {
            race: race_at(&round, self.rates, world.tick, world.tick),
            ran: ran_since_start(&round, world.memory.began, self.rates, world.tick),
            clock: level::clock_at(self.rates, world.tick, 0.0),
            pressed: Command::default().to_pressed(),
            ..Player::default()
        };
        at_start(self.level, &player)
    }

    /// Returns whether a player runs in a race or has finished it. The time begins with the signal.
    pub(super) fn stage(&self, piece: &Piece) -> Option<RunStage> {
        let Piece::Player(player) = piece else { return None };
        let ready = u32::try_from(ticks(self.rates, READY_SECS)).unwrap_or(u32::MAX);
        let ticks = u32::from(player.ran).checked_sub(ready);
        let is_home = player.stage == self.level.goal();
        Some(RunStage {
            is_running: !is_home && ticks.is_some(),
            finished: u16::from(is_home),
            ticks,
        })
    }

    /// Runs one tick of the authoritative world.
    pub(super) fn advance(&self, world: &mut World<Self>, inputs: &Inputs<Command>) {
        self.advance_round(world);
        let World { tick, entities, memory: standings, .. } = world;
        let round = round(entities);
        let now = WorldTick { tick: *tick, round: &round, inputs };
        for (_, owner, player) in entities.records_mut::<Player>() {
            if let Some(owner) = owner {
                self.run(&now, player, owner);
            }
        }
        standings.look(self.level, &round, entities);
        standings.write_scores(self.rates, entities, round.phase() == Phase::Play);
    }

    /// Runs a tick of a client's own player, as the client predicts it.
    pub(super) fn ahead(
        &self,
        entities: &mut Entities<Piece>,
        own: EntityId,
        command: &Command,
        ahead: Ahead<'_>,
    ) {
        let round = entities.records::<Round>().next().map(|slot| slot.entity);
        let Some(player) = entities.record_mut::<Player>(own) else { return };
        let known = ahead.tick.minus(ahead.ticks);
        let race =
            round.map_or(player.race, |round| race_at(&round, self.rates, ahead.tick, known));
        let now = OwnTick { tick: ahead.tick, race };
        let part = part_of(ahead.subtick);
        movement_from(self.level, self.rates, now, player, (command, part));
    }

    /// Runs a player's steps in a tick of the world. Ticks whose inputs never came run without
    /// pressed keys, so a player cannot hang in the air by sending nothing.
    fn run(&self, now: &WorldTick<'_>, player: &mut Player, owner: PlayerId) {
        let WorldTick { tick, round, inputs } = *now;
        let mut own = tick.minus(1 + u64::from(player.age));
        let mut run = |own: &mut Tick, keys: (&Command, u8)| {
            *own = own.plus(1);
            let race = race_at(round, self.rates, *own, tick);
            movement_from(self.level, self.rates, OwnTick { tick: *own, race }, player, keys);
            // As after each tick: replayed states are on the grid, too.
            snap(player);
        };
        for step in inputs.steps(owner) {
            let at = tick.minus(step.age);
            while own.plus(1) < at {
                run(&mut own, (&Command::default(), 0));
            }
            if own < at {
                run(&mut own, (&step.input, part_of(step.subtick)));
            }
        }
        while own < tick.minus(inputs.age(owner)) {
            run(&mut own, (&Command::default(), 0));
        }
    }

    /// Implements [`Coding::extrapolate`](phaselock::game::Coding::extrapolate): the keys of `base`
    /// run first, then those of `steering` for as long as they have been held. Exact if the keys
    /// changed at most once, unless the player's own time waited or another race began.
    pub(super) fn extrapolate(&self, known: Known<'_, Piece>) -> Option<Piece> {
        let Known { base, steering, ticks } = known;
        let (Piece::Player(base), Piece::Player(steering)) = (base, steering) else {
            return Some(*base);
        };
        let mut player = *base;
        let begin = level::tick_of(self.rates, base.clock);
        for tick in 1..=ticks {
            let keys = runs(base, steering, steering.held, tick, ticks).keys();
            let changes = tick + u64::from(steering.held) == ticks + 1;
            let part = if changes { steering.part } else { 0 };
            let now = OwnTick { tick: begin.plus(tick), race: base.race };
            movement_from(self.level, self.rates, now, &mut player, (&keys, part));
            snap(&mut player);
        }
        Some(player.into())
    }

    fn advance_round(&self, world: &mut World<Self>) {
        let World { tick, entities, memory: standings, .. } = world;
        let players = entities.records::<Player>().count();
        let decided = standings.all_arrived();
        let Some((_, _, round)) = entities.records_mut::<Round>().next() else { return };
        let begins = round.advance(*tick, self.rates, LENGTHS, Contest { players, decided });
        // When a race begins, `standings` are still those of the last one.
        if round.phase() == Phase::Play && begins.is_none() && standings.arrived() >= 3 {
            let left = ticks(self.rates, LAST_SECS);
            if round.ticks_left(*tick) > left {
                round.until = tick.plus(left);
            }
        }
        match begins {
            Some(Phase::Play) => {
                standings.began = *tick;
                for (_, _, score) in entities.records_mut::<Score>() {
                    *score = Score { wins: score.wins, ..Score::default() };
                }
            }
            Some(Phase::Results) => {
                race::crown(entities);
                rounds::report(world);
            }
            _ => {}
        }
    }
}

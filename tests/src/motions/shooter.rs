//! Skirmish as its bots play it: follows one of them until it dies, then another.

use phaselock::fields::Record;
use phaselock::record;
use phaselock_games::skirmish::movement::movement;
use phaselock_games::skirmish::{HEALTH, Player, Skirmish};
use phaselock_testing::bots::BotWorld;

use super::played::states;
use super::{Ahead, RATES, Recording, recording};

/// Players in the arena.
const BOTS: u16 = 8;

record! {
    /// The moving part of a player of Skirmish, on Skirmish's grid.
    struct Shooter {
        right: i16 = Field::centred(2, 0).steering(),
        down: i16 = Field::centred(2, 0).steering(),
        x: f32 = Field::centred(14, 8).moved_by("vx"),
        y: f32 = Field::centred(14, 8).moved_by("vy"),
        vx: f32 = Field::centred(12, 7),
        vy: f32 = Field::centred(12, 7),
        aim: f32 = Field::angle(10),
    }
}

impl Shooter {
    fn of(player: &Player) -> Self {
        let Player { right, down, x, y, vx, vy, aim, .. } = *player;
        Self { right, down, x, y, vx, vy, aim }
    }

    fn player(&self) -> Player {
        let Self { right, down, x, y, vx, vy, aim } = *self;
        Player { right, down, x, y, vx, vy, aim, health: HEALTH, ..Player::default() }
    }
}

pub(super) fn record(ticks: u64, seed: u64) -> Recording {
    let mut bots = BotWorld::<Skirmish>::new(seed, BOTS, true);
    // A segment is a life.
    let states = states(&mut bots, ticks, |piece| {
        let player = piece.player().filter(|player| player.health > 0)?;
        Some((Shooter::of(player).values(), Vec::new()))
    });
    let arena = bots.game.arena;
    let ahead = Ahead::new(move |shooter: &Shooter| {
        let mut player = shooter.player();
        let keys = player.keys();
        movement(&arena, RATES, &mut player, &keys);
        Shooter::of(&player)
    });
    recording(Shooter::FIELDS, &states, Box::new(ahead))
}

#[cfg(test)]
mod tests {
    use phaselock::fields::Field;

    use super::*;

    #[test]
    fn shooters_move_as_in_skirmish_and_die() {
        for field in Shooter::FIELDS {
            let of_game = Player::FIELDS.iter().find(|other| other.name == field.name);
            let of_game = of_game.expect("the game has that field");
            let grid = |field: &Field| (field.min, field.bits, field.fraction_bits, field.motion);
            assert_eq!(grid(field), grid(of_game), "{}", field.name);
        }
        let recording = record(60 * 60, 1);
        let lives = recording.samples.last().map_or(0, |state| state.segment);
        assert!((3..60).contains(&lives), "{lives} lives in a minute");
        for pair in recording.samples.windows(2).filter(|pair| pair[0].segment == pair[1].segment) {
            let [x, y] = recording.position().map(|at| pair[1].values[at] - pair[0].values[at]);
            // Players blown about move at 15.5 m/s at most.
            assert!(x.hypot(y) < 0.27, "it jumps by {x}, {y} m within a life");
        }
    }
}

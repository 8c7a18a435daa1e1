//! Entities that are run forward are exactly where the plain rules put them, although ticks are
//! kept from frame to frame.

use phaselock::fields::{Entity, Field, FieldAudience, Values};
use phaselock::game::Game;
use phaselock::limits::FIELDS_MAX;
use phaselock::motion::{EarlySteer, HORIZON_SECS, Rules, Shape, Start, TickCache};
use phaselock::presentation::extrapolation::Extrapolation;
use phaselock::random::Random;
use phaselock::time::Rates;
use phaselock_games::asteroids::Asteroids;
use phaselock_games::platformer::Platformer;
use phaselock_games::puck::ShufflePuck;
use phaselock_games::race::Race;
use phaselock_games::skirmish::Skirmish;
use phaselock_testing::bots::BotWorld;

/// Players of a game.
const PLAYERS: u16 = 12;
/// Ticks of play, and ticks between two checks of all entities.
const TICKS: u64 = 1800;
const APART: u64 = 9;

/// The state as players other than the owner know it.
fn without_hidden(fields: &[Field], values: &Values) -> Values {
    let mut shown = *values;
    for (value, field) in shown.iter_mut().zip(fields) {
        if field.audience == FieldAudience::Owner {
            *value = field.unpack(0);
        }
    }
    shown
}

/// Extrapolates a state to rising times, by the plain rules and with kept ticks.
fn check(rules: &dyn Rules, start: Start<'_>, random: &mut Random) -> Result<(), String> {
    let mut kept = TickCache::default();
    let mut secs = f64::from(random.range(0.0, 0.2));
    while secs < HORIZON_SECS + 0.35 {
        // A speed is measured a little ahead, and frames continue from before that.
        for secs in [secs, secs + 1.0 / 64.0] {
            let bits = |values: Option<Values>| values.map(|it| it.map(f64::to_bits));
            let (plain, kept) =
                (rules.forward(start, secs), rules.forward_on(start, secs, &mut kept));
            if bits(plain) != bits(kept) {
                return Err(format!("after {secs} s\n{plain:?}\n{kept:?} of\n{start:?}"));
            }
        }
        secs += f64::from(random.range(0.0, 0.04));
    }
    Ok(())
}

fn ticks_are_kept<G: Game>() {
    let mut bots = BotWorld::<G>::new(3, PLAYERS, false);
    let mut random = Random::new(7);
    for tick in 0..TICKS {
        bots.think();
        bots.step();
        let slots = bots.world.entities.iter().filter(|_| tick.is_multiple_of(APART));
        for slot in slots {
            let (kind, values) = (slot.entity.kind(), slot.entity.values());
            let shape = Shape::new(slot.entity.fields());
            let rules = Extrapolation::new(&bots.game, Rates::DEFAULT, kind, &shape);
            for values in [values, without_hidden(slot.entity.fields(), &values)] {
                // No early steering, or the keys are released and pressed again.
                let idle = G::Entity::from_values(kind, &[0.0; FIELDS_MAX]).values();
                let early = [(3, idle), (7, values)];
                let early = early.map(|(after, values)| EarlySteer { after, values });
                for early in [&[][..], &early[..]] {
                    let start = Start { values: &values, early };
                    if let Err(error) = check(&rules, start, &mut random) {
                        let name = G::Entity::KINDS[usize::from(kind)].name;
                        panic!("{}, {name}: {error}", G::NAME);
                    }
                }
            }
        }
    }
}

#[test]
fn kept_ticks_are_those_of_the_rules_in_skirmish() {
    ticks_are_kept::<Skirmish>();
}

#[test]
fn kept_ticks_are_those_of_the_rules_in_asteroids() {
    ticks_are_kept::<Asteroids>();
}

#[test]
#[ignore = "slow: .ci/more runs it"]
fn kept_ticks_are_those_of_the_rules_in_puck() {
    ticks_are_kept::<ShufflePuck>();
}

#[test]
fn kept_ticks_are_those_of_the_rules_in_race() {
    ticks_are_kept::<Race>();
}

#[test]
fn kept_ticks_are_those_of_the_rules_in_platformer() {
    ticks_are_kept::<Platformer>();
}

//! The games themselves, as their bots play them: one entity of a kind is followed for as long as
//! it is there, then another.

use phaselock::fields::{Entity, Motion};
use phaselock::game::Game;
use phaselock::ids::EntityId;
use phaselock::presentation::extrapolation::GameRules;
use phaselock_lab::file::kind_of;
use phaselock_testing::bots::BotWorld;

use super::{RATES, Recording, State, recording};

/// Players of the game.
const BOTS: u16 = 6;
/// Ticks before the recording begins: the warm-up, and some of the play.
const BEFORE: u64 = 15 * 60;

/// Follows the record of that name in a game.
pub(super) fn follow<G: Game>(record_name: &str, ticks: u64, seed: u64) -> Recording {
    let kind = kind_of(G::Entity::KINDS, record_name).expect("the game has such a record");
    let states = record::<G>(kind, ticks, seed);
    let rules = GameRules::<G>::new(RATES, seed, kind);
    recording(G::Entity::KINDS[usize::from(kind)].fields, &states, Box::new(rules))
}

fn record<G: Game>(kind: u8, ticks: u64, seed: u64) -> Vec<State> {
    let mut bots = BotWorld::<G>::new(seed, BOTS, false);
    let mut states: Vec<State> = Vec::new();
    let mut follow: Option<(EntityId, Vec<f32>)> = None;
    let mut segment = 0;
    for tick in 1..=BEFORE + ticks + 2 {
        bots.think();
        bots.step();
        let world = &bots.world;
        if tick <= BEFORE {
            continue;
        }
        let followed = follow.as_ref().and_then(|(id, _)| world.entities.get(*id));
        let first = || world.entities.iter().find(|slot| slot.entity.kind() == kind);
        let Some(slot) = followed.filter(|slot| slot.entity.kind() == kind).or_else(first) else {
            // There is none at the moment.
            follow = None;
            states.extend(states.last().copied());
            continue;
        };
        let values = slot.entity.values();
        let fields = slot.entity.fields().iter().zip(values);
        let cuts = fields.filter(|(field, _)| field.motion == Motion::Cut);
        let cuts: Vec<f32> = cuts.map(|(_, value)| value).collect();
        let before = follow.replace((slot.id, cuts.clone()));
        segment += u32::from(before.is_some_and(|before| before != (slot.id, cuts)));
        states.push(State { values, segment });
    }
    states
}

//! The games themselves, as their bots play them.

use phaselock::fields::{Entity, Motion, Values};
use phaselock::game::{Game, Slot};
use phaselock::ids::EntityId;
use phaselock::presentation::extrapolation::GameRules;
use phaselock_lab::file::kind_of;
use phaselock_testing::bots::BotWorld;

use super::{RATES, Recording, State, recording};

/// Players of the game.
const BOTS: u16 = 6;
/// Ticks before the recording begins: the warm-up, and some of the play.
const BEFORE: u64 = 15 * 60;

/// Follows the record with that name in a game.
pub(super) fn follow<G: Game>(record_name: &str, ticks: u64, seed: u64) -> Recording {
    let kind = kind_of(G::Entity::KINDS, record_name).expect("the game has such a record");
    let mut bots = BotWorld::<G>::new(seed, BOTS, false);
    for _ in 0..=BEFORE {
        bots.think();
        bots.step();
    }
    let states = states(&mut bots, ticks, |entity| {
        let values = entity.values();
        let fields = entity.fields().iter().zip(values);
        let cuts = fields.filter(|(field, _)| field.motion == Motion::Cut);
        (entity.kind() == kind).then(|| (values, cuts.map(|(_, value)| value).collect()))
    });
    let rules = GameRules::<G>::new(RATES, seed, kind);
    recording(G::Entity::KINDS[usize::from(kind)].fields, &states, Box::new(rules))
}

/// Returns states of one entity for as long as `look` sees it, then of another. A segment ends with
/// the entity, or when the numbers beside its values change.
pub(super) fn states<G: Game>(
    bots: &mut BotWorld<G>,
    ticks: u64,
    look: impl Fn(&G::Entity) -> Option<(Values, Vec<f64>)>,
) -> Vec<State> {
    let mut states: Vec<State> = Vec::new();
    let mut followed: Option<(EntityId, Vec<f64>)> = None;
    let mut segment = 0;
    for _ in 0..=ticks + 1 {
        let entities = &bots.world.entities;
        let seen = |slot: &Slot<G::Entity>| Some((slot.id, look(&slot.entity)?));
        let same = followed.as_ref().and_then(|(id, _)| entities.get(*id));
        let found = same.and_then(seen).or_else(|| entities.iter().find_map(seen));
        if let Some((id, (values, cuts))) = found {
            segment += u32::from(followed.as_ref() != Some(&(id, cuts.clone())));
            followed = Some((id, cuts));
            states.push(State { values, segment });
        } else {
            // There is none at present.
            followed = None;
            states.extend(states.last().copied());
        }
        bots.think();
        bots.step();
    }
    states
}

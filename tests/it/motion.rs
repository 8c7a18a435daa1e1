//! Recordings of the own player's motion: what the server has, tick by tick.

use std::collections::BTreeMap;

use phaselock_client::core::Recorded;
use phaselock_shared::game::Game;
use phaselock_shared::games::asteroids::Asteroids;
use phaselock_shared::games::platformer::Platformer;
use phaselock_shared::games::puck::ShufflePuck;
use phaselock_shared::games::race::Race;
use phaselock_shared::games::skirmish::Skirmish;
use phaselock_shared::link::LinkConfig;
use phaselock_shared::replicate::{Entity, Packed, age_of, pack_values, without_age};
use phaselock_shared::time::Tick;
use phaselock_tests::Sim;

const BAD: LinkConfig = LinkConfig::delayed(60, 20).losing(0.05);

fn run<G: Game>(secs: u32) {
    let mut sim = Sim::<G>::new(5, 3);
    sim.join_bot(BAD);
    let mut truth: BTreeMap<Tick, Vec<(u8, Packed)>> = BTreeMap::new();
    let mut recorded: Vec<Recorded> = Vec::new();
    sim.run_each(f64::from(secs), |sim| {
        let world = sim.room.world();
        let Some(core) = &mut sim.clients[0].core else { return };
        core.record_motion(true);
        if let Some(own) = G::avatar(&world.entities, core.player()) {
            let entity = world.entities.get(own).unwrap().entity;
            let packed = entity.pack();
            let tick = world.tick.minus(age_of(entity.fields(), &packed));
            let state = (entity.kind(), without_age(entity.fields(), &packed));
            let states = truth.entry(tick).or_default();
            if !states.contains(&state) {
                states.push(state);
            }
        }
        recorded.extend(std::iter::from_fn(|| core.poll_motion()));
    });
    let mut wrong = BTreeMap::<&str, u32>::new();
    let mut unknown = 0;
    for at in &recorded {
        let fields = G::Entity::KINDS[usize::from(at.kind)].fields;
        let Some(states) = truth.get(&at.tick) else {
            unknown += 1;
            continue;
        };
        let packed = pack_values(fields, &at.values);
        if !states.contains(&(at.kind, packed)) {
            for ((field, a), b) in fields.iter().zip(packed).zip(states[0].1) {
                if a != b {
                    *wrong.entry(field.name).or_default() += 1;
                }
            }
        }
    }
    let (first, last) = (recorded[0], recorded[recorded.len() - 1]);
    let multi = truth.values().filter(|s| s.len() > 1).count();
    eprintln!(
        "{}: {} of {} ticks, {} courses, wrong {wrong:?}, unknown {unknown}, ambiguous {multi}, mispredictions {}",
        G::NAME,
        recorded.len(),
        last.tick.since(first.tick) + 1,
        last.course + 1,
        sim.clients[0].core().stats().mispredictions
    );
}

#[test]
fn measure() {
    run::<Skirmish>(60);
    run::<Race>(60);
    run::<Asteroids>(60);
    run::<ShufflePuck>(60);
    run::<Platformer>(60);
}

//! Recordings of the local player's motion, as the server has it, tick by tick.

use std::collections::BTreeMap;

use phaselock::client::{AnyClient, Recorded};
use phaselock::fields::{Entity, Packed, age_of, pack_values, without_age};
use phaselock::game::{Game, Late};
use phaselock::link::LinkConfig;
use phaselock::motion::interpolate::cut_between;
use phaselock::time::{Rates, Tick};
use phaselock_games::asteroids::Asteroids;
use phaselock_games::platformer::Platformer;
use phaselock_games::puck::ShufflePuck;
use phaselock_games::race::Race;
use phaselock_games::skirmish::Skirmish;
use phaselock_lab::file::{self, Source};
use phaselock_testing::Sim;

/// A round trip of 120 ms and 5 % loss.
const BAD: LinkConfig = LinkConfig::delayed(60, 20).losing(0.05);

/// Lets a bot play among others over a bad link. Returns the recording, after comparing it with the
/// truth.
fn recorded<G: Game>(seed: u64, secs: f64) -> Vec<Recorded> {
    let mut sim = Sim::<G>::new(seed, 3);
    sim.join_bot(BAD);
    sim.run(1.0);
    let mut truth: BTreeMap<Tick, Vec<(u8, Packed)>> = BTreeMap::new();
    let mut recorded = Vec::new();
    sim.run_each(secs, |sim| {
        let world = sim.room.world();
        let core = sim.clients[0].core_mut();
        if truth.is_empty() {
            assert_eq!(core.poll_motion(), None, "no one has requested it yet");
            core.record_motion(true);
        }
        let own = G::avatar(&world.entities, core.player()).and_then(|id| world.entities.get(id));
        let Some(entity) = own.map(|slot| slot.entity) else { return };
        let packed = entity.pack();
        let tick = world.tick.minus(age_of(entity.fields(), &packed));
        let state = (entity.kind(), without_age(entity.fields(), &packed));
        let states = truth.entry(tick).or_default();
        if states.last() != Some(&state) {
            states.push(state);
        }
        recorded.extend(std::iter::from_fn(|| core.poll_motion()));
    });
    assert!(recorded.is_sorted_by(|a, b| a.tick < b.tick && a.segment <= b.segment));

    let since = *truth.keys().next().expect("it plays");
    let mut unseen = 0;
    for at in recorded.iter().filter(|at| at.tick >= since) {
        let Some(states) = truth.get(&at.tick) else {
            unseen += 1;
            continue;
        };
        let fields = G::Entity::KINDS[usize::from(at.kind)].fields;
        let state = (at.kind, pack_values(fields, &at.values));
        assert!(states.contains(&state), "{}: {at:?} is none of {states:?}", G::NAME);
    }
    // A player who catches up runs several ticks of its own time at once, which are not visible one
    // by one.
    let unseen_max = if G::LATE == Late::Wait { recorded.len() / 20 } else { 0 };
    assert!(unseen <= unseen_max, "{}: {unseen} ticks were never", G::NAME);
    recorded
}

/// Checks which percentage of ticks was recorded, and that the file reads back as written. Returns
/// the number of segments.
fn check<G: Game>(seed: u64, percent: u64) -> u32 {
    let recorded = recorded::<G>(seed, 40.0);
    let (first, last) = (recorded[0], recorded[recorded.len() - 1]);
    let ticks = last.tick.since(first.tick) + 1;
    assert!(ticks > 2200, "{}: {ticks}", G::NAME);
    let share = recorded.len() as u64 * 100 / ticks;
    assert!(share >= percent, "{}: {share} % of the ticks", G::NAME);

    let source =
        Source::of(G::NAME, G::Entity::KINDS, first.kind, Rates::DEFAULT, 3).expect("it moves");
    for pair in recorded.windows(2) {
        let cut = cut_between(source.fields, &pair[0].values, &pair[1].values);
        let is_new = pair[1].segment > pair[0].segment;
        assert!(is_new || !cut, "{}: {pair:?}", G::NAME);
    }
    let mut text = file::header(&source);
    for at in &recorded {
        let time = Rates::DEFAULT.time_of(at.tick).0 as f64 / 1e6;
        text.push_str(&file::line(&source, time, at.segment, &at.values));
    }
    let motion = file::read(text.as_bytes(), &phaselock_games::all()).expect("it was written so");
    assert_eq!(motion.source, Some(source));
    assert!(motion.values.iter().eq(recorded.iter().map(|at| &at.values)));
    assert!(motion.points.iter().map(|at| at.segment).eq(recorded.iter().map(|at| at.segment)));
    last.segment + 1
}

#[test]
fn a_recording_is_what_the_server_has() {
    // While a player is dead, a countdown that only the server decides continues, and every other
    // tick is left out.
    assert!(check::<Skirmish>(5, 85) > 1, "nobody died");
    assert!(check::<Asteroids>(5, 97) > 1, "no ship was lost");
    check::<Race>(6, 98);
    check::<ShufflePuck>(7, 97);
}

#[test]
fn a_recording_of_a_player_waited_for_is_by_its_own_time() {
    check::<Platformer>(8, 99);
}

//! Race over bad lines: a whole race, and two who touch.

use phaselock_client::core::Client;
use phaselock_shared::game::Game;
use phaselock_shared::games::race::contact::nearest;
use phaselock_shared::games::race::{Car, Command, Race, Score, car_of};
use phaselock_shared::games::rounds::{Phase, round};
use phaselock_shared::link::Conditions;
use phaselock_shared::motion::Timeline;
use phaselock_shared::motion::choice::Choice;
use phaselock_shared::time::{LocalTime, Micros, Rates, Tick};
use phaselock_tests::lane::Lane;
use phaselock_tests::{Press, Sim, Skew, bot};

const BAD: &str = "delay=60ms,jitter=30ms,loss=5%";

fn conditions(text: &str) -> Conditions {
    text.parse().expect("a link")
}

#[test]
#[allow(clippy::print_stdout, reason = "what it costs is worth a look")]
fn a_race_over_a_bad_line_comes_to_its_end_and_the_next_begins() {
    let mut sim = Sim::<Race>::new(5, 3);
    sim.frame = Micros::from_ms(16);
    for n in 0..3 {
        sim.join_over(&conditions(BAD), Skew::default(), bot::<Race>(40 + n));
    }
    let mut results = None;
    for _ in 0..320 {
        sim.run(1.0);
        sim.truth.clear();
        let entities = &sim.room.world().entities;
        match round(entities).phase() {
            // Half a second after it was told.
            Phase::Results if results.is_none() => {
                sim.run(0.5);
                let scores = |entities: &phaselock_shared::game::Entities<_>| -> Vec<_> {
                    entities.records::<Score>().map(|slot| (slot.owner, slot.entity)).collect()
                };
                let truth = sim.room.world();
                for client in &sim.clients {
                    let known = client.core().newest();
                    assert_eq!(scores(&known), scores(&truth.entities));
                    assert_eq!(round(&known), round(&truth.entities));
                }
                results = Some(scores(&truth.entities));
            }
            Phase::Play if results.is_some() => break,
            _ => {}
        }
    }
    let world = sim.room.world();
    assert_eq!((round(&world.entities).phase(), Race::rounds_played(world)), (Phase::Play, 1));
    let results = results.expect("it was over");
    let home = results.iter().filter(|(_, score)| score.time > 0).count();
    assert_eq!((results.len(), home), (6, 6), "{results:?}");
    sim.run(0.5);
    for client in &sim.clients {
        assert!(client.closed.is_none());
        let core = client.core();
        let known = core.newest();
        assert_eq!(round(&known), round(&sim.room.world().entities));
        assert!(known.records::<Score>().all(|slot| slot.entity.time == 0));
        let stats = core.stats();
        let secs = stats.ticks as f64 / 60.0;
        println!(
            "{:.0} bytes/s down, {:.0} up, {} mispredictions in {secs:.0} s: {:?}",
            stats.rx_bytes as f64 / secs,
            stats.tx_bytes as f64 / secs,
            stats.mispredictions,
            stats.misses
        );
    }
}

/// The first tick at which they drive.
const GO: Tick = Tick(360);

/// Full throttle from a tick on; one leans to the left after a while.
fn command(leans: bool, tick: Tick) -> Command {
    let pedal = if tick >= GO { 3 } else { 0 };
    let turn = match tick.since(GO) {
        100..118 if leans => -2,
        130..138 if leans => 1,
        _ => 0,
    };
    Command { pedal, turn, ..Command::default() }
}

/// What is seen of a contact on one screen, in metres from hull to hull.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// When the own car on the screen is where the server will have it touch.
    own_touches: f32,
    /// When the server has them touch.
    server_touches: f32,
}

/// Two drive side by side and one leans on the other; returns what each of them sees of it.
fn bump<const SHARED: bool>(link: &str, choice: Choice, seed: u64) -> Vec<Seen> {
    let mut sim = Sim::<Lane<SHARED>>::new(seed, 0);
    for leans in [false, true] {
        let press: Press<Lane<SHARED>> = Box::new(move |_, tick| command(leans, tick));
        sim.join_over(&conditions(link), Skew::default(), press);
    }
    let mut touched = None;
    // For each client and frame: the time that the own car is at, the server's, the gap.
    let mut frames: Vec<Vec<(LocalTime, LocalTime, f32)>> = vec![Vec::new(); 2];
    sim.run_each(9.5, |sim| {
        let entities = &sim.room.world().entities;
        if touched.is_none() && entities.records::<Car>().any(|slot| slot.entity.bumps > 0) {
            touched = Some(LocalTime(Rates::DEFAULT.time_of(sim.room.tick()).0));
        }
        if sim.now.0 % sim.frame.0 != 0 {
            return;
        }
        for (client, frames) in sim.clients.iter_mut().zip(&mut frames) {
            let Some(core) = &mut client.core else { continue };
            core.choose(0, choice);
            let view = core.view(sim.now);
            let own = car_of(&view.entities, core.player());
            let other = view.entities.records::<Car>().find(|it| it.owner != Some(core.player()));
            let (Some(own), Some(other)) = (own, other) else { continue };
            let gap = nearest(own, &other.entity).gap;
            let ahead = LocalTime((view.server_time + core.lead().lead()).0);
            frames.push((ahead, LocalTime(view.server_time.0), gap));
        }
    });
    let touched = touched.expect("they touched");
    let seen = frames.iter().map(|frames| {
        let gap = |time: fn(&(LocalTime, LocalTime, f32)) -> LocalTime| {
            frames.iter().find(|frame| time(frame) >= touched).expect("a frame").2
        };
        Seen { own_touches: gap(|it| it.0), server_touches: gap(|it| it.1) }
    });
    seen.collect()
}

#[test]
#[allow(clippy::print_stdout, reason = "the figures are worth a look")]
fn two_who_touch_see_it_both() {
    assert_eq!(Race::presentation(0).timeline(), Timeline::Present);
    for link in ["delay=75ms", "delay=60ms,jitter=30ms,loss=5%"] {
        for seed in [1, 2, 3] {
            let played = bump::<true>(link, Race::presentation(0), seed);
            let present = bump::<false>(link, Race::presentation(0), seed);
            let past = bump::<false>(link, Choice::Hermite, seed);
            println!(
                "{link}, seed {seed}:\n  played  {played:?}\n  present {present:?}\n  past    {past:?}"
            );
        }
    }
}

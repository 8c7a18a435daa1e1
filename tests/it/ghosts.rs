//! Ghosts: the run that set a record is kept, and another player races it.

use std::collections::BTreeMap;

use glam::Vec2;
use phaselock::client::{GhostChoice, Picture};
use phaselock::fields::{Entity, age_of};
use phaselock::game::{Best, Game};
use phaselock::limits::{RUN_BYTES_MAX, RUN_PART_BYTES};
use phaselock::link::LinkConfig;
use phaselock::replay::{Run, run_hash};
use phaselock::server::{AnyRoom, Command, Event, MadeRun, RoomConfig};
use phaselock::time::{Micros, Rates, Tick};
use phaselock::wire::control::{ClientMessage, ServerMessage};
use phaselock::wire::ghost::{GhostNotice, GhostOffer, GhostRequest};
use phaselock_games::platformer::Platformer;
use phaselock_games::race::Race;
use phaselock_testing::{Sim, Wire, body, room_config};

const CABLE: LinkConfig = LinkConfig::delayed(20, 5);

/// A game whose rooms keep runs.
fn keeping<G: Game>() -> Sim<G> {
    let mut sim = Sim::with(RoomConfig { keeps_runs: true, ..room_config(3, 1) });
    sim.frame = Micros::from_ms(16);
    sim
}

/// What a player did until the end of a round.
struct Played {
    /// The score that the run set, and the run.
    value: f64,
    run: MadeRun,
    /// Where the player was at each tick, and in which ticks its runs began and ended.
    track: BTreeMap<Tick, Vec2>,
    attempts: Vec<(Tick, Tick)>,
}

/// Plays a round with one person and a bot.
fn play<G: Game>(sim: &mut Sim<G>) -> Played {
    let runs = G::KIT.runs.expect("the game has runs");
    let player = sim.clients[0].core().player();
    let (mut track, mut attempts) = (BTreeMap::new(), Vec::new());
    let (mut began, mut before) = (None, None);
    for _ in 0..400 {
        sim.run_each(1.0, |sim| {
            let world = sim.room.world();
            let mut owned = world.entities.owned_by(player);
            let game = sim.clients[0].core().game();
            let found = owned.find_map(|it| Some((it, (runs.stage)(game, &it.entity)?)));
            let Some((slot, stage)) = found else { return };
            // A state in the player's own time belongs to an earlier tick.
            let packed = slot.entity.pack();
            let age = age_of(slot.entity.fields(), &packed);
            let tick = world.tick.minus(age);
            if track.contains_key(&tick) {
                return;
            }
            let position = game.position(&slot.entity).expect("it has one");
            track.insert(tick, position);
            let finished = before.replace(stage.finished);
            if finished.is_some_and(|it| it + 1 == stage.finished)
                && let Some(began) = began.take()
            {
                attempts.push((began, tick));
            }
            began = began.filter(|_| stage.is_running).or(stage.is_running.then_some(tick));
        });
        while let Some(event) = sim.room.poll_event() {
            let Event::Report { name, player: of, value, run } = event else { continue };
            if of == Some(player) && name == runs.measure {
                let run = run.expect("the run comes with the score");
                return Played { value, run, track, attempts };
            }
            assert_eq!(run, None, "{name} of {of:?}");
        }
    }
    panic!("no round came to its end");
}

/// The best attempt in a round is the run that comes with its score, to the tick, and small.
#[allow(clippy::print_stdout, reason = "prints the cost")]
fn check<G: Game>() {
    let mut sim = keeping::<G>();
    sim.join_bot(CABLE);
    sim.run(0.5);
    let Played { value, run, track, attempts } = play(&mut sim);
    let measure = G::KIT.runs.expect("it has runs").measure;
    let known = G::KIT.measures.iter().find(|it| it.name == measure).expect("it is measured");
    assert_eq!(known.best, Best::Least);
    let (game, rates) = (sim.clients[0].core().game(), sim.clients[0].core().rates());
    let read = Run::read(game, rates, &run.bytes).expect("it can be read");
    let step = f64::from(rates.step_secs());
    assert!((read.secs() - value).abs() < 2.0 * step, "{} is not {value}", read.secs());
    let per_minute = run.bytes.len() as f64 * 60.0 / value;
    println!("{}: {value} s, {} states, {per_minute:.0} B/min", G::NAME, read.len());
    assert!(per_minute < 30_000.0);
    let is_it =
        |(began, end): &&(Tick, Tick)| (end.since(*began) as f64 * step - value).abs() < 2.0 * step;
    let (began, end) = attempts.iter().find(is_it).expect("an attempt took that long");
    let mut worst = 0.0_f32;
    for (tick, at) in track.range(*began..=*end) {
        // Where a player is put back, the run jumps with its next state.
        let mut near = track.range(tick.minus(3)..=tick.plus(3));
        if near.any(|(_, there)| there.distance(*at) > 3.0) {
            continue;
        }
        let secs = tick.since(*began) as f64 * step;
        let ghost = read.at::<G::Entity>(secs).expect("it has states");
        let ghost = game.position(&ghost).expect("it has a position");
        worst = worst.max(ghost.distance(*at));
    }
    println!("{}: at most {worst:.3} m off", G::NAME);
    assert!(worst < 0.25, "{worst} m");
    damaged(&sim, &run.bytes);
}

/// A run that was cut off, changed, extended or made elsewhere is refused, or is another valid run.
fn damaged<G: Game>(sim: &Sim<G>, bytes: &[u8]) {
    let (game, rates) = (sim.clients[0].core().game(), sim.clients[0].core().rates());
    let read = |bytes: &[u8]| Run::read(game, rates, bytes);
    assert!(read(&[]).is_err());
    assert!(read(&bytes[..bytes.len() / 2]).is_err());
    assert!(read(&[bytes, &[0; 64]].concat()).is_err());
    assert!(read(&vec![0; RUN_BYTES_MAX + 1]).is_err());
    let faster = Rates { tick_hz: 2 * rates.tick_hz, ..rates };
    assert!(Run::read(game, faster, bytes).is_err());
    let mut changed = bytes.to_vec();
    // The course.
    changed[2] ^= 1;
    assert!(read(&changed).is_err());
}

#[test]
fn the_best_lap_of_a_race_comes_with_its_time() {
    check::<Race>();
}

#[test]
fn the_run_of_a_platformer_race_comes_with_its_time() {
    check::<Platformer>();
}

/// Answers requests for ghosts as a host does that has one record.
fn host<G: Game>(sim: &mut Sim<G>, record: &Played) {
    let hash = run_hash(&record.run.bytes);
    while let Some(event) = sim.room.poll_event() {
        let Event::GhostsAsked { player, course, request } = event else { continue };
        assert_eq!(course, record.run.course);
        let player = player.into();
        let order = match request {
            GhostRequest::Fetch { hash: wanted } if wanted == hash => {
                Command::SendRun { player, bytes: record.run.bytes.clone() }
            }
            _ => {
                let hundredths = (record.value * 100.0).round() as u32;
                let bytes = record.run.bytes.len() as u32;
                let name = "client 0".to_owned();
                let ghosts = vec![GhostOffer { name, hundredths, hash, bytes, own: false }];
                Command::Ghosts { player, ghosts }
            }
        };
        sim.room.handle_command(sim.now, order).expect("the player is here");
    }
}

/// Another player races the ghost, which starts with each of the player's own attempts and is where
/// the run was after the same time.
#[allow(clippy::print_stdout, reason = "prints the deviation")]
fn race<G: Game>(tolerance: f32) {
    let mut sim = keeping::<G>();
    sim.join_bot(CABLE);
    sim.run(0.5);
    let record = play(&mut sim);
    let second = sim.join_bot(LinkConfig::delayed(60, 10));
    sim.clients[second].session.choose_ghost(GhostChoice::Best);
    let screen = std::rc::Rc::new(std::cell::RefCell::new(None));
    sim.clients[second].screen = Some(screen.clone());
    sim.run(1.0);
    let (rates, player) = (sim.clients[second].core().rates(), sim.clients[second].core().player());
    let run = Run::read(sim.clients[second].core().game(), rates, &record.run.bytes);
    let run = run.expect("it can be read");
    let stage_of = G::KIT.runs.expect("it has runs").stage;
    // The true starts of the player's attempts.
    let (mut began, mut before) = (None, None);
    let (mut shown, mut worst, mut gaps) = (0, 0.0_f32, Vec::new());
    let (mut was_here, mut was_elsewhere) = (0.0, 0.0);
    for _ in 0..240 {
        sim.run_each(1.0, |sim| {
            host(sim, &record);
            let world = sim.room.world();
            let game = sim.clients[second].core().game();
            let mut owned = world.entities.owned_by(player);
            let stage = owned.find_map(|it| {
                let age = age_of(it.entity.fields(), &it.entity.pack());
                Some((stage_of(game, &it.entity)?, age))
            });
            if let Some((stage, age)) = stage {
                let tick = world.tick.minus(age);
                let last = before.replace((stage.is_running, stage.finished));
                if stage.is_running && last != before {
                    began = Some(stage.ticks.map_or(tick, |ticks| tick.minus(ticks.into())));
                }
                began = began.filter(|_| stage.is_running);
            }
            let picture: Option<Picture<G>> = screen.borrow_mut().take();
            let Some((picture, ghost)) = picture.zip(sim.clients[second].core().ghost()) else {
                return;
            };
            let Some(began) = began else { return };
            let secs = (picture.own_time - rates.time_of(began)).as_secs();
            // Around the start, server and client are in different attempts.
            if !(0.5..run.secs() - 0.5).contains(&secs) {
                return;
            }
            let expected = run.at::<G::Entity>(secs).expect("it has states");
            let [expected, there] =
                [&expected, &ghost.entity].map(|it| game.position(it).expect("it has one"));
            worst = worst.max(expected.distance(there));
            gaps.push(ghost.behind);
            // The ghost was here when it was earlier by so much, not later.
            let own = picture.own.and_then(|own| picture.entities.get(own));
            let own = own.and_then(|own| game.position(&own.entity)).expect("it has one");
            let off = |secs: f64| {
                let there =
                    run.at::<G::Entity>(secs.clamp(0.0, run.secs())).expect("it has states");
                f64::from(game.position(&there).expect("it has one").distance(own))
            };
            was_here += off(secs - ghost.behind);
            was_elsewhere += off(secs + ghost.behind);
            shown += 1;
            assert_eq!(ghost.name, "client 0");
        });
        if shown > 1000 {
            break;
        }
    }
    let mean = gaps.iter().map(|gap: &f64| gap.abs()).sum::<f64>() / gaps.len().max(1) as f64;
    println!("{}: {shown} frames, at most {worst:.2} m off, {mean:.2} s apart", G::NAME);
    assert!(shown > 1000, "{shown}");
    assert!(worst < tolerance, "{worst} m");
    assert!(was_here < was_elsewhere / 2.0, "{was_here} and {was_elsewhere} m in all");
    let stats = sim.clients[second].core().stats();
    println!("{} mispredictions in {} ticks", stats.mispredictions, stats.ticks);
}

#[test]
fn another_player_races_the_ghost_of_the_best_lap() {
    // Two ticks at full speed.
    race::<Race>(1.5);
}

#[test]
fn another_player_races_the_ghost_through_the_level() {
    race::<Platformer>(0.5);
}

#[test]
fn a_flood_of_requests_reaches_the_host_as_a_trickle() {
    let mut sim = keeping::<Race>();
    sim.join_bot(CABLE);
    sim.run(1.0);
    while sim.room.poll_event().is_some() {}
    let (id, player) = (sim.clients[0].id, sim.clients[0].core().player());
    for hash in 0..1000 {
        let message = ClientMessage::Ghosts(GhostRequest::Fetch { hash });
        sim.room.handle_control(sim.now, id, &body(&message));
    }
    let is_asked =
        |event: &Event| matches!(event, Event::GhostsAsked { player: by, .. } if *by == player);
    let events: Vec<_> = std::iter::from_fn(|| sim.room.poll_event()).collect();
    assert!(events.iter().all(is_asked) && (1..=6).contains(&events.len()), "{events:?}");
    assert!(sim.clients[0].closed.is_none());
    // The longest run trickles as well.
    sim.wires = Some(Vec::new());
    let bytes: std::sync::Arc<[u8]> = vec![7; RUN_BYTES_MAX].into();
    let order = Command::SendRun { player: player.into(), bytes: bytes.clone() };
    sim.room.handle_command(sim.now, order).expect("the player is here");
    let parts = |sim: &mut Sim<Race>| -> Vec<(u64, u32, usize)> {
        let wires = sim.wires.replace(Vec::new()).unwrap_or_default();
        let parts = wires.into_iter().filter_map(|wire| match wire {
            Wire::Control(ServerMessage::Ghosts(GhostNotice::Part { hash, from, bytes })) => {
                Some((hash, from, bytes.len()))
            }
            _ => None,
        });
        parts.collect()
    };
    sim.run(2.0);
    let first = parts(&mut sim);
    assert!((9..=11).contains(&first.len()), "{first:?}");
    sim.run(20.0);
    let all = [first, parts(&mut sim)].concat();
    assert!(all.iter().all(|(hash, ..)| *hash == run_hash(&bytes)));
    assert!(all.iter().zip(0..).all(|((_, from, _), n)| *from == n * RUN_PART_BYTES as u32));
    assert_eq!(all.iter().map(|(.., len)| len).sum::<usize>(), RUN_BYTES_MAX);
}

#[test]
fn a_room_that_keeps_no_runs_asks_no_host() {
    let mut sim = Sim::<Race>::new(3, 0);
    sim.join_bot(CABLE);
    sim.run(1.0);
    while sim.room.poll_event().is_some() {}
    let message = ClientMessage::Ghosts(GhostRequest::List);
    sim.room.handle_control(sim.now, sim.clients[0].id, &body(&message));
    assert_eq!(sim.room.poll_event(), None);
}

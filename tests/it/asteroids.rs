//! Asteroids over good and bad links, in virtual time.

#![allow(clippy::print_stdout, reason = "prints figures for people")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::depth;
use glam::Vec2;
use phaselock::client::{Client, Picture};
use phaselock::fields::{Record, turn_between};
use phaselock::game::{Bot as _, Entities, Slot};
use phaselock::ids::EntityId;
use phaselock::link::LinkConfig;
use phaselock::physics::turns;
use phaselock::random::Random;
use phaselock::time::{Micros, Rates, Tick};
use phaselock_games::asteroids::field::{FIELD, SIZE};
use phaselock_games::asteroids::flight::{BULLET_SECS, MUZZLE_SPEED, SHIP_RADIUS};
use phaselock_games::asteroids::{
    Asteroids, Bot, Bullet, Command, Piece, REACH, Rock, Score, Ship, ship_of,
};
use phaselock_games::rounds::{Phase, Round, played, round};
use phaselock_testing::{Press, Sim};

/// A round trip of 150 ms, jitter of 30 ms, 5 % loss.
const BAD: LinkConfig = LinkConfig::delayed(60, 30).losing(0.05);

type Screen = Rc<RefCell<Option<Picture<Asteroids>>>>;

/// A client whose player acts by its screen.
fn join(
    sim: &mut Sim<Asteroids>,
    link: LinkConfig,
    mut press: impl FnMut(&Client<Asteroids>, &Picture<Asteroids>, Tick) -> Command + 'static,
) -> (usize, Screen) {
    let screen = Screen::default();
    let seen = screen.clone();
    let press: Press<Asteroids> = Box::new(move |client, tick| {
        seen.borrow().as_ref().map_or(Command::default(), |picture| press(client, picture, tick))
    });
    let client = sim.join(link, press);
    sim.clients[client].screen = Some(screen.clone());
    (client, screen)
}

fn join_bot(sim: &mut Sim<Asteroids>, link: LinkConfig) -> (usize, Screen) {
    let mut random = Random::new(sim.clients.len() as u64 + 77);
    let mut bot = Bot::default();
    join(sim, link, move |client, picture, tick| {
        bot.input(client.game(), tick, &picture.entities, client.player(), &mut random)
    })
}

fn scores(entities: &Entities<Piece>) -> Vec<(Option<phaselock::ids::PlayerId>, Score)> {
    entities.records::<Score>().map(|slot| (slot.owner, slot.entity)).collect()
}

#[test]
fn a_round_is_played_to_its_end_over_a_bad_link_and_all_agree() {
    let mut sim = Sim::<Asteroids>::new(41, 2);
    sim.frame = depth::frame();
    for _ in 0..2 {
        join_bot(&mut sim, BAD);
    }
    let mut phases: Vec<Vec<Phase>> = vec![Vec::new(); 2];
    // The second round's warm-up; it ends as soon as the first round's results do.
    while round(&sim.room.world().entities).played == 0 {
        sim.run(1.0);
        for (phases, client) in phases.iter_mut().zip(&sim.clients) {
            let newest = client.core().newest();
            if newest.records::<Round>().next().is_some() {
                let phase = round(&newest).phase();
                phases.extend((phases.last() != Some(&phase)).then_some(phase));
            }
        }
        for client in 0..2 {
            assert!(sim.check_store(client) > 0);
        }
        // Drop what has been checked, except for late packets.
        let old = sim.room.tick().minus(60);
        sim.truth.retain(|tick, _| *tick > old);
    }
    sim.run(1.0);
    let world = sim.room.world();
    assert_eq!(played(world), 1);
    assert!(world.tick > Tick(60 * 100), "{:?}", world.tick);
    let truth = scores(&world.entities);
    assert_eq!(truth.len(), 4);
    for (client, phases) in sim.clients.iter().zip(&phases) {
        assert_eq!(client.closed, None);
        let core = client.core();
        // Nothing counts in the warm-up, so all know the final score by now.
        assert_eq!(scores(&core.newest()), truth);
        assert_eq!(round(&core.newest()), round(&world.entities));
        assert_eq!(phases[..3], [Phase::WarmUp, Phase::Play, Phase::Results]);
        assert_eq!(round(&core.newest()).phase(), Phase::WarmUp);
        let stats = core.stats();
        println!(
            "{} corrections, {} late of {}",
            stats.mispredictions, stats.late_inputs, stats.ticks
        );
        assert!(stats.mispredictions * 400 < stats.ticks, "{:?}", stats.misses);
    }
    println!("{truth:?}");
    for (_, score) in &truth {
        // Half of them play over the bad link, and none falls behind.
        assert!(score.points > 60, "{truth:?}");
    }
}

/// Helper for something that happens once a tick.
#[derive(Default)]
struct LocalTick(Option<Tick>);

impl LocalTick {
    fn passed(&mut self, tick: Tick) -> bool {
        self.0.replace(tick) != Some(tick)
    }
}

/// Drawn positions of all moving entities.
fn drawn(picture: &Picture<Asteroids>) -> BTreeMap<EntityId, (u8, u8, Vec2)> {
    let one = |slot: &Slot<Piece>| {
        let position = match slot.entity {
            Piece::Ship(ship) => (0, ship.spawns, ship.position()),
            Piece::Rock(rock) => (1, 0, rock.position()),
            Piece::Bullet(bullet) => (2, 0, bullet.position()),
            _ => return None,
        };
        Some((slot.id, position))
    };
    picture.entities.iter().filter_map(one).collect()
}

#[test]
fn bodies_are_never_drawn_streaking_across_the_field() {
    let mut sim = Sim::<Asteroids>::new(43, 5);
    let (client, screen) = join_bot(&mut sim, BAD);
    sim.run(3.0);
    let mut before = BTreeMap::new();
    let (mut crossed, mut most) = ([0_usize; 3], [0.0_f32; 3]);
    sim.run_each(80.0, |sim| {
        if sim.now.0 % sim.frame.0 != 0 || sim.clients[client].client().is_none() {
            return;
        }
        let now = drawn(screen.borrow().as_ref().expect("it draws"));
        for (id, (kind, life, position)) in &now {
            assert!(position.min_element() >= 0.0 && position.max_element() < SIZE, "{position}");
            let Some((_, _, was)) = before.get(id).filter(|(_, was, _)| was == life) else {
                continue;
            };
            let kind = usize::from(*kind);
            most[kind] = most[kind].max(FIELD.distance(*was, *position));
            crossed[kind] += usize::from(was.distance(*position) > 0.5 * SIZE);
        }
        before = now;
    });
    assert!(crossed.iter().all(|count| *count > 1), "{crossed:?} crossed the edge");
    // In a frame of 4 ms, the fastest ships move 0.07 m, rocks 0.05 m and bullets 0.2 m.
    // Corrections are faster; a streak would be tens of metres.
    println!("metres a frame at most: ships, rocks, bullets {most:?}");
    assert!(most[0] < 0.5 && most[1] < 0.3 && most[2] < 0.8, "{most:?}");
}

/// Returns when and in which direction to shoot from the bot's own position to hit a target that
/// keeps its course.
fn lead(own: &Ship, at: Vec2, velocity: Vec2) -> (f32, Vec2) {
    let (to, velocity) = (FIELD.way(own.position(), at), velocity - own.velocity());
    let mut secs = 0.0;
    for _ in 0..8 {
        secs = ((to + velocity * secs).length() - SHIP_RADIUS).max(0.0) / MUZZLE_SPEED;
    }
    (secs, to + velocity * secs)
}

/// Turns towards where the nearest ship will be, approaches, and shoots when the bullet will meet
/// it on the screen.
fn marksman(client: &Client<Asteroids>, picture: &Picture<Asteroids>, _tick: Tick) -> Command {
    let me = client.player();
    let Some(own) = ship_of(&picture.entities, me).map(|slot| slot.entity) else {
        return Command::default();
    };
    let ships = picture.entities.records::<Ship>();
    let others = ships.filter(|ship| ship.owner != Some(me) && ship.entity.is_alive());
    let distance = |ship: &Ship| FIELD.distance(own.position(), ship.position());
    let nearest = others.min_by(|a, b| distance(&a.entity).total_cmp(&distance(&b.entity)));
    let Some(target) = nearest.map(|slot| slot.entity) else {
        return Command { thrust: own.velocity().length() < 8.0, ..Command::default() };
    };
    let (secs, there) = lead(&own, target.position(), target.velocity());
    let off = turn_between(own.heading, turns(there));
    let miss = off.abs() * std::f32::consts::TAU * there.length();
    let closing = (own.velocity() - target.velocity()).dot(there.normalize_or_zero());
    Command {
        turn: if off.abs() < 0.006 { 0 } else { off.signum() as i16 },
        thrust: there.length() > 16.0 && closing < 6.0 && off.abs() < 0.1,
        fire: miss < 0.4 && secs < 0.8 * BULLET_SECS && target.shield == 0,
    }
}

/// Returns the shots that hit a ship on the screen, and the hits that counted, in 50 seconds at a
/// round trip.
fn hits(seed: u64, round_trip_ms: i64) -> (u32, u32) {
    let mut sim = Sim::<Asteroids>::new(seed, 0);
    let link = LinkConfig::delayed(round_trip_ms / 2, 2);
    sim.frame = Micros::from_ms(8);
    let (shooter, screen) = join(&mut sim, link, marksman);
    for n in 0..3 {
        // Targets hold their keys: one circles, two drift.
        let keys = Command { turn: i16::from(n == 0), thrust: n == 0, fire: false };
        sim.join(
            link,
            Box::new(move |_, tick| Command { thrust: keys.thrust || tick.0 % 400 < 20, ..keys }),
        );
    }
    sim.run(12.0);
    let (mut seen, mut counted) = (0, 0);
    let mut last = LocalTick::default();
    let mut hulls = BTreeMap::new();
    let mut flying: BTreeMap<u8, Vec2> = BTreeMap::new();
    sim.run_each(50.0, |sim| {
        let Some(core) = sim.clients[shooter].client() else { return };
        if last.passed(sim.room.tick()) {
            for ship in sim.room.world().entities.records::<Ship>() {
                let hull = ship.entity.hull;
                // A rock takes all health at once.
                let before = hulls.insert(ship.id, hull);
                counted += u32::from(before == Some(hull + 1) && ship.owner != Some(core.player()));
            }
        }
        if sim.now.0 % sim.frame.0 != 0 {
            return;
        }
        let screen = screen.borrow();
        let picture = screen.as_ref().expect("it draws");
        let mine = |slot: &Slot<Bullet>| slot.owner == Some(core.player());
        let bullets = picture.entities.records::<Bullet>().filter(mine);
        let now: BTreeMap<_, _> =
            bullets.map(|it| (it.entity.shot, it.entity.position())).collect();
        for (shot, position) in &flying {
            let near = |at: Vec2, radius: f32| FIELD.distance(at, *position) < radius + 1.0;
            let ship = picture.entities.records::<Ship>().any(|ship| {
                let ship = (ship.owner, ship.entity);
                ship.0 != Some(core.player()) && near(ship.1.position(), SHIP_RADIUS)
            });
            seen += u32::from(!now.contains_key(shot) && ship);
        }
        flying = now;
    });
    (seen, counted)
}

#[test]
fn a_shot_that_is_seen_to_hit_hits_at_20_at_100_and_at_200_ms() {
    for round_trip_ms in [20, 100, 200] {
        let (seen, counted) = hits(3, round_trip_ms);
        println!("{round_trip_ms} ms: {seen} seen, {counted} counted");
        assert!(seen > 12, "only {seen} shots at {round_trip_ms} ms: too few for a test");
        let off = (f64::from(counted) / f64::from(seen) - 1.0).abs();
        assert!(off < 0.12, "{seen} seen and {counted} counted at {round_trip_ms} ms");
    }
}

#[test]
fn an_undisturbed_rock_costs_next_to_nothing_and_is_where_it_is() {
    let mut sim = Sim::<Asteroids>::new(44, 0);
    let (client, screen) = join(&mut sim, LinkConfig::delayed(50, 5), |_, _, _| Command::default());
    sim.run(5.0);
    let stats = sim.clients[client].core().stats().clone();
    let mut compared = 0;
    let mut known = 0;
    let mut snapshots = 0;
    sim.run_each(20.0, |sim| {
        if sim.now.0 % 100_000 != 0 {
            return;
        }
        // On the screen everything is at the player's own time, or at the server's present:
        // exactly, except for the motion between two ticks.
        let core = sim.clients[client].core();
        let screen = screen.borrow();
        let picture = screen.as_ref().expect("it draws");
        snapshots += 1;
        for rock in sim.room.world().entities.records::<Rock>() {
            let Some(seen) = picture.entities.record::<Rock>(rock.id) else { continue };
            known += 1;
            let ahead = (picture.server_time.0 + core.lead().lead().0 - sim.now.0) as f32 / 1e6;
            let then =
                |secs: f32| FIELD.fold(rock.entity.position() + rock.entity.velocity() * secs);
            let off = |secs: f32| FIELD.distance(seen.position(), then(secs));
            let off = off(ahead).min(off(0.0));
            assert!(off < 0.2, "{off} m off, {ahead} s ahead");
            compared += 1;
        }
    });
    let stats = sim.clients[client].core().stats().since(&stats);
    let rocks = f64::from(known) / f64::from(snapshots);
    let bytes = stats.rx_bytes as f64 / stats.snapshots as f64;
    println!("{bytes:.1} bytes a snapshot with {rocks:.1} rocks in reach");
    assert!(compared > 300 && rocks > 3.0, "{compared}, {rocks}");
    // Without rocks it is about 20: timing and acknowledgements.
    assert!(bytes < 40.0, "{bytes}");
}

#[test]
fn a_player_near_an_edge_knows_what_is_across_it() {
    let mut sim = Sim::<Asteroids>::new(45, 7);
    let (client, _) = join_bot(&mut sim, LinkConfig::delayed(40, 5));
    sim.run(3.0);
    let mut across = 0;
    let mut old: BTreeMap<EntityId, ()> = BTreeMap::new();
    for _ in 0..60 {
        sim.run(0.5);
        let core = sim.clients[client].core();
        let newest = core.newest();
        let Some(truth) = sim.truth.get(&core.newest_tick()) else { continue };
        let own = ship_of(truth, core.player()).expect("it plays").entity;
        for rock in truth.records::<Rock>() {
            let there = rock.entity.position();
            // Except entities that have just come into reach.
            if FIELD.distance(own.position(), there) > REACH - 8.0 || !old.contains_key(&rock.id) {
                continue;
            }
            assert!(newest.record::<Rock>(rock.id).is_some(), "{rock:?} from {}", own.position());
            across += usize::from(own.position().distance(there) > REACH);
        }
        old = truth.records::<Rock>().map(|slot| (slot.id, ())).collect();
        sim.check_store(client);
        sim.truth.clear();
    }
    assert!(across > 50, "{across} were across the edge");
}

#[test]
fn rates_other_than_the_usual_are_as_exact() {
    let rates = Rates { tick_hz: 30, snapshot_hz: 10 };
    let config = phaselock_testing::room_config(46, 2);
    let mut sim = Sim::<Asteroids>::with(phaselock::server::RoomConfig { rates, ..config });
    let (client, _) = join_bot(&mut sim, BAD);
    for _ in 0..10 {
        sim.run(2.0);
        assert!(sim.check_store(client) > 0);
    }
    let core = sim.clients[client].core();
    assert!(core.newest().records::<Rock>().all(|rock| rock.entity == rock.entity.snapped()));
    assert!(core.stats().snapshots > 100, "{:?}", core.stats());
}

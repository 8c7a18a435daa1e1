//! Asteroids without a network.

use proptest::prelude::*;

use super::field::SECTORS;
use super::flight::{SPEED_MAX, drift};
use super::rocks::{RADII, ROCK_SPEED_MAX, mass, mass_max, new_rock, radius, split};
use super::strikes::Scene;
use super::*;
use crate::rounds::Phase;
use crate::rounds::round;
use phaselock::fields::{Entity, Record};
use phaselock::game::{Bot as _, Known};
use phaselock::motion::interpolate::TickTime;
use phaselock::random::Random;
use phaselock::rewind::Past;
use phaselock::time::Tick;

fn world_of(players: u16, seed: u64) -> (Asteroids, World<Asteroids>) {
    let game = Asteroids::new(Rates::DEFAULT, seed);
    let mut world = World::new(seed);
    game.populate(&mut world);
    for player in 0..players {
        game.join(&mut world, PlayerId(player));
    }
    world.snap();
    (game, world)
}

fn tick(game: &Asteroids, world: &mut World<Asteroids>, inputs: &Inputs<Command>) {
    world.tick = world.tick.plus(1);
    game.step(world, inputs);
    world.snap();
}

/// Lets bots play; `each` sees the world after each tick.
fn play(players: u16, seed: u64, ticks: u64, mut each: impl FnMut(&World<Asteroids>)) {
    let (game, mut world) = world_of(players, seed);
    let mut random = Random::new(seed);
    let mut bots: Vec<_> = (0..players).map(|_| Bot::default()).collect();
    for _ in 0..ticks {
        let mut inputs = Inputs::default();
        for (bot, player) in bots.iter_mut().zip(0..) {
            let command =
                bot.input(&game, world.tick, &world.entities, PlayerId(player), &mut random);
            inputs.set(PlayerId(player), command.snapped());
        }
        tick(&game, &mut world, &inputs);
        each(&world);
    }
}

/// Checks invariants of the world, whatever players do.
fn check(world: &World<Asteroids>) {
    let mut masses = [0; SECTORS as usize];
    for slot in world.entities.iter() {
        if let Some((sector, position)) = slot.entity.position() {
            assert!(sector < SECTORS && position.is_finite(), "{slot:?}");
            assert!(position.min_element() >= 0.0 && position.max_element() < SIZE, "{slot:?}");
        }
        match slot.entity {
            Piece::Ship(ship) => {
                // Plus half a grid step in each direction.
                assert!(ship.velocity().length() <= SPEED_MAX + 0.006, "{ship:?}");
                assert!(ship.hull <= HULL && (0.0..1.0).contains(&ship.heading), "{ship:?}");
            }
            Piece::Rock(rock) => {
                assert!(rock.velocity().length() <= ROCK_SPEED_MAX, "{rock:?}");
                assert!(usize::from(rock.size) < RADII.len(), "{rock:?}");
                masses[usize::from(rock.sector)] += mass(&rock);
            }
            _ => {}
        }
    }
    for (sector, mass) in masses.iter().enumerate() {
        assert!(*mass <= mass_max(usize::MAX), "rocks of {mass} in field {sector}");
    }
    for player in world.entities.records::<Score>().filter_map(|slot| slot.owner) {
        let bullets = world.entities.records::<Bullet>().filter(|it| it.owner == Some(player));
        assert!(bullets.count() <= 4, "{player:?} has more than it could fire");
    }
}

fn wild() -> impl Strategy<Value = Command> {
    // Everything that the input's grid can hold.
    (-2_i16..=1, any::<bool>(), any::<bool>()).prop_map(|(turn, thrust, fire)| Command {
        turn,
        thrust,
        fire,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_is_commanded_all_stays_within_its_bounds(
        seed: u64,
        commands in proptest::collection::vec((0_u16..20, 1_u8..40, wild()), 1..120),
    ) {
        let (game, mut world) = world_of(18, seed);
        let mut held = [Command::default(); 20];
        for (player, ticks, command) in commands {
            held[usize::from(player)] = command;
            if player >= 18 {
                // A player joins or leaves.
                let there = ship_of(&world.entities, PlayerId(player)).is_some();
                if there {
                    game.leave(&mut world, PlayerId(player));
                } else {
                    game.join(&mut world, PlayerId(player));
                }
            }
            for _ in 0..ticks {
                let mut inputs = Inputs::default();
                for (player, command) in (0..).zip(&held) {
                    inputs.set(PlayerId(player), *command);
                }
                tick(&game, &mut world, &inputs);
                check(&world);
            }
        }
    }

    #[test]
    fn splitting_conserves_mass_and_momentum_to_the_bit(
        seed: u64, turn in 0.0_f32..1.0, size in 0_u8..4,
    ) {
        let mut random = Random::new(seed);
        let position = Vec2::new(random.range(0.0, SIZE), random.range(0.0, SIZE));
        let rock = Rock { size, ..new_rock(3, position, 0, &mut random) }.snapped();
        let along = phaselock::physics::direction(turn);
        let Some(parts) = split(&rock, along, 30, &mut random) else {
            prop_assert!(size >= 2);
            return Ok(());
        };
        let parts = parts.map(|part| part.snapped());
        prop_assert_eq!(parts.iter().map(mass).sum::<u32>(), mass(&rock));
        let momentum = |rock: &Rock| rock.velocity() * mass(rock) as f32;
        prop_assert_eq!(momentum(&parts[0]) + momentum(&parts[1]), momentum(&rock));
        for part in &parts {
            prop_assert!(part.forming > 0 && part.sector == rock.sector && part.size == size + 1);
            prop_assert!(FIELD.distance(part.position(), rock.position()) < radius(&rock));
        }
    }

    #[test]
    fn rocks_and_bullets_are_extrapolated_to_the_bit(
        packed in proptest::array::uniform9(any::<u32>()),
        ticks in 1_u64..=32, kind in 1_u8..3, hz in 10_u32..128,
    ) {
        let rates = Rates { tick_hz: hz, ..Rates::DEFAULT };
        let game = Asteroids::new(rates, 0);
        let mut at = [0; phaselock::limits::FIELDS_MAX];
        let fields = Piece::KINDS[usize::from(kind)].fields;
        for ((to, from), field) in at.iter_mut().zip(packed).zip(fields) {
            *to = from & ((1 << field.bits) - 1);
        }
        let base = Piece::unpack(kind, &at);
        let mut there = base;
        for _ in 0..ticks {
            drift(rates, &mut there, 1);
            there = Piece::unpack(kind, &there.pack());
        }
        let known = Known { base: &base, steering: &base, ticks };
        prop_assert_eq!(game.extrapolate(known), Some(there));
        prop_assert_eq!(Piece::unpack(kind, &there.pack()), there, "it is on the grid");
    }
}

#[test]
fn the_same_seed_is_the_same_world() {
    let states = |seed| {
        let mut states = Vec::new();
        play(6, seed, 900, |world| {
            states.extend(world.entities.iter().map(|slot| slot.entity.pack()))
        });
        states
    };
    let first = states(1);
    assert!(first == states(1));
    assert!(first != states(2));
}

#[test]
fn predictions_come_true_as_long_as_nobody_else_acts() {
    let (game, mut world) = world_of(1, 3);
    let mut random = Random::new(9);
    let mut command = Command::default();
    let (mut compared, mut shots, mut strikes, mut crashes) = (0, 0, 0, 0);
    let own = ship_of(&world.entities, PlayerId(0)).expect("it is there").id;
    for _ in 0..5000 {
        if strikes >= 12 && crashes >= 3 {
            break;
        }
        // From each base a quarter of a second ahead, as over a link of 200 ms.
        let mut predicted = world.entities.clone();
        let shared: Vec<_> =
            world.entities.iter().map(|slot| slot.id).filter(|id| *id != own).collect();
        let lives = ship_of(&world.entities, PlayerId(0)).expect("it is there").entity.spawns;
        for ticks in 1..=15 {
            if random.chance(0.15) {
                command = Command {
                    turn: random.below(3) as i16 - 1,
                    thrust: random.chance(0.4),
                    fire: random.chance(0.6),
                };
            }
            let mut inputs = Inputs::default();
            inputs.set(PlayerId(0), command);
            let (shots_before, rocks_before) = (shots, world.entities.records::<Rock>().count());
            tick(&game, &mut world, &inputs);
            let ahead = Ahead { tick: world.tick, ticks, subtick: None, co_predicted: &shared };
            game.predict(&mut predicted, own, &command, ahead);
            for slot in predicted.iter_mut() {
                slot.entity = Piece::unpack(slot.entity.kind(), &slot.entity.pack());
            }
            let truth = *world.entities.record::<Ship>(own).expect("it is there");
            if truth.spawns != lives {
                break;
            }
            assert_eq!(predicted.record::<Ship>(own), Some(&truth), "{ticks} ticks ahead");
            crashes += usize::from(truth.respawn == 120);
            // Rocks that existed are where they were extrapolated, and gone where they are gone.
            for id in &shared {
                let (there, told) =
                    (world.entities.record::<Rock>(*id), predicted.record::<Rock>(*id));
                assert_eq!(there, told, "{ticks} ticks ahead");
                compared += usize::from(there.is_some());
            }
            let bullets = |entities: &Entities<Piece>| {
                let mut of: Vec<_> = entities.records::<Bullet>().map(|slot| slot.entity).collect();
                of.sort_by_key(|bullet| bullet.shot);
                of
            };
            // So are bullets fired since the base.
            assert_eq!(bullets(&world.entities), bullets(&predicted), "{ticks} ticks ahead");
            shots = usize::from(truth.shots);
            strikes += usize::from(world.entities.records::<Rock>().count() != rocks_before);
            let fired = (shots as u8).wrapping_sub(shots_before as u8);
            assert!(fired <= 1, "{fired} shots in a tick");
        }
    }
    assert!(strikes >= 12 && crashes >= 3, "{strikes} strikes, {crashes} crashes");
    assert!(compared > 12_000, "only {compared} compared: too few for a test");
}

#[test]
fn keys_are_extrapolated_to_the_tick() {
    let (game, mut world) = world_of(1, 5);
    let keys = [
        Command { thrust: true, ..Command::default() },
        Command { turn: 1, thrust: true, fire: true },
    ];
    let mut states = Vec::new();
    for tick_ in 0..70 {
        let mut inputs = Inputs::default();
        inputs.set(PlayerId(0), keys[usize::from(tick_ >= 9)]);
        tick(&game, &mut world, &inputs);
        states.push(ship_of(&world.entities, PlayerId(0)).expect("it is there").entity);
    }
    for (from, base) in states.iter().enumerate() {
        for (ticks, now) in states[from..].iter().enumerate().take(33).skip(1) {
            let told = game.extrapolate(Known {
                base: &Piece::Ship(*base),
                steering: &Piece::Ship(*now),
                ticks: ticks as u64,
            });
            let Some(Piece::Ship(told)) = told else { panic!("it is a ship") };
            let moved = |s: &Ship| (s.x, s.y, s.vx, s.vy, s.heading, s.shots, s.cooldown, s.shield);
            assert_eq!(moved(&told), moved(now), "{ticks} ticks after {from}");
        }
    }
}

/// Creates a world with only ships, all at a position with this heading and without shields.
fn duel(positions: &[(f32, f32, f32)]) -> (Asteroids, World<Asteroids>, Vec<EntityId>) {
    let (game, mut world) = world_of(positions.len() as u16, 4);
    let rocks: Vec<_> = world.entities.records::<Rock>().map(|slot| slot.id).collect();
    for id in rocks {
        world.despawn(id);
    }
    let mut ids = Vec::new();
    for ((id, _, ship), (x, y, heading)) in world.entities.records_mut::<Ship>().zip(positions) {
        (ship.x, ship.y, ship.heading, ship.shield) = (*x, *y, *heading, 0);
        ids.push(id);
    }
    (game, world, ids)
}

fn fire(game: &Asteroids, world: &mut World<Asteroids>, ticks: u64) {
    for _ in 0..ticks {
        let mut inputs = Inputs::default();
        inputs.set(PlayerId(0), Command { fire: true, ..Command::default() });
        tick(game, world, &inputs);
    }
}

#[test]
fn bullets_cross_the_edge_and_three_wreck_a_ship_unless_it_is_shielded() {
    let (game, mut world, ids) = duel(&[(124.0, 60.0, 0.0), (6.0, 60.0, 0.0)]);
    let hull =
        |world: &World<Asteroids>| world.entities.record::<Ship>(ids[1]).map(|ship| ship.hull);
    fire(&game, &mut world, 17);
    assert_eq!(hull(&world), Some(2), "10 m at 32 m/s");
    fire(&game, &mut world, 40);
    let victim = *world.entities.record::<Ship>(ids[1]).expect("it is there");
    assert_eq!((victim.hull, victim.velocity()), (0, Vec2::ZERO));
    // It returns elsewhere, with a shield.
    let life = victim.spawns;
    for _ in 0..125 {
        tick(&game, &mut world, &Inputs::default());
    }
    let back = *world.entities.record::<Ship>(ids[1]).expect("it is there");
    assert!((back.hull, back.spawns) == (HULL, life + 1) && back.shield > 100, "{back:?}");
    let (game, mut world, ids) = duel(&[(124.0, 60.0, 0.0), (6.0, 60.0, 0.0)]);
    world.entities.record_mut::<Ship>(ids[1]).expect("it is there").shield = 300;
    fire(&game, &mut world, 60);
    assert_eq!(world.entities.record::<Ship>(ids[1]).map(|ship| ship.hull), Some(HULL));
}

#[test]
fn forming_rocks_harm_nobody_and_then_wreck_ships_that_stay() {
    let (game, mut world, ids) = duel(&[(60.0, 60.0, 0.0)]);
    let mut random = Random::new(1);
    let rock = new_rock(0, Vec2::new(60.0, 60.0), 90, &mut random);
    let rock = Rock { vx: 0.0, vy: 0.0, ..rock };
    world.spawn(None, rock.into());
    let hull =
        |world: &World<Asteroids>| world.entities.record::<Ship>(ids[0]).map(|ship| ship.hull);
    for _ in 0..89 {
        tick(&game, &mut world, &Inputs::default());
        assert_eq!(hull(&world), Some(HULL), "it is only announced");
    }
    tick(&game, &mut world, &Inputs::default());
    assert_eq!(hull(&world), Some(0));
    let parts: Vec<_> = world.entities.records::<Rock>().filter(|it| it.entity.size == 1).collect();
    assert!(parts.len() == 2 && parts.iter().all(|part| part.entity.forming == 30), "{parts:?}");
}

#[test]
fn a_slow_server_lets_no_bullet_through() {
    // At 10 ticks per second a bullet moves 3.2 m in one.
    let rates = Rates { tick_hz: 10, ..Rates::DEFAULT };
    let rock = Slot {
        id: EntityId { index: 1, generation: 0 },
        owner: None,
        entity: Piece::Rock(Rock { x: 1.0, y: 5.0, size: 2, ..Rock::default() }),
    };
    for shift in 0..32 {
        let mut scene = Scene::default();
        scene.add(&rock);
        let x = 118.0 + 0.1 * shift as f32;
        let mut bullet = Bullet { x, y: 6.0, vx: 32.0, ..Bullet::default() }.into();
        let mut strikes = Vec::new();
        for _ in 0..6 {
            drift(rates, &mut bullet, 1);
            let mut scene = Scene::default();
            scene.add(&rock);
            let id = EntityId { index: 2, generation: 0 };
            scene.add(&Slot { id, owner: Some(PlayerId(0)), entity: bullet });
            let mut found = Vec::new();
            scene.strikes(rates, &mut found);
            strikes.extend(found);
        }
        assert!(!strikes.is_empty(), "it went through from {shift}");
    }
}

#[test]
fn the_past_is_blended_across_the_edge() {
    let (_, mut world, ids) = duel(&[(127.5, 60.0, 0.9)]);
    let mut past = Past::new(Rates::DEFAULT, Rewind::DEFAULT);
    past.push(Tick(1), &world.entities);
    let ship = world.entities.record_mut::<Ship>(ids[0]).expect("it is there");
    (ship.x, ship.heading) = (0.5, 0.1);
    past.push(Tick(2), &world.entities);
    let mut scene = Entities::default();
    past.at(TickTime { tick: Tick(1), fraction: 0.25 }, &world.entities, &mut scene);
    let then = scene.record::<Ship>(ids[0]).expect("it is there");
    assert!((then.x - 127.75).abs() < 1e-4 && (then.heading - 0.95).abs() < 1e-4, "{then:?}");
}

#[test]
fn a_round_counts_only_while_it_is_played_and_puts_all_in_their_places() {
    let mut phases = Vec::new();
    let mut before = 0;
    let mut finals = Vec::new();
    play(20, 11, 60 * 200, |world| {
        if phases.len() == 4 {
            return;
        }
        check(world);
        let round = round(&world.entities);
        let points = |world: &World<Asteroids>| -> Vec<u16> {
            world.entities.records::<Score>().map(|slot| slot.entity.points).collect()
        };
        let sum: u16 = points(world).iter().sum();
        if phases.last() != Some(&round.phase()) {
            phases.push(round.phase());
            if round.phase() == Phase::Play {
                let ships: Vec<_> = world.entities.records::<Ship>().map(|it| it.entity).collect();
                let near = |a: &Ship, b: &Ship| {
                    a.sector == b.sector && FIELD.distance(a.position(), b.position()) < 20.0
                };
                for (n, a) in ships.iter().enumerate() {
                    assert!(a.shield > 100 && ships[..n].iter().all(|b| !near(a, b)), "{a:?}");
                }
                let first = ships.iter().filter(|ship| ship.sector == 0).count();
                assert_eq!((sum, first), (0, 10), "20 players in two fields alike");
            }
            if round.phase() == Phase::Results {
                finals = points(world);
            }
        }
        match round.phase() {
            Phase::Play => assert!(sum >= before, "{sum} after {before}"),
            Phase::Results => assert_eq!(points(world), finals, "it is over"),
            Phase::WarmUp if phases.len() < 3 => assert_eq!(sum, 0, "it has not begun"),
            Phase::WarmUp => {}
        }
        before = sum;
    });
    assert_eq!(phases, [Phase::WarmUp, Phase::Play, Phase::Results, Phase::WarmUp]);
    assert!(finals.iter().any(|points| *points > 20), "{finals:?}");
}

#[test]
fn bots_shoot_rocks_and_each_other_and_live() {
    let mut total = Score::default();
    play(6, 5, 60 * 68, |world| {
        total = Score::default();
        for Slot { entity, .. } in world.entities.records::<Score>() {
            total.points += entity.points;
            total.rocks += entity.rocks;
            total.ships += entity.ships;
            total.deaths += entity.deaths;
        }
    });
    // A minute of play: each shoots a rock about every four seconds, and is lost at most three
    // times.
    assert!(total.rocks > 6 * 12, "{total:?}");
    assert!(total.ships >= 2, "{total:?}");
    assert!(total.deaths < 6 * 4, "{total:?}");
}

#[test]
fn fields_hold_256_players_apart() {
    let mut most = 0;
    let (game, mut world) = world_of(256, 7);
    for _ in 0..240 {
        let mut inputs = Inputs::default();
        for player in 0..256 {
            let turn = if player % 2 == 0 { 1 } else { -2 };
            inputs.set(PlayerId(player), Command { turn, thrust: player % 3 == 0, fire: true });
        }
        tick(&game, &mut world, &inputs);
        most = most.max(world.entities.len());
    }
    check(&world);
    assert!(
        most > 512 + 1024 && most < usize::from(phaselock::limits::ENTITIES_MAX),
        "{most} entities"
    );
    let (game, world) = world_of(256, 7);
    let ships: Vec<_> = world.entities.records::<Ship>().collect();
    for sector in 0..SECTORS {
        let there = ships.iter().filter(|ship| ship.entity.sector == sector);
        assert_eq!(there.count(), field::SECTOR_PLAYERS);
    }
    let others = ships.iter().filter(|ship| ship.entity.sector != ships[0].entity.sector);
    for other in others {
        let slot = Slot { id: other.id, owner: other.owner, entity: Piece::Ship(other.entity) };
        assert_eq!(game.relevance(&world.entities, PlayerId(0), &slot), Relevance::Secret);
    }
    assert!(ships.iter().all(|ship| ship.entity.shield > 0 && ship.entity.is_alive()));
}

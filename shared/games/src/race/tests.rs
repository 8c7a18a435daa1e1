//! Race without a network.

use proptest::prelude::*;

use super::body::{HULL_HALF, HULL_RADIUS, SPEED_MAX};
use super::contact::nearest;
use super::drive::put;
use super::track::{BARRIER, FINISH, LAPS, Track};
use super::*;
use crate::rounds::{Phase, round};
use phaselock::fields::{Entity, Record};
use phaselock::game::{Bot as _, Known};
use phaselock::random::Random;

fn world_of(players: u16, rates: Rates, seed: u64) -> (Race, World<Race>) {
    let game = Race::new(rates, seed);
    let mut world = World::new(seed);
    game.populate(&mut world);
    for player in 0..players {
        game.join(&mut world, PlayerId(player));
    }
    world.snap();
    (game, world)
}

fn tick(game: &Race, world: &mut World<Race>, command: impl Fn(PlayerId) -> Command) {
    let players: Vec<_> = world.entities.records::<Car>().filter_map(|slot| slot.owner).collect();
    let mut inputs = Inputs::default();
    for player in players {
        inputs.set(player, command(player).snapped());
    }
    world.tick = world.tick.plus(1);
    game.step(world, &inputs);
    world.snap();
}

/// Lets bots drive, and calls `each` after each tick until it says to stop.
fn play(
    players: u16,
    seed: u64,
    secs: u64,
    mut each: impl FnMut(&Race, &World<Race>) -> bool,
) -> World<Race> {
    let (game, mut world) = world_of(players, Rates::DEFAULT, seed);
    let mut random = Random::new(seed);
    let mut bots: Vec<_> = (0..players).map(|_| Bot::default()).collect();
    for _ in 0..secs * 60 {
        let commands: Vec<_> = bots
            .iter_mut()
            .zip(0..)
            .map(|(bot, player)| {
                bot.input(&game, world.tick, &world.entities, PlayerId(player), &mut random)
            })
            .collect();
        tick(&game, &mut world, |player| commands[usize::from(player.0)]);
        if !each(&game, &world) {
            break;
        }
    }
    world
}

fn phase(world: &World<Race>) -> Phase {
    round(&world.entities).phase()
}

#[test]
#[allow(clippy::print_stdout, reason = "prints how long races take")]
fn bots_race_to_the_end() {
    for (players, seed) in [(1, 4), (8, 5), (24, 6)] {
        let (mut bumps, mut resets, mut began) = (0_u32, 0_u32, false);
        let mut last: Vec<Car> = Vec::new();
        let world = play(players, seed, 320, |_, world| {
            let cars: Vec<_> = world.entities.records::<Car>().map(|slot| slot.entity).collect();
            for (car, before) in cars.iter().zip(&last) {
                bumps += u32::from(car.bumps != before.bumps);
                resets += u32::from(car.puts != before.puts && car.hold < 200);
            }
            last = cars;
            began |= phase(world) == Phase::Play;
            phase(world) != Phase::Results
        });
        let mut times: Vec<_> =
            world.entities.records::<Score>().map(|slot| slot.entity.time).collect();
        times.sort_unstable();
        let best = world.entities.records::<Score>().map(|slot| slot.entity.best).min();
        println!("{players} bots: {times:?} (best lap {best:?}), {bumps} bumps, {resets} resets");
        let home = times.iter().filter(|time| **time > 0).count();
        assert!(began && phase(&world) == Phase::Results);
        assert!(home * 10 >= usize::from(players) * 8, "{home} of {players} came home");
        let first = times.iter().find(|time| **time > 0).expect("at least one car finished");
        assert!((9_000..19_000).contains(first), "the first took {first} hundredths of a second");
        assert!(resets * 3 <= u32::from(players), "{resets} resets of {players}");
        let positions: Vec<_> = world.entities.records::<Score>().map(|it| it.entity).collect();
        for a in &positions {
            let better =
                positions.iter().filter(|b| b.time > 0 && (a.time == 0 || b.time < a.time));
            assert!(usize::from(a.place) > better.count(), "{positions:?}");
        }
    }
}

#[test]
fn the_same_seed_is_the_same_world() {
    let states = |seed| {
        let mut states = Vec::new();
        play(6, seed, 30, |_, world| {
            states.extend(world.entities.iter().map(|slot| slot.entity.pack()));
            true
        });
        states
    };
    assert!(states(1) == states(1));
    assert!(states(1) != states(2));
}

/// Returns any keys, held for a while.
fn keys(random: &mut Random, before: Command) -> Command {
    if !random.chance(0.08) {
        return Command { reset: false, ..before };
    }
    Command {
        pedal: random.below(8) as i16 - 4,
        turn: random.below(16) as i16 - 8,
        hand: random.chance(0.2),
        reset: random.chance(0.05),
    }
    .snapped()
}

#[test]
fn an_undisturbed_car_is_where_its_client_predicts_and_touched_ones_too() {
    for hz in [10, 60, 128] {
        let rates = Rates { tick_hz: hz, snapshot_hz: hz };
        let (game, mut world) = world_of(3, rates, 3);
        let ids: Vec<_> = world.entities.records::<Car>().map(|slot| slot.id).collect();
        let mut random = Random::new(9);
        let mut command = Command::default();
        let (mut bumps, mut compared) = (0, 0);
        for n in 0..hz * 40 {
            if n % (3 * hz) == 0 {
                put_side_by_side(&mut world, &ids);
            }
            let mut predicted = world.entities.clone();
            // The others hold their keys, so they are predicted, including contacts.
            command = keys(&mut random, command);
            let held =
                |player: PlayerId| car_of(&predicted, player).map_or(Command::default(), Car::keys);
            let commands: Vec<_> =
                (0..3).map(|n| if n == 0 { command } else { held(PlayerId(n)) }).collect();
            let before = bumps_of(&predicted);
            let puts = |entities: &Entities<Piece>| -> u32 {
                entities.records::<Car>().map(|slot| u32::from(slot.entity.puts)).sum()
            };
            let put_before = puts(&predicted);
            tick(&game, &mut world, |player| commands[usize::from(player.0)]);
            let shared = &ids[1..];
            let ahead = Ahead { tick: world.tick, ticks: 1, subtick: None, co_predicted: shared };
            game.predict(&mut predicted, ids[0], &command, ahead);
            for slot in predicted.iter_mut() {
                slot.entity = Piece::unpack(slot.entity.kind(), &slot.entity.pack());
            }
            bumps += u32::from(before != bumps_of(&world.entities));
            if put_before != puts(&world.entities) && !command.reset {
                continue; // The line-up of a race.
            }
            let truth: Vec<_> = world.entities.records::<Car>().collect();
            let told: Vec<_> = predicted.records::<Car>().collect();
            assert_eq!(truth, told, "at {}", world.tick);
            compared += 1;
        }
        assert!(compared > hz * 35 && bumps > 0, "{compared} ticks, {bumps} contacts at {hz} Hz");
    }
}

/// Puts the others to the left and to the right of the first, at its speed and slightly closer each
/// second.
fn put_side_by_side(world: &mut World<Race>, ids: &[EntityId]) {
    let first = *world.entities.record::<Car>(ids[0]).expect("it is there");
    for (id, side) in ids[1..].iter().zip([-1.0, 1.0]) {
        let car = world.entities.record_mut::<Car>(*id).expect("it is there");
        let right = first.nose().perp() * side;
        let Car { vx, vy, heading, .. } = first;
        *car = Car { vx: vx - right.x * 5.0, vy: vy - right.y * 5.0, heading, ..*car };
        car.set_position(first.position() + right * 2.2);
        (car.hold, car.ghost) = (first.hold, first.ghost);
    }
    world.snap();
}

fn bumps_of(entities: &Entities<Piece>) -> Vec<u8> {
    entities.records::<Car>().map(|slot| slot.entity.bumps).collect()
}

#[test]
fn nobody_moves_before_green() {
    let (game, mut world) = world_of(5, Rates::DEFAULT, 3);
    let hostile = Command { pedal: 3, turn: 3, hand: false, reset: true };
    let mut grid = Vec::new();
    let mut greens = 0;
    for _ in 0..20 * 60 {
        tick(&game, &mut world, |_| hostile);
        if phase(&world) != Phase::Play {
            continue;
        }
        let positions: Vec<_> =
            world.entities.records::<Car>().map(|slot| slot.entity.position()).collect();
        if grid.is_empty() {
            grid.clone_from(&positions);
        }
        // A prediction and the lights use one countdown.
        let left = lights(&world.entities).ticks_left(world.tick);
        let holds: Vec<_> = world.entities.records::<Car>().map(|it| it.entity.hold).collect();
        if left > 0 {
            assert!(positions == grid && holds.iter().all(|hold| u64::from(*hold) == left));
        } else if greens == 0 {
            greens += 1;
            // Resets take effect as soon as cars may move; no one has moved forward because of
            // them.
            assert!(holds.iter().all(|hold| *hold == 0 || *hold == 120), "{holds:?}");
        }
    }
    assert_eq!((greens, grid.len()), (1, 5));
}

#[test]
fn a_grid_has_a_place_for_everybody() {
    for cars in [1, 2, 32, 33, 256, 512] {
        let track = Track::get();
        let stand: Vec<Car> = (0..cars)
            .map(|slot| {
                let (station, beside) = track.slot(slot, cars);
                let mut car = Car::default();
                put(
                    Rates::DEFAULT,
                    &mut car,
                    track.position(station, beside),
                    track.sample(station).along,
                );
                car
            })
            .collect();
        for (n, a) in stand.iter().enumerate() {
            assert!(track.spot(a.position()).beside.abs() < track::HALF_WIDTH, "car {n} of {cars}");
            for (m, b) in stand.iter().enumerate().skip(n + 1) {
                let gap = nearest(a, b).gap;
                assert!(gap > 0.2, "{n} and {m} of {cars} are {gap} m apart");
            }
        }
    }
}

#[test]
fn two_hundred_and_fifty_six_race_and_a_full_world_turns_people_away() {
    let (game, mut world) = world_of(256, Rates::DEFAULT, 5);
    for _ in 0..16 * 60 {
        tick(&game, &mut world, |_| Command { pedal: 3, turn: 1, ..Command::default() });
    }
    assert_eq!(phase(&world), Phase::Play);
    let moved = world.entities.records::<Car>().filter(|it| it.entity.velocity().length() > 1.0);
    assert!(moved.count() > 200);
    for player in 256..4096 {
        game.join(&mut world, PlayerId(player));
    }
    tick(&game, &mut world, |_| Command::default());
    for player in 0..4096 {
        game.leave(&mut world, PlayerId(player));
    }
    assert_eq!(world.entities.len(), 2);
}

#[test]
fn the_last_of_a_race_starts_first_in_the_next() {
    let (game, mut world) = world_of(3, Rates::DEFAULT, 3);
    let place_in = |world: &mut World<Race>, player: u16, place: u16| {
        let mut scores = world.entities.records_mut::<Score>();
        scores.find(|(_, of, _)| *of == Some(PlayerId(player))).expect("it is there").2.place =
            place;
    };
    for (player, place) in [(0, 2), (1, 1), (2, 3)] {
        place_in(&mut world, player, place);
    }
    world.memory.close(&world.entities);
    game.join(&mut world, PlayerId(3));
    game.line_up(&mut world);
    let mut grid: Vec<_> = world
        .entities
        .records::<Car>()
        .map(|it| (game.track.progress(it.entity.gates, it.entity.position()), it.owner))
        .collect();
    grid.sort_by(|a, b| b.0.total_cmp(&a.0));
    let order: Vec<_> = grid.iter().map(|(_, owner)| owner.expect("it has one").0).collect();
    assert_eq!(order, [2, 0, 1, 3]);
}

#[test]
fn driving_to_and_fro_over_the_line_is_no_lap() {
    let (game, mut world) = world_of(1, Rates::DEFAULT, 3);
    let mut most = 0;
    for n in 0..40 * 60_u32 {
        let pedal = if n % 420 < 200 { 3 } else { -3 };
        tick(&game, &mut world, |_| Command { pedal, ..Command::default() });
        let car = car_of(&world.entities, PlayerId(0)).expect("it drives");
        most = most.max(car.lap());
    }
    assert!(most <= 1, "lap {most}");
}

/// Six cars anywhere on the track, for 40 s, driven by random keys: checks what the track
/// guarantees.
fn keeps_its_word(hz: u32, seed: u64) -> Result<(), TestCaseError> {
    let rates = Rates { tick_hz: hz, snapshot_hz: hz };
    let count = 6;
    let (game, mut world) = world_of(count, rates, seed);
    let mut random = Random::new(seed);
    let mut commands = vec![Command::default(); usize::from(count)];
    let track = game.track;
    // Initially anywhere on the track, at any speed.
    for (_, _, car) in world.entities.records_mut::<Car>() {
        let station = random.range(0.0, track.length);
        let position = track.position(station, random.range(-12.0, 12.0));
        put(rates, car, position, phaselock::physics::direction(random.unit()));
        (car.hold, car.gates) = (0, track.gates_at(track.spot(position).station));
        let along = phaselock::physics::direction(random.unit());
        let velocity = along * random.range(0.0, SPEED_MAX);
        (car.vx, car.vy) = velocity.into();
    }
    world.snap();
    let mut before: Vec<Car> = world.entities.records::<Car>().map(|it| it.entity).collect();
    let mut entries = vec![0.0_f32; usize::from(count)];
    for tick_number in 0..hz * 40 {
        for command in &mut commands {
            *command = keys(&mut random, *command);
        }
        let playing = phase(&world) == Phase::Play;
        tick(&game, &mut world, |player| commands[usize::from(player.0)]);
        let still = playing && phase(&world) == Phase::Play;
        let cars: Vec<_> = world.entities.records::<Car>().map(|it| it.entity).collect();
        for (n, (car, was)) in cars.iter().zip(&before).enumerate() {
            let spot = track.spot(car.position());
            prop_assert!(spot.beside.abs() <= BARRIER - HULL_RADIUS + 0.01, "{:?}", spot);
            for end in [HULL_HALF, -HULL_HALF] {
                let spot = track.spot(car.position() + car.nose() * end);
                prop_assert!(spot.beside.abs() <= BARRIER - HULL_RADIUS + 0.1, "{:?}", spot);
            }
            prop_assert!(car.velocity().length() <= SPEED_MAX + 0.02);
            prop_assert!(car.spin.abs() <= 1.51);
            prop_assert!(car.position().is_finite());
            let progress = world.memory.entry(PlayerId(n as u16)).map_or(0.0, |it| it.progress);
            if still {
                prop_assert!(car.gates >= was.gates && car.gates <= was.gates + 2);
                prop_assert!(car.gates <= FINISH && car.lap() <= LAPS + 1);
                let rise = progress - entries[n];
                let ends = [was.position(), car.position()];
                let mut way = ends[0].distance(ends[1]);
                // A contact may push a car back over a gate that it has passed in the same tick.
                if car.gates > was.gates {
                    let gate = track.last_gate(car.gates);
                    way = way.max(ends.map(|end| gate.distance(end)).iter().sum());
                }
                let drove = if car.puts == was.puts { way } else { 0.0 };
                prop_assert!(rise >= 0.0, "it fell by {}", -rise);
                let what = format!("{rise} m for {drove} m, tick {tick_number}");
                prop_assert!(rise <= drove + 2e-3, "{}", what);
            }
            entries[n] = progress;
        }
        before = cars;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn whatever_is_pressed_the_track_keeps_its_word(
        hz in prop::sample::select(vec![10_u32, 20, 30, 60, 100, 128]), seed: u64,
    ) {
        keeps_its_word(hz, seed)?;
    }
}

#[test]
fn a_car_pushed_back_over_a_gate_has_driven_to_it() {
    keeps_its_word(10, 7_270_869_955_885_418_693).expect("its progress is the way it drove");
}

#[test]
#[allow(clippy::print_stdout, reason = "prints the share, which determines the bytes")]
fn others_are_extrapolated_unless_they_change_keys_twice_or_touch() {
    let mut past: std::collections::VecDeque<Vec<Car>> = std::collections::VecDeque::new();
    let (mut all, mut true_ones, back) = (0_u32, 0_u32, 6);
    play(8, 21, 60, |game, world| {
        past.push_front(world.entities.records::<Car>().map(|slot| slot.entity).collect());
        past.truncate(back + 1);
        if past.len() <= back {
            return true;
        }
        for n in 0..past[0].len() {
            let (base, now) = (&past[back][n], &past[0][n]);
            let told = game.extrapolate(Known {
                base: &(*base).into(),
                steering: &(*now).into(),
                ticks: back as u64,
            });
            let Some(Piece::Car(told)) = told else { panic!("a car stays a car") };
            let moved =
                |car: &Car| (car.x, car.y, car.vx, car.vy, car.heading, car.gates, car.hold);
            let comes_true = moved(&told) == moved(now);
            let changes = past.iter().zip(past.iter().skip(1));
            let changes = changes.filter(|(a, b)| a[n].keys() != b[n].keys()).count();
            let alone = past.iter().all(|cars| {
                cars.iter().enumerate().all(|(m, car)| m == n || nearest(car, &cars[n]).gap > 0.05)
            });
            if changes <= 1 && base.puts == now.puts && alone {
                assert!(comes_true, "{back} ticks after {base:?}: {told:?}, not {now:?}");
            }
            assert_eq!(told, Record::snapped(&told), "it is on the grid");
            all += 1;
            true_ones += u32::from(comes_true);
        }
        true
    });
    let share = f64::from(true_ones) / f64::from(all);
    println!("{:.1} % extrapolated over {back} ticks", share * 100.0);
    assert!(share > 0.6, "only {share}");
}

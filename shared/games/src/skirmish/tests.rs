//! Skirmish without a network.

mod arms;
mod things;
mod visibility;

use std::collections::VecDeque;

use super::arena::Arena;
use super::movement::RADIUS;
use super::*;
use crate::rounds::Phase;
use phaselock::fields::{Entity as _, Record};
use phaselock::game::{Bot as _, Subtick, Timed};
use phaselock::limits::PREDICTED_SPAWN_INDEX_MIN;
use phaselock::random::Random;
use phaselock::rewind::{Favour, Outcome, Past, Rewound, RewoundHit, ViewTime};
use phaselock::time::Tick;

fn world_of(players: u16, seed: u64) -> (Skirmish, World<Skirmish>) {
    world_at(Rates::DEFAULT, players, seed)
}

fn world_at(rates: Rates, players: u16, seed: u64) -> (Skirmish, World<Skirmish>) {
    let game = Skirmish::new(rates, seed);
    let mut world = World::new(seed);
    game.populate(&mut world);
    for player in 0..players {
        game.join(&mut world, PlayerId(player));
    }
    world.snap();
    (game, world)
}

fn avatar(world: &World<Skirmish>, player: u16) -> EntityId {
    Skirmish::avatar(&world.entities, PlayerId(player)).expect("it is there")
}

fn player_mut(entities: &mut Entities<Piece>, id: EntityId) -> Option<&mut Player> {
    entities.record_mut(id)
}

fn put(world: &mut World<Skirmish>, player: u16, x: f32, y: f32) {
    let id = avatar(world, player);
    let player = player_mut(&mut world.entities, id).expect("it is there");
    (player.x, player.y) = (x, y);
}

/// Lets bots play; `each` sees the world after each tick.
fn play(players: u16, seed: u64, ticks: u64, mut each: impl FnMut(&Skirmish, &World<Skirmish>)) {
    let (game, mut world) = world_of(players, seed);
    let mut random = Random::new(seed);
    let mut bots: Vec<_> = (0..players).map(|_| Bot::default()).collect();
    for tick in 1..=ticks {
        let mut inputs = Inputs::default();
        for (bot, player) in bots.iter_mut().zip(0..) {
            let command =
                bot.input(&game, world.tick, &world.entities, PlayerId(player), &mut random);
            inputs.set(PlayerId(player), command.snapped());
        }
        world.tick = Tick(tick);
        game.step(&mut world, &inputs);
        world.snap();
        each(&game, &world);
    }
}

#[test]
fn nobody_gets_into_a_wall_and_bots_do_fight() {
    let (mut frags, mut travelled) = (0, 0.0);
    play(8, 5, 60 * 60, |game, world| {
        frags = scores(&world.entities).map(|(_, score)| u32::from(score.frags)).sum();
        for slot in players(&world.entities) {
            let position = slot.entity.position();
            travelled += slot.entity.velocity().length() / 60.0;
            for wall in &game.arena.walls {
                let distance = wall.nearest(position).distance(position);
                // The grid's resolution is 4 mm, so a player may stand that much too close.
                assert!(distance > RADIUS - 0.01, "{position} is in {wall:?}");
            }
        }
    });
    assert!(frags > 20, "only {frags} frags in a minute");
    assert!(travelled > 8.0 * 60.0 * 2.0, "they hardly moved: {travelled} m");
}

#[test]
fn the_same_seed_is_the_same_world() {
    let hash = |seed| {
        let mut states = Vec::new();
        play(4, seed, 600, |_, world| {
            states.extend(world.entities.iter().map(|slot| slot.entity.pack()));
        });
        states
    };
    assert_eq!(hash(1), hash(1));
    assert_ne!(hash(1), hash(2));
}

/// Whether two states are equal in everything that a client predicts.
fn alike(a: &Piece, b: &Piece) -> bool {
    let pairs = a.pack().into_iter().zip(b.pack());
    let mut predicted = pairs.zip(a.fields()).filter(|(_, field)| field.predicted);
    predicted.all(|((a, b), _)| a == b)
}

#[test]
fn an_undisturbed_player_is_where_its_client_predicts_with_all_that_it_pushes_and_fires() {
    let (mut pushed, mut thrown, mut flown, mut blown) = (0, 0, 0, 0);
    for seed in 0..6 {
        let (game, mut world) = world_of(1, seed);
        let own = avatar(&world, 0);
        let mut random = Random::new(seed);
        let mut command = Command::default();
        for tick in 1..3000 {
            if random.chance(0.1) {
                command.right = random.below(3) as i16 - 1;
                command.down = random.below(3) as i16 - 1;
                command.fire = random.chance(0.3);
                command.grab = random.chance(0.6);
                command.weapon = random.below(8) as u8;
            }
            command.aim = if random.chance(0.05) { random.unit() } else { command.aim };
            command = command.snapped();
            // Half of the time there is enough of everything.
            if let Some(player) = player_mut(&mut world.entities, own).filter(|_| tick % 200 == 0) {
                (player.rockets, player.grenades, player.health) = (9, 6, HEALTH);
            }
            let mut predicted = world.entities.clone();
            let shares = |slot: &&Slot<Piece>| game.co_predicts(&world.entities, own, slot);
            let shared: Vec<_> = world.entities.iter().filter(shares).map(|slot| slot.id).collect();
            let before = player(&world.entities, own).expect("it is there");
            let held = world.entities.records::<Prop>().any(|slot| slot.entity.held);
            let mut inputs = Inputs::default();
            inputs.set(PlayerId(0), command);
            world.tick = Tick(tick);
            game.step(&mut world, &inputs);
            world.snap();
            let ahead = Ahead { tick: world.tick, ticks: 1, subtick: None, co_predicted: &shared };
            game.predict(&mut predicted, own, &command, ahead);
            for slot in predicted.iter_mut() {
                slot.entity = Piece::unpack(slot.entity.kind(), &slot.entity.pack());
            }
            let now = player(&world.entities, own).expect("it is there");
            // What only the server sets off.
            let burnt = |of: &Entities<Piece>| {
                let mines = of.records::<Mine>().filter(|slot| slot.entity.burst > 0).count();
                (mines, of.records::<Prop>().filter(|slot| slot.entity.gone).count())
            };
            let went_off = burnt(&world.entities) > burnt(&predicted);
            if now.health == 0 || now.spawns != before.spawns || went_off {
                continue;
            }
            for slot in world.entities.iter() {
                let predicted_spawn = |other: &&Slot<Piece>| {
                    let number = Skirmish::predicted_spawn(&other.entity);
                    other.id.index >= PREDICTED_SPAWN_INDEX_MIN
                        && number == Skirmish::predicted_spawn(&slot.entity)
                };
                let found =
                    predicted.get(slot.id).or_else(|| predicted.iter().find(predicted_spawn));
                // An object next to an entity that is not predicted is pushed by it.
                let among = |prop: &Prop, id: EntityId| {
                    let mut beside = world
                        .entities
                        .records::<Prop>()
                        .filter(|other| other.entity.position().distance(prop.position()) < 1.5);
                    shared.contains(&id) && beside.all(|other| shared.contains(&other.id))
                };
                let decided = match (&slot.entity, found.map(|slot| slot.entity)) {
                    // Set off, which only the server does.
                    (Piece::Prop(prop), _) => prop.gone || !among(prop, slot.id),
                    (Piece::Mine(mine), found) => {
                        mine.burst > 0 && !found.is_some_and(|mine| alike(&mine, &slot.entity))
                    }
                    _ => false,
                };
                let predicted =
                    found.unwrap_or_else(|| panic!("{slot:?} was not predicted_spawn")).entity;
                let right = decided || alike(&slot.entity, &predicted);
                assert!(right, "seed {seed}, tick {tick}: {slot:?}, predicted {predicted:?}");
            }
            let props = || world.entities.records::<Prop>();
            pushed += u32::from(props().any(|slot| slot.entity.velocity() != Vec2::ZERO));
            thrown += u32::from(held && !props().any(|slot| slot.entity.held));
            flown += world.entities.records::<Shell>().count();
            blown += u32::from(now.velocity().length() > 8.0);
        }
    }
    assert!(pushed > 1000 && thrown > 20, "{pushed} ticks of pushing, {thrown} throws");
    assert!(flown > 1000 && blown > 5, "{flown} ticks of flying, {blown} blown about");
}

#[test]
fn five_hits_kill_and_walls_stop_shots() {
    let (game, mut world) = world_of(2, 3);
    let fire = |world: &mut World<Skirmish>, ticks: u32| {
        let mut inputs = Inputs::default();
        inputs.set(PlayerId(0), Command { fire: true, ..Command::default() });
        for _ in 0..ticks {
            world.tick = world.tick.plus(1);
            game.step(world, &inputs);
            world.snap();
        }
        let scores: Vec<_> = scores(&world.entities).map(|(_, score)| score).collect();
        (scores[0], players(&world.entities).nth(1).expect("it is there").entity, scores[1])
    };
    put(&mut world, 0, -6.0, 0.0);
    put(&mut world, 1, 6.0, 0.0);
    let (score, victim, _) = fire(&mut world, 60);
    assert_eq!((score.frags, victim.health), (0, HEALTH), "the pillar is in between");
    put(&mut world, 1, -3.0, 0.0);
    let (score, victim, lost) = fire(&mut world, 60);
    assert_eq!((score.frags, victim.health, lost.deaths), (1, 0, 1));
    assert_eq!(lost.killed_by(), Some(PlayerId(0)));
    put(&mut world, 0, 20.0, 14.0);
    let (_, victim, _) = fire(&mut world, 180);
    assert_eq!((victim.health, victim.spawns), (HEALTH, 2), "back in the world");
}

/// Fires one shot of player 0 at (-6, 0) to the right. Player 1 was at (-3, 0) four ticks ago and
/// is now as `now` makes it. Returns whether it hit, and the recorded hit.
fn rewound_shot(favour: Favour, now: impl FnOnce(&mut Player)) -> (bool, Option<RewoundHit>) {
    let (hit, told) = shot_at(Vec2::new(-3.0, 0.0), favour, now);
    (hit, told.hit)
}

/// Fires one shot of player 0 at (-6, 0) to the right. Player 1 was at `then` four ticks ago and is
/// now as `now` makes it. Returns whether it hit, and how it was judged.
fn shot_at(then: Vec2, favour: Favour, now: impl FnOnce(&mut Player)) -> (bool, Rewound) {
    let (game, mut world) = world_of(2, 3);
    let policy = phaselock::rewind::Rewind { favour, ..phaselock::rewind::Rewind::DEFAULT };
    world.past = Past::new(Rates::DEFAULT, policy);
    world.past.explain_all(true);
    let ids = [0, 1].map(|player| Skirmish::avatar(&world.entities, PlayerId(player)));
    let [shooter, target] = ids.map(|id| id.expect("it is there"));
    for (id, at) in [(shooter, Vec2::new(-6.0, 0.0)), (target, then)] {
        let player = player_mut(&mut world.entities, id).expect("it is there");
        (player.x, player.y) = (at.x, at.y);
    }
    for tick in 0..10 {
        world.past.push(Tick(tick), &world.entities);
    }
    now(player_mut(&mut world.entities, target).expect("it is there"));
    let mut inputs = Inputs::default();
    let view = ViewTime {
        at: phaselock::motion::interpolate::TickTime { tick: Tick(5), fraction: 0.5 },
        claimed: None,
        accepted: Rates::DEFAULT.step(),
        adjusted: phaselock::rewind::Adjusted::No,
    };
    inputs.set_seen(PlayerId(0), Command { fire: true, ..Command::default() }, Some(view));
    let others = world.entities.get(target).copied();
    world.tick = Tick(10);
    game.step(&mut world, &inputs);
    let told = world.past.poll_rewound().expect("the client is informed");
    assert_eq!((told.shooter, told.tick, world.past.poll_rewound()), (PlayerId(0), Tick(10), None));
    let hits = player(&world.entities, shooter).expect("it is there").hits;
    let position = |slot: Option<Slot<Piece>>| slot.and_then(|slot| slot.entity.player().copied());
    let after = position(world.entities.get(target).copied()).map(|player| player.position());
    assert_eq!(after, position(others).map(|player| player.position()), "it stays where it is");
    (hits == 1, told)
}

#[test]
fn a_shot_starts_where_its_shooter_was_when_the_trigger_was_pulled() {
    let game = Skirmish::new(Rates::DEFAULT, 0);
    // It ran to the right by 0.1 m per tick, and is at 1 m in tick 10.
    let from = |parts: Option<u8>, entered: u64| {
        let mut world = World::<Skirmish>::new(1);
        game.join(&mut world, PlayerId(0));
        world.past = Past::new(Rates::DEFAULT, phaselock::rewind::Rewind::DEFAULT);
        let id = Skirmish::avatar(&world.entities, PlayerId(0)).expect("it is there");
        for tick in 0..11 {
            let player = player_mut(&mut world.entities, id).expect("it is there");
            (player.x, player.y) = (tick as f32 * 0.1, 5.0);
            player.spawns = u8::from(tick >= entered);
            world.past.push(Tick(tick), &world.entities);
        }
        let view = ViewTime {
            at: phaselock::motion::interpolate::TickTime { tick: Tick(9), fraction: 0.0 },
            claimed: None,
            accepted: Rates::DEFAULT.step(),
            adjusted: phaselock::rewind::Adjusted::No,
        };
        let command = Command { fire: true, ..Command::default() };
        let mut inputs = Inputs::default();
        let timed = Timed { input: command, subtick: parts.map(Subtick::new) };
        inputs.set_timed(PlayerId(0), timed, Some(view));
        world.tick = Tick(11);
        game.step(&mut world, &inputs);
        world.past.poll_rewound().expect("it fired").from.x
    };
    assert!((from(None, 0) - 1.0).abs() < 1e-3, "at the tick");
    assert!((from(Some(64), 0) - 1.0).abs() < 1e-3, "it stood still since tick 10");
    assert!((from(Some(96), 0) - 0.95).abs() < 1e-3);
    assert!((from(Some(255), 0) - (0.9 + 0.1 / 64.0)).abs() < 1e-3, "the earliest instant");
    assert!((from(Some(96), 10) - 1.0).abs() < 1e-3, "it had another life before");
}

#[test]
fn a_shot_hits_who_was_there_and_still_lives_the_same_life() {
    // Far away in the open, next to the line of fire.
    let away = |player: &mut Player| (player.x, player.y) = (-6.0, 10.0);
    let (hit, told) = rewound_shot(Favour::Shooter, away);
    let told = told.expect("it hit");
    assert!(hit && told.then == Vec2::new(-3.0, 0.0) && told.now == Vec2::new(-6.0, 10.0));
    let dead = |player: &mut Player| (player.health, player.respawn) = (0, 9);
    assert!(!rewound_shot(Favour::Shooter, dead).0, "it has died since");
    assert!(!rewound_shot(Favour::Shooter, |player| player.spawns += 1).0, "it has come back");
    // Behind the pillar by now.
    let covered = |player: &mut Player| (player.x, player.y) = (6.0, 0.0);
    assert!(rewound_shot(Favour::Shooter, covered).0);
    assert!(!rewound_shot(Favour::Defender, covered).0);
    let in_the_open = |player: &mut Player| (player.x, player.y) = (-3.0, 3.0);
    assert!(rewound_shot(Favour::Defender, in_the_open).0);
}

#[test]
fn a_player_comes_and_goes_with_its_score() {
    let (game, mut world) = world_of(3, 3);
    let things = 1 + game.arena.props.len() + game.arena.goods.len();
    assert_eq!(world.entities.len(), things + 6);
    game.leave(&mut world, PlayerId(0));
    assert_eq!(world.entities.len(), things + 4);
    // Into the slots that the first has left.
    game.join(&mut world, PlayerId(7));
    for player in [1, 2, 7].map(PlayerId) {
        let avatar = Skirmish::avatar(&world.entities, player).expect("it is there");
        assert!(super::player(&world.entities, avatar).is_some());
        assert_eq!(scores(&world.entities).filter(|(of, _)| *of == player).count(), 1);
    }
    assert_eq!(Skirmish::avatar(&world.entities, PlayerId(0)), None);
}

/// Returns how many of a player's states since, oldest last, differ from the one before in the
/// given respect.
fn changes<K: PartialEq>(
    past: &VecDeque<Vec<Player>>,
    n: usize,
    of: impl Fn(&Player) -> K,
) -> usize {
    past.iter().zip(past.iter().skip(1)).filter(|(a, b)| of(&a[n]) != of(&b[n])).count()
}

fn told(game: &Skirmish, base: &Player, now: &Player, ticks: u64) -> Player {
    let [base, steering] = [base, now].map(|player| Piece::Player(*player));
    let told = game.extrapolate(Known { base: &base, steering: &steering, ticks });
    *told.as_ref().and_then(Piece::player).expect("it is extrapolated")
}

/// Returns the fraction of a minute of bots that is extrapolated from bases `back` ticks old. It
/// must include all who lived, changed keys at most once, and were neither thrown nor near any
/// object.
fn extrapolated(count: u16, seed: u64, back: usize) -> f64 {
    let mut past: VecDeque<Vec<Player>> = VecDeque::new();
    let mut alone: VecDeque<Vec<bool>> = VecDeque::new();
    let (mut all, mut came_true) = (0, 0);
    play(count, seed, 60 * 60, |game, world| {
        past.push_front(players(&world.entities).map(|slot| slot.entity).collect());
        past.truncate(back + 1);
        let near = |slot: &Slot<Player>| {
            let position = slot.entity.position();
            // A player who is hurt and healed at once has been thrown and looks unchanged.
            world.entities.iter().any(|slot| match &slot.entity {
                Piece::Prop(prop) => prop.position().distance(position) < 1.5,
                Piece::Pickup(pickup) => pickup.position().distance(position) < 1.0,
                _ => false,
            })
        };
        alone.push_front(players(&world.entities).map(|slot| !near(&slot)).collect());
        alone.truncate(back + 1);
        if past.len() <= back {
            return;
        }
        for n in 0..past[0].len() {
            let (base, now) = (&past[back][n], &past[0][n]);
            let told = told(game, base, now, back as u64);
            let moved = |p: &Player| (p.x, p.y, p.vx, p.vy, p.shots, p.cooldown);
            let comes_true = moved(&told) == moved(now);
            let lived = past.iter().all(|then| then[n].health > 0)
                && changes(&past, n, |player| player.spawns) == 0;
            let left_alone = alone.iter().all(|then| then[n])
                && changes(&past, n, |player| (player.health, player.hands)) == 0;
            if lived
                && left_alone
                && changes(&past, n, |player| (player.right, player.down)) <= 1
                && changes(&past, n, |player| player.fire) <= 1
            {
                assert!(comes_true, "{back} ticks after {base:?}: {told:?}, not {now:?}");
            }
            assert_eq!(told, Record::snapped(&told), "it is on the grid");
            all += 1;
            came_true += u32::from(comes_true);
        }
    });
    f64::from(came_true) / f64::from(all)
}

#[test]
#[allow(clippy::print_stdout, reason = "prints the share, which determines the bytes")]
fn others_are_extrapolated_unless_they_change_their_minds_twice() {
    // One in sixty is just then stopped by a crate or thrown, or switches weapons.
    for (count, back, least) in [(16, 1, 0.975), (16, 8, 0.85), (16, 32, 0.3), (64, 8, 0.8)] {
        let share = extrapolated(count, 21, back);
        println!("{count} bots, {back} ticks: {:.1} % extrapolated", share * 100.0);
        assert!(share > least, "only {share} of {count} bots' states after {back} ticks");
    }
}

#[test]
fn keys_are_extrapolated_to_the_tick() {
    let (game, mut world) = world_of(1, 3);
    let idle = Command { aim: 0.25, ..Command::default() };
    let run = Command { right: 1, fire: true, ..idle };
    let mut states = Vec::new();
    for tick in 0..90 {
        let mut inputs = Inputs::default();
        // Turns after 10 ticks, then continues for longer than is counted.
        inputs.set(PlayerId(0), if tick < 10 { idle } else { run });
        game.step(&mut world, &inputs);
        world.snap();
        states.extend(players(&world.entities).map(|slot| slot.entity));
    }
    let held: Vec<_> = [9, 10, 11, 89].map(|at: usize| states[at].held).into();
    assert_eq!(held, [10, 1, 2, 63]);
    for (from, base) in states.iter().enumerate() {
        for (ticks, now) in states[from..].iter().enumerate().take(33).skip(1) {
            let told = told(&game, base, now, ticks as u64);
            assert_eq!(told, *now, "{ticks} ticks after {from}");
        }
    }
    let dead = Player { health: 0, respawn: 5, ..states[0] };
    let told = |ticks| told(&game, &dead, &dead, ticks);
    assert_eq!((told(1), told(9)), (Player { respawn: 4, ..dead }, Player { respawn: 0, ..dead }));
}

#[test]
fn only_a_shot_that_kills_explains_a_failed_prediction() {
    let (game, world) = world_of(1, 3);
    let own = players(&world.entities).next().expect("it is there").entity;
    let hurt = Player { health: own.health - 20, ..own };
    let cause = |truth| cause_of(&game, &world, own, truth);
    assert_eq!(cause(Player { health: 0, ..own }), Some(MispredictionCause::Shot));
    assert_eq!(cause(hurt), None, "it slows nobody down");
    assert_eq!(cause(own), None);
}

/// Returns the cause of a misprediction of the first player, two ticks after the last known state.
fn cause_of(
    game: &Skirmish,
    world: &World<Skirmish>,
    predicted: Player,
    truth: Player,
) -> Option<MispredictionCause> {
    game.misprediction_cause(&Misprediction {
        own: avatar(world, 0),
        predicted: &Piece::Player(predicted),
        truth: &Piece::Player(truth),
        ticks: 2,
        entities: &world.entities,
        age: &|_| 0,
    })
}

#[test]
fn each_shot_is_explained_by_the_hit_box_nearest_to_its_line() {
    let stays = |_: &mut Player| {};
    let beside = |y: f32| Vec2::new(-3.0, y);
    let explained = |then, favour, now: fn(&mut Player)| {
        let (hit, told) = shot_at(then, favour, now);
        let tested = told.ruling().tested.expect("player 1 is ahead");
        assert_eq!((tested.at, tested.radius), (then, RADIUS));
        assert_eq!((hit, told.hit.is_some()), (tested.outcome == Outcome::Hit, hit));
        (tested.outcome, tested.inside)
    };
    let (outcome, inside) = explained(beside(0.125), Favour::Shooter, stays);
    assert!(outcome == Outcome::Hit && (inside - (RADIUS - 0.125)).abs() < 1e-5, "{inside}");
    let (outcome, inside) = explained(beside(-1.0), Favour::Shooter, stays);
    assert!(outcome == Outcome::Missed && (inside - (RADIUS - 1.0)).abs() < 1e-5, "{inside}");
    let covered = |player: &mut Player| (player.x, player.y) = (6.0, 0.0);
    assert_eq!(explained(beside(0.0), Favour::Defender, covered).0, Outcome::Covered);
    assert_eq!(explained(beside(0.0), Favour::Shooter, covered).0, Outcome::Hit);
    // The pillar in the middle.
    assert_eq!(explained(Vec2::new(6.0, 0.0), Favour::Shooter, stays).0, Outcome::Blocked);
    let dead = |player: &mut Player| (player.health, player.respawn) = (0, 9);
    assert_eq!(explained(beside(0.0), Favour::Shooter, dead).0, Outcome::Gone);
    let (_, told) = shot_at(Vec2::new(-9.0, 0.0), Favour::Shooter, stays);
    assert_eq!(told.tested, None, "behind the shooter");
}

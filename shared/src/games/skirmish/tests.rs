//! Skirmish without any network.

use std::collections::VecDeque;

use super::*;
use crate::replicate::{Entity, Record};
use crate::time::Tick;

fn world_of(players: u16, seed: u64) -> (Skirmish, World<Skirmish>) {
    let game = Skirmish::new(Rates::DEFAULT, seed);
    let mut world = World::new(seed);
    for player in 0..players {
        game.join(&mut world, PlayerId(player));
    }
    world.snap();
    (game, world)
}

/// Bots play for a while; returns the world after each tick.
fn play(players: u16, seed: u64, ticks: u64, mut each: impl FnMut(&Skirmish, &World<Skirmish>)) {
    let (game, mut world) = world_of(players, seed);
    let mut random = Random::new(seed);
    let mut bots: Vec<_> = (0..players).map(|_| Bot::default()).collect();
    for tick in 1..=ticks {
        let mut inputs = Inputs::default();
        for (bot, player) in bots.iter_mut().zip(0..) {
            let command = game.bot(bot, world.tick, &world.entities, PlayerId(player), &mut random);
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
                // The grid is 4 mm fine, so a player may stand that much too near.
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

#[test]
fn an_undisturbed_player_is_where_its_client_predicts() {
    let (game, mut world) = world_of(1, 3);
    let own = world.entities.iter().next().unwrap().id;
    let mut predicted = world.entities.clone();
    let mut random = Random::new(9);
    for tick in 0..3000 {
        let command = Command {
            right: random.below(3) as i16 - 1,
            down: random.below(3) as i16 - 1,
            aim: random.unit(),
            fire: random.chance(0.3),
        }
        .snapped();
        let mut inputs = Inputs::default();
        inputs.set(PlayerId(0), command);
        game.step(&mut world, &inputs);
        world.snap();
        game.predict(
            &mut predicted,
            own,
            &command,
            Ahead { tick: world.tick, ticks: 1, shared: &[] },
        );
        for slot in predicted.iter_mut() {
            slot.entity = Piece::unpack(slot.entity.kind(), &slot.entity.pack());
        }
        assert_eq!(world.entities, predicted, "tick {tick}");
    }
}

#[test]
fn five_hits_kill_and_walls_stop_shots() {
    let (game, mut world) = world_of(2, 3);
    let put = |world: &mut World<Skirmish>, id: EntityId, x: f32, y: f32| {
        let player = player_mut(&mut world.entities, id).expect("it is there");
        (player.x, player.y) = (x, y);
    };
    let fire = |world: &mut World<Skirmish>, ticks: u32| {
        let mut inputs = Inputs::default();
        inputs.set(PlayerId(0), Command { fire: true, ..Command::default() });
        for _ in 0..ticks {
            game.step(world, &inputs);
            world.snap();
        }
        let scores: Vec<_> = scores(&world.entities).map(|(_, score)| score).collect();
        (scores[0], players(&world.entities).nth(1).expect("it is there").entity, scores[1])
    };
    let avatar = |world: &World<Skirmish>, player| {
        Skirmish::avatar(&world.entities, PlayerId(player)).expect("it is there")
    };
    let (shooter, target) = (avatar(&world, 0), avatar(&world, 1));
    put(&mut world, shooter, -6.0, 0.0);
    put(&mut world, target, 6.0, 0.0);
    let (score, victim, _) = fire(&mut world, 60);
    assert_eq!((score.frags, victim.health), (0, HEALTH), "the pillar is in between");
    put(&mut world, target, -3.0, 0.0);
    let (score, victim, lost) = fire(&mut world, 60);
    assert_eq!((score.frags, victim.health, lost.deaths), (1, 0, 1));
    assert_eq!(lost.killed_by(), Some(PlayerId(0)));
    put(&mut world, shooter, 20.0, 14.0);
    let (_, victim, _) = fire(&mut world, 180);
    assert_eq!((victim.health, victim.spawns), (HEALTH, 2), "back in the world");
}

/// One shot of player 0 at (-6, 0) to the right, in which player 1 was at (-3, 0) four ticks ago and is now as
/// `now` makes it. Returns whether it hit, and what was told of it.
fn rewound_shot(favour: Favour, now: impl FnOnce(&mut Player)) -> (bool, Option<RewoundHit>) {
    let (game, mut world) = world_of(2, 3);
    let policy = crate::rewind::Rewind { favour, ..crate::rewind::Rewind::DEFAULT };
    world.past = Past::new(Rates::DEFAULT, policy);
    let ids = [0, 1].map(|player| Skirmish::avatar(&world.entities, PlayerId(player)));
    let [shooter, target] = ids.map(|id| id.expect("it is there"));
    for (id, x) in [(shooter, -6.0), (target, -3.0)] {
        let player = player_mut(&mut world.entities, id).expect("it is there");
        (player.x, player.y) = (x, 0.0);
    }
    for tick in 0..10 {
        world.past.push(Tick(tick), &world.entities);
    }
    now(player_mut(&mut world.entities, target).expect("it is there"));
    let mut inputs = Inputs::default();
    let view = View {
        at: crate::motion::interpolate::TickTime { tick: Tick(5), fraction: 0.5 },
        claimed: None,
        accepted: Rates::DEFAULT.step(),
        adjusted: crate::rewind::Adjusted::No,
    };
    inputs.set_seen(PlayerId(0), Command { fire: true, ..Command::default() }, Some(view));
    let others = world.entities.get(target).copied();
    world.tick = Tick(10);
    game.step(&mut world, &inputs);
    let told = world.past.poll_rewound().expect("it is told");
    assert_eq!((told.shooter, told.tick, world.past.poll_rewound()), (PlayerId(0), Tick(10), None));
    let hits = player(&world.entities, shooter).expect("it is there").hits;
    let place = |slot: Option<Slot<Piece>>| slot.and_then(|slot| slot.entity.player().copied());
    let after = place(world.entities.get(target).copied()).map(|player| player.position());
    assert_eq!(after, place(others).map(|player| player.position()), "it stays where it is");
    (hits == 1, told.hit)
}

#[test]
fn a_shot_hits_who_was_there_and_still_lives_the_same_life() {
    // Far away in the open, beside the line of fire.
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
    assert_eq!(world.entities.len(), 6);
    game.leave(&mut world, PlayerId(0));
    assert_eq!(world.entities.len(), 4);
    // Into the slots that the first has left.
    game.join(&mut world, PlayerId(7));
    for player in [1, 2, 7].map(PlayerId) {
        let avatar = Skirmish::avatar(&world.entities, player).expect("it is there");
        assert!(super::player(&world.entities, avatar).is_some());
        assert_eq!(scores(&world.entities).filter(|(of, _)| *of == player).count(), 1);
    }
    assert_eq!(Skirmish::avatar(&world.entities, PlayerId(0)), None);
}

/// How many of a player's states since, oldest last, differ from the one before in what is asked for.
fn changes<K: PartialEq>(
    past: &VecDeque<Vec<Player>>,
    n: usize,
    of: impl Fn(&Player) -> K,
) -> usize {
    past.iter().zip(past.iter().skip(1)).filter(|(a, b)| of(&a[n]) != of(&b[n])).count()
}

fn told(game: &Skirmish, base: &Player, now: &Player, ticks: u64) -> Player {
    let told = game.foretell(&Piece::Player(*base), &Piece::Player(*now), ticks);
    *told.as_ref().and_then(Piece::player).expect("it is foretold")
}

/// How much of what bots do in a minute is foretold from bases `back` ticks old. It must be all of
/// those who lived, turned once at most and pulled or left the trigger once at most.
fn foretold(count: u16, seed: u64, back: usize) -> f64 {
    let mut past: VecDeque<Vec<Player>> = VecDeque::new();
    let (mut all, mut came_true) = (0, 0);
    play(count, seed, 60 * 60, |game, world| {
        past.push_front(players(&world.entities).map(|slot| slot.entity).collect());
        past.truncate(back + 1);
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
            if lived
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
#[allow(clippy::print_stdout, reason = "the share is worth a look: bytes follow from it")]
fn what_others_do_is_foretold_unless_they_change_their_minds_twice() {
    for (count, back, least) in [(16, 1, 0.99), (16, 8, 0.85), (16, 32, 0.3), (64, 8, 0.8)] {
        let share = foretold(count, 21, back);
        println!("{count} bots, {back} ticks: {:.1} % foretold", share * 100.0);
        assert!(share > least, "only {share} of {count} bots' states after {back} ticks");
    }
}

#[test]
fn keys_are_foretold_to_the_tick() {
    let (game, mut world) = world_of(1, 3);
    let idle = Command { aim: 0.25, ..Command::default() };
    let run = Command { right: 1, fire: true, ..idle };
    let mut states = Vec::new();
    for tick in 0..90 {
        let mut inputs = Inputs::default();
        // Turns after 10 ticks, then keeps on for longer than is counted.
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
    let cause = |truth| game.cause(&Piece::Player(own), &Piece::Player(truth), &world.entities);
    assert_eq!(cause(Player { health: 0, ..own }), Cause::Shot);
    assert_eq!(cause(hurt), Cause::Unknown, "it slows nobody down");
    assert_eq!(cause(own), Cause::Unknown);
}

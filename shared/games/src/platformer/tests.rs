//! The platformer without a network.

use std::collections::VecDeque;

use super::race::LAST_SECS;
use super::*;
use crate::rounds::{Phase, played, round};
use phaselock::fields::{Entity, Record};
use phaselock::game::{Bot as _, Known, Subtick, Timed};
use phaselock::random::Random;
use phaselock::time::Tick;

fn world_of(rates: Rates, players: u16, seed: u64) -> (Platformer, World<Platformer>) {
    let game = Platformer::new(rates, seed);
    let mut world = World::new(seed);
    game.populate(&mut world);
    for player in 0..players {
        game.join(&mut world, PlayerId(player));
    }
    world.snap();
    (game, world)
}

/// Lets bots play. Returns the world at the end.
fn play(
    players: u16,
    seed: u64,
    ticks: u64,
    mut each: impl FnMut(&Platformer, &World<Platformer>),
) -> World<Platformer> {
    let (game, mut world) = world_of(Rates::DEFAULT, players, seed);
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
    world
}

fn own(world: &World<Platformer>, player: u16) -> Player {
    *player_of(&world.entities, PlayerId(player)).expect("it is there")
}

fn own_mut(world: &mut World<Platformer>) -> &mut Player {
    world.entities.records_mut::<Player>().next().expect("it is there").2
}

fn scores(world: &World<Platformer>) -> Vec<Score> {
    world.entities.records::<Score>().map(|slot| slot.entity).collect()
}

fn step(game: &Platformer, world: &mut World<Platformer>, command: Command) {
    step_timed(game, world, command.into());
}

fn step_timed(game: &Platformer, world: &mut World<Platformer>, timed: Timed<Command>) {
    let mut inputs = Inputs::default();
    for slot in world.entities.records::<Player>() {
        inputs.set_timed(slot.owner.expect("it belongs to a player"), timed, None);
    }
    world.tick = world.tick.plus(1);
    game.step(world, &inputs);
    world.snap();
}

/// Runs until a phase begins, without pressed keys.
fn wait_for(game: &Platformer, world: &mut World<Platformer>, phase: Phase) {
    for _ in 0..20_000 {
        step(game, world, Command::default());
        if round(&world.entities).phase() == phase {
            return;
        }
    }
    panic!("{phase:?} never comes");
}

#[test]
#[allow(clippy::print_stdout, reason = "prints how well the bots play")]
fn bots_get_to_the_goal_each_by_its_own_way_and_with_some_falls() {
    let (mut arrived, mut falls, mut coins, mut times) = (0, 0, Vec::new(), Vec::new());
    for seed in 0..2 {
        let mut results = None;
        play(8, seed, 60 * 140, |_, world| {
            if round(&world.entities).phase() == Phase::Results && results.is_none() {
                results = Some(scores(world));
                let players = world.entities.records::<Player>();
                falls += players.map(|slot| u32::from(slot.entity.falls)).sum::<u32>();
            }
        });
        let results = results.expect("the race ends");
        arrived += results.iter().filter(|score| score.place > 0).count();
        coins.extend(results.iter().map(|score| score.coins));
        times.extend(results.iter().filter(|score| score.place > 0).map(|score| score.time / 100));
    }
    println!("{arrived} of 16 in the goal after {times:?} s, coins {coins:?}, {falls} falls");
    assert!(arrived >= 6, "{arrived} of 16 are in the goal");
    assert!(times.iter().all(|secs| (25..110).contains(secs)));
    coins.sort_unstable();
    assert!(coins[0] >= 3 && coins[15] >= coins[0] + 5, "{coins:?}");
    assert!(falls > 1, "they are too good");
}

#[test]
fn the_same_seed_is_the_same_world() {
    let states = |seed| {
        let mut states = Vec::new();
        play(4, seed, 1200, |_, world| {
            states.extend(world.entities.iter().map(|slot| slot.entity.pack()));
        });
        states
    };
    assert_eq!(states(1), states(1));
    assert_ne!(states(1), states(2));
}

/// Presses random keys, each for a while.
fn restless(random: &mut Random, command: &mut Command) -> Command {
    if random.chance(0.08) {
        // More often to the right, where there is more to test.
        command.right = [-1, 0, 1, 1, 1][random.below(5) as usize];
    }
    if random.chance(0.1) {
        command.jump = !command.jump;
    }
    *command
}

#[test]
fn an_undisturbed_player_is_where_its_client_predicts() {
    for tick_hz in [10, 60, 128] {
        let rates = Rates { tick_hz, snapshot_hz: tick_hz };
        let (game, mut world) = world_of(rates, 1, 3);
        let id = Platformer::avatar(&world.entities, PlayerId(0)).expect("it is there");
        let mut random = Random::new(9);
        let mut command = Command::default();
        // One tick, so that the warm-up has begun, as it has when a client receives its player.
        step(&game, &mut world, command);
        let mut predicted = world.entities.clone();
        let mut races = 0;
        for tick in 0..u64::from(tick_hz) * 40 {
            let command = restless(&mut random, &mut command).snapped();
            let race = own(&world, 0).race;
            let subtick = random.chance(0.5).then(|| Subtick::new(random.below(128) as u8));
            step_timed(&game, &mut world, Timed { input: command, subtick });
            // The rest of the world is known from a while ago.
            let known = tick % 20 + 1;
            if known == 1 {
                let rest = world.entities.iter().filter(|slot| slot.id != id);
                rest.for_each(|slot| predicted.insert(*slot));
            }
            let ahead = Ahead { tick: world.tick, ticks: known, subtick, co_predicted: &[] };
            game.predict(&mut predicted, id, &command, ahead);
            for slot in predicted.iter_mut() {
                slot.entity = Piece::unpack(slot.entity.kind(), &slot.entity.pack());
            }
            let truth = world.entities.get(id);
            assert_eq!(truth, predicted.get(id), "tick {tick} at {tick_hz} Hz");
            let now = own(&world, 0);
            races += u32::from(now.race != race);
        }
        assert_eq!(races, 1, "it was sent to the start of a race once");
    }
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

#[test]
#[allow(clippy::print_stdout, reason = "prints the share, which determines the bytes")]
fn others_are_extrapolated_unless_they_change_keys_twice() {
    for (back, least) in [(2, 0.9), (8, 0.75), (30, 0.35)] {
        let mut past: VecDeque<Vec<Player>> = VecDeque::new();
        let (mut all, mut came_true) = (0, 0);
        play(8, 4, 60 * 45, |game, world| {
            past.push_front(world.entities.records().map(|slot| slot.entity).collect());
            past.truncate(back + 1);
            if past.len() <= back {
                return;
            }
            for n in 0..past[0].len() {
                let (base, now) = (&past[back][n], &past[0][n]);
                let told = game.extrapolate(Known {
                    base: &(*base).into(),
                    steering: &(*now).into(),
                    ticks: back as u64,
                });
                let Some(Piece::Player(told)) = told else { panic!("it is a player") };
                assert_eq!(told, Record::snapped(&told), "it is on the grid");
                let told_right = Player { pressed: now.pressed, held: now.held, ..told } == *now;
                let same_race = changes(&past, n, |player| player.race) == 0;
                if same_race && changes(&past, n, |player| player.pressed) <= 1 {
                    assert!(told_right, "{back} ticks after {base:?}: {told:?}, not {now:?}");
                }
                all += 1;
                came_true += u32::from(told_right);
            }
        });
        let share = f64::from(came_true) / f64::from(all);
        println!("{back} ticks: {:.1} % extrapolated", share * 100.0);
        assert!(share > least, "{share} after {back} ticks");
    }
}

#[test]
fn riders_are_extrapolated_with_their_platform() {
    let (game, mut world) = world_of(Rates::DEFAULT, 1, 1);
    step(&game, &mut world, Command::default());
    let top = level::PLATFORMS[0].at(own(&world, 0).clock);
    let player = own_mut(&mut world);
    (player.x, player.y, player.ride) = (top.x, top.y, 1);
    world.snap();
    let base = own(&world, 0);
    for ticks in 1..=30 {
        step(&game, &mut world, Command::default());
        let now = own(&world, 0);
        assert_eq!(
            game.extrapolate(Known { base: &base.into(), steering: &now.into(), ticks }),
            Some(now.into())
        );
        assert_eq!(now.ride, 1);
    }
    assert!((own(&world, 0).x - base.x).abs() > 0.1, "it was carried");
}

#[test]
fn a_race_begins_at_the_start_with_nothing_and_ends_when_all_are_in_the_goal() {
    let (game, mut world) = world_of(Rates::DEFAULT, 4, 1);
    for tick in 0..300 {
        step(&game, &mut world, Command { right: 1, jump: tick % 40 < 25 });
    }
    let warm = own(&world, 0);
    assert!(warm.x > 10.0 && warm.coins() > 0, "free to run: {warm:?}");
    assert_eq!(scores(&world)[0].coins, 0, "it does not count");
    wait_for(&game, &mut world, Phase::Play);
    assert_eq!((own(&world, 0).feet(), own(&world, 0).coins()), (game.level.start, 0));
    for _ in 0..100 {
        step(&game, &mut world, Command { right: 1, jump: true });
        assert_eq!(own(&world, 0).feet(), game.level.start, "no one runs before the signal");
    }
    for tick in 0..120 {
        step(&game, &mut world, Command { right: 1, jump: tick % 40 < 25 });
    }
    let coins = own(&world, 0).coins();
    assert!(coins > 0 && scores(&world).iter().all(|score| u32::from(score.coins) == coins));

    // Into the goal one after the other, in reverse order.
    let goal = *game.level.stages.last().expect("there is a goal");
    let ids: Vec<_> = world.entities.records::<Player>().map(|slot| slot.id).collect();
    for id in ids.iter().rev() {
        assert_eq!(round(&world.entities).phase(), Phase::Play);
        let player = world.entities.record_mut::<Player>(*id).expect("it is there");
        (player.x, player.y) = goal.into();
        for _ in 0..30 {
            step(&game, &mut world, Command::default());
        }
    }
    wait_for(&game, &mut world, Phase::Results);
    let told = scores(&world);
    assert_eq!(told.iter().map(|score| score.place).collect::<Vec<_>>(), [4, 3, 2, 1]);
    assert_eq!(told.iter().map(|score| score.wins).collect::<Vec<_>>(), [0, 0, 0, 1]);
    assert_eq!(told[3].points, race::points(told[3].coins, 1));
    // Waiting 2 s, 2 s and the time since the signal: half a second for each before.
    assert!(told[0].time > told[3].time + 140 && told[3].time < 260, "{told:?}");
    // What is done now no longer counts.
    for _ in 0..60 {
        step(&game, &mut world, Command { right: -1, jump: false });
    }
    let still = |score: &Score| Score { progress: 0, ..*score };
    assert!(scores(&world).iter().map(still).eq(told.iter().map(still)), "{told:?}");
    assert_eq!(played(&world), 0);
    wait_for(&game, &mut world, Phase::WarmUp);
    assert_eq!(played(&world), 1);
    wait_for(&game, &mut world, Phase::Play);
    assert!(scores(&world).iter().all(|score| score.points == 0 && score.place == 0));
    step(&game, &mut world, Command::default());
    assert!(round(&world.entities).secs_left(world.tick, Rates::DEFAULT) > 100.0);
}

#[test]
fn the_third_in_the_goal_makes_the_others_hurry() {
    let (game, mut world) = world_of(Rates::DEFAULT, 5, 1);
    wait_for(&game, &mut world, Phase::Play);
    let goal = *game.level.stages.last().expect("there is a goal");
    for (_, _, player) in world.entities.records_mut::<Player>().take(3) {
        (player.x, player.y) = goal.into();
    }
    for _ in 0..3 {
        step(&game, &mut world, Command::default());
    }
    let left = round(&world.entities).secs_left(world.tick, Rates::DEFAULT);
    assert!((LAST_SECS - 0.1..=LAST_SECS).contains(&left), "{left} s");
    // Equally fast: by player id. Players who were absent have no place.
    wait_for(&game, &mut world, Phase::Results);
    let places: Vec<_> = scores(&world).iter().map(|score| score.place).collect();
    assert_eq!(places, [1, 2, 3, 0, 0]);
}

#[test]
fn late_players_have_no_more_time_than_the_others() {
    let (game, mut world) = world_of(Rates::DEFAULT, 1, 1);
    wait_for(&game, &mut world, Phase::Play);
    for _ in 0..300 {
        step(&game, &mut world, Command::default());
    }
    game.join(&mut world, PlayerId(7));
    step(&game, &mut world, Command::default());
    assert_eq!(
        (own(&world, 7).race, own(&world, 7).ran),
        (own(&world, 0).race, own(&world, 0).ran)
    );
    game.leave(&mut world, PlayerId(0));
    assert_eq!(world.entities.len(), 3, "one of two players, its score, and the round");
}

#[test]
fn silent_players_fall_a_quarter_of_a_second_later() {
    let (game, mut world) = world_of(Rates::DEFAULT, 1, 1);
    step(&game, &mut world, Command::default());
    let behind_max = 15;
    own_mut(&mut world).y -= 3.0;
    let (mut floor, mut silent) = (None, 0);
    for _ in 0..120 {
        silent += 1;
        let mut inputs = Inputs::default();
        // As in a session whose client is silent.
        inputs.set_steps(PlayerId(0), |_| silent.min(behind_max));
        world.tick = world.tick.plus(1);
        game.step(&mut world, &inputs);
        world.state_ages(&inputs);
        world.snap();
        let player = own(&world, 0);
        assert_eq!(u64::from(player.age), silent.min(behind_max));
        if player.stands() && silent > behind_max {
            floor.get_or_insert(silent);
        }
    }
    // It falls 3 m in 0.31 s of its own time.
    let floor = floor.expect("it falls") as f32 / 60.0;
    assert!((0.5..0.6).contains(&floor), "{floor} s after it fell silent");
    assert_eq!(own(&world, 0).y, game.level.start.y);
}

#[test]
fn a_full_world_has_a_race_too() {
    let (game, mut world) = world_of(Rates::DEFAULT, 9000, 1);
    // There is space for fewer, and that is no problem.
    assert_eq!(world.entities.len(), usize::from(phaselock::limits::ENTITIES_MAX));
    for player in 300..9000 {
        game.leave(&mut world, PlayerId(player));
    }
    for _ in 0..600 {
        step(&game, &mut world, Command { right: 1, jump: false });
    }
    assert!(scores(&world).len() == 300 && own(&world, 299).race == 1);
}

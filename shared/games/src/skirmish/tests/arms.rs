//! Rockets, grenades and mines; and no command harms the world.

use super::*;
use crate::rounds::{played, round};
use proptest::prelude::*;

/// Runs ticks in which player 0 sends this command.
fn run(game: &Skirmish, world: &mut World<Skirmish>, command: Command, ticks: u64) {
    let mut inputs = Inputs::default();
    inputs.set(PlayerId(0), command.snapped());
    for _ in 0..ticks {
        world.tick = world.tick.plus(1);
        game.step(world, &inputs);
        world.snap();
    }
}

fn health(world: &World<Skirmish>, of: u16) -> u8 {
    player(&world.entities, avatar(world, of)).expect("it is there").health
}

fn with(weapon: Weapon) -> Command {
    Command { weapon: weapon as u8 + 1, ..Command::default() }
}

/// Player 0's rocket flies along y = 0 at the pillar's left side; player 1 stands at a position.
fn struck(x: f32, y: f32) -> (u8, Vec2) {
    let (game, mut world) = world_of(2, 3);
    run(&game, &mut world, Command::default(), 1);
    put(&mut world, 0, -8.0, 0.0);
    put(&mut world, 1, x, y);
    run(&game, &mut world, with(Weapon::Rockets), 20);
    run(&game, &mut world, Command { fire: true, ..Command::default() }, 1);
    for _ in 0..60 {
        run(&game, &mut world, Command::default(), 1);
        let other = player(&world.entities, avatar(&world, 1)).expect("it is there");
        if other.health < HEALTH {
            return (HEALTH - other.health, other.velocity());
        }
    }
    (0, Vec2::ZERO)
}

#[test]
fn splash_falls_off_with_distance_and_walls_shield_from_it() {
    let (direct, pushed) = struck(-5.0, 0.0);
    assert!((80..=85).contains(&direct) && pushed.x > 9.0, "{direct} {pushed}");
    let (near, pushed) = struck(-2.0, 1.4);
    let (far, less) = struck(-2.0, 2.9);
    assert!(near > 45 && far > 5 && far < near - 20, "{near} beside it, {far} further off");
    assert!(pushed.y > less.y && less.y > 0.0, "{pushed} and {less}");
    assert_eq!(struck(2.0, 0.0).0, 0, "behind the pillar");
    assert_eq!(struck(-2.0, 4.0).0, 0, "out of reach");
}

#[test]
fn a_rocket_at_ones_feet_hurts_half_and_throws_one_back() {
    let (game, mut world) = world_of(1, 3);
    run(&game, &mut world, Command::default(), 1);
    put(&mut world, 0, -2.2, 0.0);
    run(&game, &mut world, with(Weapon::Rockets), 20);
    run(&game, &mut world, Command { fire: true, ..Command::default() }, 1);
    run(&game, &mut world, Command::default(), 4);
    let own = player(&world.entities, avatar(&world, 0)).expect("it is there");
    assert!((30..45).contains(&(HEALTH - own.health)), "{own:?}");
    assert!(own.vx < -8.0, "{own:?}");
    assert_eq!((own.rockets, own.weapon()), (Weapon::Rockets.start() - 1, Weapon::Rockets));
}

#[test]
fn players_out_of_rockets_have_the_rifle_again() {
    let (game, mut world) = world_of(1, 3);
    run(&game, &mut world, with(Weapon::Rockets), 20);
    put(&mut world, 0, -20.0, 0.0);
    let fire = Command { fire: true, aim: 0.0, ..Command::default() };
    run(&game, &mut world, fire, 60 * 4);
    let own = player(&world.entities, avatar(&world, 0)).expect("it is there");
    assert_eq!((own.rockets, own.weapon()), (0, Weapon::Rifle));
    // A weapon without ammunition is not selected.
    run(&game, &mut world, with(Weapon::Rockets), 1);
    let own = player(&world.entities, avatar(&world, 0)).expect("it is there");
    assert_eq!(own.weapon(), Weapon::Rifle);
}

#[test]
fn a_mine_waits_is_seen_only_nearby_and_no_more_than_a_few_lie_about() {
    let (game, mut world) = world_of(2, 3);
    run(&game, &mut world, Command::default(), 1);
    put(&mut world, 0, -6.0, 2.0);
    put(&mut world, 1, 6.0, 2.0);
    let own = avatar(&world, 0);
    player_mut(&mut world.entities, own).expect("it is there").mines = 4;
    let lying = |world: &World<Skirmish>| {
        world.entities.records::<Mine>().filter(|slot| slot.entity.burst == 0).count()
    };
    for laid in 1..=4_usize {
        run(&game, &mut world, with(Weapon::Mines), 50);
        run(&game, &mut world, Command { fire: true, ..Command::default() }, 1);
        assert_eq!(lying(&world), laid.min(MINES_MAX));
        put(&mut world, 0, -6.0 - laid as f32, 2.0);
    }
    let mine = *world.entities.iter().find(|slot| matches!(slot.entity, Piece::Mine(_))).unwrap();
    let at = mine.entity.position().expect("it lies somewhere");
    let seen = |world: &World<Skirmish>, by: u16| {
        game.relevance(&world.entities, PlayerId(by), &mine) != Relevance::Secret
    };
    assert!(!seen(&world, 1));
    put(&mut world, 1, at.x, at.y + 3.0);
    assert!(seen(&world, 1));
    run(&game, &mut world, Command::default(), 60);
    put(&mut world, 0, 20.0, 2.0);
    put(&mut world, 1, at.x, at.y + 0.8);
    run(&game, &mut world, Command::default(), 1);
    assert!(health(&world, 1) < 40, "{} left", health(&world, 1));
}

#[test]
fn barrels_go_off_one_after_the_other_and_come_back() {
    let (game, mut world) = world_of(2, 3);
    run(&game, &mut world, Command::default(), 1);
    let barrels: Vec<_> = world
        .entities
        .records::<Prop>()
        .filter(|slot| slot.entity.barrel)
        .map(|slot| slot.id)
        .collect();
    // In a row, two metres apart.
    for (id, n) in barrels.iter().zip(0_u8..6) {
        let prop = world.entities.record_mut::<Prop>(*id).expect("it is there");
        (prop.x, prop.y) = (-18.0 + f32::from(n) * 2.0, 14.0);
    }
    put(&mut world, 0, -22.0, 14.0);
    put(&mut world, 1, -14.0, 13.0);
    let gone = |world: &World<Skirmish>| {
        barrels.iter().filter(|id| world.entities.record::<Prop>(**id).unwrap().gone).count()
    };
    let mut counts = Vec::new();
    for _ in 0..100 {
        run(&game, &mut world, Command { fire: true, ..Command::default() }, 1);
        counts.push(gone(&world));
    }
    assert!(counts.contains(&1), "only the first: {counts:?}");
    assert!(counts.last() > Some(&4), "the row: {counts:?}");
    let score = scores(&world.entities).find(|(of, _)| *of == PlayerId(1)).expect("it is there").1;
    assert_eq!((score.killed_by(), score.means()), (Some(PlayerId(0)), Means::Barrel));
    run(&game, &mut world, Command::default(), 60 * 21);
    assert_eq!(gone(&world), 0, "they are back");
}

#[test]
fn pickups_are_taken_once_and_come_back() {
    let (game, mut world) = world_of(1, 3);
    // Past the start of the round, which resets everything.
    run(&game, &mut world, Command::default(), 60 * 9);
    let own = avatar(&world, 0);
    player_mut(&mut world.entities, own).expect("it is there").health = 30;
    put(&mut world, 0, 0.0, 8.5);
    run(&game, &mut world, Command::default(), 2);
    assert_eq!(health(&world, 0), 70);
    run(&game, &mut world, Command::default(), 60 * 14);
    assert_eq!(health(&world, 0), 70);
    run(&game, &mut world, Command::default(), 60 * 2);
    assert_eq!(health(&world, 0), HEALTH);
}

#[test]
fn a_round_restarts_and_ends_at_the_last_frag() {
    let (game, mut world) = world_of(2, 3);
    let phase = |world: &World<Skirmish>| round(&world.entities).phase();
    run(&game, &mut world, Command { right: 1, fire: true, ..with(Weapon::Rockets) }, 60 * 8);
    let rockets =
        |world: &World<Skirmish>| player(&world.entities, avatar(world, 0)).unwrap().rockets;
    assert!(rockets(&world) < Weapon::Rockets.start());
    for (_, _, score) in world.entities.records_mut::<Score>() {
        score.frags = 7;
    }
    run(&game, &mut world, Command::default(), 1);
    assert_eq!(phase(&world), Phase::Play);
    assert!(scores(&world.entities).all(|(_, score)| score == Score::default()));
    assert_eq!(rockets(&world), Weapon::Rockets.start());
    let first = world.entities.records_mut::<Score>().next().expect("it is there");
    first.2.frags = FRAGS;
    run(&game, &mut world, Command::default(), 1);
    assert_eq!((phase(&world), played(&world)), (Phase::Results, 0));
    // No one is harmed any more.
    put(&mut world, 0, -6.0, 0.0);
    put(&mut world, 1, -3.0, 0.0);
    run(&game, &mut world, Command { fire: true, ..Command::default() }, 60);
    assert_eq!(health(&world, 1), HEALTH);
    run(&game, &mut world, Command::default(), 60 * 8);
    assert_eq!((phase(&world), played(&world)), (Phase::WarmUp, 1));
}

fn check(game: &Skirmish, world: &World<Skirmish>, clear: f32) -> Result<(), TestCaseError> {
    let entities = &world.entities;
    for slot in players(entities) {
        let Player { health, rockets, grenades, mines, .. } = slot.entity;
        prop_assert!(health <= HEALTH && rockets <= 9 && grenades <= 6 && mines <= 4);
        prop_assert!(slot.entity.ammunition(slot.entity.weapon()) != Some(0), "{:?}", slot.entity);
        prop_assert!(slot.entity.velocity().length() < 16.0, "{:?}", slot.entity);
        let shape = BodyShape::Circle(RADIUS - clear);
        prop_assert!(game.arena.is_clear(slot.entity.position(), shape), "{:?}", slot.entity);
        let of = |other: &Slot<Mine>| other.owner == slot.owner && other.entity.burst == 0;
        prop_assert!(entities.records::<Mine>().filter(of).count() <= MINES_MAX);
        let flying = entities.records::<Shell>().filter(|other| other.owner == slot.owner).count();
        prop_assert!(flying <= 12, "{flying} of one player's");
        let held = |prop: &Slot<Prop>| prop.entity.held && prop.entity.last_by() == slot.owner;
        prop_assert!(entities.records::<Prop>().filter(held).count() <= 1);
    }
    for slot in entities.records::<Prop>().filter(|slot| !slot.entity.gone) {
        let shape = match slot.entity.shape() {
            BodyShape::Circle(radius) => BodyShape::Circle(radius - clear),
            BodyShape::Box(half) => BodyShape::Box(half - clear),
        };
        prop_assert!(game.arena.is_clear(slot.entity.position(), shape), "{:?}", slot.entity);
    }
    for slot in entities.records::<Shell>() {
        prop_assert!(game.arena.is_clear(slot.entity.position(), BodyShape::Circle(0.1)));
    }
    let all = entities.iter().flat_map(|slot| slot.entity.values());
    prop_assert!(all.into_iter().all(f64::is_finite));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_commanded_nobody_and_nothing_is_in_a_wall(
        seed in 0_u64..1 << 32, hz in 10_u32..128, twitch in 0.02_f32..0.6,
    ) {
        let rates = Rates { tick_hz: hz, ..Rates::DEFAULT };
        let (game, mut world) = world_at(rates, 12, seed);
        let mut random = Random::new(seed);
        let mut commands = [Command::default(); 12];
        for tick in 1..hz as u64 * 20 {
            let mut inputs = Inputs::default();
            for (command, player) in commands.iter_mut().zip(0..) {
                if random.chance(twitch) {
                    let mut packed = [0; phaselock::limits::FIELDS_MAX];
                    for (value, field) in packed.iter_mut().zip(Command::FIELDS) {
                        *value = random.below(1 << field.bits);
                    }
                    *command = <Command as Record>::unpack(&packed);
                }
                inputs.set(PlayerId(player), *command);
            }
            if random.chance(0.01) {
                let id = avatar(&world, random.below(12) as u16);
                let player = player_mut(&mut world.entities, id).expect("it is there");
                (player.rockets, player.grenades, player.mines) = (9, 6, 4);
            }
            world.tick = Tick(tick);
            game.step(&mut world, &inputs);
            world.snap();
            check(&game, &world, 0.01)?;
        }
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "prints statistics of the weapons")]
fn bots_use_all_they_have_and_seldom_kill_themselves() {
    let mut means = [0_u32; 6];
    let (mut own, mut deaths) = (0_u32, 0_u32);
    let mut used = [0_u32; 3];
    for seed in [5, 6] {
        let mut before: Vec<Score> = Vec::new();
        play(8, seed, 60 * 60 * 2, |_, world| {
            let now: Vec<_> = scores(&world.entities).collect();
            for ((who, now), before) in now.iter().zip(&before) {
                if now.deaths > before.deaths {
                    deaths += 1;
                    means[usize::from(now.means)] += 1;
                    own += u32::from(now.killed_by() == Some(*who));
                }
            }
            before = now.into_iter().map(|(_, score)| score).collect();
            let fresh = |shell: &Slot<Shell>| shell.entity.burst == 1;
            for shell in world.entities.records::<Shell>().filter(fresh) {
                used[usize::from(shell.entity.grenade)] += 1;
            }
            used[2] +=
                world.entities.records::<Mine>().filter(|mine| mine.entity.burst == 1).count()
                    as u32;
        });
    }
    println!(
        "{deaths} deaths, {own} by their own; by rifle, rocket, grenade, mine, barrel, thrown: \
         {means:?}"
    );
    println!("{used:?} rockets, grenades and mines went off");
    assert!(deaths > 60, "{deaths} deaths in four minutes of eight bots");
    assert!(own * 8 < deaths, "{own} of {deaths} by their own");
    assert!(means[0] > 10 && means[1] > 5, "{means:?}");
    assert!(used.iter().all(|used| *used > 3), "{used:?}");
}

//! Crates and barrels.

use super::*;
use crate::skirmish::props::CRATE_HALF;

/// Places the first crate at a position, with all others out of the way.
fn crate_at(world: &mut World<Skirmish>, x: f32, y: f32) -> EntityId {
    let id = world.entities.records::<Prop>().next().expect("there are crates").id;
    let prop = world.entities.record_mut::<Prop>(id).expect("it is there");
    (prop.x, prop.y) = (x, y);
    id
}

fn prop(world: &World<Skirmish>, id: EntityId) -> Prop {
    *world.entities.record(id).expect("it is there")
}

fn run(game: &Skirmish, world: &mut World<Skirmish>, command: Command, ticks: u64) {
    let mut inputs = Inputs::default();
    inputs.set(PlayerId(0), command.snapped());
    for _ in 0..ticks {
        world.tick = world.tick.plus(1);
        game.step(world, &inputs);
        world.snap();
    }
}

#[test]
fn a_crate_moves_in_the_tick_in_which_it_is_touched_and_stops_at_a_wall() {
    let (game, mut world) = world_of(1, 3);
    run(&game, &mut world, Command::default(), 1);
    put(&mut world, 0, 16.0, 13.0);
    let id = crate_at(&mut world, 18.0, 13.0);
    let right = Command { right: 1, ..Command::default() };
    let own = |world: &World<Skirmish>| player(&world.entities, avatar(world, 0)).unwrap();
    for _ in 0..300 {
        let before = (own(&world).x, prop(&world, id).x);
        run(&game, &mut world, right, 1);
        let after = (own(&world).x, prop(&world, id).x);
        let touches = after.0 + RADIUS + CRATE_HALF > before.1 + 0.012;
        let walled = after.1 > 24.0 - CRATE_HALF - 0.02;
        assert!(!touches || walled || after.1 > before.1, "{before:?} {after:?}");
        assert!(after.1 - after.0 > RADIUS + CRATE_HALF - 0.02, "it is in the crate: {after:?}");
    }
    let (own, prop) = (own(&world), prop(&world, id));
    assert!((prop.x - 23.55).abs() < 0.01 && prop.velocity() == Vec2::ZERO, "{prop:?}");
    assert!((own.x - 22.7).abs() < 0.05 && own.vx < 0.8, "{own:?}");
}

#[test]
fn a_row_of_crates_is_pushed_as_one_and_a_pile_comes_to_rest() {
    let (game, mut world) = world_of(1, 3);
    run(&game, &mut world, Command::default(), 1);
    put(&mut world, 0, 14.5, 13.4);
    let ids: Vec<_> = world.entities.records::<Prop>().take(6).map(|slot| slot.id).collect();
    for (id, n) in ids.iter().zip(0_u8..) {
        let prop = world.entities.record_mut::<Prop>(*id).expect("it is there");
        // Some slightly to the side.
        let aside = f32::from(n % 2) * 0.3;
        (prop.x, prop.y) = (16.0 + f32::from(n) * 1.0, 13.2 + aside);
    }
    run(&game, &mut world, Command { right: 1, ..Command::default() }, 300);
    let crates: Vec<_> = ids.iter().map(|id| prop(&world, *id)).collect();
    let last = crates.iter().map(|prop| prop.x).fold(0.0, f32::max);
    assert!(last > 23.5, "the row reached the wall: {last}");
    run(&game, &mut world, Command { right: -1, ..Command::default() }, 60);
    let before: Vec<_> = ids.iter().map(|id| prop(&world, *id)).collect();
    run(&game, &mut world, Command::default(), 60);
    let after: Vec<_> = ids.iter().map(|id| prop(&world, *id)).collect();
    assert_eq!(before, after, "the pile is at rest");
    for (n, a) in after.iter().enumerate() {
        for b in &after[n + 1..] {
            let both = bodies::overlap(a.position(), a.shape(), b.position(), b.shape());
            assert!(both.is_none_or(|(_, depth)| depth < 0.03), "{a:?} in {b:?}");
        }
    }
}

#[test]
fn props_are_lifted_carried_and_thrown_and_hurt_players() {
    let (game, mut world) = world_of(2, 3);
    run(&game, &mut world, Command::default(), 1);
    put(&mut world, 0, 0.0, 11.0);
    put(&mut world, 1, 4.0, 11.0);
    let id = crate_at(&mut world, 1.1, 11.0);
    let grab = Command { grab: true, ..Command::default() };
    run(&game, &mut world, grab, 2);
    assert!(prop(&world, id).held);
    let own = |world: &World<Skirmish>| player(&world.entities, avatar(world, 0)).unwrap();
    assert!(own(&world).is_carrying());
    // Its hands are full, so nothing is fired. It moves with the player's aim.
    run(&game, &mut world, Command { fire: true, aim: 0.25, ..grab }, 30);
    assert_eq!(own(&world).shots, 0);
    let carried = prop(&world, id).position() - own(&world).position();
    assert!(carried.distance(Vec2::new(0.0, 0.8)) < 0.02, "{carried}");
    run(&game, &mut world, grab, 1);
    run(&game, &mut world, Command::default(), 40);
    assert!(!prop(&world, id).held && !own(&world).is_carrying());
    let hit = player(&world.entities, avatar(&world, 1)).expect("it is there");
    assert!(hit.health < HEALTH && hit.health > 50, "{hit:?}");
    // A player who dies lets go.
    run(&game, &mut world, Command::default(), 60);
    let at = prop(&world, id).position();
    put(&mut world, 0, at.x - 1.1, at.y);
    run(&game, &mut world, grab, 2);
    assert!(prop(&world, id).held);
    let by = Some(PlayerId(1));
    let victim = avatar(&world, 0);
    let hurt = blast::Hurt { victim, by, means: Means::Rocket, damage: 100 };
    game.hurt(&mut world.entities, &hurt);
    run(&game, &mut world, grab, 1);
    assert!(!prop(&world, id).held);
}

#[test]
fn players_who_leave_drop_their_props() {
    let (game, mut world) = world_of(1, 3);
    run(&game, &mut world, Command::default(), 1);
    put(&mut world, 0, 0.0, 11.0);
    let id = crate_at(&mut world, 1.1, 11.0);
    run(&game, &mut world, Command { grab: true, ..Command::default() }, 2);
    assert!(prop(&world, id).held);
    game.leave(&mut world, PlayerId(0));
    run(&game, &mut world, Command::default(), 1);
    assert!(!prop(&world, id).held);
}

#[test]
fn a_crate_is_cover_and_props_out_of_sight_are_secret() {
    let (game, mut world) = world_of(2, 3);
    run(&game, &mut world, Command::default(), 1);
    put(&mut world, 0, -4.0, 11.0);
    put(&mut world, 1, 4.0, 11.0);
    let id = crate_at(&mut world, 0.0, 11.0);
    run(&game, &mut world, Command { fire: true, ..Command::default() }, 60);
    let other = player(&world.entities, avatar(&world, 1)).expect("it is there");
    assert_eq!(other.health, HEALTH);
    let slot = *world.entities.get(id).expect("it is there");
    let told = |world: &World<Skirmish>| {
        game.relevance(&world.entities, PlayerId(1), &slot) != Relevance::Secret
    };
    assert!(told(&world));
    put(&mut world, 1, 0.0, -11.0);
    assert!(!told(&world), "the pillar is in between");
}

#[test]
fn a_failed_prediction_is_laid_to_what_is_near() {
    let (game, mut world) = world_of(2, 3);
    run(&game, &mut world, Command::default(), 1);
    put(&mut world, 0, 0.0, 11.0);
    put(&mut world, 1, 12.0, 13.0);
    crate_at(&mut world, 1.0, 11.0);
    let own = player(&world.entities, avatar(&world, 0)).expect("it is there");
    let cause = |world: &World<Skirmish>, truth| cause_of(&game, world, own, truth);
    let stopped = Player { x: own.x - 0.2, ..own };
    assert_eq!(cause(&world, stopped), None, "it stands there");
    let id = crate_at(&mut world, 1.0, 11.0);
    world.entities.record_mut::<Prop>(id).expect("it is there").vx = -4.0;
    assert_eq!(cause(&world, stopped), Some(MispredictionCause::Prop), "it comes");
    let blown = Player { health: 60, vx: 5.0, ..own };
    assert_eq!(cause(&world, blown), Some(MispredictionCause::Shot));
    put(&mut world, 1, 2.0, 11.0);
    assert_eq!(
        cause(&world, stopped),
        Some(MispredictionCause::Player),
        "a player who pushes from the other side"
    );
    crate_at(&mut world, 9.0, 13.0);
    assert_eq!(cause(&world, stopped), None);
}

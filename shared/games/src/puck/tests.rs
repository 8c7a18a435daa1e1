//! Shuffle Puck without a network.

use proptest::prelude::*;

use super::motion::{MALLET_SPEED, PUCK_SPEED, STILL_SECS, position};
use super::rink::{CORNER, DEPTH, GOAL, HALF, MALLET, POST, POST_AT, PUCK, keep_mallet, keep_puck};
use super::*;
use crate::rounds::{Phase, round};
use phaselock::fields::{Entity, Record};
use phaselock::game::{Bot as _, Known};
use phaselock::random::Random;
use phaselock::time::Tick;

/// Half a step of the positions' grid, plus the rounding of sums of `f32`.
const ROUNDING: f32 = 0.5 / 512.0 + 1e-4;

fn world_of(players: u16, seed: u64, tick_hz: u32) -> (ShufflePuck, World<ShufflePuck>) {
    let rates = Rates { tick_hz, snapshot_hz: tick_hz };
    let game = ShufflePuck::new(rates, seed);
    let mut world = World::new(seed);
    game.populate(&mut world);
    for player in 0..players {
        game.join(&mut world, PlayerId(player));
    }
    world.snap();
    (game, world)
}

fn step(game: &ShufflePuck, world: &mut World<ShufflePuck>, inputs: &Inputs<Command>) {
    world.tick = world.tick.plus(1);
    game.step(world, inputs);
    world.snap();
}

fn mallets(world: &World<ShufflePuck>) -> Vec<Slot<Mallet>> {
    world.entities.records::<Mallet>().collect()
}

fn puck(world: &World<ShufflePuck>) -> Puck {
    ShufflePuck::puck_of(&world.entities, 0).expect("the first rink has a puck").entity
}

fn set_puck(world: &mut World<ShufflePuck>, to: Puck) {
    let pucks = world.entities.records_mut::<Puck>();
    pucks.filter(|(.., puck)| puck.rink == 0).for_each(|(.., puck)| *puck = to.snapped());
}

/// A puck in play at this position and velocity.
fn loose(position: Vec2, velocity: Vec2) -> Puck {
    Puck { x: position.x, y: position.y, vx: velocity.x, vy: velocity.y, ..Puck::default() }
}

/// Lets bots play; `each` sees the world after each tick.
fn play(
    players: u16,
    seed: u64,
    (tick_hz, ticks): (u32, u64),
    mut each: impl FnMut(&ShufflePuck, &World<ShufflePuck>),
) {
    let (game, mut world) = world_of(players, seed, tick_hz);
    let mut random = Random::new(seed);
    let mut bots: Vec<_> = (0..players).map(|_| Bot::default()).collect();
    for _ in 0..ticks {
        let mut inputs = Inputs::default();
        for (bot, player) in bots.iter_mut().zip(0..) {
            let command =
                bot.input(&game, world.tick, &world.entities, PlayerId(player), &mut random);
            inputs.set(PlayerId(player), command.snapped());
        }
        step(&game, &mut world, &inputs);
        each(&game, &world);
    }
}

/// Returns by how much a circle overlaps a rounded corner, if it is in one.
fn in_corner(at: Vec2, radius: f32) -> f32 {
    let over = at.abs() - (HALF - CORNER);
    if over.min_element() <= 0.0 { 0.0 } else { over.length() + radius - CORNER }
}

/// Returns by how much the puck overlaps a wall, computed differently from the rules.
fn puck_in_wall(position: Vec2) -> f32 {
    let at = position.abs();
    if at.x <= HALF.x - PUCK {
        return (at.y + PUCK - HALF.y).max(in_corner(at, PUCK));
    }
    // It is in the mouth of the goal, or it should not be there.
    let beside = if at.x >= POST_AT.x {
        at.y + PUCK - GOAL
    } else {
        let from_post = at.distance(POST_AT);
        if at.y > POST_AT.y { at.x + PUCK - HALF.x } else { PUCK + POST - from_post }
    };
    beside.max(at.x + PUCK - HALF.x - DEPTH)
}

fn check(world: &World<ShufflePuck>, before: &[Slot<Mallet>], secs: f32) {
    for rink in seats::rinks(&world.entities) {
        let puck = ShufflePuck::puck_of(&world.entities, rink).expect("a rink has one").entity;
        let into = puck_in_wall(puck.position());
        assert!(into < ROUNDING, "{} is {into} m in a wall", puck.position());
        assert!(puck.velocity().length() < PUCK_SPEED + 0.02, "{}", puck.velocity());
        for slot in mallets(world).iter().filter(|slot| slot.entity.rink == rink) {
            let mallet = &slot.entity;
            let at = mallet.position();
            assert!(at.x * mallet.side() >= MALLET - ROUNDING, "{at} is across the line");
            let walls = (at.abs() + MALLET - HALF).max_element().max(in_corner(at, MALLET));
            assert!(walls < ROUNDING, "{at} is {walls} m in a wall");
            let apart = at.distance(puck.position());
            // Both are rounded, each along both axes.
            let least = TOUCH - 0.007;
            assert!(!puck.is_in_play() || apart > least, "{puck:?} is {apart} m from {mallet:?}");
            let was = before.iter().find(|was| was.id == slot.id).map(|was| was.entity);
            if let Some(was) = was.filter(|was| was.placed == mallet.placed) {
                let way = was.position().distance(at);
                assert!(way <= MALLET_SPEED * secs + 2.0 * ROUNDING, "{way} m in {secs} s");
            }
        }
    }
}

/// Input of a hostile hand for a while.
#[derive(Clone, Copy, Debug)]
enum Hand {
    /// A fixed position.
    At(f32, f32),
    /// Anywhere, differently in each tick.
    Anywhere(u64),
    /// Onto the puck.
    Press,
    /// Onto the puck, from this direction.
    From(f32, f32),
}

fn hands() -> impl Strategy<Value = Hand> {
    prop_oneof![
        (-16.0_f32..16.0, -16.0_f32..16.0).prop_map(|(x, y)| Hand::At(x, y)),
        any::<u64>().prop_map(Hand::Anywhere),
        Just(Hand::Press),
        Just(Hand::Press),
        (-1.2_f32..1.2, -1.2_f32..1.2).prop_map(|(x, y)| Hand::From(x, y)),
    ]
}

/// Returns an entity `ticks` later if its player holds the same keys.
fn still(game: &ShufflePuck, base: &Piece, ticks: u64) -> Option<Piece> {
    game.extrapolate(Known { base, steering: base, ticks })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn nothing_gets_through_anything_whatever_hands_do(
        tick_hz in prop_oneof![Just(10_u32), Just(20), Just(60), Just(128)],
        two in any::<bool>(),
        start in (-7.0_f32..7.0, -3.5_f32..3.5), speed in (-22.0_f32..22.0, -22.0_f32..22.0),
        hands in prop::collection::vec(prop::collection::vec(hands(), 6), 1..5),
    ) {
        let players = if two { 2 } else { 6 };
        let (game, mut world) = world_of(players, 1, tick_hz);
        let velocity = Vec2::from(speed).clamp_length_max(PUCK_SPEED);
        set_puck(&mut world, loose(keep_puck(start.into()), velocity));
        let mut before = mallets(&world);
        for hands in &hands {
            for tick in 0..2 * u64::from(tick_hz) {
                let puck = puck(&world);
                let mut inputs = Inputs::default();
                for (hand, player) in hands.iter().zip(0..players) {
                    let to = match *hand {
                        Hand::At(x, y) => Vec2::new(x, y),
                        Hand::Anywhere(seed) => {
                            let mut random = Random::new(seed ^ tick);
                            Vec2::new(random.range(-16.0, 16.0), random.range(-16.0, 16.0))
                        }
                        Hand::Press => puck.position(),
                        Hand::From(x, y) => puck.position() + Vec2::new(x, y),
                    };
                    inputs.set(PlayerId(player), Command::to(to).snapped());
                }
                step(&game, &mut world, &inputs);
                check(&world, &before, game.rates.step_secs());
                before = mallets(&world);
            }
        }
    }

    #[test]
    fn whatever_a_record_can_hold_is_harmless(bits in prop::collection::vec(any::<u32>(), 40)) {
        let (game, mut world) = world_of(4, 1, 60);
        let mut at = 0;
        for slot in world.entities.iter_mut() {
            let mut packed = slot.entity.pack();
            for (value, field) in packed.iter_mut().zip(slot.entity.fields()) {
                *value = bits[at % bits.len()] & ((1 << field.bits) - 1);
                at += 7;
            }
            slot.entity = Piece::unpack(slot.entity.kind(), &packed);
            // All on one rink, or they would not interact.
            match &mut slot.entity {
                Piece::Mallet(mallet) => mallet.rink = 0,
                Piece::Puck(puck) => puck.rink = 0,
                _ => {}
            }
        }
        let own = mallets(&world)[0].id;
        for slot in world.entities.clone().iter() {
            game.co_predicts(&world.entities, own, slot);
            prop_assert!(still(&game, &slot.entity, 32).is_some());
        }
        let others = world.entities.iter().map(|slot| slot.id).filter(|id| *id != own);
        let shared: Vec<_> = others.collect();
        for ticks in 1..=100 {
            let ahead = Ahead { tick: Tick(ticks), ticks, subtick: None, co_predicted: &shared };
            game.predict(&mut world.entities, own, &Command::default(), ahead);
            world.snap();
        }
    }

    #[test]
    fn an_untouched_puck_is_extrapolated_to_the_bit(
        start in (-7.6_f32..7.6, -1.0_f32..3.8), speed in (-22.0_f32..22.0, -22.0_f32..22.0),
        back in 1_u64..32,
    ) {
        // The mallets stay in their corners.
        let (game, mut world) = world_of(2, 1, 60);
        let velocity = Vec2::from(speed).clamp_length_max(PUCK_SPEED);
        set_puck(&mut world, loose(keep_puck(start.into()), velocity));
        let mut inputs = Inputs::default();
        for slot in mallets(&world) {
            let far = Vec2::new(16.0 * slot.entity.side(), -16.0);
            inputs.set(slot.owner.expect("a player"), Command::to(far));
        }
        let to = puck(&world);
        for _ in 0..40 {
            set_puck(&mut world, to);
            step(&game, &mut world, &inputs);
        }
        set_puck(&mut world, to);
        let mut states = vec![puck(&world)];
        for _ in 0..120 {
            step(&game, &mut world, &inputs);
            states.push(puck(&world));
        }
        let told = |base: &Puck, ticks| {
            still(&game, &Piece::Puck(*base), ticks)
        };
        for at in (0..states.len() - back as usize).step_by(5) {
            let (base, now) = (&states[at], &states[at + back as usize]);
            if states[at].hits == now.hits {
                prop_assert_eq!(told(base, back), Some(Piece::Puck(*now)), "from {:?}", base);
            }
        }
    }

    #[test]
    fn mallets_and_pucks_are_kept_where_they_fit(x in -20.0_f32..20.0, y in -20.0_f32..20.0) {
        let at = Vec2::new(x, y);
        for side in [-1.0, 1.0] {
            let kept = keep_mallet(side, at);
            prop_assert!(kept.x * side >= MALLET && in_corner(kept, MALLET) <= 0.0);
            prop_assert!(kept.distance(keep_mallet(side, kept)) < 1e-5);
        }
        prop_assert!(puck_in_wall(keep_puck(at)) < 1e-4, "{}", keep_puck(at));
        if puck_in_wall(at) < -0.01 {
            prop_assert_eq!(keep_puck(at), at);
        }
    }
}

fn predicted_mallet(entities: &Entities<Piece>) -> Mallet {
    mallet_of(entities, PlayerId(0)).expect("it is there")
}

#[test]
fn a_mallet_and_its_puck_are_where_the_client_predicts() {
    // Alone on the rink: no one interferes, but the puck is struck, jammed and put into the goal.
    let (game, mut world) = world_of(1, 3, 60);
    let own = mallets(&world)[0].id;
    let shared: Vec<_> = world.entities.records::<Puck>().map(|slot| slot.id).collect();
    let mut predicted = world.entities.clone();
    let (mut random, mut command) = (Random::new(9), Command::default());
    let (mut hits, mut placed) = (0, 0);
    for tick in 0..6000 {
        let before = puck(&world);
        if random.chance(0.2) {
            let near =
                before.position() + Vec2::new(random.range(-1.0, 1.0), random.range(-1.0, 1.0));
            command = Command::to(near).snapped();
        }
        let mut inputs = Inputs::default();
        inputs.set(PlayerId(0), command);
        step(&game, &mut world, &inputs);
        let ahead = Ahead { tick: world.tick, ticks: 1, subtick: None, co_predicted: &shared };
        game.predict(&mut predicted, own, &command, ahead);
        for slot in predicted.iter_mut() {
            slot.entity = Piece::unpack(slot.entity.kind(), &slot.entity.pack());
        }
        let after = puck(&world);
        hits += u32::from(after.hits != before.hits);
        placed += u32::from(after.placed != before.placed);
        if mallets(&world)[0].entity.placed != predicted_mallet(&predicted).placed {
            // The play has begun, which only the server decides.
            predicted = world.entities.clone();
        }
        for slot in world.entities.iter() {
            if matches!(slot.entity, Piece::Mallet(_) | Piece::Puck(_)) {
                assert_eq!(predicted.get(slot.id), Some(slot), "tick {tick}");
            }
        }
    }
    assert!(hits > 30 && placed > 3, "{hits} hits, {placed} face-offs");
}

#[test]
fn the_same_seed_is_the_same_world() {
    let states = |seed| {
        let mut states = Vec::new();
        play(4, seed, (60, 900), |_, world| {
            states.extend(world.entities.iter().map(|slot| slot.entity.pack()));
        });
        states
    };
    assert_eq!(states(1), states(1));
    assert_ne!(states(1), states(2));
}

#[test]
#[allow(clippy::print_stdout, reason = "prints how the bots play")]
fn bots_score_and_save_whatever_the_tick_rate() {
    for (players, tick_hz) in [(2, 60), (6, 60), (4, 20), (2, 128), (2, 10), (12, 60)] {
        let mut before: Vec<Slot<Mallet>> = Vec::new();
        let (mut goals, mut saves, mut own, mut hits, mut idle) = (0, 0, 0, 0_u32, 0_u32);
        let mut last = (0, 0);
        play(players, 5, (tick_hz, u64::from(tick_hz) * 120), |game, world| {
            check(world, &before, game.rates.step_secs());
            before = mallets(world);
            let board = ShufflePuck::board_of(&world.entities, 0).expect("a board");
            let puck = puck(world);
            hits += u32::from(puck.hits != last.1);
            idle += u32::from(puck.still > 0);
            if board.left + board.right > last.0 {
                goals += 1;
                own += u32::from(board.scorer == 0);
            }
            last = (board.left + board.right, puck.hits);
            let scores = world.entities.records::<Score>();
            saves = saves.max(scores.map(|slot| u32::from(slot.entity.saves)).sum());
        });
        println!(
            "{players} at {tick_hz} Hz: {goals} goals ({own} own), {saves} saves, {hits} hits, \
             {idle} idle"
        );
        assert!(goals >= 1 && hits > 60, "{players} at {tick_hz} Hz: {goals} goals, {hits} hits");
        assert!(own * 3 < goals.max(6), "{own} own goals of {goals}");
    }
}

#[test]
fn a_goal_counts_and_who_conceded_has_the_puck() {
    let (game, mut world) = world_of(2, 3, 60);
    while round(&world.entities).phase() != Phase::Play {
        step(&game, &mut world, &Inputs::default());
    }
    let left = mallets(&world).iter().find(|slot| !slot.entity.right).and_then(|slot| slot.owner);
    set_puck(&mut world, loose(Vec2::new(-5.0, 3.0), Vec2::ZERO));
    // Into the empty goal: all players move to the side.
    let mut inputs = Inputs::default();
    for player in 0..2 {
        inputs.set(PlayerId(player), Command { x: 0.0, y: -16.0 });
    }
    for _ in 0..60 {
        step(&game, &mut world, &inputs);
    }
    world.memory.touches[0].last_of[0] = left;
    set_puck(&mut world, loose(Vec2::new(6.0, 0.5), Vec2::new(12.0, 0.5)));
    for _ in 0..30 {
        step(&game, &mut world, &inputs);
    }
    let board = ShufflePuck::board_of(&world.entities, 0).expect("a board");
    assert_eq!((board.left, board.right, board.scored_by()), (1, 0, left));
    assert_eq!(puck(&world).scored, 2);
    let mut goals = world.entities.records::<Score>().map(|slot| (slot.owner, slot.entity.goals));
    assert!(goals.all(|(owner, goals)| goals == u8::from(owner == left)));
    drop(goals);
    while !puck(&world).is_in_play() {
        step(&game, &mut world, &inputs);
    }
    assert!(puck(&world).vx > 3.0 && puck(&world).x.abs() < 0.1, "towards the right");
}

#[test]
fn a_puck_that_lies_dead_is_given_to_the_other_side() {
    let mut inputs = Inputs::default();
    for player in 0..2 {
        inputs.set(PlayerId(player), Command { x: 0.0, y: -16.0 });
    }
    for (at, serve) in
        [(Vec2::new(-5.0, 3.0), 1), (Vec2::new(7.9, 0.3), -1), (Vec2::new(0.0, 2.0), -1)]
    {
        let (game, mut world) = world_of(2, 3, 60);
        let placed = puck(&world).placed;
        set_puck(&mut world, Puck { placed, ..loose(keep_puck(at), Vec2::ZERO) });
        for tick in 0..(STILL_SECS * 60.0) as u32 + 1 {
            step(&game, &mut world, &inputs);
            assert!(puck(&world).placed == placed || tick + 2 > (STILL_SECS * 60.0) as u32);
        }
        assert_eq!((puck(&world).is_held(), puck(&world).serve), (true, serve), "{at}");
    }
}

#[test]
fn the_face_off_circle_is_clear_when_the_puck_drops() {
    for tick_hz in [10, 20, 60, 128] {
        let (game, mut world) = world_of(6, 3, tick_hz);
        let mut inputs = Inputs::default();
        for player in 0..6 {
            inputs.set(PlayerId(player), Command { x: 0.0, y: 0.0 });
        }
        set_puck(&mut world, loose(Vec2::new(0.0, 3.0), Vec2::ZERO));
        for _ in 0..tick_hz {
            step(&game, &mut world, &inputs);
        }
        let mut to = puck(&world);
        position(game.rates, &mut to, 1);
        set_puck(&mut world, to);
        while puck(&world).is_held() {
            step(&game, &mut world, &inputs);
        }
        for slot in mallets(&world) {
            let far = slot.entity.position().length();
            assert!(far > TOUCH + 0.2, "{far} m at {tick_hz} Hz");
        }
    }
}

#[test]
fn a_full_room_plays_on_rinks_of_six() {
    let (game, mut world) = world_of(256, 3, 60);
    assert_eq!(mallets(&world).len(), 256);
    let rinks = seats::rinks(&world.entities);
    assert_eq!(rinks.len(), 43);
    for rink in &rinks {
        let [left, right] = seats::sides(&world.entities, *rink);
        assert!(left.abs_diff(right) <= 1 && left + right <= 6, "{left} : {right}");
    }
    // Half of the players on the first three rinks leave: no one is moved until the next round
    // begins.
    for player in 0..18 {
        if player % 2 == 0 {
            game.leave(&mut world, PlayerId(player));
        }
    }
    let of = |world: &World<ShufflePuck>| -> Vec<_> {
        mallets(world).iter().map(|slot| (slot.id, slot.entity.rink, slot.entity.right)).collect()
    };
    let before = of(&world);
    while round(&world.entities).phase() != Phase::Play {
        assert_eq!(of(&world), before);
        step(&game, &mut world, &Inputs::default());
    }
    let rinks = seats::rinks(&world.entities);
    assert_eq!(rinks.len(), 247_usize.div_ceil(6));
    let uneven = rinks.iter().filter(|rink| {
        let [left, right] = seats::sides(&world.entities, **rink);
        left != right
    });
    assert!(uneven.count() <= 1);
    for slot in world.entities.records::<Score>() {
        let mallet = mallet_of(&world.entities, slot.owner.expect("a player")).expect("a mallet");
        assert_eq!((slot.entity.rink, slot.entity.right), (mallet.rink, mallet.right));
    }
}

#[test]
fn a_goal_is_a_highlight_while_the_puck_waits() {
    let (game, mut world) = world_of(2, 1, 60);
    let find = |world: &World<ShufflePuck>, before| {
        game.highlight(&world.entities, (world.tick, PlayerId(1)), before)
    };
    let set_part = |world: &mut World<ShufflePuck>, part| {
        for (_, _, round) in world.entities.records_mut::<Round>() {
            (round.part, round.until) = (part, world.tick.plus(6000));
        }
    };
    set_part(&mut world, 1);
    set_puck(&mut world, loose(Vec2::new(HALF.x - 1.0, 0.0), Vec2::new(20.0, 0.0)));
    let (mut goal, mut found, mut waits) = (None, None, 0);
    for _ in 0..240 {
        step(&game, &mut world, &Inputs::default());
        let puck = puck(&world);
        let scored = (puck.scored != 0).then_some(world.tick);
        goal = goal.or(scored);
        found = find(&world, found);
        assert_eq!(found.is_some(), goal.is_some() && !puck.is_in_play());
        let Some(it) = found else { continue };
        waits += 1;
        assert_eq!((Some(it.tick), it.viewer), (goal, PlayerId(1)));
        assert!(it.ends >= it.tick.plus(110) && it.ends <= it.tick.plus(120), "{it:?}");
        // In a warm-up, the start of the round would not wait for it.
        set_part(&mut world, 0);
        assert_eq!(find(&world, found), None);
        set_part(&mut world, 1);
    }
    assert_eq!(waits, 138, "ticks from the goal to the face-off");
    // If the puck is placed sooner, the highlight would last too long.
    assert_eq!(find(&world, None), None);
    let held = Puck { wait: 30, ..Puck::default() };
    set_puck(&mut world, held);
    let early = Some(phaselock::game::Highlight {
        viewer: PlayerId(1),
        tick: world.tick.minus(60),
        excerpt: rules::GOAL,
        starts: world.tick,
        ends: world.tick.plus(31),
    });
    assert_eq!(find(&world, early), None);
    set_puck(&mut world, Puck { wait: 40, ..held });
    assert_eq!(find(&world, early), early);
}

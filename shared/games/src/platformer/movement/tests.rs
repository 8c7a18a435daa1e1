//! Jumps follow their formulas, and no player gets where none should be.

use proptest::prelude::*;

use super::super::entities::{PACE, POSITION_Y};
use super::*;
use crate::platformer::{Piece, Platformer};
use phaselock::fields::Record;
use phaselock::game::{Game, Known};
use phaselock::random::Random;

/// All tick rates that a server may have, including the usual ones.
const RATES: [u32; 7] = [10, 20, 30, 60, 64, 100, 128];

fn rates(tick_hz: u32) -> Rates {
    Rates { tick_hz, snapshot_hz: tick_hz }
}

/// Creates a player that stands at a position and may run.
fn standing(x: f32, y: f32) -> Player {
    let pressed = Command::default().to_pressed();
    Player { x, y, ran: 10_000, pressed, ..Player::default() }
}

/// Returns the states of the following ticks, with commands by the number of the tick, from 0.
fn run(rates: Rates, player: Player, count: u64, command: impl Fn(u64) -> Command) -> Vec<Player> {
    let mut player = player;
    let step = |tick| {
        movement(
            Level::the(),
            rates,
            OwnTick { tick: Tick(tick + 1), race: 0 },
            &mut player,
            &command(tick),
        );
        player = player.snapped();
        player
    };
    (0..count).map(step).collect()
}

/// Returns the height of a jump after this time, with the key held for `hold`, by the formulas.
fn height(hold: f32, secs: f32) -> f32 {
    let hold = hold.min(JUMP_RISE_SECS);
    let rise = |secs: f32| JUMP_SPEED * secs - 0.5 * RISE_GRAVITY * secs * secs;
    if secs <= hold {
        return rise(secs);
    }
    let speed = JUMP_SPEED - RISE_GRAVITY * hold;
    let cut = speed / CUT_GRAVITY;
    if secs <= hold + cut {
        let since = secs - hold;
        return rise(hold) + speed * since - 0.5 * CUT_GRAVITY * since * since;
    }
    let falls = secs - hold - cut;
    rise(hold) + 0.5 * speed * cut - 0.5 * FALL_GRAVITY * falls * falls
}

#[test]
fn jumps_are_as_high_and_as_long_as_their_formulas_say_at_every_rate() {
    let grid = 1.0 / 4096.0;
    for tick_hz in RATES {
        let secs = rates(tick_hz).step_secs();
        for hold_secs in [0.0, 0.1, 0.2, 1.0] {
            let hold = ticks(rates(tick_hz), hold_secs);
            let held = hold as f32 * secs;
            let ran = run(rates(tick_hz), standing(4.0, 17.0), u64::from(tick_hz), |tick| {
                Command { right: 0, jump: tick < hold }
            });
            let mut highest = 0.0_f32;
            let flight: Vec<_> = ran.iter().take_while(|player| !player.stands()).collect();
            for (n, player) in flight.iter().enumerate() {
                let (high, told) = (17.0 - player.y, height(held, (n + 1) as f32 * secs));
                // A tick rounds position and speed by half a step each.
                let most = (n + 2) as f32 * grid;
                assert!(
                    (high - told).abs() < most,
                    "{tick_hz} Hz, tick {n}: {high} m, not {told} m"
                );
                highest = highest.max(high);
            }
            // The apex lies between two ticks, each at most half a tick away.
            let speed = (JUMP_SPEED - RISE_GRAVITY * held).max(0.0);
            let hold = held.min(JUMP_RISE_SECS);
            let apex = JUMP_SPEED * hold - 0.5 * RISE_GRAVITY * hold * hold
                + speed * speed / (2.0 * CUT_GRAVITY);
            let missed = CUT_GRAVITY * secs * secs / 8.0 + 60.0 * grid;
            assert!((highest - apex).abs() < missed, "{tick_hz} Hz: {highest} m, not {apex} m");
            if hold_secs == 1.0 {
                assert!((apex - JUMP_HEIGHT).abs() < 1e-4);
                let air = JUMP_RISE_SECS + (2.0 * JUMP_HEIGHT / FALL_GRAVITY).sqrt();
                let flew = (flight.len() + 1) as f32 * secs;
                assert!(flew >= air - 1e-3 && flew < air + secs + 1e-3, "{flew} s, not {air} s");
            }
        }
    }
}

#[test]
fn a_running_jump_goes_as_far_at_every_rate() {
    for tick_hz in RATES {
        let secs = rates(tick_hz).step_secs();
        let from = Player { vx: RUN_SPEED, ..standing(2.0, 17.0) };
        let ran =
            run(rates(tick_hz), from, u64::from(tick_hz), |_| Command { right: 1, jump: true });
        for (n, player) in ran.iter().take_while(|player| !player.stands()).enumerate() {
            let told = 2.0 + RUN_SPEED * (n + 1) as f32 * secs;
            assert!((player.x - told).abs() < (n + 2) as f32 / 4096.0, "{tick_hz} Hz, tick {n}");
        }
        // From a standstill it gains speed uniformly.
        let ran = run(rates(tick_hz), standing(2.0, 17.0), u64::from(tick_hz), |_| Command {
            right: 1,
            jump: false,
        });
        let told = |secs: f32| {
            let gains = secs.min(RUN_SPEED / RUN_ACCELERATION);
            2.0 + 0.5 * RUN_ACCELERATION * gains * gains + RUN_SPEED * (secs - gains)
        };
        for (n, player) in ran.iter().take_while(|player| player.x < 9.0).enumerate() {
            let told = told((n + 1) as f32 * secs);
            let most = (n + 2) as f32 / 4096.0;
            assert!((player.x - told).abs() < most, "{tick_hz} Hz: {} m, not {told} m", player.x);
        }
    }
}

#[test]
fn one_can_jump_a_little_after_the_edge_and_press_a_little_before_the_landing() {
    for tick_hz in RATES {
        let rates = rates(tick_hz);
        // The board at row 12 ends at 13 m.
        let runs = Player { vx: RUN_SPEED, ..standing(11.5, 12.0) };
        let off = run(rates, runs, u64::from(tick_hz), |_| Command { right: 1, jump: false });
        let edge = off.iter().position(|player| !player.stands()).expect("it ends") as u64;
        for (late, jumps) in [
            (0, true),
            (ticks(rates, COYOTE_SECS) - 1, true),
            (ticks(rates, COYOTE_SECS), true),
            (ticks(rates, COYOTE_SECS) + 1, false),
        ] {
            let pressed = edge + late;
            let ran =
                run(rates, runs, pressed + 1, |tick| Command { right: 1, jump: tick == pressed });
            let rises = ran.last().is_some_and(|player| player.vy < 0.0);
            assert_eq!(rises, jumps, "{late} ticks after the edge at {tick_hz} Hz");
        }
        let falls = Player { air: AIR_MAX, ..standing(4.0, 14.0) };
        let down = run(rates, falls, u64::from(tick_hz), |_| Command::default());
        let lands = down.iter().position(|player| player.y >= 17.0).expect("it falls") as u64;
        for (early, jumps) in [(0, true), (ticks(rates, BUFFER_SECS) + 2, false)] {
            let Some(pressed) = lands.checked_sub(early) else { continue };
            let ran =
                run(rates, falls, lands + 3, |tick| Command { right: 0, jump: tick >= pressed });
            let rises = ran.iter().any(|player| player.vy < 0.0);
            assert_eq!(rises, jumps, "{early} ticks before the landing at {tick_hz} Hz");
        }
    }
}

#[test]
fn platforms_carry_who_stands_on_them_and_give_their_way_to_who_jumps() {
    for tick_hz in RATES {
        let rates = rates(tick_hz);
        for (platform, number) in PLATFORMS.iter().zip(1_u8..) {
            let top = platform.at(0.0);
            let rider = Player { ride: number, ..standing(top.x + 0.25, top.y) };
            let count = u64::from(tick_hz) * 10;
            for (player, tick) in run(rates, rider, count, |_| Command::default()).iter().zip(1..) {
                let top = platform.at(clock_at(rates, Tick(tick), 0.0));
                assert_eq!(
                    player.ride, number,
                    "it stays on {number}, tick {tick} at {tick_hz} Hz"
                );
                // It drifts by less than the grid rounds.
                let off = (player.feet() - top - Vec2::new(0.25, 0.0)).abs();
                assert!(off.x < 0.05 && off.y < 1.0 / 4096.0, "{off} on {number}, tick {tick}");
            }
        }
    }
    // The first ferry at its fastest: a player who jumps straight up lands on it again.
    let rates = Rates::DEFAULT;
    let ferry = &PLATFORMS[0];
    let quarter = cycle_quarter(ferry);
    let top = ferry.at(clock_at(rates, Tick(quarter), 0.0));
    let mut player = Player { ride: 1, ..standing(top.x, top.y) };
    let mut flew = false;
    for tick in quarter + 1..quarter + 60 {
        let command = Command { right: 0, jump: tick < quarter + 10 };
        movement(Level::the(), rates, OwnTick { tick: Tick(tick), race: 0 }, &mut player, &command);
        player = player.snapped();
        flew |= player.ride == 0;
    }
    assert!(flew && player.ride == 1, "{player:?}");
}

/// Returns the tick at which a platform is half-way.
fn cycle_quarter(platform: &super::super::level::Platform) -> u64 {
    super::super::level::cycle_ticks(Rates::DEFAULT) / u64::from(platform.times) / 4
}

/// Whether a player is inside a wall, by more than a contact.
fn is_in_a_wall(level: &Level, player: &Player) -> bool {
    !collide::is_free(level, player.feet())
}

/// Plays randomly from a position and checks each tick.
fn anything_goes(seed: u64, tick_hz: u32, secs: u32) -> Result<(), TestCaseError> {
    let (level, rates) = (Level::the(), rates(tick_hz));
    let mut random = Random::new(seed);
    let stage = level.stages[random.below(level.stages.len() as u32 - 1) as usize];
    let mut player = standing(stage.x, stage.y);
    // Anywhere else with space.
    let x = random.range(1.0, level.width as f32 - 1.0);
    let y = random.range(0.0, level.height as f32);
    if collide::is_free(level, Vec2::new(x, y)) {
        (player.x, player.y) = (x, y);
    }
    let mut player = player.snapped();
    let fastest = PLATFORMS.iter().map(|platform| platform.speed_max()).fold(0.0, f32::max);
    let begin = u64::from(random.below(100_000));
    let mut command = Command::default();
    for tick in begin..begin + u64::from(secs * tick_hz) {
        if random.chance(0.1) {
            command.right = random.below(4) as i16 - 2;
        }
        if random.chance(0.15) {
            command.jump = !command.jump;
        }
        let before = player;
        movement(
            level,
            rates,
            OwnTick { tick: Tick(tick), race: 0 },
            &mut player,
            &command.snapped(),
        );
        player = player.snapped();
        prop_assert!(!is_in_a_wall(level, &player), "in a wall: {before:?}, {player:?}");
        prop_assert!(player.vx.abs() <= RUN_SPEED + 2.0 * fastest, "{player:?}");
        let spring = (2.0 * RISE_GRAVITY * SPRING_HEIGHT).sqrt();
        prop_assert!(player.vy >= -spring - 0.01 && player.vy <= FALL_SPEED_MAX, "{player:?}");
        prop_assert!(player.stage >= before.stage && player.ran >= before.ran);
        for coin in 0..level.coins.len() {
            prop_assert!(player.has_coin(coin) || !before.has_coin(coin), "a coin is lost");
        }
        if player.falls != before.falls {
            continue;
        }
        let moved = (player.feet() - before.feet()).abs();
        let secs = rates.step_secs();
        prop_assert!(
            moved.x <= (RUN_SPEED + 2.0 * fastest) * secs + 0.01,
            "{before:?}, {player:?}"
        );
        prop_assert!(moved.y <= (spring + fastest) * secs + 0.1, "{before:?}, {player:?}");
        // A player who was always above a board is not below it now. Turning around in a long tick
        // may leave its end and return: at a constant acceleration by at most a t^2 / 8.
        let turn = 0.01 + RUN_FRICTION * secs * secs / 8.0;
        let over = |player: &Player, column: i32| {
            player.x + HALF_WIDTH > column as f32 + turn
                && player.x - HALF_WIDTH < column as f32 + 1.0 - turn
        };
        for row in before.y.ceil() as i32..player.y.ceil() as i32 {
            for column in (player.x - 1.0) as i32..=(player.x + 1.0) as i32 {
                let through = level.carries(column, row)
                    && over(&before, column)
                    && over(&player, column)
                    && player.y > row as f32 + 0.01;
                prop_assert!(!through, "through {column}, {row}: {before:?}, {player:?}");
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn nobody_gets_into_a_wall_or_through_a_board_or_too_fast(
        seed in any::<u64>(), tick_hz in 10_u32..=128,
    ) {
        anything_goes(seed, tick_hz, 8)?;
    }

    #[test]
    fn any_state_that_the_fields_can_hold_is_harmless(
        values in proptest::collection::vec(any::<u32>(), 20), pressed in any::<u8>(),
    ) {
        let mut packed = [0; phaselock::limits::FIELDS_MAX];
        for ((to, from), field) in packed.iter_mut().zip(&values).zip(Player::FIELDS) {
            *to = from & ((1 << field.bits) - 1);
        }
        let mut player = Player::unpack(&packed);
        for tick in 1..40 {
            let command = Command { right: i16::from(pressed) % 3 - 1, jump: tick % 3 == 0 };
            let now = OwnTick { tick: Tick(tick), race: pressed };
            movement(Level::the(), Rates::DEFAULT, now, &mut player, &command);
            prop_assert!(player.x.is_finite() && player.y.is_finite() && player.vy.is_finite());
            player = player.snapped();
        }
        let game = Platformer::new(Rates::DEFAULT, 0);
        let steering = Player::unpack(&packed);
        let told = game.extrapolate(Known {
            base: &player.into(),
            steering: &steering.into(),
            ticks: 32,
        });
        let Some(Piece::Player(told)) = told else { panic!("a player stays a player") };
        prop_assert_eq!(told, told.snapped());
    }
}

#[test]
fn turning_around_beyond_a_boards_end_within_a_tick_is_a_fall() -> Result<(), TestCaseError> {
    anything_goes(4186160159245429860, 12, 8)
}

#[test]
fn every_speed_fits_its_field() {
    let spring = (2.0 * RISE_GRAVITY * SPRING_HEIGHT).sqrt();
    for speed in [spring, JUMP_SPEED, FALL_SPEED_MAX] {
        assert!((PACE.unpack(PACE.pack(-speed)) + f64::from(speed)).abs() < 1e-3);
    }
    assert!(POSITION_Y.unpack(0) < -8.0, "there is space above the level");
}

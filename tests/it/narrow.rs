//! A narrow path under the whole stack, in virtual time: a game that just passes, and silence.

use std::time::Duration;

use super::stack::{Player, World, end};
use phaselock_testing::room_config;

/// Time that is left out: joining, and the first look at the path.
const SETTLING: Duration = Duration::from_secs(15);
/// Two intervals of snapshots, in milliseconds.
const TWO_INTERVALS_MS: f64 = 2.0 * 1000.0 / 30.0;
/// Time in milliseconds that a snapshot of the least bytes, with its heads, takes to pass 64 kbit/s.
const PASSING_MS: f64 = (256.0 + 56.0) * 8.0 / 64.0;

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn snapshots_of_a_game_that_just_passes_are_young() {
    for (delay_ms, bots) in [(20.0, 64), (20.0, 128), (60.0, 150), (20.0, 200)] {
        let world = World::new(room_config(1, bots));
        let conditions = format!("delay={delay_ms}ms,down.rate=64kbit");
        let mut player = Player::join(&world, &conditions, Duration::from_secs(3600));
        player.play(&world, SETTLING + Duration::from_secs(45)).await;
        assert_eq!(player.joined().len(), 1, "the game was lost {}", player.story());
        let settled = player.arrivals.iter().filter(|(at, _)| *at > SETTLING.as_secs_f64());
        let mut ages: Vec<_> = settled.map(|(_, age)| *age).collect();
        ages.sort_by(f64::total_cmp);
        let usual = ages[ages.len() * 99 / 100];
        player.check("snapshots", ages.len() as f64, 18.0 * 45.0..=30.5 * 45.0);
        // The conditioner's timers are late by up to a millisecond.
        let bound = delay_ms + TWO_INTERVALS_MS + PASSING_MS + 3.0;
        player.check("99 % of ages, ms", usual, 0.0..=bound);
        end(world, player).await;
    }
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn a_session_outlives_a_silence_on_a_narrow_path() {
    // After three seconds a client looks for the server anew.
    for silence in [1000, 1500, 2000, 2500] {
        let over = 20_000 + silence;
        let network = "delay=20ms,rate=64kbit";
        let conditions = format!("{network}; 20s: loss=100%; {over}ms: {network}");
        let world = World::new(room_config(1, 64));
        let mut player = Player::join(&world, &conditions, Duration::from_secs(3600));
        player.play(&world, Duration::from_millis(over + 10_000)).await;
        assert_eq!(player.joined().len(), 1, "{silence} ms: the game was lost {}", player.story());
        let back = over as f64 / 1000.0;
        player.check("snapshots/s", player.snapshots_per_s(back + 1.0..back + 10.0), 20.0..=30.5);
        end(world, player).await;
    }
}

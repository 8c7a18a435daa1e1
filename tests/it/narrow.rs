//! The whole stack over a narrow path, in virtual time: a game that just fits, and silence.

#![allow(clippy::print_stdout, reason = "figures on request")]

use std::time::Duration;

use super::stack::{Player, World, end};
use phaselock_testing::room_config;

/// Excluded time: joining, and the first estimates of the path.
const SETTLING: Duration = Duration::from_secs(15);
/// Two intervals of snapshots, in milliseconds.
const TWO_INTERVALS_MS: f64 = 2.0 * 1000.0 / 30.0;
/// Bytes per millisecond at 64 kbit/s, and bytes of QUIC, UDP and IPv4 per packet.
const PASSING: f64 = 8.0;
const HEADS: usize = 56;

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn snapshots_of_a_game_that_just_passes_are_young() {
    for (delay_ms, bots) in [(20.0, 64), (20.0, 128)] {
        let world = World::new(room_config(1, bots));
        let conditions = format!("delay={delay_ms}ms,down.rate=64kbit");
        // Each over its own path, with its own random numbers for QUIC, since a single session is a
        // matter of chance.
        let join = || Player::join(&world, &conditions, Duration::from_secs(3600));
        let mut players = [join(), join(), join()];
        let [a, b, c] = &mut players;
        let time = SETTLING + Duration::from_secs(45);
        tokio::join!(a.play(&world, time), b.play(&world, time), c.play(&world, time));
        let mut waits = Vec::new();
        for player in &players {
            assert_eq!(player.joined().len(), 1, "the game was lost {}", player.story());
            let arrivals = player.arrivals.iter().zip(&player.sizes);
            let settled = arrivals.filter(|((at, _), _)| *at > SETTLING.as_secs_f64());
            // Time that a packet waits, besides propagation and its own transmission.
            let before = waits.len();
            waits.extend(
                settled.map(|((_, age), bytes)| age - delay_ms - (bytes + HEADS) as f64 / PASSING),
            );
            let came = (waits.len() - before) as f64;
            player.check("snapshots", came, 18.0 * 45.0..=30.5 * 45.0);
        }
        waits.sort_by(f64::total_cmp);
        let usual = waits[waits.len() * 99 / 100];
        println!("{bots} bots: {} arrived, {usual:.1} ms, {:.1?}", waits.len(), waits.last());
        let [player, others @ ..] = players;
        // The conditioner's timers are up to a millisecond late.
        player.check("99 % of waits, ms", usual, -1.0..=TWO_INTERVALS_MS + 3.0);
        for other in others {
            other.leave().await;
        }
        end(world, player).await;
    }
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn a_session_outlives_a_silence_on_a_narrow_path() {
    // After three seconds a client looks for the server again.
    for silence in [1000, 1500, 2000, 2500] {
        let over = 20_000 + silence;
        let conditions = format!("delay=20ms,rate=64kbit; 20s: loss=100%; {over}ms: loss=0%");
        let world = World::new(room_config(1, 64));
        let mut player = Player::join(&world, &conditions, Duration::from_secs(3600));
        player.play(&world, Duration::from_millis(over + 10_000)).await;
        assert_eq!(player.joined().len(), 1, "{silence} ms: the game was lost {}", player.story());
        assert!(player.lost().is_empty(), "{silence} ms: {}", player.story());
        end(world, player).await;
    }
}

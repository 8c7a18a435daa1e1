//! What QUIC makes of the game's packets, in virtual time: how many arrive, how old they are then, how
//! many bytes they take.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use phaselock_tests::room_config;
use quinn::congestion::{BbrConfig, CubicConfig, NewRenoConfig};

use super::stack::{Controllers, Player, World, end};

/// So much is left out of the figures: joining, and the first look at the path.
const SETTLING: Duration = Duration::from_secs(10);
/// A minute is looked at.
const LOOK: Duration = Duration::from_secs(60);

/// What a client got in a minute.
#[derive(Clone, Copy, Debug)]
struct Got {
    /// Snapshot packets a second.
    per_s: f64,
    /// Their ages at arrival, in milliseconds: the median, of 99 in 100, the greatest.
    median_ms: f64,
    p99_ms: f64,
    max_ms: f64,
}

impl Got {
    fn of(player: &Player, from: f64, to: f64) -> Self {
        let arrivals = player.arrivals.iter().filter(|(at, _)| (from..to).contains(at));
        let mut ages: Vec<_> = arrivals.map(|(_, age)| *age).collect();
        assert!(!ages.is_empty(), "nothing came {}", player.story());
        ages.sort_by(f64::total_cmp);
        let at = |part: f64| ages[((ages.len() - 1) as f64 * part) as usize];
        Self {
            per_s: ages.len() as f64 / (to - from),
            median_ms: at(0.5),
            p99_ms: at(0.99),
            max_ms: at(1.0),
        }
    }
}

/// A minute over a network, with so many bots.
async fn minute(conditions: &str, bots: u16, controller: Option<Controllers>) -> (World, Player) {
    let world = World::with_controller(room_config(1, bots), controller);
    let mut player = Player::join(&world, conditions, Duration::from_secs(3600));
    player.play(&world, SETTLING + LOOK).await;
    (world, player)
}

fn got(player: &Player) -> Got {
    let (from, span) = (SETTLING.as_secs_f64(), LOOK.as_secs_f64());
    Got::of(player, from, from + span)
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn snapshots_keep_flowing_at_200_ms_with_losses_in_bursts() {
    for seed in 1..=5 {
        let conditions = format!("delay=100ms,jitter=5ms,loss=5%,burst=2,seed={seed}");
        let (world, player) = minute(&conditions, 16, None).await;
        let got = got(&player);
        println!("seed {seed}: {got:?}");
        assert_eq!(player.joined().len(), 1, "the game was lost {}", player.story());
        end(world, player).await;
    }
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn narrow() {
    for (conditions, bots) in [
        ("delay=20ms,rate=256kbit", 128),
        ("delay=20ms,down.rate=64kbit", 128),
        ("delay=20ms,down.rate=64kbit", 16),
        ("delay=100ms,down.rate=64kbit", 128),
        ("delay=20ms,up.rate=40kbit", 16),
        ("delay=20ms,rate=64kbit", 128),
    ] {
        let (world, player) = minute(conditions, bots, None).await;
        println!(
            "{conditions} {bots}: {:?} joined {:?} at first {:?} late {:.1} %",
            got(&player), player.joined(), Got::of(&player, 0.0, 10.0), player.late_percent()
        );
        end(world, player).await;
    }
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn overhead() {
    for (conditions, bots) in [("lan", 3), ("lan", 128), ("delay=40ms", 16), ("delay=100ms,jitter=10ms", 16)] {
        let world = World::new(room_config(1, bots));
        let mut player = Player::join(&world, conditions, Duration::from_secs(3600));
        player.play(&world, SETTLING).await;
        let client = SocketAddr::from(([10, 0, 0, 2], 4433));
        let count = |player: &Player| {
            let stats = player.core().stats().clone();
            (world.ether.sent(world.address()), world.ether.sent(client), stats)
        };
        let (down, up, stats) = count(&player);
        player.play(&world, LOOK).await;
        let (down_after, up_after, stats_after) = count(&player);
        let packets = (stats_after.rx_packets - stats.rx_packets) as f64;
        let own = (stats_after.rx_bytes - stats.rx_bytes) as f64;
        let udp = (down_after.packets - down.packets) as f64;
        let bytes = (down_after.bytes - down.bytes) as f64;
        let inputs = (stats_after.tx_packets - stats.tx_packets) as f64;
        let input_bytes = (stats_after.tx_bytes - stats.tx_bytes) as f64;
        println!(
            "{conditions}, {bots} bots: a snapshot packet of {:.1} bytes has {:.1} of QUIC, {:.1} with 28 of IPv4 and UDP, {:.3} UDP packets; \
             an input packet of {:.1} has {:.1} of QUIC, {:.3} UDP packets",
            own / packets, (bytes - own) / packets, (bytes - own + udp * 28.0) / packets, udp / packets,
            input_bytes / inputs,
            ((up_after.bytes - up.bytes) as f64 - input_bytes) / inputs,
            (up_after.packets - up.packets) as f64 / inputs,
        );
        end(world, player).await;
    }
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
#[ignore = "a table, not a test"]
async fn controllers() {
    let all: [(&str, Option<Controllers>); 4] = [
        ("ours", None),
        ("Cubic", Some(Arc::new(CubicConfig::default()))),
        ("NewReno", Some(Arc::new(NewRenoConfig::default()))),
        ("BBR", Some(Arc::new(BbrConfig::default()))),
    ];
    for (conditions, bots) in [
        ("delay=100ms,jitter=5ms,loss=5%,burst=2", 16),
        ("delay=100ms,jitter=5ms,loss=5%,burst=2", 128),
        ("delay=20ms,rate=256kbit", 128),
        ("delay=20ms,rate=64kbit", 128),
    ] {
        for (name, controller) in &all {
            let (world, player) = minute(conditions, bots, controller.clone()).await;
            println!("{conditions}, {bots} bots, {name}: {:?}", got(&player));
            end(world, player).await;
        }
    }
}

//! The game's packets over QUIC, in virtual time: share that arrives, age, and bytes. `--nocapture`
//! prints the figures.

#![allow(clippy::print_stdout, reason = "figures on request")]

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use crate::depth;
use phaselock::server::Event;
use phaselock_quic::server::RoomEvent;
use phaselock_testing::room_config;
use quinn::congestion::{BbrConfig, CubicConfig, NewRenoConfig};
use tokio::sync::broadcast::Receiver;

use super::stack::{Controllers, Player, World, end};

/// Time excluded from the figures: joining, and the first estimates of the path.
const SETTLING: Duration = Duration::from_secs(10);
/// Measured time: a minute in the deep tier.
static LOOK: LazyLock<Duration> = LazyLock::new(|| Duration::from_secs_f64(depth::secs(15.0)));

/// Address of the first client's socket.
const CLIENT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(10, 0, 2, 1)), 4433);

/// Packets and snapshots that a client received in the measured time.
#[derive(Clone, Copy, Debug)]
struct Got {
    /// Snapshot packets a second.
    per_s: f64,
    /// Their ages at arrival, in milliseconds: median, 99th percentile, maximum.
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

/// Measures a session over a network, with a number of bots.
async fn look(conditions: &str, bots: u16, controller: Option<Controllers>) -> (World, Player) {
    let world = World::with_controller(room_config(1, bots), controller);
    let mut player = Player::join(&world, conditions, Duration::from_secs(3600));
    player.play(&world, SETTLING + *LOOK).await;
    (world, player)
}

/// Returns the mean of three sessions, each over its own path, since a single one is a matter of
/// chance.
async fn got_by_three(conditions: &str, bots: u16, controller: Option<Controllers>) -> Got {
    let world = World::with_controller(room_config(1, bots), controller);
    let join = || Player::join(&world, conditions, Duration::from_secs(3600));
    let mut players = [join(), join(), join()];
    let [a, b, c] = &mut players;
    let time = SETTLING + *LOOK;
    tokio::join!(a.play(&world, time), b.play(&world, time), c.play(&world, time));
    let all = [0, 1, 2].map(|at| got(&players[at]));
    let mean = |of: fn(&Got) -> f64| all.iter().map(of).sum::<f64>() / 3.0;
    let [player, others @ ..] = players;
    for other in others {
        other.leave().await;
    }
    end(world, player).await;
    Got {
        per_s: mean(|got| got.per_s),
        median_ms: mean(|got| got.median_ms),
        p99_ms: mean(|got| got.p99_ms),
        max_ms: mean(|got| got.max_ms),
    }
}

fn got(player: &Player) -> Got {
    let (from, span) = (SETTLING.as_secs_f64(), LOOK.as_secs_f64());
    Got::of(player, from, from + span)
}

/// Maximum age of a state that is sent at once over `delay_ms` with this jitter, plus the lateness
/// of timers and two snapshot intervals.
fn age_max_ms(delay_ms: f64, jitter_ms: f64) -> f64 {
    delay_ms + jitter_ms + 3.0 + 2.0 * 1000.0 / 30.0
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn snapshots_keep_flowing_at_200_ms_with_losses_in_bursts() {
    for &(seed, bots) in depth::first(&[(6, 128), (1, 16), (2, 16), (3, 16), (4, 16), (5, 16)], 3) {
        let conditions = format!("delay=100ms,jitter=5ms,loss=5%,burst=2,seed={seed}");
        let (world, player) = look(&conditions, bots, None).await;
        let got = got(&player);
        assert_eq!(player.joined().len(), 1, "the game was lost {}", player.story());
        // At least four fifths of 30; losses account for a quarter of the shortfall.
        player.check("snapshots/s", got.per_s, 24.0..=30.5);
        player.check("greatest age, ms", got.max_ms, 100.0 - 5.0..=age_max_ms(100.0, 5.0));
        // Nothing is queued on a path that is wide enough.
        player.check("99 % of ages, ms", got.p99_ms, 0.0..=110.0);
        end(world, player).await;
    }
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
#[ignore = "slow: .ci/more runs it"]
async fn snapshots_on_a_narrow_path_are_fewer_but_not_older() {
    for (conditions, bots, kbit, per_s, turns) in [
        ("delay=20ms,rate=256kbit", 128, 256.0, 29.0, 2.0),
        ("delay=20ms,down.rate=64kbit", 16, 64.0, 29.0, 2.0),
        // Whether probes of a higher rate coincide is chance: 2 to 3 in eight runs.
        ("delay=20ms,down.rate=64kbit", 250, 64.0, 5.0, 4.0),
        // The uplink is full, too, and its queue is part of the round trip, which hides the
        // downlink's queue.
        ("delay=20ms,rate=64kbit", 250, 64.0, 5.0, 4.0),
    ] {
        let (world, player) = look(conditions, bots, None).await;
        let (got, first) = (got(&player), Got::of(&player, 0.0, SETTLING.as_secs_f64()));
        println!("{conditions}, {bots} bots: {got:?}, at first {first:?}");
        assert_eq!(player.joined().len(), 1, "the game was lost {}", player.story());
        player.check("snapshots/s", got.per_s, per_s..=30.5);
        // Transmission time of two packets of the maximum size: one in flight, and the packet
        // itself.
        let turns_ms = turns * 1206.0 * 8.0 / kbit;
        let bound = age_max_ms(20.0, 0.0) + turns_ms;
        player.check("99 % of ages, ms", got.p99_ms, 0.0..=bound);
        // Now and then the controller probes for more.
        player.check("greatest age, ms", got.max_ms, 0.0..=bound + 2.0 * turns_ms);
        // All players' names are sent, too, before the path is known.
        player.check("greatest age at first, ms", first.max_ms, 0.0..=bound + 6.0 * turns_ms);
        end(world, player).await;
    }
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn a_narrow_uplink_delays_nothing() {
    for (conditions, per_s, late_percent) in [
        ("delay=20ms,up.rate=40kbit", 29.0, 1.0),
        ("delay=20ms,up.rate=32kbit", 26.0, 20.0),
        ("delay=100ms,up.rate=24kbit", 15.0, 40.0),
    ] {
        let (world, player) = look(conditions, 16, None).await;
        let got = got(&player);
        println!(
            "{conditions}: {got:?}, late {:.1} %, round trip {}",
            player.late_percent(),
            player.core().stats().round_trip
        );
        assert_eq!(player.joined().len(), 1, "the game was lost {}", player.story());
        player.check("snapshots/s", got.per_s, per_s..=30.5);
        player.check("late inputs, %", player.late_percent(), 0.0..=late_percent);
        end(world, player).await;
    }
}

/// Returns the addresses that players moved to since the last call, as reported to the host.
fn moves(news: &mut Receiver<Arc<RoomEvent>>) -> Vec<SocketAddr> {
    let news = std::iter::from_fn(|| news.try_recv().ok());
    let moved = |news: Arc<RoomEvent>| match news.event {
        Event::Moved { address, .. } => Some(address),
        _ => None,
    };
    news.filter_map(moved).collect()
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn an_address_is_the_players_once_the_client_has_answered_there() {
    let elsewhere = SocketAddr::from(([10, 9, 9, 9], 4433));
    let (world, mut player) = look("delay=40ms,loss=2%", 2, None).await;
    let mut news = world.handle.events();
    player.play(&world, Duration::from_secs(2)).await;
    assert_eq!(moves(&mut news), []);
    world.ether.forge(CLIENT, Some(elsewhere));
    // Too short for the client to give up the connection.
    player.play(&world, Duration::from_secs(2)).await;
    world.ether.forge(CLIENT, None);
    player.play(&world, Duration::from_secs(8)).await;
    assert_eq!(moves(&mut news), [], "a forged sender's address belongs to no client");
    assert_eq!(player.joined().len(), 1, "the game was lost {}", player.story());
    world.ether.move_to(CLIENT, elsewhere);
    player.play(&world, Duration::from_secs(2)).await;
    assert_eq!(moves(&mut news), [elsewhere]);
    end(world, player).await;
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn a_session_survives_a_new_address() {
    let (port, network) = (SocketAddr::from(([10, 0, 2, 1], 5000)), ([10, 9, 9, 9], 4433).into());
    for seen in [port, network] {
        let (world, mut player) = look("delay=40ms", 16, None).await;
        let mut news = world.handle.events();
        world.ether.move_to(CLIENT, seen);
        let from = (SETTLING + *LOOK).as_secs_f64();
        player.play(&world, Duration::from_secs(1)).await;
        // A change of port is not reported to the host.
        let told: Vec<_> = [seen].into_iter().filter(|it| it.ip() != CLIENT.ip()).collect();
        assert_eq!(moves(&mut news), told);
        player.play(&world, Duration::from_secs(9)).await;
        assert_eq!(player.joined().len(), 1, "the game was lost {}", player.story());
        let got = Got::of(&player, from, from + 10.0);
        player.check("snapshots/s after it", got.per_s, 28.0..=30.5);
        player.check("greatest age, ms", got.max_ms, 0.0..=age_max_ms(40.0, 0.0));
        world.ether.move_to(CLIENT, CLIENT);
        end(world, player).await;
    }
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn quic_takes_less_than_30_bytes_of_a_snapshot_packet() {
    println!(
        "bytes of QUIC, and with IPv4 and UDP, in a packet besides its own; UDP packets for each"
    );
    // What is lost is estimated from what came, which takes a minute.
    let minute = Duration::from_secs(60).max(*LOOK);
    for (conditions, bots, time) in [
        ("lan", 3, minute),
        ("lan", 128, *LOOK),
        ("delay=40ms", 16, minute),
        ("delay=100ms,jitter=10ms,loss=5%", 16, minute),
    ] {
        let world = World::new(room_config(1, bots));
        let mut player = Player::join(&world, conditions, Duration::from_secs(3600));
        player.play(&world, SETTLING).await;
        let stats = player.core().stats().clone();
        let (down, up) = (world.ether.sent(world.address()), world.ether.sent(CLIENT));
        player.play(&world, time).await;
        let stats = player.core().stats().since(&stats);
        let (down, up) = (world.ether.sent(world.address()) - down, world.ether.sent(CLIENT) - up);
        // What is lost is lost on the client's side of the meter; a packet is of the usual size.
        let (sent, came) = (stats.expected as f64, stats.rx_packets as f64);
        let own = stats.rx_bytes as f64 / came * sent;
        let quic = (down.bytes as f64 - own) / sent;
        let packets = down.packets as f64 / sent;
        println!(
            "{conditions}, {bots} bots: down {:.1} own, {quic:.1}, {:.1}, {packets:.3}",
            own / sent,
            quic + 28.0 * packets,
        );
        player.check("bytes of QUIC in a snapshot packet", quic, 21.0..=30.0);
        player.check("UDP packets down for each", packets, 0.99..=1.02);
        if stats.expected == stats.arrived {
            let (sent, own) = (stats.tx_packets as f64, stats.tx_bytes as f64);
            let (quic, packets) = ((up.bytes as f64 - own) / sent, up.packets as f64 / sent);
            println!(
                "{conditions}, {bots} bots: up {:.1} own, {quic:.1}, {:.1}, {packets:.3}",
                own / sent,
                quic + 28.0 * packets,
            );
            player.check("bytes of QUIC in an input packet", quic, 21.0..=30.0);
            player.check("UDP packets up for each", packets, 0.99..=1.02);
        }
        end(world, player).await;
    }
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
#[ignore = "slow: .ci/more runs it"]
async fn controllers_of_quinn_do_worse_with_losses() {
    compare_controllers("delay=100ms,jitter=5ms,loss=5%,burst=2", 64).await;
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
#[ignore = "slow: .ci/more runs it"]
async fn controllers_of_quinn_do_worse_on_a_narrow_path() {
    compare_controllers("delay=20ms,down.rate=64kbit", 64).await;
}

async fn compare_controllers(conditions: &str, bots: u16) {
    let others: [(&str, Controllers); 3] = [
        ("Cubic", Arc::new(CubicConfig::default())),
        ("NewReno", Arc::new(NewRenoConfig::default())),
        ("BBR", Arc::new(BbrConfig::default())),
    ];
    println!("network | bots | controller | packets/s | median, 99 %, greatest age in ms");
    let show = |name: &str, got: Got| {
        let Got { per_s, median_ms, p99_ms, max_ms } = got;
        println!(
            "{conditions} | {bots} | {name} | {per_s:.1} | \
             {median_ms:.0}, {p99_ms:.0}, {max_ms:.0}"
        );
    };
    let ours = got_by_three(conditions, bots, None).await;
    show("ours", ours);
    for (name, controller) in &others {
        let theirs = got_by_three(conditions, bots, Some(Arc::clone(controller))).await;
        show(name, theirs);
        // A controller that sends more has longer queues, and one with shorter queues sends less.
        // If the path is wide enough for all, a few milliseconds are chance.
        let told = format!("{name} over {conditions}: {theirs:?}, ours {ours:?}");
        let fewer = theirs.per_s < ours.per_s * 0.99;
        assert!(fewer || theirs.p99_ms >= ours.p99_ms - 5.0, "{told}");
    }
}

//! Playing over good and bad links, in virtual time.

use phaselock::client::{Client, Stats};
use phaselock::game::MispredictionCause;
use phaselock::link::LinkConfig;
use phaselock::random::Random;
use phaselock::time::{Micros, Rates, Tick};
use phaselock_games::skirmish::{Command, Skirmish, scores};
use phaselock_testing::{Press, Sim, Skew, room_config};
use phaselock_tests::toy::{Bells, Thing, Walk};

const TERRIBLE: LinkConfig = LinkConfig::delayed(80, 60).losing(0.2).duplicating(0.1);

/// Runs about and shoots at random, keeping each direction for a while.
fn restless(seed: u64) -> Press<Skirmish> {
    let mut random = Random::new(seed);
    let mut command = Command::default();
    Box::new(move |_: &Client<Skirmish>, _: Tick| {
        if random.chance(0.1) {
            command = Command {
                right: random.below(3) as i16 - 1,
                down: random.below(3) as i16 - 1,
                aim: random.unit(),
                fire: random.chance(0.3),
                ..Command::default()
            };
        }
        command
    })
}

#[test]
fn a_clock_locks_whatever_it_starts_with() {
    for (start, ppm) in [(0, 0.0), (3_600_000_000 * 9, 200.0), (-77_000_000, -200.0)] {
        let mut sim = Sim::<Skirmish>::new(3, 0);
        let link = LinkConfig::delayed(50, 10).losing(0.02);
        let skew = Skew { start: Micros(start), ppm };
        sim.join_with(link, link, skew, restless(1));
        sim.run(3.0);
        let mut worst = 0.0_f64;
        sim.run_each(20.0, |sim| worst = worst.max(sim.clients[0].clock_error_ms(sim.now).abs()));
        assert!(worst < 4.0, "{worst} ms off with {ppm} ppm");
        assert!(sim.clients[0].core().pll().is_locked());
    }
}

#[test]
fn an_untouched_player_is_never_corrected() {
    // With losses, the lead covers one lost packet; two in a row (1 of 400) make an input late.
    for (link, seed, late_max) in [
        (LinkConfig::PERFECT, 1, 0),
        (LinkConfig::delayed(100, 25), 2, 0),
        (LinkConfig::delayed(100, 25).losing(0.05), 3, 18),
    ] {
        let mut sim = Sim::<Skirmish>::new(seed, 0);
        sim.join(link, restless(seed));
        // In the first seconds the lead adapts to the link.
        sim.run(5.0);
        let before = sim.clients[0].core().stats().clone();
        sim.run(60.0);
        let stats = sim.clients[0].core().stats();
        let late = stats.late_inputs - before.late_inputs;
        // Only the server sets off a barrel that the player has shot.
        let blown = |stats: &Stats| stats.missed_by(MispredictionCause::Shot).count;
        let blown = blown(stats) - blown(&before);
        let wrong = stats.mispredictions - before.mispredictions - blown;
        assert!(blown <= 2, "{:?}", stats.misses);
        assert!(stats.ticks > 3600);
        // A late input is one misprediction by the server's substitute, and perhaps one more when
        // it ends.
        assert!(
            wrong <= 2 * late,
            "{wrong} corrections, {late} late, over {link:?}: {:?}, {:?}",
            stats.misses,
            stats.last_correction
        );
        assert!(late <= late_max, "{late} of 3600 inputs were late over {link:?}");
    }
}

#[test]
fn a_program_that_draws_slowly_sends_one_packet_a_frame_and_none_looks_lost() {
    let mut sim = Sim::<Skirmish>::new(4, 0);
    sim.frame = Micros::from_ms(60);
    sim.join(LinkConfig::delayed(30, 0), restless(4));
    sim.run(3.0);
    let before = sim.clients[0].core().stats().clone();
    sim.run(30.0);
    let stats = sim.clients[0].core().stats().since(&before);
    assert!((495..=505).contains(&stats.tx_packets), "{} packets in 500 frames", stats.tx_packets);
    assert!(stats.ticks >= 1790, "{} ticks", stats.ticks);
    assert_eq!((stats.tx_lost, stats.late_inputs, stats.mispredictions), (0, 0, 0));
}

#[test]
fn inputs_are_never_late_without_jitter() {
    let mut sim = Sim::<Skirmish>::new(4, 0);
    sim.join(LinkConfig::delayed(30, 0), restless(4));
    sim.run(2.0);
    let late = sim.clients[0].core().stats().late_inputs;
    sim.run(30.0);
    let stats = sim.clients[0].core().stats();
    assert_eq!(stats.late_inputs, late);
    assert_eq!(stats.skipped_ticks, 0);
    let lead_ms = sim.clients[0].core().lead().lead().as_ms();
    assert!(lead_ms < 30.0 + 2.0 * 1000.0 / 60.0, "a lead of {lead_ms} ms for a way of 30 ms");
}

#[test]
fn clients_see_the_truth_over_a_terrible_link() {
    let mut sim = Sim::<Skirmish>::new(5, 6);
    for _ in 0..3 {
        sim.join_bot(TERRIBLE);
    }
    for _ in 0..10 {
        sim.run(3.0);
        for client in 0..3 {
            assert!(sim.check_store(client) > 100);
        }
    }
    for client in &sim.clients {
        let stats = client.core().stats();
        assert!(stats.snapshots > 25 * 30 / 2, "{} snapshots", stats.snapshots);
        assert!(stats.loss() > 0.1 && stats.loss() < 0.3, "{}", stats.loss());
    }
    // When packets flow again, all clients are up to date within a moment.
    for client in &mut sim.clients {
        client.down.set(LinkConfig::delayed(20, 0));
        client.up.set(LinkConfig::delayed(20, 0));
    }
    sim.run(0.3);
    for client in 0..3 {
        let newest = sim.clients[client].core().newest_tick();
        assert!(sim.room.tick().since(newest) <= 4);
        // Players who are out of sight have a score.
        assert_eq!(scores(&sim.clients[client].core().newest()).count(), 9);
    }
}

#[test]
fn a_game_of_another_kind_runs_on_the_same_netcode() {
    let mut sim = Sim::<Bells>::new(6, 3);
    for _ in 0..3 {
        sim.join_bot(TERRIBLE);
    }
    sim.run(20.0);
    let mut own_secrets = 0;
    for client in 0..3 {
        assert!(sim.check_store(client) > 100);
        let core = sim.clients[client].core();
        assert!(core.stats().mispredictions <= 2 * core.stats().late_inputs);
        for (_, versions) in core.store().iter() {
            for state in versions.iter().filter_map(|version| version.state) {
                let own = state.owner == Some(core.player());
                if let Thing::Walker(walker) = state.to_slot::<Thing>(0).entity {
                    assert!(own || walker.secret == 0, "another player's secret is known");
                    own_secrets += usize::from(own && walker.secret > 0);
                }
            }
        }
    }
    assert!(own_secrets > 0);
}

#[test]
fn the_same_seed_is_the_same_run() {
    let run = |seed| {
        let mut sim = Sim::<Skirmish>::new(seed, 4);
        for _ in 0..2 {
            sim.join_bot(TERRIBLE);
        }
        sim.run(10.0);
        let states: Vec<_> = sim.room.world().entities.iter().copied().collect();
        let counts: Vec<_> = sim
            .clients
            .iter()
            .map(|client| {
                let stats = client.core().stats();
                (stats.rx_bytes, stats.tx_bytes, stats.mispredictions, stats.late_inputs)
            })
            .collect();
        (states, counts)
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}

#[test]
fn others_are_shown_between_snapshots_without_a_jump() {
    let mut sim = Sim::<Bells>::new(8, 0);
    let link = LinkConfig::delayed(40, 10);
    // One player walks to and fro, the other watches.
    let to_and_fro = |_: &Client<Bells>, tick: Tick| Walk {
        right: if (tick.0 / 40).is_multiple_of(2) { 1 } else { -1 },
    };
    sim.join(link, Box::new(to_and_fro));
    let watcher = sim.join(link, Box::new(|_, _| Walk::default()));
    sim.run(4.0);
    let walker = sim.clients[0].core().player();
    let mut last: Option<(i64, f32)> = None;
    let mut moved = 0.0;
    sim.run_each(10.0, |sim| {
        let now = sim.now;
        let core = sim.clients[watcher].core_mut();
        let picture = core.picture(now);
        let slot = picture.entities.owned_by(walker).next().expect("the walker is seen");
        let Thing::Walker(Walker { x, .. }) = slot.entity else { panic!("it is a walker") };
        if let Some((then, before)) = last {
            let speed = (x - before).abs() / ((now.0 - then).max(1) as f32 / 1e6);
            moved += (x - before).abs();
            // 3 m/s, shown at most 10 % too fast while the delay adapts; the grid rounds by 4 mm.
            assert!((x - before).abs() < 0.005 || speed < 3.5, "{speed} m/s");
        }
        last = Some((now.0, x));
    });
    assert!(moved > 20.0, "it moved {moved} m");
    let stats = sim.clients[watcher].core().stats();
    assert!(stats.underruns * 50 < stats.frames, "{} of {}", stats.underruns, stats.frames);
}

use phaselock_tests::toy::Walker;

#[test]
fn inputs_sent_more_often_or_ahead_of_time_move_no_player_faster() {
    // Two runs to the right: in one the client is honest, in the other its clock runs 10 % too
    // fast.
    let distance = |ppm: f64| {
        let mut sim = Sim::<Bells>::new(9, 0);
        let link = LinkConfig::delayed(20, 0);
        let skew = Skew { start: Micros::ZERO, ppm };
        sim.join_with(link, link, skew, Box::new(|_, _| Walk { right: 1 }));
        sim.run(1.0);
        let x = |sim: &Sim<Bells>| {
            let slot = sim.room.world().entities.iter().next().copied();
            slot.and_then(|slot| phaselock_tests::toy::walker_x(&slot.entity)).expect("it is there")
        };
        let before = x(&sim);
        sim.run(10.0);
        x(&sim) - before
    };
    let honest = distance(0.0);
    assert!((honest - 30.0).abs() < 0.5, "{honest} m in 10 s at 3 m/s");
    assert!(distance(100_000.0) <= honest + 0.06);
}

#[test]
fn a_stalled_server_loses_time_but_no_players() {
    for (tick_hz, stall_secs, control_ms) in
        [(60, 0.2, 0), (60, 1.5, 0), (60, 0.35, 300), (60, 2.6, 300), (128, 1.4, 0), (10, 6.0, 0)]
    {
        let mut config = room_config(10, 2);
        config.rates = Rates { tick_hz, snapshot_hz: tick_hz / 2 };
        let rates = config.rates;
        let mut sim = Sim::<Skirmish>::with(config);
        sim.join_bot(LinkConfig::delayed(30, 5));
        sim.run(5.0);
        sim.clients[0].control_delay = Micros::from_ms(control_ms);
        let steps = sim.clients[0].core().pll().steps();
        sim.server_stalled = true;
        sim.run(stall_secs);
        sim.server_stalled = false;
        sim.run(1.0);
        let before = sim.clients[0].core().stats().clone();
        sim.run(2.0);
        let client = &sim.clients[0];
        assert!(client.closed.is_none());
        let stats = client.core().stats();
        // A second later everything runs as before, and the clock stepped at most once.
        assert!(client.core().pll().steps() <= steps + 1);
        let sent = stats.tx_packets - before.tx_packets;
        assert!(sent.abs_diff(u64::from(tick_hz) * 2) <= u64::from(tick_hz) / 2, "{sent} packets");
        let late = stats.late_inputs - before.late_inputs;
        assert!(late <= 2, "{late} late after {stall_secs} s at {tick_hz} Hz");
        // The world's clock stood still for the time that was too much to catch up with, and the
        // client learned of it, to within the current tick.
        let lost = Micros(sim.now.0) - Micros(rates.time_of(sim.room.tick()).0);
        let step = rates.step() + Micros(1);
        let told = lost - Micros(client.core().common().unix_micros());
        assert!(told >= Micros::ZERO && told < step, "{told}");
        let error = client.core().server_time(sim.now) - rates.time_of(sim.room.tick());
        assert!(error > Micros::from_ms(-5) && error < step + Micros::from_ms(5), "{error}");
        assert!(sim.check_store(0) > 8);
    }
}

#[test]
fn a_client_whose_hello_was_held_up_gets_into_the_game() {
    let mut sim = Sim::<Skirmish>::new(14, 0);
    let slow = LinkConfig::delayed(2600, 0);
    let client = sim.join_with(slow, LinkConfig::delayed(30, 0), Skew::default(), restless(14));
    sim.clients[client].up.set(LinkConfig::delayed(30, 0));
    sim.run(6.0);
    let before = sim.clients[client].core().stats().clone();
    sim.run(2.0);
    let stats = sim.clients[client].core().stats();
    assert!(stats.tx_packets - before.tx_packets >= 110);
    assert_eq!(stats.late_inputs, before.late_inputs);
    assert!(sim.clients[client].clock_error_ms(sim.now).abs() < 4.0);
}

#[test]
fn a_player_whose_path_lengthens_right_after_joining_can_still_move() {
    let mut sim = Sim::<Skirmish>::new(15, 0);
    let client = sim.join(LinkConfig::delayed(5, 0), restless(15));
    // A few inputs have been sent, with a lead that fits the short path.
    sim.run(0.2);
    assert_eq!(sim.clients[client].core().stats().late_inputs, 0);
    for way in 0..2 {
        let client = &mut sim.clients[client];
        let link = if way == 0 { &mut client.up } else { &mut client.down };
        link.set(LinkConfig::delayed(80, 0));
    }
    sim.run(3.0);
    let before = sim.clients[client].core().stats().clone();
    sim.run(5.0);
    let stats = sim.clients[client].core().stats();
    assert_eq!(stats.late_inputs, before.late_inputs);
    assert_eq!(stats.mispredictions, before.mispredictions);
    assert!(stats.late_inputs > 0, "the longer way made none late");
}

#[test]
fn a_stalled_client_finds_its_place_again() {
    let mut sim = Sim::<Skirmish>::new(11, 2);
    sim.join_bot(LinkConfig::delayed(30, 5));
    sim.run(5.0);
    sim.clients[0].stalled = true;
    sim.run(10.0);
    sim.clients[0].stalled = false;
    sim.run(2.0);
    let late = sim.clients[0].core().stats().late_inputs;
    sim.run(5.0);
    let client = &sim.clients[0];
    assert!(client.clock_error_ms(sim.now).abs() < 4.0);
    assert_eq!(client.core().stats().late_inputs, late);
    assert!(sim.check_store(0) > 10);
}

#[test]
fn clients_follow_the_servers_rates() {
    for (tick_hz, snapshot_hz) in [(10, 5), (10, 10), (30, 10), (64, 32), (128, 64)] {
        let mut config = room_config(12, 2);
        config.rates = Rates { tick_hz, snapshot_hz };
        let mut sim = Sim::<Skirmish>::with(config);
        sim.join(LinkConfig::delayed(30, 5), restless(12));
        sim.run(5.0);
        let before = sim.clients[0].core().stats().clone();
        sim.run(10.0);
        let stats = sim.clients[0].core().stats();
        let snapshots = stats.snapshots - before.snapshots;
        assert!(
            snapshots.abs_diff(u64::from(snapshot_hz) * 10) <= 2,
            "{snapshots} at {snapshot_hz}"
        );
        let ticks = stats.ticks - before.ticks;
        assert!(ticks.abs_diff(u64::from(tick_hz) * 10) <= 3, "{ticks} ticks at {tick_hz}");
        assert!(sim.check_store(0) > 10);
    }
}

#[test]
fn a_long_session_crosses_the_edge_of_every_counter() {
    // After ten minutes at 128 Hz, ticks and both directions' sequence numbers pass 16 bits. After
    // 75 minutes at 10 Hz, microseconds pass 32 bits.
    for (hz, minutes, frame_ms) in [(128, 10, 8), (10, 75, 50)] {
        let mut config = room_config(13, 0);
        config.rates = Rates { tick_hz: hz, snapshot_hz: hz };
        let mut sim = Sim::<Bells>::with(config);
        sim.frame = Micros::from_ms(frame_ms);
        sim.join_bot(LinkConfig::delayed(20, 5));
        for minute in 0..minutes {
            sim.run(60.0);
            sim.truth.clear();
            sim.run(1.0);
            assert!(sim.check_store(0) > 8);
            let client = &sim.clients[0];
            assert!(client.clock_error_ms(sim.now).abs() < 4.0, "minute {minute}");
            let stats = client.core().stats();
            // In the first second the lead adapts.
            assert!(stats.late_inputs < 20, "{} late in minute {minute}", stats.late_inputs);
            assert_eq!(stats.refused, 0);
            let rate = stats.snapshots as f64 / sim.now.0 as f64 * 1e6 / f64::from(hz);
            assert!(rate > 0.95, "{rate} of the snapshots in minute {minute}");
        }
    }
}

//! Play over recorded networks. The recordings are made up, in the shape of a mobile network's:
//! opportunities come in bursts, with pauses of up to seconds.

use std::fmt::Write as _;

use phaselock::link::Conditions;
use phaselock::random::Random;
use phaselock_games::skirmish::Skirmish;
use phaselock_testing::bot;
use phaselock_tests::networks::{Course, NetworkFigures, measure, over_quic};

/// Delivery opportunities of a minute: bursts with pauses, some of which last for long.
fn opportunities(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = String::new();
    let mut ms = 1;
    while ms < 60_000 {
        writeln!(text, "{ms}").expect("a string takes it");
        let pause = match random.unit() {
            part if part < 0.9 => 1 + random.below(4),
            part if part < 0.9995 => 5 + random.below(40),
            _ => 500 + random.below(1500),
        };
        ms += pause;
    }
    text
}

fn course(secs: f64) -> Course {
    let conditions = Conditions::parse("file:made-up,delay=20ms", |path| {
        Ok(Some(opportunities(path.len() as u64).into_bytes()))
    });
    Course { conditions: conditions.expect("it is a network"), secs, seed: 1, bots: 4 }
}

fn check(figures: &NetworkFigures) {
    assert!(figures.outages > 0 && figures.outage_s < 30.0, "it has pauses: {figures:?}");
    assert!(figures.lock_s.is_some_and(|lock| lock < 1.0), "{figures:?}");
    assert!(figures.clock_ms_p99 < 10.0, "{figures:?}");
    let age_most = 1.5 * figures.age_floor_ms_p99 + 100.0;
    assert!(figures.age_ms_p99 < age_most, "{figures:?}");
    assert!(figures.late_per_million < 200_000.0, "{figures:?}");
}

#[test]
fn recorded_network_can_be_played_on() {
    let figures = measure(&course(30.0), bot::<Skirmish>(1));
    check(&figures);
    assert!(figures.late_outside_per_million.is_some_and(|late| late < 100_000.0), "{figures:?}");
}

#[test]
fn recorded_network_can_be_played_on_with_the_real_drivers() {
    let figures = over_quic(&course(30.0)).expect("a server and a client");
    check(&figures);
    assert_eq!(figures.losses, Some(0), "{figures:?}");
}

#[test]
fn newcomer_sees_the_present_soon_on_a_path_that_just_carries_the_game() {
    let conditions = "delay=30ms,rate=64kbit,queue=16kB".parse().expect("it is a network");
    let course = Course { conditions, secs: 20.0, seed: 1, bots: 40 };
    let figures = measure(&course, bot::<Skirmish>(1));
    assert!(figures.first_age_ms_max < 400.0, "{figures:?}");
    assert!(figures.lock_s.is_some_and(|lock| lock < 2.0), "{figures:?}");
    assert!(figures.clock_ms_p99 < 5.0, "{figures:?}");
}

#[test]
fn what_leaves_into_a_dead_path_does_not_delay_what_follows() {
    let text = "delay=30ms,queue=64kB; 10s: rate=0bit; 15s: rate=400kbit";
    // Inputs go on, since they may well arrive, and take a quarter of a second of this.
    let conditions = text.parse().expect("it is a network");
    let course = Course { conditions, secs: 30.0, seed: 1, bots: 12 };
    let figures = measure(&course, bot::<Skirmish>(1));
    assert_eq!((figures.outages, figures.recoveries_slow), (1, 0), "{figures:?}");
    assert_eq!(figures.unexplained, 0, "{figures:?}");
}

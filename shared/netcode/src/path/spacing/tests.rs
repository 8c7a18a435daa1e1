//! Spacings over simulated paths, in virtual time.

use super::*;
use crate::link::{Conditions, Link, PROFILES};

/// Time between two packets on a good path, and between two answers.
const STEP: i64 = 16_667;
const INTERVAL: i64 = 33_333;
/// Bytes of each packet.
const BYTES: usize = 72;

/// A report: when the newest packet left and came.
#[derive(Clone, Copy, Debug)]
struct Report {
    sent: LocalTime,
    came: LocalTime,
}

/// What happened in a period.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    packets: u32,
    /// The longest time that a packet took.
    longest: Micros,
    /// The longest time between two packets.
    gap_max: Micros,
}

/// A sender whose packets are answered, and how many of them are under way.
struct Path {
    now: LocalTime,
    spacing: Spacing,
    there: Link<LocalTime>,
    back: Link<Report>,
    newest: Option<(LocalTime, LocalTime)>,
    sent: LocalTime,
}

impl Path {
    fn new(conditions: &str, seed: u64) -> Self {
        let conditions: Conditions = conditions.parse().unwrap();
        Self {
            now: LocalTime(0),
            spacing: Spacing::new(),
            there: Link::new(conditions.up, 2 * seed),
            back: Link::new(conditions.down, 2 * seed + 1),
            newest: None,
            sent: LocalTime(0),
        }
    }

    fn run(&mut self, ms: i64) -> Seen {
        let mut seen = Seen::default();
        let is_due = |now: LocalTime, each: i64| now.0 / each != (now.0 - 1000) / each;
        for _ in 0..ms {
            self.now = self.now + Micros(1000);
            let now = self.now;
            while let Some(sent) = self.there.poll(now) {
                seen.longest = seen.longest.max(now - sent);
                if self.newest.is_none_or(|(newest, _)| newest < sent) {
                    self.newest = Some((sent, now));
                }
            }
            if let Some((sent, came)) = self.newest.filter(|_| is_due(now, INTERVAL)) {
                self.back.send(now, BYTES, Report { sent, came });
            }
            while let Some(Report { sent, came }) = self.back.poll(now) {
                // The server's clock is an hour ahead.
                let took = came - sent + Micros::from_ms(3_600_000);
                self.spacing.handle_report(now, sent, took);
            }
            if is_due(now, STEP) && self.spacing.is_due(now) {
                seen.gap_max = seen.gap_max.max(now - self.sent);
                seen.packets += 1;
                self.spacing.handle_sent(now);
                self.there.send(now, BYTES, now);
                self.sent = now;
            }
        }
        seen
    }
}

#[test]
fn good_and_bad_paths_without_a_queue_are_left_alone() {
    for (name, _) in PROFILES {
        let sent: u32 = (1..=8).map(|seed| Path::new(name, seed).run(60_000).packets).sum();
        let share = f64::from(sent) / (8.0 * 3600.0);
        assert!(share > if *name == *"terrible" { 0.9 } else { 0.97 }, "{name}: {share}");
    }
}

#[test]
fn on_a_narrow_path_few_packets_wait() {
    // A sender that does not care would send 100 bytes with their header 60 times a second, and
    // let them wait for as long as the queue is.
    for kbit in [32, 24, 16, 8, 4] {
        let conditions = format!("delay=30ms,queue=64kB; 5s: up.rate={kbit}kbit");
        let mut path = Path::new(&conditions, 1);
        path.run(5000);
        // What left before it was known has to pass first.
        path.run(30_000);
        let seen = path.run(20_000);
        let passing = f64::from(kbit) * 1e3 / 8.0 / (BYTES + 28) as f64;
        let used = f64::from(seen.packets) / 20.0 / passing;
        assert!((0.75..1.1).contains(&used), "{used} of {kbit} kbit/s");
        // What leaves within the tolerance, and until the first of it is reported.
        let queue = Micros::from_f64(20e6 / passing);
        let most = Spacing::TOLERATED + Micros::from_ms(60) + queue;
        assert!(seen.longest < most, "{kbit} kbit/s: {seen:?}, at most {most}");
    }
}

#[test]
fn a_path_that_stood_still_is_used_again_at_once() {
    for dead in ["rate=0bit", "loss=100%"] {
        let conditions = format!("delay=30ms; 10s: {dead}; 16s: rate=100Mbit,loss=0%");
        let mut path = Path::new(&conditions, 1);
        path.run(16_300);
        let after = path.run(2000);
        assert!(after.packets >= 119, "{dead}: {after:?}");
    }
}

#[test]
fn a_queue_of_others_or_a_longer_route_is_recognised() {
    for more in [250, 500, 900] {
        let conditions = format!("delay=30ms; 10s: up.delay={more}ms,up.jitter=20ms");
        let mut path = Path::new(&conditions, 1);
        path.run(10_000);
        let first = path.run(4000);
        let then = path.run(10_000);
        assert!(then.packets > 540, "{more} ms: {first:?}, then {then:?}");
        // Once: a pause costs inputs.
        let later = path.run(60_000);
        assert!(later.packets > 3570, "{more} ms: {later:?}");
    }
}

#[test]
fn a_queue_of_others_that_swings_is_recognised() {
    let swings =
        (0..60).map(|n| format!("; {}ms: up.delay={}ms", 10_000 + n * 500, 130 + 400 * (n % 2)));
    let mut path = Path::new(&format!("delay=30ms{}", swings.collect::<String>()), 1);
    path.run(10_000);
    let seen = path.run(30_000);
    assert!(seen.packets > 1500, "{seen:?} of 1800");
}

#[test]
fn late_reports_change_nothing() {
    let mut path =
        Path::new("delay=30ms; 10s: down.rate=0bit; 10.4s: down.rate=1Mbit,down.delay=500ms", 1);
    let seen = path.run(30_000);
    assert!(seen.packets >= 1795, "{seen:?}");
}

#[test]
fn absurd_times_do_no_harm() {
    let times = [i64::MIN, -1, 0, 5, i64::MAX];
    let mut spacing = Spacing::new();
    for (a, b) in times.iter().flat_map(|a| times.map(|b| (*a, b))) {
        spacing.handle_report(LocalTime(b), LocalTime(a), Micros(a));
        spacing.handle_sent(LocalTime(a));
        let most = Spacing::GAP_MAX + Spacing::GAP_MAX;
        assert!((Micros::ZERO..=most).contains(&spacing.gap(LocalTime(b))));
        spacing.is_due(LocalTime(b));
    }
}

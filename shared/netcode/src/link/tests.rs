//! Links behave as configured, and reproducibly.

use super::*;
use crate::time::LocalTime;
use crate::time::Micros;

/// Sends a packet every millisecond. Returns what arrived, and when, in order.
fn run(config: LinkConfig, seed: u64, packets: i64) -> (Vec<(LocalTime, i64)>, LinkStats) {
    let config = config.validate().unwrap();
    let mut link = Link::new(config, seed);
    let mut arrivals = Vec::new();
    for n in 0..packets {
        let now = LocalTime(n * 1000);
        link.send(now, 100, n);
        while let Some(packet) = link.poll(now) {
            arrivals.push((now, packet));
        }
    }
    while let Some(now) = link.next_arrival() {
        assert_eq!(link.poll(now - Micros(1)), None);
        arrivals.push((now, link.poll(now).unwrap()));
    }
    (arrivals, link.stats())
}

const BAD: LinkConfig = LinkConfig::delayed(40, 20).losing(0.1).duplicating(0.05);

#[test]
fn a_seed_repeats_and_shares_are_kept() {
    let all = run(BAD, 1, 20_000);
    assert_eq!(all, run(BAD, 1, 20_000));
    assert_ne!(all, run(BAD, 2, 20_000));
    let (arrivals, stats) = all;
    let part = |count: u64| count as f32 / stats.sent as f32;
    assert!((part(stats.lost) - 0.1).abs() < 0.01, "{stats:?}");
    assert!((part(stats.doubled) - 0.9 * 0.05).abs() < 0.005, "{stats:?}");
    assert_eq!(arrivals.len() as u64, stats.sent - stats.lost + stats.doubled);
    assert!(arrivals.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    assert!(arrivals.windows(2).any(|pair| pair[0].1 > pair[1].1), "none overtook another");
}

#[test]
fn a_property_does_not_shift_the_others_numbers() {
    let lossless = run(LinkConfig { loss: 0.0, duplication: 0.0, ..BAD }, 5, 2000).0;
    let lossy = run(LinkConfig { duplication: 0.0, ..BAD }, 5, 2000).0;
    assert!(lossy.iter().all(|arrival| lossless.contains(arrival)));
    assert!(lossy.len() < lossless.len());
}

#[test]
fn delays_are_spread_as_told() {
    let ms = Micros::from_ms;
    let jitter = LinkConfig { delay: ms(100), jitter: ms(10), ..LinkConfig::PERFECT };
    // Minimum, mean, standard deviation, and the fraction beyond 130 ms, of 40,000 delays in ms.
    let measure = |spread| {
        let (arrivals, _) = run(LinkConfig { spread, ..jitter }, 3, 40_000);
        let delays: Vec<_> =
            arrivals.iter().map(|(at, n)| (*at - LocalTime(n * 1000)).as_ms()).collect();
        // Arrivals are polled at most once per millisecond while sending.
        let count = delays.len() as f64;
        let mean = delays.iter().sum::<f64>() / count;
        let deviation =
            (delays.iter().map(|delay| (delay - mean).powi(2)).sum::<f64>() / count).sqrt();
        let beyond = delays.iter().filter(|delay| **delay > 130.0).count() as f64 / count;
        (delays.iter().copied().fold(f64::MAX, f64::min), mean, deviation, beyond)
    };
    let near = |a: f64, b: f64, by: f64| assert!((a - b).abs() < by, "{a}, not {b}");
    let (least, mean, deviation, beyond) = measure(Spread::Uniform);
    near(least, 90.5, 0.6);
    near(mean, 100.5, 0.3);
    near(deviation, 20.0 / 12.0_f64.sqrt(), 0.3);
    assert_eq!(beyond, 0.0);
    let (_, mean, deviation, beyond) = measure(Spread::Normal);
    near(mean, 100.5, 0.3);
    near(deviation, 10.0, 0.3);
    near(beyond, 0.00135, 0.001);
    let (least, mean, _, beyond) = measure(Spread::Heavy);
    near(least, 100.5, 0.6);
    near(mean, 110.5, 0.6);
    // Beyond three means: (1 + 3 / 2)^-3.
    near(beyond, 0.064, 0.01);
}

#[test]
fn delays_below_zero_become_zero() {
    for spread in [Spread::Uniform, Spread::Normal] {
        let config = LinkConfig { jitter: Micros::from_ms(30), spread, ..LinkConfig::PERFECT };
        let (arrivals, _) = run(config, 3, 10_000);
        let at_once = arrivals.iter().filter(|(at, n)| *at == LocalTime(n * 1000)).count();
        assert!((4800..5200).contains(&at_once), "{spread:?}: {at_once} without delay");
    }
}

#[test]
fn losses_come_in_bursts_of_the_mean_length() {
    let config = LinkConfig::PERFECT.bursting(0.05, 4.0);
    let (arrivals, stats) = run(config, 9, 200_000);
    assert!((stats.lost as f32 / stats.sent as f32 - 0.05).abs() < 0.005, "{stats:?}");
    let bursts = arrivals.windows(2).filter(|pair| pair[1].1 - pair[0].1 > 1).count();
    let mean = stats.lost as f32 / bursts as f32;
    assert!((mean - 4.0).abs() < 0.3, "bursts of {mean}");

    // Elliott's model: some packets are lost in good states, some arrive in bad ones.
    let config = LinkConfig { burst_loss: 0.5, stray_loss: 0.01, ..config };
    let (_, stats) = run(config, 9, 200_000);
    assert!((stats.lost as f32 / stats.sent as f32 - 0.05).abs() < 0.005, "{stats:?}");
}

#[test]
fn a_bad_time_ends_where_losses_become_independent() {
    // Almost always bad; then nothing is lost; then hardly ever bad, but for long.
    let times = "loss=99%,burst=100; 1s: loss=0%,burst=1; 2s: loss=0.01%,burst=10000";
    for seed in 0..10 {
        let mut link = Link::new(times.parse::<Conditions>().unwrap().up, seed);
        let lost = [0, 1000, 2000].map(|from| {
            let before = link.stats().lost;
            (from..from + 1000).for_each(|ms| link.send(LocalTime(ms * 1000), 100, ms));
            link.stats().lost - before
        });
        assert!(lost[0] > 900 && lost[1..] == [0, 0], "{lost:?}");
    }
}

#[test]
fn a_loss_of_all_is_one_whatever_the_bursts() {
    for bursts in ["burst=1", "burst=3", "burst=10000,burst-loss=80%,stray-loss=1%"] {
        let times = format!("loss=100%,{bursts}").parse::<Conditions>().unwrap().up;
        let mut link = Link::new(times, 1);
        (0..1000).for_each(|ms| link.send(LocalTime(ms * 1000), 100, ms));
        assert_eq!(link.stats().lost, 1000, "{bursts}");
    }
}

#[test]
fn an_ordered_link_keeps_order() {
    let config = LinkConfig { ordered: true, ..BAD };
    let (arrivals, _) = run(config, 1, 5000);
    assert!(arrivals.windows(2).all(|pair| pair[0].1 <= pair[1].1));
}

#[test]
fn a_narrow_link_delays_and_then_drops() {
    // 128 bytes per millisecond with their headers are 1.024 Mbit; half of that passes.
    let config = LinkConfig { rate: Some(512_000), queue_bytes: 6400, ..LinkConfig::PERFECT };
    let (arrivals, stats) = run(config, 1, 10_000);
    assert!((stats.dropped as f32 / stats.sent as f32 - 0.5).abs() < 0.02, "{stats:?}");
    // The queue of 6400 bytes takes 100 ms.
    let slowest = arrivals.iter().map(|(at, n)| *at - LocalTime(n * 1000)).max().unwrap();
    assert!((slowest.as_ms() - 100.0).abs() < 3.0, "{slowest}");
}

/// Sends packets of 1000 bytes with their headers at these times in us. Returns how many of them
/// were dropped, and when the last of all arrives.
fn load(link: &mut Link<()>, times: impl Iterator<Item = i64>) -> (u64, Micros) {
    let before = link.stats().dropped;
    times.for_each(|at| link.send(LocalTime(at), 1000 - LinkConfig::HEADER_BYTES, ()));
    let last = link.under_way.last_key_value().map_or(LocalTime(0), |((arrival, _), _)| *arrival);
    (link.stats().dropped - before, last - LocalTime(0))
}

fn link_of(times: &str) -> Link<()> {
    Link::new(times.parse::<Conditions>().unwrap().up, 1)
}

const SECOND: i64 = 1_000_000;

#[test]
fn what_waits_when_a_link_widens_leaves_at_the_new_rate() {
    for order in ["free", "kept"] {
        let mut link = link_of(&format!("order={order},rate=64kbit,queue=64kB; 1s: rate=20Mbit"));
        let (dropped, last) = load(&mut link, (0..1000).map(|ms| ms * 1000));
        assert!((920..936).contains(&dropped), "{dropped} of 1000 dropped");
        // 64 kB at 20 Mbit.
        assert!((last.as_ms() - 1025.6).abs() < 0.5, "{last}");
        let (dropped, last) = load(&mut link, (1001..2000).map(|ms| ms * 1000));
        assert_eq!((dropped, last), (0, Micros(1_999_400)));
    }
}

#[test]
fn what_waits_when_a_link_narrows_leaves_at_the_new_rate() {
    let mut link = link_of("rate=20Mbit,queue=64kB; 1s: rate=64kbit");
    assert_eq!(load(&mut link, [SECOND - 1; 60].into_iter()).0, 0);
    // There is space for 4 more; together they take 8 s.
    let (dropped, last) = load(&mut link, [SECOND; 10].into_iter());
    assert_eq!(dropped, 6);
    assert!((last.as_ms() - 9000.0).abs() < 1.0, "{last}");
    // After half of that time, half of the space is free.
    assert_eq!(load(&mut link, [5 * SECOND; 40].into_iter()).0, 8);
}

#[test]
fn nothing_waits_where_there_is_no_limit() {
    let mut link = link_of("rate=64kbit,queue=64kB; 1s: lan; 2s: rate=64kbit,queue=64kB");
    assert_eq!(load(&mut link, [0; 70].into_iter()).0, 6);
    let last = load(&mut link, [SECOND + 1; 200].into_iter());
    assert!(last.0 == 0 && last.1 <= Micros::from_ms(1002), "{last:?}");
    assert_eq!(load(&mut link, [2 * SECOND; 70].into_iter()).0, 6);
}

#[test]
fn a_rate_that_is_set_holds_for_what_waits() {
    let narrow = LinkConfig { rate: Some(64_000), queue_bytes: 64_000, ..LinkConfig::PERFECT };
    let mut link = Link::new(narrow, 1);
    assert_eq!(load(&mut link, [0; 70].into_iter()).0, 6);
    link.set(LinkConfig { rate: Some(20_000_000), ..narrow });
    assert_eq!(load(&mut link, (30..100).map(|ms| ms * 1000)).0, 0);
    // Without a limit nothing is queued, however small the queue.
    link.set(narrow);
    assert_eq!(load(&mut link, [SECOND; 70].into_iter()).0, 6);
    link.set(LinkConfig::PERFECT);
    assert_eq!(load(&mut link, [SECOND; 1].into_iter()).0, 0);
    link.set(narrow);
    assert_eq!(load(&mut link, [SECOND; 70].into_iter()).0, 6);
}

#[test]
fn a_rate_that_changes_for_ever_is_its_mean() {
    let mut link = link_of("rate=64kbit,queue=64kB; 10ms: rate=128kbit; 20ms: repeat");
    let (dropped, last) = load(&mut link, [0; 60].into_iter());
    assert_eq!(dropped, 0);
    assert!((last.as_ms() - 5000.0).abs() < 10.0, "{last}");
}

#[test]
fn what_passes_is_the_sum_of_all_rates_in_force() {
    let rate = |rate| LinkConfig { rate, ..LinkConfig::PERFECT };
    let changes = vec![(Micros(10), rate(Some(500))), (Micros(13), rate(Some(1)))];
    for repeat in [None, Some(Micros(20)), Some(Micros(14))] {
        let schedule = LinkSchedule::new(rate(Some(7)), changes.clone(), repeat);
        let mut sum = 0;
        for at in (0..100).map(Micros) {
            assert_eq!(schedule.passed(at), sum, "{at}");
            sum += u128::from(schedule.at(at).rate.unwrap());
        }
        for (from, amount) in (0..40).flat_map(|from| (1..600).map(move |n| (Micros(from), n))) {
            let time = schedule.passing(from, amount).expect("it passes");
            let before = schedule.passed(from);
            let passed = |time| schedule.passed(from + time) - before;
            assert!(passed(time) >= amount && passed(time - Micros(1)) < amount, "{from} {amount}");
        }
    }
}

#[test]
fn nothing_passes_at_rate_0() {
    let mut link = link_of("rate=64kbit,queue=8kB; 1s: rate=0bit; 3s: rate=64kbit");
    // A second's worth before, and a queue's worth during the pause.
    assert_eq!(load(&mut link, (0..10).map(|n| 100_000 * n)), (0, Micros(1_250_000 + 2 * SECOND)));
    assert_eq!(load(&mut link, [2 * SECOND; 20].into_iter()).0, 14);
    let mut link = link_of("rate=0bit");
    assert_eq!(load(&mut link, [0; 20].into_iter()), (20, Micros::ZERO));
    assert_eq!((link.next_arrival(), link.poll(LocalTime(i64::MAX))), (None, None));
    // The queue is full until the link changes.
    link.set(LinkConfig { rate: Some(64_000), ..LinkConfig::PERFECT });
    assert!(link.under_way.is_empty());
}

#[test]
fn schedule_of_many_changes_is_as_fast_as_one_of_few() {
    // A million changes, sent through at ten million places; a scan would take days.
    let rate = |rate| LinkConfig { rate: Some(rate), ..LinkConfig::PERFECT };
    let changes = (1..1_000_000).map(|n| (Micros(1000 * n), rate(n as u64 % 7 * 12_000)));
    let schedule = LinkSchedule::new(rate(0), changes, Some(Micros::from_ms(1_000_000)));
    assert_eq!(schedule.configs_len(), 7);
    let all = schedule.passed(Micros::from_ms(1_000_000));
    for n in 0..100_000_i64 {
        let from = Micros(n * 7_777_777);
        let time = schedule.passing(from, 1 + all * n as u128 / 99).expect("it passes");
        let passed = schedule.passed(from + time) - schedule.passed(from);
        assert!(passed > all * n as u128 / 99);
    }
}

#[test]
fn codel_keeps_the_queue_short_for_senders_that_do_not_slow_down_at_once() {
    // 1.024 Mbit on 1 Mbit: the queue of drop-tail is full, CoDel's stays near its target.
    let tail = LinkConfig { rate: Some(1_000_000), ..LinkConfig::PERFECT };
    let wait = |config: LinkConfig| {
        let (arrivals, stats) = run(config, 1, 60_000);
        let late = arrivals.iter().filter(|(_, n)| *n > 20_000);
        let waits: Vec<_> = late.map(|(at, n)| (*at - LocalTime(n * 1000)).as_ms()).collect();
        (waits.iter().sum::<f64>() / waits.len() as f64, stats.dropped as f64 / 60_000.0)
    };
    let ((long, _), (short, dropped)) =
        (wait(tail), wait(LinkConfig { drops: Drops::CoDel, ..tail }));
    assert!(long > 400.0 && short < 30.0, "{long} and {short} ms");
    assert!((0.015..0.04).contains(&dropped), "{dropped} dropped");
    // A queue that does not last is left alone.
    let mut link = Link::new(LinkConfig { drops: Drops::CoDel, ..tail }, 1);
    assert_eq!(load(&mut link, (0..50).map(|n| n / 5 * SECOND)).0, 0);
}

#[test]
fn what_is_under_way_is_bounded() {
    let mut link = Link::new(LinkConfig::delayed(9000, 0), 1);
    for n in 0..10_000 {
        link.send(LocalTime(n), 1, n);
    }
    assert_eq!(link.stats().dropped, 10_000 - Link::PACKETS_MAX as u64);
}

#[test]
fn the_bytes_under_way_are_bounded() {
    let mut link = Link::new(LinkConfig::delayed(9000, 0), 1);
    let fit = (Link::BYTES_MAX >> 16) as u64;
    (0..fit + 44).for_each(|n| link.send(LocalTime(0), 1 << 16, n));
    assert_eq!(link.stats().dropped, 44);
    assert_eq!(std::iter::from_fn(|| link.poll(LocalTime(9_000_000))).count() as u64, fit);
    // Packets that have arrived use no space.
    (0..fit).for_each(|n| link.send(LocalTime(9_000_000), 1 << 16, n));
    assert_eq!(link.stats().dropped, 44);
    link.send(LocalTime(0), usize::MAX, 0);
    assert_eq!(link.stats().dropped, 45);
}

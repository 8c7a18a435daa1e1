//! Tests of advice from real measurements, and from made-up ones.

use std::sync::Arc;

use phaselock::motion::choice::Choice;

use super::super::file::Point;
use super::super::formulas::Formula;
use super::super::{Recording, Scores};
use super::*;

fn question(name: &str, recording: Recording, network: &str) -> AdviceQuestion {
    let subject = SweepSubject { name: name.into(), recording: Arc::new(recording) };
    AdviceQuestion::new(subject, network.parse().expect("it is a network"))
}

fn answer(question: &AdviceQuestion) -> Result<Advice, NoAdvice> {
    let measure = |plan: &Plan| {
        (0..plan.cells()).flat_map(|cell| plan.measure(cell, || true)).collect::<Vec<_>>()
    };
    let rows = measure(&question.plan());
    let delays: Vec<_> = question.delay_plans(&rows).iter().map(measure).collect();
    question.answer(&rows, &delays)
}

fn ask(shape: Formula, network: &str) -> Advice {
    let question = question(shape.name(), shape.record(8.0), network);
    answer(&AdviceQuestion { repeats: 1, ..question }).expect("everything was measured")
}

/// A straight line, or a body at rest.
fn line(secs: f64, speed: f64) -> Recording {
    let points = [0.0, secs].map(|time| Point { time, x: speed * time, y: 0.0, segment: 0 });
    Recording::of_points(&points).expect("two points")
}

#[test]
fn the_best_is_better_than_the_next_and_rates_are_no_higher_than_need_be() {
    for (shape, network) in [(Formula::Smooth, "cable"), (Formula::Zigzag, "intercontinental")] {
        let advice = ask(shape, network);
        let picks: [fn(&AtRate) -> Option<&Pick>; 2] =
            [|it| it.now.as_ref(), |it| it.then.as_ref()];
        for (pick, of) in [&advice.now, &advice.then].into_iter().zip(picks) {
            let pick = pick.as_ref().expect("it was seen");
            let next = pick.next.as_ref().expect("there are several");
            assert!(
                next.visual_px >= pick.visual_px && next.method != pick.method,
                "{shape} over {network}: {pick:?}"
            );
            let best = advice.by_send_rate.iter().filter_map(of).map(|it| it.visual_px);
            let best = best.fold(f64::MAX, f64::min);
            assert!(pick.visual_px + 1.0 <= (best + 1.0) * AS_GOOD, "{pick:?}");
        }
        assert!(advice.then.expect("it was seen").delay_ms > 0.0);
        if shape == Formula::Zigzag {
            let px = |pick: &Option<Pick>| pick.as_ref().expect("it was seen").error_px;
            let known = |it: &AtRate| px(&it.then) < px(&it.now);
            assert!(advice.by_send_rate.iter().all(known), "corners are seen in the past");
        }
        assert!(advice.by_delay.windows(2).all(|pair| pair[0].delay_ms < pair[1].delay_ms));
    }
}

#[test]
fn a_worse_network_asks_for_more_delay() {
    let [near, far] = ["lan", "terrible"].map(|network| ask(Formula::Smooth, network));
    let text = far.markdown(&Formula::Smooth.record(8.0));
    let then = [&near, &far].map(|it| it.then.as_ref().expect("it was seen").delay_ms);
    let now = [&near, &far].map(|it| it.now.as_ref().expect("it was seen"));
    assert!(then[0] < then[1] && now[0].error_px < now[1].error_px, "{then:?}");
    assert!(text.contains(&format!("**Use {}, ", now[1].method)), "{text}");
}

#[test]
fn what_is_short_is_advised_on_by_what_was_seen_of_it() {
    for (secs, network) in [(1.1, "terrible"), (1.1, "delay=100ms,loss=50%"), (0.6, "terrible")] {
        let recording = Formula::Sine.record(8.0);
        let sample = |step: u32| {
            let time = f64::from(step) / 60.0;
            let [x, y] = recording.truth(time).expect("it is there").position;
            Point { time, x, y, segment: 0 }
        };
        let points: Vec<_> = (0..=(secs * 60.0) as u32).map(sample).collect();
        let recording = Recording::of_points(&points).expect("there are dozens");
        let question = AdviceQuestion { repeats: 20, ..question("short", recording, network) };
        let advice = answer(&question).unwrap_or_else(|error| panic!("{secs} {network}: {error}"));
        let now = advice.now.as_ref().expect("it was seen");
        let all = [now.error_px, now.jerk_px, now.visual_px, now.error_px_p99];
        assert!(all.iter().all(|it| it.is_finite()), "{now:?}");
        assert!(!advice.markdown(&question.subject.recording).contains("NaN"));
    }
}

/// A made-up row of a cell: its error, its jerk, and its absent frames per million.
fn row(rate: f64, seed: u64, method: Choice, [error, jerk, absent]: [f64; 3]) -> Measurement {
    let question = question("line", line(8.0, 1.0), "cable");
    let plan = Plan { contenders: vec![Contender::Method(method)], ..question.plan() };
    let mut row = plan.measure(0, || true).remove(0);
    (row.interval_ms, row.seed) = (1e3 / rate, seed);
    row.scores = Scores {
        error_now_mean: error,
        error_now_p99: error,
        error_shown_mean: error,
        error_shown_p99: error,
        jerk,
        absent_per_million: absent,
        ..row.scores
    };
    row
}

fn of_rows(rates: &[f64], rows: &[Measurement]) -> Result<Advice, NoAdvice> {
    let question = question("line", line(8.0, 1.0), "cable");
    AdviceQuestion { rates: rates.to_vec(), pixel: 1.0, ..question }.answer(rows, &[])
}

#[test]
fn unknown_jerk_is_left_out_whatever_its_sign() {
    for nan in [f64::NAN, -f64::NAN] {
        let rows = [
            row(20.0, 1, Choice::RunForward, [1.0, 3.0, 0.0]),
            row(20.0, 2, Choice::RunForward, [1.0, nan, 0.0]),
            row(20.0, 1, Choice::Kalman, [0.5, nan, 0.0]),
        ];
        let advice = of_rows(&[20.0], &rows).expect("one is known");
        let now = advice.now.expect("one is known");
        assert_eq!((&*now.method, now.jerk_px), ("run-forward", 3.0));
        let none = of_rows(&[20.0], &rows[2..]);
        assert_eq!(none.expect_err("it is not known"), NoAdvice::TooShort);
    }
    assert_eq!(of_rows(&[20.0], &[]).expect_err("there is none"), NoAdvice::NothingSeen);
}

#[test]
fn a_rate_at_which_nothing_past_was_seen_still_counts_for_now() {
    let rows = [
        row(5.0, 1, Choice::RunForward, [1.0, 0.0, 0.0]),
        row(20.0, 1, Choice::RunForward, [9.0, 0.0, 0.0]),
        row(20.0, 1, Choice::Linear, [9.0, 0.0, 0.0]),
    ];
    let advice = of_rows(&[5.0, 20.0], &rows).expect("everything is known");
    let rate = |pick: &Option<Pick>| pick.as_ref().map(|it| it.send_rate_hz);
    assert_eq!((rate(&advice.now), rate(&advice.then)), (Some(5.0), Some(20.0)));
    assert_eq!((advice.by_send_rate.len(), &advice.by_send_rate[0].then), (2, &None));
    let advice = of_rows(&[5.0, 20.0], &rows[..2]).expect("now is known");
    assert_eq!((rate(&advice.now), rate(&advice.then)), (Some(5.0), None));
    let text = advice.markdown(&line(8.0, 1.0));
    assert!(
        text.contains("**Use run-forward")
            && text.contains("No method of the past showed anything"),
        "{text}"
    );
}

#[test]
fn what_is_absent_more_often_is_not_taken_and_said() {
    let rows = [
        row(20.0, 1, Choice::RunForward, [3.0, 0.0, 1000.0]),
        row(20.0, 1, Choice::Kalman, [1.0, 0.0, 1000.0 + 1.1 * ABSENT_MAX]),
        row(20.0, 1, Choice::FirLinear, [4.0, 0.0, 0.0]),
    ];
    let advice = of_rows(&[20.0], &rows).expect("everything is known");
    let now = advice.now.as_ref().expect("everything is known");
    assert_eq!((&*now.method, &*now.too_often_absent), ("run-forward", &["kalman".to_owned()][..]));
    let text = advice.markdown(&line(8.0, 1.0));
    assert!(
        text.contains("least absent method: kalman.")
            && text.contains("absent in 1000 of a million"),
        "{text}"
    );
    // A rate neither.
    let rows = [
        row(5.0, 1, Choice::RunForward, [3.0, 0.0, 1.1 * ABSENT_MAX]),
        row(20.0, 1, Choice::RunForward, [3.0, 0.0, 0.0]),
    ];
    let advice = of_rows(&[5.0, 20.0], &rows).expect("everything is known");
    assert_eq!(advice.now.expect("everything is known").send_rate_hz, 20.0);
}

#[test]
fn of_what_is_as_good_that_without_delay_is_taken() {
    let question = AdviceQuestion {
        repeats: 1,
        rates: vec![10.0],
        ..question("rock", line(8.0, 0.0), "cable")
    };
    let advice = answer(&question).expect("it is there");
    let now = advice.now.as_ref().expect("it is there");
    assert_eq!((now.delay_ms, now.visual_px, &now.next), (0.0, 0.0, &None));
    assert!(now.as_good.len() > 5 && now.as_good.contains(&"adaptive".into()), "{now:?}");
    let text = advice.markdown(&question.subject.recording);
    assert!(
        text.contains("do exactly as well. None is worse.") && !text.contains("no other"),
        "{text}"
    );
}

#[test]
fn what_chance_alone_could_make_is_told_apart() {
    // On the same seeds, the second is worse on each, the third on half of them.
    let mut rows = Vec::new();
    for seed in 1..=8 {
        let luck = seed as f64;
        rows.push(row(20.0, seed, Choice::Kalman, [10.0 + luck, 0.0, 0.0]));
        rows.push(row(20.0, seed, Choice::RunForward, [10.5 + luck + 0.01 * luck, 0.0, 0.0]));
        let more = if seed % 2 == 0 { 3.0 } else { -2.0 };
        rows.push(row(20.0, seed, Choice::FirLinear, [10.1 + luck + more, 0.0, 0.0]));
    }
    let advice = of_rows(&[20.0], &rows).expect("everything is known");
    let now = advice.now.as_ref().expect("everything is known");
    assert_eq!((&*now.method, &*now.by_chance), ("kalman", &["fir-linear".to_owned()][..]));
    assert_eq!((now.visual_px, now.visual_px_quartiles), (14.0, [12.0, 16.0]));
    let text = advice.markdown(&line(8.0, 1.0));
    assert!(text.contains("The difference to fir-linear could be chance."), "{text}");
    // A lower rate that is about as good is enough, despite an outage on one of its seeds.
    for (more, rate) in [(1.0, 5.0), (2.0, 20.0)] {
        let mut rows = rows.clone();
        rows.extend((1..=8).map(|seed| {
            let outage = if seed == 8 { 1e4 } else { 0.0 };
            row(5.0, seed, Choice::Kalman, [10.0 + more + seed as f64 + outage, 0.0, 0.0])
        }));
        let advice = of_rows(&[5.0, 20.0], &rows).expect("everything is known");
        assert_eq!(advice.now.expect("everything is known").send_rate_hz, rate, "{more} more");
    }
}

#[test]
fn a_longer_delay_is_advised_where_it_is_clearly_better_and_no_shorter_one_would_do() {
    for (error, shorter, longer) in [(10.0, 60.0, true), (49.0, 60.0, false), (10.0, 10.0, false)] {
        let rows = [row(20.0, 1, Choice::Linear, [50.0, 0.0, 0.0])];
        let question = question("line", line(8.0, 1.0), "cable");
        let question = AdviceQuestion { rates: vec![20.0], pixel: 1.0, ..question };
        let then = rows[0].delay_ms;
        let delays: Vec<_> =
            question.delay_plans(&rows).into_iter().map(|plan| plan.delay).collect();
        let delay_ms = |delay: &DelayRule| match delay {
            DelayRule::Fixed(delay) => delay.as_ms(),
            DelayRule::Steered => panic!("it is to be fixed"),
        };
        let at = |delay: &DelayRule| {
            let error = if delay_ms(delay) > 1.1 * then { error } else { shorter };
            let mut row = row(20.0, 1, Choice::Linear, [error, 0.0, 0.0]);
            row.scores.missing_per_million = 0.0;
            vec![row]
        };
        let by_delay: Vec<_> = delays.iter().map(at).collect();
        let advice = question.answer(&rows, &by_delay).expect("everything is known");
        let first = delays.iter().map(delay_ms).find(|delay| *delay > 1.1 * then);
        assert!(first.is_some() && delay_ms(&delays[0]) < 0.9 * then);
        assert_eq!(advice.delay_better_ms, first.filter(|_| longer), "{error} {shorter}");
        assert_eq!(advice.delay_enough_ms.is_some(), shorter < 50.0);
    }
}

#[test]
fn what_is_to_be_where_it_is_now_is_no_method_of_the_past_however_often_it_is_elsewhere() {
    let points = (0..1200).map(|step: u32| {
        let (time, segment) = (f64::from(step) / 60.0, step / 180);
        Point { time, x: time.sin() + 50.0 * f64::from(segment), y: time.cos(), segment }
    });
    let recording = Recording::of_points(&points.collect::<Vec<_>>()).expect("a path");
    let question = question("hops", recording, "delay=100ms");
    let advice = answer(&AdviceQuestion { repeats: 2, rates: vec![20.0], ..question });
    let advice = advice.expect("the motion is shown");
    let [now, then] = [advice.now, advice.then].map(|it| it.expect("the motion is shown"));
    assert!(now.absent_per_million > ABSENT_MAX, "{now:?}");
    assert!((now.delay_ms, now.too_often_absent.len()) == (0.0, 0) && then.delay_ms > 0.0);
}

#[test]
fn where_nothing_works_that_is_said() {
    let circle = |step: u32| {
        let time = f64::from(step) / 30.0;
        Point { time, x: 100.0 * (2.0 * time).cos(), y: 100.0 * (2.0 * time).sin(), segment: 0 }
    };
    let points: Vec<_> = (0..900).map(circle).collect();
    let recording = Recording::of_points(&points).expect("a circle");
    let question = question("circle", recording, "delay=5s");
    let question = AdviceQuestion { repeats: 2, rates: vec![20.0], ..question };
    let advice = answer(&question).expect("it is seen, late");
    let now = advice.now.as_ref().expect("the motion is shown");
    assert!(!now.helps || now.missing_per_million > 9e5, "{now:?}");
    let text = advice.markdown(&question.subject.recording);
    assert!(text.contains("of the frames it lacked data"), "{text}");
    assert!(text.contains("the longest that the client uses"), "{text}");
}

#[test]
fn each_rate_is_measured_for_as_long() {
    let day = question("day", line(86_000.0, 1.0), "cable");
    let plan = day.plan();
    let secs = |cell| plan.cell(cell).setup.bounded().secs;
    let longest = LabSetup::longest(1.0 / 60.0, 1.0 / 60.0);
    assert!(longest < 86_000.0);
    assert!((0..plan.cells()).all(|cell| secs(cell) == longest));
    let mut advice = ask(Formula::Smooth, "lan");
    assert!(advice.markdown(&Formula::Smooth.record(8.0)).contains("\n\n8.000 s; a pixel"));
    advice.secs = longest;
    let text = advice.markdown(&line(86_000.0, 1.0));
    assert!(text.contains("The first 16667 s of 86000, at each send rate; "), "{text}");
}

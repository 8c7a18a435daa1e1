//! When and where entities are shown.

use super::*;
use crate::fields::Record;
use crate::game::{Ahead, Inputs, World};
use crate::motion::method::Timeline;
use crate::record;

record! {
    struct Nothing { none: bool = Field::count(1) }
}

record! {
    struct Ball {
        x: f32 = Field::centred(16, 8).moved_by("vx").snap_beyond(3.0),
        vx: f32 = Field::centred(14, 8),
        jumps: u8 = Field::cut(8),
        colour: u8 = Field::count(4),
    }
}

/// Balls that no player moves.
#[derive(Debug)]
struct Balls;

impl Game for Balls {
    const NAME: &'static str = "balls";
    const RULES_VERSION: u32 = 1;
    type Input = Nothing;
    type Entity = Ball;
    type Memory = ();

    fn new(_rates: Rates, _seed: u64) -> Self {
        Self
    }
    fn join(&self, _world: &mut World<Self>, _player: PlayerId) {}
    fn step(&self, _world: &mut World<Self>, _inputs: &Inputs<Nothing>) {}
    fn predict(&self, _: &mut Entities<Ball>, _: EntityId, _: &Nothing, _: Ahead<'_>) {}
    fn repeat(last: &Nothing, _missed: u64) -> Nothing {
        *last
    }
}

/// A presenter that receives states of ball 0, at 100 ticks per second.
struct Fixture(Presenter<Balls>);

const RATES: Rates = Rates { tick_hz: 100, snapshot_hz: 50 };

/// Describes a state that arrives 50 ms after its tick.
fn heard(tick: u64) -> StateArrival<'static> {
    StateArrival { index: 0, tick: Tick(tick), arrival: tick as f64 / 100.0 + 0.05, early: &[] }
}

impl Fixture {
    fn new() -> Self {
        Self(Presenter::new(RATES))
    }

    /// Handles a state that arrives 50 ms after its time.
    fn state(&mut self, tick: u64, generation: u8, ball: Ball) {
        let state = EntityState { generation, kind: 0, owner: None, packed: Record::pack(&ball) };
        self.0.handle(&Balls, heard(tick), Some(&state));
    }

    /// Handles a state that follows from silence.
    fn unsaid(&mut self, tick: u64, generation: u8, ball: Ball) {
        let state = EntityState { generation, kind: 0, owner: None, packed: Record::pack(&ball) };
        self.0.handle_unsaid(&Balls, heard(tick), &state);
    }

    fn gone(&mut self, tick: u64) {
        self.0.handle(&Balls, heard(tick), None);
    }

    /// Returns the picture with a delay of 0.1 s.
    fn shown(&mut self, now: f64) -> (Option<Ball>, usize) {
        let at = Moment { now, past: now - 0.1, interval: 0.02 };
        let mut shown = Entities::default();
        let starved = self.0.show(&Balls, at, 0.01, &mut shown);
        (shown.at(0).map(|slot| slot.entity), starved)
    }

    fn x(&mut self, now: f64) -> Option<f32> {
        self.shown(now).0.map(|ball| ball.x)
    }
}

fn ball(x: f32) -> Ball {
    Ball { x, vx: 10.0, jumps: 0, colour: 1 }
}

#[test]
fn things_are_there_from_their_first_state_until_they_are_gone() {
    let mut told = Fixture::new();
    told.state(10, 0, ball(1.0));
    told.state(12, 0, ball(1.2));
    told.gone(14);
    assert_eq!(told.x(0.19), None, "before its time");
    assert_eq!(told.x(0.20), Some(1.0));
    assert!(told.x(0.21).is_some_and(|x| (x - 1.1).abs() < 0.01));
    let (last, starved) = told.shown(0.235);
    assert!(last.is_some() && starved == 0, "nothing is missing");
    assert_eq!(told.x(0.2401), None, "it lingers");
    told.x(3.0);
    assert!(told.0.slots.is_empty(), "it is remembered forever");
}

#[test]
fn nothing_slides_across_a_teleport_or_into_another_life() {
    for (jumps, generation) in [(1, 0), (0, 1)] {
        let mut told = Fixture::new();
        told.state(10, 0, ball(1.0));
        told.state(12, generation, Ball { jumps, ..ball(30.0) });
        told.state(14, generation, Ball { jumps, ..ball(30.2) });
        for hundredth in 20..40 {
            let now = f64::from(hundredth) / 100.0 + 0.001;
            let x = told.x(now).expect("it is there");
            let before = now < 0.22;
            assert!(if before { x < 1.3 } else { x >= 29.9 }, "at {x} at {now}");
        }
    }
}

#[test]
fn what_was_overtaken_finds_its_place_or_is_left_out() {
    let mut told = Fixture::new();
    told.state(10, 0, ball(1.0));
    told.state(14, 0, ball(1.4));
    told.state(12, 0, ball(1.3)); // Late, and part of this track.
    told.state(16, 0, Ball { jumps: 1, ..ball(9.0) });
    told.state(13, 0, Ball { jumps: 2, ..ball(-9.0) }); // Late, and part of no known track.
    told.gone(11); // Also late: it appears later.
    assert!(told.x(0.22).is_some_and(|x| (x - 1.3).abs() < 0.01));
    assert!(told.x(0.25).is_some_and(|x| (1.3..1.6).contains(&x)));
    assert!(told.x(0.26).is_some_and(|x| (x - 9.0).abs() < 0.01));
}

#[test]
fn steps_come_with_their_states_and_not_before() {
    let mut told = Fixture::new();
    told.state(10, 0, ball(1.0));
    told.state(12, 0, Ball { colour: 2, ..ball(1.2) });
    assert_eq!(told.shown(0.219).0.map(|ball| ball.colour), Some(1));
    assert_eq!(told.shown(0.221).0.map(|ball| ball.colour), Some(2));
}

#[test]
fn another_method_takes_over_where_the_last_one_left_it() {
    let mut told = Fixture::new();
    for tick in (0..100).step_by(2) {
        told.state(tick, 0, ball(tick as f32 / 10.0));
    }
    let before = told.x(0.95).expect("it is there");
    told.0.set_ghost(Some(Choice::Linear));
    let present = Choice::ALL.iter().find(|choice| choice.timeline() == Timeline::Present);
    let present = present.copied().unwrap_or(Choice::Hermite);
    told.0.choose(0, present);
    let mut last = told.x(0.951).expect("it is there");
    assert!((last - before).abs() < 0.15, "from {before} to {last}");
    for ms in 952..1100 {
        let next = told.x(f64::from(ms) / 1000.0).expect("it is there");
        assert!((next - last).abs() < 0.15, "from {last} to {next} at {ms}");
        last = next;
    }
    // The newest state is from 0.98 s.
    let end = if present.timeline() == Timeline::Present { 10.99 } else { 9.8 };
    assert!((last - end).abs() < 0.1, "{last}, not {end}");
    let at = Moment { now: 1.099, past: 0.999, interval: 0.02 };
    let traces = told.0.traces(&Balls, at);
    let ghost = traces[0].ghost.expect("a ghost").entity.x;
    // Linear interpolation stops at the newest state.
    assert!((ghost - 9.8).abs() < 0.1, "{ghost}");
}

#[test]
fn an_error_is_learnt_when_the_truth_comes() {
    let mut told = Fixture::new();
    told.state(10, 0, ball(1.0));
    let at = Moment { now: 0.3, past: 0.2, interval: 0.02 };
    assert!(told.0.traces(&Balls, at).is_empty(), "nothing is shown yet");
    // Shown standing, since nothing newer is known; then it turns out that it moved.
    for hundredth in 20..30 {
        told.x(f64::from(hundredth) / 100.0);
    }
    told.state(25, 0, ball(2.5));
    let traces = told.0.traces(&Balls, at);
    let (shown, truth) = traces[0].late_truth.expect("it is known by now");
    assert!((shown.entity.x - 1.0).abs() < 0.01 && (truth.entity.x - 2.5).abs() < 0.01);
}

#[test]
fn teleports_without_end_are_bounded() {
    let mut told = Fixture::new();
    for tick in 0..1000_u16 {
        told.state(u64::from(tick), 0, Ball { jumps: tick as u8, ..ball(1.0) });
    }
    assert!(told.0.slots[&0].tracks.len() <= ENTITY_TRACKS_MAX);
    // Nor do long tracks accumulate.
    for tick in 1000..3000_u16 {
        let jumps = (tick / 70) as u8;
        told.state(u64::from(tick), 0, Ball { jumps, ..ball(1.0) });
        let tracks = &told.0.slots[&0].tracks;
        let knots: usize = tracks.iter().map(|track| track.known.knots().len()).sum();
        assert!(knots <= 2 * KNOTS_MAX, "{knots}");
    }
}

#[test]
fn what_is_late_is_shown_where_it_was_in_its_own_time() {
    record! {
        struct Runner {
            x: f32 = Field::centred(16, 4),
            age: u8 = Field::count(6).age(),
        }
    }
    let kind = Runner::FIELDS;
    let shape = Arc::new(Shape::new(kind));
    let shown = ShownKind { choice: Choice::Linear, shape, ages: true };
    let mut track = SlotTracks::default();
    // One metre per tick; from 12 to 16 its inputs are late.
    for (tick, x, age) in
        [(10, 10.0, 0), (12, 11.0, 1), (14, 11.0, 3), (16, 11.0, 5), (18, 18.0, 0)]
    {
        let packed = Record::pack(&Runner { x, age });
        let state = EntityState { generation: 0, kind: 0, owner: None, packed };
        let time = f64::from(tick - age_of(kind, &packed) as i32) / 100.0;
        let values = unpack_values(kind, &packed);
        let (said, arrival) = (true, time + 0.05);
        let arrived = Arrived { state: &state, said, time, arrival, values, early: None };
        track.push(&arrived, &shown, &crate::motion::NoRules);
    }
    for tick in 10..18 {
        let past = f64::from(tick) / 100.0 + 0.005;
        let at = Moment { now: past + 0.1, past, interval: 0.02 };
        let track = track.current(at).expect("it is there");
        let (values, starved) = track.show(at, 0.01, 1, &crate::motion::NoRules);
        assert!((values[0] - (tick as f64 + 0.5)).abs() < 0.01, "{} at {tick}", values[0]);
        assert!(!starved);
    }
}

#[test]
fn nothing_jumps_however_often_the_method_changes() {
    let mut told = Fixture::new();
    let mut last = None;
    for ms in (0..1500_u32).step_by(10) {
        if ms % 20 == 0 && ms >= 50 {
            let tick = u64::from(ms / 10 - 4);
            told.state(tick, 0, ball(tick as f32 / 10.0));
        }
        if ms % 30 == 0 && ms > 300 {
            let present = ms % 60 == 0;
            told.0.choose(0, if present { Choice::DeadReckoning } else { Choice::Linear });
        }
        let next = told.x(f64::from(ms) / 1000.0);
        if let (Some(last), Some(next)) = (last, next) {
            // A tenth of its own motion, plus what it catches up.
            let by: f32 = next - last;
            assert!(by.abs() < 0.3, "by {by} at {ms}");
        }
        last = next;
    }
}

#[test]
fn what_is_handed_over_while_it_slides_does_not_jump() {
    let mut told = Fixture::new();
    for tick in (0..200).step_by(2) {
        told.state(tick, 0, ball(tick as f32 / 10.0));
    }
    let id = EntityId { index: 0, generation: 0 };
    told.x(0.95);
    for (now, at) in [(0.96, 8.0), (0.98, 8.5)] {
        told.0.hand_over(id, &Record::values(&ball(at)));
        let x = told.x(now).expect("it is there");
        assert!((x - at).abs() < 0.01, "handed over at {at}, shown at {x}");
    }
    // The method is changed in the same frame.
    told.0.hand_over(id, &Record::values(&ball(8.0)));
    told.0.choose(0, Choice::Hermite);
    let x = told.x(1.0).expect("it is there");
    assert!((x - 8.0).abs() < 0.01, "handed over at 8, shown at {x}");
}

#[test]
fn what_was_drawn_before_the_clock_was_stepped_back_is_not_taken_over() {
    let mut told = Fixture::new();
    for tick in (0..100).step_by(2) {
        told.state(tick, 0, ball(tick as f32 / 50.0));
    }
    told.x(1.0);
    let before = told.x(0.5).expect("it is there");
    told.0.choose(0, Choice::Hermite);
    let x = told.x(0.5).expect("it is there");
    assert!((x - before).abs() < 0.01, "at {before}, then at {x}");
}

#[test]
fn stragglers_raise_nobody_from_the_dead() {
    let mut told = Fixture::new();
    told.state(10, 0, ball(1.0));
    told.gone(14);
    told.x(1.0);
    told.state(12, 0, ball(1.2));
    assert_eq!(told.x(1.1), None, "after its shown end");
    let mut told = Fixture::new();
    told.gone(14);
    told.state(12, 0, ball(1.2));
    assert_eq!(told.x(1.1), None, "when the removal arrived first");
    let mut told = Fixture::new();
    told.state(10, 0, ball(1.0));
    told.gone(14);
    told.0.forget(EntityId { index: 0, generation: 0 });
    told.state(12, 0, ball(1.2));
    assert_eq!(told.x(0.3), None, "after its shown end by other means");
}

#[test]
fn silence_shows_a_thing_on_its_way_until_something_is_said() {
    let begin = || {
        let mut told = Fixture::new();
        told.state(10, 0, ball(1.0));
        for tick in [12, 14, 16] {
            told.unsaid(tick, 0, ball(tick as f32 / 10.0));
        }
        told
    };
    let mut told = begin();
    let (shown, starved) = told.shown(0.25);
    assert!(shown.is_some_and(|ball| (ball.x - 1.5).abs() < 0.01), "{shown:?}");
    assert_eq!(starved, 0, "nothing is missing");
    // A received state of a tick takes precedence over one that follows from silence.
    let mut told = begin();
    told.state(14, 0, ball(1.0));
    told.unsaid(14, 0, ball(1.4));
    assert_eq!(told.x(0.24), Some(1.0));
    // A removal ends it even if silence overtook the packet.
    let mut told = begin();
    told.gone(12);
    assert!(told.x(0.219).is_some());
    assert_eq!(told.x(0.2201), None);
    // So does the next entity in the slot, and a teleport.
    for (generation, jumps) in [(1, 0), (0, 1)] {
        let mut told = begin();
        told.state(13, generation, Ball { jumps, ..ball(30.0) });
        told.unsaid(18, generation, Ball { jumps, ..ball(30.5) });
        assert!(told.x(0.229).is_some_and(|x| x < 1.5));
        assert!(told.x(0.231).is_some_and(|x| x >= 30.0));
        assert!(told.x(0.25).is_some_and(|x| x > 30.1));
    }
}

//! Fractions of ticks: the same gesture has the same result at any frame rate.
//!
//! A gesture is what a player does at given times, each of them the time of a frame: a program
//! knows no more about the time of a press. The comparison is `Session::press`, which applies the
//! input of the frame in which a tick is due to that tick.

use std::cell::RefCell;
use std::rc::Rc;

use glam::Vec2;
use phaselock::client::{Client, Picture, Session, SessionConfig, SessionInput};
use phaselock::game::{Entities, Subtick};
use phaselock::games::Games;
use phaselock::identity::Credentials;
use phaselock::ids::PlayerId;
use phaselock::link::LinkConfig;
use phaselock::motion::interpolate::TickTime;
use phaselock::physics::{direction, turns};
use phaselock::random::Random;
use phaselock::rewind::{Adjusted, Rewound};
use phaselock::server::{AnyRoom, RoomConfig};
use phaselock::time::{LocalTime, Micros, Rates, ServerTime, Tick};
use phaselock_games::platformer::movement::{CUT_GRAVITY, JUMP_SPEED, RISE_GRAVITY, RUN_SPEED};
use phaselock_games::platformer::{self, Platformer};
use phaselock_games::skirmish::{Command, Piece, players};
use phaselock_testing::{Sim, room_config};

use crate::games::range::{FIELD, Range, STAND, Screen, on_screen};

/// Frame rates of common displays, and a higher one.
const RATES: [u32; 8] = [30, 60, 75, 120, 144, 165, 240, 500];
const SHOOTER: PlayerId = PlayerId(0);
const TARGET: PlayerId = PlayerId(1);
/// When the trigger is pulled, before the phase.
const PULLED: Micros = Micros::from_ms(5000);

/// What happens when a trigger is pulled.
#[derive(Clone, Copy, Debug)]
struct Gesture {
    name: &'static str,
    /// Turns per second of the aim.
    sweep: f32,
    /// Directions in which the shooter and the target run.
    runs: [i16; 2],
}

impl Gesture {
    /// The aim at a time since the trigger was pulled.
    fn aim(&self, since: Micros) -> f32 {
        (turns(FIELD - STAND) + self.sweep * since.as_secs() as f32).rem_euclid(1.0)
    }
}

const GESTURES: [Gesture; 3] = [
    Gesture { name: "shot while the target runs", sweep: 0.0, runs: [0, 1] },
    Gesture { name: "shot while the aim sweeps", sweep: 0.5, runs: [0, 0] },
    Gesture { name: "all at once, and the shooter runs", sweep: 0.5, runs: [-1, 1] },
];

/// How a program reads its controls.
#[derive(Clone, Copy, Debug)]
struct Display {
    rate: u32,
    /// Time of the press after [`PULLED`], which shifts the frames against the ticks.
    phase: Micros,
    whole_ticks: bool,
}

fn position(of: &Entities<Piece>, player: PlayerId) -> Vec2 {
    let slot = players(of).find(|slot| slot.owner == Some(player)).expect("it is there");
    slot.entity.position()
}

/// The truth between two ticks.
fn truth(sim: &Sim<Range>, player: PlayerId, at: TickTime) -> Vec2 {
    let of = |tick| position(&sim.truth[&tick], player);
    of(at.tick).lerp(of(at.tick.plus(1)), at.fraction)
}

/// A world in which a gesture is made.
struct Stage {
    sim: Sim<Range>,
    screen: Screen,
    gesture: Gesture,
    pulled: LocalTime,
}

impl Stage {
    fn new(gesture: Gesture, display: Display, rates: Rates) -> Self {
        let pulled = LocalTime(0) + PULLED + display.phase;
        let mut sim = Sim::<Range>::with(RoomConfig { rates, ..room_config(7, 0) });
        sim.frame = Micros(1_000_000 / i64::from(display.rate));
        sim.first_frame = Micros(pulled.0.rem_euclid(sim.frame.0));
        let screen = Screen::default();
        let shooter = sim.join(LinkConfig::delayed(30, 0), Box::new(|_, _| Command::default()));
        sim.clients[shooter].session.record();
        sim.clients[shooter].screen = Some(Rc::clone(&screen));
        sim.clients[shooter].whole_ticks = display.whole_ticks;
        sim.clients[shooter].frames = Some(Box::new(move |_, now| {
            let since = now - pulled;
            let right = if since > Micros::from_ms(-300) { gesture.runs[0] } else { 0 };
            let fire = since >= Micros::ZERO && since < Micros::from_ms(120);
            Command { right, aim: gesture.aim(since), fire, ..Command::default() }
        }));
        sim.run(0.5);
        let start = rates.tick_at(ServerTime(PULLED.0 - 500_000));
        let run = move |tick: Tick| if tick > start { gesture.runs[1] } else { 0 };
        let press =
            move |_: &Client<Range>, tick| Command { right: run(tick), ..Command::default() };
        sim.join(LinkConfig::delayed(5, 0), Box::new(press));
        Self { sim, screen, gesture, pulled }
    }

    /// Runs until the frame in which the trigger is pulled. Returns by how many metres its ray
    /// passes beside the target on the screen.
    fn pull(&mut self) -> f32 {
        self.sim.run((self.pulled - self.sim.now).as_secs());
        let shown = [SHOOTER, TARGET].map(|it| on_screen(&self.screen, it).expect("it is shown"));
        while self.sim.room.poll_rewound().is_some() {}
        direction(self.gesture.aim(Micros::ZERO)).perp_dot(shown[1] - shown[0])
    }

    /// Returns the shot, and by how many metres it passes beside the target on the server.
    fn shot(&mut self) -> (Rewound, f32) {
        self.sim.run(0.5);
        let shot = self.sim.room.poll_rewound().expect("it fired");
        let missed = shot.along.perp_dot(truth(&self.sim, TARGET, shot.view.at) - shot.from);
        (shot, missed)
    }
}

/// Returns by how many millimetres the server's ray passes beside where the frame in which the
/// trigger was pulled showed it.
fn off_mm(gesture: Gesture, display: Display, rates: Rates) -> f32 {
    let mut stage = Stage::new(gesture, display, rates);
    let shown = stage.pull();
    let (_, judged) = stage.shot();
    assert_eq!(stage.sim.clients[0].core().stats().mispredictions, 0, "{display:?}");
    (judged - shown) * 1000.0
}

/// Returns the least and the greatest result of a gesture at a rate, over the phases.
fn range_of(rate: u32, whole_ticks: bool, measure: impl Fn(Display) -> f32) -> [f32; 2] {
    let phases = (0..6).map(|n| Micros(n * 2778 + 139));
    let results = phases.map(|phase| measure(Display { rate, phase, whole_ticks }));
    results.fold([f32::MAX, f32::MIN], |[least, most], it| [least.min(it), most.max(it)])
}

/// Prints the results of a gesture at all rates, and returns the spreads of both methods.
fn compare(name: &str, measure: impl Fn(Display) -> f32) -> [f32; 2] {
    eprintln!("{name}");
    [true, false].map(|whole_ticks| {
        let ranges = RATES.map(|rate| (rate, range_of(rate, whole_ticks, &measure)));
        let method = if whole_ticks { "ticks" } else { "subticks" };
        let row = ranges.map(|(rate, [least, most])| format!("{rate}: {least:.1}..{most:.1}"));
        let least = ranges.iter().map(|(_, [least, _])| *least).fold(f32::MAX, f32::min);
        let most = ranges.iter().map(|(_, [_, most])| *most).fold(f32::MIN, f32::max);
        eprintln!("  {method}: {:.1} mm; {}", most - least, row.join(", "));
        most - least
    })
}

#[test]
fn a_shot_counts_when_the_trigger_is_pulled_at_any_frame_rate() {
    for gesture in GESTURES {
        let measure = |display| off_mm(gesture, display, Rates::DEFAULT);
        let [ticks, subticks] = compare(gesture.name, measure);
        assert!(subticks * 10.0 < ticks, "{}: {subticks} of {ticks} mm", gesture.name);
    }
}

#[test]
fn a_shot_counts_between_long_ticks_too() {
    let rates = Rates { tick_hz: 20, snapshot_hz: 20 };
    for rate in [30, 144] {
        let [least, most] = range_of(rate, false, |display| off_mm(GESTURES[2], display, rates));
        assert!(most - least < 15.0, "{least} to {most} mm at {rate} Hz");
    }
}

#[test]
fn a_forged_instant_is_one_of_the_last_two_ticks() {
    let display = Display { rate: 144, phase: Micros(139), whole_ticks: false };
    let mut origins = Vec::new();
    for parts in [0_u8, 40, 64, 127, 255] {
        let mut stage = Stage::new(GESTURES[2], display, Rates::DEFAULT);
        stage.sim.clients[0].forge = Some(Box::new(move |packet, _| {
            for pressed in &mut packet.inputs {
                pressed.subtick = Some(Subtick::new(parts));
            }
        }));
        stage.pull();
        let (shot, _) = stage.shot();
        assert_eq!(shot.view.adjusted, Adjusted::No, "the view time does not depend on it");
        let at = |back| {
            let at = TickTime { tick: shot.tick.minus(back), fraction: 0.0 };
            truth(&stage.sim, SHOOTER, at).x
        };
        // It runs to the left.
        assert!((at(0) - 0.01..at(2) + 0.01).contains(&shot.from.x), "{shot:?}");
        origins.push(shot.from.x);
        let stats = stage.sim.clients[0].core().stats();
        assert_eq!((stats.mispredictions, stats.refused), (0, 0));
    }
    assert!(origins.is_sorted() && origins[3] - origins[0] > 0.2, "{origins:?}");
    assert_eq!(origins[3], origins[4], "there is no earlier one");
}

#[test]
fn recorded_frames_are_replayed_with_their_instants() {
    let display = Display { rate: 144, phase: Micros(4000), whole_ticks: false };
    let mut stage = Stage::new(GESTURES[2], display, Rates::DEFAULT);
    // The connection is made at once, before the recording starts.
    let mut recorded = vec![SessionInput::Connected(LocalTime(0), Credentials::default())];
    stage.sim.run_each(6.0, |sim| {
        recorded.extend(std::iter::from_fn(|| sim.clients[0].session.poll_input()));
    });
    let original = stage.sim.clients[0].core();
    let replayed = |inputs: &[SessionInput]| {
        let config = SessionConfig::new(Games::new().with::<Range>(), "client 0");
        let mut session = Session::new(config, LocalTime(0));
        inputs.iter().for_each(|input| session.replay(input));
        session
    };
    let session = replayed(&recorded);
    let again = session.client_of::<Range>().expect("it plays");
    assert!(again.shown().iter().eq(original.shown().iter()));
    assert_eq!(again.stats().tx_bytes, original.stats().tx_bytes);
    recorded.retain(|input| !matches!(input, SessionInput::PressFrame(..)));
    let idle = replayed(&recorded);
    let idle = idle.client_of::<Range>().expect("it plays");
    assert!(!idle.shown().iter().eq(original.shown().iter()), "the frames matter");
}

/// When a key goes down, before the phase: during a race, once the lead has settled. While the lead
/// changes, prediction time runs a little slower or faster than the keys.
const STARTED: Micros = Micros::from_ms(12_500);

/// A player of the platformer whose keys are a function of the time since a moment.
struct Runner {
    sim: Sim<Platformer>,
    screen: Rc<RefCell<Option<Picture<Platformer>>>>,
    pressed: LocalTime,
}

impl Runner {
    fn new(display: Display, keys: fn(Micros) -> platformer::Command) -> Self {
        Self::delayed(display, keys, 0)
    }

    /// Creates a player with an input delay in ticks.
    fn delayed(display: Display, keys: fn(Micros) -> platformer::Command, delay: u8) -> Self {
        let pressed = LocalTime(0) + STARTED + display.phase;
        let mut sim = Sim::<Platformer>::new(7, 0);
        sim.frame = Micros(1_000_000 / i64::from(display.rate));
        sim.first_frame = Micros(pressed.0.rem_euclid(sim.frame.0));
        let screen = Rc::new(RefCell::new(None));
        let press = Box::new(|_: &Client<Platformer>, _| platformer::Command::default());
        let client = sim.join(LinkConfig::delayed(30, 0), press);
        sim.clients[client].session.set_input_delay(delay);
        sim.clients[client].screen = Some(Rc::clone(&screen));
        sim.clients[client].whole_ticks = display.whole_ticks;
        sim.clients[client].frames = Some(Box::new(move |_, now| keys(now - pressed)));
        sim.run((pressed - sim.now).as_secs());
        Self { sim, screen, pressed }
    }

    /// The player on the screen.
    fn shown(&self) -> platformer::Player {
        let screen = self.screen.borrow();
        let entities = &screen.as_ref().expect("there is a picture").entities;
        *platformer::player_of(entities, SHOOTER).expect("it is shown")
    }

    /// Returns the server's states since the moment.
    fn states(&self) -> Vec<platformer::Player> {
        let since = Rates::DEFAULT.tick_at(ServerTime(self.pressed.0));
        let states = self.sim.truth.range(since..).map(|(_, entities)| entities);
        states.map(|it| *platformer::player_of(it, SHOOTER).expect("it is there")).collect()
    }
}

/// Approximate time for which the jump key is held while running.
const JUMPS: Micros = Micros::from_ms(120);

fn leap(since: Micros) -> platformer::Command {
    let right = i16::from(since > Micros::from_ms(-300));
    platformer::Command { right, jump: since >= Micros::ZERO && since < JUMPS }
}

/// Returns the seconds for which a key is held if it is released in the first frame after a time.
fn held_secs(display: Display, time: Micros) -> f32 {
    let frame = 1_000_000 / i64::from(display.rate);
    Micros((time.0 + frame - 1) / frame * frame).as_secs() as f32
}

/// Returns by how many millimetres a player takes off beside where the frame in which the jump key
/// went down showed it, and by how many it jumps higher than the frames of its key ask for.
fn leap_mm(display: Display) -> [f32; 2] {
    let mut runner = Runner::new(display, leap);
    let shown = runner.shown();
    runner.sim.run(0.6);
    let states = runner.states();
    let first = states.iter().find(|it| it.vy < -5.0).expect("it jumps");
    let secs = (first.vy + JUMP_SPEED) / RISE_GRAVITY;
    let took_off = first.x - first.vx * secs;
    // After its key was released.
    let last = states.iter().rfind(|it| it.vy < 0.0).expect("it rises");
    // From the ground.
    let height = states[0].y - (last.y - last.vy * last.vy / (2.0 * CUT_GRAVITY));
    let held = held_secs(display, JUMPS);
    let speed = JUMP_SPEED - RISE_GRAVITY * held;
    let asked = 0.5 * (JUMP_SPEED + speed) * held + speed * speed / (2.0 * CUT_GRAVITY);
    assert_eq!(runner.sim.clients[0].core().stats().mispredictions, 0, "{display:?}");
    [took_off - shown.x, height - asked].map(|metres| metres * 1000.0)
}

/// Runs for about a tenth of a second. Returns by how many millimetres it gets farther than the
/// frames of its key ask for.
fn tap_mm(display: Display) -> f32 {
    const RUNS: Micros = Micros::from_ms(100);
    let mut runner = Runner::new(display, |since| {
        let right = since >= Micros::ZERO && since < RUNS;
        platformer::Command { right: right.into(), jump: false }
    });
    runner.sim.run(1.0);
    let states = runner.states();
    let held = held_secs(display, RUNS);
    let speed = (60.0 * held).min(RUN_SPEED);
    let asked = speed * held - speed * speed / 120.0 + speed * speed / 140.0;
    (states[states.len() - 1].x - states[0].x - asked) * 1000.0
}

#[test]
fn a_jump_starts_and_ends_with_its_key_at_any_frame_rate() {
    let spreads = [
        compare("jump: where it starts", |display| leap_mm(display)[0]),
        compare("jump: its height", |display| leap_mm(display)[1]),
        compare("run: its length", tap_mm),
    ];
    for [ticks, subticks] in spreads {
        assert!(subticks * 10.0 < ticks, "{subticks} of {ticks} mm");
    }
}

#[test]
fn a_jump_is_drawn_where_its_key_asks_for_from_its_first_frame_on() {
    let mut most = [0.0_f32; 2];
    for (delay, rate) in [(0, 60), (0, 144), (0, 500), (1, 500)] {
        for phase in [0, 2000, 4000, 8000, 12_000] {
            let display = Display { rate, phase: Micros(phase), whole_ticks: false };
            let mut runner = Runner::delayed(display, leap, delay);
            let ground = runner.shown().y;
            for frame in 0..2 * rate / 60 {
                let rises = ground - runner.shown().y;
                let waited = f32::from(delay) / 60.0;
                let secs = (frame as f32 / rate as f32 - waited).max(0.0);
                let asked = JUMP_SPEED * secs - 0.5 * RISE_GRAVITY * secs * secs;
                most[usize::from(delay)] = most[usize::from(delay)].max((rises - asked).abs());
                runner.sim.run(1.0 / f64::from(rate));
            }
        }
    }
    eprintln!("a jump is drawn {most:?} m off, at once and with an input delay");
    // An instant has 1/64 of a tick; a tick is drawn as a straight line.
    assert!(most[0] < 0.008 && most[1] < 0.008, "{most:?}");
}

#[test]
fn a_jump_is_seen_in_the_next_frame() {
    for rate in [60, 144, 500] {
        for phase in [0, 4000, 8000, 12_000] {
            let display = Display { rate, phase: Micros(phase), whole_ticks: false };
            let mut runner = Runner::new(display, leap);
            let before = runner.shown().y;
            runner.sim.run(1.0 / f64::from(rate));
            let rises = before - runner.shown().y;
            assert!(rises > 0.004, "{rises} m at {display:?}");
        }
    }
}

#[test]
fn a_delayed_jump_is_seen_when_it_begins_and_not_before() {
    for (delay, phase) in [(1, 0), (2, 4000), (3, 8000)] {
        let display = Display { rate: 144, phase: Micros(phase), whole_ticks: false };
        let mut runner = Runner::delayed(display, leap, delay);
        let ground = runner.shown().y;
        let rises: Vec<f32> = (0..40)
            .map(|_| {
                runner.sim.run(1.0 / 144.0);
                ground - runner.shown().y
            })
            .collect();
        let first = rises.iter().position(|rise| *rise > 0.004).expect("it jumps");
        let ticks = first as f32 * 60.0 / 144.0;
        assert!((ticks - f32::from(delay)).abs() < 1.0, "after {ticks} ticks with {delay}");
        let comes_back = rises[..first + 12].windows(2).any(|two| two[1] < two[0] - 0.001);
        assert!(!comes_back, "with {delay}: {rises:?}");
        assert_eq!(runner.sim.clients[0].core().stats().mispredictions, 0);
    }
}

#[test]
fn keys_between_ticks_are_never_corrected_and_move_evenly() {
    let mut sim = Sim::<Platformer>::new(3, 0);
    sim.frame = Micros(6944);
    let link = LinkConfig { loss: 0.1, ..LinkConfig::delayed(60, 30) };
    let client = sim.join(link, Box::new(|_, _| platformer::Command::default()));
    let screen = Rc::new(RefCell::new(None::<Picture<Platformer>>));
    sim.clients[client].screen = Some(Rc::clone(&screen));
    let (mut random, mut keys) = (Random::new(5), platformer::Command::default());
    sim.clients[client].frames = Some(Box::new(move |_, _| {
        if random.chance(0.05) {
            keys.right = [-1, 0, 1, 1][random.below(4) as usize];
        }
        keys.jump ^= random.chance(0.05);
        keys
    }));
    sim.clients[client].forge = Some(Box::new(|packet, _| {
        let times = packet.inputs.iter().filter_map(|it| it.subtick);
        assert!(times.clone().all(|it| it.start() > 0));
    }));
    sim.run(3.0);
    let (mut last, mut between, mut most) = (None, 0, 0.0_f32);
    sim.run_each(20.0, |sim| {
        let world = &sim.room.world().entities;
        let player = platformer::player_of(world, SHOOTER).expect("it is there");
        between += u32::from(player.held == 1 && player.part > 0);
        let Some(picture) = screen.borrow_mut().take() else { return };
        let own = *platformer::player_of(&picture.entities, SHOOTER).expect("it is shown");
        let kept =
            last.replace(own).filter(|last| (last.falls, last.race) == (own.falls, own.race));
        most = most.max(kept.map_or(0.0, |last| (own.x - last.x).abs()));
    });
    let stats = sim.clients[client].core().stats();
    assert_eq!(stats.mispredictions, 0);
    assert!(between > 300, "{between} states changed keys within their tick");
    // A frame takes 7 ms, platforms move at up to 4 m/s, and keys take effect at once.
    assert!(most < 0.13, "{most} m in a frame");
}

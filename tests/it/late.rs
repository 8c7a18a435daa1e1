//! Inputs that arrive too late, too early, too often, or all at once.

use crate::games::runners::{Runner, Runners, SPEED};
use phaselock::client::Client;
use phaselock::clock::lateness::LateCause;
use phaselock::game::Game;
use phaselock::ids::PlayerId;
use phaselock::link::LinkConfig;
use phaselock::random::Random;
use phaselock::server::{AnyRoom, ClientId, Room};
use phaselock::time::{LocalTime, Micros, Rates, Tick};
use phaselock::wire::control::ClientMessage;
use phaselock::wire::input::{InputPacket, Pressed, write_input};
use phaselock_testing::{Press, Sim, body, hello, room_config};
use phaselock_tests::toy::Walk;

const TERRIBLE: LinkConfig = LinkConfig::delayed(80, 60).losing(0.2).duplicating(0.1);

/// Changes direction now and then.
fn restless<G: Game<Input = Walk>>(seed: u64) -> Press<G> {
    let mut random = Random::new(seed);
    let mut right = 1;
    Box::new(move |_: &Client<G>, _| {
        if random.chance(0.3) {
            right = random.below(3) as i16 - 1;
        }
        Walk { right }
    })
}

/// Lets time pass in which nothing arrives from a client for a fifth of each second, longer than
/// any lead covers.
fn run_with_gaps<G: Game>(
    sim: &mut Sim<G>,
    client: usize,
    secs: u32,
    mut look: impl FnMut(&mut Sim<G>),
) {
    for _ in 0..secs {
        for (link, secs) in [(TERRIBLE.losing(1.0), 0.2), (TERRIBLE, 0.8)] {
            sim.clients[client].up.set(link);
            sim.run_each(secs, &mut look);
        }
    }
}

/// Returns corrections, late inputs and the distance run by a player alone on a terrible link, in
/// the first minute.
fn alone<const WAIT: bool>(seed: u64) -> (u64, u64, f32) {
    let mut sim = Sim::<Runners<WAIT>>::new(seed, 0);
    sim.join(TERRIBLE, restless(seed));
    let mut way = 0.0;
    let mut last: f32 = 0.0;
    sim.run(1.0);
    run_with_gaps(&mut sim, 0, 60, |sim| {
        if let Some(slot) = sim.room.world().entities.iter().next() {
            way += (slot.entity.x - last).abs();
            last = slot.entity.x;
        }
    });
    sim.check_store(0);
    let stats = sim.clients[0].core().stats();
    assert!(stats.ticks > 3600, "{} ticks", stats.ticks);
    (stats.mispredictions, stats.late_inputs, way)
}

#[test]
fn players_waited_for_are_never_corrected_however_late_their_inputs_are() {
    for seed in 0..8 {
        let (corrected, late, way) = alone::<true>(seed);
        assert_eq!(corrected, 0, "with {late} late inputs, seed {seed}");
        assert!(late > 50, "only {late} inputs were late, seed {seed}");
        assert!(way > 100.0, "it hardly moves: {way} m");
    }
    // Otherwise there would have been something to correct.
    let (corrected, late, _) = alone::<false>(0);
    assert!(corrected > 5, "{corrected} corrections of {late} late inputs");
}

#[test]
fn late_players_are_seen_where_they_were_and_without_jumps() {
    let mut sim = Sim::<Runners<true>>::new(3, 0);
    // To and fro, over a link with some late inputs.
    let to_and_fro: Press<Runners<true>> =
        Box::new(|_, tick| Walk { right: if tick.0 % 120 < 60 { 1 } else { -1 } });
    sim.join(TERRIBLE, to_and_fro);
    let watcher = sim.join(LinkConfig::delayed(20, 0), Box::new(|_, _| Walk::default()));
    sim.run(5.0);
    let runner = sim.clients[0].core().player();
    let late = sim.clients[0].core().stats().late_inputs;
    let (mut before, mut jumps, mut aged): (Option<(f32, LocalTime)>, u32, u32) = (None, 0, 0);
    let mut still = 0;
    run_with_gaps(&mut sim, 0, 60, |sim| {
        let now = sim.now;
        let newest = sim.room.world().entities.owned_by(runner).next().expect("it is there");
        aged += u32::from(newest.entity.age > 0);
        let core = sim.clients[watcher].core_mut();
        let picture = core.picture(now);
        let shown = picture.entities.owned_by(runner).next().expect("it is visible").entity.x;
        if let Some((x, then)) = before {
            let secs = ((now - then).0.max(1) as f32) / 1e6;
            let speed = (shown - x).abs() / secs;
            // Shown at most 10 % too fast, on a grid of 4 mm. While it waits it stands, and it
            // catches up between two snapshots that lie further apart in its time.
            jumps += u32::from((shown - x).abs() > 0.01 && speed > 1.2 * SPEED);
            still += u32::from(speed == 0.0 && now > then);
        }
        before = Some((shown, now));
    });
    let late = sim.clients[0].core().stats().late_inputs - late;
    eprintln!("{late} late, {aged} looks at an old state, {jumps} jumps, {still} still");
    assert!(late > 50 && aged > 50, "{late} late, {aged} old");
    // A state that was late is caught up with in one frame.
    assert!(jumps <= 2 * late as u32, "{jumps} jumps for {late} late inputs");
}

/// A cheat's packet at a tick of the world: the newest input's tick and the number of inputs.
type Cheat = fn(u64) -> Option<(u64, usize)>;

/// Returns the distance that a runner covers to the right in `ticks`, with the packets that it
/// sends.
fn distance<const WAIT: bool>(ticks: u64, cheat: Cheat) -> f32 {
    let mut room = Room::<Runners<WAIT>>::new(room_config(1, 0));
    let me = ClientId(0);
    let greeting = ClientMessage::Hello(hello::<Runners<WAIT>>("Eve", LocalTime(0)));
    room.handle_first(LocalTime(0), me, &body(&greeting));
    let mut seq = 0;
    for tick in 0..ticks {
        let due = LocalTime(Rates::DEFAULT.time_of(Tick(tick)).0);
        room.handle_timeout(due);
        while room.poll_output(due).is_some() {}
        if let Some((newest, count)) = cheat(tick) {
            let now = due + Micros(1000);
            // If they do not fit into one packet, send several.
            for part in 0..count.div_ceil(60) {
                let newest = newest.saturating_sub(part as u64 * 60);
                let count = (count - part * 60).min(60);
                let packet = InputPacket {
                    seq,
                    ack: None,
                    sent: now.low(),
                    echo: None,
                    epoch: 0,
                    tick: Tick(newest).low(),
                    inputs: vec![Pressed::untimed(Walk { right: 1 }); count],
                };
                seq = seq.wrapping_add(1);
                room.handle_datagram(now, me, &write_input(&packet));
            }
        }
    }
    let stats = room.member_stats(me).expect("it is still in");
    assert!(stats.accepted > 0 && stats.refused == 0, "{stats:?}");
    let mut owned = room.world().entities.owned_by(PlayerId(0));
    let Runner { x, .. } = owned.next().expect("it is there").entity;
    x
}

#[test]
fn players_get_no_further_by_any_way_of_sending_inputs() {
    let honest: Cheat = |tick| Some((tick + 1, 1));
    let cheats: [(&str, Cheat); 8] = [
        ("twice the inputs", |tick| Some((tick * 2 + 2, 2))),
        ("a clock 10 % fast", |tick| Some((tick * 11 / 10 + 1, 2))),
        ("the same again", |tick| Some((tick + 1, 60))),
        ("long ago", |tick| Some(((tick + 1).saturating_sub(40), 40))),
        ("far ahead", |tick| Some((tick + 120, 180))),
        ("a fifth of a second held back", |tick| (tick % 12 == 11).then_some((tick + 1, 12))),
        ("a second held back", |tick| (tick % 60 == 59).then_some((tick + 1, 60))),
        ("held back once", |tick| (!(100..=114).contains(&tick)).then_some((tick + 1, 20))),
    ];
    for ticks in [300, 600] {
        let fair = [distance::<false>(ticks, honest), distance::<true>(ticks, honest)];
        let expected = SPEED * ticks as f32 / 60.0;
        for (policy, fair) in ["repeat", "wait"].into_iter().zip(fair) {
            assert!((fair - expected).abs() < 1.0, "{policy}: {fair} m of {expected}");
        }
        for (name, cheat) in cheats {
            let got = [distance::<false>(ticks, cheat), distance::<true>(ticks, cheat)];
            for ((policy, fair), got) in ["repeat", "wait"].into_iter().zip(fair).zip(got) {
                // Exact to the step: ticks that are held back have not run before.
                assert!(got <= fair + 0.01, "{name}, {policy}: {got} m, honestly {fair} m");
            }
        }
    }
}

#[test]
fn inputs_held_back_move_a_player_by_a_quarter_of_a_second_at_once_at_most() {
    let mut sim = Sim::<Runners<true>>::new(4, 0);
    let client = sim.join(LinkConfig::delayed(20, 0), Box::new(|_, _| Walk { right: 1 }));
    sim.run(3.0);
    let x = |sim: &Sim<Runners<true>>| {
        sim.room.world().entities.iter().next().expect("it is there").entity.x
    };
    // 15 steps and the tick's own, each rounded to the grid.
    let most = 16.0 * (SPEED / 60.0 + 0.5 / 256.0);
    for blocked_secs in [0.1, 0.2, 0.5, 1.5] {
        sim.clients[client].up.set(LinkConfig::delayed(20, 0).losing(1.0));
        sim.run(blocked_secs);
        sim.clients[client].up.set(LinkConfig::delayed(20, 0));
        let (mut before, mut jump) = (x(&sim), 0.0_f32);
        sim.run_each(2.0, |sim| {
            let at = x(sim);
            jump = jump.max(at - before);
            before = at;
        });
        assert!(jump <= most, "{jump} m at once after {blocked_secs} s");
        let core = sim.clients[client].core();
        // Short delays cost it nothing; longer ones cost the inputs that were too late.
        let corrected = core.stats().mispredictions;
        assert!(blocked_secs > 0.2 || corrected == 0, "{corrected} after {blocked_secs} s");
        assert!(sim.check_store(client) > 50);
    }
}

/// Returns the main cause of late inputs in 20 seconds with `trouble` once a second, as measured by
/// the client.
fn cause_of(mut trouble: impl FnMut(&mut Sim<Runners<false>>)) -> Option<LateCause> {
    let mut sim = Sim::<Runners<false>>::new(7, 0);
    sim.join(STEADY, restless(7));
    // In the first seconds the lead adapts to the link.
    sim.run(5.0);
    let before = sim.clients[0].core().stats().clone();
    for _ in 0..20 {
        trouble(&mut sim);
        sim.run(0.7);
    }
    let stats = sim.clients[0].core().stats().since(&before);
    assert!(stats.late_inputs > 0, "no input was late");
    stats.late_causes.most_frequent()
}

const STEADY: LinkConfig = LinkConfig::delayed(30, 2);

/// No frame for this long; for part of it the machine kept the program waiting.
fn hitch(sim: &mut Sim<Runners<false>>, held: Micros) {
    let usual = std::mem::replace(&mut sim.frame, Micros::from_ms(300));
    let now = sim.clients[0].skew.read(sim.now);
    sim.clients[0].session.handle_held(now, held);
    sim.run(0.3);
    sim.frame = usual;
}

/// The uplink loses or delays all packets for this long.
fn trouble_up(sim: &mut Sim<Runners<false>>, link: LinkConfig, held: Micros) {
    sim.clients[0].up.set(link);
    let now = sim.clients[0].skew.read(sim.now);
    sim.clients[0].session.handle_held(now, held);
    sim.run(0.3);
    sim.clients[0].up.set(STEADY);
}

#[test]
fn late_inputs_are_attributed_to_their_cause() {
    let ms = Micros::from_ms;
    assert_eq!(cause_of(|sim| hitch(sim, ms(0))), Some(LateCause::Frames));
    assert_eq!(cause_of(|sim| hitch(sim, ms(5))), Some(LateCause::Frames));
    assert_eq!(cause_of(|sim| hitch(sim, ms(280))), Some(LateCause::Machine));
    let (lossy, slow) = (STEADY.losing(1.0), LinkConfig::delayed(250, 2));
    for link in [lossy, slow] {
        assert_eq!(cause_of(|sim| trouble_up(sim, link, ms(0))), Some(LateCause::Network));
        assert_eq!(cause_of(|sim| trouble_up(sim, link, ms(4))), Some(LateCause::Network));
    }
    // Such a busy machine delays packets, too.
    assert_eq!(cause_of(|sim| trouble_up(sim, slow, ms(260))), Some(LateCause::Machine));
}

#[test]
fn jitter_and_slow_frames_are_distinguished() {
    // Every picture takes a quarter of a second, which no lead covers.
    let slow_picture = |sim: &mut Sim<Runners<false>>| sim.frame = Micros::from_ms(250);
    assert_eq!(cause_of(slow_picture), Some(LateCause::Frames));
    let jitter = |sim: &mut Sim<Runners<false>>| {
        sim.clients[0].up.set(LinkConfig::delayed(120, 110).losing(0.2));
    };
    assert_eq!(cause_of(jitter), Some(LateCause::Network));
}

//! Inputs that the server knows early: other players see a dodge sooner, and learn nothing that
//! they may not know.

use std::cell::Cell;
use std::rc::Rc;

use phaselock::client::Part;
use phaselock::game::Entities;
use phaselock::ids::PlayerId;
use phaselock::limits::EARLY_WAY_MAX;
use phaselock::link::{Conditions, LinkConfig};
use phaselock::motion::choice::Choice;
use phaselock::server::AnyRoom;
use phaselock::time::{LocalTime, Micros, Rates, Tick};
use phaselock::wire::control::ClientMessage;
use phaselock::wire::input::{Ack, InputPacket};
use phaselock_games::skirmish::{Command, Piece, Player, Skirmish};
use phaselock_testing::{Sim, Skew, body, bot, may_know, room_config};
use phaselock_tests::early::{EarlyCourse, measure, player_kind};

/// A link with a jitter that makes inputs several ticks early.
const JITTERY: LinkConfig = LinkConfig::delayed(40, 80);
/// Number of ticks after which the dodger turns back.
const TURNS_EVERY: u64 = 60;

fn player_of(entities: &Entities<Piece>, player: PlayerId) -> Option<Player> {
    let mut players = entities.records::<Player>().filter(|slot| slot.owner == Some(player));
    players.next().map(|slot| slot.entity)
}

/// Players besides the viewer, so that it sees some of them.
const OTHERS: u64 = 7;

/// Several players: one who stands and watches, and others who press what `press` says for each
/// tick.
fn crowd(seed: u64, early: bool, press: fn(Tick) -> Command) -> Sim<Skirmish> {
    let mut sim = Sim::<Skirmish>::new(seed, 0);
    sim.early = early;
    sim.join(LinkConfig::delayed(60, 10), Box::new(|_, _| Command::default()));
    for _ in 0..OTHERS {
        sim.join(JITTERY, Box::new(move |_, tick| press(tick)));
    }
    sim.run(1.0);
    sim.clients[0].session.choose(player_kind(), Choice::RunForward);
    sim
}

/// Runs to and fro.
fn dodge(tick: Tick) -> Command {
    let right = if (tick.0 / TURNS_EVERY).is_multiple_of(2) { 1 } else { -1 };
    Command { right, ..Command::default() }
}

/// Moments at which a player began to turn back from a run, each with the run's direction.
#[derive(Default)]
struct Turns {
    all: Vec<(i32, LocalTime)>,
    /// Direction in which it runs at full speed, since the last turn.
    runs: i32,
}

impl Turns {
    fn note(&mut self, player: Option<Player>, now: LocalTime) {
        let Some(Player { vx, .. }) = player else { return };
        if vx.abs() > 6.4 {
            self.runs = vx.signum() as i32;
        } else if self.runs != 0 && vx.abs() < 5.5 {
            self.all.push((std::mem::take(&mut self.runs), now));
        }
    }
}

/// A player as it was and as the viewer saw it.
struct Seen {
    player: PlayerId,
    turns: Turns,
    shown: Turns,
    /// Moments at which the viewer did not see it.
    hidden: Vec<LocalTime>,
}

impl Seen {
    fn of(player: PlayerId) -> Self {
        Self { player, turns: Turns::default(), shown: Turns::default(), hidden: Vec::new() }
    }

    /// Returns how late each turn was shown in milliseconds, of those that the viewer saw from
    /// before to after.
    fn late(&self) -> impl Iterator<Item = f64> {
        // Walls end runs, too, at any time.
        let is_dodge = |at: LocalTime| at.0 * 60 / 1_000_000 % (TURNS_EVERY as i64) < 5;
        self.turns.all.iter().filter(move |(_, at)| is_dodge(*at)).filter_map(|(way, at)| {
            let around = |time: LocalTime| (-300_000..500_000).contains(&(time - *at).0);
            let is_seen = !self.hidden.iter().any(|time| around(*time));
            let mut near = self.shown.all.iter().filter(|(it, time)| it == way && around(*time));
            let shown = near.next().filter(|_| is_seen)?;
            Some((shown.1 - *at).as_ms())
        })
    }
}

/// Returns how late the viewer sees the others turn, in milliseconds.
fn turns_seen_late(seed: u64, early: bool) -> Vec<f64> {
    let mut sim = crowd(seed, early, dodge);
    sim.run(5.0);
    let others = &sim.clients[1..];
    let mut all: Vec<_> = others.iter().map(|client| Seen::of(client.core().player())).collect();
    sim.run_each(12.0, |sim| {
        let now = sim.now;
        let viewer = &mut sim.clients[0];
        let local = viewer.skew.read(now);
        let picture = viewer.core_mut().picture(local);
        for seen in &mut all {
            seen.turns.note(player_of(&sim.room.world().entities, seen.player), now);
            let shown = player_of(&picture.entities, seen.player);
            seen.shown.note(shown, now);
            seen.hidden.extend(shown.is_none().then_some(now));
        }
        sim.truth.clear();
    });
    all.iter().flat_map(Seen::late).collect()
}

#[test]
fn a_dodge_is_seen_sooner_by_what_the_server_knows_early() {
    let [unshared, shared] = [false, true].map(|early| {
        let late: Vec<_> = (1..6).flat_map(|seed| turns_seen_late(seed, early)).collect();
        assert!(late.len() > 20, "{} turns were seen", late.len());
        late.iter().sum::<f64>() / late.len() as f64
    });
    eprintln!("a turn is seen {unshared:.0} ms late, and {shared:.0} ms with early inputs");
    // Two ticks at least are known early.
    assert!(shared < unshared - 33.0, "{unshared} and {shared} ms");
}

/// What the viewer was sent in snapshots of ticks before one, without their echoes and times.
fn sent_before(turn: Tick, press: fn(Tick) -> Command) -> (Vec<Vec<u8>>, usize) {
    let mut sim = crowd(3, true, press);
    sim.clients[0].arrivals = Some(Vec::new());
    let (mut before, mut early) = (Vec::new(), 0);
    sim.run_each(8.0, |sim| {
        let viewer = &mut sim.clients[0];
        let came: Vec<_> = viewer.arrivals.iter_mut().flat_map(|it| it.drain(..)).collect();
        let core = viewer.core();
        // Packets come one by one.
        if core.newest_tick() < turn {
            let updates = core.store().updates().iter();
            early +=
                updates.map(|it| core.store().early(it.index).len()).sum::<usize>() * came.len();
            before.extend(came);
        }
    });
    (before, early)
}

/// Returns the furthest tick after an entity's state for which a viewer was told a change of its
/// steering. Its path takes 10 ms each way; `lie` changes its packets. The others have so much
/// jitter that many of their inputs wait.
fn furthest_told(lie: fn(&mut InputPacket<Command>)) -> u8 {
    let mut sim = Sim::<Skirmish>::new(4, 0);
    let viewer = sim.join(LinkConfig::delayed(10, 0), Box::new(|_, _| Command::default()));
    for _ in 0..OTHERS {
        sim.join(LinkConfig::delayed(40, 300), Box::new(|_, tick| dodge(tick)));
    }
    sim.run(1.0);
    sim.clients[viewer].session.choose(player_kind(), Choice::RunForward);
    sim.run(5.0);
    sim.clients[viewer].forge = Some(Box::new(move |packet, _| lie(packet)));
    sim.run(5.0);
    let mut furthest = 0;
    sim.run_each(15.0, |sim| {
        let store = sim.clients[viewer].core().store();
        for update in store.updates() {
            let changes = store.early(update.index);
            furthest = changes.iter().map(|change| change.after).fold(furthest, u8::max);
        }
    });
    furthest
}

#[test]
fn a_viewer_who_lies_about_its_path_is_told_little_more() {
    let honest = furthest_told(|_| {});
    // Half of the round trip, up to a tick until an acknowledgement leaves, and two snapshots.
    assert!((4..=6).contains(&honest), "{honest} ticks");
    let echoes_old_times = furthest_told(|packet| {
        if let Some(echo) = &mut packet.echo {
            (echo.time, echo.held) = (echo.time.wrapping_sub(600_000), 0);
        }
    });
    let sends_at_odd_times = furthest_told(|packet| {
        let wave = if packet.seq.is_multiple_of(2) { 900_000 } else { 0 };
        packet.sent = packet.sent.wrapping_sub(wave);
    });
    assert_eq!([echoes_old_times, sends_at_odd_times], [honest; 2]);
    let acknowledges_late = furthest_told(|packet| {
        // Half a second late.
        let late = |ack: Ack| Ack { newest: ack.newest.wrapping_sub(15), ..ack };
        packet.ack = packet.ack.map(late);
        packet.echo = None;
    });
    let limit = (EARLY_WAY_MAX + Micros(2 * Rates::DEFAULT.snapshot_interval().0)).0;
    let limit = limit / Rates::DEFAULT.step().0 + 1;
    assert!(acknowledges_late > honest && i64::from(acknowledges_late) <= limit);
}

/// When the dodger does something for the first time.
const FIRST: Tick = Tick(300);

#[test]
fn a_run_is_told_before_its_tick_and_a_shot_is_not() {
    let stands = |_| Command::default();
    let runs = |tick| Command { right: i16::from(tick >= FIRST), ..Command::default() };
    let fires = |tick| Command { fire: tick >= FIRST, grab: tick >= FIRST, ..Command::default() };
    let (nothing, told) = sent_before(FIRST, stands);
    assert!(nothing.len() > 60 && told == 0, "{} packets", nothing.len());
    let (running, told) = sent_before(FIRST, runs);
    assert!(told > 0 && running != nothing, "the run is known early");
    let (firing, told) = sent_before(FIRST, fires);
    assert!(told == 0 && firing == nothing, "no bit depends on a shot before its tick");
}

#[test]
fn early_inputs_are_only_of_players_that_the_reader_may_know_and_never_for_spectators() {
    let mut sim = Sim::<Skirmish>::with(room_config(3, 0).with(|it| {
        (it.watch_delay, it.watchers_max) = (Some(Micros::ZERO), 4);
    }));
    // Snapshots come in order, so that the last packet is that of the newest tick.
    let down = LinkConfig::delayed(60, 10);
    for seed in 0..8 {
        sim.join_with(JITTERY, down, Skew::default(), bot::<Skirmish>(seed));
    }
    sim.part = Part::Watch;
    let spectator = sim.join_with(JITTERY, down, Skew::default(), bot::<Skirmish>(9));
    sim.run(2.0);
    assert!(sim.clients[spectator].core().watching().is_some());
    for client in &mut sim.clients {
        client.session.choose(player_kind(), Choice::RunForward);
    }
    let (mut told, mut hidden, mut last) = (0, 0, vec![0; sim.clients.len()]);
    sim.run_each(20.0, |sim| {
        for (number, client) in sim.clients.iter().enumerate() {
            let core = client.core();
            let arrived = core.stats().arrived;
            if std::mem::replace(&mut last[number], arrived) == arrived {
                continue;
            }
            let Some(truth) = sim.truth.get(&core.newest_tick()) else { continue };
            for slot in truth.records::<Player>() {
                let early = core.store().early(slot.id.index).len();
                let slot = truth.get(slot.id).expect("it is there");
                let knows = may_know(core.game(), truth, core.player(), slot);
                hidden += usize::from(!knows);
                told += early;
                assert!(early == 0 || knows && number != spectator, "{number} is told of {slot:?}");
                assert!(early == 0 || slot.owner != Some(core.player()), "nor of its own");
            }
        }
    });
    assert!(told > 1000 && hidden > 1000, "{told} changes were told, {hidden} players hidden");
}

#[test]
fn a_spectator_who_asks_for_early_inputs_is_told_none() {
    let mut sim = Sim::<Skirmish>::with(room_config(3, 0).with(|it| {
        (it.watch_delay, it.watchers_max) = (Some(Micros::ZERO), 4);
    }));
    let player = sim.join(JITTERY, bot::<Skirmish>(0));
    for seed in 1..=OTHERS {
        sim.join(JITTERY, bot::<Skirmish>(seed));
    }
    // No session of ours asks.
    sim.early = false;
    sim.part = Part::Watch;
    let spectator = sim.join(JITTERY, bot::<Skirmish>(9));
    sim.run(2.0);
    assert!(sim.clients[spectator].core().watching().is_some());
    for client in [player, spectator] {
        // One of these is the number of its game.
        for number in 0..4 {
            let ask = body(&ClientMessage::Early { number, kinds: u32::MAX });
            sim.room.handle_control(sim.now, sim.clients[client].id, &ask);
        }
        sim.clients[client].arrivals = Some(Vec::new());
    }
    sim.run(6.0);
    let [to_player, to_spectator] = [player, spectator].map(|client| {
        let packets = sim.clients[client].arrivals.take().expect("they are kept");
        let is_early = |packet: &&Vec<u8>| [4, 5].contains(&(packet[0] & 0xf));
        (packets.iter().filter(is_early).count(), packets.len())
    });
    assert!(to_player.0 > 100, "{to_player:?}: a player who asks in the same way is told");
    assert!(to_spectator.0 == 0 && to_spectator.1 > 100, "{to_spectator:?}");
}

#[test]
fn players_are_nearer_to_the_present_for_few_bytes() {
    let run = |early| {
        let conditions: Conditions = "intercontinental".parse().expect("it is a profile");
        measure(&EarlyCourse { conditions, early, input_delay: 0, players: 8, secs: 30.0, seed: 1 })
    };
    let [without, with] = [false, true].map(run);
    eprintln!("{without:?}\n{with:?}");
    assert!(with.error_mean < 50.0 && with.error_mean < without.error_mean / 2.0);
    assert!(with.down < without.down * 1.1, "{} and {} bytes a second", without.down, with.down);
}

#[test]
fn an_input_delay_makes_fewer_inputs_late_and_leaves_the_lead() {
    let run = |input_delay| {
        let conditions: Conditions = "mobile".parse().expect("it is a profile");
        measure(&EarlyCourse {
            conditions,
            early: true,
            input_delay,
            players: 6,
            secs: 30.0,
            seed: 1,
        })
    };
    let [without, with] = [0, 3].map(run);
    eprintln!("{without:?}\n{with:?}");
    assert!(without.late > 2000.0 && with.late < 0.6 * without.late);
    assert!(with.corrections < without.corrections);
    assert!((with.lead - without.lead).abs() < 0.2, "{} and {}", without.lead, with.lead);
}

#[test]
fn a_change_of_the_input_delay_mispredicts_nothing() {
    let mut sim = Sim::<Skirmish>::new(3, 0);
    let client = sim.join(LinkConfig::delayed(40, 10), Box::new(|_, tick| dodge(tick)));
    sim.run(3.0);
    let began = sim.clients[client].core().stats().clone();
    let position = |sim: &Sim<Skirmish>| {
        let core = sim.clients[client].core();
        player_of(&sim.room.world().entities, core.player()).map(|it| (it.x, it.y))
    };
    let mut positions = vec![position(&sim)];
    for (delay, secs) in [(3, 1.3), (1, 0.7), (0, 1.1), (2, 0.02), (3, 0.9), (0, 2.0)] {
        sim.clients[client].session.set_input_delay(delay);
        sim.run(secs);
        positions.push(position(&sim));
    }
    positions.dedup();
    assert!(positions.len() > 5, "it runs all the time");
    let stats = sim.clients[client].core().stats();
    assert_eq!(stats.mispredictions, began.mispredictions);
    assert_eq!(stats.late_inputs, began.late_inputs);
    assert!(stats.ticks > began.ticks + 300);
}

#[test]
fn no_press_is_lost_while_the_input_delay_becomes_shorter() {
    for (from, to) in [(3, 0), (3, 1), (1, 0), (0, 3)] {
        for pressed in 0..6 {
            let mut sim = Sim::<Skirmish>::new(3, 0);
            let shot = Rc::new(Cell::new(None));
            let newest = Rc::new(Cell::new(Tick(0)));
            let (due, asked) = (Rc::clone(&shot), Rc::clone(&newest));
            // Fires in a single tick.
            let press = move |_: &_, tick| {
                asked.set(tick);
                Command { fire: due.get() == Some(tick), ..Command::default() }
            };
            let client = sim.join(LinkConfig::delayed(40, 10), Box::new(press));
            sim.clients[client].session.set_input_delay(from);
            sim.run(3.0);
            while sim.room.poll_rewound().is_some() {}
            sim.clients[client].session.set_input_delay(to);
            shot.set(Some(newest.get().plus(1 + pressed)));
            sim.run(1.0);
            let shots = std::iter::from_fn(|| sim.room.poll_rewound()).count();
            assert_eq!(shots, 1, "{from} to {to} ticks, {pressed} ticks later");
            assert_eq!(sim.clients[client].core().stats().mispredictions, 0);
        }
    }
}

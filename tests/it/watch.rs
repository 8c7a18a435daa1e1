//! Spectators: no seat, nothing before the delay, nothing hidden, and a seat when one is free.

use phaselock::client::{Notice, Part, State};
use phaselock::game::{Game, Relevance};
use phaselock::ids::PlayerId;
use phaselock::limits::SILENCE_MAX;
use phaselock::link::LinkConfig;
use phaselock::server::{AnyRoom, Command, Event, Room, RoomConfig};
use phaselock::time::{Micros, Tick};
use phaselock::wire::control::Refusal;
use phaselock::wire::round::{Proposal, ReadyUp, RoundRequest};
use phaselock::wire::talk::{Audience, Look, Mark};
use phaselock_games::puck::ShufflePuck;
use phaselock_games::skirmish::{self, Skirmish};
use phaselock_testing::{Sim, room_config};

use super::control::notices;

const CABLE: LinkConfig = LinkConfig::delayed(20, 5);

fn config(seats: u16, delay_ms: i64) -> RoomConfig {
    let watch_delay = Some(Micros::from_ms(delay_ms));
    room_config(4, 3).with(|it| {
        it.players_max = seats;
        it.watchers_max = 16;
        it.watch_delay = watch_delay;
    })
}

fn watcher<G: Game>(sim: &mut Sim<G>, part: Part) -> usize {
    sim.part = part;
    let client = sim.join_bot(CABLE);
    sim.part = Part::Play;
    client
}

fn is_watching<G: Game>(sim: &Sim<G>, client: usize) -> bool {
    sim.clients[client].client().is_some_and(|core| core.watching().is_some())
}

fn is_playing<G: Game>(sim: &Sim<G>, client: usize) -> bool {
    let core = sim.clients[client].client();
    core.is_some_and(|core| core.watching().is_none() && core.stats().snapshots > 0)
}

#[test]
fn newcomers_and_those_who_return_know_who_only_watches() {
    let mut sim = Sim::<ShufflePuck>::with(config(8, 0));
    let spectator = watcher(&mut sim, Part::Watch);
    let first = sim.join_bot(CABLE);
    let second = watcher(&mut sim, Part::Watch);
    sim.run(1.0);
    let player = sim.join_bot(CABLE);
    sim.run(1.0);
    for cut in [None, Some(first), Some(second)] {
        cut.into_iter().for_each(|client| sim.cut(client));
        sim.run(3.0);
        for client in [spectator, first, second, player] {
            let common = sim.clients[client].core().common();
            let count = (common.roster().len(), common.watchers().len());
            assert_eq!(count, (3 + 2, 2), "client {client}, after {cut:?} was cut off");
        }
    }
}

#[test]
fn watcher_gets_everything_public_and_nothing_newer_than_the_delay() {
    for delay_ms in [0, 500, 3000] {
        let mut sim = Sim::<Skirmish>::with(config(8, delay_ms));
        sim.join_bot(LinkConfig::delayed(0, 0));
        let client = watcher(&mut sim, Part::Watch);
        let delay = 60 * delay_ms as u64 / 1000;
        let mut youngest = u64::MAX;
        sim.run_each(12.0, |sim| {
            let newest = sim.clients[client].client().map_or(Tick(0), |core| core.newest_tick());
            if newest > Tick(0) {
                youngest = youngest.min(sim.room.tick().since(newest));
            }
        });
        assert!((delay..delay + 8).contains(&youngest), "{youngest} ticks of {delay}");
        let core = sim.clients[client].core();
        assert_eq!(core.watching(), Some(Micros::from_ms(delay_ms)));
        assert!(core.roster().len() == 4 && !core.roster().contains_key(&core.player()));
        assert_eq!(core.common().watchers().len(), 1);
        let known = core.store().latest();
        let truth = &sim.truth[&core.newest_tick()];
        assert_eq!(known.len(), truth.len(), "it sees all players");
        assert!(sim.check_store(client) > 50);
    }
}

#[test]
fn watcher_of_a_game_that_says_nothing_of_watchers_sees_what_a_stranger_does() {
    let game = Skirmish::new(phaselock::time::Rates::DEFAULT, 1);
    let sim = Sim::<Skirmish>::new(1, 4);
    let world = &sim.room.world().entities;
    let hidden = world
        .iter()
        .filter(|slot| game.relevance(world, PlayerId::NOBODY, slot) == Relevance::Secret);
    assert!(hidden.count() > 0, "the default of the rules hides bodies");
}

#[test]
fn watcher_holds_no_seat_and_its_packets_change_nothing() {
    let run = |watches: bool| {
        let mut sim = Sim::<Skirmish>::with(config(1, 500));
        if watches {
            for _ in 0..3 {
                let client = watcher(&mut sim, Part::Watch);
                // It presses fire anyway.
                sim.clients[client].forge = Some(Box::new(|packet, near| {
                    let input = skirmish::Command { right: 2, fire: true, ..Default::default() };
                    packet.inputs = vec![phaselock::wire::input::Pressed::untimed(input)];
                    packet.tick = near.plus(40).low();
                }));
            }
        }
        sim.run(4.0);
        let status = sim.room.status();
        assert_eq!((status.players, status.watchers), (0, if watches { 3 } else { 0 }));
        assert_eq!(sim.room.seats_taken(), 0);
        sim.truth
    };
    assert!(run(true) == run(false), "the world runs as if no one were watching");
}

#[test]
fn seats_go_to_those_who_wait_in_their_order() {
    let mut sim = Sim::<Skirmish>::with(config(1, 1000));
    let first = sim.join_bot(CABLE);
    sim.run(1.0);
    let line: Vec<_> = (0..3)
        .map(|_| {
            let client = watcher(&mut sim, Part::Wait);
            sim.run(0.5);
            client
        })
        .collect();
    let idler = watcher(&mut sim, Part::Watch);
    sim.run(4.0);
    assert!(line.iter().chain([&idler]).all(|client| is_watching(&sim, *client)));
    let told = notices(&mut sim, line[2]);
    assert!(told.contains(&Notice::Places { free: 0, ahead: Some(2) }), "{told:?}");
    // A later client does not overtake them.
    let newcomer = sim.join_bot(CABLE);
    sim.run(1.0);
    assert!(matches!(sim.clients[newcomer].session.state(), State::Waiting { .. }));
    sim.clients[newcomer].session.leave("enough");
    let mut playing = first;
    for next in line {
        let id = sim.clients[playing].id;
        sim.room.handle_left(id, "left");
        sim.clients[playing].session.leave("left");
        sim.run(2.0);
        assert!(is_playing(&sim, next), "{:?}", sim.clients[next].session.state());
        let core = sim.clients[next].core();
        assert!(core.newest().owned_by(core.player()).next().is_some(), "it has a body");
        assert!(sim.room.tick().since(core.newest_tick()) < 10, "it is at the present");
        assert!(sim.clients[next].clock_error_ms(sim.now).abs() < 5.0);
        playing = next;
    }
    assert!(is_watching(&sim, idler), "a watcher who never asks for a seat gets none");
}

#[test]
fn player_goes_to_watch_and_comes_back_over_one_connection() {
    let mut sim = Sim::<Skirmish>::with(config(4, 2000));
    let other = sim.join_bot(CABLE);
    let client = sim.join_bot(CABLE);
    sim.run(5.0);
    let player = sim.clients[client].core().player();
    sim.clients[client].session.watch(true).expect("it is connected");
    sim.run(4.0);
    assert!(is_watching(&sim, client));
    let core = sim.clients[client].core();
    assert_eq!(core.player(), player);
    assert!(sim.room.tick().since(core.newest_tick()) >= 120);
    // The clock shows the time of what the watcher sees.
    assert!((sim.clients[client].clock_error_ms(sim.now) + 2000.0).abs() < 5.0);
    assert_eq!(sim.room.seats_taken(), 1);
    assert!(!sim.clients[other].core().roster().contains_key(&player));
    assert!(sim.clients[other].core().common().watchers().contains_key(&player));
    sim.clients[client].session.watch(false).expect("it is connected");
    sim.run(4.0);
    assert!(is_playing(&sim, client) && sim.room.seats_taken() == 2);
    assert!(sim.clients[other].core().roster().contains_key(&player));
    assert!(sim.clients[client].clock_error_ms(sim.now).abs() < 5.0);
    assert_eq!(sim.clients[client].id, phaselock::server::ClientId(1), "the connection held");
    let events = std::iter::from_fn(|| sim.room.poll_event());
    let parts = events.filter_map(|event| match event {
        Event::Watching { watching, .. } => Some(watching),
        _ => None,
    });
    assert_eq!(parts.collect::<Vec<_>>(), [true, false]);
}

#[test]
fn changes_and_watchers_are_limited() {
    let mut sim = Sim::<ShufflePuck>::with(config(4, 0).with(|it| it.watchers_max = 2));
    let client = sim.join_bot(CABLE);
    sim.run(1.0);
    for on in [true, false, true, false, true, false] {
        sim.clients[client].session.watch(on).expect("it is connected");
        sim.run(0.2);
    }
    let told = notices(&mut sim, client);
    let refused = |notice: &&Notice| matches!(notice, Notice::Refused { request: 5, .. });
    assert!(told.iter().filter(refused).count() > 0, "{told:?}");
    assert_eq!(*sim.clients[client].session.state(), State::Connected);
    let watchers: Vec<_> = (0..4).map(|_| watcher(&mut sim, Part::Watch)).collect();
    sim.run(1.0);
    let here = watchers.iter().filter(|client| is_watching(&sim, **client)).count();
    assert!(here <= 2 && sim.room.watchers() <= 2, "{here} watch");
}

#[test]
fn lost_watcher_keeps_its_place_in_the_line() {
    let mut sim = Sim::<ShufflePuck>::with(config(1, 0));
    let first = sim.join_bot(CABLE);
    sim.run(1.0);
    let client = watcher(&mut sim, Part::Wait);
    sim.run(1.0);
    let second = watcher(&mut sim, Part::Wait);
    sim.run(1.0);
    sim.cut(client);
    sim.run(3.0);
    assert!(is_watching(&sim, client) && is_watching(&sim, second));
    sim.room.handle_left(sim.clients[first].id, "left");
    sim.clients[first].session.leave("left");
    sim.run(2.0);
    assert!(is_playing(&sim, client) && is_watching(&sim, second));
}

#[test]
fn watchers_talk_only_to_watchers_and_hear_all() {
    let mut sim = Sim::<ShufflePuck>::with(config(4, 0));
    let player = sim.join_bot(CABLE);
    let watchers = [watcher(&mut sim, Part::Watch), watcher(&mut sim, Part::Watch)];
    sim.run(2.0);
    sim.clients[watchers[0]].session.chat("they come from the left").expect("connected");
    sim.clients[player].session.chat("hello").expect("connected");
    sim.run(1.0);
    let mut heard = |client| {
        let lines = notices(&mut sim, client).into_iter();
        let lines = lines.filter_map(|notice| match notice {
            Notice::Chat { from, text, .. } => Some((from.expect("a name").seat.name, text)),
            _ => None,
        });
        let mut lines: Vec<_> = lines.collect();
        lines.sort();
        lines
    };
    let hello = ("client 0".to_owned(), "hello".to_owned());
    assert_eq!(heard(player), std::slice::from_ref(&hello));
    let both = [hello, ("client 1".to_owned(), "they come from the left".to_owned())];
    assert_eq!(heard(watchers[0]), both);
    assert_eq!(heard(watchers[1]), both);
}

#[test]
fn watchers_marks_are_for_watchers_and_the_round_is_not_theirs() {
    let mut sim = Sim::<ShufflePuck>::with(config(4, 0).with(|it| it.ready = ReadyUp::Wait));
    let player = sim.join_bot(CABLE);
    let watchers = [watcher(&mut sim, Part::Watch), watcher(&mut sim, Part::Watch)];
    sim.run(2.0);
    let mark = Mark { kind: 0, x: 64, y: 64 };
    let session = &mut sim.clients[watchers[0]].session;
    session.say_quick(Audience::All, 3).expect("connected");
    session.mark(Audience::All, mark).expect("connected");
    session.say(Audience::Side, "hm").expect("connected");
    session.ask_round(RoundRequest::Ready(true)).expect("connected");
    session.ask_round(RoundRequest::Call(Proposal::MoreTime)).expect("connected");
    session.restyle("Bea", Look { color: 3, pattern: 1 }).expect("connected");
    sim.run(1.0);
    let mut told = |client| notices(&mut sim, client);
    let signals = |notices: &[Notice]| {
        let is_signal = |it: &&Notice| matches!(it, Notice::Quick { .. } | Notice::Mark { .. });
        notices.iter().filter(is_signal).count()
    };
    assert_eq!(signals(&told(player)), 0);
    assert_eq!(signals(&told(watchers[1])), 2);
    let own = told(watchers[0]);
    let refusals = own.iter().filter_map(|notice| match notice {
        Notice::Refused { refusal, .. } => Some(*refusal),
        _ => None,
    });
    assert_eq!(refusals.collect::<Vec<_>>(), [Refusal::NoSide, Refusal::Off, Refusal::Off]);
    let core = sim.clients[player].core();
    let roster = core.common().watchers();
    assert_eq!(roster.len(), 2);
    assert!(sim.room.players(sim.now).iter().any(|it| it.name == "Bea"));
}

#[test]
fn host_kicks_and_mutes_watchers_as_players() {
    let mut sim = Sim::<ShufflePuck>::with(config(4, 0));
    let client = watcher(&mut sim, Part::Watch);
    sim.run(1.0);
    let now = sim.now;
    let told = sim.room.players(now);
    assert!(told.len() == 1 && told[0].is_watching, "{told:?}");
    let player = told[0].player.into();
    sim.room
        .handle_command(now, Command::Tell { player, text: "hi".into() })
        .expect("it is present");
    sim.room.handle_command(now, Command::Kick { player, text: "out".into() }).expect("likewise");
    sim.run(1.0);
    assert!(matches!(sim.clients[client].session.state(), State::Ended { .. }));
    assert_eq!(sim.room.watchers(), 0);
}

#[test]
fn watchers_go_on_to_the_next_game_and_outlast_the_delay_without_pictures() {
    // Longer than the timeout of a silent client.
    let delay = SILENCE_MAX.0 / 1000 + 5000;
    let mut sim = Sim::<Skirmish>::with(config(4, delay));
    sim.join_bot(CABLE);
    let client = watcher(&mut sim, Part::Watch);
    sim.run(delay as f64 / 1000.0 + 3.0);
    assert!(sim.clients[client].core().stats().snapshots > 30);
    let before = sim.clients[client].core().newest_tick();
    let next = |room: Room<Skirmish>| Room::open(Box::new(room).close_game(), &[]);
    let room = std::mem::replace(&mut sim.room, Room::new(room_config(9, 0)));
    sim.room = next(room);
    sim.run(delay as f64 / 1000.0 + 3.0);
    let core = sim.clients[client].core();
    assert!(is_watching(&sim, client) && core.newest_tick() > before.plus(600));
    assert!(sim.room.tick().since(core.newest_tick()) >= 60 * delay as u64 / 1000);
}

#[test]
fn drained_server_waits_for_no_watcher_and_a_checkpoint_has_none() {
    let mut sim = Sim::<ShufflePuck>::with(config(4, 0));
    let player = sim.join_bot(CABLE);
    watcher(&mut sim, Part::Watch);
    sim.run(1.0);
    let kept = sim.room.checkpoint(sim.now).expect("it can be kept");
    let rotation = phaselock::server::Rotation::new(config(4, 0));
    let restored =
        Room::<ShufflePuck>::restore(rotation, &[], &kept, sim.now).expect("it is whole");
    assert_eq!((restored.seats_taken(), restored.watchers()), (1, 0));
    let goodbye = phaselock::wire::disconnect::Disconnect::new(
        phaselock::wire::disconnect::Code::Draining,
        "done",
    );
    let drain = Command::Drain { goodbye, within: Micros::from_ms(60_000), restarts: false };
    sim.room.handle_command(sim.now, drain).expect("it takes it");
    assert!(sim.room.drained(sim.now).is_none());
    sim.room.handle_left(sim.clients[player].id, "left");
    sim.clients[player].session.leave("left");
    assert!(sim.room.drained(sim.now).is_some(), "only a watcher is left");
}

#[test]
fn sixteen_watchers_of_all_rinks_take_few_more_bytes_each_than_a_player_of_one() {
    let mut sim = Sim::<ShufflePuck>::with(config(4, 500).with(|it| it.bots = 8));
    let player = sim.join_bot(CABLE);
    let watchers: Vec<_> = (0..16).map(|_| watcher(&mut sim, Part::Watch)).collect();
    sim.run(3.0);
    let bytes = |sim: &Sim<ShufflePuck>, client: usize| {
        sim.room.member_stats(sim.clients[client].id).expect("it is present").bytes
    };
    let all = |sim: &Sim<ShufflePuck>| watchers.iter().map(|it| bytes(sim, *it)).sum::<u64>() / 16;
    let before = (bytes(&sim, player), all(&sim));
    sim.run(8.0);
    let taken = (bytes(&sim, player) - before.0, all(&sim) - before.1);
    assert!(taken.1 > 0 && taken.1 < 2 * taken.0, "{taken:?} bytes in 8 s");
}

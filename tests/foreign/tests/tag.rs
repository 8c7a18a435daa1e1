//! Server and clients of the game in one process: in virtual time, and over QUIC.

use std::error::Error;
use std::time::Duration;

use glam::Vec2;
use phaselock::client::{Client, Notice};
use phaselock::game::{Game, read_message, write_message};
use phaselock::games::Games;
use phaselock::limits::PLAYERS_MAX;
use phaselock::link::LinkConfig;
use phaselock::server::{AnyRoom, Event as HostEvent};
use phaselock::time::{Rates, Tick};
use phaselock_quic::client::Pins;
use phaselock_quic::local::LocalServer;
use phaselock_quic::{Player, connect, serve};
use phaselock_testing::tables::assert_fit;
use phaselock_testing::{Sim, room_config};
use tag::{Ask, Event, Role, Run, SPEED, Square, Tag};

fn right(_: &Client<Tag>, _: Tick) -> Run {
    Run { way: Vec2::X }
}

/// Position of the only player on the server, in metres from the left.
fn place(sim: &Sim<Tag>) -> f32 {
    sim.room.world().entities.iter().next().map_or(0.0, |slot| slot.entity.position.x)
}

fn events(mut poll: impl FnMut() -> Option<Notice>) -> Vec<Event> {
    let notices = std::iter::from_fn(&mut poll);
    let bytes = notices.filter_map(|notice| match notice {
        Notice::Event(bytes) => Some(bytes),
        _ => None,
    });
    bytes.map(|bytes| read_message(&bytes).expect("an event of ours")).collect()
}

#[test]
fn an_undisturbed_player_is_never_corrected() {
    // A single player, because a touch changes the speed and only the server knows about it.
    let mut sim = Sim::<Tag>::new(1, 0);
    let client = sim.join_bot(LinkConfig { loss: 0.02, ..LinkConfig::delayed(100, 10) });
    sim.run(5.0);
    let before = sim.clients[client].core().stats().clone();
    sim.run(30.0);
    assert_eq!(sim.clients[client].core().stats().mispredictions, before.mispredictions);
    assert!(sim.check_store(client) > 0, "what the client has is the truth");
}

#[test]
fn no_way_of_sending_gets_anybody_further() {
    let doubled = LinkConfig { duplication: 1.0, ..LinkConfig::delayed(60, 50) };
    let lossy = LinkConfig { loss: 0.5, ..LinkConfig::delayed(20, 10) };
    for (link, stalls) in
        [(LinkConfig::PERFECT, false), (doubled, false), (lossy, false), (doubled, true)]
    {
        let mut sim = Sim::<Tag>::new(2, 0);
        let client = sim.join(link, Box::new(right));
        sim.run(1.5);
        for second in 0..3 {
            let from = place(&sim);
            // The inputs of half a second are held back, and then arrive at once.
            sim.clients[client].stalled = stalls;
            sim.run(0.5);
            sim.clients[client].stalled = false;
            sim.run(0.5);
            let way = place(&sim) - from;
            assert!(way <= 1.1 * SPEED * 61.0 / 60.0 + 0.01, "{way} m in second {second}");
        }
    }
}

#[test]
fn a_touch_passes_it_on_and_everybody_is_told() {
    let mut sim = Sim::<Tag>::new(3, 5);
    let client = sim.join_bot(LinkConfig::delayed(40, 5));
    sim.run(40.0);
    let it = sim.room.world().entities.iter().filter(|slot| slot.entity.role == Role::It);
    assert_eq!(it.count(), 1, "exactly one player is it");
    let told = events(|| sim.clients[client].session.poll_notice());
    assert!(told.len() > 3 && told.iter().all(|event| matches!(event, Event::Tagged { .. })));
    let tags = std::iter::from_fn(|| sim.room.poll_event())
        .filter(|event| matches!(event, HostEvent::Report { name: "tags", .. }));
    assert!(tags.count() >= told.len(), "and the host gets them as reports");
}

#[test]
fn a_host_configures_the_square_and_no_value_does_harm() {
    let small = write_message(&Square { half: 5.0 }).expect("it is short");
    let mut sim = Sim::<Tag>::with_setup(room_config(4, 0), &small);
    let client = sim.join(LinkConfig::delayed(30, 0), Box::new(right));
    sim.run(8.0);
    let all = sim.clients[client].core().newest();
    assert_eq!(all.iter().next().map(|slot| slot.entity.position.x), Some(5.0));
    assert_eq!(sim.clients[client].core().stats().mispredictions, 0, "both sides know the edge");
    for half in [f32::NAN, f32::INFINITY, -1.0, 0.0, 1e30] {
        let bytes = write_message(&Square { half }).expect("it is short");
        let game = (Tag::KIT.configure)(Rates::DEFAULT, 0, &bytes).expect("it can be read");
        assert!((5.0..=50.0).contains(&game.half()));
    }
}

#[test]
fn a_configured_game_is_the_same_over_quic() -> Result<(), Box<dyn Error>> {
    let games = Games::new().with_setup::<Tag, Square>(&Square { half: 5.0 })?;
    let server = LocalServer::start(games, 0)?;
    let pins = Pins::Fixed(server.fingerprint());
    let mut ada = connect::<Tag>(server.address(), pins, "Ada")?;
    for _ in 0..800 {
        ada.play(Duration::from_millis(20), right)?;
        if ada.client().is_some() {
            break;
        }
    }
    assert_eq!(ada.client().map(|client| client.game().half()), Some(5.0));
    ada.leave("home");
    Ok(())
}

#[test]
fn a_crowd_fits() {
    let config = room_config(5, 120).with(|it| it.players_max = PLAYERS_MAX);
    let mut sim = Sim::<Tag>::with(config);
    let client = sim.join_bot(LinkConfig::delayed(50, 5));
    sim.run(4.0);
    assert_eq!(sim.clients[client].core().newest().len(), 121);
}

#[test]
fn the_tables_are_of_these_records() {
    assert_fit::<Tag>();
}

#[test]
fn two_players_meet_over_quic() -> Result<(), Box<dyn Error>> {
    let server = serve::<Tag>()?;
    let pins = Pins::Fixed(server.fingerprint());
    let mut ada = connect::<Tag>(server.address(), pins.clone(), "Ada")?;
    let mut bob = connect::<Tag>(server.address(), pins, "Bob")?;
    let mut both_seen = false;
    // Until they see each other, for up to half a minute in case the machine is slow.
    for _ in 0..800 {
        for player in [&mut ada, &mut bob] {
            player.play(Duration::from_millis(20), right)?;
        }
        let sees = |it: &&mut Player<Tag>| it.client().is_some_and(|it| it.newest().len() == 2);
        both_seen = [&mut ada, &mut bob].iter().all(sees);
        if both_seen {
            break;
        }
    }
    assert!(both_seen, "{:?}, {:?}", ada.state(), bob.state());
    ada.session().request(&Ask::Shout)?;
    let mut heard = Vec::new();
    let shouted = |heard: &[Event]| heard.iter().any(|it| matches!(it, Event::Shout { .. }));
    for _ in 0..800 {
        if shouted(&heard) {
            break;
        }
        ada.play(Duration::from_millis(20), right)?;
        bob.play(Duration::from_millis(20), right)?;
        heard.extend(events(|| bob.poll_notice()));
    }
    assert!(shouted(&heard), "{heard:?}");
    ada.leave("home");
    bob.leave("home");
    server.stop("the test is over");
    Ok(())
}

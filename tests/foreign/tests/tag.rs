//! Server and clients of the game in one process: in virtual time, and over QUIC.

use std::error::Error;
use std::time::Duration;

use glam::Vec2;
use phaselock::client::{Client, Notice};
use phaselock::game::{Game, read_message, write_message};
use phaselock::games::Games;
use phaselock::limits::PLAYERS_MAX;
use phaselock::link::LinkConfig;
use phaselock::server::{AnyRoom, Event as HostEvent, RoomConfig};
use phaselock::time::{Rates, Tick};
use phaselock_quic::client::Pins;
use phaselock_quic::{connect, serve};
use phaselock_testing::tables::assert_fit;
use phaselock_testing::{Sim, room_config};
use tag::{Ask, Event, Role, Run, SPEED, Square, Tag};

fn right(_: &Client<Tag>, _: Tick) -> Run {
    Run { way: Vec2::X }
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
    // Alone, since a touch changes the speed, and only the server knows of it.
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
    let mut sim = Sim::<Tag>::new(2, 0);
    let client = sim.join(LinkConfig::delayed(30, 5), Box::new(right));
    sim.run(1.0);
    let at = |sim: &Sim<Tag>| {
        sim.room.world().entities.iter().next().map_or(0.0, |slot| slot.entity.position.x)
    };
    let from = at(&sim);
    sim.run(1.0);
    assert!(at(&sim) - from <= 1.1 * SPEED * 1.05, "{} m in a second", at(&sim) - from);
    assert_eq!(sim.clients[client].core().newest().len(), 1);
}

#[test]
fn a_touch_passes_it_on_and_everybody_is_told() {
    let mut sim = Sim::<Tag>::new(3, 5);
    let client = sim.join_bot(LinkConfig::delayed(40, 5));
    sim.run(40.0);
    let it = sim.room.world().entities.iter().filter(|slot| slot.entity.role == Role::It);
    assert_eq!(it.count(), 1, "somebody is it, and nobody else");
    let told = events(|| sim.clients[client].session.poll_notice());
    assert!(told.len() > 3 && told.iter().all(|event| matches!(event, Event::Tagged { .. })));
    let tags = std::iter::from_fn(|| sim.room.poll_event())
        .filter(|event| matches!(event, HostEvent::Report { name: "tags", .. }));
    assert!(tags.count() >= told.len(), "and the host is told as well");
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
    assert!(Games::new().with_setup::<Tag, Square>(&Square::default()).is_ok());
}

#[test]
fn a_crowd_fits() {
    let config = RoomConfig { players_max: PLAYERS_MAX, ..room_config(5, 120) };
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
    // Until they see each other, however slow the machine is.
    while !both_seen {
        for player in [&mut ada, &mut bob] {
            player.play(Duration::from_millis(20), right)?;
        }
        both_seen =
            [&ada, &bob].iter().all(|it| it.client().is_some_and(|c| c.newest().len() == 2));
    }
    ada.session().request(&Ask::Shout)?;
    let mut heard = Vec::new();
    while !heard.iter().any(|event| matches!(event, Event::Shout { .. })) {
        ada.play(Duration::from_millis(20), right)?;
        bob.play(Duration::from_millis(20), right)?;
        heard.extend(events(|| bob.poll_notice()));
    }
    ada.leave("home");
    bob.leave("home");
    server.stop("all have gone");
    Ok(())
}

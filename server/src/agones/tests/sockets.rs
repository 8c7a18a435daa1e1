//! A whole server beside the stand-in, over loopback sockets.

use std::net::TcpListener;
use std::path::Path;
use std::time::Instant;

use phaselock::wire::disconnect::Code;
use phaselock_quic::player::{PlayerKey, PlayerKeys};
use phaselock_quic::server::Gate as _;
use serde_json::json;

use super::super::sidecar::{Sidecar, Update};
use super::standin::StandIn;
use super::*;
use crate::config::AgonesMode;
use crate::host::Host;
use crate::tests::{Served, serve, serve_under_agones};

/// Returns what `/readyz` answers.
fn readyz(served: &Served) -> (u16, String) {
    let agent: ureq::Agent =
        ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let mut answer =
        agent.get(format!("http://{}/readyz", served.admin)).call().expect("it answers");
    (answer.status().as_u16(), answer.body_mut().read_to_string().expect("text"))
}

/// Waits until something holds for the sidecar.
fn until(served: &Served, standin: &StandIn, what: &str, done: impl Fn(&Model) -> bool) {
    let start = Instant::now();
    served.until(what, |_| {
        let (is_done, model) = standin.with(|it| (done(it), format!("{it:?}")));
        assert!(start.elapsed() < secs(50), "{what}: {model}");
        is_done
    });
}

fn key_of(path: &Path) -> String {
    let key = PlayerKey::load(&PlayerKeys::File(path.to_owned())).expect("a key");
    key.public().to_string()
}

fn setting(served: &Served, name: &str) -> String {
    let list = served.wait(served.host.reloader.list());
    list.into_iter().find(|it| it.setting == name).expect("it is there").value
}

#[test]
fn a_server_tells_agones_what_happens_to_it() {
    let standin = StandIn::start();
    let flags = ["--max-players", "4", "--resume-seconds", "0", "--agones-empty-seconds", "1"];
    let served = serve_under_agones(standin.port, &flags);
    until(&served, &standin, "being ready", |it| it.state() == "Ready");
    until(&served, &standin, "being known", |it| {
        it.told("annotations", "fingerprint").is_some_and(|it| it.starts_with("sha256:"))
            && it.told("annotations", "name") == Some("Phaselock")
            && it.told("annotations", "players") == Some("0")
            && it.told("labels", "game") == Some("skirmish")
            && it.told("labels", "version") == Some(env!("CARGO_PKG_VERSION"))
            && it.told("labels", "protocol").is_some_and(|it| it.len() == 16)
            && it.counter("players") == (0, 4)
            && it.list().is_empty()
    });
    let ada = served.join("Ada");
    let key = key_of(&served.key("Ada"));
    until(&served, &standin, "being allocated", |it| {
        it.state() == "Allocated"
            && (it.counter("rooms"), it.counter("players")) == ((1, 1), (1, 4))
            && it.list() == [&key]
    });
    assert_eq!(readyz(&served), (200, "players can join\n".to_owned()));
    assert_eq!(served.host.status_now().agones.as_deref(), Some("Allocated"));
    served.wait(ada.driver.leave("done"));
    until(&served, &standin, "an empty server", |it| it.counter("players") == (0, 4));
    served.until("its end", |host| host.handle.rooms().is_empty());
    served.wait(served.host.leave_fleet());
    assert_eq!(standin.with(|it| it.state().to_owned()), "Shutdown");
}

#[test]
fn a_server_knows_at_which_address_players_reach_it_even_if_agones_names_it() {
    let standin = StandIn::start();
    let address = |text: &str| standin.with(|it| it.set_address(text));
    standin.with(|it| {
        let ports = [("admin", 7000), ("game-tcp", 7012), ("game-udp", 7012)];
        let ports = ports.map(|(name, port)| json!({ "name": name, "port": port }));
        it.server["status"]["ports"] = ports.into_iter().collect();
    });
    address("localhost");
    let served = serve_under_agones(standin.port, &[]);
    let own = || served.kept.gate.exits().own();
    let is_at = |ip: &str| own() == Some(format!("{ip}:7012").parse().expect("an address"));
    served.until("the name", |_| is_at("127.0.0.1"));
    address("moon.invalid");
    served.until("an unknown name", |_| own().is_none());
    standin.with(|it| {
        it.server["status"]["addresses"] = json!([
            { "type": "ExternalIP", "address": "192.0.2.9" },
            { "type": "ExternalDNS", "address": "moon.invalid" },
        ]);
    });
    address("moon.invalid");
    served.until("what the name stands for", |_| is_at("192.0.2.9"));
    address("192.0.2.7");
    served.until("an IP address", |_| is_at("192.0.2.7"));
}

#[test]
fn seats_are_reserved_for_players_who_lost_the_connection() {
    let standin = StandIn::start();
    let served = serve(&[]);
    let ada = served.join("Ada");
    let checkpoint = served.dir.path().join("rooms").join("1.room");
    served.until("a checkpoint with her seat", |_| checkpoint.exists());
    let served = served.restart_under_agones(standin.port);
    drop(ada);
    until(&served, &standin, "being reserved", |it| it.state() == "Reserved");
    assert_eq!(standin.with(|it| it.counter("players").0), 1, "the seat is taken");
}

#[test]
fn an_allocation_sets_game_and_password_and_keeps_seats() {
    let standin = StandIn::start();
    let flags = ["--max-players", "2", "--rooms-max", "3", "--agones-empty-seconds", "0"];
    let served = serve_under_agones(standin.port, &flags);
    until(&served, &standin, "being ready", |it| it.counter("players") == (0, 6));
    let key = key_of(&served.key("Grace"));
    let annotations =
        [("game", "race"), ("rooms", "1"), ("password", "sesame"), ("players", &*key)];
    standin.with(|it| it.allocate(&annotations));
    let needs_password = || served.kept.gate.needs_password();
    let plays =
        |host: &Host, game: &str| host.handle.rooms().iter().all(|it| it.status.game == game);
    served.until("the game", |host| plays(host, "race"));
    served.until("the password", |host| host.handle.rooms().len() == 1 && needs_password());
    until(&served, &standin, "a kept seat", |it| it.counter("players") == (1, 2));
    served.knock("Bob", None).is_put_out(Code::Password, "needs a password");
    let mut bob = served.knock("Bob", Some("sesame"));
    bob.until("a seat", |it| it.joined > 0);
    served.knock("Eve", Some("sesame")).is_put_out(Code::Full, "kept for players who are on");
    let mut grace = served.knock("Grace", Some("sesame"));
    grace.until("her seat", |it| it.joined > 0);
    until(&served, &standin, "both", |it| it.counter("players") == (2, 2));
    served.wait(bob.driver.leave("done"));
    served.wait(grace.driver.leave("done"));
    // The settings go with the match.
    until(&served, &standin, "being ready again", |it| it.state() == "Ready");
    served.until("no password", |_| !needs_password());
    assert_eq!(setting(&served, "game"), "the first game");
    until(&served, &standin, "all seats", |it| it.counter("players") == (0, 6));
}

#[test]
fn an_allocation_with_an_unknown_game_is_reported_and_changes_nothing() {
    let standin = StandIn::start();
    let served = serve_under_agones(standin.port, &[]);
    until(&served, &standin, "being ready", |it| it.state() == "Ready");
    standin.with(|it| it.allocate(&[("game", "chess"), ("password", "sesame")]));
    served.until("a problem", |_| readyz(&served).0 == 503);
    let (_, text) = readyz(&served);
    assert!(text.contains("the allocation is not in force") && text.contains("chess"), "{text}");
    assert_eq!(setting(&served, "password"), "none");
    assert_eq!(served.host.status_now().agones.map(|it| it.contains("chess")), Some(true));
}

#[test]
fn a_private_match_that_cannot_be_set_up_is_open_to_no_one() {
    // The game is checked late, the number of rooms early.
    for bad in [("game", "chess"), ("rooms", "0"), ("password", " ")] {
        let standin = StandIn::start();
        let served = serve_under_agones(standin.port, &["--agones-empty-seconds", "0"]);
        until(&served, &standin, "being ready", |it| it.state() == "Ready");
        let closed = |name, password: Option<&str>| {
            let words = "for a private match with settings that it cannot";
            served.knock(name, password).is_put_out(Code::NotListed, words);
        };
        standin.with(|it| it.allocate(&[("password", "sesame"), bad]));
        served.until("a problem", |_| readyz(&served).1.contains("so no one can join"));
        served.until("being closed", |_| served.kept.gate.is_closed());
        closed("Ada", None);
        closed("Bob", Some("sesame"));
        // The next allocation may be better.
        let good = [("game", ""), ("rooms", ""), ("password", "sesame")];
        standin.with(|it| it.allocate(&good));
        served.until("being open", |_| !served.kept.gate.is_closed());
        assert_eq!(readyz(&served).0, 200);
        served.knock("Ada", None).is_put_out(Code::Password, "needs a password");
        let mut ada = served.knock("Ada", Some("sesame"));
        ada.until("a seat", |it| it.joined > 0);
        // A worse one opens the match to no one either.
        standin.with(|it| it.allocate(&[bad, ("players", "")]));
        served.until("a problem", |_| readyz(&served).0 == 503);
        served.until("being closed", |_| served.kept.gate.is_closed());
        let mut bob = served.knock("Bob", None);
        bob.until("the end", |it| !it.ends.is_empty());
        assert_eq!(bob.joined, 0);
        assert!(ada.ends.is_empty(), "{:?}", ada.ends);
        // The match is over.
        served.wait(ada.driver.leave("done"));
        until(&served, &standin, "being ready again", |it| it.state() == "Ready");
        served.until("being open", |_| !served.kept.gate.needs_password());
        served.knock("Eve", None).until("a seat", |it| it.joined > 0);
    }
}

#[test]
fn an_allocation_with_an_invalid_password_sets_no_game_either() {
    let standin = StandIn::start();
    let served = serve_under_agones(standin.port, &["--max-players", "2", "--rooms-max", "3"]);
    until(&served, &standin, "being ready", |it| it.counter("players") == (0, 6));
    standin.with(|it| it.allocate(&[("game", "race"), ("rooms", "1"), ("password", " ")]));
    served.until("a problem", |_| readyz(&served).1.contains("the allocation is not in force"));
    served.until("the first game", |_| setting(&served, "game") == "the first game");
    assert_eq!(setting(&served, "password"), "none");
    assert_eq!(served.host.handle.rooms_max(), 3);
    until(&served, &standin, "all seats", |it| it.counter("players").1 == 6);
}

#[test]
fn the_game_goes_on_without_a_sidecar_and_readyz_says_why() {
    // Nothing answers on the port, but no other test can take it.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it is bound").port();
    let served = serve_under_agones(port, &[]);
    served.until("a problem", |_| readyz(&served).1.contains("does not answer"));
    let (status, text) = readyz(&served);
    assert_eq!(status, 503);
    assert!(text.contains("the sidecar of Agones at localhost:"), "{text}");
    let ada = served.join("Ada");
    assert!(ada.ends.is_empty(), "{:?}", ada.ends);
    let standin = StandIn::on(listener);
    until(&served, &standin, "being allocated", |it| it.state() == "Allocated");
    served.until("no problem", |_| readyz(&served).0 == 200);
    // The sidecar restarts, with a state from before.
    standin.with(|it| {
        it.set_state("Ready");
        it.restart();
    });
    until(&served, &standin, "being allocated again", |it| it.state() == "Allocated");
}

#[test]
fn an_answer_has_limits() {
    let standin = StandIn::start();
    let sidecar = Sidecar::at(standin.port);
    assert!(sidecar.call(&Call::Look).expect("an answer").contains("Scheduled"));
    standin.with(|it| it.fault = Fault::Endless);
    assert!(matches!(sidecar.call(&Call::Look), Err(Failure::Silent(_))));
    assert!(matches!(sidecar.call(&Call::Health), Err(Failure::Silent(_))));
    let (updates, mut received) = tokio::sync::mpsc::channel(1);
    sidecar.watch(updates);
    let Some(Update::End(why)) = received.blocking_recv() else { panic!("a line") };
    assert!(why.contains("longer than 1048576 bytes"), "{why}");
    standin.with(|it| it.fault = Fault::Silent);
    let begun = Instant::now();
    assert!(matches!(sidecar.call(&Call::Health), Err(Failure::Silent(_))));
    assert!(begun.elapsed() < secs(20), "{:?}", begun.elapsed());
    standin.with(|it| it.fault = Fault::Refuses);
    let refused = sidecar.call(&Call::Ready);
    let message = "this sidecar is broken".to_owned();
    assert_eq!(refused, Err(Failure::Refused { status: 500, message }));
}

#[test]
fn the_environment_decides_unless_the_setting_does() {
    let port = |mode, port: Option<&str>| {
        let variable = |name: &str| port.filter(|_| name == "AGONES_SDK_HTTP_PORT");
        let found = Sidecar::find(mode, |name| variable(name).map(str::to_owned));
        found.map(|it| it.map(|it| it.address().to_owned())).map_err(|it| it.to_string())
    };
    let at = |port: u16| Ok(Some(format!("localhost:{port}")));
    assert_eq!(port(AgonesMode::Auto, None), Ok(None));
    assert_eq!(port(AgonesMode::Auto, Some("")), Ok(None));
    assert_eq!(port(AgonesMode::Auto, Some("9999")), at(9999));
    assert_eq!(port(AgonesMode::On, None), at(9358));
    assert_eq!(port(AgonesMode::Off, Some("9999")), Ok(None));
    let text = "AGONES_SDK_HTTP_PORT is \"here\", but must be the port of Agones";
    assert_eq!(port(AgonesMode::Auto, Some("here")), Err(text.to_owned()));
}

//! Settings of single rooms and games, and settings that change while the server runs.

use std::fs;

use super::*;
use crate::error::ActError;
use crate::store::audit_of;

const FILE: &str = "game = [\"skirmish\", \"race\"]\nmax_players = 20\n\
    [per_game.race]\nbots = 3\nmax_players = 12\n[per_room.lobby]\nmax_players = 8\n\
    [per_room.2]\nbots = 2\n";

/// Starts a server of two rooms with this file. Returns both.
fn with_file(content: &str) -> (Served, tempfile::NamedTempFile) {
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), content).expect("writable");
    let path = file.path().to_str().expect("text").to_owned();
    // A flag sets no bots for all rooms; the file's tables override it.
    let served = serve(&["--config", &path, "--rooms", "2", "--rooms-max", "3"]);
    (served, file)
}

/// Returns game, bots and seats of a room.
fn room(host: &Host, code: &str) -> Option<(String, u16, u16)> {
    let rooms = host.handle.rooms();
    let found = rooms.iter().map(|it| &it.status).find(|it| it.code.as_str() == code)?;
    Some((found.game.clone(), found.bots, found.players_max))
}

fn is(host: &Host, code: &str, game: &str, bots: u16, seats: u16) -> bool {
    room(host, code) == Some((game.to_owned(), bots, seats))
}

#[test]
fn rooms_and_games_have_settings_of_their_own() {
    let (served, file) = with_file(FILE);
    // A room's settings override a game's, which override the general ones.
    served.until("the first games", |it| {
        is(it, "1", "skirmish", 0, 20) && is(it, "2", "race", 2, 12)
    });
    let by = author(Role::Admin);
    served.until("another game", |it| {
        let _ = served.wait(it.play(&by, Some("race"), Some("1")));
        is(it, "1", "race", 3, 12)
    });
    fs::write(file.path(), FILE.replace("bots = 3", "bots = 5")).expect("writable");
    let report = served.wait(served.host.reload(&by)).expect("it is good");
    let changed: Vec<_> =
        report.changed.iter().map(|it| (&*it.setting, &*it.from, &*it.to)).collect();
    assert_eq!(changed, [("per_game.race.bots", "3", "5")]);
    served.until("more bots", |it| is(it, "1", "race", 5, 12) && is(it, "2", "race", 2, 12));
}

#[test]
fn a_reload_turns_replays_of_kills_off() {
    let (served, file) = with_file(FILE);
    fs::write(file.path(), format!("kill_replays = false\n{FILE}")).expect("writable");
    let report = served.wait(served.host.reload(&author(Role::Admin))).expect("it is good");
    let changed: Vec<_> =
        report.changed.iter().map(|it| (&*it.setting, &*it.from, &*it.to)).collect();
    assert_eq!(changed, [("kill_replays", "true", "false")]);
    assert!(report.needs_restart.is_empty());
}

#[test]
fn a_changed_setting_survives_a_reload() {
    let (served, file) = with_file(FILE);
    let (host, by) = (&served.host, author(Role::Admin));
    served.until("the first games", |it| is(it, "1", "skirmish", 0, 20));
    let set = |name: &str, value: Option<&str>| served.wait(host.set_setting(&by, name, value));
    let done = set("max_players", Some("16")).expect("it is good");
    assert!(done.starts_with("max_players is now 16 until the server stops"), "{done}");
    served.until("fewer seats", |it| is(it, "1", "skirmish", 0, 16) && is(it, "2", "race", 2, 12));
    // It overrides the flag, even after a reload of the file, which now has another value.
    set("bots", Some("4")).expect("it is good");
    fs::write(file.path(), FILE.replace("max_players = 20", "max_players = 30")).expect("writable");
    served.wait(host.reload(&by)).expect("it is good");
    served.until("its own", |it| is(it, "1", "skirmish", 4, 16));
    let list = served.wait(host.reloader.list());
    let of = |name: &str| {
        let found = list.iter().find(|it| it.setting == name).expect("it is listed");
        (found.value.clone(), found.origin.clone())
    };
    let (value, origin) = of("max_players");
    assert_eq!((&*value, &*origin), ("16", "max_players set by the admin while the server runs"));
    assert_eq!(of("per_room.2.bots").0, "2");
    assert_eq!(set("max-players", None).expect("it was set"), "max_players is 30 again");
    served.until("the file's", |it| is(it, "1", "skirmish", 4, 30));

    let audit = served.wait(host.store.read(|db| audit_of(db, None, 1))).expect("it reads");
    assert_eq!(audit[0].whom.as_deref(), Some("max_players"));

    for (name, value, problem) in [
        ("max_players", Some("0"), "is \"0\", but must be a whole number from 1 to 1024"),
        ("max_player", Some("4"), "did you mean max_players?"),
        ("tick_hz", Some("30"), "needs a restart"),
        ("allow_list", Some("/etc/passwd"), "names files or addresses"),
        ("webhook", Some("http://127.0.0.1/"), "names files or addresses"),
        ("game", Some("chess"), "chess"),
        ("rounds", None, "was not set at run time"),
    ] {
        let error = set(name, value).expect_err("it is refused").to_string();
        assert!(error.contains(problem), "{name}: {error}");
    }
    let viewer = served.wait(host.set_setting(&author(Role::Moderator), "bots", Some("0")));
    assert!(matches!(viewer, Err(ActError::Forbidden(_))));
    set("password", Some("sesame")).expect("it is good");
    let audit = served.wait(host.store.read(|db| audit_of(db, None, 9))).expect("it reads");
    let last = &audit[0];
    assert_eq!((&*last.act, last.whom.as_deref()), ("set", Some("password")));
    assert_eq!(last.detail.as_deref(), Some("none -> (hidden)"));
}

#[test]
fn a_changed_setting_is_distinguished_from_changed_files() {
    let word = tempfile::NamedTempFile::new().expect("a file");
    fs::write(word.path(), "sesame").expect("writable");
    let path = word.path().to_str().expect("text");
    let served = serve(&["--password-file", path]);
    let (host, by) = (&served.host, author(Role::Admin));
    fs::write(word.path(), "another").expect("writable");
    let done = served.wait(host.set_setting(&by, "keep-days", Some("30"))).expect("it is good");
    assert!(done.starts_with("keep_days is now 30"), "{done}");
    let password = host.reloader.config().borrow().joining.password.clone();
    assert_eq!(password.map(|it| it.0).as_deref(), Some("another"));
    let same = served.wait(host.set_setting(&by, "keep_days", Some("30"))).expect("it is good");
    assert_eq!(same, "keep_days already has that value");
}

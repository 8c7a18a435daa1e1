//! The public page: what it shows, and what it must not show.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use phaselock::client::Part;
use phaselock::game::Best;
use phaselock::identity::PublicKey;
use phaselock::wire::rooms::RoomCode;

use super::board::{NAMES_MAX, NAMES_OF_ROOM_MAX, Person, Place, Records, Room, Score};
use super::*;
use crate::api::Punish;
use crate::author::Role;
use crate::clocks::Clocks;
use crate::config::Config;
use crate::sentence::Act;
use crate::store::{Change, Record};
use crate::tests::{PATIENCE, Served, author, serve};
use crate::web::tests::{body, folder, get, page_of};

const HOSTILE: [&str; 7] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=a()>",
    "</title><body>",
    "' onload='a()",
    "&lt;b&gt;&amp;",
    "\u{202e}drow",
    "{{7*7}}${7*7}",
];

fn room(code: &str, names: &[&str]) -> Room {
    let person = |name: &&str| Person {
        name: (*name).to_owned(),
        scores: vec![Score { measure: "frags".into(), unit: "count", value: 3.0 }],
    };
    Room {
        code: code.into(),
        game: "skirmish".into(),
        round: 1,
        players: names.len() as u16,
        seats: 16,
        bots: 2,
        people: names.iter().map(person).collect(),
    }
}

fn board(rooms: Vec<Room>) -> Board {
    let place = |name: &str| Place { name: name.into(), value: 63.5, time: 1_795_430_400 };
    let records = Records {
        game: "race".into(),
        measure: "lap".into(),
        unit: "seconds",
        best: "least",
        all_time: HOSTILE.map(place).into(),
        month: HOSTILE[1..].iter().map(|name| place(name)).collect(),
        week: Vec::new(),
    };
    Board {
        name: HOSTILE[0].into(),
        games: vec!["skirmish".into(), "race".into()],
        needs_password: false,
        rooms,
        records: vec![records],
    }
}

/// The texts that everyone gets.
fn texts(published: &Published) -> Vec<String> {
    let files = published.pages.iter().chain([&published.json]);
    files.map(|it| String::from_utf8(it.content.to_vec()).expect("text")).collect()
}

#[test]
fn names_are_escaped() {
    let published = Published::of(&board(vec![room("1", &HOSTILE)]));
    let plain = Published::of(&board(vec![room("1", &["a"; HOSTILE.len()])]));
    for (page, plain) in published.pages.iter().zip(&plain.pages) {
        let [page, plain] = [page, plain].map(|it| String::from_utf8_lossy(&it.content));
        // Names add no tags and no attributes.
        for mark in ["<", ">", "\""] {
            assert_eq!(page.matches(mark).count(), plain.matches(mark).count(), "{mark} in {page}");
        }
        assert!(page.contains("<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi>"), "{page}");
        assert!(page.contains("<bdi>&amp;lt;b&amp;gt;&amp;amp;</bdi>"), "{page}");
        assert!(page.contains("<bdi>\u{202e}drow</bdi>"), "{page}");
        assert!(!page.contains("<script") && !page.contains("style="), "{page}");
    }
    let json: serde_json::Value = serde_json::from_slice(&published.json.content).expect("JSON");
    assert_eq!(json["rooms"][0]["people"][1]["name"], HOSTILE[1]);
}

#[test]
fn equal_lists_of_records_are_merged() {
    let mut board = board(Vec::new());
    let html = page::html(&board, LANGUAGES[0]);
    assert!(html.contains("No one is playing."), "{html}");
    assert!(html.contains("Race <small>Best lap</small>"), "{html}");
    assert!(html.contains("<h4>All time</h4>") && html.contains("<h4>Last 30 days</h4>"), "{html}");
    assert!(html.contains("1:03.50") && html.contains("2026-11-23"), "{html}");
    assert!(!html.contains("Last 7 days"), "{html}");
    board.records[0].week = board.records[0].all_time.clone();
    board.records[0].month = board.records[0].all_time.clone();
    let html = page::html(&board, LANGUAGES[1]);
    let spans = "<h4>Insgesamt · Letzte 30 Tage · Letzte 7 Tage</h4>";
    assert!(html.contains(spans) && html.contains("1:03,50"), "{html}");
    assert_eq!(html.matches("<h4>").count(), 1);
    board.records.clear();
    assert!(page::html(&board, LANGUAGES[0]).contains("There are no records yet."));
}

#[test]
fn a_reader_gets_the_language_of_the_link_or_of_the_browser() {
    for (query, accepted, expected) in [
        ("", "", "en"),
        ("", "de", "de"),
        ("", "de-AT, en;q=0.8", "de"),
        ("", "fr, en;q=0.5, de;q=0.7", "de"),
        ("", "en, de", "en"),
        ("", "de;q=0, fr", "en"),
        ("", "DE;q=x, *", "en"),
        ("lang=de", "en", "de"),
        ("x=1&lang=en", "de", "en"),
        ("lang=tlh", "de", "de"),
        ("lang=", "", "en"),
    ] {
        let found = LANGUAGES[language(query, accepted)].tag;
        assert_eq!(found, expected, "{query:?} with {accepted:?}");
    }
}

#[tokio::test]
async fn the_page_is_off_by_default() {
    let folder = folder();
    let (_server, mut page) = page_of(folder.path(), Config::default());
    for path in ["/public", "/public.json", "/public.css"] {
        assert_eq!(page.answer(&get(path, &[])).status(), StatusCode::NOT_FOUND, "{path}");
    }
    let published = Arc::new(Published::of(&board(Vec::new())));
    let (shown, public) = watch::channel(Some(published));
    Arc::get_mut(&mut page).expect("no other client has it").public = public;
    let german = get("/public", &[(header::ACCEPT_LANGUAGE, "de")]);
    let response = page.answer(&german);
    assert_eq!(response.status(), StatusCode::OK);
    let headers = response.headers();
    assert_eq!(headers[header::CONTENT_TYPE], "text/html; charset=utf-8");
    assert_eq!(headers[header::CACHE_CONTROL], "public, max-age=5");
    assert_eq!(headers[header::CONTENT_SECURITY_POLICY], POLICY);
    assert_eq!(headers[header::VARY], "accept-language, origin");
    assert_eq!(headers["x-robots-tag"], "noindex");
    let tag = headers[header::ETAG].to_str().expect("text").to_owned();
    assert!(body(response).await.contains("<html lang=\"de\">"));
    let known = |path: &str, tag: &str| {
        let asked = [(header::IF_NONE_MATCH, tag), (header::ACCEPT_LANGUAGE, "de")];
        page.answer(&get(path, &asked)).status()
    };
    assert_eq!(known("/public", &tag), StatusCode::NOT_MODIFIED);
    // The content changes with the language, and after a change.
    assert_eq!(known("/public?lang=en", &tag), StatusCode::OK);
    let other = Published::of(&board(vec![room("1", &["Ada"])]));
    shown.send_replace(Some(Arc::new(other)));
    assert_eq!(known("/public", &tag), StatusCode::OK);
    let style = page.answer(&get("/public.css", &[]));
    assert_eq!(style.headers()[header::CONTENT_TYPE], "text/css; charset=utf-8");
    shown.send_replace(None);
    assert_eq!(page.answer(&german).status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn allowed_hosts_can_read_the_json() {
    let folder = folder();
    let origin = "https://play.example.org";
    let mut config = Config::default();
    config.http.web_origins = vec![origin.to_owned()];
    let (_server, mut page) = page_of(folder.path(), config);
    let published = Arc::new(Published::of(&board(Vec::new())));
    let (_shown, public) = watch::channel(Some(published));
    Arc::get_mut(&mut page).expect("no other client has it").public = public;
    let response = page.answer(&get("/public.json", &[(header::ORIGIN, origin)]));
    assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
    assert_eq!(response.headers()[header::ACCESS_CONTROL_ALLOW_ORIGIN], origin);
    let response = page.answer(&get("/public.json", &[(header::ORIGIN, "https://evil.example")]));
    assert_eq!(response.headers().get(header::ACCESS_CONTROL_ALLOW_ORIGIN), None);
}

fn best(name: &str, key: u8, value: f64, is_public: bool) -> Change {
    Change::Record(Record {
        // Not a part of a port that the system chose.
        time: 1_000_000_000,
        game: "skirmish".into(),
        measure: "frags".into(),
        key: PublicKey([key; 32]),
        name: name.into(),
        value,
        best: Best::Most,
        is_public,
        run: None,
    })
}

/// Returns the page of a server as it is now.
fn published(served: &Served) -> Published {
    let mut bests = Bests::default();
    served.wait(bests.read(&served.host));
    Published::of(&Board::of(&served.host, &bests))
}

#[test]
fn the_page_reveals_nothing_private() {
    let served = serve(&["--rooms-max", "2", "--name", "Friday night"]);
    let host = &served.host;
    let admin = author(Role::Admin);
    served.wait(host.set_setting(&admin, "bots", Some("3"))).expect("an admin may");
    let _ada = served.join("Ada");
    let _eve = served.join("Eve");
    let mut sleepers = Vec::new();
    for (name, room, part) in
        [("Watcher", None, Part::Watch), ("Secretive", Some("hideout"), Part::Play)]
    {
        let mut player = served.knock_by(name, |config| {
            config.room = room.map(|code| code.parse::<RoomCode>().expect("a code"));
            config.part = part;
        });
        player.until("being in the game", |it| it.joined > 0);
        sleepers.push(player);
    }
    for (act, name) in [(Act::Mute, "Eve"), (Act::Ban, "Eve")] {
        let reason = "for spitefulness".to_owned();
        let request = Punish { who: Some(name.into()), reason, ..Punish::default() };
        served.wait(host.punish(&admin, act, &request)).expect("done");
    }
    served.until("her leaving", |host| {
        let figures = host.figures();
        let figures = figures.borrow();
        let is_here = |name: &str| figures.players.iter().any(|it| it.name == name);
        let bots = figures.status.rooms.iter().find(|it| it.code == "1").map(|it| it.bots);
        is_here("Ada") && is_here("Secretive") && !is_here("Eve") && bots == Some(3)
    });
    let token = served.wait(host.make_token(&admin, "gadget", Role::Viewer)).expect("made");
    let key = b"K"[0];
    let records = vec![best("Champion", key, 9.0, true), best("Hidden", 2, 99.0, false)];
    served.wait(host.store.write(records)).expect("written");

    let mut secrets: Vec<_> = [
        "Watcher",
        "Secretive",
        "hideout",
        "Eve",
        "spitefulness",
        "Hidden",
        "gadget",
        "127.0.0.1",
        "::1",
        &token,
        &"4b".repeat(32),
    ]
    .map(str::to_owned)
    .into();
    secrets.extend([served.address, served.admin].map(|it| it.port().to_string()));
    secrets.push(served.dir.path().display().to_string());
    secrets.push(host.reloader.fingerprint().to_string());
    let figures = host.figures().borrow().clone();
    secrets.extend(figures.players.iter().map(|it| it.key.clone()));
    secrets.extend(figures.players.iter().filter_map(|it| it.address.clone()));
    let all = texts(&published(&served));
    for text in &all {
        assert!(text.contains("Ada") && text.contains("Champion"), "{text}");
        assert!(text.contains("Friday night"), "{text}");
        for secret in &secrets {
            // Also keys and fingerprints by their beginnings.
            let start: String = secret.chars().take(16).collect();
            assert!(!text.contains(&start), "{secret:?} is in {text}");
        }
    }
    let json: serde_json::Value = serde_json::from_str(&all[LANGUAGES.len()]).expect("JSON");
    let known = serde_json::json!({
        "name": "Friday night", "games": ["skirmish"], "needs_password": false,
        "rooms": [{
            "code": "1", "game": "skirmish", "round": 1, "players": 1, "seats": 64, "bots": 3,
            "people": [{
                "name": "Ada", "scores": [{ "measure": "frags", "unit": "count", "value": 0.0 }],
            }],
        }],
        "records": json["records"],
    });
    assert_eq!(json, known, "there is nothing else");

    served.wait(host.set_setting(&admin, "password", Some("opensesame"))).expect("done");
    for text in texts(&published(&served)) {
        for secret in ["Ada", "Champion", "opensesame", "\"1\"", "64"] {
            assert!(!text.contains(secret), "{secret:?} is in {text}");
        }
        assert!(text.contains("Friday night") && text.to_lowercase().contains("skirmish"));
    }
}

#[test]
fn records_survive_a_restart_until_the_player_is_forgotten() {
    let served = serve(&[]);
    let records = vec![best("Champion", 7, 9.0, true), best("Second", 8, 3.0, true)];
    served.wait(served.host.store.write(records)).expect("written");
    let served = served.restart(Clocks::begin);
    let names = |served: &Served| {
        let json = published(served).json.content;
        let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
        let places = json["records"][0]["all_time"].as_array().cloned().unwrap_or_default();
        let names = places.iter().map(|it| it["name"].as_str().unwrap_or_default().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(&served), ["Champion", "Second"]);
    let key = PublicKey([7; 32]).to_string();
    served.wait(served.host.forget(&author(Role::Admin), &key)).expect("an admin may");
    assert_eq!(names(&served), ["Second"]);
}

#[test]
fn the_better_score_comes_first_and_none_last() {
    let numbers = [Some(2.0), None, Some(1.0), Some(f64::NAN), None, Some(3.0)];
    for (best, expected) in [(Best::Least, [1.0, 2.0, 3.0]), (Best::Most, [3.0, 2.0, 1.0])] {
        let mut sorted = numbers;
        sorted.sort_by(|a, b| board::in_order(best, *a, *b));
        let numbers = sorted.iter().flatten().filter(|it| it.is_finite()).copied();
        assert_eq!(numbers.collect::<Vec<_>>(), expected);
        assert_eq!(sorted[4..], [None, None]);
    }
}

#[test]
fn a_crowd_is_listed_up_to_a_limit() {
    let served = serve(&[]);
    let host = &served.host;
    let mut players: Vec<_> = ["Ada", "Bob", "Cyd"].map(|name| served.join(name)).into();
    players.iter_mut().for_each(|it| it.play(Duration::from_millis(50)));
    let mut figures = host.handle.rooms();
    let mut rooms = Vec::new();
    let mut measured = (*figures[0].measured).clone();
    measured.players = (0..1024).map(|_| measured.players[0].clone()).collect();
    figures[0].measured = Arc::new(measured);
    figures[0].status.players = 1024;
    for number in 1..=256 {
        let mut room = figures[0].clone();
        room.status.code = RoomCode::numbered(number);
        rooms.push(room);
    }
    let rooms = board::rooms(host, &rooms);
    assert_eq!(rooms.len(), 256);
    let named: Vec<_> = rooms.iter().map(|room| room.people.len()).collect();
    assert_eq!(named.iter().sum::<usize>(), NAMES_MAX);
    assert_eq!(named[0], NAMES_OF_ROOM_MAX);
    assert!(rooms.iter().all(|room| room.players == 1024));
    let html = page::html(&board(rooms), LANGUAGES[0]);
    assert!(html.contains("and 924 more") && html.contains("262144 people"));
    assert!(html.len() < 512 * 1024, "{} bytes", html.len());
}

#[test]
fn the_page_follows_its_setting_and_stays_current() {
    let served = serve(&["--web", "127.0.0.1:0"]);
    let (shown, mut public) = watch::channel(None);
    let host = Arc::clone(&served.host);
    served.runtime.spawn(async move { publish(&host, &shown).await });
    let request: Request<Body> = get("/public", &[]);
    let set = |value: &str| {
        let by = author(Role::Admin);
        served.wait(served.host.set_setting(&by, "public_page", Some(value))).expect("it is good");
    };
    let mut next = |is_wanted: &dyn Fn(Option<&Published>) -> bool| {
        served.wait(async {
            let found = public.wait_for(|it| is_wanted(it.as_deref()));
            let found = timeout(PATIENCE, found).await;
            found.expect("in time").map(drop).expect("it continues");
        });
    };
    set("true");
    next(&|it| it.is_some());
    let _ada = served.join("Ada");
    let names_ada = |it: Option<&Published>| {
        let page = it.and_then(|it| it.get(PAGE, &request));
        page.map(|page| String::from_utf8_lossy(&page.content).contains("Ada"))
    };
    next(&|it| names_ada(it) == Some(true));
    // A database that is stuck keeps no name on the page of a server that has become private.
    let (resume, hang) = std::sync::mpsc::channel::<()>();
    let host = Arc::clone(&served.host);
    served.runtime.spawn(async move {
        let hung = host.store.read(move |_| Ok(hang.recv().is_err()));
        let by = author(Role::Admin);
        let private = host.set_setting(&by, "password", Some("sesame"));
        tokio::join!(hung, private)
    });
    next(&|it| names_ada(it) == Some(false));
    drop(resume);
    set("false");
    next(&|it| it.is_none());
}

//! Tests of the player's servers, the list, and the question of trust.

use std::fs;

use crate::visit::connection::Changed;
use phaselock::fingerprint::Fingerprint;
use phaselock::time::Micros;
use phaselock::wire::query::Info;
use phaselock_quic::address::Address;
use phaselock_quic::invitation::Invitation;
use phaselock_quic::pins::KnownHosts;
use phaselock_quic::survey::{Found, Reply, Via};

use super::list::{Column, Filter, Tab, rows};
use super::server_lists::{FAVOURITES_MAX, FILE_BYTES_MAX, HISTORY_MAX, Pages, ServerLists};
use super::trust::Trust;

fn address(text: &str) -> Address {
    text.parse().expect("an address")
}

#[test]
fn book_is_kept_and_shared_between_windows() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("deep").join("servers.toml");
    let mut one = ServerLists::open(Some(path.clone()));
    let mut two = ServerLists::open(Some(path.clone()));
    one.change(|pages| pages.star(&address("a"), "A's", true));
    two.change(|pages| pages.visited(&address("b:5"), "B's"));
    two.change(|pages| pages.directories.push(Address::parse_directory("d").expect("one")));
    for book in [&two, &ServerLists::open(Some(path.clone()))] {
        assert_eq!(book.pages.favourites[0].name, "A's");
        assert_eq!(book.pages.history[0].address, address("b:5"));
        assert_eq!(book.pages.directories[0].to_string(), "d:4435");
        assert_eq!(book.problem(), None);
    }
    one.change(|pages| pages.star(&address("a"), "", false));
    assert!(ServerLists::open(Some(path)).pages.favourites.is_empty());
}

#[test]
fn files_that_cannot_be_used_are_set_aside_and_not_lost() {
    let long = " ".repeat(FILE_BYTES_MAX + 1).into_bytes();
    let many = "[[history]]\naddress = \"a\"\n".repeat(HISTORY_MAX + 1).into_bytes();
    let starred = "[[favourites]]\naddress = \"a\"\n".repeat(FAVOURITES_MAX + 1).into_bytes();
    for content in [
        b"favourites = 3".to_vec(),
        b"\xff\xfe".to_vec(),
        long,
        many,
        starred,
        b"x = [".to_vec(),
        b"[[history]]\naddress = \"a b\"".to_vec(),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("servers.toml");
        fs::write(&path, &content).expect("written");
        let mut book = ServerLists::open(Some(path.clone()));
        assert!(book.problem().is_some_and(|problem| problem.contains("servers.toml")));
        assert_eq!(fs::read(&path).expect("it is there"), content, "reading changes nothing");
        book.change(|pages| pages.visited(&address("a"), "A"));
        assert_eq!(book.pages.history.len(), 1);
        // Damaged since it was read.
        fs::write(&path, &content).expect("written");
        book.change(|pages| pages.visited(&address("b"), "B"));
        assert_eq!(book.pages.history.len(), 2);
        let aside = folder.path().join("servers.toml.broken");
        assert_eq!(fs::read(aside).expect("it is there"), content);
        assert_eq!(ServerLists::open(Some(path)).pages, book.pages);
    }
}

#[test]
fn traces_of_editors_mean_nothing_and_mistakes_have_their_line() {
    let text = "directories = [\"d\"]\n\n[[favourites]]\naddress = \"a\"\nname = \"A\"\n";
    let expected = Pages::parse(text.as_bytes()).expect("it is good");
    for text in [
        format!("\u{feff}{text}"),
        text.replace('\n', "\r\n"),
        format!("\u{feff}{}", text.replace('\n', "\r")),
        text.replace('\n', "  \n"),
    ] {
        assert_eq!(Pages::parse(text.as_bytes()).as_ref(), Ok(&expected), "{text:?}");
    }
    let says = |bytes: &[u8]| Pages::parse(bytes).expect_err("it is wrong").to_string();
    for (from, to, expected) in [
        ("\"a\"", "\"a b\"", "line 4: \"a b\" is not an address"),
        ("\"d\"", "\"http://d\"", "line 1: \"http://d\" is not an address"),
        ("name =", "name", "line 5: "),
    ] {
        let text = text.replace(from, to).replace('\n', "\r");
        assert!(says(text.as_bytes()).starts_with(expected), "{}", says(text.as_bytes()));
    }
    assert!(says(b"\xff\xfed\0").contains("it is in UTF-16"));
}

#[test]
fn book_is_bounded_and_the_oldest_are_forgotten() {
    let mut pages = Pages::default();
    for number in 0..2 * FAVOURITES_MAX {
        let server = address(&format!("s{number}"));
        pages.visited(&server, &"é".repeat(400));
        pages.star(&server, "x\u{202e}\ny", true);
    }
    assert_eq!((pages.favourites.len(), pages.history.len()), (FAVOURITES_MAX, HISTORY_MAX));
    assert_eq!(pages.favourites[0].name, "xy");
    assert!(pages.history[0].name.len() <= 256);
    assert_eq!(pages.history[0].address, address("s511"));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("servers.toml");
    let mut book = ServerLists::open(Some(path.clone()));
    book.change(|it| it.clone_from(&pages));
    assert_eq!(ServerLists::open(Some(path)).pages, pages);
}

fn found(name: &str, players: u32, ping_ms: i64, via: Via) -> Found {
    let info = Info {
        server: name.into(),
        games: vec![format!("game of {name}")],
        players,
        players_max: 8,
        needs_password: name == "Locked",
        ..Info::default()
    };
    let reply = Reply::Answered(Box::new(info), Micros::from_ms(ping_ms));
    Found { address: address(name), via, listed: None, reply }
}

#[test]
fn rows_are_filtered_and_sorted() {
    let lan = Via { lan: true, ..Via::default() };
    let net = Via { directory: true, ..Via::default() };
    let mut all =
        vec![found("Full", 8, 90, lan), found("Locked", 2, 10, lan), found("empty", 0, 50, lan)];
    all.push(found("Far", 3, 300, net));
    let silent = Found { reply: Reply::Silent, ..found("Away", 0, 0, lan) };
    all.push(silent);
    let pages = Pages::default();
    let names = |tab, filter: &Filter, order| -> Vec<String> {
        let rows = rows(tab, &all, &pages, filter, order);
        rows.iter().map(|row| row.name.clone()).collect()
    };
    let any = Filter::default();
    let by = |column, is_reversed| names(Tab::Lan, &any, (column, is_reversed));
    assert_eq!(by(Column::Ping, false), ["Locked", "empty", "Full", "away:4433"]);
    assert_eq!(by(Column::Ping, true), ["Full", "empty", "Locked", "away:4433"]);
    assert_eq!(by(Column::Players, false), ["Full", "Locked", "empty", "away:4433"]);
    assert_eq!(by(Column::Name, false), ["empty", "Full", "Locked", "away:4433"]);
    assert_eq!(names(Tab::Internet, &any, (Column::Order, false)), ["Far"]);
    let plain = (Column::Order, false);
    let filter = |filter: Filter| names(Tab::Lan, &filter, plain);
    assert_eq!(filter(Filter { not_full: true, ..any.clone() }), ["Locked", "empty"]);
    assert_eq!(filter(Filter { not_empty: true, ..any.clone() }), ["Full", "Locked"]);
    assert_eq!(filter(Filter { text: " OF FULL ".into(), ..any.clone() }), ["Full"]);
    let open = Filter { no_password: true, ..any.clone() };
    assert_eq!(filter(open), ["Full", "empty", "away:4433"]);
}

#[test]
fn favourites_are_shown_before_they_have_answered() {
    let mut pages = Pages::default();
    pages.star(&address("a"), "Ada's", true);
    let rows = rows(Tab::Favourites, &[], &pages, &Filter::default(), (Column::Order, false));
    assert_eq!((rows[0].name.as_str(), rows[0].starred), ("Ada's", true));
}

#[test]
fn accepted_certificate_is_the_known_one_from_then_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("known_hosts");
    let [before, after] = [1, 2].map(|byte| Fingerprint([byte; 32]));
    let mut known = KnownHosts::open(&path).expect("no file yet");
    known.remember("a:4433", before).expect("written");
    let changed = Changed { host: "a:4433".into(), expected: before, found: after };
    let invitation = Invitation { address: address("a"), fingerprint: None };
    let trust = Trust { changed, invitation };
    trust.accept_in(path.clone()).expect("accepted");
    assert_eq!(KnownHosts::open(&path).expect("valid").check("a:4433"), Some(after));
    let other = Changed { expected: before, found: Fingerprint([3; 32]), ..trust.changed.clone() };
    let late = Trust { changed: other, ..trust };
    assert!(late.accept_in(path).is_err(), "it has changed once more since");
}

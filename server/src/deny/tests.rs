//! Deny lists against a web server on this machine, and at the gate.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::{Duration, Instant};

use phaselock::identity::{Credentials, Proof, PublicKey};
use phaselock::time::LocalTime;
use phaselock::wire::control::Hello;
use phaselock::wire::disconnect::Code;
use phaselock_quic::server::Gate as _;

use super::*;
use crate::author::Role;
use crate::outgoing;
use crate::people::{AccessLists, Gatekeeper, GivenRole, Rules};
use crate::ranges::LIST_BYTES_MAX;
use crate::tests::{PATIENCE, serve};

const LISTED: &str = "192.0.2.7";
const GOOD: &str = "200 OK";

/// A web server that gives these answers, each a status with headers and a body, and then closes
/// each connection. The length is added unless the headers have one.
fn web(answers: &[(&str, &str)]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it is bound");
    let answers: Vec<_> = answers.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    thread::spawn(move || {
        let mut answers = answers.iter();
        for stream in listener.incoming().flatten() {
            let Some((head, body)) = answers.next() else { continue };
            let mut reader = BufReader::new(stream);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|len| len > 2) {
                line.clear();
            }
            let len = match head.contains("content-length") {
                true => String::new(),
                false => format!("content-length: {}\r\n", body.len()),
            };
            let answer = format!("HTTP/1.1 {head}\r\n{len}connection: close\r\n\r\n{body}");
            let _ = reader.get_mut().write_all(answer.as_bytes());
        }
    });
    address
}

fn of_url(url: &str) -> DenyList {
    DenyList::Url(url.to_owned())
}

fn of_file(path: &str, text: &str) -> DenyList {
    let ranges = Ranges::parse(text.as_bytes()).expect("it is a list");
    DenyList::File { path: path.into(), ranges: Arc::new(ranges) }
}

fn open(dir: &Path, lists: &[DenyList]) -> Arc<DenyLists> {
    DenyLists::open(dir, Clocks::begin(None), lists)
}

fn refuses(lists: &DenyLists, address: &str) -> bool {
    lists.refuse(address.parse().expect("an address"))
}

fn until(what: &str, done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < PATIENCE, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_failed_fetch_keeps_the_last_good_list_across_restarts() {
    let never = TcpListener::bind("127.0.0.1:0").expect("a port");
    let moved = never.local_addr().expect("it is bound");
    let moved = format!("302 Found\r\nlocation: http://{moved}/");
    let large = format!("200 OK\r\ncontent-length: {}", LIST_BYTES_MAX + 1);
    let too_large = "\n".repeat(LIST_BYTES_MAX + 1);
    let bad = [
        ("404 Not Found", "198.51.100.1", "the server answered 404"),
        (&*moved, "", "redirects are not followed"),
        (GOOD, "198.51.100.1\n<html>", "line 2 has \"<html>\", but an address looks like"),
        (GOOD, " \r\n", "it is empty"),
        (&*large, &*too_large, "cannot read the list"),
        ("200 OK\r\ncontent-length: 100", "198.51.100.1", "cannot read the list"),
    ];
    let good = (GOOD, "\u{feff}# VPNs\r\n192.0.2.0/24\r\n");
    let answers = bad.iter().map(|(head, body, _)| (*head, *body));
    let answers: Vec<_> = [good].into_iter().chain(answers).collect();
    let url = format!("http://{}/list.txt?key=secret", web(&answers));
    let dir = tempfile::tempdir().expect("a directory");
    let lists = open(dir.path(), &[of_url(&url)]);
    assert!(!refuses(&lists, LISTED));
    let agent = outgoing::agent(PATIENCE);
    assert!(lists.refresh(&agent, &url), "{:?}", lists.view());
    let first = lists.view().remove(0);
    assert_eq!((first.entries, &first.problem), (1, &None));
    assert!(!first.list.contains("secret"), "{first:?}");
    for (_, _, problem) in bad.into_iter().chain([("", "", "no answer")]) {
        assert!(!lists.refresh(&agent, &url), "{problem}");
        let view = lists.view().remove(0);
        let told = view.problem.as_deref().unwrap_or_default();
        assert!(told.contains(problem) && !told.contains("secret"), "{problem}: {told}");
        assert_eq!((view.entries, view.fetched), (1, first.fetched));
        assert!(refuses(&lists, LISTED) && !refuses(&lists, "198.51.100.1"));
    }
    assert_eq!(lists.refreshes(), [("succeeded", 1), ("failed", 7)]);
    never.set_nonblocking(true).expect("it is a socket");
    assert!(never.accept().is_err(), "a redirect was followed");

    // The next start still has the list, although nothing answers.
    let lists = open(dir.path(), &[of_url(&url)]);
    assert!(refuses(&lists, LISTED));
    assert_eq!(lists.view()[0].fetched, first.fetched);
    // A damaged file is reported, and a list that is no longer configured is removed.
    let folder = dir.path().join(FOLDER);
    let files = || fs::read_dir(&folder).expect("a folder").flatten().map(|it| it.path());
    fs::write(files().next().expect("it is kept"), "192.0.2.0/24").expect("writable");
    let lists = open(dir.path(), &[of_url(&url)]);
    let problem = lists.view()[0].problem.clone().unwrap_or_default();
    assert!(problem.contains("cannot use the saved list"), "{problem}");
    open(dir.path(), &[of_url("http://127.0.0.1/other")]);
    assert_eq!(files().count(), 0);
}

#[test]
fn the_thread_fetches_a_list_when_the_settings_name_it() {
    let address = web(&[(GOOD, "192.0.2.0/24"), (GOOD, "198.51.100.0/24")]);
    let [one, other] = ["one", "other"].map(|it| of_url(&format!("http://{address}/{it}")));
    let dir = tempfile::tempdir().expect("a directory");
    let lists = open(dir.path(), &[]);
    let thread = lists.start().expect("a thread");
    let has_ended = thread.watch();
    lists.set(std::slice::from_ref(&one));
    until("the first list", || refuses(&lists, LISTED));
    let before = lists.view().remove(0);
    // The first list stays as it was fetched, and is not fetched again.
    lists.set(&[of_file("vpn.txt", "203.0.113.7"), other, one]);
    until("the second list", || refuses(&lists, "198.51.100.1"));
    assert!(refuses(&lists, LISTED) && refuses(&lists, "203.0.113.7"));
    let view = lists.view();
    assert_eq!((view[0].refused, view[0].fetched), (1, None));
    assert_eq!((view[2].fetched, view[2].refused), (before.fetched, before.refused + 1));
    lists.set(&[of_file("vpn.txt", "203.0.113.8")]);
    assert!(!refuses(&lists, LISTED) && !refuses(&lists, "203.0.113.7"));
    assert!(refuses(&lists, "203.0.113.8"));
    assert_eq!(lists.view()[0].refused, 2);
    assert!(!has_ended());
    thread.end();
    until("the end", has_ended);
}

fn hello(key: PublicKey) -> Hello {
    Hello {
        wire: 0,
        version: String::new(),
        name: "Ada".to_owned(),
        games: Vec::new(),
        sent: LocalTime(0),
        credentials: Credentials { key, proof: Proof::default() },
        resume: None,
        wishes: 0,
        room: None,
        password: None,
        look: Default::default(),
        ticket: None,
    }
}

#[test]
fn the_gate_refuses_listed_addresses_except_those_of_staff_and_this_machine() {
    let dir = tempfile::tempdir().expect("a directory");
    let list = of_file("vpn.txt", "192.0.2.0/24\n127.0.0.0/8\n::1/128\n2001:db8::/32");
    let (lists, clocks) = (open(dir.path(), &[list]), Clocks::begin(None));
    let access = Arc::new(AccessLists::default());
    let gate = Gatekeeper::new(Arc::clone(&access), clocks, Rules::default(), lists);
    let (player, staff) = (PublicKey([1; 32]), PublicKey([2; 32]));
    for role in Role::ALL {
        let given = GivenRole { name: None, role, author: "x".into(), made: 0 };
        access.set_role(staff, Some(given)).expect("there is space");
        for (key, address, is_in) in [
            (player, "192.0.2.7:1", false),
            (player, "[::ffff:192.0.2.7]:1", false),
            (player, "[2001:db8::1]:1", false),
            (staff, "192.0.2.7:1", true),
            (player, "192.0.3.7:1", true),
            (player, "127.0.0.1:1", true),
            (player, "[::ffff:127.0.0.1]:1", true),
            (player, "[::1]:1", true),
        ] {
            let judged = gate.judge(&hello(key), address.parse().expect("an address"));
            assert_eq!(judged.is_ok(), is_in, "{address}");
            if let Err(goodbye) = judged {
                assert_eq!(goodbye.code, Code::Banned);
                assert!(goodbye.text.contains("turn off your VPN or proxy"), "{goodbye:?}");
            }
            // Players with a role can join from the same address at once.
            assert!(gate.lets_knock(LISTED.parse().expect("an address")));
        }
    }
    assert_eq!(gate.deny_lists().refused(), 9);
}

#[test]
fn a_server_shows_its_lists() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("vpn.txt");
    fs::write(&path, "127.0.0.0/8\n192.0.2.0/24\n").expect("writable");
    let path = path.to_str().expect("text");
    let served = serve(&["--deny-lists", path]);
    served.join("Ada");
    served.until("the state of the list", |host| {
        let status = host.status_now();
        let view = status.deny_lists.first();
        view.is_some_and(|it| it.list == path && it.entries == 2 && it.refused == 0)
    });
}

//! Surveys in virtual time, and one over real UDP on this machine.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use phaselock::fingerprint::Fingerprint;
use phaselock::random::Random;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::directory::{Listed, Question};
use phaselock::wire::query::{Info, parse_question};

use super::queries::APART;
use super::*;
use crate::address::Address;

fn ms(ms: i64) -> LocalTime {
    LocalTime(1 + ms * 1000)
}

fn at(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

fn info(name: &str, print: u8) -> Info {
    let fingerprint = Some(Fingerprint([print; 32]));
    Info { server: name.into(), fingerprint, ..Info::default() }
}

/// Returns everything that is sent until no query is pending, with its time.
fn run(
    survey: &mut Survey,
    mut answer: impl FnMut(SocketAddr, &[u8]) -> Option<(SocketAddr, Vec<u8>, i64)>,
) -> Vec<LocalTime> {
    let (mut now, mut sent) = (ms(0), Vec::new());
    let mut under_way: Vec<(LocalTime, SocketAddr, Vec<u8>)> = Vec::new();
    loop {
        while let Some((to, bytes)) = survey.poll_transmit(now) {
            sent.push(now);
            if let Some((from, bytes, after)) = answer(to, &bytes) {
                under_way.push((now + Micros::from_ms(after), from, bytes));
            }
        }
        under_way.sort();
        let next = under_way.first().map(|(at, ..)| *at);
        let Some(due) = next.into_iter().chain(survey.next_timeout()).min() else { return sent };
        now = due.max(now);
        while under_way.first().is_some_and(|(at, ..)| *at <= now) {
            let (_, from, bytes) = under_way.remove(0);
            survey.handle_packet(now, from, &bytes);
        }
    }
}

#[test]
fn servers_are_asked_at_a_bounded_rate_and_pings_are_measured() {
    let mut survey = Survey::new(7);
    for number in 0..200_u8 {
        let remote = SocketAddr::new([203, 0, 113, number].into(), 4433);
        survey.ask(remote.into(), vec![remote]);
    }
    survey.ask("nowhere.example".parse().expect("an address"), vec![]);
    let sent = run(&mut survey, |to, bytes| {
        let IpAddr::V4(ip) = to.ip() else { panic!("it is IPv4") };
        let number = ip.octets()[3];
        let nonce = parse_question(bytes).expect("a question");
        let answers = number.is_multiple_of(2);
        answers.then(|| (to, info("x", number).answer(nonce, bytes.len()), i64::from(number)))
    });
    assert_eq!(sent.len(), 100 + 3 * 100, "the silent ones are asked three times");
    assert!(sent.windows(2).all(|pair| pair[1] - pair[0] >= APART));
    for found in survey.found() {
        let number: i64 = found.address.host().rsplit('.').next().unwrap().parse().unwrap_or(1);
        match &found.reply {
            Reply::Answered(_, took) if number % 2 == 0 => {
                assert_eq!(*took, Micros::from_ms(number))
            }
            Reply::Silent if number % 2 == 1 => {}
            reply => panic!("{number}: {reply:?}"),
        }
    }
}

#[test]
fn answers_count_from_whom_was_asked_alone() {
    let mut survey = Survey::new(7);
    let remote = at("203.0.113.7:4433");
    survey.ask(remote.into(), vec![remote]);
    run(&mut survey, |to, bytes| {
        let nonce = parse_question(bytes).expect("a question");
        let forger = SocketAddr::new(to.ip(), 9);
        Some((forger, info("forged", 1).answer(nonce, bytes.len()), 1))
    });
    assert_eq!(survey.found().next().expect("it").reply, Reply::Silent);
}

#[test]
fn directories_are_read_to_their_end_and_their_servers_asked() {
    let mut survey = Survey::new(7);
    let directory = at("192.0.2.1:4435");
    survey.browse(directory.into(), vec![directory], ms(0));
    let silent = at("192.0.2.2:4435");
    survey.browse(silent.into(), vec![silent], ms(0));
    survey.browse("nowhere.example".parse().expect("an address"), vec![], ms(0));
    let listed = |number: u8| {
        let ip = Ipv4Addr::new(203, 0, 113, number).to_ipv6_mapped().octets();
        Listed { ip, port: 4433, fingerprint: Fingerprint([number; 32]) }
    };
    run(&mut survey, |to, bytes| {
        if to == silent {
            return None;
        }
        if let Ok((Question::List { after }, nonce)) = Question::parse(bytes) {
            let servers = (1..=60).filter(|it| u32::from(*it) > after);
            let servers = servers.map(|it| (u32::from(it), listed(it)));
            let page = phaselock::wire::directory::page(nonce, bytes.len(), 60, servers);
            return Some((to, page.expect("it fits"), 5));
        }
        let nonce = parse_question(bytes).expect("a question");
        Some((to, info("listed", 1).answer(nonce, bytes.len()), 5))
    });
    assert_eq!(survey.found().count(), 60);
    assert!(survey.found().all(|it| it.via.directory && matches!(it.reply, Reply::Answered(..))));
    assert!(survey.found().all(|it| it.listed.is_some()));
    let listings: Vec<_> = survey.listings().map(|(_, listing)| listing).collect();
    assert_eq!(listings, [Listing::Listed(60), Listing::Silent, Listing::Unknown]);
}

#[test]
fn a_name_is_asked_at_all_of_its_addresses_until_one_answers() {
    let mut survey = Survey::new(7);
    let dead = at("[2001:db8::1]:4433");
    let [server, directory] = [at("192.0.2.1:4433"), at("192.0.2.2:4435")];
    survey.ask("game.example".parse().expect("an address"), vec![dead, server]);
    let name = "list.example:4435".parse().expect("an address");
    survey.browse(name, vec![dead, directory], ms(0));
    let mut dead_asked = 0;
    let mut answer = |to: SocketAddr, bytes: &[u8]| {
        if to == dead {
            dead_asked += 1;
            return None;
        }
        if let Ok((Question::List { .. }, nonce)) = Question::parse(bytes) {
            let servers = std::iter::empty();
            let page = phaselock::wire::directory::page(nonce, bytes.len(), 0, servers);
            return Some((to, page.expect("it fits"), 5));
        }
        let nonce = parse_question(bytes).expect("a question");
        Some((to, info("found", 1).answer(nonce, bytes.len()), 5))
    };
    let sent = run(&mut survey, &mut answer);
    assert_eq!(sent.len(), 4);
    // A quarter of a second after the first, plus the time between two queries.
    assert!(sent[3] <= ms(250) + APART + APART, "{sent:?}");
    let found = survey.found().next().expect("the server");
    let Reply::Answered(_, took) = found.reply else { panic!("{found:?}") };
    assert_eq!(took, Micros::from_ms(5), "from its own question");
    assert_eq!(survey.listings().next().expect("it").1, Listing::Listed(0));
    // The next time those that have answered come first.
    survey.refresh(ms(9000));
    assert_eq!(run(&mut survey, &mut answer).len(), 2);
    assert_eq!(dead_asked, 2);
}

#[test]
fn neighbours_answer_a_question_to_everybody_and_are_listed_once() {
    let mut survey = Survey::new(7);
    survey.search([at("255.255.255.255:4433"), at("127.0.0.1:4433")]);
    let [near, own] = [at("192.168.1.7:4433"), at("127.0.0.1:4433")];
    run(&mut survey, |to, bytes| {
        let nonce = parse_question(bytes).expect("a question");
        let from = if to == own { own } else { near };
        Some((from, info("near", 1).answer(nonce, bytes.len()), 3))
    });
    let found: Vec<_> = survey.found().collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].address.to_string(), "192.168.1.7:4433");
    assert!(found[0].via.lan);
}

#[test]
fn memory_is_bounded_and_junk_changes_nothing() {
    let mut survey = Survey::new(7);
    for number in 0..SERVERS_MAX + 99 {
        let number = u32::try_from(number).expect("small");
        let remote = SocketAddr::from((Ipv4Addr::from(0x0a00_0000 + number), 4433));
        survey.ask(remote.into(), vec![remote]);
    }
    assert_eq!(survey.found().count(), SERVERS_MAX);
    let mut random = Random::new(3);
    for _ in 0..5000 {
        let bytes: Vec<_> = (0..random.below(200)).map(|_| random.bits() as u8).collect();
        for mark in [&b""[..], b"!phaselock\x01", b"!directory\x01"] {
            survey.handle_packet(ms(1), at("10.0.0.1:4433"), &[mark, &bytes].concat());
        }
    }
    assert!(survey.found().all(|found| found.reply == Reply::Asking));
}

#[test]
fn surveyor_finds_a_server_on_this_machine() {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let address: Address = socket.local_addr().expect("an address").into();
    // It answers as long as the process runs: a late answer does not count.
    std::thread::spawn(move || {
        let mut bytes = [0; 1300];
        loop {
            let (len, from) = socket.recv_from(&mut bytes).expect("a question");
            let nonce = parse_question(&bytes[..len]).expect("a question");
            socket.send_to(&info("here", 1).answer(nonce, len), from).expect("sent");
        }
    });
    let surveyor = Surveyor::new().expect("a thread");
    let wanted = Wanted { servers: vec![address.clone()], ..Wanted::default() };
    surveyor.look(wanted.clone());
    let has = |is_it: fn(&Reply) -> bool| surveyor.view().found.iter().any(|it| is_it(&it.reply));
    while !has(|it| matches!(it, Reply::Answered(..))) {
        // On a slow machine the survey may have given up on it.
        if has(|it| *it == Reply::Silent) {
            surveyor.look(wanted.clone());
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(surveyor.view().found[0].address, address);
}

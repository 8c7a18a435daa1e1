//! Searches in virtual time.

use crate::fingerprint::Fingerprint;
use crate::identity::{Proof, PublicKey};
use crate::wire::directory::Listed;
use crate::wire::directory::play::Beacon;
use crate::wire::query::parse_question;

use super::*;

fn at(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

fn wish(party: PartyWish) -> SeekWish {
    SeekWish { game: "golf".into(), people: 1, party }
}

fn listed() -> Listed {
    Listed::new(at("203.0.113.7:4433"), Fingerprint([7; 32]))
}

fn placed() -> Placed {
    let web = WebIdentity::default();
    Placed { server: listed(), people: 1, room: None, party: None, web, ticket: None }
}

/// Runs a search until it is over, or for a minute. `answer` gets each packet and returns the
/// answer, if any, and after how many milliseconds it arrives. Returns the time that it took.
fn run(
    seeker: &mut Seeker,
    mut answer: impl FnMut(SocketAddr, &[u8]) -> Option<(Vec<u8>, i64)>,
) -> Micros {
    run_until(seeker, LocalTime(60_000_000), |_, to, bytes| answer(to, bytes))
}

/// Runs a search until it is over, or until `end`. `answer` gets also the time.
fn run_until(
    seeker: &mut Seeker,
    end: LocalTime,
    mut answer: impl FnMut(LocalTime, SocketAddr, &[u8]) -> Option<(Vec<u8>, i64)>,
) -> Micros {
    let mut now = LocalTime(1);
    let mut under_way: Vec<(LocalTime, SocketAddr, Vec<u8>)> = Vec::new();
    let mut count = 0;
    while let Some(due) = seeker.next_timeout() {
        let next = under_way.iter().map(|(at, ..)| *at).min();
        now = next.map_or(due, |next| next.min(due)).max(now);
        for (_, from, bytes) in under_way.extract_if(.., |(at, ..)| *at <= now) {
            seeker.handle_packet(now, from, &bytes);
        }
        seeker.handle_timeout(now);
        while let Some((to, bytes)) = seeker.poll_transmit() {
            count += 1;
            if let Some((bytes, ms)) = answer(now, to, &bytes) {
                under_way.push((now + Micros::from_ms(ms), to, bytes));
            }
        }
        if now > end {
            break;
        }
    }
    assert!(count < 500, "{count} packets");
    now - LocalTime(1)
}

/// Answers of a directory with this script, after the challenge and without regions.
fn directory(bytes: &[u8], answers: &mut Vec<Answer>) -> Option<(Vec<u8>, i64)> {
    let (question, nonce) = Question::parse(bytes).ok()?;
    let answer = match question {
        Question::Regions => Answer::Regions(vec![]),
        Question::Play { token: None, .. } => Answer::Challenge([9; 24]),
        Question::Play { token, .. } => {
            assert_eq!(token, Some([9; 24]));
            if answers.is_empty() {
                return None;
            }
            answers.remove(0)
        }
        _ => return None,
    };
    Some((answer.encode(nonce, bytes.len()).expect("it fits"), 10))
}

#[test]
fn a_player_waits_and_is_placed() {
    let mut seeker = Seeker::new(wish(PartyWish::New), vec![at("192.0.2.1:4435")], 7, LocalTime(1));
    let party = Some(PartyCode::EXAMPLE);
    let waiting = |position| Answer::Waiting(Waiting { position, again_ms: 300, party });
    let room = Some("1".parse().expect("a code"));
    let placed = Placed { room: room.clone(), party, ..placed() };
    let mut answers = vec![waiting(2), waiting(0), Answer::Placed(placed)];
    let (mut requests, mut lost) = (Vec::new(), false);
    let took = run(&mut seeker, |_, bytes| {
        if let Ok((Question::Play { play, .. }, _)) = Question::parse(bytes) {
            requests.push(play.request);
        }
        // One packet is lost.
        if requests.len() == 3 && !std::mem::replace(&mut lost, true) {
            return None;
        }
        directory(bytes, &mut answers)
    });
    let invitation = Invitation {
        address: at("203.0.113.7:4433").into(),
        fingerprint: Some(Fingerprint([7; 32])),
    };
    assert_eq!(
        *seeker.state(),
        SeekState::Placed { invitation, room, web: WebIdentity::default(), ticket: None }
    );
    assert_eq!(seeker.party(), party);
    assert!(requests.windows(2).all(|pair| pair[0] == pair[1]), "one request, repeated");
    assert!(took < Micros::from_ms(1300), "{took:?}");
}

#[test]
fn pings_of_regions_are_measured() {
    let mut seeker =
        Seeker::new(wish(PartyWish::None), vec![at("192.0.2.1:4435")], 7, LocalTime(1));
    let beacon = |region: &str, server: &str| {
        let Listed { ip, port, .. } = Listed::new(at(server), Fingerprint([0; 32]));
        Beacon { region: region.into(), ip, port }
    };
    let servers = ["203.0.113.1:1", "203.0.113.2:2", "203.0.113.3:3"];
    let mut pings = Vec::new();
    run(&mut seeker, |to, bytes| {
        if let Some(nonce) = parse_question(bytes) {
            let ms = [30, 250, 9000][servers.iter().position(|it| at(it) == to).expect("known")];
            return Some((Info::default().answer(nonce, bytes.len()), ms));
        }
        let (question, nonce) = Question::parse(bytes).expect("a question");
        let answer = match question {
            Question::Regions => Answer::Regions(vec![
                beacon("europe", servers[0]),
                beacon("asia", servers[1]),
                beacon("far", servers[2]),
            ]),
            Question::Play { play, .. } => {
                pings = play.pings;
                Answer::Denied(PlayRefusal::Full)
            }
            _ => panic!("no such question"),
        };
        Some((answer.encode(nonce, bytes.len()).expect("it fits"), 5))
    });
    let pings: Vec<_> = pings.iter().map(|it| (&*it.region, it.ms)).collect();
    assert_eq!(pings, [("europe", 30), ("asia", 250)], "the third did not answer in time");
    assert_eq!(*seeker.state(), SeekState::Failed(PlayRefusal::Full.into()));
}

#[test]
fn the_next_directory_is_asked_if_one_is_silent_or_does_not_know_the_game() {
    let [silent, other, good] = ["192.0.2.1:4435", "192.0.2.2:4435", "192.0.2.3:4435"].map(at);
    let all = vec![silent, other, good];
    let mut seeker = Seeker::new(wish(PartyWish::None), all.clone(), 7, LocalTime(1));
    let placed = placed();
    let took = run(&mut seeker, |to, bytes| match to {
        _ if to == other => directory(bytes, &mut vec![Answer::Denied(PlayRefusal::Game)]),
        _ if to == good => directory(bytes, &mut vec![Answer::Placed(placed.clone())]),
        _ => None,
    });
    assert!(matches!(seeker.state(), SeekState::Placed { .. }));
    assert!(took < Micros::from_ms(2000), "{took:?}");
    // Silence, or the reason of the last one that answered.
    let mut seeker = Seeker::new(wish(PartyWish::None), all.clone(), 7, LocalTime(1));
    run(&mut seeker, |_, _| None);
    assert_eq!(*seeker.state(), SeekState::Failed(SeekError::Silent));
    let mut seeker = Seeker::new(wish(PartyWish::None), all, 7, LocalTime(1));
    run(&mut seeker, |to, bytes| {
        let mut answers = vec![Answer::Denied(PlayRefusal::Game)];
        (to == other).then(|| directory(bytes, &mut answers)).flatten()
    });
    assert_eq!(*seeker.state(), SeekState::Failed(PlayRefusal::Game.into()));
    let mut seeker = Seeker::new(wish(PartyWish::None), vec![], 7, LocalTime(1));
    run(&mut seeker, |_, _| None);
    assert_eq!(*seeker.state(), SeekState::Failed(SeekError::Silent));
}

/// Returns the answer of a directory that places no one, whose tokens are `token`.
fn told(bytes: &[u8], token: u8, answer: Answer) -> Option<(Vec<u8>, i64)> {
    let (question, nonce) = Question::parse(bytes).expect("a question");
    let answer = match question {
        Question::Regions => Answer::Regions(vec![]),
        Question::Play { token: Some(shown), .. } if shown == [token; 24] => answer,
        _ => Answer::Challenge([token; 24]),
    };
    Some((answer.encode(nonce, bytes.len()).expect("it fits"), 10))
}

fn waiting(position: u32) -> Answer {
    Answer::Waiting(Waiting { position, again_ms: 1000, party: None })
}

const MINUTE: i64 = 60_000_000;

#[test]
fn a_player_who_waits_survives_a_restart_of_the_directory() {
    for down_secs in [1, 5, 20, 28] {
        let directories = vec![at("192.0.2.1:4435")];
        let mut seeker = Seeker::new(wish(PartyWish::None), directories, 7, LocalTime(1));
        let placed = placed();
        let (mut requests, mut asked, mut unanswered) = (Vec::new(), 0, 0);
        let up = 10 + down_secs;
        let took = run_until(&mut seeker, LocalTime(8 * MINUTE), |now, _, bytes| {
            if let Ok((Question::Play { play, .. }, _)) = Question::parse(bytes) {
                requests.push(play.request);
            }
            let secs = now.0 / 1_000_000;
            unanswered += usize::from((10..up).contains(&secs));
            asked += usize::from((up..up + 240).contains(&secs));
            // It restarts with another secret. Its servers announce themselves after minutes, and
            // then all players ask at once.
            match secs {
                0..10 => told(bytes, 9, waiting(3)),
                _ if secs < up => None,
                _ if secs < up + 240 => told(bytes, 8, Answer::Denied(PlayRefusal::Game)),
                _ if secs < up + 250 => told(bytes, 8, Answer::Denied(PlayRefusal::Often)),
                _ if secs < up + 260 => told(bytes, 8, Answer::Denied(PlayRefusal::Full)),
                _ if secs < up + 265 => told(bytes, 8, waiting(7)),
                _ => told(bytes, 8, Answer::Placed(placed.clone())),
            }
        });
        assert!(matches!(seeker.state(), SeekState::Placed { .. }), "{down_secs}: {seeker:?}");
        assert!(took < Micros::from_ms(1000 * (up + 267)), "{took:?}");
        assert!(requests.windows(2).all(|pair| pair[0] == pair[1]), "one request, repeated");
        assert!(asked <= 66, "{asked} questions in four minutes of refusals");
        assert!(unanswered <= 14, "{unanswered} questions to a directory that is down");
    }
}

#[test]
fn a_player_who_waits_does_not_ask_forever() {
    let first = at("192.0.2.1:4435");
    let search = |directories: Vec<_>, refusal: Option<PlayRefusal>| {
        let mut seeker = Seeker::new(wish(PartyWish::None), directories, 7, LocalTime(1));
        let took = run_until(&mut seeker, LocalTime(20 * MINUTE), |now, to, bytes| {
            match (to == first, refusal) {
                (false, _) => told(bytes, 7, Answer::Denied(PlayRefusal::Game)),
                _ if now < LocalTime(10_000_000) => told(bytes, 9, waiting(3)),
                (true, None) => None,
                (true, Some(refusal)) => told(bytes, 9, Answer::Denied(refusal)),
            }
        });
        let SeekState::Failed(error) = seeker.state() else { panic!("{seeker:?}") };
        (*error, took.0 / 1_000_000)
    };
    let (error, secs) = search(vec![first], None);
    assert_eq!(error, SeekError::Silent);
    assert!((39..45).contains(&secs), "{secs} s");
    for refusal in [PlayRefusal::Game, PlayRefusal::Full, PlayRefusal::Often] {
        let (error, secs) = search(vec![first], Some(refusal));
        assert_eq!(error, refusal.into());
        assert!((335..350).contains(&secs), "{secs} s");
    }
    // These do not end on their own.
    for refusal in [PlayRefusal::Party, PlayRefusal::OtherGame, PlayRefusal::People] {
        let (error, secs) = search(vec![first], Some(refusal));
        assert_eq!((error, secs), (refusal.into(), 10));
    }
    // The next directory has not named a place.
    let (error, secs) = search(vec![first, at("192.0.2.2:4435")], None);
    assert_eq!(error, PlayRefusal::Game.into());
    assert!((39..45).contains(&secs), "{secs} s");
}

#[test]
fn answers_of_others_and_junk_change_nothing() {
    let directory_at = at("192.0.2.1:4435");
    let mut seeker = Seeker::new(wish(PartyWish::None), vec![directory_at], 7, LocalTime(1));
    seeker.handle_timeout(LocalTime(1));
    let (_, question) = seeker.poll_transmit().expect("a question");
    let (_, nonce) = Question::parse(&question).expect("a question");
    let placed = placed();
    let answer = Answer::Placed(placed).encode(nonce, 200).expect("it fits");
    seeker.handle_packet(LocalTime(2), at("192.0.2.9:4435"), &answer);
    // No place was asked for yet.
    seeker.handle_packet(LocalTime(2), directory_at, &answer);
    for bytes in [&b""[..], b"!directory", b"!phaselock\x01", &question] {
        seeker.handle_packet(LocalTime(2), directory_at, bytes);
    }
    assert_eq!(*seeker.state(), SeekState::Asking);
}

/// Runs a search over HTTP until it is over, or for a minute, with these statuses and answers,
/// which come after 50 ms. Returns the time that it took.
fn run_over_http(seeker: &mut Seeker, mut answers: Vec<(u16, Option<Answer>)>) -> Micros {
    let mut now = LocalTime(1);
    while let Some(due) = seeker.next_timeout().filter(|due| *due < LocalTime(60_000_000)) {
        now = due.max(now);
        seeker.handle_timeout(now);
        while let Some(bytes) = seeker.poll_question() {
            let (question, nonce) = Question::parse(&bytes).expect("a question");
            assert!(matches!(question, Question::Play { token: None, .. }), "{question:?}");
            if answers.is_empty() {
                continue;
            }
            let (status, answer) = answers.remove(0);
            let body = answer.and_then(|it| it.encode(nonce, 1000)).unwrap_or_default();
            now = now + Micros::from_ms(50);
            seeker.handle_answer(now, status, &body);
        }
    }
    assert!(answers.is_empty(), "{answers:?}");
    now - LocalTime(1)
}

#[test]
fn a_browser_asks_over_http_until_it_is_placed() {
    let wanted = || Seeker::over_http(wish(PartyWish::None), 7, LocalTime(1));
    let web = WebIdentity { hashes: vec![Fingerprint([3; 32])], host: String::new() };
    let waiting = |position| Answer::Waiting(Waiting { position, again_ms: 300, party: None });
    let found = Answer::Placed(Placed { web: web.clone(), ..placed() });
    let mut seeker = wanted();
    // The first request does not arrive, and the directory is busy once.
    let took = run_over_http(
        &mut seeker,
        vec![
            (0, None),
            (200, Some(waiting(4))),
            (429, None),
            (200, Some(waiting(0))),
            (200, Some(found)),
        ],
    );
    assert!(
        matches!(seeker.state(), SeekState::Placed { web: told, .. } if *told == web),
        "{seeker:?}"
    );
    assert!(took < Micros::from_ms(3000), "{took:?}");

    let mut seeker = wanted();
    let took = run_over_http(&mut seeker, vec![(502, None), (0, None), (404, None)]);
    assert_eq!(*seeker.state(), SeekState::Failed(SeekError::Silent));
    assert!(took < Micros::from_ms(2000), "{took:?}");
    let mut seeker = wanted();
    let took = run_over_http(&mut seeker, vec![]);
    assert_eq!(*seeker.state(), SeekState::Failed(SeekError::Silent));
    assert!((14_000_000..16_000_000).contains(&took.0), "{took:?}");
    let mut seeker = wanted();
    run_over_http(&mut seeker, vec![(429, None)]);
    assert_eq!(*seeker.state(), SeekState::Failed(PlayRefusal::Often.into()));
}

/// Name of the directory at 192.0.2.1.
const NAME: &str = "directory.example.org:4435";

fn named() -> BTreeMap<SocketAddr, String> {
    [(at("192.0.2.1:4435"), NAME.to_owned())].into()
}

/// Key and signature of a player, which anyone can tell apart.
fn signed(number: u8) -> Credentials {
    let proof = Proof([[number; 32]; 2]);
    Credentials { key: PublicKey([number; 32]), proof }
}

#[test]
fn a_player_proves_the_key_and_gets_a_ticket() {
    let directories = vec![at("192.0.2.1:4435")];
    let mut seeker = Seeker::new(wish(PartyWish::New), directories, 7, LocalTime(1));
    seeker = seeker.proving(named());
    let found = Answer::Placed(Placed { ticket: Some(vec![5; 9]), ..placed() });
    let (mut now, mut texts, mut proofs) = (LocalTime(1), Vec::new(), Vec::new());
    while seeker.next_timeout().is_some() {
        now = now + Micros::from_ms(10);
        assert!(now < LocalTime(5_000_000), "{seeker:?}");
        seeker.handle_timeout(now);
        while let Some(text) = seeker.poll_text() {
            texts.push(text);
            seeker.handle_signature(now, signed(u8::try_from(texts.len()).expect("few")));
        }
        while let Some((to, bytes)) = seeker.poll_transmit() {
            let Ok((Question::Play { play, token, player }, _)) = Question::parse(&bytes) else {
                let (answer, _) = told(&bytes, 9, waiting(0)).expect("the regions");
                seeker.handle_packet(now, to, &answer);
                continue;
            };
            proofs.push(player);
            // The directory restarts with another secret once the player waits.
            let (token_now, last) = match proofs.len() {
                1 | 2 => (9, waiting(0)),
                _ => (8, found.clone()),
            };
            if let Some(token) = token.filter(|token| *token == [token_now; 24]) {
                assert_eq!(texts.last(), Some(&play.signed_text(&token, NAME)));
            }
            let (answer, _) = told(&bytes, token_now, last).expect("an answer");
            seeker.handle_packet(now, to, &answer);
        }
    }
    let made = |number| PlayerProof::Made(signed(number), NAME.into());
    assert_eq!(proofs, [PlayerProof::None, made(1), made(1), made(2)]);
    assert!(matches!(seeker.state(), SeekState::Placed { ticket: Some(_), .. }), "{seeker:?}");
}

#[test]
fn a_player_without_a_signature_gets_a_seat_all_the_same() {
    let directories = vec![at("192.0.2.1:4435")];
    let found = placed();
    // No one signs.
    let mut seeker = Seeker::new(wish(PartyWish::None), directories.clone(), 7, LocalTime(1));
    seeker = seeker.proving(named());
    let took = run(&mut seeker, |_, bytes| told(bytes, 9, Answer::Placed(found.clone())));
    assert!(matches!(seeker.state(), SeekState::Placed { .. }), "{seeker:?}");
    assert!(took < Micros::from_ms(2500), "{took:?}");
    // The directory does not accept the key, or sends token after token.
    for is_refused in [true, false] {
        let mut seeker = Seeker::new(wish(PartyWish::None), directories.clone(), 7, LocalTime(1));
        seeker = seeker.proving(named());
        let (mut now, mut number) = (LocalTime(1), 0);
        while seeker.next_timeout().is_some() && now < LocalTime(5_000_000) {
            now = now + Micros::from_ms(10);
            seeker.handle_timeout(now);
            if seeker.poll_text().is_some() {
                seeker.handle_signature(now, signed(1));
            }
            while let Some((to, bytes)) = seeker.poll_transmit() {
                let question = Question::parse(&bytes).expect("a question").0;
                let is_keyed =
                    matches!(question, Question::Play { player: PlayerProof::Made(..), .. });
                if is_keyed && !is_refused {
                    number += 1;
                }
                let told_now = match is_keyed && is_refused {
                    true => Answer::Denied(PlayRefusal::Key),
                    false => Answer::Placed(found.clone()),
                };
                let (answer, _) = told(&bytes, number, told_now).expect("an answer");
                seeker.handle_packet(now, to, &answer);
            }
        }
        assert!(matches!(seeker.state(), SeekState::Placed { .. }), "{is_refused}: {seeker:?}");
    }
}

#[test]
fn each_directory_gets_an_id_and_a_proof_of_its_own() {
    let all = ["192.0.2.1:4435", "192.0.2.2:4435"].map(at);
    let names = [(all[0], "evil.example.org".to_owned()), (all[1], NAME.to_owned())].into();
    let mut seeker = Seeker::new(wish(PartyWish::None), all.into(), 7, LocalTime(1));
    seeker = seeker.proving(names);
    let (mut now, mut ids, mut proofs) = (LocalTime(1), Vec::new(), Vec::new());
    while seeker.next_timeout().is_some() {
        now = now + Micros::from_ms(10);
        assert!(now < LocalTime(5_000_000), "{seeker:?}");
        seeker.handle_timeout(now);
        if seeker.poll_text().is_some() {
            seeker.handle_signature(now, signed(1));
        }
        while let Some((to, bytes)) = seeker.poll_transmit() {
            let question = Question::parse(&bytes).expect("a question").0;
            let mut told_now = Answer::Placed(placed());
            if let Question::Play { play, token: Some(_), player } = question {
                ids.push(play.request);
                // The first one refuses the key, and then the game.
                told_now = match (to == all[0], &player) {
                    (true, PlayerProof::None) => Answer::Denied(PlayRefusal::Game),
                    (true, _) => Answer::Denied(PlayRefusal::Key),
                    _ => told_now,
                };
                proofs.push(player);
            }
            let (answer, _) = told(&bytes, 9, told_now).expect("an answer");
            seeker.handle_packet(now, to, &answer);
        }
    }
    let made = |name: &str| PlayerProof::Made(signed(1), name.into());
    assert_eq!(proofs, [made("evil.example.org"), PlayerProof::None, made(NAME)]);
    assert!(ids[0] == ids[1] && ids[1] != ids[2], "{ids:?}");
}

#[test]
fn a_browser_asks_for_a_token_to_prove_its_key() {
    let names = [(OVER_HTTP, "directory.example.org".to_owned())].into();
    let mut seeker = Seeker::over_http(wish(PartyWish::None), 7, LocalTime(1)).proving(names);
    let (mut now, mut asked) = (LocalTime(1), Vec::new());
    while seeker.next_timeout().is_some() {
        now = now + Micros::from_ms(50);
        assert!(now < LocalTime(5_000_000), "{seeker:?}");
        seeker.handle_timeout(now);
        if let Some(text) = seeker.poll_text() {
            assert!(text.windows(24).any(|it| it == [9; 24]), "it signs the token");
            seeker.handle_signature(now, signed(1));
        }
        while let Some(bytes) = seeker.poll_question() {
            let (question, nonce) = Question::parse(&bytes).expect("a question");
            let Question::Play { token, player, .. } = question else { panic!("{question:?}") };
            asked.push((token, player.clone()));
            let answer = match player {
                PlayerProof::Wanted => Answer::Challenge([9; 24]),
                _ => Answer::Placed(Placed { ticket: Some(vec![5; 9]), ..placed() }),
            };
            seeker.handle_answer(now, 200, &answer.encode(nonce, 1000).expect("it fits"));
        }
    }
    let made = PlayerProof::Made(signed(1), "directory.example.org".into());
    assert_eq!(asked, [(None, PlayerProof::Wanted), (Some([9; 24]), made)]);
    assert!(matches!(seeker.state(), SeekState::Placed { ticket: Some(_), .. }), "{seeker:?}");
}

//! Questions to directories and answers survive the wire, and nothing else is accepted.

use proptest::prelude::*;

use super::*;
use crate::fingerprint::Fingerprint;
use crate::limits::{WEB_HASHES_MAX, WEB_HOST_BYTES_MAX};
use crate::random::Random;

const NONCE: Nonce = *b"12345678";

fn proof() -> AnnouncementProof {
    AnnouncementProof {
        token: [7; 24],
        certificate: vec![1; 400],
        scheme: 0x0403,
        signature: vec![2; 71],
        directory: "directory.example.org:4435".into(),
    }
}

fn listed(number: u8) -> Listed {
    let mut ip = [0; 16];
    if number.is_multiple_of(2) {
        ip[..12].copy_from_slice(&MAPPED);
    }
    ip[15] = number;
    Listed { ip, port: 4433, fingerprint: Fingerprint([number; 32]) }
}

fn play(party: PartyWish) -> Play {
    let ping = |ms, region: &str| RegionPing { ms, region: region.into() };
    Play {
        request: RequestId(*b"abcdefgh"),
        game: "golf".into(),
        people: 2,
        party,
        pings: vec![ping(31, "europe"), ping(260, "oceania")],
    }
}

fn longest_play() -> Play {
    let ping = |_| RegionPing { ms: 9, region: "r".repeat(REGION_BYTES_MAX) };
    Play {
        game: "g".repeat(NAME_BYTES_MAX),
        pings: (0..REGIONS_MAX).map(ping).collect(),
        ..play(PartyWish::Join(PartyCode::EXAMPLE))
    }
}

fn longest_placed() -> Placed {
    Placed {
        server: listed(1),
        people: 64,
        room: Some("x".repeat(ROOM_CODE_BYTES_MAX).parse().expect("a code")),
        party: Some(PartyCode::EXAMPLE),
        web: WebIdentity::default(),
        ticket: None,
    }
}

fn made() -> PlayerProof {
    let proof = Proof([[4; 32], [5; 32]]);
    PlayerProof::Made(Credentials { key: PublicKey([3; 32]), proof }, "here:4435".into())
}

/// Longest place for a browser, which asks over HTTP.
fn longest_placed_for_a_browser() -> Placed {
    let hashes = vec![Fingerprint([8; 32]); WEB_HASHES_MAX];
    let web = WebIdentity { hashes, host: "h".repeat(WEB_HOST_BYTES_MAX) };
    Placed { web, ..longest_placed() }
}

fn beacon(number: u8, region: &str) -> Beacon {
    let Listed { ip, port, .. } = listed(number);
    Beacon { region: region.into(), ip, port }
}

fn answers() -> [Answer; 13] {
    let party = Some(PartyCode::EXAMPLE);
    [
        Answer::Placed(longest_placed()),
        Answer::Placed(Placed {
            server: listed(2),
            people: 1,
            room: None,
            party: None,
            web: WebIdentity::default(),
            ticket: None,
        }),
        Answer::Waiting(Waiting { position: 3, again_ms: 1000, party }),
        Answer::Waiting(Waiting { position: 0, again_ms: 300, party: None }),
        Answer::Denied(PlayRefusal::Party),
        Answer::Regions(vec![beacon(1, "europe"), beacon(2, "")]),
        Answer::Regions(vec![beacon(1, &"r".repeat(REGION_BYTES_MAX)); REGIONS_MAX]),
        Answer::Page { total: 3, servers: vec![listed(1), listed(2)], next: None },
        Answer::Page { total: 9, servers: vec![listed(4)], next: Some(70_000) },
        Answer::Challenge([9; 24]),
        Answer::Listed { seconds: 600 },
        Answer::Refused(AnnouncementRefusal::Silent),
        Answer::Refused(AnnouncementRefusal::Unknown),
    ]
}

#[test]
fn golden_bytes() {
    let bytes = Question::Announce { port: 4433, proof: None }.encode(NONCE);
    assert_eq!(&bytes[..25], b"?directory\x0112345678\x02\x02\x02\x00\x51\x11");
    assert!(bytes.len() == FIRST_BYTES && bytes[25..].iter().all(|byte| *byte == 0));
    let bytes = Question::List { after: 258 }.encode(NONCE);
    assert_eq!(&bytes[..27], b"?directory\x0112345678\x01\x01\x04\x00\x02\x01\0\0");
    assert_eq!((bytes.len(), bytes[0] & 0x40), (QUESTION_BYTES, 0));
    let bytes = Answer::Refused(AnnouncementRefusal::Silent).encode(NONCE, 99).unwrap();
    assert_eq!(bytes, b"!directory\x0112345678\x04\x0b\x01\x00\x03");
    let bytes = Answer::Listed { seconds: 600 }.encode(NONCE, 99).unwrap();
    assert_eq!(bytes, b"!directory\x0112345678\x03\x0a\x04\x00\x58\x02\0\0");
    let servers = vec![listed(2)];
    let bytes = Answer::Page { total: 1, servers, next: None }.encode(NONCE, 1200).unwrap();
    let (head, rest) = bytes.split_at(30);
    assert_eq!(head, b"!directory\x0112345678\x01\x09\x04\x00\x01\0\0\0\x07\x26\x00");
    assert_eq!(rest, [&[2; 32][..], &[0x51, 0x11, 0, 0, 0, 2]].concat());
}

#[test]
fn questions_and_answers_survive_the_wire() {
    for question in [
        Question::List { after: 0 },
        Question::List { after: u32::MAX },
        Question::Announce { port: 1, proof: None },
        Question::Announce { port: 4433, proof: Some(proof()) },
        Question::Play { play: play(PartyWish::None), token: None, player: PlayerProof::None },
        Question::Play { play: play(PartyWish::New), token: None, player: PlayerProof::Wanted },
        Question::Play { play: longest_play(), token: Some([7; 24]), player: made() },
        Question::Regions,
        Question::Place {
            play: play(PartyWish::None),
            port: 4433,
            own: None,
            proof: None,
            fleet: None,
        },
        Question::Place {
            play: longest_play(),
            port: 4433,
            own: Some("203.0.113.7:7001".parse().unwrap()),
            proof: Some(proof()),
            fleet: Some([0xf1; 32]),
        },
    ] {
        let bytes = question.encode(NONCE);
        assert_eq!(Question::parse(&bytes), Ok((question, NONCE)));
        assert!(Answer::parse(&bytes, NONCE).is_err());
    }
    for answer in answers() {
        let bytes = answer.encode(NONCE, QUESTION_BYTES).unwrap();
        assert_eq!(Answer::parse(&bytes, NONCE), Ok(answer));
        assert_eq!(nonce_of_answer(&bytes), Some(NONCE));
        assert!(Answer::parse(&bytes, [0; 8]).is_err(), "another question's");
        assert!(Question::parse(&bytes).is_err());
    }
}

#[test]
fn answers_are_no_longer_than_they_may_be() {
    for answer in answers() {
        for bytes_max in 0..200 {
            let bytes = answer.encode(NONCE, bytes_max).unwrap_or_default();
            assert!(bytes.len() <= bytes_max, "{answer:?} in {bytes_max}");
        }
        let first = Question::Announce { port: 1, proof: None }.encode(NONCE).len();
        let of_play = matches!(answer, Answer::Placed(_) | Answer::Waiting(_) | Answer::Denied(_));
        let is_page = matches!(answer, Answer::Page { .. } | Answer::Regions(_));
        let bytes = if of_play { PLAY_BYTES } else { first };
        assert!(is_page || answer.encode(NONCE, bytes).is_some(), "{answer:?}");
    }
}

#[test]
fn golden_bytes_of_a_place_for_a_browser() {
    let placed = Answer::Placed(longest_placed_for_a_browser());
    let bytes = placed.encode(NONCE, ANNOUNCEMENT_BYTES_MAX).unwrap();
    assert_eq!(Answer::parse(&bytes, NONCE), Ok(placed));
    let before = Answer::Placed(longest_placed()).encode(NONCE, PLAY_BYTES).unwrap();
    let (start, rest) = bytes.split_at(before.len());
    assert_eq!(start, before);
    let hash = [&b"\x15\x20\x00"[..], &[8; 32]].concat();
    let host = [&b"\x16\x40\x00"[..], &[b'h'; WEB_HOST_BYTES_MAX]].concat();
    assert_eq!(rest, [&hash[..], &hash, &host].concat());
    // The host becomes part of a URL.
    for bad in ["", "a/b", "a b", "a@b", "a:1", &"h".repeat(WEB_HOST_BYTES_MAX + 1)] {
        let field = [&[kind::HOST, u8::try_from(bad.len()).unwrap(), 0], bad.as_bytes()].concat();
        let bytes = [&before[..], &field].concat();
        assert!(Answer::parse(&bytes, NONCE).is_err(), "{bad:?}");
    }
}

#[test]
fn golden_bytes_of_a_request_for_a_place() {
    let bytes =
        Question::Play { play: play(PartyWish::New), token: None, player: PlayerProof::None }
            .encode(NONCE);
    let fields = b"\x0c\x08\x00abcdefgh\x0d\x04\x00golf\x0e\x02\x00\x02\x00\x0f\x00\x00\
        \x10\x08\x00\x1f\x00europe\x10\x09\x00\x04\x01oceania";
    let head = b"?directory\x0112345678\x03";
    assert_eq!(&bytes[..HEAD_BYTES + fields.len()], [&head[..], fields].concat());
    assert!(
        bytes.len() == PLAY_BYTES && bytes[HEAD_BYTES + fields.len()..].iter().all(|it| *it == 0)
    );
    let waiting = Waiting { position: 3, again_ms: 1000, party: Some(PartyCode::EXAMPLE) };
    let bytes = Answer::Waiting(waiting).encode(NONCE, 99).unwrap();
    let fields = b"\x12\x04\x00\x03\0\0\0\x13\x04\x00\xe8\x03\0\0\x0f\x06\x00KMTZRW";
    assert_eq!(bytes, [&b"!directory\x0112345678\x06"[..], fields].concat());
    let bytes = Answer::Denied(PlayRefusal::Party).encode(NONCE, 99).unwrap();
    assert_eq!(bytes, b"!directory\x0112345678\x07\x0b\x01\x00\x02");
    let bytes = Answer::Placed(longest_placed()).encode(NONCE, PLAY_BYTES).unwrap();
    assert_eq!(&bytes[HEAD_BYTES..HEAD_BYTES + 3], b"\x07\x32\x00");
    let rest = &bytes[HEAD_BYTES + 3 + 50..];
    assert_eq!(&rest[..8], b"\x0e\x02\x00\x40\x00\x11\x20\x00");
    assert_eq!(&rest[8 + ROOM_CODE_BYTES_MAX..], b"\x0f\x06\x00KMTZRW");
}

#[test]
fn golden_bytes_of_a_players_key() {
    let (play, token) = (play(PartyWish::New), Some([7; 24]));
    let bytes = Question::Play { play: play.clone(), token, player: made() }.encode(NONCE);
    assert_eq!(bytes.len(), KEYED_BYTES);
    let name = &b"\x18\x09\x00here:4435"[..];
    let field = [&b"\x1a\x60\x00"[..], &[3; 32], &[4; 32], &[5; 32], name].concat();
    let at = bytes.windows(3).position(|it| it == b"\x1a\x60\x00").expect("the field");
    assert_eq!(bytes[at..at + field.len()], field);
    assert!(bytes[at + field.len()..].iter().all(|byte| *byte == 0));
    for length in [1, 32, 64, 95] {
        let mut wrong = bytes.clone();
        wrong[at + 1] = length;
        assert!(Question::parse(&wrong).is_err(), "{length}");
    }
    let signed = [
        &b"phaselock directory play 1"[..],
        &[7; 24],
        b"abcdefgh\x02\x00\x01\x01\x01\x01\x01\x01\x09\x00here:4435golf",
    ];
    let text = |play: &Play| play.signed_text(&[7; 24], "here:4435");
    assert_eq!(text(&play), signed.concat());
    let others = [
        Play { request: RequestId([0; 8]), ..play.clone() },
        Play { game: "golfs".into(), ..play.clone() },
        Play { people: 3, ..play.clone() },
        Play { party: PartyWish::None, ..play.clone() },
        Play { party: PartyWish::Join(PartyCode::EXAMPLE), ..play.clone() },
    ];
    for other in others {
        assert_ne!(text(&other), text(&play), "{other:?}");
    }
    assert_ne!(play.signed_text(&[7; 24], "there:4435"), text(&play));
}

#[test]
fn a_ticket_comes_last_and_only_if_it_fits() {
    let placed = Placed { ticket: Some(vec![5; 180]), ..longest_placed() };
    let whole = Answer::Placed(placed.clone()).encode(NONCE, KEYED_BYTES).unwrap();
    let before = Answer::Placed(longest_placed()).encode(NONCE, PLAY_BYTES).unwrap();
    assert_eq!(whole, [&before[..], b"\x1b\xb4\x00", &[5; 180]].concat());
    assert_eq!(Answer::parse(&whole, NONCE), Ok(Answer::Placed(placed.clone())));
    let shorter = Answer::Placed(placed).encode(NONCE, whole.len() - 1).unwrap();
    assert_eq!(shorter, before, "where to play");
    let long = [&before[..], b"\x1b\x01\x02", &[5; TICKET_BYTES_MAX + 1]].concat();
    assert!(Answer::parse(&long, NONCE).is_err());
}

#[test]
fn requests_for_a_place_are_checked() {
    let parse = |play: Play| {
        let question = Question::Play { play, token: None, player: PlayerProof::None };
        Question::parse(&question.encode(NONCE))
    };
    let ok = play(PartyWish::None);
    assert!(parse(ok.clone()).is_ok());
    assert!(parse(Play { people: 0, ..ok.clone() }).is_err());
    assert!(parse(Play { people: PLAYERS_MAX + 1, ..ok.clone() }).is_err());
    assert!(parse(Play { game: String::new(), ..ok }).is_err());
}

#[test]
fn party_codes_are_read_as_people_write_them() {
    let mut random = Random::new(3);
    for _ in 0..200 {
        let code = PartyCode::random(&mut random);
        assert_eq!(code.as_str().to_lowercase().parse(), Ok(code));
        assert_eq!(code.to_string().parse(), Ok(code));
    }
    for bad in ["", "KMTZR", "KMTZRWW", "KMT RW", "AMTZRW", "KMTZR0", "KMTZR\u{e9}"] {
        assert!(bad.parse::<PartyCode>().is_err(), "{bad}");
    }
}

#[test]
fn pages_lead_through_the_whole_list() {
    let all: Vec<_> = (1..=200).map(|number| (u32::from(number) * 3, listed(number))).collect();
    let (mut found, mut after) = (Vec::new(), 0);
    loop {
        let rest = all.iter().copied().filter(|(place, _)| *place > after);
        let bytes = page(NONCE, QUESTION_BYTES, 200, rest).unwrap();
        assert!(bytes.len() <= QUESTION_BYTES);
        let Ok(Answer::Page { total, servers, next }) = Answer::parse(&bytes, NONCE) else {
            panic!("it is a page");
        };
        assert_eq!(total, 200);
        assert!(servers.len() >= 20 || next.is_none(), "{}", servers.len());
        found.extend(servers);
        let Some(next) = next else { break };
        assert!(next > after);
        after = next;
    }
    assert_eq!(found, all.into_iter().map(|(_, server)| server).collect::<Vec<_>>());
}

#[test]
fn unknown_fields_are_passed_over_and_a_zero_ends_them() {
    let mut bytes = Question::Announce { port: 4433, proof: None }.encode(NONCE);
    bytes.splice(HEAD_BYTES..HEAD_BYTES, [200, 2, 0, 1, 2, 99, 0, 0]);
    assert!(Question::parse(&bytes).is_ok());
    let mut longest = proof();
    longest.certificate = vec![3; ANNOUNCED_CERTIFICATE_BYTES_MAX];
    longest.signature = vec![3; ANNOUNCED_SIGNATURE_BYTES_MAX];
    let question = Question::Announce { port: 1, proof: Some(longest) };
    assert_eq!(Question::parse(&question.encode(NONCE)), Ok((question, NONCE)));
    assert!(Question::parse(&Question::Announce { port: 0, proof: None }.encode(NONCE)).is_err());
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let question = [&QUESTION[..], &[VERSION], &bytes].concat();
        if let Ok((question, nonce)) = Question::parse(&question) {
            prop_assert_eq!(Question::parse(&question.encode(nonce)), Ok((question, nonce)));
        }
        let answer = [&ANSWER[..], &[VERSION], &NONCE, &bytes].concat();
        if let Ok(answer) = Answer::parse(&answer, NONCE) {
            let again = answer.encode(NONCE, 2000).unwrap();
            prop_assert!(Answer::parse(&again, NONCE).is_ok());
        }
    }
}

#[test]
fn golden_bytes_of_what_a_server_signs() {
    let (token, print) = ([7; 24], Fingerprint([9; 32]));
    let common = [&[7; 24][..], b"\x51\x11", &[9; 32]].concat();
    let text_for = |purpose, directory| {
        signed_text(SignedFacts {
            purpose,
            directory,
            token: &token,
            port: 4433,
            certificate: print,
        })
    };
    let text = |purpose| text_for(purpose, "");
    let announced = [&b"phaselock directory announcement"[..], &common].concat();
    assert_eq!(text(ProofPurpose::Announcement), announced);
    let named = [&announced[..], b"\x05\x00a.b:1"].concat();
    assert_eq!(text_for(ProofPurpose::Announcement, "a.b:1"), named);
    let places = [&b"phaselock directory places"[..], &common, b"\x00\x00"].concat();
    assert_eq!(text(ProofPurpose::Places(None)), places);
    let own = "203.0.113.7:7001".parse().unwrap();
    let with_own = [&places[..], b"\x59\x1b\xcb\x00\x71\x07"].concat();
    assert_eq!(text(ProofPurpose::Places(Some(own))), with_own);
    let question = Question::Place {
        play: play(PartyWish::None),
        port: 1,
        own: Some(own),
        proof: None,
        fleet: None,
    };
    let bytes = question.encode(NONCE);
    let field = b"\x17\x06\x00\x59\x1b\xcb\x00\x71\x07";
    assert!(bytes.windows(field.len()).any(|it| it == field), "{bytes:?}");
}

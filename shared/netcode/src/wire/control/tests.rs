//! Control messages: golden bytes, versions, invalid messages.

use super::*;
use crate::fingerprint::Fingerprint;
use crate::identity::{Proof, PublicKey};
use crate::limits::{GHOSTS_MAX, RUN_BYTES_MAX, RUN_PART_BYTES, WEB_HASHES_MAX};
use crate::wire::disconnect::Code;
use crate::wire::documented;
use crate::wire::ghost::GhostOffer;
use crate::wire::query::WebIdentity;
use proptest::prelude::*;

fn hello() -> Hello {
    Hello {
        wire: 0x0102_0304_0506_0708,
        version: "0.1.0".into(),
        name: "Ada".into(),
        games: vec![("chess".into(), 5)],
        sent: LocalTime(-1),
        credentials: Credentials { key: PublicKey([7; 32]), proof: Proof([[8; 32], [9; 32]]) },
        resume: Some(ResumeToken(300)),
        wishes: WISH_PLAIN,
        room: None,
        password: None,
        look: Look { color: 3, pattern: 1 },
        ticket: None,
    }
}

#[test]
fn frames_are_as_documented() {
    let framed = frame(&ClientMessage::Hello(hello())).unwrap();
    #[rustfmt::skip]
    assert_eq!(framed[..31], [
        134, 0, // length
        0, // Hello
        0x88, 0x8e, 0x98, 0xa8, 0xc0, 0xe0, 0x80, 0x81, 0x01, // wire, as a varint
        5, b'0', b'.', b'1', b'.', b'0',
        3, b'A', b'd', b'a',
        1, 5, b'c', b'h', b'e', b's', b's', 5,
        1, // -1, zigzag
    ]);
    assert_eq!(framed[31..127], [[7; 32], [8; 32], [9; 32]].concat());
    assert_eq!(framed[127..], [1, 0xac, 0x02, 1, 0, 0, 3, 1, 0]);
    let full = ServerMessage::Disconnect(Disconnect::new(Code::Full, "full"));
    assert_eq!(frame(&full).unwrap(), documented("example-disconnect"));
    assert_eq!(ServerMessage::parse(&frame(&full).unwrap()[2..]), Ok(full));
}

#[test]
fn kinds_are_those_of_the_document() {
    let chat = ClientMessage::Chat { to: Audience::All, text: "hi".into() };
    for message in [
        ClientMessage::Hello(hello()),
        ClientMessage::Query,
        chat,
        ClientMessage::Game { number: 7, bytes: vec![1] },
        ClientMessage::Round(RoundRequest::Ready(true)),
        ClientMessage::Watch { on: true },
        ClientMessage::Quick { to: Audience::Side, number: 3 },
        ClientMessage::Mark { to: Audience::Side, mark: Mark { kind: 1, x: -1, y: 1 } },
        ClientMessage::Restyle { name: "Ada".into(), look: Look { color: 11, pattern: 7 } },
        ClientMessage::Early { number: 7, kinds: 0b101 },
        ClientMessage::Ghosts(GhostRequest::Fetch { hash: 7 }),
    ] {
        let body = frame(&message).unwrap()[2..].to_vec();
        assert_eq!(kind(&body), Ok(message.kind()));
        assert_eq!(ClientMessage::parse(&body), Ok(message));
    }
    assert_eq!(ClientMessage::parse(&[11]), Err(WireError::Message(11)));
    assert_eq!(ServerMessage::parse(&[16, 1, 2]), Err(WireError::Message(16)));
    assert_eq!(frame(&ServerMessage::Game(vec![5])).unwrap(), [3, 0, 8, 1, 5]);
}

#[test]
fn ghosts_beyond_the_limits_are_refused() {
    let offer = GhostOffer { name: "Ada".into(), hundredths: 1, hash: 2, bytes: 3, own: true };
    let offers = |offer: GhostOffer, count| GhostNotice::Offers(vec![offer; count]);
    let part = |len| GhostNotice::Part { hash: 1, from: 0, bytes: vec![0; len] };
    let long = u32::try_from(RUN_BYTES_MAX + 1).unwrap();
    for (notice, is_valid) in [
        (offers(offer.clone(), GHOSTS_MAX), true),
        (offers(offer.clone(), GHOSTS_MAX + 1), false),
        (offers(GhostOffer { bytes: 0, ..offer.clone() }, 1), false),
        (offers(GhostOffer { bytes: long, ..offer.clone() }, 1), false),
        (offers(GhostOffer { name: "x".repeat(33), ..offer }, 1), false),
        (part(RUN_PART_BYTES), true),
        (part(RUN_PART_BYTES + 1), false),
    ] {
        let framed = frame(&ServerMessage::Ghosts(notice.clone())).unwrap();
        let parsed = ServerMessage::parse(&framed[2..]);
        assert_eq!(parsed.is_ok(), is_valid, "{notice:?}");
    }
}

#[test]
fn disconnect_and_status_may_go_on_in_later_versions() {
    let full = ServerMessage::Disconnect(Disconnect::new(Code::Other(999), "full"));
    let left = ServerMessage::Left { player: PlayerId(1), code: Code::Kicked };
    for (message, is_open) in [(full, true), (left, false)] {
        let body = [&frame(&message).unwrap()[2..], &[1, 2, 3]].concat();
        let expected = if is_open { Ok(message) } else { Err(WireError::Trailing) };
        assert_eq!(ServerMessage::parse(&body), expected);
    }
}

#[test]
fn a_longer_hello_from_the_future_is_read() {
    let mut body = frame(&ClientMessage::Hello(hello())).unwrap()[2..].to_vec();
    body.extend([9; 50]);
    assert_eq!(ClientMessage::parse(&body), Ok(ClientMessage::Hello(hello())));
    assert_eq!(ClientMessage::parse_hello_head(&body), Ok((0x0102_0304_0506_0708, "0.1.0".into())));
}

#[test]
fn a_hello_of_the_past_names_no_room_no_password_no_looks_and_no_ticket() {
    let plain = Hello { look: Look::default(), ..hello() };
    let body = frame(&ClientMessage::Hello(plain.clone())).unwrap()[2..].to_vec();
    for missing in 1..=5 {
        let old = &body[..body.len() - missing];
        assert_eq!(ClientMessage::parse(old), Ok(ClientMessage::Hello(plain.clone())));
    }
    let oldest = body.len() - 5;
    let there = Hello { room: "friday".parse().ok(), ..hello() };
    let body = frame(&ClientMessage::Hello(there.clone())).unwrap()[2..].to_vec();
    assert_eq!(ClientMessage::parse(&body), Ok(ClientMessage::Hello(there)));
    for cut in oldest + 1..body.len() - 4 {
        assert!(ClientMessage::parse(&body[..cut]).is_err(), "{cut}");
    }
}

#[test]
fn looks_marks_and_quick_messages_out_of_range_are_refused() {
    let odd = Hello { look: Look { color: 13, pattern: 0 }, ..hello() };
    let body = frame(&ClientMessage::Hello(odd)).unwrap();
    assert_eq!(ClientMessage::parse(&body[2..]), Err(WireError::Range("look")));
    let (from, to) = (PlayerId(1), Audience::All);
    for (message, what) in [
        (ServerMessage::Quick { from, to, number: 32 }, "quick message"),
        (ServerMessage::Mark { from, to, mark: Mark { kind: 4, x: 0, y: 0 } }, "mark"),
        (ServerMessage::Mark { from, to, mark: Mark { kind: 0, x: 0, y: i32::MAX } }, "mark"),
    ] {
        let body = frame(&message).unwrap();
        assert_eq!(ServerMessage::parse(&body[2..]), Err(WireError::Range(what)));
    }
}

#[test]
fn a_hello_that_is_oddly_spelled_has_a_head_too() {
    // The variant as a varint of two bytes; found by fuzzing.
    let body = &frame(&ClientMessage::Hello(hello())).unwrap()[2..];
    let odd = [&[0x80, 0], &body[1..]].concat();
    assert_eq!(ClientMessage::parse(&odd), Ok(ClientMessage::Hello(hello())));
    assert_eq!(ClientMessage::parse_hello_head(&odd), ClientMessage::parse_hello_head(body));
}

#[test]
fn too_long_is_refused() {
    let name = "x".repeat(TEXT_BYTES_MAX + 1);
    let body = frame(&ClientMessage::Hello(Hello { name, ..hello() })).unwrap();
    assert_eq!(ClientMessage::parse(&body[2..]), Err(WireError::Range("name")));
    let text = "x".repeat(CONTROL_BYTES_MAX);
    assert!(frame(&ServerMessage::Chat { from: None, to: Audience::All, text }).is_err());
    let text = "x".repeat(TEXT_BYTES_MAX + 1);
    let long = Disconnect { redirect: Some(text), ..Disconnect::new(Code::Full, "full") };
    let body = frame(&ServerMessage::Disconnect(long)).unwrap();
    assert_eq!(ServerMessage::parse(&body[2..]), Err(WireError::Range("redirect")));
    let ticket = Some(vec![7; TICKET_BYTES_MAX + 1]);
    let long = Disconnect { ticket: ticket.clone(), ..Disconnect::new(Code::Full, "full") };
    assert_eq!(long.clone().clipped().ticket, None);
    let body = frame(&ServerMessage::Disconnect(long)).unwrap();
    assert_eq!(ServerMessage::parse(&body[2..]), Err(WireError::Range("ticket")));
    let body = frame(&ClientMessage::Hello(Hello { ticket, ..hello() })).unwrap();
    assert_eq!(ClientMessage::parse(&body[2..]), Err(WireError::Range("ticket")));
    let many = vec![Fingerprint([8; 32]); WEB_HASHES_MAX + 1];
    for (hashes, host) in [(many, ""), (Vec::new(), "a/b"), (Vec::new(), &*"a".repeat(65))] {
        let web = WebIdentity { hashes, host: host.into() };
        let bad = Disconnect { web, ..Disconnect::new(Code::Full, "full") };
        assert_eq!(bad.clone().clipped().web, WebIdentity::default());
        let body = frame(&ServerMessage::Disconnect(bad)).unwrap();
        assert_eq!(ServerMessage::parse(&body[2..]), Err(WireError::Range("web")));
    }
    assert!(body_len([255, 255]).is_err());
}

#[test]
fn a_goodbye_of_the_past_has_no_fingerprint_no_ticket_and_no_digests() {
    let told = Disconnect { redirect: Some("b:1".into()), ..Disconnect::new(Code::Draining, "x") };
    let whole = Disconnect {
        fingerprint: Some(Fingerprint([7; 32])),
        ticket: Some(vec![9; TICKET_BYTES_MAX]),
        web: WebIdentity {
            hashes: vec![Fingerprint([8; 32]); WEB_HASHES_MAX],
            host: "b.example.org".into(),
        },
        ..told.clone()
    };
    let body =
        |it: &Disconnect| frame(&ServerMessage::Disconnect(it.clone())).unwrap()[2..].to_vec();
    assert_eq!(ServerMessage::parse(&body(&whole)), Ok(ServerMessage::Disconnect(whole)));
    let now = body(&told);
    for old in [&now[..now.len() - 2], &now[..now.len() - 4]] {
        assert_eq!(ServerMessage::parse(old), Ok(ServerMessage::Disconnect(told.clone())));
    }
}

proptest! {
    #[test]
    fn garbage_is_refused_without_a_panic(body in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = ClientMessage::parse(&body);
        let _ = ClientMessage::parse_hello_head(&body);
        let _ = ServerMessage::parse(&body);
    }

    #[test]
    fn a_truncated_hello_is_refused(cut in 0..128_usize) {
        let body = &frame(&ClientMessage::Hello(hello())).unwrap()[2..];
        prop_assert!(ClientMessage::parse(&body[..cut.min(body.len() - 1)]).is_err());
    }
}

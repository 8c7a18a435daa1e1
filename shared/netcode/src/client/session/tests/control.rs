//! Goodbyes, redirects, tokens, requests and notices.

use super::*;
use crate::client::output::{Redirect, Speaker};
use crate::fingerprint::Fingerprint;
use crate::game::MessageError;
use crate::identity::{PublicKey, ResumeToken};
use crate::limits::TEXT_BYTES_MAX;
use crate::wire::control::{Refusal, Seat};
use crate::wire::query::WebIdentity;
use crate::wire::rooms::RoomCode;
use crate::wire::talk::Audience;

#[test]
fn wait_that_a_server_asks_for_is_kept_within_an_hour() {
    for (asked, waited) in [(0, 500), (7, 7000), (3600, 3_600_000), (u32::MAX, 3_600_000)] {
        let mut session = playing();
        let goodbye = Disconnect { retry_after: Some(asked), ..refusal(true) };
        session.handle_control(&body(&ServerMessage::Disconnect(goodbye)), ms(20));
        let State::Waiting { retry_at, .. } = *session.state() else { panic!("it gave up") };
        assert_eq!(retry_at - ms(20), Micros::from_ms(waited), "{asked} s");
    }
}

#[test]
fn redirect_is_followed_four_times_in_a_row() {
    let mut session = begun();
    let mut now = ms(0);
    for hop in 1..=5 {
        session.handle_connected(now, Credentials::default());
        outputs(&mut session);
        let redirect = Some(format!("server{hop}:4433"));
        let (redirected, retry_after) = (redirect.clone(), Some(3600));
        let goodbye = Disconnect { redirect: redirected, retry_after, ..refusal(true) };
        session.handle_control(&body(&ServerMessage::Disconnect(goodbye)), now);
        outputs(&mut session);
        let waits = session.next_timeout(now).map(|due| due - now);
        assert!(hop == 5 || waits <= Some(Micros::from_ms(8000)), "{waits:?} at hop {hop}");
        if hop == 5 {
            assert!(matches!(session.state(), State::Ended { .. }), "it goes around in a circle");
            break;
        }
        now = session.next_timeout(now).expect("it keeps trying");
        session.handle_timeout(now);
        let web = WebIdentity::default();
        let redirect = redirect.map(|address| Redirect { address, fingerprint: None, web });
        assert_eq!(outputs(&mut session), [Output::Connect { redirect }]);
    }
}

/// Returns the hello that a session has just sent.
fn sent_hello(session: &mut Session) -> Hello {
    let sent = outputs(session);
    let Some(Output::Control(hello)) = sent.last() else { panic!("{sent:?}") };
    let message = ClientMessage::parse(&hello[2..]).expect("it can be read");
    let ClientMessage::Hello(hello) = message else { panic!("{message:?}") };
    hello
}

#[test]
fn a_ticket_goes_to_the_target_until_the_player_is_welcome_there_and_nowhere_else() {
    let told = |address: &str, ticket: Option<Vec<u8>>| {
        let fingerprint = Some(Fingerprint([7; 32]));
        let redirect = Some(address.to_owned());
        ServerMessage::Disconnect(Disconnect { redirect, fingerprint, ticket, ..refusal(true) })
    };
    let mut session = playing();
    session.handle_control(&body(&told("b:1", Some(vec![1, 2]))), ms(20));
    let State::Waiting { reason, retry_at, .. } = session.state() else { panic!("it goes on") };
    assert_eq!((reason.ticket.as_ref(), *retry_at), (None, ms(20)), "it follows at once");
    session.handle_timeout(ms(20));
    let redirect = Redirect {
        address: "b:1".into(),
        fingerprint: Some(Fingerprint([7; 32])),
        web: WebIdentity::default(),
    };
    let sent = outputs(&mut session);
    assert_eq!(sent.last(), Some(&Output::Connect { redirect: Some(redirect) }));
    session.handle_connected(ms(30), Credentials::default());
    assert_eq!(sent_hello(&mut session).ticket, Some(vec![1, 2]));
    // The connection is lost before the answer: the server may not have read it.
    session.handle_lost(ms(40), lost("gone"));
    session.handle_timeout(ms(2000));
    session.handle_connected(ms(2010), Credentials::default());
    assert_eq!(sent_hello(&mut session).ticket, Some(vec![1, 2]));
    session.handle_control(&welcome("first", Rates::DEFAULT), ms(2020));
    session.handle_lost(ms(2030), lost("gone"));
    session.handle_timeout(ms(9000));
    session.handle_connected(ms(9010), Credentials::default());
    let hello = sent_hello(&mut session);
    assert_eq!((hello.ticket, hello.resume), (None, Some(ResumeToken(77))), "it is welcome");
    // Another redirect replaces the ticket; one without a ticket has none.
    for ticket in [Some(vec![3]), None] {
        session.handle_control(&body(&told("c:1", ticket.clone())), ms(9020));
        let due = session.next_timeout(ms(9020)).expect("it follows");
        session.handle_timeout(due);
        session.handle_connected(due, Credentials::default());
        assert_eq!(sent_hello(&mut session).ticket, ticket);
    }
    // The target refuses for good: the ticket is not for the player's own server.
    session.handle_control(&body(&told("d:1", Some(vec![4]))), ms(30_000));
    let due = session.next_timeout(ms(30_000)).expect("it follows");
    session.handle_timeout(due);
    session.handle_connected(due, Credentials::default());
    session.handle_control(&closed(false), due);
    let due = session.next_timeout(due).expect("it goes back");
    session.handle_timeout(due);
    session.handle_connected(due, Credentials::default());
    assert_eq!(sent_hello(&mut session).ticket, None);
}

#[test]
fn a_target_whose_certificate_is_not_checked_gets_no_ticket() {
    let print = Some(Fingerprint([7; 32]));
    let [native, hash, host] = [
        WebIdentity::default(),
        WebIdentity { hashes: vec![Fingerprint([8; 32])], ..WebIdentity::default() },
        WebIdentity { host: "b.example.org".into(), ..WebIdentity::default() },
    ];
    for (checks_fingerprint, fingerprint, web, is_checked) in [
        (true, print, &native, true),
        (true, None, &native, false),
        (true, None, &hash, false),
        (false, print, &native, false),
        (false, print, &hash, true),
        (false, None, &host, true),
    ] {
        let mut session = Session::new(SessionConfig { checks_fingerprint, ..config() }, ms(0));
        session.handle_connected(ms(0), Credentials::default());
        let (redirect, ticket) = (Some("b:1".to_owned()), Some(vec![1]));
        let web = web.clone();
        let goodbye = Disconnect { redirect, fingerprint, ticket, web, ..refusal(true) };
        session.handle_control(&body(&ServerMessage::Disconnect(goodbye.clone())), ms(20));
        session.handle_timeout(ms(20));
        let sent = outputs(&mut session);
        let Some(Output::Connect { redirect: Some(told) }) = sent.last() else {
            panic!("{sent:?}")
        };
        assert_eq!(told.web, goodbye.web, "the transport checks it");
        session.handle_connected(ms(30), Credentials::default());
        assert_eq!(sent_hello(&mut session).ticket, is_checked.then(|| vec![1]));
    }
}

#[test]
fn a_ticket_of_a_directory_is_for_the_first_server_until_it_lets_the_player_in() {
    let start = || {
        let mut session = Session::new(SessionConfig { ticket: Some(vec![7]), ..config() }, ms(0));
        session.handle_connected(ms(0), Credentials::default());
        assert_eq!(sent_hello(&mut session).ticket, Some(vec![7]));
        session
    };
    let again = |session: &mut Session, now| {
        let due = session.next_timeout(now).expect("it tries again");
        session.handle_timeout(due);
        session.handle_connected(due, Credentials::default());
        sent_hello(session).ticket
    };
    // The connection is lost before the welcome, or after it.
    let mut session = start();
    session.handle_lost(ms(10), lost("gone"));
    assert_eq!(again(&mut session, ms(10)), Some(vec![7]));
    let mut session = start();
    session.handle_control(&welcome("first", Rates::DEFAULT), ms(10));
    session.handle_lost(ms(20), lost("gone"));
    assert_eq!(again(&mut session, ms(20)), None);
    // No other server gets it.
    let mut session = start();
    let goodbye = Disconnect { redirect: Some("b:1".into()), ..refusal(false) };
    session.handle_control(&body(&ServerMessage::Disconnect(goodbye)), ms(10));
    assert_eq!(again(&mut session, ms(10)), None);
}

#[test]
fn no_room_is_asked_for_where_a_redirect_leads() {
    let room: RoomCode = "den".parse().expect("a code");
    let mut session = Session::new(SessionConfig { room: Some(room.clone()), ..config() }, ms(0));
    session.handle_connected(ms(0), Credentials::default());
    assert_eq!(sent_hello(&mut session).room, Some(room.clone()));
    let goodbye = Disconnect { redirect: Some("b:1".into()), ..refusal(false) };
    session.handle_control(&body(&ServerMessage::Disconnect(goodbye)), ms(20));
    session.handle_timeout(ms(20));
    session.handle_connected(ms(30), Credentials::default());
    assert_eq!(sent_hello(&mut session).room, None, "the code is that of the first server's room");
    // Nor after a game there.
    session.handle_control(&welcome("first", Rates::DEFAULT), ms(40));
    session.handle_lost(ms(50), lost("gone"));
    let due = session.next_timeout(ms(50)).expect("it returns there");
    session.handle_timeout(due);
    session.handle_connected(due, Credentials::default());
    assert_eq!(sent_hello(&mut session).room, None);
    // The player's own server is asked for it again.
    session.handle_control(&closed(false), due);
    let due = session.next_timeout(due).expect("it goes back");
    session.handle_timeout(due);
    session.handle_connected(due, Credentials::default());
    assert_eq!(sent_hello(&mut session).room, Some(room));
}

#[test]
fn redirect_to_nowhere_leads_back_and_tokens_stay_where_they_are_from() {
    let mut session = playing();
    let goodbye = Disconnect { redirect: Some("b:1".into()), ..refusal(false) };
    session.handle_control(&body(&ServerMessage::Disconnect(goodbye)), ms(20));
    assert_eq!(session.token, None, "it is the first server's");
    let mut asked = Vec::new();
    let mut now = ms(20);
    for _ in 0..5 {
        now = session.next_timeout(now).expect("it keeps trying");
        session.handle_timeout(now);
        let sent = outputs(&mut session);
        let Some(Output::Connect { redirect }) = sent.last() else { panic!("{sent:?}") };
        asked.push(redirect.is_some());
        session.handle_lost(now, lost("nobody is there"));
    }
    assert_eq!(asked, [true, true, false, false, false]);
}

#[test]
fn refusal_where_a_redirect_leads_ends_no_session() {
    let mut session = playing();
    let goodbye = Disconnect { redirect: Some("b:1".into()), ..refusal(false) };
    session.handle_control(&body(&ServerMessage::Disconnect(goodbye)), ms(20));
    let mut now = session.next_timeout(ms(20)).expect("it goes there");
    session.handle_timeout(now);
    session.handle_connected(now, Credentials::default());
    // It plays there, loses the server, and is then refused.
    session.handle_control(&welcome("first", Rates::DEFAULT), now);
    assert!(session.is_redirected() && session.token().is_some());
    session.handle_lost(now, lost("gone"));
    now = session.next_timeout(now).expect("it goes there again");
    session.handle_timeout(now);
    session.handle_connected(now, Credentials::default());
    outputs(&mut session);
    session.handle_control(&closed(false), now);
    assert_eq!(reason(&session), "the server sent you to b:1, which answered: refused");
    assert_eq!(session.token(), None, "it is the other server's");
    assert_eq!(outputs(&mut session), close(refusal(false)));
    now = session.next_timeout(now).expect("it goes back");
    session.handle_timeout(now);
    assert_eq!(outputs(&mut session), [Output::Connect { redirect: None }]);
    // The player's own choice takes precedence, and so does the player.
    session.handle_connected(now, Credentials::default());
    session.handle_control(&closed(false), now);
    assert_eq!(*session.state(), State::Ended { reason: refusal(false) });

    let mut session = playing();
    let goodbye = Disconnect { redirect: Some("b:1".into()), ..refusal(false) };
    session.handle_control(&body(&ServerMessage::Disconnect(goodbye)), ms(20));
    session.leave("the player gives up");
    assert_eq!(reason(&session), "the player gives up");
    assert!(matches!(session.state(), State::Ended { .. }));
}

#[test]
fn refused_token_is_not_offered_again() {
    let mut session = playing();
    let goodbye = Disconnect::new(Code::BadToken, "another player's");
    session.handle_control(&body(&ServerMessage::Disconnect(goodbye)), ms(20));
    assert!(matches!(session.state(), State::Waiting { .. }));
    assert_eq!(session.token, None);
}

#[test]
fn state_and_game_are_never_displaced_by_what_is_said() {
    let mut session = begun();
    session.handle_connected(ms(0), Credentials::default());
    session.handle_control(&welcome("first", Rates::DEFAULT), ms(10));
    for _ in 0..2 * NOTICES_MAX {
        session.handle_control(&body(&ServerMessage::Game(vec![1])), ms(20));
    }
    session.leave("enough");
    let told = notices(&mut session);
    assert_eq!(told.len(), NOTICES_MAX);
    assert!(matches!(told[1], Notice::Game { .. }), "{:?}", told[1]);
    assert!(matches!(told.last(), Some(Notice::State(State::Ended { .. }))));
}

#[test]
fn token_of_a_session_is_offered_when_it_is_lost() {
    let mut session = begun();
    let key = Credentials { key: PublicKey([9; 32]), ..Credentials::default() };
    session.handle_connected(ms(0), key);
    let first = sent_hello(&mut session);
    assert_eq!((first.resume, first.credentials), (None, key));
    session.handle_control(&welcome("first", Rates::DEFAULT), ms(10));
    session.handle_lost(ms(20), lost("gone"));
    session.handle_timeout(ms(520));
    session.handle_connected(ms(530), key);
    assert_eq!(sent_hello(&mut session).resume, Some(ResumeToken(77)));
}

#[test]
fn lines_and_events_reach_the_player_and_unknown_notices_nobody() {
    let mut session = playing();
    let seat = Seat::new("Ada", false);
    let joined = ServerMessage::Joined(vec![(PlayerId(7), seat)]);
    let line =
        |from, text: &str| ServerMessage::Chat { from, to: Audience::All, text: text.into() };
    let refused = ServerMessage::Refused { request: 2, refusal: Refusal::TooMany };
    for message in [
        joined,
        line(Some(PlayerId(7)), "hello\u{1b}[31m"),
        line(Some(PlayerId(8)), "a ghost"),
        line(None, "the host speaks"),
        refused,
        ServerMessage::Game(vec![1, 2]),
    ] {
        session.handle_control(&body(&message), ms(20));
    }
    session.handle_control(&[99, 1, 2, 3], ms(21));
    let ada = || Speaker { player: PlayerId(7), seat: Seat::new("Ada", false) };
    let chat = |from: Option<&str>, text: &str| Notice::Chat {
        from: from.map(|_| ada()),
        to: Audience::All,
        text: text.into(),
    };
    assert_eq!(
        notices(&mut session),
        [
            chat(Some("Ada"), "hello[31m"),
            chat(None, "the host speaks"),
            Notice::Refused { request: 2, refusal: Refusal::TooMany },
            Notice::Event(vec![1, 2]),
        ]
    );
    assert_eq!(*session.state(), State::Connected);
}

#[test]
fn requests_wait_for_a_transport_that_is_full_and_nothing_else_does() {
    let mut session = playing();
    for text in ["first", "second"] {
        session.chat(text).expect("there is room");
    }
    assert_eq!(session.poll_output_if(false), None);
    let Some(Output::Control(framed)) = session.poll_output_if(true) else { panic!("no message") };
    let first = ClientMessage::Chat { to: Audience::All, text: "first".into() };
    assert_eq!(ClientMessage::parse(&framed[2..]), Ok(first));
    // A goodbye takes the place of all requests.
    session.leave("enough");
    let goodbye = Disconnect::new(Code::Left, "enough");
    assert_eq!(session.poll_output_if(false), Some(Output::Close(goodbye)));
    assert_eq!(session.poll_output(), None);
}

#[test]
fn requests_that_nobody_fetches_are_bounded() {
    let mut session = playing();
    let mut sent = 0;
    for _ in 0..1000 {
        sent += usize::from(session.chat(&"x".repeat(1000)).is_ok());
        sent += usize::from(session.request(&7_u32).is_ok());
    }
    assert_eq!((sent, session.chat("more")), (64, Err(MessageError::TooMany)));
    assert_eq!(begun().chat("too early"), Err(MessageError::NotConnected));
    let sent = outputs(&mut session);
    assert_eq!(sent.len(), 64);
    let Output::Control(framed) = &sent[0] else { panic!("{:?}", sent[0]) };
    let text = "x".repeat(TEXT_BYTES_MAX);
    assert_eq!(
        ClientMessage::parse(&framed[2..]),
        Ok(ClientMessage::Chat { to: Audience::All, text })
    );
}

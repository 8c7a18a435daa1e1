//! States of a session over time, even if the server or the driver violates the expected order.

use super::*;
use crate::game::{Ahead, Entities, Inputs, World};
use crate::games::Games;
use crate::ids::{EntityId, PlayerId};
use crate::limits::{CATCH_UP_TICKS_MAX, SEATS_MAX, WATCHERS_MAX};
use crate::random::Random;
use crate::record;
use crate::time::{Offset, Rates};
use crate::wire::control::{Seat, Welcome};

record! {
    struct Thing { x: f32 = Field::centred(16, 8) }
}

macro_rules! game {
    ($game:ident, $name:literal) => {
        /// Rules that do nothing.
        #[derive(Debug)]
        struct $game;

        impl Game for $game {
            const NAME: &'static str = $name;
            const RULES_VERSION: u32 = 1;
            type Input = Thing;
            type Entity = Thing;
            type Memory = ();

            fn new(_rates: Rates, _seed: u64) -> Self {
                Self
            }
            fn join(&self, _world: &mut World<Self>, _player: PlayerId) {}
            fn step(&self, _world: &mut World<Self>, _inputs: &Inputs<Thing>) {}
            fn predict(&self, _: &mut Entities<Thing>, _: EntityId, _: &Thing, _: Ahead<'_>) {}
            fn repeat(last: &Thing, _missed: u64) -> Thing {
                *last
            }
        }
    };
}
game!(First, "first");
game!(Second, "second");

fn ms(ms: i64) -> LocalTime {
    LocalTime(ms * 1000)
}

fn config() -> SessionConfig {
    SessionConfig::new(Games::new().with::<First>().with::<Second>(), "somebody")
}

fn begun() -> Session {
    Session::new(config(), ms(0))
}

fn body(message: &ServerMessage) -> Vec<u8> {
    frame(message).expect("it is short")[2..].to_vec()
}

fn welcome(game: &str, rates: Rates) -> Vec<u8> {
    body(&ServerMessage::Welcome(Welcome {
        server: "a server".into(),
        game: game.into(),
        number: 0,
        seed: 1,
        rates,
        player: PlayerId(3),
        token: ResumeToken(77),
        resumed: false,
        tick: Tick(100),
        offset: Offset(0),
        epoch: 0,
        unix_micros: 0,
        setup: Vec::new(),
        watching: None,
    }))
}

fn refusal(retry: bool) -> Disconnect {
    Disconnect { retry_after: retry.then_some(0), ..Disconnect::new(Code::Full, "refused") }
}

fn lost(text: &str) -> Disconnect {
    Disconnect::new(Code::Lost, text)
}

fn closed(retry: bool) -> Vec<u8> {
    body(&ServerMessage::Disconnect(refusal(retry)))
}

/// Creates a session that has been in its first game since 10 ms, with all outputs and notices
/// fetched.
fn playing() -> Session {
    let mut session = begun();
    session.handle_connected(ms(0), Credentials::default());
    session.handle_control(&welcome("first", Rates::DEFAULT), ms(10));
    assert_eq!(*session.state(), State::Connected);
    outputs(&mut session);
    notices(&mut session);
    session
}

fn outputs(session: &mut Session) -> Vec<Output> {
    std::iter::from_fn(|| session.poll_output()).collect()
}

fn notices(session: &mut Session) -> Vec<Notice> {
    std::iter::from_fn(|| session.poll_notice()).collect()
}

fn close(reason: Disconnect) -> Vec<Output> {
    vec![Output::Close(reason)]
}

fn reason(session: &Session) -> &str {
    match session.state() {
        State::Waiting { reason, .. } | State::Ended { reason } => &reason.text,
        state => panic!("{state:?} has no reason"),
    }
}

/// Returns the games and the preferred game in the hello of a session that prefers one.
fn wishing(game: &str) -> (Vec<String>, Option<String>) {
    let game = Some(game.to_owned());
    let hello = hello_of(SessionConfig { game, ..config() });
    let games = hello.games.iter().map(|(name, _)| name.clone()).collect();
    (games, hello.wished_game().map(str::to_owned))
}

fn hello_of(config: SessionConfig) -> Hello {
    let mut session = Session::new(config, ms(0));
    session.handle_connected(ms(1), Credentials::default());
    let hello = outputs(&mut session).into_iter().find_map(|output| match output {
        Output::Control(framed) => ClientMessage::parse(&framed[2..]).ok(),
        _ => None,
    });
    let Some(ClientMessage::Hello(hello)) = hello else { panic!("{hello:?}") };
    hello
}

#[test]
fn hello_states_the_version_of_the_program() {
    assert_eq!(hello_of(config()).version, env!("CARGO_PKG_VERSION"));
    let games = config().games.of_version("3.2.0");
    assert_eq!(hello_of(SessionConfig { games, ..config() }).version, "3.2.0");
}

#[test]
fn a_wished_game_is_the_first_of_a_hello_and_an_unknown_one_is_no_wish() {
    let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
    assert_eq!(wishing("first"), (names(["first", "second"]), Some("first".into())));
    assert_eq!(wishing("second"), (names(["second", "first"]), Some("second".into())));
    assert_eq!(wishing("third"), (names(["first", "second"]), None));
}

#[test]
fn every_end_has_words_even_where_the_server_gives_none() {
    for code in Code::ALL.iter().copied().chain([Code::Other(999)]) {
        for blank in ["", " "] {
            let mut session = begun();
            session.handle_connected(ms(1), Credentials::default());
            session.handle_control(&welcome("second", Rates::DEFAULT), ms(9));
            let goodbye = Disconnect::new(code, blank);
            session.handle_control(&body(&ServerMessage::Disconnect(goodbye.clone())), ms(10));
            assert!(reason(&session).len() > 12, "{code:?} as a message: {}", reason(&session));
            let mut session = begun();
            session.handle_lost(ms(10), goodbye);
            assert!(reason(&session).len() > 12, "{code:?} as a close: {}", reason(&session));
        }
    }
    let mut session = begun();
    session.handle_lost(ms(10), Disconnect::new(Code::Left, ""));
    assert_eq!(reason(&session), "the server closed the connection without a reason");
}

#[test]
fn a_session_connects_greets_and_plays() {
    let mut session = begun();
    assert_eq!(outputs(&mut session), [Output::Connect { redirect: None }]);
    session.handle_connected(ms(1), Credentials::default());
    let sent = outputs(&mut session);
    let [Output::Control(hello)] = &sent[..] else { panic!("{sent:?}") };
    let hello = ClientMessage::parse(&hello[2..]).expect("it can be read");
    let ClientMessage::Hello(hello) = hello else { panic!("{hello:?}") };
    assert_eq!((hello.name.as_str(), hello.games.len()), ("somebody", 2));
    session.handle_control(&welcome("second", Rates::DEFAULT), ms(9));
    let told = notices(&mut session);
    let game = Notice::Game { server: "a server".into(), game: "second", resumed: false };
    let connecting = Notice::State(State::Connecting { attempt: 1 });
    assert_eq!(told, [connecting, game, Notice::State(State::Connected)]);
    assert!(session.client_of::<Second>().is_some() && session.client_of::<First>().is_none());
}

#[test]
fn the_hello_is_answered_in_four_seconds_or_sent_again() {
    let mut session = begun();
    session.handle_connected(ms(5), Credentials::default());
    session.handle_timeout(ms(4004));
    assert_eq!(*session.state(), State::Connecting { attempt: 1 });
    assert_eq!(session.next_timeout(ms(4004)), Some(ms(4005)));
    outputs(&mut session);
    session.handle_timeout(ms(4005));
    let text = "the server did not answer the hello";
    let waiting = State::Waiting { reason: lost(text), retry_at: ms(4505), attempt: 1 };
    assert_eq!(*session.state(), waiting);
    assert_eq!(outputs(&mut session), close(lost(text)));
    // A late answer belongs to a connection that no longer exists.
    session.handle_control(&welcome("first", Rates::DEFAULT), ms(4100));
    session.handle_timeout(ms(4504));
    assert_eq!(*session.state(), waiting);
    session.handle_timeout(ms(4505));
    assert_eq!(*session.state(), State::Connecting { attempt: 2 });
    assert_eq!(outputs(&mut session), [Output::Connect { redirect: None }]);
}

#[test]
fn the_back_off_doubles_up_to_eight_seconds_and_is_reset_by_a_game() {
    let mut session = begun();
    let mut now = ms(0);
    let mut waits = Vec::new();
    for _ in 0..7 {
        session.handle_lost(now, lost("unreachable"));
        let State::Waiting { retry_at, .. } = *session.state() else { panic!("it gave up") };
        waits.push((retry_at - now).0 / 1000);
        now = retry_at;
        session.handle_timeout(now);
    }
    assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 8000, 8000]);
    let play = |session: &mut Session, now: &mut LocalTime, millis: i64| {
        session.handle_connected(*now, Credentials::default());
        session.handle_control(&welcome("first", Rates::DEFAULT), *now);
        *now = *now + Micros::from_ms(millis);
        session.handle_lost(*now, lost("gone"));
        let State::Waiting { retry_at, .. } = *session.state() else { panic!("it gave up") };
        let wait = (retry_at - *now).0 / 1000;
        *now = retry_at;
        session.handle_timeout(*now);
        wait
    };
    // A server that crashes whenever a player joins is not retried twice a second.
    assert_eq!(play(&mut session, &mut now, 4999), 8000);
    assert_eq!(play(&mut session, &mut now, 5000), 500);
    assert_eq!(play(&mut session, &mut now, 10), 500);
    assert_eq!(play(&mut session, &mut now, 10), 1000);
}

#[test]
fn silence_of_three_seconds_ends_a_game_and_any_datagram_breaks_it() {
    let mut session = playing();
    let look = |session: &mut Session, from: i64, to: i64| {
        for at in (from..=to).step_by(100) {
            session.handle_timeout(ms(at));
        }
    };
    look(&mut session, 10, 2910);
    assert!(session.handle_datagram(b"nonsense", ms(2950)).is_none());
    look(&mut session, 3010, 5910);
    assert_eq!(*session.state(), State::Connected);
    session.handle_timeout(ms(5950));
    assert_eq!(reason(&session), "the server stopped responding");
    assert!(session.client().is_some(), "the last picture stays");
}

#[test]
fn a_stall_excuses_the_silence_once() {
    let mut session = playing();
    session.handle_timeout(ms(10));
    session.handle_timeout(ms(60_000));
    assert_eq!(*session.state(), State::Connected);
    // A program that calls every two seconds still notices the silence.
    session.handle_timeout(ms(62_000));
    assert_eq!(*session.state(), State::Connected);
    session.handle_timeout(ms(64_000));
    assert!(matches!(session.state(), State::Waiting { .. }));
}

#[test]
fn a_silent_server_keeps_nobody_busy() {
    let mut session = playing();
    for at in (20..2900).step_by(10) {
        session.handle_timeout(ms(at));
        session.press::<First>(ms(at), |_, _| Thing::default());
        assert!(session.next_timeout(ms(at)).is_some_and(|due| due > ms(at)), "{at} ms");
    }
}

#[test]
fn a_refusal_for_good_ends_the_session() {
    let mut session = begun();
    session.handle_connected(ms(0), Credentials::default());
    outputs(&mut session);
    session.handle_control(&closed(false), ms(10));
    let ended = State::Ended { reason: refusal(false) };
    assert_eq!(*session.state(), ended);
    assert_eq!(outputs(&mut session), close(refusal(false)));
    notices(&mut session);
    // Anything after the end changes nothing.
    session.handle_connected(ms(20), Credentials::default());
    session.handle_control(&welcome("first", Rates::DEFAULT), ms(30));
    session.handle_control(b"nonsense", ms(40));
    session.handle_datagram(b"nonsense", ms(50));
    session.handle_lost(ms(60), lost("lost"));
    session.handle_timeout(ms(70_000));
    session.press::<First>(ms(70_000), |_, _| panic!("there is no game"));
    session.leave("the player gives up");
    assert_eq!(*session.state(), ended);
    assert!(outputs(&mut session).is_empty() && notices(&mut session).is_empty());
    assert_eq!(session.next_timeout(ms(70_000)), None);
}

#[test]
fn a_refusal_for_now_is_tried_again() {
    let mut session = begun();
    session.handle_connected(ms(0), Credentials::default());
    session.handle_control(&closed(true), ms(10));
    assert_eq!(
        *session.state(),
        State::Waiting { reason: refusal(true), retry_at: ms(510), attempt: 1 }
    );
}

#[test]
fn a_hello_that_was_not_fetched_does_not_go_to_the_next_connection() {
    let mut session = begun();
    session.handle_connected(ms(0), Credentials::default());
    session.handle_lost(ms(1), lost("reset"));
    session.handle_timeout(ms(501));
    assert_eq!(outputs(&mut session), [Output::Connect { redirect: None }]);
}

#[test]
fn anything_but_a_welcome_to_the_hello_is_a_protocol_error() {
    let left = body(&ServerMessage::Left { player: PlayerId(1), code: Code::Left });
    for answer in [&left[..], &left[..1], b""] {
        let mut session = begun();
        session.handle_connected(ms(0), Credentials::default());
        // A kind from a later version is ignored.
        session.handle_control(&[99, 1], ms(5));
        session.handle_control(answer, ms(10));
        assert!(matches!(session.state(), State::Ended { .. }));
        assert!(reason(&session).starts_with("protocol error"), "{}", reason(&session));
    }
    let mut session = playing();
    session.handle_control(&left, ms(20));
    assert_eq!(*session.state(), State::Connected);
    session.handle_control(&left[..1], ms(30));
    assert!(reason(&session).starts_with("protocol error"), "{}", reason(&session));
}

#[test]
fn a_rotation_keeps_the_roster_and_may_change_game_and_rates() {
    let mut session = playing();
    let seat = Seat::new("other", true);
    let joined = ServerMessage::Joined(vec![(PlayerId(7), seat)]);
    session.handle_control(&body(&joined), ms(20));
    let rates = Rates { tick_hz: 30, snapshot_hz: 10 };
    session.handle_control(&welcome("second", rates), ms(1010));
    let common = session.client_of::<Second>().expect("the second game began").common();
    assert_eq!((common.rates(), common.roster().len()), (rates, 1));
    assert_eq!(notices(&mut session).len(), 1, "it is still connected");
    // An equal welcome again is another game with the same rules.
    session.handle_control(&welcome("second", rates), ms(2010));
    assert_eq!(*session.state(), State::Connected);
    session.press::<Second>(ms(3000), |_, _| Thing::default());
    session.handle_picture(ms(3000));
}

#[test]
fn a_third_rotation_within_a_second_is_refused() {
    let mut session = playing();
    for at in [500, 800, 1009] {
        assert_eq!(*session.state(), State::Connected);
        session.handle_control(&welcome("first", Rates::DEFAULT), ms(at));
    }
    assert!(matches!(session.state(), State::Ended { .. }));
    assert_eq!(reason(&session), "the server changed its game three times within a second");
}

#[test]
fn an_unknown_game_ends_the_session_and_leaves_the_last_picture() {
    let mut session = begun();
    session.handle_connected(ms(0), Credentials::default());
    session.handle_control(&welcome("third\u{1b}", Rates::DEFAULT), ms(10));
    assert_eq!(reason(&session), "the server plays third, which your client does not have");
    assert!(session.client().is_none());
    let mut session = playing();
    session.handle_control(&welcome("third", Rates::DEFAULT), ms(2000));
    assert!(matches!(session.state(), State::Ended { .. }));
    assert!(session.client_of::<First>().is_some());
}

#[test]
fn a_welcome_of_impossible_rates_is_a_protocol_error() {
    for (tick_hz, snapshot_hz) in [(0, 0), (60, 0), (60, 7), (u32::MAX, 30)] {
        let mut session = begun();
        session.handle_connected(ms(0), Credentials::default());
        session.handle_control(&welcome("first", Rates { tick_hz, snapshot_hz }), ms(10));
        assert!(reason(&session).starts_with("protocol error"), "{}", reason(&session));
    }
}

#[test]
fn a_player_may_leave_at_any_time() {
    let waiting = || {
        let mut session = begun();
        session.handle_lost(ms(1), lost("unreachable"));
        session
    };
    for mut session in [begun(), playing(), waiting()] {
        session.leave("enough");
        let reason = Disconnect::new(Code::Left, "enough");
        assert_eq!(*session.state(), State::Ended { reason: reason.clone() });
        assert_eq!(outputs(&mut session), close(reason));
        assert_eq!(session.next_timeout(ms(2)), None);
    }
}

#[test]
fn a_known_seat_is_renamed_in_a_full_roster() {
    let mut session = playing();
    let join = |session: &mut Session, player: u16, name: &str| {
        let player = PlayerId(player);
        let joined = ServerMessage::Joined(vec![(player, Seat::new(name, false))]);
        session.handle_control(&body(&joined), ms(20));
    };
    (0..2000).for_each(|player| join(&mut session, player, "old"));
    join(&mut session, 5, "new");
    let roster = session.client().expect("it plays").common().roster();
    assert_eq!(roster.len(), usize::from(SEATS_MAX + WATCHERS_MAX));
    assert_eq!(roster[&PlayerId(5)].name, "new");
}

#[test]
fn a_recording_that_nobody_fetches_ends_without_a_gap() {
    let mut session = playing();
    session.record();
    (0..RECORDED_INPUTS_MAX + 10).for_each(|_| session.handle_timeout(ms(20)));
    assert_eq!(session.poll_input(), Some(SessionInput::Timeout(ms(20))));
    session.handle_timeout(ms(30));
    assert_eq!(std::iter::from_fn(|| session.poll_input()).count(), RECORDED_INPUTS_MAX - 1);
}

#[test]
fn a_recording_holds_no_picture_of_another_game() {
    let mut session = playing();
    session.record();
    assert!(session.picture::<Second>(ms(20)).is_none());
    assert_eq!(session.poll_input(), None);
    assert!(session.picture::<First>(ms(30)).is_some());
    assert_eq!(session.poll_input(), Some(SessionInput::Picture(ms(30))));
}

#[test]
fn calls_and_messages_in_any_order_leave_everything_bounded() {
    let mut random = Random::new(11);
    let seat = Seat::new("other", true);
    let joined = ServerMessage::Joined(vec![(PlayerId(7), seat)]);
    let bodies = [
        welcome("first", Rates::DEFAULT),
        welcome("second", Rates { tick_hz: 128, snapshot_hz: 64 }),
        welcome("second", Rates { tick_hz: 10, snapshot_hz: 5 }),
        body(&ServerMessage::Epoch { epoch: 9, unix_micros: i64::MIN }),
        body(&ServerMessage::Epoch { epoch: 10, unix_micros: i64::MAX }),
        body(&ServerMessage::Left { player: PlayerId(9), code: Code::Left }),
        body(&joined),
        closed(true),
    ];
    for _ in 0..300 {
        let mut session = begun();
        session.record_motion();
        let mut now = ms(0);
        let mut over = false;
        for _ in 0..60 {
            now = now + Micros::from_ms(i64::from(random.below(1500)));
            match random.below(10) {
                0 => session.handle_connected(now, Credentials::default()),
                1 => session.handle_lost(now, lost("lost")),
                2 => session.handle_timeout(now),
                3 => drop(session.handle_datagram(&[0; 40], now)),
                4 => {
                    let mut ticks = 0;
                    session.press::<First>(now, |_, _| {
                        ticks += 1;
                        Thing::default()
                    });
                    assert!(ticks <= CATCH_UP_TICKS_MAX);
                }
                5 => {
                    session.handle_frame(now);
                    session.press_frame::<First>(now, |_| Thing::default());
                }
                6 => session.handle_picture(now),
                _ => {
                    let at = random.below(bodies.len() as u32) as usize;
                    session.handle_control(&bodies[at], now);
                }
            }
            let ended = matches!(session.state(), State::Ended { .. });
            assert!(ended || !over, "what has ended stays so");
            over = ended;
            assert!(session.outputs.len() <= 3 && session.notices.len() <= NOTICES_MAX);
            assert!(session.next_timeout(now).is_some() != over);
        }
    }
}

mod control;

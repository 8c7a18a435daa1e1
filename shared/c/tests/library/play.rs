//! Two clients on one server, one of which predicts.

use std::ffi::CString;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

use phaselock::game::read_message;
use phaselock_c::exports::*;
use phaselock_c::layout::*;

use crate::line::{SPEED, call, description, join, load, serve};

/// The longest time for anything to happen.
const PATIENCE: Duration = Duration::from_secs(60);

unsafe extern "C" fn walk(step: *const Step) {
    // SAFETY: the library passes a valid step; the walker's position is its first field.
    unsafe {
        let step = &*step;
        assert_eq!(step.kind, 1, "only one's walker is predicted");
        let x = *step.fields as f32 + *step.input as f32 * SPEED * step.seconds as f32;
        *step.fields = x.into();
    }
}

fn frame(client: u64, right: f64) -> i32 {
    // SAFETY: one number.
    unsafe { phaselock_frame(client, &raw const right, 1) }
}

fn entities(client: u64) -> Vec<ShownEntity> {
    let empty =
        ShownEntity { id: 0, owner: 0, kind: 9, flags: 0, fields: [0.0; PHASELOCK_FIELDS_MAX] };
    // SAFETY: a capacity of 0 writes nothing.
    let count = unsafe { phaselock_entities(client, null_mut(), 0) };
    let mut all = vec![empty; usize::try_from(count).expect("no error")];
    // SAFETY: the capacity is that of the list.
    assert_eq!(unsafe { phaselock_entities(client, all.as_mut_ptr(), all.len()) }, count);
    all
}

fn events(client: u64) -> Vec<(u32, Vec<u8>)> {
    let mut all = Vec::new();
    let mut event =
        PolledEvent { kind: 0, player: 0, code: 0, length: 0, text: [0xff; PHASELOCK_TEXT_BYTES] };
    // SAFETY: an event can be written there.
    while unsafe { phaselock_poll_event(client, &raw mut event) } == 1 {
        let length = event.length as usize;
        assert_eq!(event.text[length], 0, "each text ends with a zero byte");
        all.push((event.kind, event.text[..length].to_vec()));
    }
    all
}

fn status(client: u64) -> ClientStatus {
    let mut status = ClientStatus::default();
    // SAFETY: a status can be written there.
    assert_eq!(unsafe { phaselock_get_status(client, &raw mut status) }, status.state);
    status
}

fn close(client: u64) -> i32 {
    // SAFETY: no reason is given.
    unsafe { phaselock_close(client, std::ptr::null()) }
}

/// Sends requests until one is refused. Returns the number of those before it, and its error.
fn burst(client: u64) -> (usize, i32) {
    let bytes = call(&"hello".repeat(40));
    for sent in 0..1000 {
        // SAFETY: the length is that of the bytes.
        let result = unsafe { phaselock_request(client, bytes.as_ptr(), bytes.len()) };
        if result != 0 {
            return (sent, result);
        }
    }
    (1000, 0)
}

/// Runs frames of both until a condition holds.
fn run(clients: [u64; 2], right: f64, mut until: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !until() {
        assert!(Instant::now() < end, "nothing happened; {:?}", clients.map(status));
        frame(clients[0], right);
        frame(clients[1], 0.0);
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn two_clients_play_and_prediction_is_never_corrected() {
    let server = serve();
    let link = format!("phaselock://{}#{}", server.address(), server.fingerprint());
    let game = load(&description()).expect("a description");
    assert_eq!(load(&description()), Ok(game), "the same one again");
    // SAFETY: a text.
    let kind = |name| unsafe { phaselock_kind(game, CString::new(name).expect("text").as_ptr()) };
    assert_eq!((kind("Sign"), kind("Walker")), (0, 1));
    let a = join(game, &link, "Ann", Some(walk));
    // Ann is the first player, and sees Bob join.
    run([a, a], 0.0, || status(a).state == PHASELOCK_PLAYING);
    let b = join(game, &link, "Bob", None);

    let moved = |client, metres: f64| {
        entities(client).iter().any(|it| it.kind == 1 && it.fields[0] >= metres)
    };
    run([a, b], 1.0, || moved(a, 3.0) && moved(b, 3.0) && status(a).ticks > 60);
    let (of_a, of_b) = (entities(a), entities(b));
    assert_eq!(of_a.len(), 3, "two walkers and a sign");
    let sign = of_a.iter().find(|it| it.kind == 0).expect("the sign");
    assert_eq!((sign.fields[0], sign.owner, sign.flags), (-7.5, PHASELOCK_NOBODY, 0));
    let own = of_a.iter().find(|it| it.flags & PHASELOCK_OWN != 0).expect("one's own");
    assert_eq!(own.flags, PHASELOCK_OWN | PHASELOCK_PREDICTED);
    assert_eq!(own.owner, status(a).player);
    let shown = of_b.iter().find(|it| it.id == own.id).expect("the same to others");
    assert_eq!(shown.flags, 0);
    assert!(shown.fields[0] <= own.fields[0], "one is ahead, the other behind");
    let unpredicted = of_b.iter().find(|it| it.flags & PHASELOCK_OWN != 0).expect("Bob's");
    assert_eq!(unpredicted.flags, PHASELOCK_OWN);
    let status_a = status(a);
    assert_eq!(status_a.unexplained, 0, "{status_a:?}");
    assert_eq!((status_a.state, status_a.tick_hz), (PHASELOCK_PLAYING, 60));

    let mut heard = Vec::new();
    let bytes = call("hello");
    // SAFETY: the length is that of the bytes.
    assert_eq!(unsafe { phaselock_request(b, bytes.as_ptr(), bytes.len()) }, 0);
    // SAFETY: a text.
    assert_eq!(unsafe { phaselock_say(b, c"good evening".as_ptr()) }, 0);
    run([a, b], 0.0, || {
        heard.extend(events(a));
        let kinds = [PHASELOCK_EVENT_MESSAGE, PHASELOCK_EVENT_CHAT];
        kinds.iter().all(|kind| heard.iter().any(|(it, _)| it == kind))
    });
    let of = |kind| heard.iter().find(|(it, _)| *it == kind).map(|(_, text)| text.clone());
    let message = of(PHASELOCK_EVENT_MESSAGE).expect("it came");
    assert_eq!(read_message::<String>(&message), Ok("hello".to_owned()));
    assert_eq!(of(PHASELOCK_EVENT_CHAT), Some(b"good evening".to_vec()));
    assert!(of(PHASELOCK_EVENT_GAME).is_some() && of(PHASELOCK_EVENT_PLAYER_JOINED).is_some());

    let mut players = [ListedPlayer { id: 0, flags: 0, name: [0xff; PHASELOCK_NAME_BYTES] }; 4];
    // SAFETY: the capacity is that of the list.
    assert_eq!(unsafe { phaselock_players(a, players.as_mut_ptr(), 4) }, 2);
    assert_eq!(&players[0].name[..4], b"Ann\0");
    assert_eq!((players[0].flags, players[1].flags), (PHASELOCK_SELF, 0));
    assert_eq!((close(b), close(b)), (0, -2), "a closed client is not found");
    assert_eq!(frame(b, 0.0), -2);
    run([a, a], 0.0, || events(a).iter().any(|(kind, _)| *kind == PHASELOCK_EVENT_PLAYER_LEFT));
    assert_eq!(close(a), 0);
    server.stop("done");
}

#[test]
fn a_burst_of_requests_is_refused_in_time_and_costs_nothing_else() {
    let server = serve();
    let game = load(&description()).expect("a description");
    let client = join(game, &server.address().to_string(), "Ann", None);
    run([client, client], 0.0, || status(client).state == PHASELOCK_PLAYING);
    // All that the server has room for, whether or not the network's thread runs in between.
    let (mut accepted, mut bursts) = (0, 0);
    let end = Instant::now() + PATIENCE;
    while bursts < 3 || accepted < 192 {
        assert!(Instant::now() < end, "{accepted} accepted");
        let (sent, refusal) = burst(client);
        assert!(sent <= 64 && refusal == -6, "{sent} were accepted, then {refusal}");
        assert!(bursts > 0 || sent == 64, "{sent} are too few");
        (accepted, bursts) = (accepted + sent, bursts + 1);
        frame(client, 0.0);
    }
    // Each is answered: by the rules, or because the server accepts four per second.
    let mut answered = 0;
    run([client, client], 0.0, || {
        for (kind, text) in events(client) {
            let is_lost = kind == PHASELOCK_EVENT_LOST || kind == PHASELOCK_EVENT_ENDED;
            assert!(!is_lost, "{}", String::from_utf8_lossy(&text));
            answered +=
                usize::from(kind == PHASELOCK_EVENT_MESSAGE || kind == PHASELOCK_EVENT_REFUSED);
        }
        answered == accepted
    });
    assert_eq!(close(client), 0);
}

#[test]
fn most_of_the_status_stays_while_the_server_is_lost() {
    let server = serve();
    let game = load(&description()).expect("a description");
    let client = join(game, &server.address().to_string(), "Ann", Some(walk));
    run([client, client], 1.0, || status(client).ticks > 60);
    server.stop("done");
    run([client, client], 1.0, || status(client).state == PHASELOCK_WAITING);
    let before = status(client);
    run([client, client], 1.0, || status(client).frames >= before.frames + 100);
    let after = status(client);
    assert_ne!(after.state, PHASELOCK_PLAYING);
    assert!(after.server_seconds > before.server_seconds);
    // What the header excepts.
    let ClientStatus { state, server_seconds, delay_ms, frames, .. } = after;
    let expected = ClientStatus { state, server_seconds, delay_ms, frames, ..before };
    assert_eq!(format!("{after:?}"), format!("{expected:?}"));
    assert_eq!(close(client), 0);
}

#[test]
fn a_prediction_cannot_call_its_own_client() {
    use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
    static CLIENT: AtomicU64 = AtomicU64::new(0);
    static RESULT: AtomicI32 = AtomicI32::new(0);
    unsafe extern "C" fn recurse(_: *const Step) {
        let client = CLIENT.load(Ordering::Relaxed);
        RESULT.fetch_min(frame(client, 0.0).max(close(client)), Ordering::Relaxed);
    }
    let server = serve();
    let game = load(&description()).expect("a description");
    let client = join(game, &server.address().to_string(), "Loop", Some(recurse));
    CLIENT.store(client, Ordering::Relaxed);
    run([client, client], 1.0, || RESULT.load(Ordering::Relaxed) != 0);
    assert_eq!(RESULT.load(Ordering::Relaxed), -3);
    assert_eq!(close(client), 0);
}

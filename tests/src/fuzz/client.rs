//! A whole client with a hostile server: control messages, datagrams and time in any order.

use phaselock::client::{AnyClient, Client};
use phaselock::fields::{Entity, Record};
use phaselock::identity::ResumeToken;
use phaselock::ids::PlayerId;
use phaselock::limits::{CATCH_UP_TICKS_MAX, DATAGRAM_BYTES_MAX, ENTITIES_MAX, SEATS_MAX};
use phaselock::time::{LocalTime, Micros, Offset, Rates, Tick};
use phaselock::wire::control::{ServerMessage, Welcome};
use phaselock::wire::input::read_input;
use phaselock_games::skirmish::{Command, Skirmish};

use super::snapshot::states;
use super::{Script, digest, push_block};

/// A control message follows, as a block.
const MESSAGE: u8 = 0;
/// A datagram follows, as a block.
const DATAGRAM: u8 = 1;
/// Time passes, in tenths of a millisecond, in two bytes; then a frame is drawn.
const FRAME: u8 = 2;
/// Time passes, in seconds, in two bytes; nothing is drawn.
const PAUSE: u8 = 3;

/// A welcome as a block (a default one if it cannot be read), then operations on the client.
pub fn client(data: &[u8]) -> bool {
    let mut script = Script(data);
    let welcome = match ServerMessage::parse(script.block()) {
        Ok(ServerMessage::Welcome(welcome)) => welcome,
        _ => default_welcome(),
    };
    let mut now = LocalTime(1_000_000);
    let client = Client::<Skirmish>::new(&welcome, now - Micros(20_000), now);
    let Ok(mut client) = client else { return false };
    let mut any = false;
    // This limit is the fuzzer's, not the client's.
    for _ in 0..256 {
        let Some(operation) = script.next() else { break };
        let before = client.server_time(now);
        match operation % 4 {
            MESSAGE => {
                if let Ok(message) = ServerMessage::parse(script.block()) {
                    client.handle_message(&message);
                    assert!(client.roster().len() <= usize::from(SEATS_MAX));
                }
            }
            DATAGRAM => any |= datagram(&mut client, script.block(), now),
            FRAME => {
                now = now + Micros(i64::from(script.u16()) * 100);
                frame(&mut client, now, script.u8());
            }
            _ => now = now + Micros::from_ms(i64::from(script.u16()) * 1000),
        }
        // Only the server's messages can set the clock back.
        let after = client.server_time(now);
        assert!(after >= before || operation % 4 < FRAME, "{before:?}, then {after:?}");
        while let Some(packet) = client.poll_transmit() {
            assert!(packet.len() <= DATAGRAM_BYTES_MAX);
            read_input::<Command>(&packet).expect("a server can read what a client writes");
        }
    }
    any
}

fn datagram(client: &mut Client<Skirmish>, bytes: &[u8], now: LocalTime) -> bool {
    // Everything except the counters.
    let all = |client: &Client<Skirmish>| {
        let clocks = (client.pll(), client.lead(), client.delay());
        let heard = (client.store().ack(), client.newest_tick());
        (states(client.store()), digest(&(heard, clocks, client.roster(), client.newest())))
    };
    let before = all(client);
    let refused = client.stats().refused;
    match client.handle_datagram(bytes, now) {
        Ok(_) => true,
        Err(_) => {
            assert_eq!(all(client), before, "a bad datagram changed something");
            assert_eq!(client.stats().refused, refused + 1);
            assert!(client.poll_transmit().is_none(), "it is not answered");
            false
        }
    }
}

fn frame(client: &mut Client<Skirmish>, now: LocalTime, keys: u8) {
    client.handle_frame(now);
    let mut ticks = 0;
    while let Some(tick) = client.poll_tick(now) {
        ticks += 1;
        assert!(ticks <= CATCH_UP_TICKS_MAX + 1, "{ticks} ticks in one frame");
        let command = Command {
            right: i16::from(keys & 3) - 1,
            down: i16::from(keys >> 2 & 3) - 1,
            aim: f32::from(keys) / 256.0,
            fire: keys & 16 != 0,
            grab: keys & 64 != 0,
            weapon: keys >> 5,
        };
        client.handle_input(now, tick, command.snapped());
    }
    assert!(client.next_timeout(now) >= now);
    let picture = client.picture(now);
    assert!(picture.entities.len() <= usize::from(ENTITIES_MAX));
    for slot in picture.entities.iter() {
        let values = Entity::values(&slot.entity);
        assert!(values.iter().all(|value| value.is_finite()), "{:?}", slot.entity);
    }
}

fn default_welcome() -> Welcome {
    Welcome {
        server: "test".into(),
        game: "skirmish".into(),
        number: 0,
        seed: 1,
        rates: Rates::DEFAULT,
        player: PlayerId(1),
        token: ResumeToken(1),
        resumed: false,
        tick: Tick(0),
        offset: Offset(-990_000),
        epoch: 0,
        unix_micros: 0,
        setup: Vec::new(),
        watching: None,
    }
}

/// Writes a script for [`client`].
pub(super) struct ClientScript(pub(super) Vec<u8>);

impl ClientScript {
    /// `welcome` is a body, like `message`.
    pub(super) fn new(welcome: &[u8]) -> Self {
        let mut script = Vec::new();
        push_block(&mut script, welcome);
        Self(script)
    }

    pub(super) fn message(&mut self, body: &[u8]) {
        self.0.push(MESSAGE);
        push_block(&mut self.0, body);
    }

    pub(super) fn datagram(&mut self, bytes: &[u8]) {
        self.0.push(DATAGRAM);
        push_block(&mut self.0, bytes);
    }

    pub(super) fn frame(&mut self, after: Micros, keys: u8) {
        let tenths = u16::try_from(after.0 / 100).expect("a short time");
        self.0.push(FRAME);
        self.0.extend(tenths.to_le_bytes());
        self.0.push(keys);
    }

    pub(super) fn pause(&mut self, secs: u16) {
        self.0.push(PAUSE);
        self.0.extend(secs.to_le_bytes());
    }
}

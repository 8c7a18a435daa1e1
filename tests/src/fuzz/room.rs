//! A whole room with hostile clients: control messages, datagrams and time in any order.

use phaselock::fields::{Entity, Record};
use phaselock::game::{Game, Subtick};
use phaselock::identity::{PublicKey, ResumeToken};
use phaselock::ids::PlayerId;
use phaselock::limits::{DATAGRAM_BYTES_MAX, SEATS_MAX, SNAPSHOT_PACKETS_MAX};
use phaselock::server::{AnyRoom, ClientId, Command, Output, Room, RoomConfig};
use phaselock::snapshot::store::Store;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::Echo;
use phaselock::wire::control::{ClientMessage, ServerMessage, WISH_PLAIN, frame};
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::input::{Ack, InputPacket, Pressed, write_input};
use phaselock::wire::protocol::fields_hash;
use phaselock::wire::text::printable;
use phaselock_games::skirmish::{self, Piece, Skirmish};

use super::snapshot::store;
use super::{Script, push_block};
use phaselock_testing::{body, hello, room_config};

/// Number of operations; a byte is the operation plus this times the client's number.
const OPERATIONS: u8 = 8;
/// A control message's body follows, as a block.
const CONTROL: u8 = 0;
/// A valid hello. A byte follows: one of four keys (2 bits), and the key whose token it has (3
/// bits; none from 4 on).
const HELLO: u8 = 1;
/// A datagram follows, as a block.
const DATAGRAM: u8 = 2;
/// An honest client's input packet; two bytes follow: ticks ahead, and keys.
const INPUT: u8 = 3;
/// A well-formed input packet whose fields follow.
const FORGED: u8 = 4;
/// Time passes, in tenths of a millisecond, in two bytes.
const TIME: u8 = 5;
/// Depends on the next byte: 2, the player leaves; 6, a player is kicked; 8, the host writes a
/// line; 10, the server is drained; other even values, the connection is lost; odd values, the path
/// carries 8 times as many bytes.
const DRIVER: u8 = 6;
/// The square of the next byte in milliseconds passes; 255 shuts the room down.
const PAUSE: u8 = 7;

/// Seats for people in the room.
const PLAYERS: u16 = 4;
/// Maximum number of connections at a time.
const CONNECTIONS: usize = 6;

/// The client's side of a connection.
struct Peer {
    id: ClientId,
    /// The store of a welcomed client.
    store: Option<Store<Skirmish>>,
    seq: u16,
    epoch: u8,
    key: usize,
    is_new: bool,
    /// Whether its first message was a hello that asks for plain coding.
    plain: bool,
}

struct Play {
    game: std::rc::Rc<Skirmish>,
    room: Room<Skirmish>,
    config: RoomConfig,
    now: LocalTime,
    peers: Vec<Peer>,
    ids: u64,
    /// The last token of each key.
    tokens: [Option<ResumeToken>; 4],
    drained: bool,
}

/// A byte for the number of bots, then operations on the room.
pub fn room(data: &[u8]) -> bool {
    let mut script = Script(data);
    let bots = u16::from(script.u8() % 4);
    let config = room_config(1, bots).with(|it| it.players_max = PLAYERS);
    let mut play = Play {
        game: Skirmish::new(config.rates, config.seed).into(),
        room: Room::new(config.clone()),
        config,
        now: LocalTime(0),
        peers: Vec::new(),
        ids: 0,
        tokens: [None; 4],
        drained: false,
    };
    for _ in 0..CONNECTIONS {
        let peer = play.peer();
        play.peers.push(peer);
    }
    let mut any = false;
    // This limit is the fuzzer's, not the room's.
    for _ in 0..400 {
        let Some(operation) = script.next() else { break };
        play.run(operation % OPERATIONS, usize::from(operation / OPERATIONS), &mut script);
        play.drain();
        any |= play.check();
    }
    any
}

impl Play {
    fn peer(&mut self) -> Peer {
        self.ids += 1;
        let id = ClientId(self.ids);
        Peer { id, store: None, seq: 0, epoch: 0, key: 0, is_new: true, plain: false }
    }

    fn run(&mut self, operation: u8, index: usize, script: &mut Script<'_>) {
        let index = index % CONNECTIONS;
        let id = self.peers[index].id;
        match operation {
            CONTROL => self.control(index, script.block()),
            HELLO => {
                let who = script.u8();
                let key = usize::from(who % 4);
                let mut hello = hello::<Skirmish>("Eve", self.now);
                hello.credentials.key = PublicKey([key as u8; 32]);
                if who & 32 != 0 {
                    hello.wishes = WISH_PLAIN;
                    hello.games[0].1 = fields_hash::<Skirmish>();
                }
                hello.resume = self.tokens.get(usize::from(who >> 2 & 7)).copied().flatten();
                self.peers[index].key = key;
                self.control(index, &body(&ClientMessage::Hello(hello)));
            }
            DATAGRAM => self.datagram(index, script.block()),
            INPUT => {
                let packet = self.honest(index, script);
                self.datagram(index, &write_input(&packet));
            }
            FORGED => self.datagram(index, &write_input(&forged(script))),
            TIME => self.pass(Micros(i64::from(script.u16()) * 100)),
            DRIVER => match script.u8() {
                2 => {
                    self.room.handle_left(id, "the fuzzer had it leave");
                    self.peers[index] = self.peer();
                }
                6 => {
                    let player = PlayerId(index as u16 + self.config.settings.bots).into();
                    let text = "the fuzzer kicked it".into();
                    let _ = self.room.handle_command(self.now, Command::Kick { player, text });
                }
                8 => {
                    let text = "the fuzzer says so".into();
                    let said = self.room.handle_command(self.now, Command::Say { text });
                    assert_eq!(said, Ok(()));
                }
                10 => {
                    let goodbye = Disconnect::new(Code::Draining, "the fuzzer drains it");
                    let command =
                        Command::Drain { goodbye, within: Micros::from_ms(1000), restarts: false };
                    assert_eq!(self.room.handle_command(self.now, command), Ok(()));
                    self.drained = true;
                }
                even if even % 2 == 0 => {
                    self.room.handle_lost(self.now, id, "the fuzzer cut it");
                    self.peers[index] = self.peer();
                }
                odd => self.room.handle_path(id, usize::from(odd) * 8),
            },
            PAUSE.. => match script.u8() {
                255 => {
                    let goodbye = Disconnect::new(Code::Shutdown, "the fuzzer said so");
                    self.room.shutdown(self.now, &|_| goodbye.clone());
                }
                root => self.pass(Micros::from_ms(i64::from(root) * i64::from(root))),
            },
        }
    }

    /// Passes a message on as the driver does, which knows each client's first message.
    fn control(&mut self, index: usize, body: &[u8]) {
        let peer = &mut self.peers[index];
        if let Ok(ClientMessage::Hello(hello)) = ClientMessage::parse(body)
            && peer.is_new
        {
            peer.plain = hello.wishes_plain();
        }
        match std::mem::take(&mut peer.is_new) {
            true => self.room.handle_first(self.now, peer.id, body),
            false => self.room.handle_control(self.now, peer.id, body),
        }
    }

    fn pass(&mut self, span: Micros) {
        self.now = self.now + span;
        let before = self.room.tick();
        self.room.handle_timeout(self.now);
        assert!(self.room.tick() >= before);
        assert!(self.room.next_timeout() > self.now, "everything due was done");
    }

    /// A datagram changes the world only by ending a session, and it is counted once.
    fn datagram(&mut self, index: usize, bytes: &[u8]) {
        let id = self.peers[index].id;
        let entities = self.room.world().entities.clone();
        let counted = |room: &Room<Skirmish>| {
            room.member_stats(id).map(|stats| stats.accepted + stats.refused)
        };
        let before = counted(&self.room);
        self.room.handle_datagram(self.now, id, bytes);
        if let Some(after) = counted(&self.room) {
            assert_eq!(self.room.world().entities, entities);
            assert_eq!(Some(after), before.map(|before| before + 1));
        }
    }

    fn honest(&mut self, index: usize, script: &mut Script<'_>) -> InputPacket<skirmish::Command> {
        let (ahead, keys) = (script.u8(), script.u8());
        let peer = &mut self.peers[index];
        peer.seq = peer.seq.wrapping_add(1);
        InputPacket {
            seq: peer.seq,
            ack: peer.store.as_ref().and_then(Store::ack),
            sent: self.now.low(),
            echo: Echo::new(self.now.low(), Micros(i64::from(keys))),
            epoch: peer.epoch,
            tick: self.room.tick().low().wrapping_add(u16::from(ahead)),
            inputs: vec![pressed(keys); usize::from(ahead % 4)],
        }
    }

    /// Passes the room's outputs to its clients.
    fn drain(&mut self) {
        let mut outputs = 0;
        let game = self.game.clone();
        while let Some(output) = self.room.poll_output(self.now) {
            outputs += 1;
            // Each client gets a snapshot, and at most three messages about each player.
            let each = SNAPSHOT_PACKETS_MAX + 3 * usize::from(SEATS_MAX) + 3;
            assert!(outputs <= CONNECTIONS * each, "it never ends");
            match output {
                Output::Datagram { client, bytes } => {
                    assert!(bytes.len() <= DATAGRAM_BYTES_MAX);
                    assert!(self.room.member_stats(client).is_some(), "to one who is gone");
                    let peer = self.peer_of(client);
                    let store = peer.store.as_mut().expect("it was welcomed");
                    store.handle_packet(&game, &bytes).expect("packets in order are fine");
                }
                Output::Control { client, message } => self.handle_message(client, &message),
                Output::Close { client, goodbye } => {
                    assert!(!goodbye.text.is_empty());
                    let known = self.room.member_stats(client).is_some();
                    assert!(!known || self.room.is_away(client));
                    let fresh = self.peer();
                    *self.peer_of(client) = fresh;
                }
            }
        }
    }

    fn peer_of(&mut self, client: ClientId) -> &mut Peer {
        let mut peers = self.peers.iter_mut();
        peers
            .find(|peer| peer.id == client)
            .expect("the room sends only to clients who are present")
    }

    fn handle_message(&mut self, client: ClientId, message: &ServerMessage) {
        let framed = frame(message).expect("it is short enough");
        let mut read = ServerMessage::parse(&framed[2..]).expect("a client can read it");
        if let (ServerMessage::Disconnect(read), ServerMessage::Disconnect(goodbye)) =
            (&mut read, message)
        {
            // A text may quote the client, which need not be printable.
            assert_eq!(read.text, printable(&goodbye.text));
            read.text.clone_from(&goodbye.text);
        }
        assert_eq!(read, *message);
        let peer = self.peer_of(client);
        match message {
            ServerMessage::Welcome(welcome) => {
                assert!(peer.store.is_none(), "welcomed twice");
                peer.store = Some(store(welcome.player, welcome.tick, peer.plain));
                peer.epoch = welcome.epoch;
                let key = peer.key;
                self.tokens[key] = Some(welcome.token);
            }
            ServerMessage::Epoch { epoch, .. } => peer.epoch = *epoch,
            _ => {}
        }
    }

    /// Checks status and world. Returns whether any player is in.
    fn check(&self) -> bool {
        let status = self.room.status();
        assert!(status.players <= PLAYERS && status.bots == self.config.settings.bots);
        let entities = &self.room.world().entities;
        // A body and a score for each player, and their shots. Kept seats count, too.
        assert!(self.room.seats_taken() <= usize::from(PLAYERS));
        let seats = self.room.seats_taken() + usize::from(status.bots);
        let count =
            |of: fn(&Piece) -> bool| entities.iter().filter(|slot| of(&slot.entity)).count();
        assert_eq!(count(|piece| matches!(piece, Piece::Player(_))), seats);
        assert_eq!(count(|piece| matches!(piece, Piece::Score(_))), seats);
        assert!(count(|piece| matches!(piece, Piece::Shell(_) | Piece::Mine(_))) <= 16 * seats);
        for slot in entities.iter() {
            let (kind, packed) = (slot.entity.kind(), Entity::pack(&slot.entity));
            let again = <<Skirmish as Game>::Entity as Entity>::unpack(kind, &packed);
            assert_eq!(again, slot.entity, "it lies on the grid");
            // The round and the objects in the arena have no owner.
            let nobodys =
                matches!(slot.entity, Piece::Round(_) | Piece::Prop(_) | Piece::Pickup(_));
            let seated = |player: PlayerId| player.0 < u16::MAX;
            assert_eq!(slot.owner.is_some_and(seated), !nobodys);
        }
        let welcomed = self.peers.iter().filter(|peer| peer.store.is_some()).count();
        assert_eq!(welcomed, usize::from(status.players));
        status.players > 0
    }
}

fn command(keys: u8) -> skirmish::Command {
    let axis = |bits: u8| i16::from(bits & 3) - 2;
    let (right, down, weapon) = (axis(keys), axis(keys >> 2), keys >> 5);
    let (fire, grab) = (keys & 16 != 0, keys & 64 != 0);
    skirmish::Command { right, down, aim: f32::from(keys) / 256.0, fire, grab, weapon }.snapped()
}

/// Keys with a view lag of up to 64 ticks or, in every other input, none; and some with an instant.
fn pressed(keys: u8) -> Pressed<skirmish::Command> {
    let lag = (keys & 1 == 0).then_some(u16::from(keys) * 16);
    let subtick = (keys & 8 == 0).then(|| Subtick::new(keys));
    Pressed { input: command(keys), lag, subtick }
}

fn forged(script: &mut Script<'_>) -> InputPacket<skirmish::Command> {
    let flags = script.u8();
    InputPacket {
        seq: script.u16(),
        ack: (flags & 1 != 0).then(|| Ack { newest: script.u16(), mask: script.u32() }),
        sent: script.u32(),
        echo: (flags & 2 != 0)
            .then(|| Echo { time: script.u32(), held: script.u32() & Echo::HELD_MAX }),
        epoch: flags >> 2 & 1,
        tick: script.u16(),
        inputs: script.take(usize::from(flags >> 3)).iter().map(|keys| pressed(*keys)).collect(),
    }
}

/// Writes a script for [`room`].
pub(super) struct RoomScript(pub(super) Vec<u8>);

impl RoomScript {
    pub(super) fn new(bots: u8) -> Self {
        Self(vec![bots])
    }

    fn operation(&mut self, operation: u8, client: u8, rest: &[u8]) {
        self.0.push(client * OPERATIONS + operation);
        self.0.extend(rest);
    }

    pub(super) fn control(&mut self, client: u8, body: &[u8]) {
        self.operation(CONTROL, client, &[]);
        push_block(&mut self.0, body);
    }

    pub(super) fn hello(&mut self, client: u8) {
        self.operation(HELLO, client, &[(client % 4) | (4 << 2) | (client & 1) << 5]);
    }

    pub(super) fn datagram(&mut self, client: u8, bytes: &[u8]) {
        self.operation(DATAGRAM, client, &[]);
        push_block(&mut self.0, bytes);
    }

    pub(super) fn time(&mut self, span: Micros) {
        let tenths = u16::try_from(span.0 / 100).expect("a short time");
        self.operation(TIME, 0, &tenths.to_le_bytes());
    }
}

//! Allocations of a client in ordinary frames: the bytes of the packets that it sends, which the
//! transport takes, and nothing else.

use std::collections::BTreeSet;

use phaselock::client::{AnyClient, Client};
use phaselock::fields::{Entity, Record};
use phaselock::game::{Bot, new_bot};
use phaselock::ids::EntityId;
use phaselock::limits::CLIENT_BYTES_MAX;
use phaselock::motion::Choice;
use phaselock::random::Random;
use phaselock::server::{AnyRoom, ClientId, Output, Room};
use phaselock::time::LocalTime;
use phaselock::wire::control::{ClientMessage, ServerMessage};
use phaselock_games::skirmish::Piece;
use phaselock_testing::{body, hello, room_config};
use phaselock_tests::crowd::Open;

use crate::measure::allocations;

/// Other players, whom the client gets if they are in sight.
const OTHERS: u16 = 64;
/// Frames until all queues have grown, and measured frames.
const SETTLING: u64 = 900;
const FRAMES: u64 = 300;

/// A client that draws a frame for each tick of the room.
struct Player {
    room: Room<Open>,
    client: Client<Open>,
    bot: Box<dyn Bot<Open>>,
    random: Random,
    now: LocalTime,
}

impl Player {
    fn new(method: Choice) -> Self {
        let config = room_config(1, OTHERS);
        let client_bytes_per_second = CLIENT_BYTES_MAX;
        let mut room =
            Room::new(config.with(|it| it.client_bytes_per_second = client_bytes_per_second));
        let now = LocalTime(0);
        let hello = ClientMessage::Hello(hello::<Open>("Ada", now));
        room.handle_first(now, ClientId(0), &body(&hello));
        let welcome =
            std::iter::from_fn(|| room.poll_output(now)).find_map(|output| match output {
                Output::Control { message: ServerMessage::Welcome(welcome), .. } => Some(welcome),
                _ => None,
            });
        let welcome = welcome.expect("there is a seat");
        let mut client = Client::new(&welcome, now, now).expect("there is no configuration");
        (0..Piece::KINDS.len() as u8).for_each(|kind| client.choose(kind, method));
        Self { room, client, bot: new_bot::<Open>(), random: Random::new(3), now }
    }

    /// Runs a frame. Returns the client's allocations, and the number of packets that it sent.
    fn frame(&mut self) -> (u64, u64) {
        self.now = self.room.next_timeout();
        self.room.handle_timeout(self.now);
        let (now, client) = (self.now, &mut self.client);
        let (mut allocated, mut packets) = (0, 0);
        let mut count = |run: &mut dyn FnMut()| allocated += allocations(run).1.count_total;
        while let Some(output) = self.room.poll_output(now) {
            let Output::Datagram { bytes, .. } = output else { continue };
            count(&mut || {
                client.handle_datagram(&bytes, now).expect("a proper packet");
            });
        }
        count(&mut || client.handle_frame(now));
        while let Some(at) = client.poll_tick(now) {
            let seen = client.newest();
            let (game, player) = (client.game(), client.player());
            let input = self.bot.input(game, at.minus(1), &seen, player, &mut self.random);
            count(&mut || client.handle_input(now, at, input.snapped()));
        }
        count(&mut || drop(client.picture(now)));
        while let Some(bytes) = client.poll_transmit() {
            packets += 1;
            self.room.handle_datagram(now, ClientId(0), &bytes);
        }
        (allocated, packets)
    }

    /// All players in sight.
    fn ids(&self) -> impl Iterator<Item = EntityId> {
        self.client.shown().iter().map(|slot| slot.id)
    }
}

/// Allocations that a new entity takes as needed: its states, its track and its method.
const FOR_NEWCOMERS: u64 = 16;

#[test]
fn a_steady_frame_allocates_its_packet_and_nothing_else() {
    for method in [Choice::Linear, Choice::Hermite, Choice::RunForward, Choice::Adaptive] {
        let mut player = Player::new(method);
        let mut known = BTreeSet::new();
        for _ in 0..SETTLING {
            player.frame();
            known.extend(player.ids());
        }
        let before = known.len();
        let (mut allocated, mut packets, mut steady) = (0, 0, 0);
        for _ in 0..FRAMES {
            let frame = player.frame();
            steady += u64::from(frame == (1, 1));
            (allocated, packets) = (allocated + frame.0, packets + frame.1);
            known.extend(player.ids());
        }
        let came = (known.len() - before) as u64;
        let besides = allocated.saturating_sub(packets);
        eprintln!(
            "{method}: {allocated} allocations in {FRAMES} frames, of which {packets} for packets; \
             {came} entities came; {steady} frames with the packet alone"
        );
        assert_eq!(packets, FRAMES, "a packet a frame");
        assert!(besides <= FOR_NEWCOMERS * came, "{besides} allocations for {came} that came");
        assert!(steady * 3 > FRAMES * 2, "{steady} of {FRAMES} frames");
    }
}

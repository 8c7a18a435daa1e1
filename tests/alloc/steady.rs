//! Allocations of a room in an ordinary tick: the bytes of datagrams, which the transport takes,
//! and next to nothing else.

use phaselock::client::{AnyClient, Client};
use phaselock::fields::Record;
use phaselock::game::Bot as _;
use phaselock::limits::CLIENT_BYTES_DEFAULT;
use phaselock::random::Random;
use phaselock::server::{AnyRoom, ClientId, Output, Room};
use phaselock::time::LocalTime;
use phaselock::wire::control::{ClientMessage, ServerMessage};
use phaselock_games::skirmish::{Bot, Skirmish};
use phaselock_testing::{body, hello, room_config};

use crate::measure::allocations;

const CLIENTS: u64 = 16;
const BOTS: u16 = 64;

/// Clients on the same machine.
struct Table {
    room: Room<Skirmish>,
    now: LocalTime,
    clients: Vec<(Client<Skirmish>, Bot)>,
    random: Random,
}

impl Table {
    fn new(bytes_per_second: u32) -> Self {
        let config = room_config(1, BOTS);
        let config = config.with(|it| it.client_bytes_per_second = bytes_per_second);
        let (mut room, now) = (Room::new(config), LocalTime(0));
        let mut clients = Vec::new();
        for client in 0..CLIENTS {
            let hello = ClientMessage::Hello(hello::<Skirmish>("Ada", now));
            room.handle_first(now, ClientId(client), &body(&hello));
        }
        while let Some(output) = room.poll_output(now) {
            if let Output::Control { message: ServerMessage::Welcome(welcome), .. } = output {
                let client = Client::new(&welcome, now, now).expect("there is no configuration");
                clients.push((client, Default::default()));
            }
        }
        Self { room, now, clients, random: Random::new(3) }
    }

    /// Runs ticks. Returns the room's own allocations, and the number of datagrams.
    fn run(&mut self, ticks: u64) -> (u64, u64) {
        let (mut allocated, mut datagrams) = (0, 0);
        for _ in 0..ticks {
            self.now = self.room.next_timeout();
            let ((), info) = allocations(|| self.room.handle_timeout(self.now));
            allocated += info.count_total;
            loop {
                let (output, info) = allocations(|| self.room.poll_output(self.now));
                allocated += info.count_total;
                let Some(output) = output else { break };
                let Output::Datagram { client, bytes } = output else { continue };
                datagrams += 1;
                let (core, _) = &mut self.clients[client.0 as usize];
                core.handle_datagram(&bytes, self.now).expect("a proper packet");
            }
            for (id, (core, bot)) in (0..).map(ClientId).zip(&mut self.clients) {
                core.handle_frame(self.now);
                while let Some(at) = core.poll_tick(self.now) {
                    let seen = core.newest();
                    let input =
                        bot.input(core.game(), at.minus(1), &seen, core.player(), &mut self.random);
                    core.handle_input(self.now, at, input.snapped());
                }
                while let Some(bytes) = core.poll_transmit() {
                    self.room.handle_datagram(self.now, id, &bytes);
                }
            }
        }
        (allocated, datagrams)
    }
}

#[test]
fn a_steady_room_allocates_its_datagrams_and_little_else() {
    for bytes_per_second in [CLIENT_BYTES_DEFAULT, 8_000] {
        let mut table = Table::new(bytes_per_second);
        table.run(500);
        let ticks = 200;
        let (allocated, datagrams) = table.run(ticks);
        let per_tick = |count: u64| count as f64 / ticks as f64;
        let besides = per_tick(allocated.saturating_sub(datagrams));
        eprintln!(
            "{:.1} allocations a tick, of which {:.1} for datagrams, {besides:.2} besides",
            per_tick(allocated),
            per_tick(datagrams),
        );
        assert!(datagrams >= ticks / 2 * CLIENTS);
        // Some long encodings, and queues that still grow by doubling.
        assert!(besides < 0.5, "{besides} allocations a tick besides the datagrams");
    }
}

//! A room's memory is bounded, whatever its players do and for however long.

use phaselock::fields::Record;
use phaselock::game::Subtick;
use phaselock::random::Random;
use phaselock::server::{AnyRoom, ClientId, Output, Room};
use phaselock::time::LocalTime;
use phaselock::wire::control::ClientMessage;
use phaselock::wire::input::{InputPacket, Pressed, write_input};
use phaselock_games::skirmish::{Command, Skirmish};
use phaselock_testing::{body, hello, room_config};

use crate::measure::allocations;

/// A crowd that joins again and again, acknowledges nothing, and sends inputs for any ticks and
/// garbage, far too much of both.
struct Crowd {
    room: Room<Skirmish>,
    now: LocalTime,
    clients: [Option<ClientId>; 5],
    ids: u64,
    random: Random,
}

impl Crowd {
    fn new() -> Self {
        Self {
            room: Room::new(room_config(1, 4)),
            now: LocalTime(0),
            clients: [None; 5],
            ids: 0,
            random: Random::new(5),
        }
    }

    fn run(&mut self, ticks: u64) {
        for tick in 0..ticks {
            self.now = self.room.next_timeout();
            self.room.handle_timeout(self.now);
            for at in 0..self.clients.len() {
                self.misbehave(at, tick);
            }
            while let Some(output) = self.room.poll_output(self.now) {
                if let Output::Close { client, .. } = output {
                    let gone = self.clients.iter_mut().find(|seat| **seat == Some(client));
                    gone.map(Option::take);
                }
            }
        }
    }

    fn misbehave(&mut self, at: usize, tick: u64) {
        let Some(client) = self.clients[at] else {
            self.ids += 1;
            self.clients[at] = Some(ClientId(self.ids));
            let hello = ClientMessage::Hello(hello::<Skirmish>("Eve", self.now));
            return self.room.handle_first(self.now, ClientId(self.ids), &body(&hello));
        };
        for _ in 0..3 {
            let random = &mut self.random;
            let near = self.room.tick().low();
            let packet = InputPacket {
                seq: (tick as u16).wrapping_mul(3).wrapping_add(random.below(3) as u16),
                ack: None,
                sent: random.bits() as u32,
                echo: None,
                epoch: random.below(50).saturating_sub(48) as u8,
                tick: near.wrapping_add(random.below(200) as u16),
                inputs: vec![
                    Pressed {
                        input: Command { right: 1, fire: true, ..Command::default() }.snapped(),
                        lag: Some(random.bits() as u16),
                        subtick: Some(Subtick::new(random.bits() as u8)),
                    };
                    20
                ],
            };
            self.room.handle_datagram(self.now, client, &write_input(&packet));
            let garbage: Vec<u8> = (0..random.below(60)).map(|_| random.bits() as u8).collect();
            self.room.handle_datagram(self.now, client, &garbage);
        }
        if at > 3 && self.random.chance(0.01) {
            self.room.handle_control(self.now, client, &[2; 9]);
        }
    }
}

#[test]
fn a_crowd_that_misbehaves_costs_no_more_the_longer_it_stays() {
    // One-time allocations, such as tables of names, do not count.
    Crowd::new().run(2);
    // The longest history, that of sent packets, is full after 34 s. Bytes at once:
    let most = |ticks| {
        let ((), info) = allocations(|| {
            let mut crowd = Crowd::new();
            crowd.run(ticks);
            assert!(crowd.room.status().players > 3);
        });
        assert!(info.bytes_current.unsigned_abs() < 1000, "everything is freed: {info:?}");
        info.bytes_max
    };
    let (soon, late) = (most(2500), most(6000));
    eprintln!("{soon} bytes at most, later {late}");
    // Growth by doubling makes the figure uneven.
    assert!(late < soon + soon / 3, "first {soon} bytes, later {late}");
    // Most of it is the contents of sent packets, about these players and some sixty objects.
    assert!(late < 9_000_000, "{late} bytes for five people and four bots");
}

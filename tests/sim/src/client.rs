//! A client in the simulation: its session, its links and its machine.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use phaselock::client::{Client, Output, Picture, Session};
use phaselock::game::Game;
use phaselock::link::Link;
use phaselock::server::ClientId;
use phaselock::time::{LocalTime, Micros, Tick};
use phaselock::wire::control::ServerMessage;
use phaselock::wire::counts::Counts;
use phaselock::wire::disconnect::Disconnect;
use phaselock::wire::input::{read_input, write_input};

use crate::{Forge, Press, PressFrame, Skew, Wire, body};

/// A client in the simulation.
pub struct SimClient<G: Game> {
    /// Id of the client in the room; it changes after each loss of the connection.
    pub id: ClientId,
    /// Its index among the simulation's clients; its key follows from it.
    pub(super) number: usize,
    /// Whether its session asks for a connection.
    pub(super) dials: bool,
    /// Whether the server has received nothing from it over this connection.
    pub(super) is_new: bool,
    /// The client's session, starting with the hello.
    pub session: Session,
    /// The link to the server.
    pub up: Link,
    /// The link from the server.
    pub down: Link,
    /// Clock of the client's machine.
    pub skew: Skew,
    /// The server's last Disconnect.
    pub closed: Option<Disconnect>,
    /// Set it to pause its machine.
    pub stalled: bool,
    /// Delay of control messages on top of the slowest datagram's, as if they were resent.
    pub control_delay: Micros,
    /// First departure and first arrival of each tick's input, if recorded.
    pub ways: Option<BTreeMap<Tick, (LocalTime, Option<LocalTime>)>>,
    /// Datagrams that arrived, in order, if recorded.
    pub arrivals: Option<Vec<Vec<u8>>>,
    /// A cell for its last frame, if a test watches it.
    pub screen: Option<Rc<RefCell<Option<Picture<G>>>>>,
    /// Changes its input packets, as a cheat would.
    pub forge: Option<Forge<G>>,
    /// Makes the inputs of frames, as a window does, in place of those of ticks.
    pub frames: Option<PressFrame<G>>,
    /// Whether those apply to whole ticks, as in a program that calls `Session::press`.
    pub whole_ticks: bool,
    pub(super) press: Press<G>,
    /// Control messages in flight to the client: reliable, in order, as slow as the slowest
    /// datagram.
    pub(super) control: VecDeque<(LocalTime, ServerMessage)>,
    /// Control messages in flight to the server, likewise.
    pub(super) requests: VecDeque<(LocalTime, Vec<u8>)>,
}

impl<G: Game> SimClient<G> {
    /// The core, if the client is in the game.
    pub fn client(&self) -> Option<&Client<G>> {
        self.session.client_of::<G>().filter(|_| self.closed.is_none())
    }

    /// The core, if the client is in the game.
    pub fn client_mut(&mut self) -> Option<&mut Client<G>> {
        self.session.client_of_mut::<G>().filter(|_| self.closed.is_none())
    }

    /// The core of a client that must be in the game.
    pub fn core(&self) -> &Client<G> {
        self.client().expect("the client is in the game")
    }

    /// The core of a client that must be in the game.
    pub fn core_mut(&mut self) -> &mut Client<G> {
        self.client_mut().expect("the client is in the game")
    }

    /// Replaces the source of inputs.
    pub fn set_press(&mut self, press: Press<G>) {
        self.press = press;
    }

    /// Error of the client's server time, in milliseconds.
    pub fn clock_error_ms(&self, now: LocalTime) -> f64 {
        // The room's tick 0 is at the simulation's time 0.
        (self.core().server_time(self.skew.read(now)).0 - now.0) as f64 / 1000.0
    }

    /// Sends and does what the session asks for.
    pub(super) fn transmit(&mut self, now: LocalTime) {
        self.transmit_each(now, |_| {});
    }

    pub(super) fn transmit_each(&mut self, now: LocalTime, mut look: impl FnMut(&[u8])) {
        while let Some(output) = self.session.poll_output() {
            let packet = match output {
                Output::Datagram(packet) => packet,
                Output::Control(framed) => {
                    let slowest = now + self.up.config(now).slowest();
                    let arrival = slowest.max(self.requests.back().map_or(now, |(at, _)| *at));
                    self.requests.push_back((arrival, framed[2..].to_vec()));
                    continue;
                }
                Output::Connect { .. } => {
                    self.dials = true;
                    continue;
                }
                Output::Close(_) => continue,
            };
            let near = self.core().newest_tick();
            let packet = match &mut self.forge {
                Some(forge) => {
                    let mut forged = read_input(&packet).expect("the client wrote it");
                    forge(&mut forged, near);
                    write_input(&forged)
                }
                None => packet,
            };
            self.note_way::<true>(&packet, near, now);
            look(&packet);
            self.up.send(now, packet.len(), packet);
        }
    }

    /// Records that a packet's inputs were sent, or arrived.
    pub(super) fn note_way<const SENT: bool>(&mut self, bytes: &[u8], near: Tick, now: LocalTime) {
        let Some(ways) = &mut self.ways else { return };
        let packet = read_input::<G::Input>(bytes).expect("the client wrote it");
        let newest = Tick::widen(packet.tick, near);
        for tick in (0..packet.inputs.len() as u64).map(|back| newest.minus(back)) {
            if SENT {
                ways.entry(tick).or_insert((now, None));
            } else if let Some((_, came)) = ways.get_mut(&tick) {
                came.get_or_insert(now);
            }
        }
    }
}
pub(super) fn step_client<G: Game>(
    client: &mut SimClient<G>,
    now: LocalTime,
    (is_frame, counts): (bool, &mut Option<Counts>),
    wires: &mut Option<Vec<Wire>>,
) {
    let local = client.skew.read(now);
    while let Some((_, message)) = client.control.pop_front_if(|(at, _)| *at <= now) {
        if let ServerMessage::Disconnect(goodbye) = &message {
            client.closed = Some(goodbye.clone());
        }
        client.session.handle_control(&body(&message), local);
    }
    while let Some(bytes) = client.down.poll(now) {
        if let (Some(core), Some(counts)) = (client.session.client_of::<G>(), counts.as_mut()) {
            core.store().count(core.game(), &bytes, counts);
        }
        client.session.handle_datagram(&bytes, local);
        client.arrivals.iter_mut().for_each(|arrivals| arrivals.push(bytes.clone()));
    }
    if is_frame {
        client.session.handle_timeout(local);
    }
    if client.client().is_none() {
        return client.transmit(now);
    }
    if is_frame {
        client.session.handle_frame(local);
        match &mut client.frames {
            Some(frames) if client.whole_ticks => {
                client.session.press(local, |core, _| frames(core, local));
            }
            Some(frames) => {
                client.session.press_frame(local, |core| frames(core, local));
            }
            None => client.session.press(local, &mut client.press),
        }
        let picture = client.session.picture(local);
        if let Some(screen) = &client.screen {
            *screen.borrow_mut() = picture;
        }
    }
    client.transmit_each(now, |packet| {
        wires.iter_mut().for_each(|wires| wires.push(Wire::Up(packet.to_vec())));
    });
}

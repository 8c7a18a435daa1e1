//! A simulated world for tests of games: a server's room and its clients in one process, joined by
//! seeded links in virtual time.
//!
//! The room and the sessions are the real ones, without drivers. [`Sim`] carries their packets over
//! seeded [`Link`]s and gives each machine its own clock. The same seed gives the same run, to the
//! last bit. [`light`] is a cheap client for load tests, [`ether`] a network in memory for the real
//! drivers, and [`tables`] trains a game's coding tables.
//!
//! In this example, a player at a round trip of 200 ms walks on a line and is never corrected.
//! `Line` is the game from the example of `phaselock-quic`.
//!
//! ```
//! # use phaselock::game::{Ahead, Entities, Game, Inputs, World};
//! # use phaselock::ids::{EntityId, PlayerId};
//! # use phaselock::time::Rates;
//! # phaselock::record! { pub struct Walk { pub right: i16 = Field::centred(2, 0) } }
//! # phaselock::record! { pub struct Walker { pub x: f32 = Field::centred(16, 8) } }
//! # #[derive(Debug)]
//! # struct Line(f32);
//! # impl Line {
//! #     fn walk(&self, walker: &mut Walker, input: &Walk) {
//! #         walker.x += f32::from(input.right) * 3.0 * self.0;
//! #     }
//! # }
//! # impl Game for Line {
//! #     const NAME: &'static str = "line";
//! #     const RULES_VERSION: u32 = 1;
//! #     type Input = Walk;
//! #     type Entity = Walker;
//! #     type Memory = ();
//! #     fn new(rates: Rates, _seed: u64) -> Self {
//! #         Self(rates.step_secs())
//! #     }
//! #     fn join(&self, world: &mut World<Self>, player: PlayerId) {
//! #         world.spawn(Some(player), Walker::default());
//! #     }
//! #     fn step(&self, world: &mut World<Self>, inputs: &Inputs<Walk>) {
//! #         for (_, owner, walker) in world.entities.records_mut::<Walker>() {
//! #             self.walk(walker, &owner.map(|it| inputs.get(it)).unwrap_or_default());
//! #         }
//! #     }
//! #     fn predict(&self, all: &mut Entities<Walker>, own: EntityId, input: &Walk, _: Ahead<'_>) {
//! #         if let Some(walker) = all.record_mut(own) {
//! #             self.walk(walker, input);
//! #         }
//! #     }
//! #     fn repeat(last: &Walk, _missed: u64) -> Walk { *last }
//! # }
//! use phaselock::link::LinkConfig;
//! use phaselock_testing::Sim;
//!
//! let mut sim = Sim::<Line>::new(1, 0);
//! let client = sim.join(LinkConfig::delayed(100, 10), Box::new(|_, _| Walk { right: 1 }));
//! sim.run(5.0);
//! let stats = sim.clients[client].core().stats();
//! assert_eq!(stats.mispredictions, 0);
//! assert!(sim.check_store(client) > 0, "what the client has is the truth");
//! ```

pub mod bots;
mod client;
pub mod ether;
mod known;
pub mod light;
pub mod tables;
mod tape;

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

use phaselock::client::{Client, Part, Session, SessionConfig};
use phaselock::game::{Entities, Game, new_bot};
use phaselock::games::Games;
use phaselock::identity::{Credentials, PublicKey};
use phaselock::link::{Conditions, Link, LinkConfig};
use phaselock::replay::{Pace, Piece};
use phaselock::server::{
    AnyRoom, ClientId, Output as RoomOutput, RecordConfig, Room, RoomConfig, Rotation,
};
use phaselock::time::{LocalTime, Micros, Tick};
use phaselock::wire::control::{Hello, ServerMessage, frame};
use phaselock::wire::counts::Counts;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::input::InputPacket;
use phaselock::wire::protocol::{game_hash, wire_hash};

pub use client::SimClient;
use client::step_client;
use known::{client_may_know, client_must_know, shown};
pub use known::{may_know, must_know};
use tape::Tape;
pub use tape::{file_of, record_until};

/// The error of a machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Skew {
    /// Reading of the clock at time 0 of the simulation.
    pub start: Micros,
    /// Rate error, in parts per million; positive is too fast.
    pub ppm: f64,
}

impl Skew {
    /// The clock's reading.
    pub fn read(self, now: LocalTime) -> LocalTime {
        LocalTime(self.start.0) + Micros::from_f64(now.0 as f64 * (1.0 + self.ppm * 1e-6))
    }
}

/// Makes a player's input for a tick.
pub type Press<G> = Box<dyn FnMut(&Client<G>, Tick) -> <G as Game>::Input>;

/// Makes a player's input for a frame that is drawn at a time of the client's clock.
pub type PressFrame<G> = Box<dyn FnMut(&Client<G>, LocalTime) -> <G as Game>::Input>;

/// Changes an input packet of a client, given a tick near it.
pub type Forge<G> = Box<dyn FnMut(&mut InputPacket<<G as Game>::Input>, Tick)>;

/// A message or packet that was sent.
#[derive(Clone, Debug)]
pub enum Wire {
    /// A control message to a client.
    Control(ServerMessage),
    /// A datagram to a client.
    Down(Vec<u8>),
    /// A datagram to the server.
    Up(Vec<u8>),
}

/// A server and its clients.
pub struct Sim<G: Game> {
    /// True time, and the server's clock.
    pub now: LocalTime,
    /// The server.
    pub room: Room<G>,
    /// The clients, in the order in which they joined.
    pub clients: Vec<SimClient<G>>,
    /// The true states at each tick that has a snapshot.
    pub truth: BTreeMap<Tick, Entities<G::Entity>>,
    /// Set it to pause the server's machine.
    pub server_stalled: bool,
    /// Processing time of each tick, during which the server does nothing else.
    pub tick_takes: Micros,
    /// Time to pack and to send each datagram, likewise.
    pub datagram_takes: Micros,
    /// When the server finishes its present work.
    busy_until: LocalTime,
    /// Whether output of the last tick remains to be sent.
    is_draining: bool,
    /// Whether clients that join from now on ask for plain coding.
    pub plain: bool,
    /// The part (player or spectator) that clients ask for who join from now on.
    pub part: Part,
    /// Whether clients that join from now on ask for early inputs of others.
    pub early: bool,
    /// Time between two frames of a client; by default about that of a fast display.
    pub frame: Micros,
    /// Time of the first frame.
    pub first_frame: Micros,
    /// The decisions of all snapshot packets, if recorded to train tables.
    pub counts: Option<Counts>,
    /// Everything that is sent, in order, if recorded.
    pub wires: Option<Vec<Wire>>,
    /// Number of datagrams that the server sent, and a digest of them.
    pub datagrams: (u64, u64),
    tape: Tape,
    seed: u64,
}

/// The configuration of a room at the usual rates.
pub fn room_config(seed: u64, bots: u16) -> RoomConfig {
    RoomConfig { seed, map_seed: seed, ..RoomConfig::default() }.with(|it| {
        it.name = "test".into();
        it.bots = bots;
    })
}

/// A hello of this build, from a new player each time.
pub fn hello<G: Game>(name: &str, sent: LocalTime) -> Hello {
    Hello {
        wire: wire_hash(),
        version: "test".into(),
        name: name.into(),
        games: vec![(G::NAME.into(), game_hash::<G>())],
        sent,
        credentials: new_player(),
        resume: None,
        wishes: 0,
        room: None,
        password: None,
        look: phaselock::wire::talk::Look::default(),
        ticket: None,
    }
}

/// Credentials with a key that no other call returns.
pub fn new_player() -> Credentials {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let mut key = PublicKey::default();
    key.0[8..16].copy_from_slice(&NUMBER.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    Credentials { key, ..Credentials::default() }
}

/// Inputs of a bot.
pub fn bot<G: Game>(seed: u64) -> Press<G> {
    let mut bot = new_bot::<G>();
    let mut random = phaselock::random::Random::new(seed);
    Box::new(move |client, tick| {
        let seen = client.newest();
        bot.input(client.game(), tick.minus(1), &seen, client.player(), &mut random)
    })
}

/// Returns the body of a control message's frame.
pub fn body<M: serde::Serialize>(message: &M) -> Vec<u8> {
    frame(message).expect("it is short")[2..].to_vec()
}

impl<G: Game> Sim<G> {
    /// Creates a server with this number of bots and no clients.
    pub fn new(seed: u64, bots: u16) -> Self {
        Self::with(room_config(seed, bots))
    }

    /// Creates a server with this configuration.
    pub fn with(config: RoomConfig) -> Self {
        Self::with_setup(config, &[])
    }

    /// Creates a server with a configuration of the rules, in the game's own format.
    ///
    /// While the environment has a folder in `PHASELOCK_REPLAYS`, the server records, and a test
    /// that panics leaves the recording there.
    pub fn with_setup(mut config: RoomConfig, setup: &[u8]) -> Self {
        if Tape::is_wanted() && config.record.is_none() {
            let pace = Pace { chunk_secs: 1, ..Pace::DEFAULT };
            config.record = Some(RecordConfig { pace, chat: true, ..RecordConfig::default() });
        }
        Self {
            now: LocalTime(0),
            counts: None,
            wires: None,
            datagrams: (0, 0),
            seed: config.seed,
            tape: Tape::new(config.seed),
            room: Room::open(Rotation::new(config), setup),
            plain: false,
            part: Part::Play,
            early: true,
            clients: Vec::new(),
            truth: BTreeMap::new(),
            server_stalled: false,
            tick_takes: Micros::ZERO,
            datagram_takes: Micros::ZERO,
            busy_until: LocalTime(0),
            is_draining: false,
            frame: Micros::from_ms(4),
            first_frame: Micros::ZERO,
        }
    }

    /// Lets a client join over a link with these properties in each direction. Returns its index.
    pub fn join(&mut self, link: LinkConfig, press: Press<G>) -> usize {
        self.join_with(link, link, Skew::default(), press)
    }

    /// Lets a client join with a link for each direction and a clock. Returns its index.
    pub fn join_with(
        &mut self,
        up: LinkConfig,
        down: LinkConfig,
        skew: Skew,
        press: Press<G>,
    ) -> usize {
        let number = self.clients.len() as u64;
        let config = SessionConfig {
            // Silence never ends a session here, so that tests see what the core does.
            silence_max: Micros(i64::MAX / 2),
            plain: self.plain,
            part: self.part,
            early: self.early,
            ..SessionConfig::new(Games::new().with::<G>(), format!("client {number}"))
        };
        let session = Session::new(config, skew.read(self.now));
        self.clients.push(SimClient {
            id: self.next_id(),
            number: self.clients.len(),
            dials: false,
            is_new: true,
            session,
            up: Link::new(up, self.seed ^ (2 * number + 1) << 8),
            down: Link::new(down, self.seed ^ (2 * number + 2) << 8),
            skew,
            closed: None,
            stalled: false,
            control_delay: Micros::ZERO,
            ways: None,
            arrivals: None,
            screen: None,
            forge: None,
            frames: None,
            whole_ticks: false,
            press,
            control: VecDeque::new(),
            requests: VecDeque::new(),
        });
        self.connect(self.clients.len() - 1);
        self.clients.len() - 1
    }

    /// Connects a client whose session asks for it.
    fn connect(&mut self, client: usize) {
        let now = self.now;
        let client = &mut self.clients[client];
        let local = client.skew.read(now);
        // Keys need no proof in the simulation.
        let mut key = PublicKey::default();
        key.0[..2].copy_from_slice(&(client.number as u16).to_le_bytes());
        client.dials = false;
        client.session.handle_connected(local, Credentials { key, ..Credentials::default() });
        client.transmit(now);
    }

    /// Returns the number of the next connection.
    fn next_id(&self) -> ClientId {
        ClientId(self.clients.iter().map(|client| client.id.0 + 1).max().unwrap_or_default())
    }

    /// Cuts a client's connection. Both sides learn of it, and the client reconnects as a new
    /// client of the room.
    pub fn cut(&mut self, client: usize) {
        let now = self.now;
        let next = self.next_id();
        let cut = &mut self.clients[client];
        self.room.handle_lost(now, cut.id, "the link was cut");
        cut.id = next;
        cut.is_new = true;
        cut.requests.clear();
        cut.control.clear();
        let reason = Disconnect::new(Code::Lost, "the link was cut");
        cut.session.handle_lost(cut.skew.read(now), reason);
    }

    /// Lets a client join over a network's conditions, which start now. Returns its index.
    pub fn join_over(&mut self, conditions: &Conditions, skew: Skew, press: Press<G>) -> usize {
        let (first, second) = (*conditions.up.first(), *conditions.down.first());
        let client = self.join_with(first, second, skew, press);
        let (up, down) = conditions.links(self.now);
        (self.clients[client].up, self.clients[client].down) = (up, down);
        client
    }

    /// Lets a client join that plays like a bot. Returns its index.
    pub fn join_bot(&mut self, link: LinkConfig) -> usize {
        let press = bot::<G>(self.seed + self.clients.len() as u64);
        self.join(link, press)
    }

    /// Lets this number of seconds pass.
    pub fn run(&mut self, secs: f64) {
        self.run_each(secs, |_| {});
    }

    /// Lets this number of seconds pass, and calls `look` after each event.
    pub fn run_each(&mut self, secs: f64, mut look: impl FnMut(&mut Self)) {
        let end = self.now + Micros::from_f64(secs * 1e6);
        while let Some(next) = self.next_event().filter(|next| *next <= end) {
            self.now = self.now.max(next);
            self.step();
            look(self);
        }
        self.now = end;
    }

    fn next_event(&self) -> Option<LocalTime> {
        let busy = |at: LocalTime| at.max(self.busy_until);
        let room = (!self.server_stalled).then(|| busy(self.room.next_timeout()));
        // Continue with what is left to send.
        let freed = Some(self.busy_until).filter(|until| *until > self.now && !self.server_stalled);
        let links = self.clients.iter().flat_map(|client| {
            [
                client.up.next_arrival().filter(|_| !self.server_stalled).map(busy),
                client.down.next_arrival().filter(|_| !client.stalled),
                client.control.front().map(|(at, _)| *at).filter(|_| !client.stalled),
                client.requests.front().map(|(at, _)| busy(*at)).filter(|_| !self.server_stalled),
            ]
        });
        let since = (self.now.0 - self.first_frame.0).rem_euclid(self.frame.0);
        let frame = self.now + (self.frame - Micros(since));
        links.chain([Some(frame), room, freed]).flatten().min()
    }

    fn step(&mut self) {
        let now = self.now;
        let server_runs = !self.server_stalled && self.busy_until <= now;
        if server_runs {
            self.drain();
        }
        // In the driver's order: first the clock, then received packets.
        let is_free = server_runs && !self.is_draining && self.busy_until <= now;
        if is_free && self.room.next_timeout() <= now {
            self.is_draining = true;
            let before = self.room.tick();
            self.room.handle_timeout(now);
            let ticks = self.room.tick().since(before) as i64;
            self.busy_until = now + Micros(self.tick_takes.0 * ticks);
            let world = self.room.world();
            self.truth.insert(world.tick, world.entities.clone());
            self.wind();
        }
        for client in self.clients.iter_mut().filter(|_| server_runs) {
            while let Some((_, body)) = client.requests.pop_front_if(|(at, _)| *at <= now) {
                match std::mem::take(&mut client.is_new) {
                    true => self.room.handle_first(now, client.id, &body),
                    false => self.room.handle_control(now, client.id, &body),
                }
            }
            while let Some(bytes) = client.up.poll(now) {
                client.note_way::<false>(&bytes, self.room.tick(), now);
                self.room.handle_datagram(now, client.id, &bytes);
            }
        }
        self.drain();
        let mut dialing = Vec::new();
        let is_frame = (now.0 - self.first_frame.0).rem_euclid(self.frame.0) == 0;
        for (number, client) in self.clients.iter_mut().enumerate() {
            if !client.stalled {
                let frames = (is_frame, &mut self.counts);
                step_client(client, now, frames, &mut self.wires);
                dialing.extend(client.dials.then_some(number));
            }
        }
        for client in dialing {
            self.connect(client);
        }
    }

    /// Returns the recording so far as a file; the room must be configured to
    /// [record](RoomConfig::record).
    pub fn replay(&mut self) -> Vec<u8> {
        self.room.cut_replay();
        self.wind();
        self.tape.file()
    }

    /// Takes all pieces of the recordings so far.
    pub fn take_replay(&mut self) -> Vec<Piece> {
        self.room.cut_replay();
        self.wind();
        self.tape.take()
    }

    fn wind(&mut self) {
        while let Some(piece) = self.room.poll_replay() {
            self.tape.push(piece);
        }
    }

    /// Sends the room's outputs, as far as the server has time.
    pub fn drain(&mut self) {
        while self.busy_until <= self.now {
            let Some(output) = self.room.poll_output(self.now) else {
                self.is_draining = false;
                return;
            };
            let (client, wire) = match output {
                RoomOutput::Datagram { client, bytes } => {
                    self.busy_until = self.now + self.datagram_takes;
                    (client, Wire::Down(bytes))
                }
                RoomOutput::Control { client, message } => (client, Wire::Control(message)),
                RoomOutput::Close { .. } => continue,
            };
            let Some(to) = self.clients.iter_mut().find(|to| to.id == client) else { continue };
            self.wires.iter_mut().for_each(|wires| wires.push(wire.clone()));
            match wire {
                Wire::Down(bytes) => {
                    let mut hasher = DefaultHasher::new();
                    (self.datagrams, client, &bytes).hash(&mut hasher);
                    self.datagrams = (self.datagrams.0 + 1, hasher.finish());
                    to.down.send(self.now, bytes.len(), bytes);
                }
                Wire::Control(message) => {
                    let arrival = self.now + to.down.config(self.now).slowest() + to.control_delay;
                    let before = to.control.back().map_or(self.now, |(at, _)| *at);
                    to.control.push_back((arrival.max(before), message));
                }
                Wire::Up(_) => {}
            }
        }
    }

    /// Checks that all states that a client has are true, and that it has no more than it may know.
    /// Returns the number of compared states.
    pub fn check_store(&self, client: usize) -> usize {
        let core = self.clients[client].core();
        let mut compared = 0;
        for (index, versions) in core.store().iter() {
            for version in versions {
                let Some(truth) = self.truth.get(&version.tick) else { continue };
                let slot = truth.at(index);
                let known = version.state.map(|state| state.to_slot::<G::Entity>(index));
                match (slot, known) {
                    (None, None) => {}
                    (Some(slot), None) => {
                        let must = client_must_know(core, truth, slot);
                        assert!(!must, "entity {index} was kept back at {}", version.tick);
                    }
                    (Some(slot), Some(known)) => {
                        let may = client_may_know(core, truth, slot);
                        assert!(may, "entity {index} was secret at {}", version.tick);
                        assert_eq!((slot.id, slot.owner), (known.id, known.owner));
                        let own = slot.owner == Some(core.player());
                        let [truth, known] = [slot.entity, known.entity].map(|it| shown(&it, own));
                        assert_eq!(truth, known, "entity {index} at {}", version.tick);
                    }
                    (truth, known) => {
                        panic!("entity {index} at {}: {truth:?}, known as {known:?}", version.tick)
                    }
                }
                compared += 1;
            }
        }
        compared
    }
}

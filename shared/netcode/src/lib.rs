//! Netcode for authoritative real-time games, without any I/O: a server's room, a client's session,
//! and everything that travels between them.
//!
//! | to | begin at |
//! |---|---|
//! | write a game | [`game::Game`] and [`record!`](crate::record) |
//! | run a server | [`server::Room`] |
//! | play on a server | [`client::Session`] |
//! | choose how entities are shown | [`motion::Choice`] |
//! | simulate a bad network | [`link`] |
//!
//! This crate decides everything and does nothing: packets, messages and the time go in, packets
//! and pictures come out. A driver does the I/O: `phaselock-quic` over the network,
//! `phaselock-testing` in one process and in virtual time. `README.md` beside this crate is a guide
//! for game developers, and `docs/concepts.md` explains the methods.
//!
//! Data flows down one side and up the other:
//!
//! ```text
//! server                                                    client
//! game::Game::step -> World -> snapshot::history            snapshot::store -> motion (others)
//!                                 | snapshot::sender             ^           -> prediction (self)
//!                                 v                              |
//!                         wire::snapshot  ---- datagrams ---> wire::snapshot
//! inputs <- wire::input <------------ datagrams ------------- wire::input
//! clock::offset ------------- in every snapshot ------------> clock::{pll, lead, delay}
//! ```
//!
//! A game is one implementation of [`game::Game`]; a [`server::Room`] plays it:
//!
//! ```
//! use phaselock::game::{Ahead, Entities, Game, Inputs, World};
//! use phaselock::ids::{EntityId, PlayerId};
//! use phaselock::time::Rates;
//! phaselock::record! { pub struct Walk { pub right: i16 = Field::centred(2, 0) } }
//! phaselock::record! { pub struct Walker { pub x: f32 = Field::centred(16, 8) } }
//! #[derive(Debug)]
//! struct Line(f32);
//! impl Line {
//!     fn walk(&self, walker: &mut Walker, input: &Walk) {
//!         walker.x += f32::from(input.right) * 3.0 * self.0;
//!     }
//! }
//! impl Game for Line {
//!     const NAME: &'static str = "line";
//!     const RULES_VERSION: u32 = 1;
//!     type Input = Walk;
//!     type Entity = Walker;
//!     type Memory = ();
//!     fn new(rates: Rates, _seed: u64) -> Self {
//!         Self(rates.step_secs())
//!     }
//!     fn join(&self, world: &mut World<Self>, player: PlayerId) {
//!         world.spawn(Some(player), Walker::default());
//!     }
//!     fn step(&self, world: &mut World<Self>, inputs: &Inputs<Walk>) {
//!         for (_, owner, walker) in world.entities.records_mut::<Walker>() {
//!             self.walk(walker, &owner.map(|it| inputs.get(it)).unwrap_or_default());
//!         }
//!     }
//!     fn predict(&self, all: &mut Entities<Walker>, own: EntityId, input: &Walk, _: Ahead<'_>) {
//!         if let Some(walker) = all.record_mut(own) {
//!             self.walk(walker, input);
//!         }
//!     }
//!     fn repeat(last: &Walk, _missed: u64) -> Walk {
//!         *last
//!     }
//! }
//!
//! use phaselock::server::{AnyRoom, Room, RoomConfig};
//! use phaselock::time::{LocalTime, Tick};
//!
//! let mut room = Room::<Line>::new(RoomConfig::default());
//! room.handle_timeout(LocalTime(250_000)); // a quarter of a second later
//! assert_eq!(room.tick(), Tick(15));
//! ```
//!
//! *Invariants:*
//! - Nothing in this crate does I/O, reads a clock or draws unseeded randomness; the time is an
//!   argument.
//! - The netcode never interprets a field of a game, and a game knows nothing of the network.
//! - Everything read from the network is validated before it changes anything, and bounded
//!   ([`limits`]).

#![warn(clippy::too_many_lines, clippy::print_stderr)]

pub mod address;
pub mod client;
pub mod clock;
pub mod date;
pub mod fields;
pub mod filename;
pub mod fingerprint;
pub mod game;
pub mod games;
pub mod identity;
pub mod ids;
pub mod inputs;
pub mod interest;
pub mod invitation;
pub mod limits;
pub mod link;
pub mod motion;
pub mod path;
pub mod physics;
pub mod playback;
pub mod presentation;
pub mod random;
pub mod replay;
pub mod rewind;
pub mod seek;
pub mod server;
pub mod snapshot;
pub mod textfile;
pub mod time;
pub mod wire;

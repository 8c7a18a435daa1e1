//! The netcode that Phaselock's server and client share.
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
//! A game is one implementation of [`game::Game`], and a [`server::Room`] plays it:
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
//! - Nothing here does I/O, reads a clock or draws unseeded randomness; time is an argument.
//! - Netcode never looks into a field of a game; a game never hears of the network.
//! - Everything read from the network is validated before anything is changed, and bounded
//!   ([`limits`]).

#![warn(clippy::too_many_lines)]

pub mod address;
pub mod client;
pub mod clock;
pub mod fields;
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
pub mod presentation;
pub mod random;
pub mod rewind;
pub mod server;
pub mod snapshot;
pub mod textfile;
pub mod time;
pub mod wire;

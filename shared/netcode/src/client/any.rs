//! A client of any game.

use std::any::Any;
use std::fmt::Debug;

use super::common::Common;
use super::recorder::Recorded;
use crate::clock::pll::LoopFilter;
use crate::fields::{Kind, Packed};
use crate::motion::choice::Choice;
use crate::snapshot::store::{Received, StoreError};
use crate::time::{LocalTime, Micros, Tick};
use crate::wire::control::ServerMessage;

/// A [`Client`](super::Client) whose game is known at run time only; see
/// [`downcast_ref`](super::downcast_ref).
pub trait AnyClient: Any + Debug + Send {
    /// The game's name.
    fn game_name(&self) -> &'static str;
    /// Kinds of the game's entities.
    fn kinds(&self) -> &'static [Kind];
    /// Clocks, roster and counters.
    fn common(&self) -> &Common;
    /// The same, to change.
    fn common_mut(&mut self) -> &mut Common;
    /// A datagram arrived at `arrival`. An error means that it changed nothing but counters.
    fn handle_datagram(&mut self, bytes: &[u8], arrival: LocalTime)
    -> Result<Received, StoreError>;
    /// A control message came, other than the welcome.
    fn handle_message(&mut self, message: &ServerMessage);
    /// A frame begins, in a program that reads its keys once a frame: inputs leave a frame earlier.
    fn handle_frame(&mut self, now: LocalTime);
    /// Reports that the machine kept the program waiting for `held` since the last frame, although
    /// it was ready to run. Call it once a frame: it distinguishes a busy machine from slow frames.
    fn handle_held(&mut self, now: LocalTime, held: Micros);
    /// The next due tick without an input. After a stall, ticks are skipped.
    fn poll_tick(&mut self, now: LocalTime) -> Option<Tick>;
    /// Earliest time at which [`poll_tick`](Self::poll_tick) may return a tick, as far as is known.
    fn next_timeout(&self, now: LocalTime) -> LocalTime;
    /// The next packet to send.
    fn poll_transmit(&mut self) -> Option<Vec<u8>>;
    /// [`Client::handle_input`](super::Client::handle_input) with a packed input.
    fn handle_packed_input(&mut self, now: LocalTime, tick: Tick, input: &Packed);
    /// Moves on to `now` as [`Client::picture`](super::Client::picture) does, without drawing.
    fn handle_picture(&mut self, now: LocalTime);
    /// Chooses the loop that keeps the clock in phase.
    fn set_loop_filter(&mut self, now: LocalTime, filter: LoopFilter);
    /// Shows the others of a kind, an index into the game's kinds, by a method.
    fn choose(&mut self, kind: u8, choice: Choice);
    /// The method that a kind is shown by.
    fn choice(&self, kind: u8) -> Choice;
    /// Adds the picture of another method to [`Client::traces`](super::Client::traces).
    fn set_ghost(&mut self, ghost: Option<Choice>);
    /// Begins or ends the recording of the own player's motion.
    fn record_motion(&mut self, on: bool);
    /// The next state of the recording; of some hundred that wait the oldest are lost.
    fn poll_motion(&mut self) -> Option<Recorded>;
    /// Leaves the game, for the next one on the same server.
    fn into_common(self: Box<Self>) -> Common;
}

//! A client of any game.

use std::any::Any;
use std::fmt::Debug;

use super::common::Common;
use super::footage::GameOrigin;
use super::ghosts::FetchedGhost;
use super::recorder::Recorded;
use crate::clock::pll::LoopFilter;
use crate::fields::{Kind, Packed};
use crate::motion::choice::Choice;
use crate::replay::Piece;
use crate::snapshot::store::{Received, StoreError};
use crate::time::{LocalTime, Micros, Tick};
use crate::wire::control::ServerMessage;
use crate::wire::snapshot::KindSet;

/// A [`Client`](super::Client) whose game is known only at run time;
/// [`Session::client_of`](super::Session::client_of) returns it with its type.
pub trait AnyClient: Any + Debug + Send {
    /// Returns the game's name.
    fn game_name(&self) -> &'static str;
    /// Returns the kinds of the game's entities.
    fn kinds(&self) -> &'static [Kind];
    /// Returns clocks, roster and counters.
    fn common(&self) -> &Common;
    /// Returns clocks, roster and counters, to change them.
    fn common_mut(&mut self) -> &mut Common;
    /// Handles a datagram that arrived at `arrival`. An error means that only counters have
    /// changed.
    fn handle_datagram(&mut self, bytes: &[u8], arrival: LocalTime)
    -> Result<Received, StoreError>;
    /// Handles a control message other than a welcome.
    fn handle_message(&mut self, message: &ServerMessage);
    /// Marks the start of a frame, for programs that read their controls once per frame. The lead
    /// then allows for inputs that leave up to a frame early.
    fn handle_frame(&mut self, now: LocalTime);
    /// Reports that the program was ready to run but the machine made it wait for `held` since the
    /// last frame, which distinguishes a busy machine from slow frames. Call it once per frame.
    fn handle_held(&mut self, now: LocalTime, held: Micros);
    /// Returns the next due tick that has no input yet. Skips ticks after a stall.
    fn poll_tick(&mut self, now: LocalTime) -> Option<Tick>;
    /// Returns the earliest time at which [`poll_tick`](Self::poll_tick) may return a tick, as far
    /// as is known.
    fn next_timeout(&self, now: LocalTime) -> LocalTime;
    /// Takes the next packet to send.
    fn poll_transmit(&mut self) -> Option<Vec<u8>>;
    /// Calls [`Client::handle_input`](super::Client::handle_input) with a packed input.
    fn handle_packed_input(&mut self, now: LocalTime, tick: Tick, input: &Packed);
    /// Calls [`Client::handle_frame_input`](super::Client::handle_frame_input) with a packed input.
    fn handle_packed_frame(&mut self, now: LocalTime, input: &Packed);
    /// Advances presentation to `now`, as [`Client::picture`](super::Client::picture) does, without
    /// drawing.
    fn handle_picture(&mut self, now: LocalTime);
    /// Sets the loop filter of the clock.
    fn set_loop_filter(&mut self, now: LocalTime, filter: LoopFilter);
    /// Sets the input delay in ticks, at most [`INPUT_DELAY_TICKS_MAX`].
    ///
    /// [`INPUT_DELAY_TICKS_MAX`]: crate::limits::INPUT_DELAY_TICKS_MAX
    fn set_input_delay(&mut self, ticks: u8);
    /// Sets the method by which a kind is presented, except for the player's own entity. `kind` is
    /// an index into the game's kinds.
    fn choose(&mut self, kind: u8, choice: Choice);
    /// Returns the method by which a kind is presented.
    fn choice(&self, kind: u8) -> Choice;
    /// Returns the kinds of entities whose early steering the client wants to know.
    fn early(&self) -> KindSet;
    /// Adds the picture of a second method to [`Client::traces`](super::Client::traces).
    fn set_ghost(&mut self, ghost: Option<Choice>);
    /// Returns the hash of the run that is shown as a ghost, or `None` if none is. The outer `None`
    /// is for a game that has no runs, and for spectators.
    fn raced(&self) -> Option<Option<u64>>;
    /// Shows a run as a ghost, or no longer. Returns `false` if the run cannot be used.
    fn race(&mut self, ghost: Option<&FetchedGhost>) -> bool;
    /// Starts or stops recording the local player's motion.
    fn record_motion(&mut self, on: bool);
    /// Takes the next recorded state. A few hundred are kept; beyond that the oldest are dropped.
    fn poll_motion(&mut self) -> Option<Recorded>;
    /// Starts or stops recording what the client is sent.
    fn record_footage(&mut self, origin: Option<GameOrigin>);
    /// Adds a message to that recording.
    fn note_footage(&mut self, message: &ServerMessage);
    /// Ends the present chunk of that recording.
    fn cut_footage(&mut self);
    /// Takes the next piece of that recording.
    fn poll_footage(&mut self) -> Option<Piece>;
    /// Calls [`Client::remember`](super::Client::remember).
    fn remember(&mut self);
    /// Leaves the game and keeps what the next game on the same server needs.
    fn into_common(self: Box<Self>) -> Common;
}

//! A client of any game, and the controllers that press its keys.

use std::any::Any;
use std::fmt::Debug;

use super::common::Common;
use super::game::Client;
use super::recorder::Recorded;
use crate::clock::pll::LoopFilter;
use crate::fields::{Kind, Packed, Record};
use crate::game::{Bot, Game, new_bot};
use crate::limits::FIELDS_MAX;
use crate::motion::choice::Choice;
use crate::random::Random;
use crate::snapshot::store::{Received, StoreError};
use crate::time::{LocalTime, Tick};
use crate::wire::control::ServerMessage;

/// A [`Client`] whose game is known at run time only. [`downcast_ref`] gets the typed one back.
pub trait AnyClient: Any + Debug + Send {
    /// The game's name.
    fn game_name(&self) -> &'static str;
    /// Kinds of the game's entities.
    fn kinds(&self) -> &'static [Kind];
    /// Clocks, roster and counters.
    fn common(&self) -> &Common;
    /// A datagram arrived at `arrival`. An error means that it changed nothing but counters.
    fn handle_datagram(&mut self, bytes: &[u8], arrival: LocalTime)
    -> Result<Received, StoreError>;
    /// A control message came, other than the welcome.
    fn handle_message(&mut self, message: &ServerMessage);
    /// A frame begins, in a program that reads its keys once a frame: inputs are sent ahead by a
    /// frame more. A program that wakes for each tick does not call it.
    fn handle_frame(&mut self, now: LocalTime);
    /// The next due tick that has no input yet. After a stall, ticks are skipped that are too many
    /// to catch up with.
    fn poll_tick(&mut self, now: LocalTime) -> Option<Tick>;
    /// The next time at which [`poll_tick`](Self::poll_tick) may have a tick, by what is known
    /// now.
    fn next_timeout(&self, now: LocalTime) -> LocalTime;
    /// The next packet to send.
    fn poll_transmit(&mut self) -> Option<Vec<u8>>;
    /// [`Client::handle_input`] with a packed input.
    fn handle_packed_input(&mut self, now: LocalTime, tick: Tick, input: &Packed);
    /// Moves everything on to `now` as [`Client::view`] does, in a program that does not draw.
    fn handle_view(&mut self, now: LocalTime);
    /// Chooses the loop that keeps the clock in phase.
    fn set_loop_filter(&mut self, now: LocalTime, filter: LoopFilter);
    /// Shows the others of a kind, an index into the game's kinds, by a method.
    fn choose(&mut self, kind: u8, choice: Choice);
    /// The method that a kind is shown by.
    fn choice(&self, kind: u8) -> Choice;
    /// Adds the picture of another method to [`Client::traces`].
    fn set_ghost(&mut self, ghost: Option<Choice>);
    /// Begins or ends the recording of the own player's motion.
    fn record_motion(&mut self, on: bool);
    /// The next state of the recording. Some hundred wait to be fetched; of more the oldest are
    /// lost.
    fn poll_motion(&mut self) -> Option<Recorded>;
    /// Leaves the game, for the next one on the same server.
    fn into_common(self: Box<Self>) -> Common;
}

/// The client as one of that game; none if it plays another.
pub fn downcast_ref<G: Game>(client: &dyn AnyClient) -> Option<&Client<G>> {
    (client as &dyn Any).downcast_ref()
}

/// The client as one of that game, to change.
pub fn downcast_mut<G: Game>(client: &mut dyn AnyClient) -> Option<&mut Client<G>> {
    (client as &mut dyn Any).downcast_mut()
}

/// Presses the keys of one game.
pub trait Controller: Debug + Send {
    /// The packed input for a tick.
    fn press(&mut self, client: &dyn AnyClient, tick: Tick) -> Packed;
}

/// A bot that plays by the last picture, which is what the server judges its shots by.
#[derive(Debug)]
pub struct Autopilot<G: Game> {
    bot: Box<dyn Bot<G>>,
    random: Random,
}

impl<G: Game> Autopilot<G> {
    /// A bot whose whims follow from `seed`.
    pub fn new(seed: u64) -> Self {
        Self { bot: new_bot::<G>(), random: Random::new(seed) }
    }
}

impl<G: Game> Controller for Autopilot<G> {
    fn press(&mut self, client: &dyn AnyClient, tick: Tick) -> Packed {
        let Some(client) = downcast_ref::<G>(client) else { return [0; FIELDS_MAX] };
        let (game, seen, me) = (client.game(), client.shown(), client.player());
        Record::pack(&self.bot.input(game, tick.minus(1), seen, me, &mut self.random))
    }
}

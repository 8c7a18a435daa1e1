//! A client of whatever game, and whoever presses its keys.

use std::any::Any;
use std::fmt::Debug;

use super::common::Common;
use super::game::Client;
use super::recorder::Recorded;
use crate::fields::{Entity, Kind, Packed, Record};
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
    /// The kinds of the game's entities.
    fn kinds(&self) -> &'static [Kind];
    /// What it has whatever the game.
    fn common(&self) -> &Common;
    /// See [`Client::handle_datagram`].
    fn handle_datagram(&mut self, bytes: &[u8], arrival: LocalTime)
    -> Result<Received, StoreError>;
    /// See [`Client::handle_message`].
    fn handle_message(&mut self, message: &ServerMessage);
    /// See [`Client::handle_frame`].
    fn handle_frame(&mut self, now: LocalTime);
    /// See [`Client::poll_tick`].
    fn poll_tick(&mut self, now: LocalTime) -> Option<Tick>;
    /// See [`Client::next_timeout`].
    fn next_timeout(&self, now: LocalTime) -> LocalTime;
    /// [`Client::handle_input`] with a packed input.
    fn handle_packed_input(&mut self, now: LocalTime, tick: Tick, input: &Packed);
    /// See [`Client::poll_transmit`].
    fn poll_transmit(&mut self) -> Option<Vec<u8>>;
    /// Moves everything on to `now` as [`Client::view`] does, for whoever does not draw.
    fn handle_view(&mut self, now: LocalTime);
    /// See [`Client::set_loop_filter`].
    fn set_loop_filter(&mut self, now: LocalTime, filter: crate::clock::pll::LoopFilter);
    /// See [`Client::choose`].
    fn choose(&mut self, kind: u8, choice: Choice);
    /// See [`Client::choice`].
    fn choice(&self, kind: u8) -> Choice;
    /// See [`Client::set_ghost`].
    fn set_ghost(&mut self, ghost: Option<Choice>);
    /// See [`Client::record_motion`].
    fn record_motion(&mut self, on: bool);
    /// See [`Client::poll_motion`].
    fn poll_motion(&mut self) -> Option<Recorded>;
    /// See [`Client::into_common`].
    fn into_common(self: Box<Self>) -> Common;
}

impl<G: Game> AnyClient for Client<G> {
    fn game_name(&self) -> &'static str {
        G::NAME
    }

    fn kinds(&self) -> &'static [Kind] {
        G::Entity::KINDS
    }

    fn common(&self) -> &Common {
        self.common()
    }

    fn handle_datagram(
        &mut self,
        bytes: &[u8],
        arrival: LocalTime,
    ) -> Result<Received, StoreError> {
        self.handle_datagram(bytes, arrival)
    }

    fn handle_message(&mut self, message: &ServerMessage) {
        self.handle_message(message);
    }

    fn handle_frame(&mut self, now: LocalTime) {
        self.handle_frame(now);
    }

    fn poll_tick(&mut self, now: LocalTime) -> Option<Tick> {
        self.poll_tick(now)
    }

    fn next_timeout(&self, now: LocalTime) -> LocalTime {
        self.next_timeout(now)
    }

    fn handle_packed_input(&mut self, now: LocalTime, tick: Tick, input: &Packed) {
        self.handle_input(now, tick, <G::Input as Record>::unpack(input));
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.poll_transmit()
    }

    fn handle_view(&mut self, now: LocalTime) {
        let _ = self.view(now);
    }

    fn set_loop_filter(&mut self, now: LocalTime, filter: crate::clock::pll::LoopFilter) {
        self.set_loop_filter(now, filter);
    }

    fn choose(&mut self, kind: u8, choice: Choice) {
        self.choose(kind, choice);
    }

    fn choice(&self, kind: u8) -> Choice {
        self.choice(kind)
    }

    fn set_ghost(&mut self, ghost: Option<Choice>) {
        self.set_ghost(ghost);
    }

    fn record_motion(&mut self, on: bool) {
        self.record_motion(on);
    }

    fn poll_motion(&mut self) -> Option<Recorded> {
        self.poll_motion()
    }

    fn into_common(self: Box<Self>) -> Common {
        Self::into_common(*self)
    }
}

/// The client as one of that game; none if it plays another.
pub fn downcast_ref<G: Game>(client: &dyn AnyClient) -> Option<&Client<G>> {
    (client as &dyn Any).downcast_ref()
}

/// The same, to change.
pub fn downcast_mut<G: Game>(client: &mut dyn AnyClient) -> Option<&mut Client<G>> {
    (client as &mut dyn Any).downcast_mut()
}

/// Presses the keys of one game.
pub trait Controller: Debug + Send {
    /// The packed input for a tick.
    fn press(&mut self, client: &dyn AnyClient, tick: Tick) -> Packed;
}

/// A bot that plays by what was last drawn, for by that the server judges its shots.
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

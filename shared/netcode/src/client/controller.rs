//! Controllers, which produce the inputs of one game, and access to the client of a known game.

use std::any::Any;
use std::fmt::Debug;

use super::any::AnyClient;
use super::game::Client;
use crate::fields::{Packed, Record};
use crate::game::{Bot, Game, new_bot};
use crate::limits::FIELDS_MAX;
use crate::random::Random;
use crate::time::Tick;

/// Returns the client if it plays the game `G`.
pub(super) fn downcast<G: Game>(client: &dyn AnyClient) -> Option<&Client<G>> {
    (client as &dyn Any).downcast_ref()
}

/// Produces the inputs of one game.
pub trait Controller: Debug + Send {
    /// Returns the packed input for a tick.
    fn press(&mut self, client: &dyn AnyClient, tick: Tick) -> Packed;
}

/// A bot that acts on the last picture, which is what the server judges its shots by.
#[derive(Debug)]
pub struct Autopilot<G: Game> {
    bot: Box<dyn Bot<G>>,
    random: Random,
}

impl<G: Game> Autopilot<G> {
    /// Creates a bot whose random decisions follow from `seed`.
    pub fn new(seed: u64) -> Self {
        Self { bot: new_bot::<G>(), random: Random::new(seed) }
    }
}

impl<G: Game> Controller for Autopilot<G> {
    fn press(&mut self, client: &dyn AnyClient, tick: Tick) -> Packed {
        let Some(client) = downcast::<G>(client) else { return [0; FIELDS_MAX] };
        let (game, seen, me) = (client.game(), client.shown(), client.player());
        Record::pack(&self.bot.input(game, tick.minus(1), seen, me, &mut self.random))
    }
}

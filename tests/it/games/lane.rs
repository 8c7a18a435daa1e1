//! A lane: Race without a race, in which all cars stand side by side on the straight until they
//! drive off.

use phaselock::game::{Ahead, Coding, Entities, Game, Inputs, Kit, Slot, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::physics::turns;
use phaselock::time::Rates;
use phaselock_games::race::{Car, Command, Piece, Race, RaceMemory};

/// Distance between the middles of two cars side by side, in metres.
pub(crate) const APART: f32 = 4.0;
/// Their position in metres from the line; the straight begins before it and continues after it.
const STATION: f32 = -40.0;

/// The rules; `SHARED` says whether cars near the local one are co-predicted, as in Race.
#[derive(Debug)]
pub(crate) struct Lane<const SHARED: bool>(Race);

impl<const SHARED: bool> Game for Lane<SHARED> {
    const NAME: &'static str = "lane";
    const RULES_VERSION: u32 = 1;
    const KIT: Kit<Self> = Kit {
        presentation: Race::KIT.presentation,
        coding: Coding { extrapolate: |game, known| game.0.extrapolate(known), ..Coding::GENERAL },
        ..Kit::NONE
    };
    type Input = Command;
    type Entity = Piece;
    type Memory = RaceMemory;

    fn new(rates: Rates, _seed: u64) -> Self {
        Self(Race::at(rates))
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        let position = self.0.track.position(STATION, (f32::from(player.0) - 0.5) * APART);
        let heading = turns(self.0.track.sample(STATION).along);
        world.spawn(
            Some(player),
            Car { x: position.x, y: position.y, heading, gates: 1, ..Car::default() }.into(),
        );
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Command>) {
        self.0.advance(&mut world.entities, &mut world.memory, inputs);
    }

    fn predict(
        &self,
        entities: &mut Entities<Piece>,
        own: EntityId,
        command: &Command,
        ahead: Ahead<'_>,
    ) {
        self.0.predict(entities, own, command, ahead);
    }

    fn co_predicts(&self, entities: &Entities<Piece>, own: EntityId, other: &Slot<Piece>) -> bool {
        SHARED && self.0.co_predicts(entities, own, other)
    }

    fn repeat(last: &Command, missed: u64) -> Command {
        Race::repeat(last, missed)
    }
}

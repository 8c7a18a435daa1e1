//! A crowd of players, for measuring snapshots and training tables.

use phaselock::game::{Ahead, Coding, Entities, Game, Inputs, Kit, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::random::Random;
use phaselock::time::{Rates, Tick};
use phaselock_games::skirmish::{Bot, Command, HEALTH, Piece, Player, Score, Skirmish};

/// Skirmish in which all players see each other and none dies, so that all move all the time.
#[derive(Debug)]
pub struct Open(Skirmish);

impl Game for Open {
    // Clients of Skirmish can join, since records and tables are the same.
    const NAME: &'static str = Skirmish::NAME;
    const RULES_VERSION: u32 = Skirmish::RULES_VERSION;
    const KIT: Kit<Self> = Kit {
        bot: Some(|| Box::<OpenBot>::default()),
        coding: Coding {
            extrapolate: |game, known| game.0.extrapolate(known),
            goes_on: Skirmish::KIT.coding.goes_on,
            tables: Skirmish::tables,
        },
        ..Kit::NONE
    };
    type Input = Command;
    type Entity = Piece;
    type Memory = <Skirmish as Game>::Memory;

    fn new(rates: Rates, seed: u64) -> Self {
        Self(Skirmish::new(rates, seed))
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        let newcomer = self.0.newcomer(&world.entities, &mut world.random);
        world.spawn(Some(player), Piece::Player(newcomer));
        world.spawn(Some(player), Piece::Score(Score::default()));
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Command>) {
        self.0.advance(world, inputs);
        for (_, _, player) in world.entities.records_mut::<Player>() {
            player.health = HEALTH;
        }
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

    fn needs_view(command: &Command) -> bool {
        Skirmish::needs_view(command)
    }

    fn avatar(entities: &Entities<Piece>, player: PlayerId) -> Option<EntityId> {
        Skirmish::avatar(entities, player)
    }

    fn repeat(last: &Command, missed: u64) -> Command {
        Skirmish::repeat(last, missed)
    }
}

/// A bot of Skirmish.
#[derive(Debug, Default)]
struct OpenBot(Bot);

impl phaselock::game::Bot<Open> for OpenBot {
    fn input(
        &mut self,
        game: &Open,
        tick: Tick,
        seen: &Entities<Piece>,
        player: PlayerId,
        random: &mut Random,
    ) -> Command {
        self.0.input(&game.0, tick, seen, player, random)
    }
}

/// Players of a measured game, clients and bots together.
pub const CROWD: u16 = 64;

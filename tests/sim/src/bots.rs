//! A world that bots play, without room or network.

use phaselock::fields::Record;
use phaselock::game::{Bot, Game, Inputs, Late, Strength, World, new_bot};
use phaselock::ids::PlayerId;
use phaselock::random::Random;
use phaselock::time::Rates;

/// A game, its world, and a bot for each player.
#[derive(Debug)]
pub struct BotWorld<G: Game> {
    /// The rules.
    pub game: G,
    /// The world.
    pub world: World<G>,
    /// The bots' inputs for this tick.
    pub inputs: Inputs<G::Input>,
    bots: Vec<Box<dyn Bot<G>>>,
    random: Random,
}

impl<G: Game> BotWorld<G> {
    /// Creates a world with this number of players at tick 0. A bare one contains only what belongs
    /// to them.
    pub fn new(seed: u64, players: u16, bare: bool) -> Self {
        let game = G::new(Rates::DEFAULT, seed);
        let mut world = World::new(seed);
        if !bare {
            game.populate(&mut world);
        }
        (0..players).for_each(|player| game.join(&mut world, PlayerId(player)));
        world.snap();
        let bots = (0..players).map(|_| new_bot::<G>()).collect();
        Self { game, world, inputs: Inputs::default(), bots, random: Random::new(seed) }
    }

    /// Sets the strength of a player's bot.
    pub fn set_strength(&mut self, player: PlayerId, strength: Strength) {
        if let Some(bot) = self.bots.get_mut(usize::from(player.0)) {
            bot.set_strength(strength);
        }
    }

    /// Asks all bots for their inputs for the next tick.
    pub fn think(&mut self) {
        self.inputs.clear();
        for (bot, player) in self.bots.iter_mut().zip((0..).map(PlayerId)) {
            let (tick, seen) = (self.world.tick, &self.world.entities);
            let input = bot.input(&self.game, tick, seen, player, &mut self.random);
            self.inputs.set(player, input.snapped());
        }
    }

    /// Runs the next tick.
    pub fn step(&mut self) {
        self.world.tick = self.world.tick.plus(1);
        self.game.step(&mut self.world, &self.inputs);
        if G::LATE == Late::Wait {
            self.world.state_ages(&self.inputs);
        }
        self.world.snap();
    }
}

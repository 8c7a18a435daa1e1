//! The world and its history, under the rules of one game: the part of a room that calls the rules.

use super::config::RoomConfig;
use super::run_keeper::{MadeRun, RunKeeper};
use super::transfer::TransferredKind;
use crate::fields::{Entities, Entity, Slot};
use crate::game::{
    Game, Inputs, Late, Measure, Memory as _, MessageError, Place, Profile, Report, RoundClock,
    World,
};
use crate::ids::PlayerId;
use crate::random::Random;
use crate::replay::{Act, News, Player, Recorder, snapped_checksum};
use crate::rewind::{Past, Rewind, Rewound};
use crate::time::{Micros, Rates, Tick};
use crate::wire::protocol::game_hash;

/// State of a world that does not follow from its entities.
#[derive(Debug)]
pub(super) struct Hidden<M> {
    pub(super) generations: Vec<u8>,
    pub(super) random: Random,
    pub(super) memory: M,
}

/// The rules and the world of one game.
#[derive(Debug)]
pub(super) struct Simulation<G: Game> {
    game: G,
    world: World<G>,
    /// Hash of the rules, cached because it is expensive.
    hash: u64,
    /// Configuration of the rules.
    setup: Vec<u8>,
    /// Inputs of this tick.
    inputs: Inputs<G::Input>,
    /// Records every change of the world, if it is recorded.
    recorder: Option<Box<Recorder<G>>>,
    /// Keeps the runs of people, if the host wants them.
    runs: Option<Box<RunKeeper<G>>>,
}

/// Returns a player as a recording has it: without its key.
fn known_as(player: PlayerId, profile: &Profile) -> Player {
    Player { player, name: profile.name.clone(), bot: profile.key.is_none() }
}

fn rewind_of<G: Game>(config: &RoomConfig) -> Rewind {
    Rewind {
        most: config.settings.rewind.unwrap_or(G::REWIND.most),
        favour: config.settings.favour.unwrap_or(G::REWIND.favour),
    }
}

impl<G: Game> Simulation<G> {
    /// Creates a world of the game with this index in the rotation, before anyone joins. If the
    /// rules cannot read `setup`, their default applies.
    pub(super) fn new(config: &RoomConfig, number: u8, tick: Tick, setup: &[u8]) -> Self {
        // Each game has a new world.
        let [seed, map_seed] =
            [config.seed, config.map_seed].map(|seed| seed.wrapping_add(u64::from(number)));
        if !(G::KIT.coding.tables)().are_of(G::Entity::kinds()) {
            tracing::warn!(
                name: "game_tables_stale",
                game = G::NAME,
                "the coding tables were trained on other records, so snapshots take more bytes; \
                 train them again"
            );
        }
        let make = |setup: &[u8]| (G::KIT.configure)(config.rates, map_seed, setup);
        let (game, setup) = match make(setup) {
            Ok(game) => (game, setup.to_vec()),
            Err(error) => {
                tracing::error!(
                    name: "game_setup_invalid",
                    game = G::NAME,
                    %error,
                    "the configuration is not of this game"
                );
                // Clients also fall back to the default.
                let default = make(&[]).unwrap_or_else(|_| G::new(config.rates, map_seed));
                (default, Vec::new())
            }
        };
        let mut world = World::new(seed);
        world.tick = tick;
        world.past = Past::new(config.rates, rewind_of::<G>(config));
        world.past.tell_victims(config.settings.kill_replays);
        game.populate(&mut world);
        let runs = config.keeps_runs.then(|| RunKeeper::new(&game, config.rates)).flatten();
        Self {
            game,
            world,
            runs: runs.map(Box::new),
            hash: game_hash::<G>(),
            setup,
            inputs: Inputs::default(),
            recorder: None,
        }
    }

    /// Records the world from now on.
    pub(super) fn record(&mut self, make: impl FnOnce(&World<G>) -> Recorder<G>) {
        self.recorder = Some(Box::new(make(&self.world)));
    }

    /// Returns the recorder, if the world is recorded.
    pub(super) fn recorder_mut(&mut self) -> Option<&mut Recorder<G>> {
        self.recorder.as_deref_mut()
    }

    /// Ends the present chunk of the recording, so that all of it can be fetched.
    pub(super) fn cut_recording(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            recorder.cut(&self.world);
        }
    }

    /// Records news, if the world is recorded.
    pub(super) fn note_news(&mut self, news: impl FnOnce() -> Option<News>) {
        if let Some(recorder) = &mut self.recorder
            && let Some(news) = news()
        {
            recorder.news(news);
        }
    }

    fn note_act(&mut self, act: impl FnOnce() -> Act) {
        if let Some(recorder) = &mut self.recorder {
            recorder.act(act());
        }
    }

    /// Changes the settings.
    pub(super) fn configure(&mut self, config: &RoomConfig) {
        self.set_rewind(config.rates, rewind_of::<G>(config));
        self.world.past.tell_victims(config.settings.kill_replays);
    }

    /// Has the rules explain every shot from now on.
    pub(super) fn explain_shots(&mut self) {
        self.world.past.explain_all(true);
    }

    /// Changes the policy of lag compensation.
    pub(super) fn set_rewind(&mut self, rates: Rates, policy: Rewind) {
        if self.world.past.policy() != policy {
            self.note_act(|| Act::Rewind(policy.into()));
        }
        self.world.past.configure(rates, policy);
    }

    /// Continues from the entities of a checkpoint and the state that they do not contain.
    pub(super) fn restore(&mut self, slots: &[Slot<G::Entity>], hidden: Hidden<G::Memory>) {
        let Hidden { generations, random, mut memory } = hidden;
        self.world.entities.refill(slots.iter());
        self.world.generations = generations;
        memory.restored(&self.game, &self.world.entities);
        (self.world.random, self.world.memory) = (random, memory);
    }

    /// Replaces the past against which shots are tested, oldest tick first.
    pub(super) fn refill_past(&mut self, ticks: impl Iterator<Item = (Tick, Entities<G::Entity>)>) {
        self.world.past.refill(ticks);
    }

    /// Replaces the entities by those of a recording at a tick.
    pub(super) fn show(&mut self, tick: Tick, entities: &Entities<G::Entity>) {
        self.world.tick = tick;
        self.world.entities.refill(entities.iter());
        self.world.snap();
    }

    pub(super) fn game(&self) -> &G {
        &self.game
    }

    pub(super) fn world(&self) -> &World<G> {
        &self.world
    }

    pub(super) fn entities(&self) -> &Entities<G::Entity> {
        &self.world.entities
    }

    pub(super) fn tick(&self) -> Tick {
        self.world.tick
    }

    /// Returns the hash of the rules.
    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    /// Returns the configuration of the rules.
    pub(super) fn setup(&self) -> &[u8] {
        &self.setup
    }

    /// Returns the maximum rewind of a shot.
    pub(super) fn rewind_most(&self) -> Micros {
        self.world.past.policy().most
    }

    /// Runs the next tick with the inputs that `collect` adds.
    pub(super) fn step(
        &mut self,
        rates: Rates,
        collect: impl FnOnce(&G, &World<G>, &mut Inputs<G::Input>),
    ) {
        let Self { game, world, inputs, recorder, runs, .. } = self;
        inputs.clear();
        collect(game, world, inputs);
        world.tick = world.tick.plus(1);
        game.step(world, inputs);
        if G::LATE == Late::Wait {
            world.state_ages(inputs);
        }
        let checksum = match recorder {
            Some(_) => snapped_checksum(world),
            None => {
                world.snap();
                0
            }
        };
        world.past.push(world.tick, &world.entities);
        world.outbox.refill(rates);
        if let Some(recorder) = recorder {
            recorder.tick(world, inputs, checksum);
        }
        if let Some(runs) = runs {
            runs.handle_tick(game, world);
        }
    }

    /// Snaps the world to the wire's grid after something other than a step has changed it.
    pub(super) fn snap(&mut self) {
        self.note_act(|| Act::Snap);
        self.world.snap();
    }

    /// Adds a player to the game.
    pub(super) fn join(&mut self, player: PlayerId, profile: Profile) {
        self.note_act(|| Act::Join(known_as(player, &profile)));
        self.world.set_profile(player, Some(profile));
        self.game.join(&mut self.world, player);
    }

    /// Resumes a player who was in the game before.
    pub(super) fn resume(&mut self, player: PlayerId, profile: Profile) {
        self.note_act(|| Act::Resume(known_as(player, &profile)));
        self.world.set_profile(player, Some(profile));
        self.game.resume(&mut self.world, player);
    }

    /// Removes a player from the game.
    pub(super) fn leave(&mut self, player: PlayerId) {
        self.note_act(|| Act::Leave(player));
        self.game.leave(&mut self.world, player);
        self.world.set_profile(player, None);
    }

    /// Sets the profile of a player in the game.
    pub(super) fn set_profile(&mut self, player: PlayerId, profile: Profile) {
        self.note_act(|| Act::Rename(known_as(player, &profile)));
        self.world.set_profile(player, Some(profile));
    }

    /// Removes players from the game who own entities but have no profile.
    pub(super) fn dismiss_strangers(&mut self) {
        let owners = self.world.entities.iter().filter_map(|slot| slot.owner);
        let strangers = owners.filter(|owner| self.world.profile(*owner).is_none());
        for player in strangers.collect::<std::collections::BTreeSet<_>>() {
            self.game.leave(&mut self.world, player);
        }
    }

    /// Handles a player's request to the game.
    pub(super) fn request(&mut self, player: PlayerId, bytes: &[u8]) -> Result<(), MessageError> {
        self.note_act(|| Act::Request(player, bytes.to_vec()));
        (G::KIT.request)(&self.game, &mut self.world, player, bytes)?;
        self.world.snap();
        Ok(())
    }

    /// Returns the number of finished rounds.
    pub(super) fn rounds_played(&self) -> u32 {
        (G::KIT.rounds_played)(&self.world)
    }

    /// Returns the round's clock; `None` if the game has none.
    pub(super) fn round_clock(&self) -> Option<RoundClock> {
        (G::KIT.clock)(&self.world)
    }

    /// Makes the current part of the round end in this many ticks.
    pub(super) fn set_ticks_left(&mut self, ticks: u64) {
        self.note_act(|| Act::TicksLeft(ticks));
        (G::KIT.set_ticks_left)(&mut self.world, ticks);
        self.world.snap();
    }

    /// Returns the side of a player, if any.
    pub(super) fn place_of(&self, player: PlayerId) -> Option<Place> {
        (G::KIT.sides.of)(&self.world.entities, player)
    }

    /// Moves a player to a side of its group, if necessary in exchange for another. Returns `false`
    /// and changes nothing if there is no seat. Does not [snap](Self::snap).
    pub(super) fn put(&mut self, player: PlayerId, side: u8, exchange: Option<PlayerId>) -> bool {
        self.note_act(|| Act::Put(player, side, exchange));
        (G::KIT.sides.put)(&self.game, &mut self.world, player, side, exchange)
    }

    /// Returns the game's figures for a player.
    pub(super) fn scores(&self, player: PlayerId) -> Vec<(&'static str, f64)> {
        let number = |measure: &Measure<G>| {
            let value = (measure.of)(&self.world.entities, player)?;
            value.is_finite().then_some((measure.name, value))
        };
        G::KIT.measures.iter().filter_map(number).collect()
    }

    /// Returns what a player takes along to another server.
    pub(super) fn transferred(&self, player: PlayerId) -> Vec<TransferredKind> {
        let mut kinds: Vec<TransferredKind> = Vec::new();
        for slot in self.world.entities.owned_by(player) {
            let (kind, packed) = (slot.entity.kind(), slot.entity.pack());
            let table = slot.entity.fields().iter().zip(packed);
            let fields: Vec<_> =
                table.filter(|(field, _)| field.transferred).map(|(_, value)| value).collect();
            if !fields.is_empty() && kinds.iter().all(|other| other.kind != kind) {
                kinds.push(TransferredKind { kind, fields });
            }
        }
        kinds
    }

    /// Gives a player who has just joined what was taken along from another server of the same
    /// rules. Values that do not fit the fields change nothing. Does not [snap](Self::snap).
    pub(super) fn bring(&mut self, player: PlayerId, kinds: &[TransferredKind]) {
        self.note_act(|| {
            let kinds = kinds.iter().map(|it| (it.kind, it.fields.clone()));
            Act::Bring(player, kinds.collect())
        });
        for TransferredKind { kind, fields } in kinds {
            let mut owned = self.world.entities.iter_mut();
            let is_it = |slot: &&mut Slot<G::Entity>| {
                slot.owner == Some(player) && slot.entity.kind() == *kind
            };
            let Some(slot) = owned.find(is_it) else { continue };
            let columns = || slot.entity.fields().iter().enumerate();
            let columns: Vec<_> = columns().filter(|(_, field)| field.transferred).collect();
            let fit = columns.len() == fields.len()
                && columns.iter().zip(fields).all(|((_, field), value)| *value <= field.greatest);
            if fit {
                let mut packed = slot.entity.pack();
                for ((at, _), value) in columns.into_iter().zip(fields) {
                    packed[at] = *value;
                }
                slot.entity = G::Entity::unpack(*kind, &packed);
            }
        }
    }

    /// Draws a number below `end` from the world's random numbers.
    pub(super) fn below(&mut self, end: u32) -> u32 {
        self.note_act(|| Act::Draw(end));
        self.world.random.below(end)
    }

    /// Takes the next event that the rules emitted: for one player, or for all (`None`).
    pub(super) fn poll_event(&mut self) -> Option<(Option<PlayerId>, Vec<u8>)> {
        self.world.outbox.pop()
    }

    /// Takes the next number that the rules reported.
    pub(super) fn poll_report(&mut self) -> Option<Report> {
        self.world.outbox.pop_report()
    }

    /// Takes the run that set a number that the rules reported.
    pub(super) fn take_run(&mut self, report: &Report) -> Option<MadeRun> {
        let (name, player, value) = *report;
        self.runs.as_mut()?.take(name, player?, value)
    }

    /// Returns the course of the game's runs, if they are kept.
    pub(super) fn course(&self) -> Option<u64> {
        self.runs.as_ref().map(|runs| runs.course())
    }

    /// Takes the next shot that was tested against the past.
    pub(super) fn poll_rewound(&mut self) -> Option<Rewound> {
        self.world.past.poll_rewound()
    }
}

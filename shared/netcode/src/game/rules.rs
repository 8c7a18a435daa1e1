//! The rules of a game, and the world that they change.

use std::collections::BTreeMap;

use glam::Vec2;
use serde::Serialize;

use super::highlight::Highlight;
use super::inputs::Inputs;
use super::memory::Memory;
use super::outbox::{MessageError, Outbox};
use super::rounds::{Place, RoundClock};
use super::subtick::Subticks;
use super::terms::{
    Ahead, Best, Known, Late, Misprediction, MispredictionCause, Relevance, Strength, Unit,
    Viewpoint,
};
use crate::fields::{Entities, Entity, KindOf, Packed, Record, Slot};
use crate::identity::PublicKey;
use crate::ids::{EntityId, PlayerId};
use crate::limits::ENTITIES_MAX;
use crate::motion::choice::Choice;
use crate::motion::send_rule::SendRule;
use crate::random::Random;
use crate::rewind::{Past, Rewind};
use crate::time::{Micros, Rates, Tick};
use crate::wire::model::Tables;

/// The rules of a game. The value itself holds what never changes during play, such as the map.
pub trait Game: std::fmt::Debug + Send + Sync + Sized + 'static {
    /// Name for hosts and players: 1 to 32 lower-case letters, digits and dashes. Any other name is
    /// a compile error.
    const NAME: &'static str;
    /// Version of the rules. Raise it when predictions change: builds with different versions
    /// refuse each other.
    const RULES_VERSION: u32;
    /// Default lag compensation of shots, which a host may override. See [`Inputs::view`].
    const REWIND: Rewind = Rewind::DEFAULT;
    /// Treatment of inputs that arrive after their tick.
    const LATE: Late = Late::Repeat;
    /// Which inputs count at the instant at which they were given, instead of at a tick. None by
    /// default.
    const SUBTICKS: Subticks = Subticks::Off;
    /// Additions to the rules: bots, rounds, presentation, coding. None by default.
    const KIT: Kit<Self> = Kit::NONE;
    /// Maximum number of seats, for people and bots together; at least
    /// [`BOTS_MAX`](crate::limits::BOTS_MAX) + 1. By default as many as a room has.
    const SEATS_MAX: u16 = crate::limits::SEATS_MAX;
    /// Commands of a player in one tick.
    type Input: Record;
    /// An entity of the world.
    type Entity: Entity;
    /// State that stays on the server and is never sent to a client. It is saved with the world
    /// when a server restarts; [`Memory::restored`] rebuilds what cannot be saved. Use `()` if the
    /// game has none.
    type Memory: Memory<Self, Self::Entity>;

    /// Returns the name. A game that is described at run time overrides it; `NAME` is then only a
    /// placeholder. Only clients support this: rooms, checkpoints and replays use `NAME`.
    #[inline]
    fn name() -> &'static str {
        Self::NAME
    }

    /// Creates the rules at these rates. Server and client pass the same arguments and must get
    /// equal rules.
    fn new(rates: Rates, seed: u64) -> Self;

    /// Fills the world before the first tick. By default the world starts empty.
    fn populate(&self, _world: &mut World<Self>) {}

    /// Adds a player to the world.
    fn join(&self, world: &mut World<Self>, player: PlayerId);

    /// Handles the return of a player whose connection was lost. Events emitted during the absence
    /// were not delivered, so emit what the player must know again. Does nothing by default.
    fn resume(&self, _world: &mut World<Self>, _player: PlayerId) {}

    /// Removes a player from the world. By default this despawns all entities that the player owns.
    fn leave(&self, world: &mut World<Self>, player: PlayerId) {
        let owned: Vec<_> = world.entities.owned_by(player).map(|slot| slot.id).collect();
        for id in owned {
            world.despawn(id);
        }
    }

    /// Advances the authoritative world by one tick, on the server.
    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Self::Input>);

    /// Advances what a client predicts by one tick, with the functions that [`step`](Self::step)
    /// uses. Move only the player's own entity `own`, the [co-predicted](Self::co_predicts) ones,
    /// and the player's [spawns](Self::predicted_spawn). All other entities are as in the newest
    /// snapshot and must not change.
    ///
    /// The older the last known input of another player is, the less it says about the present: let
    /// its effect decay.
    fn predict(
        &self,
        entities: &mut Entities<Self::Entity>,
        own: EntityId,
        input: &Self::Input,
        ahead: Ahead<'_>,
    );

    /// Whether a client co-predicts an entity because its player touches it or is about to, such as
    /// a ball within reach or a pushed player. [`predict`](Self::predict) then moves it. Return
    /// `true` slightly before contact; the netcode continues for a while afterwards. By default
    /// nothing is co-predicted.
    fn co_predicts(
        &self,
        _entities: &Entities<Self::Entity>,
        _own: EntityId,
        _other: &Slot<Self::Entity>,
    ) -> bool {
        false
    }

    /// Returns the number of an entity that a player's command spawns, such as the number of the
    /// shot that fired a rocket. [`predict`](Self::predict) inserts the entity at once
    /// ([`Entities::predict_spawn`]), and the server's entity with the same owner and number
    /// replaces it. Two existing entities of a player must have different numbers. `None`, the
    /// default, means that only the server spawns the entity.
    fn predicted_spawn(_entity: &Self::Entity) -> Option<u16> {
        None
    }

    /// Returns what disturbed the player's own entity, so that it was mispredicted. Return a cause
    /// only on evidence, such as a lost hit point or a car close enough to have touched. `None`,
    /// the default, means that there is none.
    ///
    /// The netcode finds two causes by itself. It does not ask if a tick ran without the player's
    /// input. If the game returns `None` and the *predicted* motion depended on another entity,
    /// that entity is the cause. What is left is counted as
    /// [unexplained](crate::client::Stats::unexplained): a fault of the game or the netcode.
    fn misprediction_cause(
        &self,
        _missed: &Misprediction<'_, Self::Entity>,
    ) -> Option<MispredictionCause> {
        None
    }

    /// Returns the assumed input `missed` ticks (1 or more) after the last one that came in time:
    /// keep what is held, drop one-time actions.
    fn repeat(last: &Self::Input, missed: u64) -> Self::Input;

    /// Whether the effect of an input depends on what the player saw, as that of a shot does. Its
    /// view time is then sent; see [`Inputs::view`]. By default no input does.
    fn needs_view(_input: &Self::Input) -> bool {
        false
    }

    /// Whether an action whose instant counts begins between the inputs of two frames; see
    /// [`SUBTICKS`](Self::SUBTICKS). By default, every change is one.
    fn begins_action(before: &Self::Input, now: &Self::Input) -> bool {
        before != now
    }

    /// Returns the position of an entity, for finding the entities near a player and for the
    /// window's `--marks`. An entity without a position, the default, is near every player and has
    /// no marks.
    fn position(&self, _entity: &Self::Entity) -> Option<Vec2> {
        None
    }

    /// Returns the period of the plane of [`position`](Self::position) in each direction, if the
    /// plane wraps; positions then range from 0 up to but excluding it. By default the plane does
    /// not wrap.
    fn wraps(&self) -> Option<Vec2> {
        None
    }

    /// Returns the viewpoint of a player, in the units of [`position`](Self::position). A player
    /// without one, the default, sees everything.
    fn viewpoint(
        &self,
        _entities: &Entities<Self::Entity>,
        _player: PlayerId,
    ) -> Option<Viewpoint> {
        None
    }

    /// Returns the priority of an entity for a player, among the entities within range of its
    /// viewpoint. Twice the priority is twice the send rate when not all entities fit. A player's
    /// own entities are always sent. By default all are equal.
    fn relevance(
        &self,
        _entities: &Entities<Self::Entity>,
        _player: PlayerId,
        _other: &Slot<Self::Entity>,
    ) -> Relevance {
        Relevance::Matters(1)
    }

    /// Returns [`relevance`](Self::relevance) as a function of the entity, for all entities that
    /// may be sent to one player in a snapshot. Override it to compute facts about the player once;
    /// the results must not differ.
    fn relevance_to<'a>(
        &'a self,
        entities: &'a Entities<Self::Entity>,
        player: PlayerId,
    ) -> impl Fn(&Slot<Self::Entity>) -> Relevance + 'a {
        move |other| self.relevance(entities, player, other)
    }

    /// Returns the priority of an entity for spectators, wherever they look, after the host's
    /// spectator delay. By default spectators get what a player without entities would get.
    fn relevance_to_watchers(
        &self,
        entities: &Entities<Self::Entity>,
        other: &Slot<Self::Entity>,
    ) -> Relevance {
        self.relevance(entities, PlayerId::NOBODY, other)
    }

    /// Returns the entity that a player steers. By default the first one that the player owns.
    fn avatar(entities: &Entities<Self::Entity>, player: PlayerId) -> Option<EntityId> {
        entities.owned_by(player).next().map(|slot| slot.id)
    }
}

/// Creates a game's own bot.
pub type NewBot<G> = fn() -> Box<dyn Bot<G>>;

/// Extrapolates an entity; see [`Coding::extrapolate`].
pub type Extrapolate<G> = fn(&G, Known<'_, <G as Game>::Entity>) -> Option<<G as Game>::Entity>;

/// Returns an entity as steered by an input; see [`Kit::early`].
pub type Early<G> = fn(&<G as Game>::Entity, &<G as Game>::Input) -> Option<<G as Game>::Entity>;

/// Handles the bytes of a player's request; see [`Kit::request`].
pub type HandleRequest<G> = fn(&G, &mut World<G>, PlayerId, &[u8]) -> Result<(), MessageError>;

/// Creates the rules from the bytes of a configuration; see [`Kit::configure`].
pub type Configure<G> = fn(Rates, u64, &[u8]) -> Result<G, MessageError>;

/// Returns the group and side of a player; see [`Sides::of`].
pub type PlaceOf<G> = fn(&Entities<<G as Game>::Entity>, PlayerId) -> Option<Place>;

/// Moves a player to a side; see [`Sides::put`].
pub type PutOn<G> = fn(&G, &mut World<G>, PlayerId, u8, Option<PlayerId>) -> bool;

/// Finds the highlight of a player, or of a spectator who follows that player; see
/// [`Kit::highlight`]. It gets the newest received state with its tick, and what it found before.
pub type FindHighlight<G> = fn(
    &G,
    &Entities<<G as Game>::Entity>,
    (Tick, PlayerId),
    Option<Highlight>,
) -> Option<Highlight>;

/// Sides of a game, which its players can choose.
pub struct Sides<G: Game> {
    /// Number of sides in a group; 0, the default, for a game without sides.
    pub count: u8,
    /// Returns the place of a player, or `None` if the player is on no side.
    pub of: PlaceOf<G>,
    /// Moves a player to a side of its group. If a player is named in exchange, that player takes
    /// the vacated place. Returns `false` and changes nothing if the side has no free place.
    pub put: PutOn<G>,
}

impl<G: Game> Sides<G> {
    /// No sides: each player for themselves.
    pub const NONE: Self = Self { count: 0, of: |_, _| None, put: |_, _, _, _, _| false };
}

/// Additions to a game's rules. All are optional: a game with [`Kit::NONE`] plays.
///
/// The parts are constants, so calls through them cost as little as direct calls.
pub struct Kit<G: Game> {
    /// Creates a bot. `None` if the game has no bots.
    pub bot: Option<NewBot<G>>,
    /// Returns the number of finished rounds, which advances a host's rotation. By default always
    /// 0: the game never ends.
    pub rounds_played: fn(&World<G>) -> u32,
    /// Returns the clock of the round. `None`, the default, means that rounds have no parts:
    /// players cannot be ready, and there is no time to extend.
    pub clock: fn(&World<G>) -> Option<RoundClock>,
    /// Makes the current part of the round end in this many ticks. Does nothing by default.
    pub set_ticks_left: fn(&mut World<G>, u64),
    /// Sides that players can choose. None by default.
    pub sides: Sides<G>,
    /// Default presentation of a kind to players who do not own the entity. Linear by default.
    pub presentation: fn(KindOf<G::Entity>) -> Choice,
    /// Default rule for sending a kind to players who do not own the entity; a host may override
    /// it. By default in every snapshot.
    pub sending: fn(KindOf<G::Entity>) -> SendRule,
    /// What others may know of a player's input before its tick, so that they see it sooner:
    /// returns an entity of that player with the steering fields that the input gives it. `None`,
    /// the default, tells nothing.
    ///
    /// Only steering fields count that everyone sees and that do not
    /// [drift](crate::fields::Field::drift). Leave a field as it is if it must stay unknown until
    /// its tick, such as a trigger. It is given whole ticks, without an input's
    /// [instant](Subticks::Changes), since a track of states has none: others see the change up to
    /// a tick early, until the next state.
    ///
    /// The inputs of players with jitter wait on the server for several ticks. Clients that show a
    /// kind at the present by the rules run [`Coding::extrapolate`] with them.
    pub early: Early<G>,
    /// Coding of snapshots.
    pub coding: Coding<G>,
    /// Creates the rules from a host's configuration, which clients receive in the welcome:
    /// [`configured::<Self, MySetup>`](super::configured). By default a game has no configuration.
    pub configure: Configure<G>,
    /// Handles a player's request: [`apply_request::<Self, MyRequest>`](super::apply_request). By
    /// default a game has no requests.
    pub request: HandleRequest<G>,
    /// Delay with which spectators see the world; a host may override it. At most
    /// [`WATCH_DELAY_MAX`](crate::limits::WATCH_DELAY_MAX). The default of ten seconds keeps
    /// spectators from passing on what the rules hide; a game that hides nothing needs no delay.
    pub watch_delay: Micros,
    /// Per-player figures at the end of a round. The rules [report](World::report) them, and the
    /// host and the player may keep them as records. None by default.
    pub measures: &'static [Measure<G>],
    /// Timed attempts of players, whose course the host may keep with a record, as a ghost to race
    /// against. `None` by default.
    pub runs: Option<Runs<G>>,
    /// Finds the moment that clients may show again while play rests, such as a goal. It must end
    /// before play goes on. `None` by default.
    pub highlight: Option<FindHighlight<G>>,
}

impl<G: Game> Kit<G> {
    /// No bots, no rounds, linear presentation, all entities in each snapshot, no early inputs,
    /// general coding, no configuration, no requests, ten seconds of spectator delay, no records,
    /// no sides, no runs, no highlights.
    pub const NONE: Self = Self {
        bot: None,
        rounds_played: |_| 0,
        clock: |_| None,
        set_ticks_left: |_, _| {},
        sides: Sides::NONE,
        presentation: |_| Choice::Linear,
        sending: |_| SendRule::Every,
        early: |_, _| None,
        coding: Coding::GENERAL,
        configure: |rates, seed, setup| match setup {
            [] => Ok(G::new(rates, seed)),
            _ => Err(MessageError::Unreadable),
        },
        request: |_, _, _, _| Err(MessageError::Unreadable),
        watch_delay: Micros::from_ms(10_000),
        measures: &[],
        runs: None,
        highlight: None,
    };
}

/// A per-player figure at the end of a round, which the host and the player may keep as a record.
pub struct Measure<G: Game> {
    /// Name, in lower-case letters.
    pub name: &'static str,
    /// Which of two values is better.
    pub best: Best,
    /// Unit of the value.
    pub unit: Unit,
    /// Returns a player's value in a world, or `None` if the player has none.
    pub of: fn(&Entities<G::Entity>, PlayerId) -> Option<f64>,
}

impl<G: Game> std::fmt::Debug for Measure<G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, best, unit, of: _ } = self;
        f.debug_struct("Measure")
            .field("name", name)
            .field("best", best)
            .field("unit", unit)
            .finish()
    }
}

/// Timed attempts of players, such as laps.
pub struct Runs<G: Game> {
    /// Name of the measure that an attempt may improve. The lower its value, the better.
    pub measure: &'static str,
    /// Returns how far an entity is with its attempts; `None` for kinds that make none.
    pub stage: StageOf<G>,
    /// Returns a hash of the map, such as [`run_hash`](crate::replay::run_hash) makes. Runs of
    /// other maps are not shown.
    pub map: fn(&G) -> u64,
}

/// Returns how far an entity is with its attempts.
pub type StageOf<G> = fn(&G, &<G as Game>::Entity) -> Option<RunStage>;

/// Progress of an entity's timed attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunStage {
    /// Whether an attempt is running.
    pub is_running: bool,
    /// Number of attempts that it has finished. Each one adds 1; any other change means that it
    /// started over.
    pub finished: u16,
    /// Ticks since the attempt began, if the entity counts them. Otherwise an attempt begins with
    /// the tick in which `is_running` is set, or in which the one before it ends.
    pub ticks: Option<u32>,
}

impl<G: Game> Clone for Runs<G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G: Game> Copy for Runs<G> {}

impl<G: Game> std::fmt::Debug for Runs<G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Runs").field(&self.measure).finish()
    }
}

/// Coding of a game's snapshots. Both sides must compute the same bits.
pub struct Coding<G: Game> {
    /// Predicts the present state of an entity from what is [`Known`]; only the residual is sent.
    /// With `None`, the default, the field table predicts.
    ///
    /// A wrong extrapolation only costs bytes. The netcode asks for at most
    /// [`EXTRAPOLATION_TICKS_MAX`](crate::limits::EXTRAPOLATION_TICKS_MAX) ticks.
    pub extrapolate: Extrapolate<G>,
    /// Whether a kind may be extrapolated in parts: with constant steering fields, some ticks
    /// followed by the remaining ones give the same bits as all of them at once. Presenting an
    /// entity by the rules then takes one tick of extrapolation per frame, instead of all ticks
    /// since its last state. `false` by default.
    pub goes_on: fn(KindOf<G::Entity>) -> bool,
    /// Frozen tables of the range coder. By default the general ones.
    pub tables: fn() -> &'static Tables,
}

impl<G: Game> Coding<G> {
    /// The general tables, and extrapolation by the field tables.
    pub const GENERAL: Self =
        Self { extrapolate: |_, _| None, goes_on: |_| false, tables: Tables::general };
}

/// A player that the program controls, on a server or in a headless client.
pub trait Bot<G: Game>: std::fmt::Debug + Send {
    /// Sets how well the bot plays from now on. Does nothing by default.
    fn set_strength(&mut self, _strength: Strength) {}

    /// Returns the bot's next input, computed from the entities that its `player` can see at
    /// `tick`.
    #[expect(
        clippy::too_many_arguments,
        reason = "everything that a bot may know; every game implements it"
    )]
    fn input(
        &mut self,
        game: &G,
        tick: Tick,
        seen: &Entities<G::Entity>,
        player: PlayerId,
        random: &mut Random,
    ) -> G::Input;
}

/// A bot that presses nothing, for games without bots of their own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Idle;

impl<G: Game> Bot<G> for Idle {
    fn input(
        &mut self,
        _: &G,
        _: Tick,
        _: &Entities<G::Entity>,
        _: PlayerId,
        _: &mut Random,
    ) -> G::Input {
        G::Input::default()
    }
}

/// Creates the game's own bot, or an [`Idle`] one if the game has none.
pub fn new_bot<G: Game>() -> Box<dyn Bot<G>> {
    G::KIT.bot.map_or_else(|| Box::new(Idle) as Box<dyn Bot<G>>, |make| make())
}

/// The server's world: entities, which are replicated, and state that stays on the server.
#[derive(Debug)]
pub struct World<G: Game> {
    /// Tick of this state.
    pub tick: Tick,
    /// Entities, which may be sent to clients.
    pub entities: Entities<G::Entity>,
    /// State that is never sent to clients.
    pub memory: G::Memory,
    /// The world's own random numbers.
    pub random: Random,
    /// Motion of the last ticks. Empty unless it is recorded, as it is in a room.
    pub past: Past<G::Entity>,
    pub(crate) outbox: Outbox,
    profiles: BTreeMap<PlayerId, Profile>,
    /// Generation of the last entity in each slot.
    pub(crate) generations: Vec<u8>,
}

/// Identity of a player, independent of the game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The player's name, unique in the room.
    pub name: String,
    /// The player's key, to which results and rights belong. `None` for a bot of the server.
    pub key: Option<PublicKey>,
}

impl<G: Game> World<G> {
    /// Creates an empty world at tick 0.
    pub fn new(seed: u64) -> Self {
        Self {
            tick: Tick(0),
            entities: Entities::default(),
            memory: G::Memory::default(),
            random: Random::new(seed),
            past: Past::default(),
            outbox: Outbox::default(),
            profiles: BTreeMap::new(),
            generations: Vec::new(),
        }
    }

    /// Returns name and key of a player in the room, from before [`Game::join`] until after
    /// [`Game::leave`].
    pub fn profile(&self, player: PlayerId) -> Option<&Profile> {
        self.profiles.get(&player)
    }

    /// Iterates over the players in the room.
    pub(crate) fn players(&self) -> impl Iterator<Item = (PlayerId, &Profile)> {
        self.profiles.iter().map(|(player, profile)| (*player, profile))
    }

    /// Sets or removes the profile of a player.
    pub(crate) fn set_profile(&mut self, player: PlayerId, profile: Option<Profile>) {
        match profile {
            Some(profile) => self.profiles.insert(player, profile),
            None => self.profiles.remove(&player),
        };
    }

    /// Sends an event of the game to one player, or to all players if `to` is `None`, reliably and
    /// in order. Clients receive it as [`Notice::Event`](crate::client::Notice::Event).
    ///
    /// # Errors
    ///
    /// The event was not sent; see [`MessageError`].
    pub fn emit<M: Serialize>(
        &mut self,
        to: Option<PlayerId>,
        event: &M,
    ) -> Result<(), MessageError> {
        self.outbox.push(to, event)
    }

    /// Reports a number to the host, about a player or about the game as a whole. The host finds it
    /// among the room's [events](crate::server::Event::Report). A tick holds up to
    /// [`GAME_REPORTS_MAX`] reports; beyond that the oldest are dropped, as are all reports while
    /// the host does not fetch its events.
    ///
    /// [`GAME_REPORTS_MAX`]: crate::limits::GAME_REPORTS_MAX
    pub fn report(&mut self, name: &'static str, player: Option<PlayerId>, value: f64) {
        self.outbox.report(name, player, value);
    }

    /// Adds an entity in the lowest free slot. Returns `None` if the world is full.
    pub fn spawn(&mut self, owner: Option<PlayerId>, entity: G::Entity) -> Option<EntityId> {
        let taken = self.entities.iter().map(|slot| slot.id.index);
        let free = taken.zip(0..).find(|(taken, index)| taken != index).map(|(_, index)| index);
        let index = free.unwrap_or(self.entities.len() as u16);
        if index >= ENTITIES_MAX {
            return None;
        }
        let generation = match self.generations.get_mut(usize::from(index)) {
            Some(generation) => {
                *generation = generation.wrapping_add(1);
                *generation
            }
            None => {
                self.generations.push(0);
                0
            }
        };
        let id = EntityId { index, generation };
        self.entities.insert(Slot { id, owner, entity });
        Some(id)
    }

    /// Removes an entity from the world and returns it, if it exists.
    pub fn despawn(&mut self, id: EntityId) -> Option<Slot<G::Entity>> {
        self.entities.remove(id)
    }

    /// Fills in the age fields from the lags of the owners' own times.
    pub fn state_ages(&mut self, inputs: &Inputs<G::Input>) {
        for slot in self.entities.iter_mut() {
            let Some(at) = slot.entity.fields().iter().position(|field| field.age) else {
                continue;
            };
            let age = slot.owner.map_or(0, |owner| inputs.age(owner));
            let mut values = slot.entity.values();
            values[at] = age as f64;
            slot.entity = G::Entity::from_values(slot.entity.kind(), &values);
        }
    }

    /// Snaps each entity to the wire's grid, so that clients can receive exactly this state.
    pub fn snap(&mut self) {
        self.snap_each(|_, _| {});
    }

    /// [Snaps](Self::snap), and passes on each entity with its integers on the grid.
    pub(crate) fn snap_each(&mut self, mut each: impl FnMut(&Slot<G::Entity>, &Packed)) {
        for slot in self.entities.iter_mut() {
            let packed = slot.entity.pack();
            slot.entity = G::Entity::unpack(slot.entity.kind(), &packed);
            each(slot, &packed);
        }
    }
}

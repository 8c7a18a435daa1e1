//! The rules of a game, and the world that they move.

use std::collections::BTreeMap;

use glam::Vec2;
use serde::Serialize;

use super::inputs::Inputs;
use super::memory::Memory;
use super::outbox::{MessageError, Outbox};
use super::rounds::{Place, RoundClock};
use super::terms::{
    Ahead, Best, Known, Late, MispredictionCause, Relevance, Strength, Unit, Viewpoint,
};
use crate::fields::{Entities, Entity, KindOf, Record, Slot};
use crate::identity::PublicKey;
use crate::ids::{EntityId, PlayerId};
use crate::limits::ENTITIES_MAX;
use crate::motion::choice::Choice;
use crate::motion::send_rule::SendRule;
use crate::random::Random;
use crate::rewind::{Past, Rewind};
use crate::time::{Micros, Rates, Tick};
use crate::wire::model::Tables;

/// A game's rules. The value itself holds what never changes during play, such as the map.
pub trait Game: std::fmt::Debug + Send + Sync + Sized + 'static {
    /// Name for hosts and players: 1 to 32 lower-case letters, digits and dashes. A program with
    /// another name does not compile.
    const NAME: &'static str;
    /// Version of the rules, raised when predictions change: builds of different ones refuse each
    /// other.
    const RULES_VERSION: u32;
    /// Lag compensation of shots; hosts may have it otherwise. See [`Inputs::view`].
    const REWIND: Rewind = Rewind::DEFAULT;
    /// Treatment of inputs that come after their tick.
    const LATE: Late = Late::Repeat;
    /// Additions to the rules: bots, rounds, presentation, coding. None of it by default.
    const KIT: Kit<Self> = Kit::NONE;
    /// Seats, of people and bots together, from [`BOTS_MAX`](crate::limits::BOTS_MAX) + 1 on. By
    /// default as many as a room has.
    const SEATS_MAX: u16 = crate::limits::SEATS_MAX;
    /// Commands of a player in one tick.
    type Input: Record;
    /// An entity of the world.
    type Entity: Entity;
    /// State that the server alone knows and no client is ever told. It is kept with the world
    /// when a server is restarted; [`Memory::restored`] rebuilds what cannot be kept. `()` for a
    /// game without.
    type Memory: Memory<Self, Self::Entity>;

    /// The rules at these rates. Both sides get the same arguments and must make the same of them.
    fn new(rates: Rates, seed: u64) -> Self;

    /// Fills the world before the first tick. By default there is nothing in it.
    fn populate(&self, _world: &mut World<Self>) {}

    /// A player enters.
    fn join(&self, world: &mut World<Self>, player: PlayerId);

    /// A player whose connection was lost is back in the game. Events that were emitted meanwhile
    /// did not come: emit again what the player must know.
    fn resume(&self, _world: &mut World<Self>, _player: PlayerId) {}

    /// A player leaves. By default all that the player owns disappears.
    fn leave(&self, world: &mut World<Self>, player: PlayerId) {
        let owned: Vec<_> = world.entities.owned_by(player).map(|slot| slot.id).collect();
        for id in owned {
            world.despawn(id);
        }
    }

    /// One tick of the truth, on the server.
    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Self::Input>);

    /// One tick of what a client computes ahead, with the functions of [`step`](Self::step): its
    /// own entity `own`, [co-predicted](Self::co_predicts) ones, and its player's
    /// [spawns](Self::predicted_spawn). The others stand as in the newest snapshot, and nothing
    /// else may be changed.
    ///
    /// The older the last known input of another player, the less it says about the present one:
    /// decay it.
    fn predict(
        &self,
        entities: &mut Entities<Self::Entity>,
        own: EntityId,
        input: &Self::Input,
        ahead: Ahead<'_>,
    );

    /// Tells whether a client co-predicts an entity, because its player touches it or is about to:
    /// a ball within reach, a pushed player. [`predict`](Self::predict) then moves it. It should
    /// begin a little before they touch; netcode keeps it up for a while after.
    fn co_predicts(
        &self,
        _entities: &Entities<Self::Entity>,
        _own: EntityId,
        _other: &Slot<Self::Entity>,
    ) -> bool {
        false
    }

    /// The number of an entity that a player's command spawns, such as that of a rocket's shot.
    /// [`predict`](Self::predict) inserts it at once ([`Entities::predict_spawn`]), and the
    /// server's entity of the same owner and number replaces it. No two existing entities of a
    /// player have the same number. None, the default, is for what only the server spawns.
    fn predicted_spawn(_entity: &Self::Entity) -> Option<u16> {
        None
    }

    /// Cause of a misprediction of the own entity, from the predicted state and the server's. Where
    /// the game knows none, a late input in the last quarter of a second was it.
    fn misprediction_cause(
        &self,
        _predicted: &Self::Entity,
        _truth: &Self::Entity,
        _entities: &Entities<Self::Entity>,
    ) -> MispredictionCause {
        MispredictionCause::Unknown
    }

    /// Assumed input `missed` ticks (1 or more) after the last one that came in time: hold what is
    /// held, drop what happens once.
    fn repeat(last: &Self::Input, missed: u64) -> Self::Input;

    /// Tells whether an input's effect depends on the view, such as a shot: its view time is then
    /// sent ([`Inputs::view`]). By default none does.
    fn needs_view(_input: &Self::Input) -> bool {
        false
    }

    /// Position of an entity, for finding those near a player and for the window's `--marks`. None,
    /// the default, is everywhere, and has no marks.
    fn position(&self, _entity: &Self::Entity) -> Option<Vec2> {
        None
    }

    /// Period of the plane of [`position`](Self::position) in each direction, if it wraps;
    /// positions then are from 0 up to it. None, the default, is a plane without wrapping.
    fn wraps(&self) -> Option<Vec2> {
        None
    }

    /// Viewpoint of a player, in the units of [`position`](Self::position). None, the default, sees
    /// everything.
    fn viewpoint(
        &self,
        _entities: &Entities<Self::Entity>,
        _player: PlayerId,
    ) -> Option<Viewpoint> {
        None
    }

    /// Priority of an entity for a player, among those within its viewpoint's range. A player is
    /// always told of its own. Twice the priority is twice the rate where not all fit. By default
    /// all are equal.
    fn relevance(
        &self,
        _entities: &Entities<Self::Entity>,
        _player: PlayerId,
        _other: &Slot<Self::Entity>,
    ) -> Relevance {
        Relevance::Matters(1)
    }

    /// The same for all entities that one player may be told of in a snapshot. A game that first
    /// works out something about the player can do so once here, with the same results.
    fn relevance_to<'a>(
        &'a self,
        entities: &'a Entities<Self::Entity>,
        player: PlayerId,
    ) -> impl Fn(&Slot<Self::Entity>) -> Relevance + 'a {
        move |other| self.relevance(entities, player, other)
    }

    /// The same for those who watch, wherever they look, after the delay that the host sets. By
    /// default they are told what a player is who owns nothing.
    fn relevance_to_watchers(
        &self,
        entities: &Entities<Self::Entity>,
        other: &Slot<Self::Entity>,
    ) -> Relevance {
        self.relevance(entities, PlayerId::NOBODY, other)
    }

    /// The entity that a player steers. By default the first that the player owns.
    fn avatar(entities: &Entities<Self::Entity>, player: PlayerId) -> Option<EntityId> {
        entities.owned_by(player).next().map(|slot| slot.id)
    }
}

/// Makes a bot of a game's own.
pub type NewBot<G> = fn() -> Box<dyn Bot<G>>;

/// Extrapolates an entity: see [`Coding::extrapolate`].
pub type Extrapolate<G> = fn(&G, Known<'_, <G as Game>::Entity>) -> Option<<G as Game>::Entity>;

/// Takes in the bytes of a player's request: see [`Kit::request`].
pub type HandleRequest<G> = fn(&G, &mut World<G>, PlayerId, &[u8]) -> Result<(), MessageError>;

/// Makes the rules by the bytes of a configuration: see [`Kit::configure`].
pub type Configure<G> = fn(Rates, u64, &[u8]) -> Result<G, MessageError>;

/// Tells where a player is: see [`Sides::of`].
pub type PlaceOf<G> = fn(&Entities<<G as Game>::Entity>, PlayerId) -> Option<Place>;

/// Puts a player onto a side: see [`Sides::put`].
pub type PutOn<G> = fn(&G, &mut World<G>, PlayerId, u8, Option<PlayerId>) -> bool;

/// Sides of a game, among which its players choose.
pub struct Sides<G: Game> {
    /// Number of sides in a group; 0, the default, for a game without.
    pub count: u8,
    /// Place of a player; none for whoever is on no side.
    pub of: PlaceOf<G>,
    /// Moves a player to a side of its group. A player in exchange, if one is named, takes the seat
    /// that becomes free. Returns false if there is no seat, and then nothing has changed.
    pub put: PutOn<G>,
}

impl<G: Game> Sides<G> {
    /// Everybody for themselves.
    pub const NONE: Self = Self { count: 0, of: |_, _| None, put: |_, _, _, _, _| false };
}

/// Additions to a game's rules. A game needs none of it: [`Kit::NONE`] plays.
///
/// Its parts are constants, so that calls through them cost what direct calls do.
pub struct Kit<G: Game> {
    /// Makes a bot. None: the game has no bots.
    pub bot: Option<NewBot<G>>,
    /// Rounds played to their ends; a host's rotation goes on by it. Always 0, the default, goes on
    /// for ever.
    pub rounds_played: fn(&World<G>) -> u32,
    /// The round's clock. None, the default, for a game whose rounds have no parts: then nobody can
    /// be ready, and there is no time to extend.
    pub clock: fn(&World<G>) -> Option<RoundClock>,
    /// Has the present part of the round end in so many ticks. By default nothing happens.
    pub set_ticks_left: fn(&mut World<G>, u64),
    /// Sides that players choose among. None by default.
    pub sides: Sides<G>,
    /// Presentation of a kind to others than the owner. Linear by default.
    pub presentation: fn(KindOf<G::Entity>) -> Choice,
    /// Rule by which a kind is sent to others than the owner, unless the host has another. In every
    /// snapshot by default.
    pub sending: fn(KindOf<G::Entity>) -> SendRule,
    /// Coding of snapshots.
    pub coding: Coding<G>,
    /// Makes the rules by a host's configuration, which clients get with their welcome:
    /// [`configured::<Self, MySetup>`](super::configured). By default there is none to be had.
    pub configure: Configure<G>,
    /// Takes in a player's request: [`apply_request::<Self, MyRequest>`](super::apply_request). By
    /// default there are none.
    pub request: HandleRequest<G>,
    /// Time after which those who watch see the world, unless the host has another: at most
    /// [`WATCH_DELAY_MAX`](crate::limits::WATCH_DELAY_MAX). Ten seconds by default, so that nobody
    /// is told by a watcher what the rules hide; a game that hides nothing needs none.
    pub watch_delay: Micros,
    /// Numbers of players at a round's end: the rules [report](World::report) them, and host and
    /// player may keep them as records. None by default.
    pub measures: &'static [Measure<G>],
}

impl<G: Game> Kit<G> {
    /// No bots, no rounds, linear presentation, everything in every snapshot, general coding, no
    /// configuration, no requests, ten seconds of delay for watchers, no records, no sides.
    pub const NONE: Self = Self {
        bot: None,
        rounds_played: |_| 0,
        clock: |_| None,
        set_ticks_left: |_, _| {},
        sides: Sides::NONE,
        presentation: |_| Choice::Linear,
        sending: |_| SendRule::Every,
        coding: Coding::GENERAL,
        configure: |rates, seed, setup| match setup {
            [] => Ok(G::new(rates, seed)),
            _ => Err(MessageError::Unreadable),
        },
        request: |_, _, _, _| Err(MessageError::Unreadable),
        watch_delay: Micros::from_ms(10_000),
        measures: &[],
    };
}

/// A number of a player at a round's end, which a host and the player may keep as a record.
pub struct Measure<G: Game> {
    /// Name: lower-case letters.
    pub name: &'static str,
    /// The better of two.
    pub best: Best,
    /// Its unit.
    pub unit: Unit,
    /// The player's number in a world; none if it has none.
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

/// Coding of a game's snapshots. Both sides must come to the same bits.
pub struct Coding<G: Game> {
    /// Predicts the present state of an entity from what is [`Known`]. Only the difference is sent.
    /// With `None`, the default, the field table is used.
    ///
    /// A wrong extrapolation costs bytes and nothing else. At most
    /// [`EXTRAPOLATION_TICKS_MAX`](crate::limits::EXTRAPOLATION_TICKS_MAX) ticks are asked for.
    pub extrapolate: Extrapolate<G>,
    /// Tells whether a kind may be extrapolated in parts: with what steers held on, so many ticks
    /// and then the rest from there give the bits that all of them do at once. Then a frame of an
    /// entity that is shown by the rules costs a tick of them, instead of all since its last state.
    /// False by default.
    pub goes_on: fn(KindOf<G::Entity>) -> bool,
    /// Frozen tables of the range coder. The general ones by default.
    pub tables: fn() -> &'static Tables,
}

impl<G: Game> Coding<G> {
    /// The general tables; extrapolation by the field tables.
    pub const GENERAL: Self =
        Self { extrapolate: |_, _| None, goes_on: |_| false, tables: Tables::general };
}

/// A player that the program plays: on a server or in a headless client.
pub trait Bot<G: Game>: std::fmt::Debug + Send {
    /// Has it play better or worse from now on. By default it plays as it does.
    fn set_strength(&mut self, _strength: Strength) {}

    /// The bot's next input, from the entities that its `player` could see at `tick`.
    #[expect(clippy::too_many_arguments, reason = "all that a bot may know; every game writes it")]
    fn input(
        &mut self,
        game: &G,
        tick: Tick,
        seen: &Entities<G::Entity>,
        player: PlayerId,
        random: &mut Random,
    ) -> G::Input;
}

/// A bot that presses nothing, where a game has no bots of its own.
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

/// A bot of a game's own; one that presses nothing where the game has none.
pub fn new_bot<G: Game>() -> Box<dyn Bot<G>> {
    G::KIT.bot.map_or_else(|| Box::new(Idle) as Box<dyn Bot<G>>, |make| make())
}

/// The server's world: what is replicated, and what only the server knows.
#[derive(Debug)]
pub struct World<G: Game> {
    /// The tick that this is the state of.
    pub tick: Tick,
    /// Entities that clients may be told of.
    pub entities: Entities<G::Entity>,
    /// State that no client is told.
    pub memory: G::Memory,
    /// The world's own randomness.
    pub random: Random,
    /// Motion of the last ticks. Empty unless somebody keeps it, as a room does.
    pub past: Past<G::Entity>,
    pub(crate) outbox: Outbox,
    profiles: BTreeMap<PlayerId, Profile>,
    /// Of the last tenant of each slot.
    pub(crate) generations: Vec<u8>,
}

/// A player, apart from the game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The player's name; no two in a room have the same.
    pub name: String,
    /// The player's key, by which results and rights last. None: a bot of the server.
    pub key: Option<PublicKey>,
}

impl<G: Game> World<G> {
    /// An empty world at tick 0.
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

    /// Name and key of a player in the room, from before [`Game::join`] to after [`Game::leave`].
    pub fn profile(&self, player: PlayerId) -> Option<&Profile> {
        self.profiles.get(&player)
    }

    /// States who plays.
    pub(crate) fn set_profile(&mut self, player: PlayerId, profile: Option<Profile>) {
        match profile {
            Some(profile) => self.profiles.insert(player, profile),
            None => self.profiles.remove(&player),
        };
    }

    /// Sends an event of the game, reliably and in order, to a player, or to everybody (none).
    /// Clients fetch it as [`Notice::Event`](crate::client::Notice::Event). An error says that it
    /// was not sent.
    pub fn emit<M: Serialize>(
        &mut self,
        to: Option<PlayerId>,
        event: &M,
    ) -> Result<(), MessageError> {
        self.outbox.push(to, event)
    }

    /// Reports a number to the host, about a player or about nobody: the host finds it among the
    /// room's [events](crate::server::Event::Report). [`GAME_REPORTS_MAX`] fit into a tick; of more
    /// the oldest are lost, and all while the host does not fetch its events.
    ///
    /// [`GAME_REPORTS_MAX`]: crate::limits::GAME_REPORTS_MAX
    pub fn report(&mut self, name: &'static str, player: Option<PlayerId>, value: f64) {
        self.outbox.report(name, player, value);
    }

    /// Adds an entity in the lowest free slot, or returns none when the world is full.
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

    /// Takes an entity out of the world.
    pub fn despawn(&mut self, id: EntityId) -> Option<Slot<G::Entity>> {
        self.entities.remove(id)
    }

    /// Fills in the age fields: the lags of the owners' own times.
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

    /// Moves every entity to the wire's grid, so that clients can be told the truth.
    pub fn snap(&mut self) {
        for slot in self.entities.iter_mut() {
            slot.entity = G::Entity::unpack(slot.entity.kind(), &slot.entity.pack());
        }
    }
}

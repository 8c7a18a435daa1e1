//! The seam between netcode and games.
//!
//! A game is one implementation of [`Game`]: its input, its entities, its step. The server calls
//! [`Game::step`] with everybody's inputs, the client calls [`Game::predict`] with its own; both
//! must go through the same movement function. After either, netcode snaps what moved to the
//! wire's grid, so a client replays from exactly what the server has.
//!
//! *Invariant:* a game never sees a packet, a socket or a wall clock; netcode never looks into a
//! field.

mod entities;

use glam::Vec2;

use crate::ids::{EntityId, PlayerId};
use crate::limits::{ENTITIES_MAX, FORESEEN_INDEX_MIN};
use crate::motion::choice::Choice;
use crate::random::Random;
use crate::replicate::{Entity, Record};
use crate::rewind::{Past, Rewind, View};
use crate::time::{Rates, Tick};
use crate::wire::model::Tables;

pub use entities::{Entities, Slot};

/// A game's rules. The value itself holds what never changes during play, such as the map.
pub trait Game: std::fmt::Debug + Send + Sync + Sized + 'static {
    /// What hosts and players call it: lower-case letters, digits and dashes.
    const NAME: &'static str;
    /// Raised when the rules change in a way that prediction depends on: builds of different rules
    /// refuse each other.
    const VERSION: u32;
    /// How the world is rewound for shots; hosts may have it otherwise. See [`Inputs::view`].
    const REWIND: Rewind = Rewind::DEFAULT;
    /// What becomes of inputs that come after their tick.
    const LATE: Late = Late::Repeat;
    /// What a player commands in one tick.
    type Input: Record;
    /// What the world consists of.
    type Entity: Entity;
    /// What the server alone knows and no client is ever told.
    type Memory: Default + std::fmt::Debug + Send;
    /// What a bot keeps in mind from one tick to the next.
    type Bot: Default + std::fmt::Debug + Send;

    /// The rules at these rates. Both sides get the same arguments and must make the same of them.
    fn new(rates: Rates, seed: u64) -> Self;

    /// Fills the world before the first tick. By default there is nothing in it.
    fn populate(&self, _world: &mut World<Self>) {}

    /// A player enters.
    fn join(&self, world: &mut World<Self>, player: PlayerId);

    /// A player leaves. By default all that the player owns disappears.
    fn leave(&self, world: &mut World<Self>, player: PlayerId) {
        let owned: Vec<_> = world.entities.owned_by(player).map(|slot| slot.id).collect();
        for id in owned {
            world.despawn(id);
        }
    }

    /// One tick of the truth, on the server.
    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Self::Input>);

    /// One tick of what a client may compute ahead, with the same functions as [`step`](Self::step): its
    /// own entity `own`, what it [`shares`](Self::shares), and what its player [spawns](Self::foreseen).
    /// The others stand where the newest snapshot had them, and nothing else may be changed.
    ///
    /// What other players do since then is not known: that they hold the keys that they held is the less
    /// likely the longer ago it is.
    fn predict(
        &self,
        entities: &mut Entities<Self::Entity>,
        own: EntityId,
        input: &Self::Input,
        ahead: Ahead<'_>,
    );

    /// Whether a client computes an entity ahead together with its own, because its player touches it or
    /// is about to: a ball within reach, somebody whom one pushes. [`predict`](Self::predict) then moves
    /// it. It should be so a little before they touch; netcode keeps it up for a while after.
    fn shares(
        &self,
        _entities: &Entities<Self::Entity>,
        _own: EntityId,
        _other: &Slot<Self::Entity>,
    ) -> bool {
        false
    }

    /// The number by which a client knows an entity that its player's own commands bring into the world,
    /// such as which shot a rocket is of. [`predict`](Self::predict) puts it there at once
    /// ([`Entities::foresee`]); when the server's comes, owned by the same player and with the same number,
    /// it takes that one's place. Of what is there at a time no two of a player's may have the same number. None,
    /// the default, is for what only the server brings.
    fn foreseen(_entity: &Self::Entity) -> Option<u16> {
        None
    }

    /// What may have made a client's prediction of its own entity fail, from what was predicted and what
    /// the server says of the same tick. Where the game knows none, and an input was late in the last quarter
    /// of a second, that was it.
    fn cause(
        &self,
        _predicted: &Self::Entity,
        _truth: &Self::Entity,
        _entities: &Entities<Self::Entity>,
    ) -> Cause {
        Cause::Unknown
    }

    /// How entities of a kind, an index into [`Entity::KINDS`], are shown to other players than their
    /// owner, unless a player chooses otherwise.
    fn presentation(_kind: u8) -> Choice {
        Choice::Linear
    }

    /// What to assume of a player whose input for a tick did not come in time, `missed` ticks
    /// (1 or more) after the last one that did: hold what is held, drop what happens once.
    fn repeat(last: &Self::Input, missed: u64) -> Self::Input;

    /// Whether what an input does depends on what its player saw, such as a shot at somebody. What the
    /// player saw is then told for this very input ([`Inputs::view`]). By default nothing does.
    fn looks(_input: &Self::Input) -> bool {
        false
    }

    /// What becomes of an entity in `ticks` (1 or more), as far as it can be told from its state
    /// `base` and from what `steering`, its state of then, says in the fields that steer; its other fields
    /// are those of `base`. What comes true is not sent, so the better this is, the less there is to
    /// send. None, the default, goes by the field table.
    ///
    /// Both sides must come to the same bits. A guess that fails costs bytes and nothing else, so rules
    /// that need the rest of the world can be left out. It is asked for at most
    /// [`FORETOLD_TICKS_MAX`](crate::limits::FORETOLD_TICKS_MAX) ticks.
    fn foretell(
        &self,
        _base: &Self::Entity,
        _steering: &Self::Entity,
        _ticks: u64,
    ) -> Option<Self::Entity> {
        None
    }

    /// Where an entity is, for finding what is near a player; none, the default, is everywhere.
    fn place(&self, _entity: &Self::Entity) -> Option<Vec2> {
        None
    }

    /// After how far the plane of [`place`](Self::place) begins anew in each direction, where it has no
    /// ends: who is near an edge is near to what is just across it. Places are from 0 up to that.
    /// None, the default, is a plane that goes on.
    fn wraps(&self) -> Option<Vec2> {
        None
    }

    /// Where a player sees from, and how far, in the units of [`place`](Self::place). None, the
    /// default, is everywhere.
    fn eye(&self, _entities: &Entities<Self::Entity>, _player: PlayerId) -> Option<Eye> {
        None
    }

    /// How much an entity matters to a player, of those within reach of its eye and those that are
    /// everywhere. A player is always told of what it owns. What matters twice as much is sent twice
    /// as often when there is not room for all. By default all matter alike.
    fn relevance(
        &self,
        _entities: &Entities<Self::Entity>,
        _player: PlayerId,
        _other: &Slot<Self::Entity>,
    ) -> Relevance {
        Relevance::Matters(1)
    }

    /// What the game's snapshots are coded with.
    fn tables() -> &'static Tables {
        Tables::general()
    }

    /// The entity that a player steers. By default the first that the player owns.
    fn avatar(entities: &Entities<Self::Entity>, player: PlayerId) -> Option<EntityId> {
        entities.owned_by(player).next().map(|slot| slot.id)
    }

    /// How many rounds were played to their ends, results and all: a host that has several games on its list
    /// goes on to the next by it. A game without rounds goes on for ever.
    fn rounds_played(_world: &World<Self>) -> u32 {
        0
    }

    /// What a bot that plays as `player` does next, given what a player could see, and the `tick` that its
    /// player is at.
    fn bot(
        &self,
        bot: &mut Self::Bot,
        tick: Tick,
        seen: &Entities<Self::Entity>,
        player: PlayerId,
        random: &mut Random,
    ) -> Self::Input;
}

/// What a client computes ahead in a tick.
#[derive(Clone, Copy, Debug)]
pub struct Ahead<'a> {
    /// The tick: of the player's own time, where that is waited for ([`Late::Wait`]).
    pub tick: Tick,
    /// Ticks since the newest snapshot: 1 or more.
    pub ticks: u64,
    /// What is shared, in the order of the ids: see [`Game::shares`].
    pub shared: &'a [EntityId],
}

impl Ahead<'_> {
    /// Whether an entity is computed ahead besides the own one.
    pub fn covers(&self, id: EntityId) -> bool {
        id.index >= FORESEEN_INDEX_MIN || self.shared.binary_search(&id).is_ok()
    }
}

/// Why a prediction failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// An input came after its tick had run.
    LateInput,
    /// Another player was in the way, or pushed.
    Player,
    /// Somebody's shot.
    Shot,
    /// A thing that is nobody's: a ball, a crate.
    Prop,
    /// None of these, as far as is known.
    Unknown,
}

impl Cause {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::LateInput, Self::Player, Self::Shot, Self::Prop, Self::Unknown];

    /// What to call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::LateInput => "late input",
            Self::Player => "player",
            Self::Shot => "shot",
            Self::Prop => "prop",
            Self::Unknown => "unknown",
        }
    }
}

/// What becomes of inputs that come after their tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Late {
    /// The tick runs without them, on [`Game::repeat`], and they are dropped: everybody is always at the
    /// present, and who was late is corrected.
    #[default]
    Repeat,
    /// The player's *own time* stands still until they come, and then catches up: it never runs past
    /// the world's tick, and what it is behind by more than
    /// [`OWN_TIME_BEHIND_MAX`](crate::limits::OWN_TIME_BEHIND_MAX) is lost. So a player whom nobody disturbs is
    /// never corrected. The others see it late rather than wrong: what it owns needs a field that says
    /// by how much ([`Field::age`](crate::replicate::Field::age)). The game runs [`Inputs::steps`], and
    /// changes what a player owns by nothing else as far as it is predicted.
    Wait,
}

/// Where a player sees from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Eye {
    /// Where it is.
    pub place: Vec2,
    /// How far it sees.
    pub reach: f32,
}

/// How much an entity matters to a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relevance {
    /// The player may not know of it, from this moment on.
    Secret,
    /// The player may know of it and has little use for it: if it was told of it lately, it stays so for
    /// a while, so that nothing flickers at the border.
    Idle,
    /// It matters, so much more than what matters 1; 0 counts as 1.
    Matters(u16),
}

/// The server's world: what is replicated, and what only the server knows.
#[derive(Debug)]
pub struct World<G: Game> {
    /// The tick that this is the state of.
    pub tick: Tick,
    /// What clients may be told of.
    pub entities: Entities<G::Entity>,
    /// What they are not.
    pub memory: G::Memory,
    /// The world's own randomness.
    pub random: Random,
    /// What moved, in the last ticks. Empty unless somebody keeps it, as a room does.
    pub past: Past<G::Entity>,
    generations: Vec<u8>,
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
            generations: Vec::new(),
        }
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

    /// States how old everything is that says so: by how many ticks its owner's own time is behind.
    pub fn state_ages(&mut self, inputs: &Inputs<G::Input>) {
        for slot in self.entities.iter_mut() {
            let Some(at) = slot.entity.fields().iter().position(|field| field.age) else {
                continue;
            };
            let age = slot.owner.map_or(0, |owner| inputs.age(owner));
            let mut values = slot.entity.values();
            values[at] = age as f32;
            slot.entity = G::Entity::from_values(slot.entity.kind(), &values);
        }
    }

    /// Moves every entity to the wire's grid: from here on the truth is what clients can be told.
    pub fn snap(&mut self) {
        for slot in self.entities.iter_mut() {
            slot.entity = G::Entity::unpack(slot.entity.kind(), &slot.entity.pack());
        }
    }
}

/// One step of a player's: what it commands, and what it saw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step<I> {
    /// The tick that it is for, by how many ticks before the world's: 0 unless late inputs are waited for.
    pub age: u64,
    /// What it commands.
    pub input: I,
    /// What the player saw when giving the input: a time to rewind others to with
    /// [`Past::at`](crate::rewind::Past::at). None is the present.
    pub view: Option<View>,
}

/// Where a player's steps are, and by how many ticks it is behind after them.
#[derive(Clone, Copy, Debug)]
struct Steps {
    player: PlayerId,
    first: usize,
    end: usize,
    age: u64,
}

/// What each player commands in one tick.
#[derive(Clone, Debug)]
pub struct Inputs<I> {
    by_player: Vec<Steps>,
    steps: Vec<Step<I>>,
}

impl<I> Default for Inputs<I> {
    fn default() -> Self {
        Self { by_player: Vec::new(), steps: Vec::new() }
    }
}

impl<I: Record> Inputs<I> {
    fn place(&self, player: PlayerId) -> Result<usize, usize> {
        self.by_player.binary_search_by_key(&player, |steps| steps.player)
    }

    /// States the input of a player who sees the present, as the server's bots do.
    pub fn set(&mut self, player: PlayerId, input: I) {
        self.set_seen(player, input, None);
    }

    /// States a player's input and what the player saw when giving it; none is the present.
    pub fn set_seen(&mut self, player: PlayerId, input: I, view: Option<View>) {
        self.set_steps(player, |steps| {
            steps.push(Step { age: 0, input, view });
            0
        });
    }

    /// States a player's steps, which `add` adds to a list, and by how many ticks it is behind after them,
    /// which it returns.
    pub fn set_steps(&mut self, player: PlayerId, add: impl FnOnce(&mut Vec<Step<I>>) -> u64) {
        let first = self.steps.len();
        let age = add(&mut self.steps);
        let entry = Steps { player, first, end: self.steps.len(), age };
        match self.place(player) {
            Ok(at) => self.by_player[at] = entry,
            Err(at) => self.by_player.insert(at, entry),
        }
    }

    /// A player's steps in this tick, in their order: one where late inputs are replaced by others, any number
    /// where they are waited for. None for one who is not there.
    pub fn steps(&self, player: PlayerId) -> &[Step<I>] {
        let Ok(at) = self.place(player) else { return &[] };
        let Steps { first, end, .. } = self.by_player[at];
        self.steps.get(first..end).unwrap_or_default()
    }

    /// A player's newest input; nothing pressed for one who sent none.
    pub fn get(&self, player: PlayerId) -> I {
        self.steps(player).last().map_or(I::default(), |step| step.input)
    }

    /// What the player saw when giving its newest input; see [`Step::view`].
    pub fn view(&self, player: PlayerId) -> Option<View> {
        self.steps(player).last().and_then(|step| step.view)
    }

    /// By how many ticks a player's own time is behind the world's after these steps.
    pub fn age(&self, player: PlayerId) -> u64 {
        self.place(player).map_or(0, |at| self.by_player[at].age)
    }

    /// Forgets all, for the next tick.
    pub fn clear(&mut self) {
        self.by_player.clear();
        self.steps.clear();
    }
}

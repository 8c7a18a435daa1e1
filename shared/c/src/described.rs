//! A game whose records are those of a description: the one that this thread plays right now.
//!
//! The engine takes a game's field tables from its type. Here there is one type for all described
//! games; [`enter`] says which one is meant, for the duration of a call.

use std::cell::Cell;
use std::ffi::c_void;

use phaselock::fields::{Entity, Kind, Packed, Record, Values, pack_values, unpack_values};
use phaselock::game::{Ahead, Entities, Game, Inputs, Kit, Slot, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::limits::FIELDS_MAX;
use phaselock::time::{Rates, Tick};

use crate::description::GameTables;
use crate::layout::{PHASELOCK_NOBODY, Predict, Step};

/// The game that a thread plays, and how its player is predicted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    pub(crate) tables: &'static GameTables,
    pub(crate) prediction: Option<Prediction>,
}

/// How a player is predicted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prediction {
    pub(crate) predict: Predict,
    /// The program's pointer, which only the program uses: its exposed address.
    pub(crate) user: usize,
    /// Kind of the entity that the player steers; `None` for any: the first one.
    pub(crate) kind: Option<u8>,
}

thread_local! {
    static CONTEXT: Cell<Option<Context>> = const { Cell::new(None) };
}

/// Kinds and input while no game is played.
const NOTHING: Kind = Kind { name: "", fields: &[] };

/// Plays a game on this thread until the value is dropped.
pub(crate) struct Entered {
    before: Option<Context>,
}

/// Enters a context. A prediction may enter another one for another client.
pub(crate) fn enter(context: Context) -> Entered {
    Entered { before: CONTEXT.replace(Some(context)) }
}

impl Drop for Entered {
    fn drop(&mut self) {
        CONTEXT.set(self.before);
    }
}

/// A player's input: the values of its fields.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Command {
    pub(crate) values: Values,
}

impl Record for Command {
    const NAME: &'static str = "";
    const FIELDS: &'static [phaselock::fields::Field] = &[];

    fn declared() -> Kind {
        CONTEXT.get().map_or(NOTHING, |context| context.tables.input)
    }

    fn values(&self) -> Values {
        self.values
    }

    fn from_values(values: &Values) -> Self {
        Self { values: *values }
    }

    fn pack(&self) -> Packed {
        pack_values(Self::declared().fields, &self.values)
    }

    fn unpack(packed: &Packed) -> Self {
        Self { values: unpack_values(Self::declared().fields, packed) }
    }
}

/// An entity: its kind and the values of its fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Thing {
    kind: u8,
    values: Values,
}

impl Entity for Thing {
    const KINDS: &'static [Kind] = &[];

    fn kinds() -> &'static [Kind] {
        CONTEXT.get().map_or(&[NOTHING], |context| context.tables.kinds)
    }

    fn kind(&self) -> u8 {
        self.kind
    }

    fn values(&self) -> Values {
        self.values
    }

    fn from_values(kind: u8, values: &Values) -> Self {
        Self { kind, values: *values }
    }
}

/// A described game: what never changes during play.
#[derive(Debug)]
pub(crate) struct DescribedGame {
    rates: Rates,
    seed: u64,
    /// The server's configuration of the rules, in the game's format.
    setup: Vec<u8>,
}

impl DescribedGame {
    /// Returns the server's configuration of the rules, in the game's format.
    pub(crate) fn setup(&self) -> &[u8] {
        &self.setup
    }

    /// Lets the program move its player's entity by one tick.
    fn predict_by(&self, how: Prediction, tick: Tick, slot: &mut Slot<Thing>, input: &Command) {
        let player = slot.owner.map_or(PHASELOCK_NOBODY, |owner| i32::from(owner.0));
        let thing = &mut slot.entity;
        let step = Step {
            user: std::ptr::with_exposed_provenance_mut::<c_void>(how.user),
            seconds: self.rates.step_secs().into(),
            tick: tick.0,
            seed: self.seed,
            setup: self.setup.as_ptr(),
            setup_length: self.setup.len(),
            input: input.values.as_ptr(),
            fields: thing.values.as_mut_ptr(),
            kind: u32::from(thing.kind),
            player,
        };
        // SAFETY: the program promised with `phaselock_connect` that the function may be called
        // with a step. All pointers in it but the program's own are valid during the call, for the
        // lengths that the header states, and only `fields` may be written.
        #[allow(unsafe_code, reason = "calls the program's function")]
        unsafe {
            (how.predict)(&raw const step);
        }
    }
}

impl Game for DescribedGame {
    const NAME: &'static str = "described";
    const RULES_VERSION: u32 = 0;
    const KIT: Kit<Self> = Kit {
        configure: |rates, seed, setup| Ok(Self { rates, seed, setup: setup.to_vec() }),
        ..Kit::NONE
    };
    type Input = Command;
    type Entity = Thing;
    type Memory = ();

    fn name() -> &'static str {
        CONTEXT.get().map_or(Self::NAME, |context| context.tables.name)
    }

    fn new(rates: Rates, seed: u64) -> Self {
        Self { rates, seed, setup: Vec::new() }
    }

    // The server has the rules.
    fn join(&self, _: &mut World<Self>, _: PlayerId) {}
    fn step(&self, _: &mut World<Self>, _: &Inputs<Command>) {}

    fn predict(&self, all: &mut Entities<Thing>, own: EntityId, input: &Command, ahead: Ahead<'_>) {
        let prediction = CONTEXT.get().and_then(|context| context.prediction);
        if let (Some(how), Some(slot)) = (prediction, all.get_mut(own)) {
            self.predict_by(how, ahead.tick, slot, input);
        }
    }

    fn repeat(last: &Command, _: u64) -> Command {
        *last
    }

    /// Any input may be a shot: the server gets the view time of each.
    fn needs_view(_: &Command) -> bool {
        true
    }

    /// Without a prediction function, all entities are interpolated.
    fn avatar(entities: &Entities<Thing>, player: PlayerId) -> Option<EntityId> {
        let Prediction { kind, .. } = CONTEXT.get()?.prediction?;
        let fits = |thing: &Thing| kind.is_none_or(|kind| thing.kind == kind);
        entities.owned_by(player).find(|slot| fits(&slot.entity)).map(|slot| slot.id)
    }
}

const _: () =
    assert!(size_of::<Values>() == FIELDS_MAX * size_of::<f64>(), "C reads it as an array");

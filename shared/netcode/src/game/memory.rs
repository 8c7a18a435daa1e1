//! State that only the server has, and how it is restored after a restart.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::fields::{Entities, Entity};

/// The server-only state of a game, [`Game::Memory`](super::Game::Memory). It is saved with the
/// world through serde when the server restarts.
///
/// Each game with a memory must implement its restoration, so that the rules never run on a list
/// that is silently empty:
///
/// ```
/// # use phaselock::game::{Ahead, Entities, Game, Inputs, Memory, World};
/// # use phaselock::ids::{EntityId, PlayerId};
/// # use phaselock::time::Rates;
/// # use serde::{Deserialize, Serialize};
/// # phaselock::record! { pub struct Crate { pub x: f32 = Field::centred(16, 8) } }
/// # #[derive(Debug)]
/// # pub struct Yard;
/// #[derive(Debug, Default, Serialize, Deserialize)]
/// pub struct Stock {
///     sold: u32,
///     /// Positions of all crates, in order. Made from the entities, so not kept.
///     #[serde(skip)]
///     sorted: Vec<f32>,
/// }
///
/// impl Memory<Yard, Crate> for Stock {
///     fn restored(&mut self, _: &Yard, entities: &Entities<Crate>) {
///         self.sorted = entities.records::<Crate>().map(|slot| slot.entity.x).collect();
///         self.sorted.sort_by(f32::total_cmp);
///     }
/// }
/// # impl Game for Yard {
/// #     const NAME: &'static str = "yard";
/// #     const RULES_VERSION: u32 = 1;
/// #     type Input = Crate;
/// #     type Entity = Crate;
/// #     type Memory = Stock;
/// #     fn new(_: Rates, _: u64) -> Self { Self }
/// #     fn join(&self, _: &mut World<Self>, _: PlayerId) {}
/// #     fn step(&self, _: &mut World<Self>, _: &Inputs<Crate>) {}
/// #     fn predict(&self, _: &mut Entities<Crate>, _: EntityId, _: &Crate, _: Ahead<'_>) {}
/// #     fn repeat(last: &Crate, _: u64) -> Crate { *last }
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}`, the memory of `{G}`, does not say how it comes back after a restart",
    label = "needs `impl Memory<{G}, {E}> for {Self}`",
    note = "derive `Debug`, `Default`, `Serialize` and `Deserialize`, and write `impl Memory<{G}, \
            {E}> for {Self}`: `restored` rebuilds what `#[serde(skip)]` leaves out; its body is \
            empty if each tick fills it again",
    note = "a game without a memory has `type Memory = ();`"
)]
pub trait Memory<G, E: Entity>: Default + Debug + Send + Serialize + DeserializeOwned {
    /// Rebuilds the fields that serde skipped, from the rules and the restored entities. Called
    /// once after a restart, before any rules run.
    fn restored(&mut self, game: &G, entities: &Entities<E>);
}

impl<G, E: Entity> Memory<G, E> for () {
    fn restored(&mut self, _: &G, _: &Entities<E>) {}
}

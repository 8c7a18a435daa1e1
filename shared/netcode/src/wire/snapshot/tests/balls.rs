//! A game with only balls.

use crate::fields::Record;
use crate::game::{Ahead, Coding, Entities, Game, Inputs, Kit, World};
use crate::ids::{EntityId, PlayerId};
use crate::time::Rates;
use crate::wire::model::Tables;

crate::record! {
    pub(super) struct Ball {
        pub(super) x: f32 = Field::centred(10, 2).trending(),
        pub(super) bounces: u8 = Field::count(3),
        pub(super) plan: u8 = Field::count(4).owner_only(),
    }
}

crate::record! {
    pub(super) struct Nothing {
        nothing: bool = Field::count(1),
    }
}

/// A game whose tables never change, whatever other tables are trained on.
#[derive(Debug)]
pub(super) struct Balls;

impl Balls {
    /// Returns the game's own frozen tables.
    fn tables() -> &'static Tables {
        static TABLES: std::sync::LazyLock<Tables> =
            std::sync::LazyLock::new(|| Tables::even(&[Ball::FIELDS.len()]));
        &TABLES
    }
}

impl Game for Balls {
    const NAME: &'static str = "balls";
    const RULES_VERSION: u32 = 1;
    const KIT: Kit<Self> =
        Kit { coding: Coding { tables: Self::tables, ..Coding::GENERAL }, ..Kit::NONE };
    type Input = Nothing;
    type Entity = Ball;
    type Memory = ();

    fn new(_rates: Rates, _seed: u64) -> Self {
        Self
    }

    fn join(&self, _world: &mut World<Self>, _player: PlayerId) {}

    fn step(&self, _world: &mut World<Self>, _inputs: &Inputs<Nothing>) {}

    fn predict(
        &self,
        _entities: &mut Entities<Ball>,
        _own: EntityId,
        _input: &Nothing,
        _ahead: Ahead<'_>,
    ) {
    }

    fn repeat(last: &Nothing, _missed: u64) -> Nothing {
        *last
    }
}

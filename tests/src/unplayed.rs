//! Games without players: a test or a trace moves their entities.

use phaselock::record;

record! {
    /// An empty input.
    pub struct Nothing {
        nothing: bool = Field::count(1),
    }
}

/// The parts of a [`Game`](phaselock::game::Game) that concern players, for games without any.
#[macro_export]
macro_rules! unplayed {
    () => {
        type Input = $crate::unplayed::Nothing;
        type Memory = ();

        fn join(&self, _: &mut ::phaselock::game::World<Self>, _: ::phaselock::ids::PlayerId) {}

        fn step(
            &self,
            _: &mut ::phaselock::game::World<Self>,
            _: &::phaselock::game::Inputs<Self::Input>,
        ) {
        }

        fn predict(
            &self,
            _: &mut ::phaselock::game::Entities<Self::Entity>,
            _: ::phaselock::ids::EntityId,
            _: &Self::Input,
            _: ::phaselock::game::Ahead<'_>,
        ) {
        }

        fn repeat(last: &Self::Input, _missed: u64) -> Self::Input {
            *last
        }
    };
}

//! Games that nobody plays: a test or a trace moves their entities by itself.

use phaselock::record;

record! {
    /// An input that says nothing.
    pub struct Nothing {
        nothing: bool = Field::count(1),
    }
}

/// Those parts of a [`Game`](phaselock::game::Game) that concern its players, where there are none.
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

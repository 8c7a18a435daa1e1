//! Pictures and controls of the five games.

mod asteroids;
mod platformer;
mod puck;
mod race;
mod rounds;
mod skirmish;

pub(crate) use asteroids::AsteroidsScreen;
pub(crate) use platformer::PlatformerScreen;
pub(crate) use puck::PuckScreen;
pub(crate) use race::RaceScreen;
pub(crate) use skirmish::SkirmishScreen;

use phaselock_client::view::Views;

/// The five games with their views.
pub(crate) fn all() -> Views {
    Views::new()
        .with::<SkirmishScreen>()
        .with::<PuckScreen>()
        .with::<AsteroidsScreen>()
        .with::<RaceScreen>()
        .with::<PlatformerScreen>()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_game_can_be_seen() {
        let (seen, games) = (super::all(), phaselock_games::all());
        assert_eq!(seen.games().hashes(false), games.hashes(false));
    }
}

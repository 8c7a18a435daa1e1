//! Pictures and controls of the five games.

mod asteroids;
mod platformer;
mod puck;
mod race;
mod rounds;
mod skirmish;

use phaselock_client::view::Views;
/// The five games with their views.
pub(crate) fn all() -> Views {
    Views::new()
        .with::<skirmish::SkirmishScreen>()
        .with::<puck::PuckScreen>()
        .with::<asteroids::AsteroidsScreen>()
        .with::<race::RaceScreen>()
        .with::<platformer::PlatformerScreen>()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_game_can_be_seen() {
        let (seen, games) = (super::all(), phaselock_games::all());
        assert_eq!(seen.games().hashes(false), games.hashes(false));
    }
}

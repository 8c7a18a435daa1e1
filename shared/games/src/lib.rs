//! Rules, rounds and bots of the five games, independent of the network and the window.
//!
//! ```
//! let games = phaselock_games::all();
//! assert_eq!(games.list(), "skirmish, puck, asteroids, race, platformer");
//! ```
//!
//! Each game shows how to use a part of the netcode:
//!
//! | game | shows |
//! |---|---|
//! | [`skirmish`] | lag compensation, visibility, predicted spawns, co-predicted crates |
//! | [`puck`] | co-prediction of an object that several players strike |
//! | [`asteroids`] | a world that wraps, and tracks that extrapolate well |
//! | [`race`] | other players at the present, by projective blending |
//! | [`platformer`] | a server that waits for late inputs |
//!
//! *Invariant:* a game depends only on the seam ([`phaselock::game`]) and the fields of its
//! records, never on snapshots, clocks or links.

#![cfg_attr(not(test), warn(clippy::too_many_lines, clippy::print_stderr))]

pub mod asteroids;
pub mod platformer;
pub mod puck;
pub mod race;
mod records;
pub mod rounds;
pub mod skirmish;

use phaselock::games::Games;

/// Returns all five games, in the order of menus.
pub fn all() -> Games {
    Games::new()
        .with::<skirmish::Skirmish>()
        .with::<puck::ShufflePuck>()
        .with::<asteroids::Asteroids>()
        .with::<race::Race>()
        .with::<platformer::Platformer>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_to_its_game() {
        let games = all();
        assert_eq!(games.names().count(), 5);
        for name in games.names() {
            assert_eq!(games.get(name).map(|entry| entry.name), Ok(name));
        }
        let unknown = games.get("chess").expect_err("there is no chess");
        assert!(unknown.to_string().ends_with("skirmish, puck, asteroids, race, platformer"));
        let turned = games.select(&["race", "puck"]).expect("both are there");
        assert_eq!(turned.names().collect::<Vec<_>>(), ["race", "puck"]);
        assert_eq!(games.hashes(false).len(), games.names().count());
    }
}

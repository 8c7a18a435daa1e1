//! The games, and how to get from a name to one.

pub mod asteroids;
pub mod platformer;
pub mod puck;
pub mod race;
pub mod rounds;
pub mod skirmish;

use phaselock::game::Game;

/// Something to do with a game that is known by name only at run time.
pub trait Visitor {
    /// What comes of it.
    type Output;
    /// Does it.
    fn visit<G: Game>(self) -> Self::Output;
}

/// All games' names.
pub const NAMES: &[&str] = &[
    skirmish::Skirmish::NAME,
    puck::ShufflePuck::NAME,
    asteroids::Asteroids::NAME,
    race::Race::NAME,
    platformer::Platformer::NAME,
];

/// Calls the visitor with the game of that name, if there is one.
pub fn visit<V: Visitor>(name: &str, visitor: V) -> Option<V::Output> {
    match name {
        skirmish::Skirmish::NAME => Some(visitor.visit::<skirmish::Skirmish>()),
        puck::ShufflePuck::NAME => Some(visitor.visit::<puck::ShufflePuck>()),
        asteroids::Asteroids::NAME => Some(visitor.visit::<asteroids::Asteroids>()),
        race::Race::NAME => Some(visitor.visit::<race::Race>()),
        platformer::Platformer::NAME => Some(visitor.visit::<platformer::Platformer>()),
        _ => None,
    }
}

/// Each game's name and hash, for a hello.
pub fn hashes() -> Vec<(String, u64)> {
    struct Hash;
    impl Visitor for Hash {
        type Output = u64;
        fn visit<G: Game>(self) -> u64 {
            phaselock::wire::protocol::game_hash::<G>()
        }
    }
    NAMES.iter().filter_map(|name| Some(((*name).to_owned(), visit(name, Hash)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_to_its_game() {
        struct Name;
        impl Visitor for Name {
            type Output = &'static str;
            fn visit<G: Game>(self) -> &'static str {
                G::NAME
            }
        }
        for name in NAMES {
            assert_eq!(visit(name, Name), Some(*name));
        }
        assert_eq!(visit("chess", Name), None);
        assert_eq!(hashes().len(), NAMES.len());
    }
}

//! Hosts games by their names.

use std::future::Future;

use phaselock::game::Game;
use phaselock_games::{self as games, Visitor};

use crate::server::{Server, Stage, stage};
use phaselock::server::RoomConfig;

/// There is no game of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no game called '{name}'; there is: {}", games::NAMES.join(", "))]
pub struct UnknownGame {
    /// What was asked for.
    pub name: String,
}

/// Runs a server with the games of these names, one after the other and over again, until `shutdown` says
/// why to stop.
pub async fn host(
    server: Server,
    games: &[String],
    config: RoomConfig,
    shutdown: impl Future<Output = String> + Send + 'static,
) -> Result<(), UnknownGame> {
    let stages = games.iter().map(|name| stage_of(name)).collect::<Result<Vec<_>, _>>()?;
    server.run_all(stages, config, shutdown).await;
    Ok(())
}

/// Whether there is a game of each of these names.
pub fn check_games(games: &[String]) -> Result<(), UnknownGame> {
    games.iter().try_for_each(|name| stage_of(name).map(drop))
}

fn stage_of(name: &str) -> Result<Box<dyn Stage>, UnknownGame> {
    struct Make;

    impl Visitor for Make {
        type Output = Box<dyn Stage>;
        fn visit<G: Game>(self) -> Self::Output {
            stage::<G>()
        }
    }

    games::visit(name, Make).ok_or_else(|| UnknownGame { name: name.to_owned() })
}

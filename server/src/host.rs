//! Hosts a game by its name.

use std::future::Future;

use phaselock_shared::game::Game;
use phaselock_shared::games::{self, Visitor};

use crate::core::RoomConfig;
use crate::net::Server;

/// There is no game of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no game called '{name}'; there is: {}", games::NAMES.join(", "))]
pub struct UnknownGame {
    /// What was asked for.
    pub name: String,
}

/// Runs a server with the game of that name until `shutdown` says why to stop.
pub async fn host(
    server: Server,
    game: &str,
    config: RoomConfig,
    shutdown: impl Future<Output = String> + Send + 'static,
) -> Result<(), UnknownGame> {
    struct Run<S>(Server, RoomConfig, S);

    impl<S: Future<Output = String> + Send + 'static> Visitor for Run<S> {
        type Output = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;
        fn visit<G: Game>(self) -> Self::Output {
            Box::pin(self.0.run::<G>(self.1, self.2))
        }
    }

    check_game(game)?;
    if let Some(running) = games::visit(game, Run(server, config, shutdown)) {
        running.await;
    }
    Ok(())
}

/// Whether there is a game of that name.
pub fn check_game(name: &str) -> Result<(), UnknownGame> {
    if games::NAMES.contains(&name) { Ok(()) } else { Err(UnknownGame { name: name.to_owned() }) }
}

//! Ghosts: the runs of records, for players who want to race them.

use phaselock::server::Command;
use phaselock::wire::ghost::GhostRequest;

use super::roster::Person;
use super::state::Host;
use crate::store::{ghosts_of, run_of};

impl Host {
    /// Answers a player's request: with the run, if a record that the player may race has it, and
    /// otherwise with the list of ghosts.
    pub(super) async fn answer_ghosts(&self, person: &Person, course: u64, request: GhostRequest) {
        let (game, key, player) = (person.game.clone(), person.key, person.target());
        let of_game = game.clone();
        let run = match request {
            GhostRequest::List => Ok(None),
            GhostRequest::Fetch { hash } => {
                self.store.read(move |db| run_of(db, &of_game, hash, &key)).await
            }
        };
        // If the database cannot be read, the client asks again.
        let Ok(run) = run else { return };
        let command = match run {
            Some(bytes) => Command::SendRun { player, bytes },
            None => {
                let ghosts = self.store.read(move |db| ghosts_of(db, &game, course, &key)).await;
                let Ok(ghosts) = ghosts else { return };
                Command::Ghosts { player, ghosts }
            }
        };
        // Fails only if the player has left.
        let _ = self.handle.command_in(&person.room, command).await;
    }
}

//! All settings as the program has them.

use phaselock::games::Games;
use phaselock::wire::rooms::RoomCode;

use super::http::Http;
use super::joining::Joining;
use super::operation::Operation;
use super::play::Play;

/// Validated settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// The games and their rooms.
    pub play: Play,
    /// How players find and join the server.
    pub joining: Joining,
    /// Files, backups, restarts, administration and the log.
    pub operation: Operation,
    /// Pages for browsers, and webhooks.
    pub http: Http,
    /// Settings of single games and rooms.
    pub special: Vec<Special>,
}

/// Makes a section reachable for its table.
macro_rules! section_of_config {
    ($($name:ident: $section:ty),*) => { $(
        impl AsRef<$section> for Config {
            fn as_ref(&self) -> &$section {
                &self.$name
            }
        }

        impl AsMut<$section> for Config {
            fn as_mut(&mut self) -> &mut $section {
                &mut self.$name
            }
        }
    )* };
}
section_of_config!(play: Play, joining: Joining, operation: Operation, http: Http);

impl Config {
    /// Returns the names of the games to run in turn: the given ones, or the first of `games`.
    pub fn game_names(&self, games: &Games) -> Vec<String> {
        match &*self.play.game {
            [] => games.names().take(1).map(str::to_owned).collect(),
            names => names.to_vec(),
        }
    }
}

/// Settings of a room (`None`: any) while it plays a game (`None`: any).
#[derive(Clone, Debug, PartialEq)]
pub struct Special {
    /// Code of the room.
    pub room: Option<RoomCode>,
    /// Name of the game.
    pub game: Option<String>,
    /// All settings that apply to the room and the game.
    pub config: Config,
}

//! The host's side of a running server: who is here, what is done to whom, and what is reported.
//!
//! It has its own thread, together with the API, so that nothing in it can hold up a room.
//!
//! ```text
//! state       what a server consists of     acts    kick, ban, mute, ... each with its audit line
//!   roster    who is here                   orders  drain, games, roles, tokens, log, backup
//!   events    events of rooms, figures      view    what the API shows
//!   chat      commands of players           restarts  scheduled restarts
//! ```

mod acts;
mod chat;
mod events;
mod orders;
mod restarts;
mod roster;
mod state;
#[cfg(test)]
mod tests;
mod view;

pub use acts::Whom;
pub use events::{listen, watch_figures};
pub use restarts::watch_restarts;
pub use roster::{Person, Roster};
pub use state::{Directory, Facts, Host};

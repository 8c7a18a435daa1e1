//! The host's side of a running server: who is here, what is done to whom, and what is reported.
//!
//! It has its own thread, together with the API, so that nothing in it can hold up a room.
//!
//! ```text
//! state     what a server consists of       acts      kick, ban, mute, roles, lines to players
//! roster    who is here                     orders    games and drains
//! events    events of rooms                 restarts  scheduled restarts
//! results   results, records, time played   settings  reloads, single settings, the log
//! figures   figures of each second          access    allow list and tokens
//! view      what the API shows              backup    copies of the database
//!                                           replays   recordings
//! chat      commands of players             fleet     life under Agones
//! ghosts    runs of records, for players
//! ```
//!
//! Each act of `acts` to `replays` leaves a line in the audit log.

mod access;
mod acts;
mod backup;
mod chat;
mod events;
mod figures;
mod fleet;
mod ghosts;
mod orders;
mod own_address;
mod replays;
mod restarts;
mod results;
mod roster;
mod settings;
mod state;
#[cfg(test)]
mod tests;
mod view;

pub(crate) use acts::Whom;
pub(crate) use events::listen;
pub(crate) use figures::watch_figures;
pub(crate) use fleet::watch_fleet;
pub(crate) use restarts::watch_restarts;
pub(crate) use state::{Directory, Facts, Host};

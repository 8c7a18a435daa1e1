//! The server's decisions, without any I/O.

mod interest;
mod lobby;
mod room;
mod session;
mod view;

pub use lobby::Lobby;
pub use room::{ClientId, Output, Room, RoomConfig};
pub use session::SessionStats;

//! The server's decisions: one world and its members.

pub mod any;
mod config;
mod interest;
mod member;
mod output;
mod room;
mod rotation;
mod seating;
mod view;

pub use any::AnyRoom;
pub use config::RoomConfig;
pub use member::MemberStats;
pub use output::{ClientId, Output};
pub use room::Room;
pub use rotation::Rotation;

//! The server's decisions: one world and its members.

mod activity;
pub mod any;
mod broadcast;
mod bucket;
mod config;
mod control;
mod idle;
mod interest;
mod member;
mod output;
mod reception;
mod requests;
mod room;
mod rotation;
mod seating;
mod view;
mod workers;

pub use any::AnyRoom;
pub use config::RoomConfig;
pub use control::{Command, CommandError, Event};
pub use interest::{Interest, Sight};
pub use member::MemberStats;
pub use output::{ClientId, Output};
pub use room::Room;
pub use rotation::Rotation;
pub use workers::{Alone, Job, Workers};
